"""Linear equations that all examples satisfy: the null space of the points."""

from __future__ import annotations

from ...linear import Dnf
from ._context import Context, single


def equations(context: Context) -> list[Dnf]:
    """A basis, and another one solved for other variables."""
    return single(context.space.equalities(context.points))
