"""How a chain's state lies in arrays, for the engines that carry it on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._bits import Words

RESTART, METROPOLIS, GIBBS = 0, 1, 2
SIMPLIFIED = 1
# Positions in the `control` array that carries a chain from one call to the next. After them comes
# an entry for each atom of the formula: whether the present sweep has tried it.
STAGE, LEFT, STEPS, TOURS, COST, BEST, TRACED, CONTROL_SIZE = 0, 1, 2, 3, 4, 5, 6, 7

IMPOSSIBLE = 1 << 30
# A number of steps that no chain takes.
NEVER = 1 << 62


class State(NamedTuple):
    """Where a chain stands, in arrays that its engines change."""

    codes: NDArray[np.int64]
    atoms: Words
    disjuncts: Words
    random: Words
    control: NDArray[np.int64]
    best: NDArray[np.int64]
    trace: NDArray[np.int64]


class Room(NamedTuple):
    """Room in which kernels work: for each atom the conjunction of the others of its disjunct, for
    each disjunct the disjunction of the others, and words and numbers for passing use."""

    others: Words
    rest: Words
    words: Words
    numbers: NDArray[np.int64]
