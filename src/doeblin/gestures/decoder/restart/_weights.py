"""The weights of the restart u: named blocks of one vector, so that one update fits all."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Distances to keys, in key widths, between whose values the weights are interpolated.
DISTANCES = np.array([0, 0.15, 0.3, 0.45, 0.6, 0.8, 1.0, 1.25, 1.5, 1.8, 2.2, 2.8, 3.6, 5.0])
# The same for the distance to the straight line between two keys.
GAPS = np.array([0, 0.2, 0.4, 0.6, 0.85, 1.1, 1.5, 2.0, 3.0, 4.5])
NUM_DISTANCES, NUM_GAPS = len(DISTANCES), len(GAPS)
# Four speeds by three turns, then the first and the last frame.
NUM_MOTIONS, FIRST_MOTION, LAST_MOTION = 14, 12, 13
NUM_SPEEDS = 4
# Slow, then five sectors of the angle between the motion and the line.
NUM_HEADINGS = 6
# Lines between neighbours, to keys at some distance, and to far ones: up to these lengths.
LENGTHS = np.array([1.3, 3.0])
NUM_LENGTHS = len(LENGTHS) + 1
# Gaps are rounded to a fine grid, so that potentials of transit come from a table.
GRID, NUM_GRID = 0.0625, 73
NUM_SIDES = 3
# Beyond this distance an offset says nothing about where a user aims.
AIM_REACH = 1.5
# Slower than this (key widths a second), a finger has no direction to speak of.
SLOW = 1.0


class Block(NamedTuple):
    """Where a named array of weights begins in the vector, and its shape."""

    start: int
    shape: tuple[int, ...]


def _blocks(**shapes: tuple[int, ...]) -> dict[str, Block]:
    blocks, start = {}, 0
    for name, shape in shapes.items():
        blocks[name] = Block(start, shape)
        start += prod(shape)
    return blocks


BLOCKS = _blocks(
    hit=(NUM_MOTIONS, 2, NUM_DISTANCES),
    dwell=(NUM_SPEEDS, NUM_DISTANCES),
    transit=(NUM_LENGTHS, NUM_HEADINGS, NUM_GAPS),
    approach=(NUM_DISTANCES,),
    offset=(NUM_SIDES, 6),
    prior=(1,),
    double=(1,),
)
HIT, DWELL, TRANSIT, APPROACH, OFFSET, PRIOR, DOUBLE = (block.start for block in BLOCKS.values())
NUM_WEIGHTS = DOUBLE + 1


def initial_weights() -> NDArray[np.float64]:
    """Where training begins: near is likelier than far, words count by their frequency."""
    weights = np.zeros(NUM_WEIGHTS)
    parts = split(weights)
    # Quadratic near a key, linear far from it: a slip of the finger must not be unthinkable.
    nearness = -np.minimum(2 * DISTANCES**2, 4 * DISTANCES - 2)
    parts["hit"] += 1.0 + nearness
    parts["dwell"] += nearness
    parts["transit"] += -GAPS
    parts["approach"] += -3.0
    parts["prior"] += 0.5
    return weights


def split(weights: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """The weights by name; the arrays are views."""
    return {
        name: weights[block.start : block.start + prod(block.shape)].reshape(block.shape)
        for name, block in BLOCKS.items()
    }
