"""What A sees of a word, by name; and words as compiled code takes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...data import Layout
from ..restart import Ints, WordKeys

FEATURES = (
    "log_mass",
    "log_frequency",
    "doubles",
    "letters",
    "distance",
    "distance_squared",
    "greatest_distance",
    "shape_distance",
    "start_squared",
    "end_squared",
    "length_ratio",
    "length_ratio_squared",
    "elastic",
    "greatest_elastic",
    "time_ratio",
    "time_ratio_squared",
    "dwell_on_doubles",
)
NUM_FEATURES = len(FEATURES)
# How the drawn path lies beside the ideal one: shifts, slopes of stretch and slant. A's own factors
# do not look at these; they say whose hand it was.
SHIFTS = (
    "shift_x",
    "shift_y",
    "start_x",
    "start_y",
    "end_x",
    "end_y",
    "stretch_x",
    "stretch_y",
    "slant",
)
NUM_SHIFTS = len(SHIFTS)
# Points on a path when shapes are compared, and of a stroke, at equal times.
SHAPE_POINTS = 32
POINTS = 6
NUM_STROKE_INPUTS = 4 * POINTS + 26
# A key is dwelt on within this distance.
TOUCH = 0.7
# Samples before and after a hit between which the finger's turn is measured.
TURN = 3


class Words(NamedTuple):
    """Merged keys of all words of a lexicon, where each begins, and its first doubled key or -1."""

    keys: Ints
    starts: Ints
    doubled: Ints

    @classmethod
    def of(cls, layout: Layout, words: Sequence[str]) -> Words:
        """Some words; those that the layout cannot spell have no keys."""
        spelt = WordKeys.by(layout, words)
        sizes, doubled = np.zeros(len(words), np.int64), np.full(len(words), -1, np.int64)
        sizes[spelt.ranks] = spelt.sizes
        twice = np.flatnonzero(spelt.runs > 1)[::-1]  # the first of a word comes last, and stays
        doubled[spelt.ranks[spelt.owner[twice]]] = spelt.keys[twice]
        return cls(spelt.keys, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), doubled)
