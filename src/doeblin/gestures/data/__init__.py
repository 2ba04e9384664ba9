"""Layouts, gestures, lexicons, readers and the generator."""

from ._generate import Generator, least_jerk
from ._gesture import Gesture
from ._layout import Layout
from ._lexicon import EMBEDDED_SIZE, Lexicon
from ._readers import Format, gesture_row, read_gestures
from ._reading import Problem, Reading
from ._statistics import Statistics, key_string, merged, statistics

__all__ = [
    "EMBEDDED_SIZE",
    "Format",
    "Generator",
    "Gesture",
    "Layout",
    "Lexicon",
    "Problem",
    "Reading",
    "Statistics",
    "gesture_row",
    "key_string",
    "least_jerk",
    "merged",
    "read_gestures",
    "statistics",
]
