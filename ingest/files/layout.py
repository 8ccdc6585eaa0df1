"""Which column of a file feeds which part of an update."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from skyline.errors import InvalidInput
from skyline.view import View
from skyline.wire.fields import shown
from skyline.wire.rejects import Rejected
from skyline.wire.updates import INTERVAL, OP

KEY: Final = "key"
"""The column of keys, unless another is named."""

_YES: Final = frozenset({"true", "t", "yes", "y", "1", "delete", "deleted", "d"})
_NO: Final = frozenset({"false", "f", "no", "n", "0", ""})


@dataclass(frozen=True)
class Layout:
    """The columns of one run. `fields` maps fields of the update to columns: by their own names unless mapped."""

    view: View
    key: str
    fields: Mapping[str, str]
    needs_key: bool = True
    """False for a window, whose elements may do without, as long as nobody has named a column."""
    time: str | None = None
    delete: str | None = None
    delete_value: str | None = None
    json: frozenset[str] = frozenset()
    """Fields whose CSV cells are JSON, not text."""

    @classmethod
    def of(
        cls, view: View, key: str = "", pairs: Sequence[str] = (), time: str = "", delete: str = "",
        json: Sequence[str] = (),
    ) -> Layout:  # fmt: skip
        """From the command line: `pairs` are FIELD=COLUMN, `delete` is COLUMN or COLUMN=VALUE."""
        mapping = dict(_pair(view, text) for text in pairs)
        fields = {name: mapping.get(name, name) for name in _known(view)}
        for name in json:
            if name not in (*view.group_by, *view.carry):
                raise InvalidInput(f"--json {name}: only group and carried fields are text that may hold JSON")
        column, separator, value = delete.partition("=")
        needs_key = bool(key) or view.window is None
        mark = value if separator else None
        return cls(view, key or KEY, fields, needs_key, time or None, column or None, mark, frozenset(json))

    def required(self) -> dict[str, str]:
        """Columns that a file with a header must have, with what each is for."""
        view = self.view
        purposes = {self.key: "the key (--key)"} if self.needs_key else {}
        purposes |= {self.fields[name]: f"dimension {name} (--map {name}=COLUMN)" for name in view.dimensions.names}
        purposes |= {self.fields[name]: f"group field {name} (--map {name}=COLUMN)" for name in view.group_by}
        purposes |= {column: f"{name} (--map)" for name, column in self.fields.items() if column != name}
        if self.time:
            purposes[self.time] = "event time (--time)"
        if self.delete:
            purposes[self.delete] = "deletions (--delete)"
        return purposes

    def columns(self, header: Sequence[str]) -> list[str]:
        """Those that are read, in the header's order."""
        wanted = {self.key, self.time, self.delete, *self.fields.values()}
        return [name for name in header if name in wanted]

    def check_header(self, path: Path, header: Sequence[str]) -> None:
        """Raises InvalidInput that names the first column missing and what there is instead."""
        for column, purpose in self.required().items():
            if column not in header:
                raise InvalidInput(f"{path} has no column {column!r} for {purpose}; it has: {', '.join(header)}")
        read = self.columns(header)
        if len(set(read)) < len(read):
            twice = next(name for name in read if read.count(name) > 1)
            raise InvalidInput(f"{path}: column {twice!r} occurs twice")

    def deletes(self, mark: Any) -> bool | Rejected:
        """Whether a cell of the delete column says that the row deletes its object."""
        if self.delete_value is not None:
            return mark is not None and str(mark) == self.delete_value
        if mark is None or isinstance(mark, bool):
            return bool(mark)
        word = str(mark).lower()
        if word in _YES or word in _NO:
            return word in _YES
        return Rejected("bad_value", f"{self.delete} must say yes or no (such as true, 1, no, 0), got {shown(mark)}")

    def fingerprint(self) -> str:
        """The same for layouts that make the same updates of the same file."""
        pairs = ",".join(f"{name}={column}" for name, column in self.fields.items())
        return f"key={self.key};{pairs};time={self.time};delete={self.delete}={self.delete_value};{sorted(self.json)}"


def _known(view: View) -> tuple[str, ...]:
    return (*view.dimensions.names, *view.group_by, *view.carry, *INTERVAL, OP)


def _pair(view: View, text: str) -> tuple[str, str]:
    name, separator, column = text.partition("=")
    if not separator or not column:
        raise InvalidInput(f"--map takes FIELD=COLUMN, such as --map price=cost, got {text!r}")
    if name not in _known(view):
        allowed = ", ".join(_known(view))
        raise InvalidInput(f"--map {text}: view {view.name!r} has no field {name!r}; its fields are: {allowed}")
    return name, column
