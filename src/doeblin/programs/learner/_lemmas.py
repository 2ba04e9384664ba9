"""Lemmas: the strongest conjunction of candidate atoms that the clauses preserve.

Candidates that hold on all examples are dropped until what is left is inductive, jointly at all
cut points (the greatest fixed point that Houdini computes). The result is proved, whatever the
search finds later, so the search may build on it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..proof import EQ, LE, Conditions, Dnf, GaveUp, Model, dnf_holds
from ..proof._atoms import Atom
from ._data import Data
from ._space import Space

_MOST = 700


def good_points(data: Data, cut: int) -> list[tuple[int, ...]]:
    return [data.points[i][1] for i in data.good if data.points[i][0] == cut]


def candidates(space: Space, good: Sequence[tuple[int, ...]]) -> list[Dnf]:
    """Atoms that all reachable examples satisfy: tight bounds, program constants, equations."""
    if not good or not space.size:
        return []
    points = np.array(good, dtype=np.int64).reshape(len(good), space.size)
    found: dict[Atom, None] = {}
    for atom in space.equalities(points):
        found[atom] = None
    for atom, _ in space.suggested:
        if _holds(atom, points):
            found[atom] = None
    vectors = space.vectors()
    projected = np.array(vectors, dtype=np.int64).reshape(len(vectors), space.size) @ points.T
    highest, lowest = projected.max(1), projected.min(1)
    constants = np.array(sorted(space.constants), dtype=np.int64)
    for vector, high, low in zip(vectors, highest.tolist(), lowest.tolist(), strict=True):
        if len(found) > 4 * _MOST:
            break
        above = constants[np.searchsorted(constants, high) :]
        for bound in above[:2].tolist():
            found[Atom(vector, LE, bound)] = None
        found[Atom(vector, LE, high)] = None
        if high == low and vector > tuple(-c for c in vector):
            found[Atom(vector, EQ, high)] = None
    for atom in _congruent(space, points):
        found[atom] = None
    return [((atom,),) for atom in list(found)[: 2 * _MOST]]


def _holds(atom: Atom, points: NDArray[np.int64]) -> bool:
    values = points @ np.array(atom.vector, dtype=np.int64)
    if atom.modulus:
        values = values % atom.modulus
    if atom.relation == LE:
        return bool((values <= atom.constant).all())
    if atom.relation == EQ:
        return bool((values == atom.constant).all())
    return bool((values != atom.constant).all())


def _congruent(space: Space, points: NDArray[np.int64]) -> list[Atom]:
    found = []
    for k in sorted(space.moduli | {2}):
        if k > 16:
            continue
        for vector in space.vectors()[:400]:
            used = [c for c in vector if c]
            if used[0] < 0 or len(used) > 3 or max(map(abs, used)) > 1:
                continue
            rest = (points @ np.array(vector, dtype=np.int64)) % k
            if len(points) > 3 and (rest == rest[0]).all():
                found.append(Atom(vector, EQ, int(rest[0]), k))
    return found


def guarded(
    space: Space, guards: list[Atom], good: Sequence[tuple[int, ...]], known: Sequence[Dnf]
) -> list[Dnf]:
    """Candidates `guard → atom`, where the examples that satisfy the guard satisfy the atom."""
    have = {dnf[0][0] for dnf in known if len(dnf) == 1 and len(dnf[0]) == 1}
    found: list[Dnf] = []
    for guard in guards:
        inside = [p for p in good if guard.holds(p)]
        if not inside or len(inside) == len(good):
            continue
        negation = tuple((a,) for a in guard.negated())
        if len(negation) > 3:
            continue
        for dnf in candidates(space, inside):
            atom = dnf[0][0]
            if atom not in have and atom != guard:
                found.append((*negation, (atom,)))
    return found[:_MOST]


def prove(
    conditions: Conditions,
    wanted: list[list[Dnf]],
    given: list[list[Dnf]],
    data: Data | None = None,
) -> list[list[Dnf]]:
    """Drop candidates until the rest, with the given lemmas, is preserved by every clause.

    A solver that gives up on a clause costs the candidates of its target.
    """
    system = conditions.system
    kept = [list(formulas) for formulas in wanted]
    todo = [i for i, c in enumerate(system.clauses) if c.target is not None]
    while todo:
        clause = system.clauses[todo.pop(0)]
        index = system.clauses.index(clause)
        target, source = clause.target, clause.source
        assert target is not None
        changed = False
        while kept[target]:
            premises = given[source] + kept[source] if source is not None else []
            try:
                model = conditions.violation(index, premises, kept[target])
            except GaveUp:
                kept[target] = _one_by_one(conditions, index, premises, kept[target])
                changed = True
                break
            if model is None:
                break
            changed = True
            kept[target] = _surviving(kept[target], model)
        if changed:
            again = [i for i, c in enumerate(system.clauses) if c.source == target]
            todo += [i for i in again if system.clauses[i].target is not None and i not in todo]
    return kept


def _surviving(formulas: list[Dnf], model: Model) -> list[Dnf]:
    return [dnf for dnf in formulas if dnf_holds(dnf, model.target)]


def _one_by_one(
    conditions: Conditions, clause: int, premises: list[Dnf], formulas: list[Dnf]
) -> list[Dnf]:
    kept = []
    for dnf in formulas[:60]:
        try:
            if conditions.violation(clause, premises, [dnf]) is None:
                kept.append(dnf)
        except GaveUp:
            continue
    return kept


def thin(formulas: list[Dnf], space: Space) -> list[Dnf]:
    """Without bounds that another bound on the same form implies."""
    tightest: dict[tuple[int, ...], int] = {}
    equal = set()
    for dnf in formulas:
        if len(dnf) == 1 and len(dnf[0]) == 1:
            atom = dnf[0][0]
            if atom.relation == LE and not atom.modulus:
                best = tightest.get(atom.vector)
                tightest[atom.vector] = atom.constant if best is None else min(best, atom.constant)
            elif atom.relation == EQ and not atom.modulus:
                equal.add(atom.vector)
                equal.add(tuple(-c for c in atom.vector))
    kept = []
    for dnf in formulas:
        atom = dnf[0][0]
        bound = len(dnf) == 1 and len(dnf[0]) == 1 and atom.relation == LE and not atom.modulus
        if not bound or (atom.vector not in equal and atom.constant <= tightest[atom.vector]):
            kept.append(dnf)
    return kept
