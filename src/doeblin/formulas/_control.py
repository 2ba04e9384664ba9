"""How a chain's state lies in arrays, for the engines that carry it on."""

from __future__ import annotations

RESTART, METROPOLIS, GIBBS = 0, 1, 2
SIMPLIFIED = 1
# Positions in the `control` array that carries a chain from one call to the next. After them comes
# an entry for each atom of the formula: whether the present sweep has tried it.
STAGE, LEFT, STEPS, TOURS, COST, BEST, TRACED, CONTROL_SIZE = 0, 1, 2, 3, 4, 5, 6, 7

IMPOSSIBLE = 1 << 30
# A number of steps that no chain takes.
NEVER = 1 << 62
