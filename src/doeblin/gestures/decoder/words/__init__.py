"""What the full model A sees of a whole word: its ideal path, and the strokes to its letters."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._names import FEATURES, NUM_FEATURES, NUM_SHIFTS, NUM_STROKE_INPUTS, SHIFTS, Words
from ._plain_shapes import plain_features
from ._plain_strokes import plain_stroke_rows

if TYPE_CHECKING:
    from ._shapes import trace_features
    from ._strokes import stroke_rows

# What is compiled loads on first use.
_COMPILED = {"stroke_rows": "_strokes", "trace_features": "_shapes"}

__all__ = [
    "FEATURES",
    "NUM_FEATURES",
    "NUM_SHIFTS",
    "NUM_STROKE_INPUTS",
    "SHIFTS",
    "Words",
    "plain_features",
    "plain_stroke_rows",
    "stroke_rows",
    "trace_features",
]


def __getattr__(name: str) -> Any:
    if name in _COMPILED:
        return getattr(importlib.import_module(f"{__name__}.{_COMPILED[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
