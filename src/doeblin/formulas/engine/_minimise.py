"""Making a found formula small: what the examples do not need goes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ._task import Task


def minimised(
    task: Task,
    codes: Sequence[Sequence[int]] | NDArray[np.int64],
    preference: NDArray[np.floating] | None = None,
) -> list[list[int]]:
    """A formula of no higher cost: fewer disjuncts, fewer atoms, and preferred atoms.

    Disjuncts, then atoms, are dropped as long as the cost does not rise, the least preferred
    first; then every atom gives way to the most preferred of the pool that does as well in its
    place. `preference` has a positive number for each atom, by default its prior.
    """
    liked = task.prior_weights() if preference is None else preference
    rows = [list(dict.fromkeys(int(c) for c in row)) for row in codes]
    rows = _dropped(task, rows, liked)
    for i, row in enumerate(rows):
        for j, present in enumerate(row):
            costs = _costs_in_place(task, rows, i, j)
            good = np.flatnonzero(costs <= costs[present])
            better = int(good[np.argmax(liked[good])])
            if liked[better] > liked[present]:
                row[j] = better
    return _dropped(task, rows, liked)


def _dropped(task: Task, rows: list[list[int]], liked: NDArray) -> list[list[int]]:
    best = task.cost(rows)

    def keeps(trial: list[list[int]]) -> bool:
        nonlocal best
        cost = task.cost(trial)
        if cost <= best:
            best = cost
            return True
        return False

    for row in sorted(rows, key=lambda row: float(np.sum(1.0 / liked[row])), reverse=True):
        trial = [other for other in rows if other is not row]
        if keeps(trial):
            rows = trial
    for i in range(len(rows)):
        for c in sorted(rows[i], key=lambda c: liked[c]):
            trial = [*rows[:i], [other for other in rows[i] if other != c], *rows[i + 1 :]]
            if keeps(trial):
                rows = trial
    return rows


def _costs_in_place(task: Task, rows: list[list[int]], i: int, j: int) -> NDArray[np.int64]:
    """The full cost with each atom of the pool as atom j of disjunct i."""
    table, labels = task.truth(), task.label_words()
    others = np.bitwise_and.reduce(table[:, [c for k, c in enumerate(rows[i]) if k != j]], axis=1)
    rest = np.zeros(len(table), dtype=np.uint64)
    for e, row in enumerate(rows):
        if e != i:
            rest |= np.bitwise_and.reduce(table[:, row], axis=1)
    inside = (table & others[:, None]) | rest[:, None]
    split = len(labels) + task.pairs
    violated = np.concatenate(
        [inside[: len(labels)] ^ labels[:, None], inside[len(labels) : split] & ~inside[split:]]
    )
    return task.word_weights() @ np.bitwise_count(violated).astype(np.int64)
