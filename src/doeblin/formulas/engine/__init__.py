"""The engine: staged chains over formulas whose atoms come from a pool, compiled by numba.

A `Task` holds what every atom of a pool says about every example, in packed words; a `Method` says
which chain to run; a `Chain` runs it. Compiled code is loaded when a chain turns out to be long.
"""

from ._bits import Words, pack, unpack
from ._chain import Chain, Snapshot
from ._minimise import minimised
from ._stages import Method, Stage, focused_gibbs, one_stage, two_stage, zero_stage
from ._tables import AtomArrays, classes, slots_for, truth_table
from ._task import MOST_ATOMS, Task

__all__ = [
    "MOST_ATOMS",
    "AtomArrays",
    "Chain",
    "Method",
    "Snapshot",
    "Stage",
    "Task",
    "Words",
    "classes",
    "focused_gibbs",
    "minimised",
    "one_stage",
    "pack",
    "slots_for",
    "truth_table",
    "two_stage",
    "unpack",
    "zero_stage",
]
