"""Formulas from examples: a DNF of linear inequalities found by staged chains.

`search` finds a `Formula` that agrees with `Examples`. Which chain it runs is data: a `Method` is
`Stage`s driven by a `doeblin.schedules.Schedule`. `Task` and `Chain` are the engine underneath, for
callers with pools of atoms of their own.
"""

from .._errors import needs

with needs("formulas"):
    from ._bits import pack, unpack
    from ._engine import Chain
    from ._examples import Contradiction, Examples
    from ._formula import Atom, Formula
    from ._minimise import minimised
    from ._read import read_examples
    from ._record import Progress, TracePoint
    from ._search import SearchResult, search
    from ._space import Space
    from ._stages import Method, Stage, focused_gibbs, one_stage, two_stage, zero_stage
    from ._tables import AtomArrays, classes, slots_for, truth_table
    from ._task import Task

__all__ = [
    "Atom",
    "AtomArrays",
    "Chain",
    "Contradiction",
    "Examples",
    "Formula",
    "Method",
    "Progress",
    "SearchResult",
    "Space",
    "Stage",
    "Task",
    "TracePoint",
    "classes",
    "focused_gibbs",
    "minimised",
    "one_stage",
    "pack",
    "read_examples",
    "search",
    "slots_for",
    "truth_table",
    "two_stage",
    "unpack",
    "zero_stage",
]
