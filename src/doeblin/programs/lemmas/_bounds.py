"""Bounds on linear forms: as tight as the examples allow, or at constants of the program."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...linear import EQ, LE, Atom, Dnf
from ._context import Context, single

Vector = tuple[int, ...]


def intervals(context: Context) -> list[Dnf]:
    """On single variables."""
    space = context.space
    vectors = [space.unit(i, sign) for i in space.relevant for sign in (1, -1)]
    return tight_bounds(context, vectors) if len(context.points) else []


def likely_bounds(context: Context) -> list[Dnf]:
    """On single variables, most sums and differences, and the program's own forms."""
    return _or_blind(context, context.space.vectors(0.5))


def wide_bounds(context: Context) -> list[Dnf]:
    """On many more: the program's forms added to one another, and sums of three variables."""
    return _or_blind(context, context.space.wide_vectors(context.known), stated=0)


def _or_blind(context: Context, vectors: Sequence[Vector], stated: int = 2) -> list[Dnf]:
    if not len(context.points):
        return _blind(context)
    return tight_bounds(context, vectors, stated)[: 2 * context.tunables.most]


def tight_bounds(context: Context, vectors: Sequence[Vector], stated: int = 2) -> list[Dnf]:
    """The highest value of each form, and the next constants above it, of which `stated` are the
    program's own; an equation where it is the lowest as well."""
    space, found = context.space, dict[Atom, None]()
    size = (len(vectors), space.size)
    projected = np.array(vectors, dtype=np.int64).reshape(size) @ context.points.T
    highest, lowest = projected.max(1), projected.min(1)
    constants = np.array(sorted(space.constants), dtype=np.int64)
    primary = np.array(space.primary, dtype=np.int64)
    for vector, high, low in zip(vectors, highest.tolist(), lowest.tolist(), strict=True):
        if len(found) > 4 * context.tunables.most:
            break
        above = constants[np.searchsorted(constants, high) :][:1].tolist()
        own = primary[np.searchsorted(primary, high) :][:stated].tolist()
        found |= dict.fromkeys(Atom(vector, LE, bound) for bound in (*above, *own, high))
        if high == low and vector > tuple(-c for c in vector):
            found[Atom(vector, EQ, high)] = None
    return single(found)


def _blind(context: Context) -> list[Dnf]:
    """Without any example: what the program says, and comparisons with zero and one."""
    space = context.space
    found = dict.fromkeys(atom for atom, _ in space.suggested)
    for vector in space.vectors(0.8)[:200]:
        found |= dict.fromkeys(Atom(vector, LE, bound) for bound in (-1, 0, 1))
    return single(list(found)[: context.tunables.most])
