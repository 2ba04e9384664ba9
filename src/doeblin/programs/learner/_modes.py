"""Lemmas about modes: variables that hold one of a few constants of the program.

State machines, flags and locks are proved by which modes occur together, and by what holds of the
other variables in each mode.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..proof import EQ, NE, Atom, Dnf
from ._lemmas import faces
from ._space import Space

_VALUES = 16
_MOST = 1200
_EACH = 60


def modes(space: Space, good: Sequence[tuple[int, ...]]) -> list[Dnf]:
    """Candidates: values that never occur together, and what is true in one mode only."""
    values = {i: sorted({point[i] for point in good}) for i in space.relevant}
    known = set(space.primary)
    found = [
        i for i, seen in values.items() if 2 <= len(seen) <= _VALUES and known.issuperset(seen)
    ]
    if not found or len(good) < 4:
        return []
    wanted: list[Dnf] = [
        tuple((Atom(_unit(space, i), EQ, value),) for value in values[i]) for i in found
    ]
    for i in found:
        for value in values[i]:
            inside = [point for point in good if point[i] == value]
            atoms = faces(space, inside, widest=2)
            outside = [point for point in good if point[i] != value]
            never = (Atom(_unit(space, i), NE, value),)
            special = [
                (never, (atom,))
                for ((atom,),) in atoms
                if not atom.vector[i] and not all(atom.holds(point) for point in outside)
            ]
            wanted += special[:_EACH]
    together = {(i, j, p[i], p[j]) for p in good for i in found for j in found if i < j}
    apart = [
        ((Atom(_unit(space, i), NE, a),), (Atom(_unit(space, j), NE, b),))
        for i in found
        for j in found
        if i < j
        for a in values[i]
        for b in values[j]
        if (i, j, a, b) not in together
    ]
    return [*wanted, *apart][:_MOST]


def _unit(space: Space, i: int) -> tuple[int, ...]:
    return tuple(int(k == i) for k in range(space.size))
