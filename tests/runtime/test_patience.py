"""Errors that pass are waited out; all others are raised at once."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError, KafkaException

from skyline.runtime.patience import patiently


class Flaky:
    """A call that fails so many times."""

    def __init__(self, code: int, failures: int) -> None:
        self.code, self.failures, self.calls = code, failures, 0

    def __call__(self) -> str:
        self.calls += 1
        if self.calls <= self.failures:
            raise KafkaException(KafkaError(self.code))
        return "done"


def test_errors_that_pass_are_waited_out() -> None:
    call = Flaky(KafkaError.NOT_COORDINATOR, 2)
    assert patiently(call) == "done"
    assert call.calls == 3


def test_other_errors_are_raised_at_once() -> None:
    call = Flaky(KafkaError.GROUP_AUTHORIZATION_FAILED, 1)
    with pytest.raises(KafkaException):
        patiently(call)
    assert call.calls == 1


def test_patience_has_an_end() -> None:
    call = Flaky(KafkaError.NOT_COORDINATOR, 1000)
    with pytest.raises(KafkaException):
        patiently(call, seconds=0.15)
    assert call.calls >= 2
