"""Modes: variables that hold one of a few values.

State machines, flags and locks are proved by which modes occur together, and by what holds of the
other variables in each mode.
"""

from __future__ import annotations

from ...linear import EQ, NE, Atom, Dnf
from ._context import Context, holds
from ._plain import plain_atoms


def modes(context: Context) -> list[Dnf]:
    """Values that never occur together, and what is true in one mode only.

    Modes are variables whose values are constants of the program.
    """
    space, points, limits = context.space, context.points, context.tunables
    if len(points) < 4:
        return []
    values = {i: sorted(set(points[:, i].tolist())) for i in space.relevant}
    known = set(space.primary)
    found = [
        i
        for i, seen in values.items()
        if 2 <= len(seen) <= limits.values and known.issuperset(seen)
    ]
    wanted: list[Dnf] = [
        tuple((Atom(space.unit(i), EQ, value),) for value in values[i]) for i in found
    ]
    for i in found:
        for value in values[i]:
            here = points[:, i] == value
            never = (Atom(space.unit(i), NE, value),)
            special: list[Dnf] = [
                (never, (atom,))
                for atom in plain_atoms(context.within(here), widest=2)
                if not atom.coefficients[i] and not holds(atom, points[~here])
            ]
            wanted += special[: limits.of_a_mode]
    pairs = [(i, j) for i in found for j in found if i < j]
    together = {(i, j, a, b) for i, j in pairs for a, b in points[:, [i, j]].tolist()}
    apart: list[Dnf] = [
        ((Atom(space.unit(i), NE, a),), (Atom(space.unit(j), NE, b),))
        for i, j in pairs
        for a in values[i]
        for b in values[j]
        if (i, j, a, b) not in together
    ]
    return [*wanted, *apart][: limits.modes]
