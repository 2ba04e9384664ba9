"""The table of lemma sources: what is proposed together, in which order, and after how much work
spent on more reachable states."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import Literal, NamedTuple

from .._tunables import SECOND
from ..system import System
from ._bounds import intervals, likely_bounds, wide_bounds
from ._comparisons import comparisons
from ._congruences import congruences
from ._context import Source
from ._equations import equations
from ._facets import facets
from ._given import hints
from ._implications import implications, wide_implications
from ._modes import modes
from ._sizes import sizes
from ._table import table
from ._two_values import two_values

SOURCES: dict[str, Source] = {
    "hints": hints,
    "equations": equations,
    "comparisons": comparisons,
    "intervals": intervals,
    "facets": facets,
    "congruences": congruences,
    "two-values": two_values,
    "modes": modes,
    "sizes": sizes,
    "table": table,
    "implications": implications,
    "likely-bounds": likely_bounds,
    "wide-bounds": wide_bounds,
    "wide-implications": wide_implications,
}
"""By the names under which they can be switched off."""


def always(system: System) -> bool:
    return True


def one_loop(system: System) -> bool:
    return len(system.cuts) == 1


def of_few_states(system: System) -> bool:
    """A program that calls itself, or one that asks for nothing."""
    return not system.linear or not any(clause.inputs for clause in system.clauses)


class Stage(NamedTuple):
    """Formulas of these sources, proved together: they may need each other.

    Before it, runs of the program may take `share` work, and runs that go `far`; `rested`: others
    get a turn first. `when` says for which systems it is worth its time.
    """

    name: str
    sources: tuple[str, ...]
    share: float = 0.0
    when: Callable[[System], bool] = always
    far: float = 0.0
    rested: bool = False


_PLAIN = ("hints", "equations", "intervals", "comparisons", "facets", "congruences", "two-values")
_SIMPLE = ("hints", "equations", "comparisons")
STAGES = (
    Stage("likely bounds", (*_SIMPLE, "likely-bounds", "congruences"), when=one_loop),
    Stage("facets", _PLAIN, share=0.06 * SECOND),
    Stage("tables", ("table",), share=0.06 * SECOND, when=of_few_states),
    Stage("more facets", _PLAIN, share=0.25 * SECOND, far=0.1 * SECOND, rested=True),
    Stage("modes", (*_PLAIN, "modes")),
    Stage("implications", (*_PLAIN, "implications")),
    Stage("sizes of steps", (*_PLAIN, "sizes")),
    Stage("wider bounds", (*_SIMPLE, "wide-bounds"), rested=True),
    Stage("wider implications", ("wide-implications",)),
)
"""The cheapest and most likely first."""
QUICK = STAGES[:2]
EARLY, LATE, WIDE = STAGES[:5], STAGES[5:7], STAGES[7:]


class CellStage(NamedTuple):
    """Formulas about any one cell of arrays, and what these sources propose of the variables that
    are no cells, proved together.

    States are also looked at by products of up to `degree` indices and, if `mixed`, of an index and
    anything else; by cells at places that indices map to and sums of cells, if these are `also`
    looked at, or by cells that are near.
    """

    name: str
    sources: tuple[str, ...]
    degree: int = 0
    also: Literal["", "maps", "near"] = ""
    mixed: bool = False
    either: bool = False  # also that one of two comparisons holds
    claims: bool = False  # also what the program claims, of a cell or else
    wide: bool = False  # also in regions that end where indices are, or that depend on scalars


_BESIDE = ("equations", "comparisons", "intervals", "congruences")
CELL_STAGES = (
    CellStage("cells", _BESIDE),
    CellStage("cells-bounds", (*_BESIDE, "facets", "likely-bounds")),
    CellStage("cells-claims", _BESIDE, claims=True),
    CellStage("cells-sums", _BESIDE, also="maps"),
    CellStage("cells-near", _BESIDE, also="near"),
    CellStage("cells-either", _BESIDE, either=True),
    CellStage("cells-wide", (*_BESIDE, "likely-bounds"), wide=True),
    CellStage("cells-near-wide", _BESIDE, also="near", wide=True),
    CellStage("cells-squares", _BESIDE, degree=2),
    CellStage("cells-products", _BESIDE, degree=2, mixed=True),
    CellStage("cells-cubes", ("equations",), degree=3),
)
"""The cheapest first; they are switched off by their names, too."""


def in_order(made: Iterable[Sequence[str]], indices: Container[str]) -> list[CellStage]:
    """The stages, with those first that have products like those that a program `made`: it is the
    assertion that multiplies, most often."""
    products = list(made)
    degree = max(map(len, products), default=0)
    mixed = any(name not in indices for parts in products for name in parts)

    def late(stage: CellStage) -> int:
        if stage.name == "cells":
            return 0
        wide = stage.degree >= min(degree, 3) and stage.mixed >= (mixed and degree == 2)
        return 1 if stage.degree and products and wide else 2 if not stage.degree else 3

    return sorted(CELL_STAGES, key=late)
