"""Lemmas about modes: variables that hold one of a few values.

State machines, flags and locks are proved by which modes occur together, and by what holds of the
other variables in each mode; so are steps of a size that is one of a few.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..proof import EQ, NE, Atom, Dnf
from ._lemmas import Box, Ranges, faces, holds
from ._space import Space

_VALUES = 16
_MOST = 1200
_EACH = 60


def modes(space: Space, good: Sequence[tuple[int, ...]], tick: Callable[[], None]) -> list[Dnf]:
    """Candidates: values that never occur together, and what is true in one mode only.

    Modes are variables whose values are constants of the program.
    """
    values = {i: sorted({point[i] for point in good}) for i in space.relevant}
    known = set(space.primary)
    found = [
        i for i, seen in values.items() if 2 <= len(seen) <= _VALUES and known.issuperset(seen)
    ]
    if not found or len(good) < 4:
        return []
    points = np.array(good, dtype=np.int64)
    wanted: list[Dnf] = [
        tuple((Atom(space.unit(i), EQ, value),) for value in values[i]) for i in found
    ]
    for i in found:
        for value in values[i]:
            here = points[:, i] == value
            inside, outside = points[here], points[~here]
            atoms = [atom for ((atom,),) in faces(space, inside.tolist(), tick, widest=2)]
            never = (Atom(space.unit(i), NE, value),)
            special = [
                (never, (atom,))
                for atom in atoms
                if not atom.vector[i] and not holds(atom, outside)
            ]
            wanted += special[:_EACH]
    together = {(i, j, p[i], p[j]) for p in good for i in found for j in found if i < j}
    apart = [
        ((Atom(space.unit(i), NE, a),), (Atom(space.unit(j), NE, b),))
        for i in found
        for j in found
        if i < j
        for a in values[i]
        for b in values[j]
        if (i, j, a, b) not in together
    ]
    return [*wanted, *apart][:_MOST]


def sizes(
    space: Space, good: Sequence[tuple[int, ...]], known: Sequence[Dnf], ranges: Ranges
) -> list[Dnf]:
    """Candidates: for a variable with few possible values, the remainders modulo each of them.
    What moves in steps of a variable's size keeps them."""
    box = Box(ranges, known)
    points = np.array(good, dtype=np.int64).reshape(len(good), space.size)
    found: list[Dnf] = []
    for i in space.relevant:
        if box.width(i) > _VALUES:
            continue
        for value in np.unique(points[:, i]).tolist():
            inside = points[points[:, i] == value]
            never = (Atom(space.unit(i), NE, value),)
            for j in space.relevant if value >= 2 else ():
                atom = Atom(space.unit(j), EQ, int(inside[0, j]) % value, value)
                if j != i and (inside[:, j] != inside[0, j]).any() and holds(atom, inside):
                    found.append((never, (atom,)))
    return found
