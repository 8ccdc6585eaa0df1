# mypy: ignore-errors
"""Asking for memory before it is needed.

Objects lie where they came to lie, so an update reads a handful of rows that are in no cache, one after the other. A
batch tells in advance which: asked for a few updates ahead, they are there in time. Measured at 100,000 objects, 5-D,
this takes a third to a half off the time of a batch, the more the busier the machine is.
"""

from __future__ import annotations

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

_BYTES = ir.IntType(8).as_pointer()
_FLAG = ir.IntType(32)
_PREFETCH = ir.FunctionType(ir.VoidType(), [_BYTES, _FLAG, _FLAG, _FLAG])
_TO_READ, _KEEP, _DATA = (ir.Constant(_FLAG, value) for value in (0, 3, 1))


@intrinsic
def _fetch(_context, array, offset):
    """Asks for array.flat[offset]. The array is C-contiguous; an address that is not its own does no harm."""

    def codegen(context, builder, signature, arguments):
        data = make_array(signature.args[0])(context, builder, arguments[0]).data
        address = builder.bitcast(builder.gep(data, [arguments[1]]), _BYTES)
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [_BYTES], _PREFETCH)
        builder.call(prefetch, [address, _TO_READ, _KEEP, _DATA])
        return context.get_dummy_value()

    return types.void(array, types.int64), codegen


@njit(cache=True)
def fetch_row(rows, i):
    """Has row i of a C-contiguous (n, w) array brought into the cache, its ends at least, without waiting for it."""
    width = rows.shape[1]
    _fetch(rows, i * width)
    _fetch(rows, (i + 1) * width - 1)
