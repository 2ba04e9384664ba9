"""Facets of the examples' convex hull: bounds that say something new.

Far fewer than all bounds, so that many loops can be proved at once.
"""

from __future__ import annotations

from ...linear import LE, Atom, Dnf
from ..learner import geometry
from ._context import Context, single


def facets(context: Context, widest: int = 5) -> list[Dnf]:
    """Over two to `widest` variables, with the program's coefficients."""
    space = context.space
    if not len(context.points):
        return []
    found = geometry.facets(
        context.points,
        space.faced,
        space.scales,
        widest,
        large=space.large,
        most=context.tunables.facets,
        tick=context.tick,
    )
    return single(Atom(vector, LE, bound) for vector, bound in found)
