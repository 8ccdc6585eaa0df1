"""Makes a maintainer signal itself (SIGKILL, or SIGSTOP) the n-th time that it comes to a named point."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from confluent_kafka import Producer

from maintainer import checkpoint_file, transactions
from maintainer.keyed import KeyedState
from maintainer.runner import Runner
from maintainer.windowed import WindowState
from skyline.runtime.drain import Drain
from skyline.wire.decode import UpdateDecoder

Call = Callable[..., Any]


class Trap:
    """Counts how often a point is reached, and signals this process at the n-th time."""

    def __init__(self, count: int, number: signal.Signals) -> None:
        self._left, self._number = count, number

    def spring(self) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), self._number)

    def before(self, function: Call) -> Call:
        """`function`, trapped before its work."""

        def call(*arguments: Any, **named: Any) -> Any:
            self.spring()
            return function(*arguments, **named)

        return call

    def after(self, function: Call) -> Call:
        """`function`, trapped after its work."""

        def call(*arguments: Any, **named: Any) -> Any:
            result = function(*arguments, **named)
            self.spring()
            return result

        return call


def _wrap(owner: Any, name: str) -> Callable[[Callable[[Call], Call]], None]:
    return lambda wrapper: setattr(owner, name, wrapper(getattr(owner, name)))


def _wrap_states(wrapper: Callable[[Call], Call]) -> None:
    for kind in (KeyedState, WindowState):
        _wrap(kind, "apply")(wrapper)


def _once_live(set_trap: Callable[[], None]) -> None:
    """Sets the trap when recovery is over: before, what it waits for is warm-up or replay."""
    follow = Runner._follow

    def armed(*arguments: Any) -> None:
        set_trap()
        follow(*arguments)

    Runner._follow = armed  # type: ignore[method-assign]


class TrappedProducer(Producer):
    """A producer whose methods can be replaced: those of the original cannot."""

    def produce(self, *arguments: Any, **named: Any) -> None:
        super().produce(*arguments, **named)

    def init_transactions(self, *arguments: Any) -> None:
        super().init_transactions(*arguments)

    def send_offsets_to_transaction(self, *arguments: Any) -> None:
        super().send_offsets_to_transaction(*arguments)

    def commit_transaction(self, *arguments: Any) -> None:
        super().commit_transaction(*arguments)


def _points(trap: Trap) -> dict[str, Callable[[], None]]:
    producer = TrappedProducer
    return {
        "take_over": lambda: _wrap(producer, "init_transactions")(trap.after),
        "poll": lambda: _wrap(Drain, "poll")(trap.before),
        "decode": lambda: _once_live(lambda: _wrap(UpdateDecoder, "decode")(trap.before)),
        "apply": lambda: _once_live(lambda: _wrap_states(trap.before)),
        "applied": lambda: _once_live(lambda: _wrap_states(trap.after)),
        "produce": lambda: _wrap(producer, "produce")(trap.after),
        "offsets": lambda: _wrap(producer, "send_offsets_to_transaction")(trap.before),
        "before_commit": lambda: _wrap(producer, "commit_transaction")(trap.before),
        "after_commit": lambda: _wrap(producer, "commit_transaction")(trap.after),
        "checkpoint": lambda: _wrap(checkpoint_file.os, "fsync")(trap.before),
        "rename": lambda: _wrap(Path, "rename")(trap.before),
        "renamed": lambda: _wrap(Path, "rename")(trap.after),
    }


POINTS = tuple(_points(Trap(0, signal.SIGKILL)))


def arm(point: str, count: int, number: signal.Signals = signal.SIGKILL) -> None:
    """Sets the trap, for this process only."""
    transactions.Producer = TrappedProducer  # type: ignore[misc]
    _points(Trap(count, number))[point]()
