"""What the full model A sees of a whole word: its ideal path, and the strokes to its letters."""

from ._shapes import FEATURES, NUM_FEATURES, NUM_SHIFTS, SHIFTS, trace_features
from ._strokes import NUM_STROKE_INPUTS, Words, stroke_rows

__all__ = [
    "FEATURES",
    "NUM_FEATURES",
    "NUM_SHIFTS",
    "NUM_STROKE_INPUTS",
    "SHIFTS",
    "Words",
    "stroke_rows",
    "trace_features",
]
