"""Forms that are the same in all examples modulo a small number."""

from __future__ import annotations

import numpy as np

from ...linear import EQ, Atom, Dnf
from ..learner import geometry
from ._context import Context, single

_PRIMES = {2, 3, 5, 7, 11, 13}


def congruences(context: Context) -> list[Dnf]:
    """Sums of up to three variables modulo the program's moduli and 2; and all forms modulo primes
    that divide the program's constants."""
    if not len(context.points):
        return []
    space, points = context.space, context.points
    found = dict.fromkeys(_simple(context))
    for prime in _PRIMES & {2, *space.moduli, *space.primes}:
        columns = space.relevant[: context.tunables.columns]
        for vector, rest in geometry.congruences(points, columns, prime):
            values = points @ np.array(vector)
            if (values != values[0]).any():
                found[Atom(vector, EQ, rest, prime)] = None
    return single(found)


def _simple(context: Context) -> list[Atom]:
    space, points = context.space, context.points
    found = []
    for k in sorted(space.moduli | {2}):
        if k > 16:
            continue
        for vector in space.vectors()[:400]:
            used = [c for c in vector if c]
            if used[0] < 0 or len(used) > 3 or max(map(abs, used)) > 1:
                continue
            values = points @ np.array(vector, dtype=np.int64)
            rest = values % k
            if len(points) > 3 and (rest == rest[0]).all() and (values != values[0]).any():
                found.append(Atom(vector, EQ, int(rest[0]), k))
    return found
