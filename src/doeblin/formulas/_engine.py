"""The search engine: a staged chain over formulas whose atoms come from a packed pool."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._errors import InputError
from . import _state as state
from ._advance import advance
from ._program import Program, compiled
from ._stages import Method
from ._task import Task as Task

_TRACE = 1024
# A caller who watches a clock or a flag is asked about this often.
_SLICE_SECONDS = 0.01


@dataclass(frozen=True)
class Snapshot:
    """Where a chain stands; a few numbers, from which `Chain.resume` goes on anywhere."""

    codes: tuple[int, ...]
    best: tuple[int, ...]
    control: tuple[int, ...]
    random: int
    trace: tuple[tuple[int, int, int], ...]


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
        self._program = compiled(method, task.most_cost)
        words = shared[0].shape[1] or shared[1].shape[0]
        self._codes = np.zeros(n * m, dtype=np.int64)
        self._best = np.zeros(n * m, dtype=np.int64)
        self._control = np.zeros(state.CONTROL_SIZE + n * m, dtype=np.int64)
        self._random = np.array([seed & 0xFFFFFFFFFFFFFFFF], dtype=np.uint64)
        self._trace = np.zeros((_TRACE, 3), dtype=np.int64)
        self._control[state.STAGE] = self._program.restart
        self._control[state.BEST] = state.IMPOSSIBLE
        self._atoms = np.zeros((n * m, words), dtype=np.uint64)
        self._disjuncts = np.zeros((n, words), dtype=np.uint64)
        self._arguments: tuple[Any, ...] = (
            *shared, m, task.pairs, *self._program.arrays,
            self._codes, self._atoms, np.zeros_like(self._atoms),
            self._disjuncts, np.zeros_like(self._disjuncts),
            *task.scratch(self._program, n * m),
            self._random, self._control, self._best, self._trace,
        )  # fmt: skip
        if start is not None:
            self._begin_at(np.asarray(start, dtype=np.int64).reshape(-1))

    def _begin_at(self, codes: NDArray[np.int64]) -> None:
        n, m = self.template
        if codes.shape != (n * m,) or codes.min() < 0 or codes.max() >= self.task.num_atoms:
            raise InputError(f"a start needs {n} × {m} numbers of atoms in the pool")
        self._best[:] = codes
        self._place(codes)
        cost = self.task.cost(codes.reshape(n, m))
        self._control[state.TOURS] = 1
        self._control[[state.COST, state.BEST]] = cost
        self._control[state.TRACED] = 1
        self._trace[0] = 0, cost, 1

    def _place(self, codes: ArrayLike) -> None:
        self._codes[:] = codes
        rows, columns = self._arguments[:2]
        self._atoms[:] = rows[self._codes] if len(rows) else columns[:, self._codes].T
        grouped = self._atoms.reshape(*self.template, -1)
        self._disjuncts[:] = np.bitwise_and.reduce(grouped, axis=1)

    def snapshot(self) -> Snapshot:
        return Snapshot(
            tuple(self._codes.tolist()),
            tuple(self._best.tolist()),
            tuple(self._control.tolist()),
            int(self._random[0]),
            tuple(self.trace),
        )

    def resume(self, snapshot: Snapshot) -> None:
        """Go on from where a chain of the same task, method and template was left."""
        self._place(snapshot.codes)
        self._best[:] = snapshot.best
        self._control[:] = snapshot.control
        self._random[0] = snapshot.random
        self._trace[: len(snapshot.trace)] = np.reshape(snapshot.trace, (-1, 3))

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
        return [(int(a), int(b), int(c)) for a, b, c in self._trace[: self._control[state.TRACED]]]

    def run(
        self,
        *,
        max_steps: int | None = None,
        seconds: float | None = None,
        should_stop: Callable[[], bool] | None = None,
        overtime: int = 0,
    ) -> bool:
        """Goes on for so many steps or seconds, or until solved; returns whether it is solved.

        `should_stop` is asked about every ten milliseconds. Up to `overtime` more steps are taken
        to end at a restart.
        """
        first = self.steps
        last = first + max_steps if max_steps is not None else state.NEVER
        if seconds is None and should_stop is None:
            self._advance(last + overtime, last)
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
        """Steps that take about a millisecond."""
        if any(stage.move == "gibbs" for stage in self.method.stages):
            return max(1, int(1e-3 / self.task.move_seconds))
        return 10_000

    def _advance(self, limit: int, soft_limit: int) -> None:
        advance(limit, soft_limit, *self._arguments)
