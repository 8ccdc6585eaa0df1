"""Answers a question about a keyed view's skyline, on one state of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import orjson

from query.encode import Encoder
from query.gate import COUNTED_AT_ONCE, PAGES_AT_ONCE, Deadline
from query.objects import Record
from query.problems import bad_parameter, too_large
from query.question import Question, matches
from query.score import Score
from query.table import State, Table
from query.windowed import WindowTable
from skyline.search import Members

_FIRST, _LARGEST = 16, 1024
"""Members of the first chunk and of the largest, at most."""

PLAIN_AT_ONCE: Final = 2_000
"""Members of a plain answer that may be encoded on the event loop: about 2 ms."""


class Search:
    """The members that a question asks for, as JSON, chunk by chunk."""

    def __init__(self, table: Table, state: State, question: Question, encoder: Encoder) -> None:
        self._table, self._state, self._question, self._encoder = table, state, question, encoder
        self._labels = self._wanted_labels()
        self._left = question.limit
        self._score = None if question.weights is None else Score(table.view.dimensions, question)
        self.cut = False
        """Whether the limit left something out."""

    def chunks(self, deadline: Deadline) -> Iterator[list[bytes]]:
        """Chunks of growing size, some empty, in ascending order of the sum or score."""
        if self._labels is not None and not len(self._labels):
            return
        members, size = self._begin(), _FIRST
        largest = COUNTED_AT_ONCE if self._question.enumerate else _LARGEST
        while not members.over and not self.cut:
            deadline.check()
            yield self._encode(members, members.places(size, PAGES_AT_ONCE))
            size = min(2 * size, largest)

    def _wanted_labels(self) -> list[int] | None:
        """Numbers of the groups that are asked for; None where the view has no groups."""
        view = self._table.view
        if not view.group_by:
            return None
        with self._table.lock:
            labels = list(self._table.labels.items())
        if not self._question.group:
            return [label for _, label in labels]
        return [
            label
            for text, label in labels
            if matches(dict(zip(view.group_by, orjson.loads(f"[{text}]"), strict=True)), self._question.group)
        ]

    def _begin(self) -> Members:
        question, labels = self._question, self._labels
        options: dict[str, Any] = {
            "low": question.low, "high": question.high, "dims": question.dims, "k": question.k,
            "weights": question.weights, "reference": question.reference,
        }  # fmt: skip
        if labels is not None and len(labels) == 1:
            options["label"] = labels[0]
        elif labels is not None:
            options["labels"] = labels
        return self._state.index.search(**options)

    def _encode(self, members: Members, places: Any) -> list[bytes]:
        records = self._table.objects.records(places[:, 0].tolist())
        if self._labels is not None and self._question.group and len(self._labels) > 1:
            wanted = set(self._labels)
            kept = [row for row, record in enumerate(records) if record[2] in wanted]
            places, records = places[kept], [records[row] for row in kept]
        if self._left is not None:
            self.cut = len(records) > self._left
            places, records = places[: self._left], records[: self._left]
            self._left -= len(records)
        more = [b""] * len(records)
        if self._score is not None:
            more = [b',"score":' + orjson.dumps(value) for value in self._score.of(self._table.points(records))]
        if self._question.enumerate:
            counts = self._state.index.dominated(members.query, places).tolist()
            more = [text + b',"dominates":%d' % count for text, count in zip(more, counts, strict=True)]
        return [self._encoder.member(record, text) for record, text in zip(records, more, strict=True)]


def search_answer(
    table: Table, state: State, question: Question, encoder: Encoder, deadline: Deadline, most: int
) -> bytes:
    """The whole answer as JSON."""
    search = Search(table, state, question, encoder)
    found: list[bytes] = []
    for chunk in search.chunks(deadline):
        found += chunk
        if len(found) > most:
            raise too_large(most)
    return encoder.answer(state.stamp, found, count=len(found), complete=not search.cut)


def window_answer(table: WindowTable, question: Question, encoder: Encoder, most: int) -> bytes:
    """The skyline of the newest elements, or of a stretch: in order of arrival, or by rank."""
    if question.between is not None:
        state, records = table.between(*question.between)
    else:
        assert question.last is not None
        state, records = table.last(question.last)
    more = [b""] * len(records)
    if question.weights is not None:
        score = Score(table.view.dimensions, question)
        records = [records[row] for row in np.argsort(score.order(table.points(records)), kind="stable").tolist()]
        more = [b',"score":' + orjson.dumps(value) for value in score.of(table.points(records))]
    shown = len(records) if question.limit is None else min(len(records), question.limit)
    if shown > most:
        raise too_large(most)
    members = [encoder.member(record, text) for record, text in zip(records[:shown], more, strict=False)]
    return encoder.answer(state.stamp, members, count=shown, complete=shown == len(records))


def approximate_answer(table: Table, state: State, question: Question, encoder: Encoder, most: int) -> bytes:
    """The skyline as far as so many pages tell; hypothetical members have no key."""
    if table.view.group_by:
        raise bad_parameter("approximate", "this view has groups", "views without group_by", "group=city:Paris")
    assert question.approximate is not None
    rough = state.index.approximate(question.approximate)
    limit = most if question.limit is None else question.limit
    if question.limit is None and len(rough.ids) > most:
        raise too_large(most)
    members = []
    for point, number_, guess in list(zip(rough.points, rough.ids.tolist(), rough.hypothetical, strict=True))[:limit]:
        if guess:
            members.append(orjson.dumps({"key": None, "point": encoder.point(point.tolist()), "hypothetical": True}))
        else:
            members.append(encoder.member(table.objects.records([number_])[0], b',"hypothetical":false'))
    return encoder.answer(
        state.stamp, members, count=len(members), complete=rough.complete and len(members) == len(rough.ids),
        error=rough.error, node_accesses=rough.node_accesses,
    )  # fmt: skip


class PlainAnswers:
    """The members of the view as it is, encoded once for every change of them."""

    def __init__(self, table: Table, encoder: Encoder) -> None:
        self._table, self._encoder = table, encoder
        self._fragments: dict[str, tuple[Record, bytes]] = {}
        self._encoded: tuple[int, list[bytes]] = (-1, [])
        """The version, and its members: one assignment, for answers are given by more than one thread."""

    def members(self) -> tuple[State, list[bytes]]:
        """The state and its members, by key. O(1) while no member changes, else O(m log m)."""
        table = self._table
        version, members = self._encoded
        state = table.state
        if state is not None and state.version == version:
            return state, members
        with table.lock:
            state = table.state
            assert state is not None
            records = [table.objects.get(key) for key in sorted(table.members)]
        fragments: dict[str, tuple[Record, bytes]] = {}
        for record in records:
            assert record is not None
            known = self._fragments.get(record[0])
            if known is None or known[0][1:4] != record[1:4]:
                known = (record, self._encoder.member(record))
            fragments[record[0]] = known
        self._fragments = fragments
        members = [fragment for _, fragment in fragments.values()]
        self._encoded = (state.version, members)
        return state, members
