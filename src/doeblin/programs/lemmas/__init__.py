"""Lemmas: sources propose formulas, one source a file; Houdini keeps those that can be proved.

A source is a function of a `Context`; `SOURCES` has all of them by name, and `STAGES` says in
which order they are asked, which of them together, and when.
"""

from ._context import Context, Source, holds
from ._houdini import prove
from ._regions import Guide, Regions, guide, products_of
from ._stages import EARLY, LATE, QUICK, SOURCES, STAGES, WIDE, Stage

__all__ = [
    "EARLY",
    "LATE",
    "QUICK",
    "SOURCES",
    "STAGES",
    "WIDE",
    "Context",
    "Guide",
    "Regions",
    "Source",
    "Stage",
    "guide",
    "holds",
    "products_of",
    "prove",
]
