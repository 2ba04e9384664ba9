"""Lemmas: sources propose formulas, one source a file; Houdini keeps those that can be proved.

A source is a function of a `Context`; `SOURCES` has all of them by name, and `STAGES` says in
which order they are asked, which of them together, and when.
"""

from ._claims import claims, claims_of_cells
from ._context import Context, Source, holds
from ._floats import float_bounds, float_constants, float_table, tightest
from ._guide import Guide, guide
from ._houdini import prove
from ._regions import Regions, products_of
from ._stages import (
    CELL_STAGES,
    EARLY,
    LATE,
    QUICK,
    SOURCES,
    STAGES,
    WIDE,
    CellStage,
    Stage,
    in_order,
)
from ._terms import TermHoudini

__all__ = [
    "CELL_STAGES",
    "EARLY",
    "LATE",
    "QUICK",
    "SOURCES",
    "STAGES",
    "WIDE",
    "CellStage",
    "Context",
    "Guide",
    "Regions",
    "Source",
    "Stage",
    "TermHoudini",
    "claims",
    "claims_of_cells",
    "float_bounds",
    "float_constants",
    "float_table",
    "guide",
    "holds",
    "in_order",
    "products_of",
    "prove",
    "tightest",
]
