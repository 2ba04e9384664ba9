"""Families of formula instances: random targets, and targets like invariants of programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..formulas import Examples, Space

_VALUES = 5
"""Coordinates of points lie between minus and plus this."""


@dataclass(frozen=True)
class Instance:
    examples: Examples
    space: Space
    template: tuple[int, int]


@dataclass(frozen=True)
class Family:
    """Instances over d variables, searched in templates of n × m atoms of the paper's grid."""

    name: str
    about: str
    template: tuple[int, int]
    d: int
    num_examples: int
    constants: tuple[int, ...] = (-1, 0, 1)
    equalities: float | None = None
    """None: a random target. Otherwise the share of atoms that come with their opposites."""
    balance: tuple[float, float] = (0.1, 0.9)

    def instances(self, count: int, seed: int = 0) -> list[Instance]:
        """The same ones for the same seed."""
        # The family's place in the list keeps families apart; names may change.
        rng = np.random.default_rng([seed, FAMILIES.index(self)])
        draw: Callable[..., tuple] = _random if self.equalities is None else _invariant
        found = []
        for _ in range(count):
            points, labels = draw(self, rng)
            space = Space.grid(constants=self.constants)
            found.append(Instance(Examples(points, labels), space, self.template))
        return found


def _targets(family: Family, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    n, m = family.template
    a = rng.integers(-1, 2, size=(n, m, family.d))
    return a, rng.choice(family.constants, size=(n, m))


def _holding(a: NDArray, b: NDArray, points: NDArray) -> NDArray[np.bool_]:
    """`[i, j, x]`: whether atom j of disjunct i holds at point x."""
    return np.einsum("ijk,xk->ijx", a, points) <= b[..., None]


def _random(family: Family, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Uniform points; a target in which every disjunct and every atom decides some of them."""
    least = family.num_examples // 20
    while True:
        points = rng.integers(-_VALUES, _VALUES + 1, size=(family.num_examples, family.d))
        a, b = _targets(family, rng)
        atoms = _holding(a, b, points)
        disjuncts = np.asarray(atoms.all(axis=1))
        labels = np.asarray(disjuncts.any(axis=0))
        low, high = family.balance
        if low <= labels.mean() <= high and _all_needed(atoms, disjuncts, labels, least):
            return points, labels


def _all_needed(atoms: NDArray, disjuncts: NDArray, labels: NDArray, least: int) -> bool:
    n, m, _ = atoms.shape
    for i in range(n):
        rest = np.delete(disjuncts, i, axis=0).any(axis=0)
        if (rest != labels).sum() < least:
            return False
        for j in range(m):
            without = np.delete(atoms[i], j, axis=0).all(axis=0)
            if 2 * ((rest | without) != labels).sum() < least:
                return False
    return True


def _invariant(family: Family, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Equalities among the atoms; as many points inside as outside, half of those near misses."""
    n, m = family.template
    half = family.num_examples // 2
    while True:
        a, b = _targets(family, rng)
        if not a.any(axis=2).all():
            continue
        for i in range(n):
            j = 0
            while j + 1 < m:
                if rng.random() < (family.equalities or 0) and -b[i, j] in family.constants:
                    a[i, j + 1], b[i, j + 1] = -a[i, j], -b[i, j]
                    j += 1
                j += 1
        pool = rng.integers(-_VALUES, _VALUES + 1, size=(40_000, family.d))
        disjuncts = np.asarray(_holding(a, b, pool).all(axis=1))
        only = disjuncts & (disjuncts.sum(axis=0) == 1)
        if only.sum(axis=1).min() < 40 or (~disjuncts.any(axis=0)).sum() < 1000:
            continue
        inside = np.concatenate(
            [
                pool[rng.choice(np.flatnonzero(only[i]), size=half // n + (i < half % n))]
                for i in range(n)
            ]
        )
        near = inside[rng.integers(0, len(inside), size=10 * family.num_examples)].copy()
        moved = rng.integers(0, family.d, size=len(near))
        near[np.arange(len(near)), moved] += rng.choice([-1, 1], size=len(near))
        near = near[~_holding(a, b, near).all(axis=1).any(axis=0)][: half // 2]
        far = pool[~disjuncts.any(axis=0)][: family.num_examples - half - len(near)]
        points = np.concatenate([inside, near, far])
        return points, np.asarray(_holding(a, b, points).all(axis=1).any(axis=0))


FAMILIES = (
    Family("small", "2 × 2 atoms over 3 variables, 50 random points", (2, 2), 3, 50),
    Family("paper", "the paper's space: 3 × 3 atoms over 5 variables, 100 random points",
           (3, 3), 5, 100),
    Family("dense", "the paper's space, 250 balanced random points", (3, 3), 5, 250,
           balance=(0.4, 0.6)),
    Family("wide", "constants -3 … 3, 250 balanced random points", (3, 3), 5, 250,
           constants=tuple(range(-3, 4)), balance=(0.4, 0.6)),
    Family("invariant", "equalities and near misses, 100 points", (3, 3), 5, 100, equalities=0.5),
    Family("disjunctive", "5 × 2 atoms over 4 variables, equalities and near misses, 120 points",
           (5, 2), 4, 120, equalities=0.7),
    Family("balanced", "the paper's space, 128 balanced random points", (3, 3), 5, 128,
           balance=(0.3, 0.7)),
    Family("dense-large", "4 × 3 atoms over 5 variables, 250 balanced random points", (4, 3), 5,
           250, balance=(0.4, 0.6)),
    Family("large", "4 × 3 atoms over 6 variables, 200 random points", (4, 3), 6, 200,
           balance=(0.3, 0.7)),
    Family("invariant-large", "4 × 3 atoms over 6 variables, equalities, near misses, 250 points",
           (4, 3), 6, 250, equalities=0.5),
    Family("disjunctive-large", "6 × 2 atoms over 5 variables, equalities, near misses, 250 points",
           (6, 2), 5, 250, equalities=0.7),
)  # fmt: skip
"""From easy to hard. None is left out for how a method fares on it."""
