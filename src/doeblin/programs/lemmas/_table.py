"""All states that were seen, as a table: a program that calls itself on few arguments is known by
what it returned for each."""

from __future__ import annotations

from ...linear import EQ, Atom, Dnf
from ._context import Context


def table(context: Context) -> list[Dnf]:
    """The state is one of those that were seen, where these are few."""
    rows = sorted(set(map(tuple, context.points.tolist())))
    if not 0 < len(rows) <= context.tunables.rows:
        return []
    units = [context.space.unit(i) for i in range(context.space.size)]
    return [
        tuple(
            tuple(Atom(unit, EQ, value) for unit, value in zip(units, row, strict=True))
            for row in rows
        )
    ]
