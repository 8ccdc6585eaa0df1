"""Runs the maintainer and kills it, as kill -9 would, at the n-th time that it comes to a named point.

`python -m tests.maintainer.crashing POINT:N ...maintainer's arguments`
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from maintainer import checkpoint, transactions
from maintainer.__main__ import main
from maintainer.keyed import KeyedState
from maintainer.windowed import WindowState
from skyline.runtime.drain import Drain
from skyline.runtime.process import run
from skyline.wire.decode import UpdateDecoder

POINTS = ("poll", "decode", "apply", "applied", "produce", "offsets", "before_commit", "after_commit", "checkpoint")


def dying(function: Callable[..., Any], count: int, *, after: bool = False) -> Callable[..., Any]:
    """`function`, whose `count`-th call ends the process, before or after its work."""
    left = count

    def call(*arguments: Any, **named: Any) -> Any:
        nonlocal left
        left -= 1
        result = function(*arguments, **named) if left > 0 or after else None
        if left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    return call


def dying_call(count: int, step: int) -> Callable[..., Any]:
    """Replaces the helper through which offsets are sent and transactions committed, in turn; 0 and 1 are these."""
    original, calls = transactions._insisted, 0

    def insisted(call: Callable[[], Any]) -> None:
        nonlocal calls
        if "init_transactions" in str(call):
            original(call)
            return
        if calls == 2 * (count - 1) + min(step, 1) and step < 2:
            os.kill(os.getpid(), signal.SIGKILL)
        original(call)
        if calls == 2 * (count - 1) + 1 and step == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        calls += 1

    return insisted


def arm(point: str, count: int) -> None:
    if point == "poll":
        Drain.poll = dying(Drain.poll, count)  # type: ignore[method-assign]
    elif point == "decode":
        UpdateDecoder.decode = dying(UpdateDecoder.decode, count)  # type: ignore[method-assign]
    elif point in ("apply", "applied"):
        for state in (KeyedState, WindowState):
            state.apply = dying(state.apply, count, after=point == "applied")  # type: ignore[method-assign]
    elif point == "produce":
        produce = transactions.Transactions._produce
        transactions.Transactions._produce = dying(produce, count * 7)  # type: ignore[method-assign]
    elif point in ("offsets", "before_commit", "after_commit"):
        step = ("offsets", "before_commit", "after_commit").index(point)
        transactions._insisted = dying_call(count, step)
    elif point == "checkpoint":
        checkpoint.os.fsync = dying(os.fsync, count)  # type: ignore[attr-defined]
    else:
        raise ValueError(point)


if __name__ == "__main__":
    name, _, number = sys.argv[1].partition(":")
    if name != "never":
        arm(name, int(number))
    run(main, sys.argv[2:])
