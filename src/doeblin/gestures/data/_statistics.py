"""What a set of gestures looks like, in the terms of the paper: keys under the finger."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

import numpy as np

from ..._errors import InputError
from ._gesture import Gesture
from ._layout import Layout


class Statistics(NamedTuple):
    """Averages over gestures, of key strings sampled at a fixed rate."""

    keys_per_letter: float
    runs_per_letter: float
    """The same after merging runs of a key."""
    subsequence: float
    """How often the keys contain the word (doubled letters merged), in order."""
    first_key: float
    """How often the first key is the word's first letter."""
    last_key: float


def key_string(gesture: Gesture, layout: Layout, rate: float = 9.0) -> str:
    """The keys under the finger, sampled `rate` times a second; at least two samples."""
    duration = float(gesture.t[-1]) / 1000
    count = max(2, round(duration * rate) + 1)
    at = np.linspace(0, gesture.t[-1], count)
    keys = layout.nearest(np.interp(at, gesture.t, gesture.x), np.interp(at, gesture.t, gesture.y))
    return "".join(layout.letters[key] for key in keys)


def statistics(gestures: Iterable[Gesture], layout: Layout, *, rate: float = 9.0) -> Statistics:
    """How the gestures' key strings relate to their words."""
    rows = []
    for gesture in gestures:
        if not gesture.word:
            continue
        keys, word = key_string(gesture, layout, rate), gesture.word
        remaining = iter(keys)
        rows.append(
            (
                len(keys) / len(word),
                len(merged(keys)) / len(word),
                all(letter in remaining for letter in merged(word)),
                keys[0] == word[0],
                keys[-1] == word[-1],
            )
        )
    if not rows:
        raise InputError("no gesture here has a word to compare with")
    return Statistics(*(float(value) for value in np.mean(rows, axis=0)))


def merged(text: str) -> str:
    """A string with each run of a letter merged into one: `hello` gives `helo`."""
    return "".join(letter for letter, _ in groupby(text))
