"""The atoms worth trying at one cut point: directions with weights, and constants for them."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from itertools import permutations, product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...linear import EQ, LE, NE, RELATIONS, Atom, Dnf, Relation
from ..system import Cut
from ._data import fits
from ._geometry import equations
from ._harvest import Suggestions, vector_of

if TYPE_CHECKING:
    from ...formulas import AtomArrays

_MOST_WIDE = 600
TOP = 1 << 55  # a bound that no projection of an example reaches: the atom that is always true
_FEW = 6  # columns of which any may be in a facet with any other


class Pool(NamedTuple):
    """Atoms as arrays for the engine, with their prior weights."""

    atoms: AtomArrays
    weights: NDArray[np.float64]

    def atom(self, k: int) -> Atom:
        a = self.atoms
        vector = tuple(int(c) for c in a.directions[a.direction[k]])
        return Atom(vector, RELATIONS[a.relation[k]], int(a.constant[k]), int(a.modulus[k]))


class Space:
    """Directions of one cut point; new ones are added as counterexamples suggest them."""

    def __init__(self, cut: Cut, relevant: set[int], found: Suggestions, rng: random.Random):
        self.cut = cut
        self.size = len(cut.variables)
        products = set(range(len(cut.plain), self.size))
        # Directions are linear; products enter through the equations that examples satisfy.
        self.relevant = sorted(relevant - products)
        self._columns = sorted(relevant | products)[:24]
        # Where they are few, bounds of a hull may speak of products, too.
        self.faced = self._columns if len(self._columns) <= _FEW else self.relevant
        self.moduli = {m for m in found.moduli if m <= 16}
        self._weights: dict[tuple[int, ...], float] = {}
        self._rng = rng
        constants = {c for c in found.constants if abs(c) < TOP >> 20}
        near = {c + e for c in constants for e in (-1, 0, 1)} | {-c for c in constants}
        self.constants = sorted(near | {-1, 0, 1}, key=lambda c: (abs(c), c))[:200]
        self.primary = sorted(constants | {0, 1})
        self.large = [c for c in self.primary if 20 < c <= 1000][:6]
        # Primes of which the program's constants are multiples, so its variables may be, too.
        self.primes = [
            p for p in (2, 3, 5, 7, 11, 13) if sum(c > 1 and c % p == 0 for c in constants) > 1
        ]
        self.small_constants = {c for c in constants if 2 <= c <= 8}
        self.scale = max([abs(c) for c in constants if abs(c) < 1 << 20] + [10])
        self.suggested: list[tuple[Atom, float]] = []
        self._forms: list[tuple[int, ...]] = []
        self.scales: list[int] = []
        self._directions(found)

    def _add(self, vector: tuple[int, ...], weight: float) -> bool:
        if not any(vector) or max(map(abs, vector)) > 1 << 20 or not fits(Atom(vector, LE, 0)):
            return False
        for v in (vector, tuple(-c for c in vector)):
            self._weights[v] = max(self._weights.get(v, 0.0), weight)
        return True

    def _directions(self, found: Suggestions) -> None:
        units = {i: _unit(self.size, i) for i in self.relevant}
        for i in self.relevant[:400]:
            self._add(units[i], 1.0)
        some = self.relevant
        if len(some) > 16:
            pairs = [tuple(self._rng.sample(some, 2)) for _ in range(120)]
        else:
            pairs = [(i, j) for i in some for j in some if j < i]
        for i, j in pairs:
            self._add(_combine(units[i], 1, units[j], 1), 0.5)
            self._add(_combine(units[i], 1, units[j], -1), 0.8)
        if len(some) <= 5:
            for i in some:
                for j in some:
                    for k in some:
                        if k < j < i:
                            for a in (1, -1):
                                for b in (1, -1):
                                    two = _combine(units[i], 1, units[j], a)
                                    self._add(_combine(two, 1, units[k], b), 0.15)
        for form, op, b in found.forms:
            vector = vector_of(form, self.cut.variables)
            if vector is None or any(c and i not in units for i, c in enumerate(vector)):
                continue
            if not self._add(vector, 1.5):
                continue
            self._forms.append(vector)
            if abs(b) >= TOP >> 20:
                continue
            flipped = tuple(-c for c in vector)
            for v, c in ((vector, b), (vector, b - 1), (flipped, -b), (flipped, -b - 1)):
                self.suggested.append((Atom(v, LE, c), 4.0))
            if op == "=":
                self.suggested.append((Atom(vector, EQ, b), 4.0))
                self.suggested.append((Atom(vector, NE, b), 2.0))
        scales = sorted(c for c in found.coefficients | {abs(c) for c in found.constants})
        scales = [c for c in scales if 2 <= c <= 20][:5]
        self.scales = sorted({2, *scales})
        for c in self.scales:
            if len(some) <= 6:
                for i in some:
                    for j in some:
                        if i != j:
                            self._add(_combine(units[i], c, units[j], -1), 0.12)
                            self._add(_combine(units[i], c, units[j], 1), 0.08)

    def wide_vectors(self, lemmas: Sequence[Dnf]) -> list[tuple[int, ...]]:
        """All directions and further ones, simplest first: the program's forms added to one
        another, and sums of three variables with its coefficients. Many, so for lemmas only.

        A variable that the lemmas say is another's copy, or constant, is left out."""
        copies = _copies(lemmas)
        units = [_unit(self.size, i) for i in self.relevant if i not in copies][:6]
        forms = list(dict.fromkeys([*units, *self._forms]))[:20]
        sums = []
        for c, b, d in product((1, *self.scales), (1, -1), (1, -1)):
            for x, y, z in permutations(units, 3):
                sums.append(_combine(_combine(x, c, y, b), 1, z, d))
                sums.append(_combine(_combine(x, c, y, c * b), 1, z, d))
            sums += [_combine(f, c, g, b) for f, g in permutations(forms, 2)]
        sums += [_combine(x, c, y, -1) for x, y in permutations(units, 2) for c in self.large]
        found = dict.fromkeys(self._weights)
        for vector in sums:
            if any(vector):
                divisor = math.gcd(*vector)
                found[tuple(c // divisor for c in vector)] = None
                found[tuple(-c // divisor for c in vector)] = None
        new = [v for v in found if not any(v[i] for i in copies)]
        return sorted(new, key=lambda v: sum(1 + math.log2(abs(c)) for c in v if c))[:_MOST_WIDE]

    def equalities(self, good: NDArray[np.int64]) -> list[Atom]:
        """Equations that all reachable examples satisfy: the null space of the points."""
        return [Atom(vector, EQ, c) for vector, c in equations(good, self._columns)]

    def unit(self, index: int, sign: int = 1) -> tuple[int, ...]:
        """The direction of a single variable."""
        return tuple(sign * int(i == index) for i in range(self.size))

    def vectors(self, least_weight: float = 0.0) -> list[tuple[int, ...]]:
        return [v for v, weight in self._weights.items() if weight >= least_weight]

    def pool(
        self,
        points: NDArray[np.int64],
        good: NDArray[np.int64],
        rng: np.random.Generator,
        *,
        keep: list[Atom],
        from_data: bool,
        parity: bool,
    ) -> Pool:
        """Atoms for one round over the examples `points`; `good` are row numbers."""
        from ...formulas import AtomArrays

        singles: list[tuple[Atom, float]] = list(self.suggested)
        if len(good):
            singles += [(atom, 4.0) for atom in self.equalities(points[good])]
        singles += [(atom, 1.0) for atom in keep]
        if self.moduli or parity:
            singles += self._congruences()
        singles = [(atom, weight) for atom, weight in singles if fits(atom)]
        for atom, _ in singles:
            self._weights.setdefault(atom.coefficients, 0.3)
        directions = np.array([(0,) * self.size, *self._weights], dtype=np.int64)
        base = np.array([0.0, *self._weights.values()])
        number = {v: i + 1 for i, v in enumerate(self._weights)}
        rows = np.arange(1, len(directions))
        parts: list[tuple[NDArray, int, NDArray, NDArray]] = []

        def put(which: NDArray, relation: Relation, bound: NDArray, weight: NDArray) -> None:
            parts.append((which, RELATIONS.index(relation), bound, weight))

        constants = np.array(self.constants, dtype=np.int64)
        if len(constants) > 14:
            near = constants[np.abs(constants) <= 1]
            constants = np.concatenate([near, rng.choice(constants, 11, replace=False)])
        many = len(constants)
        put(np.repeat(rows, many), LE, np.tile(constants, len(rows)), np.repeat(base[1:], many))
        for c in (0, 1, -1):
            put(rows, EQ, np.full(len(rows), c), 0.2 * base[1:])
        if len(points) and len(rows):
            projected = directions[1:] @ points.T
            if len(good):
                highest, lowest = projected[:, good].max(1), projected[:, good].min(1)
                if from_data:
                    put(rows, LE, highest, base[1:])
                same = np.nonzero(highest == lowest)[0]
                put(rows[same], EQ, highest[same], 3.0 * base[1:][same])
            if from_data:
                count = min(len(points), max(3, min(8, 3000 // len(rows))))
                chosen = projected[:, rng.choice(len(points), count, replace=False)]
                for shift in (0, 1):
                    put(
                        np.repeat(rows, count),
                        LE,
                        chosen.ravel() - shift,
                        0.12 * np.repeat(base[1:], count),
                    )
        direction = [np.zeros(2, dtype=np.int64), *(p[0] for p in parts)]
        relation = [np.zeros(2, dtype=np.int64), *(np.full(len(p[0]), p[1]) for p in parts)]
        bound = [np.array([TOP, -TOP]), *(p[2] for p in parts)]
        weight = [np.array([3.0, 1.0]), *(p[3] for p in parts)]
        direction.append(np.array([number[a.coefficients] for a, _ in singles], dtype=np.int64))
        codes = [RELATIONS.index(a.relation) for a, _ in singles]
        relation.append(np.array(codes, dtype=np.int64))
        bound.append(np.array([a.constant for a, _ in singles], dtype=np.int64))
        weight.append(np.array([w for _, w in singles], dtype=np.float64))
        modulus = np.zeros(sum(len(d) for d in direction), dtype=np.int64)
        if singles:
            modulus[-len(singles) :] = [a.modulus for a, _ in singles]
        order = np.argsort(np.concatenate(direction), kind="stable")
        atoms = AtomArrays(
            directions,
            np.concatenate(direction)[order],
            np.concatenate(relation).astype(np.int64)[order],
            np.concatenate(bound).astype(np.int64)[order],
            modulus[order],
        )
        return Pool(atoms, np.concatenate(weight)[order])

    def _congruences(self) -> list[tuple[Atom, float]]:
        found = []
        moduli = {2} | {m for m in self.moduli if m <= 8}
        if self.moduli:
            moduli |= self.small_constants
        for k in sorted(moduli):
            weight = 0.5 if k in self.moduli else 0.2 if self.moduli else 0.05
            for vector in list(self._weights)[: 2 * self.size * self.size]:
                used = [c for c in vector if c]
                if len(used) <= 2 and used[0] == 1 and max(map(abs, used)) == 1:
                    for r in range(k):
                        found.append((Atom(vector, EQ, r, k), weight / len(used) ** 2))
        return found


def _copies(lemmas: Sequence[Dnf]) -> set[int]:
    """Variables that differ from an earlier one by a constant, or are constant."""
    found = set()
    for dnf in lemmas:
        if len(dnf) == 1 and len(dnf[0]) == 1:
            atom = dnf[0][0]
            used = [i for i, c in enumerate(atom.coefficients) if c]
            small = all(abs(atom.coefficients[i]) == 1 for i in used)
            if atom.relation == EQ and not atom.modulus and small and len(used) <= 2:
                found.add(used[-1])
    return found


def _unit(size: int, index: int) -> tuple[int, ...]:
    return tuple(int(i == index) for i in range(size))


def _combine(u: tuple[int, ...], a: int, v: tuple[int, ...], b: int) -> tuple[int, ...]:
    return tuple(a * x + b * y for x, y in zip(u, v, strict=True))
