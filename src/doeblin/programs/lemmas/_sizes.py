"""Steps of a size that is one of a few: what moves in them keeps its remainder."""

from __future__ import annotations

from ...linear import EQ, NE, Atom, Dnf
from ..learner import Box
from ._context import Context, holds


def sizes(context: Context) -> list[Dnf]:
    """For a variable with few possible values, the remainders modulo each of them."""
    space, points = context.space, context.points
    box = Box(space.cut.ranges, context.known)
    found: list[Dnf] = []
    for i in space.relevant:
        if box.width(i) > context.tunables.values:
            continue
        for value in sorted(set(points[:, i].tolist())):
            inside = points[points[:, i] == value]
            never = (Atom(space.unit(i), NE, value),)
            for j in space.relevant if value >= 2 else ():
                atom = Atom(space.unit(j), EQ, int(inside[0, j]) % value, value)
                if j != i and (inside[:, j] != inside[0, j]).any() and holds(atom, inside):
                    found.append((never, (atom,)))
    return found
