"""The reader as part of a model, in numpy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...._errors import InputError
from .._tensors import Tensors, check
from ..restart import Floats, Ints, Packed, plain_places, plain_trace
from ..words import Words
from ._chances import log_chances, spread
from ._outputs import FRAMES, HEADS, NUM_SEEN, letters, seen

# Traces that are read at a time: what is held of each of them is 150 KB.
_CHUNK = 32
_MOST_GAIN = 10.0


def traced(packed: Packed) -> tuple[Floats, Floats]:
    """Where the finger was in each frame of each trace, and the seconds that it took."""
    count = len(packed.starts) - 1
    places, seconds = np.empty((count, FRAMES, 2)), np.empty(count)
    for e in range(count):
        trace = plain_trace(packed, e)
        places[e] = plain_places(trace, FRAMES)
        seconds[e] = (trace.t[-1] - trace.t[0]) / 1000
    return places, seconds


def shapes(width: int, wide: int, blocks: int, basis: int) -> dict[str, tuple[int, ...]]:
    """The weights of a reader by name: hidden units of a frame, within blocks, and of ways."""
    layers = {"in": (NUM_SEEN, width), "way": (2, basis), "key": (width, basis + 1)}
    layers["none"] = (width, 1)
    found: dict[str, tuple[int, ...]] = {"gain": ()}
    for block in range(blocks):
        layers[f"{block}.look"], layers[f"{block}.tell"] = (width, 3 * width), (width, width)
        layers[f"{block}.wide"], layers[f"{block}.back"] = (width, wide), (wide, width)
        found[f"{block}.apart"] = (HEADS, 2 * FRAMES - 1)
    for name, shape in layers.items():
        found[f"{name}.weight"], found[f"{name}.bias"] = shape, shape[1:]
    return found


@dataclass(frozen=True, eq=False)
class Reader:
    """A network that reads whole traces.

    It says of each frame which letter is written there, if any; a word's score is `gain` times the
    log of the chance that its letters are read one after the other.
    """

    weights: Mapping[str, NDArray[np.float32]]

    def __post_init__(self):
        given = {name: value.shape for name, value in self.weights.items()}
        # Of a layer that is not there, or has no axis, no number fits.
        width, basis, wide = (
            (given.get(f"{name}.weight") or (0,))[-1] for name in ("in", "way", "0.wide")
        )
        blocks = sum(name.endswith(".apart") for name in given)
        fits = width % HEADS == 0 and min(width, basis, wide if blocks else 1) > 0
        if not fits or given != shapes(width, wide, blocks, basis):
            raise InputError("a reader whose layers do not fit each other: train the model again")
        for name, value in self.weights.items():
            check(f"reader.{name}", value)
        if not 0 <= self.weights["gain"] <= _MOST_GAIN:
            gain = float(self.weights["gain"])
            raise InputError(f"a reader's gain = {gain:g} must be between 0 and {_MOST_GAIN:g}")

    def read(self, packed: Packed, plane: Floats) -> NDArray[np.floating]:
        """The log-chances of the letters in each frame of each trace, and of none."""
        places, seconds = traced(packed)
        parts = [np.zeros((0, FRAMES, len(plane) + 1), np.float32)]
        for at in range(0, len(places), _CHUNK):
            some = slice(at, at + _CHUNK)
            frames, ways = seen(places[some], seconds[some], plane, np)
            given = frames.astype(np.float32), ways.astype(np.float32)
            parts.append(letters(self.weights, *given, np))
        return np.concatenate(parts)

    def said(self, read: NDArray[np.floating], words: Words, ids: Ints) -> Floats:
        """The score of each candidate of each trace that was read."""
        return float(self.weights["gain"]) * log_chances(read, *spread(words, ids))

    def tensors(self, name: str) -> dict[str, NDArray[np.float32]]:
        """The weights by name, for a file."""
        return {f"{name}.{part}": np.asarray(value) for part, value in self.weights.items()}

    @classmethod
    def from_tensors(cls, tensors: Tensors, name: str) -> Reader | None:
        """The reader of a file, or None if there is none of this name in it."""
        if not tensors.some(f"{name}."):
            return None
        blocks = 0
        while tensors.some(f"{name}.{blocks}."):
            blocks += 1
        parts = shapes(0, 0, blocks, 0)
        return cls({part: tensors[f"{name}.{part}"].astype(np.float32) for part in parts})
