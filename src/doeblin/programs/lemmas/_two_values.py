"""Forms that have two values only, far apart, as where a ring wraps around."""

from __future__ import annotations

from ...linear import EQ, Atom, Dnf
from ..learner import geometry
from ._context import Context


def two_values(context: Context) -> list[Dnf]:
    """One value or the other."""
    return [
        ((Atom(vector, EQ, low),), (Atom(vector, EQ, high),))
        for vector, (low, high) in geometry.two_valued(context.points, context.space.relevant)
    ]
