"""Engines by name, imported on first use: the papers' engines need rtree, the forest numba's compiler."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

from skyline.errors import InvalidInput
from skyline.live.engine import Engine

_HOMES: Final = {
    "forest": ("skyline.live.forest", "DominanceForest"),
    "esc": ("skyline.live.esc", "Esc"),
    "lookout": ("skyline.live.lookout", "LookOut"),
    "recompute": ("skyline.live.recompute", "Recompute"),
}


def engine_of(name: str, dimensions: int, options: dict[str, Any]) -> Engine:
    """A fresh engine."""
    if name not in _HOMES:
        raise InvalidInput(f"engine must be one of {', '.join(_HOMES)}, got {name!r}")
    module, cls = _HOMES[name]
    try:
        engine: Engine = getattr(import_module(module), cls)(dimensions, **options)
    except TypeError as error:
        raise InvalidInput(f"engine {name!r}: {error}") from None
    return engine
