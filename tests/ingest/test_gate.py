"""Who may come in: what is held and under way is bounded, and a broker that lags turns others away."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from ingest.http.gate import Gate
from ingest.http.problems import Problem


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def gate(clock: Clock) -> Gate:
    return Gate(max_updates=10, max_bytes=100, max_lag=2.0, now=clock)


def test_bodies_are_bounded_together(gate: Gate) -> None:
    with gate.body(60):
        with pytest.raises(Problem, match="60 bytes of other requests are held, at most 100"), gate.body(41):
            pass
        with gate.body(40):
            assert gate.bytes == 100
    assert gate.bytes == 0


def test_a_body_of_unknown_size_needs_its_room_only_until_it_is_read(gate: Gate) -> None:
    with gate.body(100) as settle:
        settle(10)
        with gate.body(90):
            assert gate.bytes == 100
        assert gate.bytes == 10
    assert gate.bytes == 0


def test_updates_under_way_are_bounded_together(gate: Gate) -> None:
    with gate.under_way(7):
        with pytest.raises(Problem) as raised, gate.under_way(4):
            pass
        assert raised.value.status == 429
        assert raised.value.headers == {"Retry-After": "1"}
        with gate.under_way(3):
            assert gate.updates == 10
    assert gate.updates == 0


def test_what_fails_gives_its_room_back(gate: Gate) -> None:
    with pytest.raises(ZeroDivisionError), gate.body(100), gate.under_way(10):
        raise ZeroDivisionError
    assert (gate.bytes, gate.updates, gate.lag()) == (0, 0, 0.0)


def test_a_broker_that_lags_turns_others_away(gate: Gate, clock: Clock) -> None:
    with ExitStack() as oldest:
        oldest.enter_context(gate.under_way(1))
        clock.now += 1.9
        with gate.under_way(1), gate.body(1):
            clock.now += 0.2
            assert gate.lagging()
            with pytest.raises(Problem, match=r"not acknowledged anything for 2\.1 s") as raised, gate.body(1):
                pass
            assert raised.value.headers == {"Retry-After": "3"}
            clock.now += 1000
            with pytest.raises(Problem) as raised, gate.body(1):
                pass
            assert raised.value.headers == {"Retry-After": "30"}
            clock.now -= 1000
            oldest.close()
            assert not gate.lagging()  # the next oldest has waited for 0.2 s only
            assert gate.lag() == pytest.approx(0.2)
