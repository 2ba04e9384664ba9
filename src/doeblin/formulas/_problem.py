"""From examples and a space to a task for the engine, and back to formulas."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from .._errors import InputError
from ._space import Pool, Space, build_pool, neighbours, simplicity
from .engine import Method, Task, classes, minimised, pack, slots_for, truth_table
from .language import Examples, Formula


@dataclass(frozen=True, eq=False)
class Problem:
    """All that determines the chains of a search but their seeds; small enough to send around."""

    examples: Examples
    space: Space
    method: Method
    start: Formula | None = None

    def __post_init__(self):
        if self.start is not None and self.start.variables != self.examples.variables:
            raise InputError(
                f"the start is a formula over {', '.join(self.start.variables)}, but the examples "
                f"are over {', '.join(self.examples.variables)}"
            )

    @cached_property
    def key(self) -> bytes:
        schedule = self.method.schedule
        rest = repr((
            self.space, self.method.stages, self.start,
            None if schedule is None else (schedule.matrix.tolist(), schedule.restart),
        ))  # fmt: skip
        return hashlib.sha256(self.examples.digest + rest.encode()).digest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Problem) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


@dataclass(frozen=True)
class Prepared:
    """A task, and what its atoms' numbers mean."""

    problem: Problem
    task: Task
    pool: Pool
    representative: NDArray[np.int64]
    """The pool atom that each atom of the task stands for."""
    class_of: NDArray[np.int64]
    unavoidable: int

    def formula(self, codes: Sequence[Sequence[int]]) -> Formula:
        return Formula(
            self.problem.examples.variables,
            [[self.pool.atom(int(self.representative[c])) for c in row] for row in codes],
        )

    def tidied(self, codes: Sequence[Sequence[int]]) -> Formula:
        """The formula without what the examples do not need, and simplified."""
        liked = simplicity(self.pool.atoms)[self.representative]
        return self.formula(minimised(self.task, codes, liked)).simplified()

    def codes(self, formula: Formula, template: tuple[int, int]) -> list[list[int]]:
        """The formula's atoms in a template that may be larger, filled up with True and False."""
        n, m = template
        last = len(self.class_of) - len(formula.atoms)
        true, false = int(self.class_of[last - 2]), int(self.class_of[last - 1])
        position = last
        rows = []
        for disjunct in formula.disjuncts:
            own = [int(c) for c in self.class_of[position : position + len(disjunct)]]
            position += len(disjunct)
            rows.append(own + [true] * (m - len(own)))
        return rows + [[false] * m] * (n - len(rows))


@lru_cache(maxsize=2)
def prepared(problem: Problem) -> Prepared:
    """Builds the pool and its truth table; kept, since workers get the same problem many times."""
    examples = problem.examples
    merged = examples.merged()
    planes = _weight_planes(merged.weights)
    pairs = examples.implications
    distinct = (pairs[:, 0] != pairs[:, 1]).any(axis=1)
    sources, targets = pairs[distinct, 0], pairs[distinct, 1]
    points = np.concatenate([merged.points, sources, targets])
    sides = np.concatenate([merged.labels.astype(np.int8), np.full(2 * len(sources), -1, np.int8)])
    extra = problem.start.atoms if problem.start is not None else ()
    pool = build_pool(problem.space, points, sides, extra)
    first = len(merged.points)
    groups = [plane for _, plane in planes] or [np.array([-1])]
    slots = slots_for(
        *groups, first + np.arange(len(sources)), first + len(sources) + np.arange(len(sources))
    )
    table = truth_table(points, pool.atoms, slots)
    pair_words = -(-len(sources) // 64)
    labels = np.concatenate(
        [pack(merged.labels[plane]) for _, plane in planes] or [np.zeros(1, np.uint64)]
    )
    shifts = [shift for shift, plane in planes for _ in range(-(-len(plane) // 64))] or [0]
    prior = pool.prior
    if any(stage.move == "metropolis" for stage in problem.method.stages):
        # Proposals edit entries, so every atom of the space keeps its own place.
        representative = class_of = np.arange(len(pool.atoms))
        near = neighbours(pool.atoms)
    else:
        class_of, count = classes(table)
        representative = _heaviest(prior, class_of, count)
        table, prior, near = table[:, representative], prior[representative], None
    task = Task(
        table, labels, pairs=pair_words, shifts=[*shifts, *[0] * pair_words],
        prior=None if problem.space.uniform and near is not None else prior, neighbours=near,
    )  # fmt: skip
    return Prepared(problem, task, pool, representative, class_of, merged.unavoidable)


def _weight_planes(weights: NDArray[np.int64]) -> list[tuple[int, NDArray[np.int64]]]:
    """`(b, rows)` for every binary digit b that occurs in the weights: the rows that have it.

    Where it takes no more words to repeat rows as often as they weigh, that is done instead.
    """
    planes = []
    for shift in range(int(weights.max()).bit_length() if len(weights) else 0):
        rows = np.flatnonzero((weights >> shift) & 1)
        if len(rows):
            planes.append((shift, rows))
    if -(-int(weights.sum()) // 64) <= sum(-(-len(rows) // 64) for _, rows in planes):
        return [(0, np.repeat(np.arange(len(weights)), weights))] if planes else []
    return planes


def _heaviest(
    prior: NDArray[np.float64], class_of: NDArray[np.int64], count: int
) -> NDArray[np.int64]:
    """For each class of atoms that agree on the examples, its likeliest; the first on ties."""
    order = np.lexsort((np.arange(len(prior)), -prior, class_of))
    firsts = np.searchsorted(class_of[order], np.arange(count))
    return order[firsts]
