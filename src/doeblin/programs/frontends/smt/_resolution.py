"""Clauses whose predicates form no loop, with every predicate replaced by what derives it: what is
left are the ways to a failure, each one formula."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import count, product
from typing import NamedTuple

from ...system import Bank, Clause, Input, System
from ...system.terms import Term, array, conj, postorder, substitute, var

_MOST = 60  # ways that a clause has, one for each choice of ways to its premises
_LARGE = 5000  # nodes of a way


class _Way(NamedTuple):
    """A derivation, of free variables: what it demands, and what it concludes."""

    demanded: Term
    ends: tuple[Term, ...]


def in_order(system: System) -> list[int] | None:
    """The cuts, each after those that its clauses build on; None where some form a loop."""
    needs = [
        {p.cut for clause in system.clauses if clause.target == number for p in clause.premises}
        for number in range(len(system.cuts))
    ]
    found: list[int] = []
    while len(found) < len(needs):
        ready = [n for n, need in enumerate(needs) if n not in found and need <= set(found)]
        if not ready:
            return None
        found += ready
    return found


def resolved(system: System) -> System | None:
    """The ways to a failure, in a system without cuts; None where predicates form a loop, or where
    there are too many ways."""
    order = in_order(system)
    if order is None:
        return None
    ways: dict[int, list[_Way]] = {}
    fresh = count()
    made: list[Clause] = []
    try:
        for cut in order:
            into = [clause for clause in system.clauses if clause.target == cut]
            ways[cut] = [way for clause in into for way in _ways(clause, ways, fresh)]
        for clause in system.clauses:
            if clause.target is None:
                made += (_failure(way, clause) for way in _ways(clause, ways, fresh))
    except _TooMany:
        return None
    return System((), tuple(made), system.open)


class _TooMany(Exception):
    pass


def _ways(clause: Clause, ways: dict[int, list[_Way]], fresh: Iterator[int]) -> Iterator[_Way]:
    """A clause, with each way to each of its premises."""
    each = [ways[premise.cut] for premise in clause.premises]
    if math.prod(map(len, each)) > _MOST:
        raise _TooMany
    for chosen in product(*each):
        names = _renamed([*clause.names()], [bank.name for bank in clause.banks], next(fresh))
        demanded = []
        for premise, way in zip(clause.premises, chosen, strict=True):
            own = _anew(way, next(fresh))
            demanded.append(own.demanded)
            names |= zip((*premise.names, *premise.arrays), own.ends, strict=True)
        demanded.append(substitute(clause.constraint, names))
        ends = tuple(substitute(end, names) for end in (*clause.args, *clause.arrays))
        made = _Way(conj(demanded), ends)
        if sum(1 for _ in postorder(made.demanded, *ends)) > _LARGE:
            raise _TooMany
        yield made


def _renamed(variables: list[str], banks: list[str], mark: int) -> dict[str, Term]:
    names = {name: var(f"{name}~{mark}") for name in variables}
    return names | {name: array(f"{name}~{mark}") for name in banks}


def _anew(way: _Way, mark: int) -> _Way:
    """With variables of its own."""
    nodes = [node for node in postorder(way.demanded, *way.ends) if node.op in ("var", "array")]
    names = {
        node.leaf: (array if node.op == "array" else var)(f"{node.leaf}~{mark}") for node in nodes
    }
    return _Way(substitute(way.demanded, names), tuple(substitute(e, names) for e in way.ends))


def _failure(way: _Way, clause: Clause) -> Clause:
    nodes = postorder(way.demanded)
    free = {node.leaf: node.op for node in nodes if node.op in ("var", "array")}
    held = [name for name, op in free.items() if op == "array"]
    return Clause(
        (),
        way.demanded,
        None,
        (),
        tuple(Input(name) for name, op in free.items() if op == "var"),
        clause.place,
        banks=tuple(Bank(name, None, None, (None, None), name, name) for name in held),
    )
