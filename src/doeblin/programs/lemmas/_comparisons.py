"""What the program itself compares, as far as it is always true."""

from __future__ import annotations

from ...linear import Dnf
from ._context import Context, holds, single


def comparisons(context: Context) -> list[Dnf]:
    """Atoms of the program's guards and updates."""
    if not len(context.points):
        return []
    suggested = (atom for atom, _ in context.space.suggested)
    return single(dict.fromkeys(atom for atom in suggested if holds(atom, context.points)))
