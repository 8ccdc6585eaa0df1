# mypy: ignore-errors
"""BBS: branch and bound over packed R-trees, for every variation of the question at once.

An entry is a node or a point. Its corner is the best that it can hold, in the space of the question: the chosen
dimensions, as values or as distances to a reference, inside the box; when grouped, with the label and its negative as
two more dimensions, so that nothing dominates across labels. Entries leave the heap by (key, corner, node before
point, id), where the key is a monotone function of the corner: a point that dominates another has no larger key and
a smaller corner, so it comes first, however sums are rounded.

Arrays are handed on one by one, and taken out of tuples outside of loops: whoever takes one out counts references,
atomically, which was a quarter of all time once.
"""

from __future__ import annotations

from numba import njit

from skyline.search.frontier_kernels import add_member, dominators

# columns of State.marks; an entry is a node, or ~slot for a point
ENTRY, PART, ID, STAMP = 0, 1, 2, 3
# places in State.scratch: sizes of heap and frontier, pages read, then the frontier's stack, then its hints: one for
# points, one for each label
HEAP, MEMBERS, ACCESSES, STACK, HINTS = 0, 1, 2, 3, 131
# why run() came back
FULL, DONE, GROW, SPENT = 0, 1, 2, 3

# 16 terms of this size still have a finite sum, so that inf - inf never happens
_HUGE = 1e307


@njit(cache=True, nogil=True)
def run(parts, visible, version, fanout, query, state, budget, out):
    """Continues the search until `out` is full, the heap is empty, an array must grow, or `budget` pages are read.

    Writes id, part and slot of every member to a row of `out`. Returns how many, and why it came back. Nothing is
    lost: call again to go on.
    """
    heap, corners, marks = state.heap, state.corners, state.marks
    members, weights, lows, scratch = state.members, state.weights, state.lows, state.scratch
    last, labels, k, grouped = state.last, query.labels, query.k, query.grouped
    found = 0
    while scratch[HEAP] > 0:
        if found == out.shape[0]:
            return found, FULL
        if scratch[HEAP] + fanout > heap.shape[0] or scratch[MEMBERS] == weights.shape[0]:
            return found, GROW
        row = heap[0]
        entry = marks[row, ENTRY]
        if entry < 0:
            count = scratch[MEMBERS]
            if _same(corners, row, last):
                # equal points stand or fall together; the frontier keeps one, with its multiplicity
                weights[count - 1] += 1
            elif _dominated(corners, marks, row, k, members, weights, lows, scratch):
                _pop(heap, corners, marks, scratch)
                continue
            else:
                add_member(members, weights, lows, count, corners, row)
                scratch[MEMBERS] = count + 1
                for i in range(members.shape[1]):
                    last[i] = corners[row, i + 1]
            out[found, 0], out[found, 1], out[found, 2] = marks[row, ID], marks[row, PART], ~entry
            found += 1
            _pop(heap, corners, marks, scratch)
            continue
        if _node_dominated(corners, marks, row, k, grouped, labels, members, weights, lows, scratch):
            _pop(heap, corners, marks, scratch)
            continue
        part = marks[row, PART]
        tree = parts[part]
        height = tree.levels.shape[0] - 1
        level = 0
        while level < height and tree.levels[level + 1] <= entry:
            level += 1
        # a page is a node of an odd level with its children: whoever has read the one has read the others
        if height > 0 and (level % 2 == 1 or level == height - 1):
            if scratch[ACCESSES] >= budget:
                return found, SPENT
            scratch[ACCESSES] += 1
        _pop(heap, corners, marks, scratch)
        if level > 0:
            first = tree.levels[level - 1] + (entry - tree.levels[level]) * fanout
            end = min(first + fanout, tree.levels[level])
            _push_nodes(
                tree.lows, tree.highs, tree.emptied, part, first, end, version, query, heap, corners, marks, members,
                weights, lows, scratch,
            )  # fmt: skip
        else:
            # a part without nodes is opened as a whole
            end = visible[part] if height == 0 else min((entry + 1) * fanout, visible[part])
            _push_points(
                tree.points, tree.ids, tree.died, part, entry * fanout, end, version, query, heap, corners, marks,
                members, weights, lows, scratch,
            )  # fmt: skip
    return found, DONE


@njit(cache=True, nogil=True)
def _push_nodes(
    lows, highs, emptied, part, first, end, version, query, heap, corners, marks, members, weights, frontier, scratch
):
    """Puts those nodes of [first, end) on the heap that may hold a member."""
    k, grouped, boxed, importance = query.k, query.grouped, query.boxed, query.weights
    chosen, reference, least, most, labels = query.dims, query.reference, query.low, query.high, query.labels
    columns, dims, stored = lows.shape[1], chosen.shape[0], query.label_of.shape[0] == 0
    for node in range(first, end):
        if emptied[node] <= version:
            continue
        if boxed:
            outside = False
            for i in range(columns):
                if lows[node, i] > most[i] or highs[node, i] < least[i]:
                    outside = True
                    break
            if outside:
                continue
        row = heap[scratch[HEAP]]
        for i in range(dims):
            dim = chosen[i]
            low = max(lows[node, dim], least[dim])
            origin = reference[i]
            if origin == origin:
                high = min(highs[node, dim], most[dim])
                low = max(0.0, low - origin, origin - high)
            corners[row, i + 1] = low
        if grouped:
            corners[row, dims + 1] = lows[node, columns - 1] if stored else labels[0]
            corners[row, dims + 2] = -(highs[node, columns - 1] if stored else labels[-1])
        marks[row, STAMP] = -1
        if not _node_dominated(corners, marks, row, k, grouped, labels, members, weights, frontier, scratch):
            marks[row, ENTRY] = node
            marks[row, PART] = part
            corners[row, 0] = _key(corners, row, importance)
            _push(heap, corners, marks, scratch)


@njit(cache=True, nogil=True)
def _push_points(
    points, ids, died, part, first, end, version, query, heap, corners, marks, members, weights, frontier, scratch
):
    """Puts those points of [first, end) on the heap that no k members dominate yet."""
    k, grouped, boxed, importance, label_of = query.k, query.grouped, query.boxed, query.weights, query.label_of
    chosen, reference, least, most = query.dims, query.reference, query.low, query.high
    columns, dims, stored = points.shape[1], chosen.shape[0], label_of.shape[0] == 0
    for slot in range(first, end):
        if died[slot] <= version:
            continue
        if boxed:
            outside = False
            for i in range(columns):
                if points[slot, i] > most[i] or points[slot, i] < least[i]:
                    outside = True
                    break
            if outside:
                continue
        row = heap[scratch[HEAP]]
        for i in range(dims):
            value = points[slot, chosen[i]]
            origin = reference[i]
            corners[row, i + 1] = value if origin != origin else abs(value - origin)
        if grouped:
            label = points[slot, columns - 1] if stored else label_of[ids[slot]]
            corners[row, dims + 1] = label
            corners[row, dims + 2] = -label
        marks[row, STAMP] = -1
        if not _dominated(corners, marks, row, k, members, weights, frontier, scratch):
            marks[row, ENTRY] = ~slot
            marks[row, PART] = part
            marks[row, ID] = ids[slot]
            corners[row, 0] = _key(corners, row, importance)
            _push(heap, corners, marks, scratch)


@njit(cache=True, nogil=True)
def _dominated(corners, marks, row, k, members, weights, lows, scratch):
    """Whether k members dominate this corner; not asked again until there are more members."""
    count = scratch[MEMBERS]
    if marks[row, STAMP] == count:
        return False
    marks[row, STAMP] = count
    return dominators(members, weights, lows, count, corners, row, k, scratch, STACK, HINTS) >= k


@njit(cache=True, nogil=True)
def _node_dominated(corners, marks, row, k, grouped, labels, members, weights, lows, scratch):
    """The same for a node; when grouped, k members must dominate it in every label that it may hold."""
    if not grouped:
        return _dominated(corners, marks, row, k, members, weights, lows, scratch)
    count = scratch[MEMBERS]
    if marks[row, STAMP] == count:
        return False
    marks[row, STAMP] = count
    at = corners.shape[1] - 2
    low, high = corners[row, at], corners[row, at + 1]
    dominated = True
    for i in range(_place(labels, low), labels.shape[0]):
        if labels[i] > -high:
            break
        corners[row, at], corners[row, at + 1] = labels[i], -labels[i]
        if dominators(members, weights, lows, count, corners, row, k, scratch, STACK, HINTS + 1 + i) < k:
            dominated = False
            break
    corners[row, at], corners[row, at + 1] = low, high
    return dominated


@njit(cache=True, nogil=True)
def _place(labels, label):
    """Number of labels before this one, by bisection."""
    first, end = 0, labels.shape[0]
    while first < end:
        middle = (first + end) // 2
        if labels[middle] < label:
            first = middle + 1
        else:
            end = middle
    return first


@njit(cache=True, nogil=True)
def _same(corners, row, last):
    same = True
    for i in range(last.shape[0]):
        same &= corners[row, i + 1] == last[i]
    return same


@njit(cache=True, nogil=True)
def _key(corners, row, weights):
    """Weighted sum of the corner; monotone and never NaN, whatever is infinite."""
    total = 0.0
    for i in range(weights.shape[0]):
        value = min(max(corners[row, i + 1], -1.7e308), 1.7e308) * weights[i]
        total += min(max(value, -_HUGE), _HUGE)
    return total


@njit(cache=True, nogil=True)
def _push(heap, corners, marks, scratch):
    """Lets the row that was prepared behind the heap rise to its place."""
    at = scratch[HEAP]
    row = heap[at]
    scratch[HEAP] = at + 1
    while at > 0:
        parent = (at - 1) >> 1
        if not _before(corners, marks, row, heap[parent]):
            break
        heap[at] = heap[parent]
        at = parent
    heap[at] = row


@njit(cache=True, nogil=True)
def _pop(heap, corners, marks, scratch):
    """Takes the first row off the heap; it is free again, and lies behind the heap."""
    size = scratch[HEAP] - 1
    scratch[HEAP] = size
    row = heap[size]
    heap[size] = heap[0]
    if size == 0:
        return
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and _before(corners, marks, heap[child + 1], heap[child]):
            child += 1
        if not _before(corners, marks, heap[child], row):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = row


@njit(cache=True, nogil=True)
def _before(corners, marks, a, b):
    """Key, corner, node before point, id (or part and node)."""
    for i in range(corners.shape[1]):
        if corners[a, i] != corners[b, i]:
            return corners[a, i] < corners[b, i]
    node = marks[a, ENTRY] >= 0
    if node != (marks[b, ENTRY] >= 0):
        return node
    if not node:
        return marks[a, ID] < marks[b, ID]
    if marks[a, PART] != marks[b, PART]:
        return marks[a, PART] < marks[b, PART]
    return marks[a, ENTRY] < marks[b, ENTRY]
