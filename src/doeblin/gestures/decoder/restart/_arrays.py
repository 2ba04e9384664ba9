"""Arrays in tuples with names, as compiled code takes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...data import Gesture, Layout

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Samples between two frames.
FINE = 4
# Masses below this count as none: their logarithms would soon be out of range.
TINY = 1e-290
# What u's network sees of a key: frames before and after, of keys not farther away than this.
WINDOW = 8
REACH = 2.2
NUM_INPUTS = 4 * (2 * WINDOW + 1) + 4


class Packed(NamedTuple):
    """Gestures side by side: coordinates in key widths both ways, times in ms, and where each
    gesture begins."""

    x: Floats
    y: Floats
    t: Floats
    starts: Ints


class Trace(NamedTuple):
    """One gesture of them."""

    x: Floats
    y: Floats
    t: Floats


class Restart(NamedTuple):
    """u: where the keys are, its weights, those of the letters, and how traces become frames."""

    plane: Floats
    weights: Floats
    letters: Floats
    rate: float
    least: int
    most: int


class Extra(NamedTuple):
    """What a network adds to the log-potentials of hits and dwells, of some keys and frames."""

    values: Floats
    keys: Ints
    frames: Ints
    starts: Ints
    """`starts[e] : starts[e + 1]` are those of gesture e."""


class Rows(NamedTuple):
    """The inputs of u's network: one row for each frame and key that came near each other."""

    inputs: Floats
    keys: Ints
    frames: Ints
    starts: Ints
    """`starts[e] : starts[e + 1]` are the rows of gesture e."""


class Targets(NamedTuple):
    """The true words of gestures: merged keys, where each begins, number in the lexicon."""

    keys: Ints
    starts: Ints
    words: Ints
    log_frequency: Floats
    doubles: Floats


class Slopes(NamedTuple):
    """Log-likelihoods of a batch, and their derivatives by the weights and by the additions."""

    values: Floats
    weights: Floats
    extra: Floats


class Tree(NamedTuple):
    """A trie with its words' weights, and how far it is walked; see `Trie` and `Settings`."""

    letter: NDArray[np.int32]
    first_child: NDArray[np.int32]
    first_word: NDArray[np.int32]
    words: NDArray[np.int32]
    levels: NDArray[np.int32]
    best: Floats
    log_frequency: Floats
    doubles: Floats
    prune: float
    prune_deep: float


class Frames(NamedTuple):
    """What is seen of a trace in each frame (see `make_frames`), and the cells of transits."""

    near: Floats
    offset_x: Floats
    offset_y: Floats
    lowest: Ints
    motion: Ints
    speeds: Ints
    place: Floats
    move: Floats
    cells: NDArray[np.int32]


class Potentials(NamedTuple):
    """`hit[c, i]`, `dwell[c, i]`, `transit[p, c, i]`, or expected counts of the same."""

    hit: Floats
    dwell: Floats
    transit: Floats


class Walk(NamedTuple):
    """A walk over the trie: kept node k is `node_of[k]`, its parent is kept as `source_of[k]`."""

    node_of: Ints
    source_of: Ints
    level_start: Ints
    arriving: Floats
    mass: Floats


def pack(gestures: Sequence[Gesture], layout: Layout) -> Packed:
    """Several gestures as one."""
    sizes = [len(gesture.x) for gesture in gestures]
    return Packed(
        np.concatenate([gesture.x for gesture in gestures] or [np.empty(0)]),
        np.concatenate([gesture.y for gesture in gestures] or [np.empty(0)]) * layout.aspect,
        np.concatenate([gesture.t for gesture in gestures] or [np.empty(0)]),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
    )


def no_extra(count: int) -> Extra:
    """What the compiled code is given where there is no network."""
    nothing = np.zeros(0, np.int64)
    return Extra(np.zeros((0, 2)), nothing, nothing, np.zeros(count + 1, np.int64))
