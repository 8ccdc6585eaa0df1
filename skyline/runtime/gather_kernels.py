# mypy: ignore-errors
"""Copies a batch of librdkafka messages into flat arrays without making a Python object of any of them.

`rd_kafka_message_t` is public, stable ABI: {int err; topic *; int32 partition; void *payload; size_t len; void *key;
size_t key_len; int64 offset; ...}. Addresses and function pointers come in as integers.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

_PAYLOAD, _LENGTH, _KEY, _KEY_LENGTH, _OFFSET = 24, 32, 40, 48, 56


@intrinsic
def _load_int64(_context, address):
    def build(_cg, builder, _signature, arguments):
        return builder.load(builder.inttoptr(arguments[0], ir.IntType(64).as_pointer()))

    return types.int64(types.int64), build


@intrinsic
def _load_int32(_context, address):
    def build(_cg, builder, _signature, arguments):
        return builder.load(builder.inttoptr(arguments[0], ir.IntType(32).as_pointer()))

    return types.int32(types.int64), build


@intrinsic
def _load_byte(_context, address):
    def build(_cg, builder, _signature, arguments):
        return builder.load(builder.inttoptr(arguments[0], ir.IntType(8).as_pointer()))

    return types.uint8(types.int64), build


@intrinsic
def _call_timestamp(_context, function, message):
    """int64 rd_kafka_message_timestamp(message, NULL)"""

    def build(_cg, builder, _signature, arguments):
        word = ir.IntType(64)
        kind = ir.FunctionType(word, [word, word])
        return builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), [arguments[1], ir.Constant(word, 0)])

    return types.int64(types.int64, types.int64), build


@intrinsic
def _call_destroy(_context, function, message):
    """void rd_kafka_message_destroy(message)"""

    def build(_cg, builder, _signature, arguments):
        kind = ir.FunctionType(ir.VoidType(), [ir.IntType(64)])
        builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), [arguments[1]])
        return ir.Constant(ir.IntType(64), 0)

    return types.int64(types.int64, types.int64), build


@njit(cache=True, nogil=True)
def _copy(address, length, target, start):
    for i in range(length):
        target[start + i] = _load_byte(address + i)


@njit(cache=True, nogil=True)
def gather(messages, timestamp_function, destroy_function):
    """Columns of `Records` and (m, 2) int64 of (error code, offset) of the messages that are events.

    Frees all, and leaves zeros in `messages`: what is not zero is still to be freed.
    """
    rows = 0
    for message in messages:
        if _load_int32(message) == 0:
            rows += 1
    errors = np.empty((len(messages) - rows, 2), dtype=np.int64)
    key_bounds = np.zeros(rows + 1, dtype=np.int64)
    value_bounds = np.zeros(rows + 1, dtype=np.int64)
    key_null = np.empty(rows, dtype=np.bool_)
    value_null = np.empty(rows, dtype=np.bool_)
    timestamps = np.empty(rows, dtype=np.int64)
    offsets = np.empty(rows, dtype=np.int64)
    row = failed = 0
    for message in messages:
        code = _load_int32(message)
        if code != 0:
            errors[failed, 0] = code
            errors[failed, 1] = _load_int64(message + _OFFSET)
            failed += 1
            continue
        key_null[row] = _load_int64(message + _KEY) == 0
        value_null[row] = _load_int64(message + _PAYLOAD) == 0
        key_bounds[row + 1] = key_bounds[row] + (0 if key_null[row] else _load_int64(message + _KEY_LENGTH))
        value_bounds[row + 1] = value_bounds[row] + (0 if value_null[row] else _load_int64(message + _LENGTH))
        timestamps[row] = _call_timestamp(timestamp_function, message)
        offsets[row] = _load_int64(message + _OFFSET)
        row += 1
    keys = np.empty(key_bounds[rows], dtype=np.uint8)
    values = np.empty(value_bounds[rows], dtype=np.uint8)
    row = 0
    for i in range(len(messages)):
        message = messages[i]
        if _load_int32(message) == 0:
            _copy(_load_int64(message + _KEY), key_bounds[row + 1] - key_bounds[row], keys, key_bounds[row])
            _copy(_load_int64(message + _PAYLOAD), value_bounds[row + 1] - value_bounds[row], values, value_bounds[row])
            row += 1
        messages[i] = 0
        _call_destroy(destroy_function, message)
    return keys, key_bounds, key_null, values, value_bounds, value_null, timestamps, offsets, errors
