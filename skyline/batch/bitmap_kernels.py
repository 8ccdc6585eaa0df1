# mypy: ignore-errors
"""Dominance tests for 1024 points at once, by ANDing bitmaps. Kernels of buckets.py.

Every dimension is cut into 256 buckets of about equal weight. A block holds up to 1024 points; its bitmap has one
row of 1024 bits per dimension and bucket: which points of the block lie in this bucket or a better one. ANDing the
d rows that belong to a point's buckets leaves the points of the block that may dominate it: those, and only those,
are compared in full. So buckets decide the speed, never the result.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from skyline.dominance_kernels import dominates

BUCKETS = 256
WORDS = 16
BLOCK = 64 * WORDS
"""Points in a block. With 8 dimensions its bitmap takes 256 KB: it stays in a second-level cache while thousands of
candidates pass by."""

PASS = 4096
"""Candidates that go past one block after another, before the next ones follow."""

_ONE = np.uint64(1)
_NONE = np.uint64(0)
_ALL = ~np.uint64(0)


@intrinsic
def _lowest_bit(_typing, _word):
    """Position of the lowest bit that is set; the word must not be 0."""

    def generate(_context, builder, _signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), generate


@njit(cache=True, nogil=True)
def quantise(points, bounds, buckets, sums, codes):
    """Buckets of every coordinate, their sum, and in which quarter of the buckets they lie.

    points (n, d); bounds (d, 255) ascending; buckets (n, padded d) uint8 out; sums (n,) int64 out; codes (n,) uint64
    out: three bits per dimension, 000, 001, 011 or 111 from the best quarter to the worst. A better coordinate never
    has a higher bucket. So a point's dominators never have a higher sum, nor a bit in their code that it has not.
    """
    n, d = points.shape
    for i in range(n):
        total = 0
        code = _NONE
        for j in range(d):
            value = points[i, j]
            bucket = 0
            for step in (128, 64, 32, 16, 8, 4, 2, 1):
                bucket += step * (bounds[j, bucket + step - 1] <= value)
            buckets[i, j] = bucket
            total += bucket
            code = (code << np.uint64(3)) | ((_ONE << np.uint64(bucket >> 6)) - _ONE)
        sums[i] = total
        codes[i] = code


@njit(cache=True, nogil=True)
def order_keys(buckets, d, keys):
    """Keys (n,) int64 by which no point comes before one of its dominators, and like codes come together.

    In which dimensions a point lies in the worse half of the buckets; among equals, in which it lies in the worse
    quarter of its half; among equals, the sum. Of two different sets the one with fewer dimensions comes first: a
    dominator's set is a subset. 5 + 16 + 5 + 16 + 12 bits at most.
    """
    for i in range(len(buckets)):
        halves = quarters = many_halves = many_quarters = total = 0
        for j in range(d):
            bucket = np.int64(buckets[i, j])
            half = bucket >> 7
            quarter = bucket >> 6 & 1
            halves = halves << 1 | half
            quarters = quarters << 1 | quarter
            many_halves += half
            many_quarters += quarter
            total += bucket
        keys[i] = (((many_halves << d | halves) << 5 | many_quarters) << d | quarters) << 12 | total


@njit(cache=True, nogil=True)
def build(buckets, codes, d, bitmaps, block_codes):
    """Bitmaps of the points whose buckets and codes are given, 1024 per block.

    buckets (m, padded d); codes (m,); bitmaps (blocks, padded d * 256 * 16) uint64 out; block_codes (blocks,) out:
    the bits that all codes of a block have.
    """
    bitmaps[:] = _NONE
    block_codes[:] = _ALL
    for i in range(len(buckets)):
        block_codes[i // BLOCK] &= codes[i]
        bitmap = bitmaps[i // BLOCK]
        word = i % BLOCK // 64
        bit = _ONE << np.uint64(i % 64)
        for j in range(d):
            bitmap[(j * BUCKETS + buckets[i, j]) * WORDS + word] |= bit
    for bitmap in bitmaps:
        for j in range(d):
            for at in range((j * BUCKETS + 1) * WORDS, (j + 1) * BUCKETS * WORDS):
                bitmap[at] |= bitmap[at - WORDS]
        for j in range(d, buckets.shape[1]):
            for word in range(WORDS):
                bitmap[j * BUCKETS * WORDS + word] = _ALL


@njit(cache=True, nogil=True)
def sift(points, buckets, codes, rows, hits, block_points, block_weights, bitmaps, block_codes, k):
    """Drops from `rows` those that k or more points dominate, counting the points of these blocks.

    points (n, d), buckets (n, padded d) and codes (n,) of all candidates, rows (m,) of them to look at, packed in
    place; hits (n,) dominators counted so far, updated; block_points (b, d) and block_weights (b,) 1024 to a block;
    bitmaps and block_codes as built. -> how many rows are left, still in order.
    """
    words = np.uint64(WORDS)
    left = 0
    for start in range(0, len(rows), PASS):
        stop = min(start + PASS, len(rows))
        for block in range(len(bitmaps)):
            bitmap = bitmaps[block]
            kept = start
            for at in range(start, stop):
                row = rows[at]
                if block_codes[block] & ~codes[row] == _NONE and _any(bitmap, buckets[row], words):
                    hits[row] = _count(points, buckets, row, block_points, block_weights, block, bitmap, hits[row], k)
                    if hits[row] >= k:
                        continue
                rows[kept] = row
                kept += 1
            stop = kept
        for at in range(start, stop):
            rows[left] = rows[at]
            left += 1
    return left


@njit(cache=True, nogil=True)
def _start(buckets, j):
    """Where the bitmap's row for this dimension and bucket starts."""
    return (np.uint64(j * BUCKETS) + np.uint64(buckets[j])) * np.uint64(WORDS)


@njit(cache=True, nogil=True)
def _any(bitmap, buckets, words):
    """Whether some point of the block is in no worse bucket in each of the first eight dimensions.

    Nothing is stored and the number of words is not known to the compiler: so it uses vector instructions, half a
    dozen for each dimension, rather than a hundred others.
    """
    some = _NONE
    a, b, c, d = _start(buckets, 0), _start(buckets, 1), _start(buckets, 2), _start(buckets, 3)
    if len(buckets) == 4:
        for w in range(words):
            some |= bitmap[a + w] & bitmap[b + w] & bitmap[c + w] & bitmap[d + w]
        return some != _NONE
    e, f = _start(buckets, 4), _start(buckets, 5)
    if len(buckets) == 6:
        for w in range(words):
            some |= bitmap[a + w] & bitmap[b + w] & bitmap[c + w] & bitmap[d + w] & bitmap[e + w] & bitmap[f + w]
        return some != _NONE
    g, h = _start(buckets, 6), _start(buckets, 7)
    for w in range(words):
        ahead = bitmap[a + w] & bitmap[b + w] & bitmap[c + w] & bitmap[d + w]
        some |= ahead & bitmap[e + w] & bitmap[f + w] & bitmap[g + w] & bitmap[h + w]
    return some != _NONE


@njit(cache=True, nogil=True)
def _count(points, buckets, row, block_points, block_weights, block, bitmap, hits, k):
    """`hits` and the weights of the points of the block that dominate the row; stops at k."""
    for w in range(WORDS):
        word = _ALL
        for j in range(points.shape[1]):
            word &= bitmap[_start(buckets[row], j) + np.uint64(w)]
        while word != _NONE:
            other = block * BLOCK + w * 64 + np.int64(_lowest_bit(word))
            word &= word - _ONE
            if dominates(block_points, other, points, row):
                hits += block_weights[other]
                if hits >= k:
                    return hits
    return hits
