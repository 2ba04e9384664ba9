"""Formulas from examples: a DNF of linear inequalities found by staged chains.

`search` finds a `Formula` that agrees with `Examples`. Which chain it runs is data: a `Method` is
`Stage`s driven by a `doeblin.schedules.Schedule`. `Task` and `Chain` are the engine underneath, for
callers with pools of atoms of their own.
"""

from .._errors import needs

with needs("formulas"):
    from ..linear import TEMPLATES, Atom
    from ._climb import Attempt, Ladder, Rung, climb
    from ._problem import Prepared, Problem, prepared
    from ._record import Limits, Outcome, Progress, TracePoint
    from ._search import SearchResult, search
    from ._space import Space
    from .engine import (
        AtomArrays,
        Chain,
        Method,
        Stage,
        Task,
        classes,
        focused_gibbs,
        minimised,
        one_stage,
        pack,
        slots_for,
        truth_table,
        two_stage,
        unpack,
        zero_stage,
    )
    from .language import Contradiction, Examples, Formula, read_examples

__all__ = [
    "TEMPLATES",
    "Atom",
    "AtomArrays",
    "Attempt",
    "Chain",
    "Contradiction",
    "Examples",
    "Formula",
    "Ladder",
    "Limits",
    "Method",
    "Outcome",
    "Prepared",
    "Problem",
    "Progress",
    "Rung",
    "SearchResult",
    "Space",
    "Stage",
    "Task",
    "TracePoint",
    "classes",
    "climb",
    "focused_gibbs",
    "minimised",
    "one_stage",
    "pack",
    "prepared",
    "read_examples",
    "search",
    "slots_for",
    "truth_table",
    "two_stage",
    "unpack",
    "zero_stage",
]
