"""One round of the search: examples to a task of packed words, and back to atoms.

Several cut points are searched jointly as one formula. An atom of a cut point is false at every
other's examples, so a disjunct speaks of one cut point, and the union of all disjuncts of a cut
point is its invariant.
"""

from __future__ import annotations

import random

import numpy as np
from numpy.typing import NDArray

from ...formulas import Task, classes, pack, slots_for, truth_table
from ...linear import RELATIONS, Atom, Dnf
from ._data import Data, fits
from ._space import TOP, Pool, Space

_MOST_PAIRS = 1280
_MOST_LABELLED = 2048


def _implications(data: Data, rng: random.Random) -> tuple[list[tuple[int, int]], list[int]]:
    """Steps between states as the search can take them: pairs of which the first implies the other,
    and states that are excluded. Of several premises that may not hold, one is drawn not to."""
    pairs: list[tuple[int, int]] = []
    excluded: dict[int, None] = {}
    for free, after in data.free():
        point = free[0] if len(free) == 1 else rng.choice(free)
        if after is None:
            excluded[point] = None
        else:
            pairs.append((point, after))
    return [pair for pair in pairs if pair[0] not in excluded], list(excluded)


class Round:
    """The examples and pool of a round, ready for chains of any template."""

    def __init__(
        self,
        spaces: list[Space],
        data: Data,
        rng: random.Random,
        *,
        keep: list[list[Atom]],
        from_data: bool,
        parity: bool,
        neighbours: bool = False,
    ):
        self._rng = rng
        numbers = np.random.default_rng(rng.getrandbits(60))
        good, bad = sorted(data.good), sorted(data.bad)
        if len(good) > _MOST_LABELLED:
            good = sorted(rng.sample(good, _MOST_LABELLED))
        if len(bad) > _MOST_LABELLED:
            bad = sorted(rng.sample(bad, _MOST_LABELLED))
        pairs, excluded = _implications(data, rng)
        pairs = pairs[-_MOST_PAIRS:]
        bad += excluded[: _MOST_LABELLED - len(bad)]
        labelled = good + bad
        sources, targets = [p[0] for p in pairs], [p[1] for p in pairs]
        tables, self._pools, self._offsets = [], [], []
        offset = 0
        for cut, space in enumerate(spaces):
            mine = [i for i, (c, _) in enumerate(data.points) if c == cut]
            row = {i: k for k, i in enumerate(mine)}
            points = np.array([data.points[i][1] for i in mine], dtype=np.int64)
            points = points.reshape(len(mine), space.size)
            rows = np.array([row[i] for i in good if i in row], dtype=np.int64)
            pool = space.pool(
                points, rows, numbers, keep=keep[cut], from_data=from_data, parity=parity
            )
            slots = slots_for(
                [row.get(i, -1) for i in labelled] or [-1],
                [row.get(i, -1) for i in sources],
                [row.get(i, -1) for i in targets],
            )
            tables.append(truth_table(points, pool.atoms, slots))
            self._pools.append(pool)
            self._offsets.append(offset)
            offset += len(pool.weights)
        table = np.concatenate(tables, axis=1)
        weights = np.concatenate([pool.weights for pool in self._pools])
        self._class_of, count = classes(table)
        # One atom stands for all with the same truth: drawn by its prior, so that rounds differ.
        drawn = 2 * np.log(weights) + numbers.gumbel(size=len(weights))
        order = np.lexsort((-drawn, self._class_of))
        first = np.ones(len(order), dtype=bool)
        first[1:] = self._class_of[order][1:] != self._class_of[order][:-1]
        self._chosen = order[first]
        prior = np.zeros(count)
        np.maximum.at(prior, self._class_of, weights)
        flags = np.zeros(max(1, len(labelled)), dtype=bool)
        flags[: len(good)] = True
        self.task = Task(
            np.ascontiguousarray(table[:, self._chosen]),
            pack(flags),
            pairs=-(-len(pairs) // 64),
            prior=prior,
            neighbours=self._neighbours(numbers) if neighbours else None,
        )
        self._prior = prior
        self._cut_of = np.searchsorted(self._offsets, self._chosen, side="right") - 1

    def _neighbours(self, numbers: np.random.Generator) -> NDArray[np.int32]:
        """For single-entry proposals: atoms of the same direction, i.e. other constants."""
        keys = []
        for cut, pool in enumerate(self._pools):
            keys.append(pool.atoms.direction + cut * (1 << 32))
        key = np.concatenate(keys)[self._chosen]
        found = np.empty((len(key), 8), dtype=np.int32)
        order = np.argsort(key, kind="stable")
        _, starts, counts = np.unique(key[order], return_index=True, return_counts=True)
        for start, count in zip(starts.tolist(), counts.tolist(), strict=True):
            group = order[start : start + count]
            found[group] = numbers.choice(group, (count, 8))
        return found

    def _pool_atom(self, k: int) -> tuple[int, Atom]:
        cut = int(self._cut_of[k])
        return cut, self._pools[cut].atom(int(self._chosen[k]) - self._offsets[cut])

    def _number(self, cut: int, atom: Atom) -> int | None:
        pool: Pool = self._pools[cut]
        a = pool.atoms
        if not fits(atom):
            return None
        rows = np.nonzero((a.directions == np.array(atom.coefficients, dtype=np.int64)).all(1))[0]
        if not len(rows):
            return None
        match = np.nonzero(
            (a.direction == rows[0])
            & (a.relation == RELATIONS.index(atom.relation))
            & (a.constant == atom.constant)
            & (a.modulus == atom.modulus)
        )[0]
        if not len(match):
            return None
        return int(self._class_of[self._offsets[cut] + int(match[0])])

    def start_from(
        self, formulas: list[Dnf], template: tuple[int, int]
    ) -> NDArray[np.int64] | None:
        """A chain's start at these formulas, when they fit the template and the pool."""
        n, m = template
        rows: list[list[int]] = []
        for cut, dnf in enumerate(formulas):
            always = self._constant(cut, TOP)
            for cube in dnf:
                codes = [self._number(cut, atom) for atom in cube]
                if len(codes) > m or None in codes or always is None:
                    return None
                rows.append([*codes, *[always] * (m - len(codes))])  # type: ignore[list-item]
        if len(rows) > n:
            return None
        never = self._constant(0, -TOP)
        while len(rows) < n:
            rows.append([never if never is not None else 0] * m)
        return np.array(rows, dtype=np.int64).reshape(-1)

    def _constant(self, cut: int, bound: int) -> int | None:
        a = self._pools[cut].atoms
        match = np.nonzero(a.constant == bound)[0]
        return int(self._class_of[self._offsets[cut] + int(match[0])]) if len(match) else None

    def fresh_start(self, template: tuple[int, int]) -> NDArray[np.int64] | None:
        """A random start in which every disjunct speaks of one cut point only; None: any does."""
        cuts = len(self._pools)
        if cuts == 1:
            return None
        n, m = template
        codes = np.empty((n, m), dtype=np.int64)
        for i in range(n):
            members = np.nonzero(self._cut_of == i % cuts)[0]
            if not len(members):
                members = np.arange(len(self._prior))
            weights = np.cumsum(self._prior[members])
            draws = [self._rng.random() * weights[-1] for _ in range(m)]
            codes[i] = members[np.minimum(np.searchsorted(weights, draws), len(members) - 1)]
        return codes.reshape(-1)

    def formulas(self, codes: NDArray[np.int64]) -> list[Dnf]:
        """What a chain has found, for each cut point, in as few atoms as the examples allow."""
        cost = self.task.cost
        disjuncts = [list(dict.fromkeys(row)) for row in codes.tolist()]
        for i in self._rng.sample(range(len(disjuncts)), len(disjuncts)):
            rest = [d for k, d in enumerate(disjuncts) if k != i and d]
            if rest and disjuncts[i] and cost(rest) == 0:
                disjuncts[i] = []
        disjuncts = [d for d in disjuncts if d]
        for i, disjunct in enumerate(disjuncts):
            for code in sorted(disjunct, key=lambda c: self._prior[c] + 1e-3 * self._rng.random()):
                if len(disjuncts[i]) > 1:
                    shorter = [c for c in disjuncts[i] if c != code]
                    if cost([*disjuncts[:i], shorter, *disjuncts[i + 1 :]]) == 0:
                        disjuncts[i] = shorter
        found: list[list] = [[] for _ in self._pools]
        for disjunct in disjuncts:
            atoms = [self._pool_atom(code) for code in disjunct]
            cut = atoms[0][0]
            if any(c != cut for c, _ in atoms) or any(a.constant == -TOP for _, a in atoms):
                continue  # speaks of no state at all
            cube = tuple(a for _, a in atoms if a.constant != TOP)
            found[cut].append(cube)
        return [tuple(cubes) for cubes in found]
