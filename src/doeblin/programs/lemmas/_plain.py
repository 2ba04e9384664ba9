"""What says something new of some of the states, for sources that look at cases."""

from __future__ import annotations

from itertools import chain

from ...linear import Atom
from ._bounds import intervals
from ._comparisons import comparisons
from ._congruences import congruences
from ._context import Context
from ._equations import equations
from ._facets import facets


def plain_atoms(context: Context, widest: int) -> list[Atom]:
    """Equations, intervals, comparisons, facets over few variables; congruences where the program
    has remainders."""
    found = chain(
        equations(context),
        intervals(context),
        comparisons(context),
        facets(context, widest),
        congruences(context) if context.space.moduli else (),
    )
    return list(dict.fromkeys(atom for ((atom,),) in found))
