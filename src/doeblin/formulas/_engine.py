"""The search engine: a staged chain over formulas whose atoms come from a packed pool."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._errors import InputError
from . import _state as state
from ._advance import advance
from ._bits import Words
from ._stages import Method, Stage, longest_useful

MOST_ATOMS = 1 << 20
_MOST_WEIGHT = 1 << 29
_PRIOR_SCALE = float(1 << 16)
_HEAT_SCALE = float(1 << 26)
_ACCEPT_SCALE = float(1 << 32)
# Metropolis kernels are compiled for these numbers of label words; beyond, the width stays open.
_WIDTHS = (1, 2, 4, 8, 16)
_TRACE = 1024
# A caller who watches a clock or a flag is asked about this often.
_SLICE_SECONDS = 0.01


@dataclass(frozen=True, eq=False)
class Task:
    """Examples as the engine sees them: the truth of every pool atom in packed words.

    `table[w, k]` holds the truth values of atom k over 64 examples. Its rows are: `len(labels)`
    words of labelled examples, then `pairs` words of the implications' sources, then `pairs` words
    of their targets, aligned bit by bit. A labelled example is violated when the formula differs
    from its bit in `labels`; an implication s → t when s is inside and t is outside.

    Bits that show no example must be zero in `table` and in `labels`; `mask` (a word for each word
    of labels and of pairs) clears examples that should not count. `shifts` gives the examples of
    each such word the weight 2**shift; None means one each. `prior` weighs the atoms in restarts
    and in Gibbs moves. `neighbours[k]` lists atoms that differ from k in a single entry, padded
    with k itself; single-entry Metropolis proposals draw from it.
    """

    table: Words
    labels: Words
    pairs: int = 0
    mask: Words | None = None
    shifts: ArrayLike | None = None
    prior: ArrayLike | None = None
    neighbours: NDArray[np.int32] | None = None
    _arrays: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self):
        table = np.ascontiguousarray(self.table, dtype=np.uint64)
        labels = np.ascontiguousarray(self.labels, dtype=np.uint64)
        num_atoms = table.shape[1] if table.ndim == 2 else 0
        if not 1 <= num_atoms <= MOST_ATOMS:
            raise InputError(f"a pool needs 1 to {MOST_ATOMS} atoms, got {num_atoms}")
        if len(table) != len(labels) + 2 * self.pairs or not len(labels):
            raise InputError(
                f"the table has {len(table)} words, but {len(labels)} of labels and 2 × "
                f"{self.pairs} of implications were announced"
            )
        if self.mask is not None:
            mask = np.asarray(self.mask, dtype=np.uint64)
            table = table & np.concatenate([mask, mask[len(labels) :]])[:, None]
            labels = labels & mask[: len(labels)]
        prior = _quantised(self.prior, num_atoms)
        shifts = None
        if self.shifts is not None and np.any(self.shifts):
            shifts = np.ascontiguousarray(self.shifts, dtype=np.int64)
            if shifts.shape != (len(labels) + self.pairs,) or shifts.min() < 0:
                raise InputError("shifts needs one number, not negative, for each word")
        self._arrays.update(
            table=table,
            labels=labels,
            shifts=shifts,
            prior=prior,
            cumulative=np.cumsum(prior, dtype=np.uint64),
        )
        if self.most_cost >= _MOST_WEIGHT:
            raise InputError(
                f"the examples weigh {self.most_cost:,} in all; at most {_MOST_WEIGHT - 1:,} work"
            )

    @property
    def num_atoms(self) -> int:
        return self._arrays["table"].shape[1]

    @property
    def most_cost(self) -> int:
        """An upper bound on the full cost."""
        return 64 * int(self.word_weights().sum())

    def truth(self) -> Words:
        """The table, masked."""
        return self._arrays["table"]

    def label_words(self) -> Words:
        return self._arrays["labels"]

    def word_weights(self) -> NDArray[np.int64]:
        """What a violated example of each word of labels, then of pairs, costs."""
        shifts = self._arrays["shifts"]
        words = len(self._arrays["labels"]) + self.pairs
        return np.ones(words, dtype=np.int64) if shifts is None else np.int64(1) << shifts

    def prior_weights(self) -> NDArray[np.uint32]:
        return self._arrays["prior"]

    def cost(self, codes: ArrayLike) -> int:
        """The full cost of the formula with these atoms, `codes[i][j]` in disjunct i."""
        table, labels = self._arrays["table"], self._arrays["labels"]
        inside = np.zeros(len(table), dtype=np.uint64)
        for disjunct in codes:  # type: ignore[union-attr]
            inside |= np.bitwise_and.reduce(table[:, np.asarray(disjunct, dtype=np.int64)], axis=1)
        split = len(labels) + self.pairs
        violated = np.concatenate(
            [inside[: len(labels)] ^ labels, inside[len(labels) : split] & ~inside[split:]]
        )
        return int(np.bitwise_count(violated) @ self.word_weights())

    def arrays(self, method: Method) -> tuple[Any, ...]:
        """The arrays that kernels of this method read; made once and kept."""
        moves = {stage.move for stage in method.stages}
        a = self._arrays
        nothing = np.empty((0, 0), dtype=np.uint64)
        if "metropolis" not in moves:
            no_neighbours = np.zeros((1, 1), dtype=np.int32)
            return (
                nothing, a["table"], no_neighbours, a["prior"], a["cumulative"],
                a["labels"], a["shifts"], (),
            )  # fmt: skip
        if "rows" not in a:
            a.update(self._padded_rows())
        neighbours = self.neighbours
        if neighbours is None:
            if any(stage.move == "metropolis" and stage.single > 0 for stage in method.stages):
                raise InputError("single-entry proposals need a table of neighbours")
            neighbours = np.zeros((self.num_atoms, 1), dtype=np.int32)
        return (
            a["rows"], a["columns"] if "gibbs" in moves else nothing,
            np.ascontiguousarray(neighbours, dtype=np.int32), a["prior"], a["cumulative"],
            a["padded_labels"], a["padded_shifts"], a["width"],
        )  # fmt: skip

    def _padded_rows(self) -> dict[str, Any]:
        table, labels, shifts = (self._arrays[name] for name in ("table", "labels", "shifts"))
        wide = next((width for width in _WIDTHS if width >= len(labels)), len(labels))
        extra = wide - len(labels)
        padding = np.zeros((extra, table.shape[1]), dtype=np.uint64)
        columns = np.concatenate([table[: len(labels)], padding, table[len(labels) :]])
        if shifts is not None:
            shifts = np.insert(shifts, len(labels), np.zeros(extra, dtype=np.int64))
        return {
            "columns": columns,
            "rows": np.ascontiguousarray(columns.T),
            "padded_labels": np.append(labels, np.zeros(extra, dtype=np.uint64)),
            "padded_shifts": shifts,
            "width": (0,) * wide if wide <= _WIDTHS[-1] else (),
        }


class Chain:
    """One staged chain over formulas of n disjuncts with m atoms; run it in slices.

        chain = Chain(task, focused_gibbs(), (2, 2), seed=1)
        while not chain.solved and time_is_left():
            chain.run(max_steps=1000)

    A step is one transition of the staged chain: a restart, a Metropolis step or a Gibbs move. The
    path depends on the seed only, not on how it is cut into slices. `start` begins at the given
    atoms instead of a restart.
    """

    def __init__(
        self,
        task: Task,
        method: Method,
        template: tuple[int, int],
        *,
        seed: int,
        start: ArrayLike | None = None,
    ):
        n, m = template
        if n < 1 or m < 1:
            raise InputError(f"a template needs at least 1 × 1 atoms, got {n} × {m}")
        self.task, self.method, self.template = task, method, (n, m)
        shared = task.arrays(method)
        self._program = _program(method, task.most_cost)
        words = shared[0].shape[1] or shared[1].shape[0]
        self._codes = np.zeros(n * m, dtype=np.int64)
        self._best = np.zeros(n * m, dtype=np.int64)
        self._control = np.zeros(state.CONTROL_SIZE, dtype=np.int64)
        self._random = np.array([seed & 0xFFFFFFFFFFFFFFFF], dtype=np.uint64)
        self._trace = np.zeros((_TRACE, 3), dtype=np.int64)
        self._control[state.STAGE] = self._program.restart
        self._control[state.LEFT] = 1
        self._control[state.BEST] = state.IMPOSSIBLE
        atoms = np.zeros((n * m, words), dtype=np.uint64)
        disjuncts = np.zeros((n, words), dtype=np.uint64)
        num_atoms = task.num_atoms
        self._arguments: tuple[Any, ...] = (
            *shared, m, task.pairs, *self._program.arrays,
            self._codes, atoms, np.zeros_like(atoms), disjuncts, np.zeros_like(disjuncts),
            np.zeros(num_atoms, dtype=np.int32),
            np.zeros(-(-num_atoms // state.BLOCK), dtype=np.uint64),
            self._random, self._control, self._best, self._trace,
        )  # fmt: skip
        if start is not None:
            self._begin_at(np.asarray(start, dtype=np.int64).reshape(-1), atoms, disjuncts)

    def _begin_at(self, codes: NDArray[np.int64], atoms: Words, disjuncts: Words) -> None:
        n, m = self.template
        if codes.shape != (n * m,) or codes.min() < 0 or codes.max() >= self.task.num_atoms:
            raise InputError(f"a start needs {n} × {m} numbers of atoms in the pool")
        self._codes[:] = self._best[:] = codes
        rows, columns = self._arguments[:2]
        atoms[:] = rows[codes] if len(rows) else columns[:, codes].T
        disjuncts[:] = np.bitwise_and.reduce(atoms.reshape(n, m, -1), axis=1)
        cost = self.task.cost(codes.reshape(n, m))
        self._control[[state.LEFT, state.TOURS]] = 0, 1
        self._control[[state.COST, state.BEST]] = cost
        self._control[state.TRACED] = 1
        self._trace[0] = 0, cost, 1

    def program(self) -> Program:
        return self._program

    @property
    def steps(self) -> int:
        return int(self._control[state.STEPS])

    @property
    def tours(self) -> int:
        """How many fresh starts the chain has made."""
        return int(self._control[state.TOURS])

    @property
    def cost(self) -> int:
        """The full cost of the best formula so far."""
        return int(self._control[state.BEST])

    @property
    def solved(self) -> bool:
        return self.cost == 0

    @property
    def best(self) -> NDArray[np.int64]:
        """The atoms of the best formula so far; `best[i, j]` belongs to disjunct i."""
        return self._best.reshape(self.template).copy()

    @property
    def present(self) -> NDArray[np.int64]:
        """The atoms of the present formula."""
        return self._codes.reshape(self.template).copy()

    @property
    def trace(self) -> list[tuple[int, int, int]]:
        """`(step, cost, tour)` of every improvement; the first thousand or so."""
        return [(int(a), int(b), int(c)) for a, b, c in self._trace[: self._control[-1]]]

    def run(
        self,
        *,
        max_steps: int | None = None,
        seconds: float | None = None,
        should_stop: Callable[[], bool] | None = None,
        finish_tour: bool = False,
    ) -> bool:
        """Goes on for so many steps or seconds, or until solved; returns whether it is solved.

        `should_stop` is asked about every ten milliseconds. With `finish_tour` the run goes on past
        `max_steps` to the next restart.
        """
        first = self.steps
        last = first + max_steps if max_steps is not None else state.NEVER
        if seconds is None and should_stop is None:
            self._advance(state.NEVER if finish_tour else last, last)
            return self.solved
        began = time.perf_counter()
        slice_steps = self._first_slice()
        while not self.solved and self.steps < last:
            before, clock = self.steps, time.perf_counter()
            self._advance(min(last, before + slice_steps), state.NEVER)
            now = time.perf_counter()
            left = math.inf if seconds is None else seconds - (now - began)
            if left <= 0 or (should_stop is not None and should_stop()):
                break
            pace = (self.steps - before) / max(now - clock, 1e-9)
            slice_steps = max(1, int(pace * min(_SLICE_SECONDS, left)))
        return self.solved

    def _first_slice(self) -> int:
        """Steps that take about a millisecond, from the number of words that each touches."""
        if any(stage.move == "gibbs" for stage in self.method.stages):
            words = self.task.num_atoms * len(self.task._arrays["table"])
            return max(1, 1_000_000 // words)
        return 10_000

    def _advance(self, limit: int, soft_limit: int) -> None:
        advance(limit, soft_limit, *self._arguments)


@dataclass(frozen=True)
class Program:
    """Stages and schedule as the arrays that the kernels follow; a row for each stage."""

    restart: int
    kinds: NDArray[np.int64]
    chances: NDArray[np.uint64]
    penalties: NDArray[np.int64]
    accept: list[NDArray[np.uint64]]
    """Acceptance thresholds of Metropolis steps, by how much worse the proposal is."""
    heat: list[NDArray[np.uint32]]
    """Weights of Gibbs moves, by how much worse than the best an atom is; the last is zero."""
    exits: NDArray[np.float64]
    jumps: NDArray[np.float64]
    """Cumulative probabilities of the next stage when one is left."""

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        return (
            self.kinds, self.chances, self.penalties,
            *_stacked(self.accept), *_stacked(self.heat), self.exits, self.jumps,
        )  # fmt: skip


def _program(method: Method, most_cost: int) -> Program:
    schedule = method.schedule
    if schedule is None:
        # Nothing leads back to the restart: it only makes the first state.
        matrix, restart = np.array([[0.0, 1.0], [0.0, 1.0]]), 0
    else:
        matrix, restart = schedule.matrix, schedule.restart
    stages: list[Stage | None] = list(method.stages)
    stages.insert(restart, None)
    k = len(stages)
    kinds = np.zeros((k, 2), dtype=np.int64)
    chances = np.zeros((k, 2), dtype=np.uint64)
    penalties = np.zeros((k, 2), dtype=np.int64)
    accept: list[NDArray[np.uint64]] = []
    heat: list[NDArray[np.uint32]] = []
    for z, stage in enumerate(stages):
        boltzmann = np.ones(1)
        floor = 1.0
        if stage is not None:
            gibbs, simplified = stage.move == "gibbs", stage.cost == "simplified"
            kinds[z] = (state.GIBBS if gibbs else state.METROPOLIS), simplified
            chances[z] = stage.single * _ACCEPT_SCALE, stage.focus * _ACCEPT_SCALE
            penalties[z] = stage.false_positive, stage.false_negative
            largest = most_cost
            if simplified:
                largest *= stage.false_positive + stage.false_negative
            floor = 0.5 / _HEAT_SCALE if gibbs else 0.5 / _ACCEPT_SCALE
            length = longest_useful(stage.beta, floor, largest)
            with np.errstate(invalid="ignore"):
                boltzmann = np.exp(-stage.beta * np.arange(length))
            boltzmann[0] = 1.0
        accept.append(np.floor(boltzmann * _ACCEPT_SCALE).astype(np.uint64))
        heat.append(np.append(np.round(boltzmann * _HEAT_SCALE), 0).astype(np.uint32))
    off_diagonal = matrix - np.diag(np.diag(matrix))
    exits = 1.0 - np.diag(matrix) if schedule is not None else np.array([1.0, 0.0])
    jumps = np.cumsum(off_diagonal, axis=1)
    # Divided by their own last entry, so that the last possible jump has exactly 1.
    jumps /= np.where(jumps[:, -1:] > 0, jumps[:, -1:], 1.0)
    return Program(
        restart, kinds, chances, penalties, accept, heat,
        np.ascontiguousarray(exits), np.ascontiguousarray(jumps),
    )  # fmt: skip


def _stacked(rows: Sequence[NDArray[Any]]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    sizes = np.array([len(row) for row in rows], dtype=np.int64)
    table = np.zeros((len(rows), sizes.max()), dtype=rows[0].dtype)
    for row, values in zip(table, rows, strict=True):
        row[: len(values)] = values
    return table, sizes


def _quantised(prior: ArrayLike | None, num_atoms: int) -> NDArray[np.uint32]:
    """Prior weights as integers of at least one, so that sums are exact."""
    if prior is None:
        return np.ones(num_atoms, dtype=np.uint32)
    weights = np.asarray(prior, dtype=np.float64)
    if weights.shape != (num_atoms,) or not (weights > 0).all() or not np.isfinite(weights).all():
        raise InputError(f"prior needs {num_atoms} positive numbers, one for each atom of the pool")
    return np.maximum(1, np.round(weights / weights.max() * _PRIOR_SCALE)).astype(np.uint32)
