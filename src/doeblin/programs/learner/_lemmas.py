"""Candidates for lemmas: bounds, equations and implications that hold on all examples."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise, zip_longest

import numpy as np
from numpy.typing import NDArray

from ..proof import EQ, LE, NE, Atom, Cube, Dnf
from ._data import Data
from ._facets import congruences, facets, two_valued
from ._space import Space

_MOST = 700
_GUARDS = 20
_MOST_FACETS = 200
_MOST_PHASES = 8
_MOST_COLUMNS = 20  # that enter a congruence


def good_points(data: Data, cut: int) -> list[tuple[int, ...]]:
    return [data.points[i][1] for i in data.good if data.points[i][0] == cut]


def candidates(
    space: Space,
    good: Sequence[tuple[int, ...]],
    *,
    least_weight: float = 0.0,
    vectors: list[tuple[int, ...]] | None = None,
) -> list[Dnf]:
    """Atoms that all reachable examples satisfy: tight bounds, program constants, equations.

    `least_weight` leaves out unlikely directions; `vectors` are directions to use instead.
    """
    if not space.size:
        return []
    if not good:
        return _blind(space)
    points = np.array(good, dtype=np.int64).reshape(len(good), space.size)
    found: dict[Atom, None] = {}
    for atom in space.equalities(points):
        found[atom] = None
    for atom, _ in space.suggested:
        if holds(atom, points):
            found[atom] = None
    wide = vectors is not None
    if vectors is None:
        vectors = space.vectors(least_weight)
    projected = np.array(vectors, dtype=np.int64).reshape(len(vectors), space.size) @ points.T
    highest, lowest = projected.max(1), projected.min(1)
    constants = np.array(sorted(space.constants), dtype=np.int64)
    primary = np.array(space.primary, dtype=np.int64)
    for vector, high, low in zip(vectors, highest.tolist(), lowest.tolist(), strict=True):
        if len(found) > 4 * _MOST:
            break
        above = constants[np.searchsorted(constants, high) :][:1]
        stated = primary[np.searchsorted(primary, high) :][:2]
        for bound in (*above.tolist(), *(() if wide else stated.tolist())):
            found[Atom(vector, LE, bound)] = None
        found[Atom(vector, LE, high)] = None
        if high == low and vector > tuple(-c for c in vector):
            found[Atom(vector, EQ, high)] = None
    for atom in _congruent(space, points) if not wide else ():
        found[atom] = None
    return [((atom,),) for atom in list(found)[: 2 * _MOST]]


def faces(
    space: Space,
    good: Sequence[tuple[int, ...]],
    tick: Callable[[], None],
    *,
    widest: int = 5,
) -> list[Dnf]:
    """The same for what says something new only: equations, bounds on single variables, facets,
    and what the program itself compares. Far fewer, so that many loops can be proved at once."""
    if not space.size or not good:
        return []
    points = np.array(good, dtype=np.int64).reshape(len(good), space.size)
    found = dict.fromkeys(space.equalities(points))
    lowest, highest = points.min(0).tolist(), points.max(0).tolist()
    for i in space.relevant:
        if lowest[i] == highest[i]:
            found[Atom(space.unit(i), EQ, lowest[i])] = None
            continue
        for sign, bound in ((1, highest[i]), (-1, -lowest[i])):
            above = [c for c in space.constants if c >= bound]
            stated = [c for c in space.primary if c >= bound]
            for c in (bound, *sorted(above)[:1], *stated[:2]):
                found[Atom(space.unit(i, sign), LE, c)] = None
    found |= dict.fromkeys(atom for atom, _ in space.suggested if holds(atom, points))
    for vector, bound in facets(
        points,
        space.relevant,
        space.scales,
        widest,
        large=space.large,
        most=_MOST_FACETS,
        tick=tick,
    ):
        found[Atom(vector, LE, bound)] = None
    if widest > 3 or space.moduli:
        found |= dict.fromkeys(_congruent(space, points))
        for prime in {2, 3, 5, 7, 11, 13} & {2, *space.moduli, *space.primes}:
            for vector, rest in congruences(points, space.relevant[:_MOST_COLUMNS], prime):
                if len(np.unique(points @ np.array(vector))) > 1:
                    found[Atom(vector, EQ, rest, prime)] = None
    formulas: list[Dnf] = [((atom,),) for atom in found]
    if widest > 3:
        for vector, (low, high) in two_valued(points, space.relevant):
            formulas.append(((Atom(vector, EQ, low),), (Atom(vector, EQ, high),)))
    return formulas


def _blind(space: Space) -> list[Dnf]:
    """Candidates without any example: what the program says, and comparisons with zero and one."""
    found = dict.fromkeys(atom for atom, _ in space.suggested)
    for vector in space.vectors(0.8)[:200]:
        for bound in (-1, 0, 1):
            found[Atom(vector, LE, bound)] = None
    return [((atom,),) for atom in list(found)[:_MOST]]


def holds(atom: Atom, points: NDArray[np.int64]) -> bool:
    """Is the atom true at all points?"""
    return bool(_truth(atom, points).all())


def _truth(atom: Atom, points: NDArray[np.int64]) -> NDArray[np.bool_]:
    values = points @ np.array(atom.vector, dtype=np.int64)
    if atom.modulus:
        values = values % atom.modulus
    if atom.relation == LE:
        return values <= atom.constant
    return (values == atom.constant) == (atom.relation == EQ)


def _congruent(space: Space, points: NDArray[np.int64]) -> list[Atom]:
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


def guarded(
    space: Space,
    guards: Sequence[Cube],
    good: Sequence[tuple[int, ...]],
    known: Sequence[Dnf],
    tick: Callable[[], None],
    vectors: list[tuple[int, ...]] | None = None,
) -> list[Dnf]:
    """Candidates `guard → atom`, where the examples that satisfy the guard satisfy the atom."""
    have = {dnf[0][0] for dnf in known if len(dnf) == 1 and len(dnf[0]) == 1}
    points = np.array(good, dtype=np.int64).reshape(len(good), space.size)
    seen: set[bytes] = set()
    groups: list[list[Dnf]] = []
    for guard in guards:
        split = np.logical_and.reduce([_truth(atom, points) for atom in guard])
        negation = tuple((part,) for atom in guard for part in atom.negated())
        if split.all() or not split.any() or split.tobytes() in seen or len(negation) > 3:
            continue
        seen.add(split.tobytes())
        inside, outside = points[split], points[~split]
        if vectors:
            atoms = candidates(space, inside.tolist(), vectors=vectors)
        else:
            atoms = faces(space, inside.tolist(), tick, widest=3)
        groups.append(
            [
                (*negation, (atom,))
                for ((atom,),) in atoms
                # Only those that need the guard.
                if atom not in have and atom not in guard and not holds(atom, outside)
            ]
        )
        if len(groups) == _GUARDS:
            break
    mixed = [dnf for row in zip_longest(*groups) for dnf in row if dnf is not None]
    return mixed[: 2 * _MOST if vectors else _MOST]


def signs(space: Space) -> list[Cube]:
    """Comparisons of single variables with zero."""
    found: list[Cube] = []
    for i in space.relevant[:6]:
        up, down = space.unit(i), space.unit(i, -1)
        found += [(Atom(down, LE, -1),), (Atom(up, LE, 0),), (Atom(down, LE, 0),)]
    return found


def phases(space: Space) -> list[Cube]:
    """From one constant that the program compares a variable with to the next, ends included."""
    compared: dict[int, set[int]] = {}
    for atom, _ in space.suggested:
        used = [i for i, c in enumerate(atom.vector) if c]
        if len(used) == 1 and atom.vector[used[0]] == 1 and atom.relation == LE:
            compared.setdefault(used[0], set()).update((atom.constant, atom.constant + 1))
    found: list[Cube] = []
    for i, bounds in compared.items():
        ends = [c for c in space.primary if c in bounds]
        for low, high in pairwise(ends[:_MOST_PHASES]):
            if high > low + 1:
                found.append((Atom(space.unit(i, -1), LE, -low), Atom(space.unit(i), LE, high)))
    return found


Ranges = Sequence[tuple[int | None, int | None]]


def new_formulas(formulas: Sequence[Dnf], known: Sequence[Dnf], ranges: Ranges) -> list[Dnf]:
    """Those that neither are known nor follow from the known bounds on single variables."""
    have, box = set(known), Box(ranges, known)
    return [dnf for dnf in dict.fromkeys(formulas) if dnf not in have and not box.implies(dnf)]


class Box:
    """Bounds on single variables that are known to hold, and what follows from them alone."""

    def __init__(self, ranges: Ranges, known: Sequence[Dnf]):
        self._ends: list[dict[int, int]] = []  # by sign: the highest value, minus the lowest
        for low, high in ranges:
            self._ends.append({})
            if high is not None:
                self._ends[-1][1] = high
            if low is not None:
                self._ends[-1][-1] = -low
        for dnf in known:
            if len(dnf) == 1 and len(dnf[0]) == 1:
                self._add(dnf[0][0])

    def _add(self, atom: Atom) -> None:
        used = [(i, c) for i, c in enumerate(atom.vector) if abs(c) == 1]
        if len(used) != 1 or sum(map(abs, atom.vector)) != 1 or atom.modulus:
            return
        ((i, sign),) = used
        ends = self._ends[i]
        if atom.relation != NE:
            ends[sign] = min(atom.constant, ends.get(sign, atom.constant))
        if atom.relation == EQ:
            ends[-sign] = min(-atom.constant, ends.get(-sign, -atom.constant))

    def width(self, i: int) -> float:
        """How many values a variable can have."""
        ends = self._ends[i]
        return ends[1] + ends[-1] + 1 if len(ends) == 2 else math.inf

    def implies(self, dnf: Dnf) -> bool:
        """Does a disjunct of the formula hold everywhere in the box? (Bounds only.)"""
        return any(len(cube) == 1 and self._implies(cube[0]) for cube in dnf)

    def _implies(self, atom: Atom) -> bool:
        if atom.relation != LE or atom.modulus:
            return False
        total = 0
        for c, ends in zip(atom.vector, self._ends, strict=True):
            if c:
                end = ends.get(1 if c > 0 else -1)
                if end is None:
                    return False
                total += abs(c) * end
        return total <= atom.constant


def thin(formulas: list[Dnf]) -> list[Dnf]:
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
