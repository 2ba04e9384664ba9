"""The search engine: a staged chain over formulas whose atoms come from a packed pool."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..._compiling import clock, not_counted
from ..._errors import InputError
from . import _control as state
from ._control import State
from ._plain import PlainEngine
from ._program import Program, compiled
from ._stages import Method
from ._task import Task as Task

_TRACE = 1024
# A caller who watches a clock or a flag is asked about this often.
_SLICE_SECONDS = 0.01
# The plain engine works for so many seconds in a process before the other is compiled or loaded,
# which takes about as long where it was compiled before. What others do meanwhile is not counted.
_PLAIN = 0.5

_plain_seconds: list[float] = []
_COMPILED: set[tuple[object, ...]] = set()


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
        self._arrays = task.arrays(method)
        self._program = compiled(method, task.most_cost)
        words = self._arrays.words
        self._state = State(
            codes=np.zeros(n * m, dtype=np.int64),
            atoms=np.zeros((n * m, words), dtype=np.uint64),
            disjuncts=np.zeros((n, words), dtype=np.uint64),
            random=np.array([seed & 0xFFFFFFFFFFFFFFFF], dtype=np.uint64),
            control=np.zeros(state.CONTROL_SIZE + n * m, dtype=np.int64),
            best=np.zeros(n * m, dtype=np.int64),
            trace=np.zeros((_TRACE, 3), dtype=np.int64),
        )
        self._state.control[state.STAGE] = self._program.restart
        self._state.control[state.BEST] = state.IMPOSSIBLE
        self._compiled: Callable[[int, int], None] | None = None
        if start is not None:
            self._begin_at(np.asarray(start, dtype=np.int64).reshape(-1))

    def _begin_at(self, codes: NDArray[np.int64]) -> None:
        n, m = self.template
        if codes.shape != (n * m,) or codes.min() < 0 or codes.max() >= self.task.num_atoms:
            raise InputError(f"a start needs {n} × {m} numbers of atoms in the pool")
        self._state.best[:] = codes
        self._place(codes)
        cost = self.task.cost(codes.reshape(n, m))
        self._state.control[state.TOURS] = 1
        self._state.control[[state.COST, state.BEST]] = cost
        self._state.control[state.TRACED] = 1
        self._state.trace[0] = 0, cost, 1

    def _place(self, codes: ArrayLike) -> None:
        self._state.codes[:] = codes
        rows, columns, codes = self._arrays.rows, self._arrays.columns, self._state.codes
        if rows is not None:
            self._state.atoms[:] = rows[codes]
        elif columns is not None:
            self._state.atoms[:] = columns[:, codes].T
        grouped = self._state.atoms.reshape(*self.template, -1)
        self._state.disjuncts[:] = np.bitwise_and.reduce(grouped, axis=1)

    def snapshot(self) -> Snapshot:
        return Snapshot(
            tuple(self._state.codes.tolist()),
            tuple(self._state.best.tolist()),
            tuple(self._state.control.tolist()),
            int(self._state.random[0]),
            tuple(self.trace),
        )

    def resume(self, snapshot: Snapshot) -> None:
        """Go on from where a chain of the same task, method and template was left."""
        self._place(snapshot.codes)
        self._state.best[:] = snapshot.best
        self._state.control[:] = snapshot.control
        self._state.random[0] = snapshot.random
        self._state.trace[: len(snapshot.trace)] = np.reshape(snapshot.trace, (-1, 3))

    def program(self) -> Program:
        return self._program

    @property
    def steps(self) -> int:
        return int(self._state.control[state.STEPS])

    @property
    def tours(self) -> int:
        """How many fresh starts the chain has made."""
        return int(self._state.control[state.TOURS])

    @property
    def cost(self) -> int:
        """The full cost of the best formula so far."""
        return int(self._state.control[state.BEST])

    @property
    def solved(self) -> bool:
        return self.cost == 0

    @property
    def best(self) -> NDArray[np.int64]:
        """The atoms of the best formula so far; `best[i, j]` belongs to disjunct i."""
        return self._state.best.reshape(self.template).copy()

    @property
    def present(self) -> NDArray[np.int64]:
        """The atoms of the present formula."""
        return self._state.codes.reshape(self.template).copy()

    @property
    def trace(self) -> list[tuple[int, int, int]]:
        """`(step, cost, tour)` of every improvement; the first thousand or so."""
        traced = self._state.trace[: self._state.control[state.TRACED]]
        return [(int(a), int(b), int(c)) for a, b, c in traced]

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
        last = self.steps + max_steps if max_steps is not None else state.NEVER
        watched = seconds is not None or should_stop is not None
        soft, last = (state.NEVER, last) if watched else (last, last + overtime)
        began = clock()
        slice_steps = self._first_slice()
        while not self.solved and self.steps < last:
            advance = self._engine()
            plain = advance is not self._compiled
            before, now, worked = self.steps, clock(), time.thread_time()
            until = min(last, before + slice_steps) if plain or watched else last
            advance(until, soft)
            used = clock() - now
            if plain:
                _plain_seconds.append(time.thread_time() - worked)
            left = math.inf if seconds is None else seconds - (clock() - began)
            if self.steps < until or left <= 0 or (should_stop is not None and should_stop()):
                break
            pace = (self.steps - before) / max(used, 1e-9)
            slice_steps = max(1, int(pace * min(_SLICE_SECONDS, left)))
        return self.solved

    def compile(self) -> None:
        """Compile the engine now, rather than when the search turns out to be long."""
        first = self._kind not in _COMPILED
        with not_counted() if first else nullcontext():
            from ._advance import advance

            task, program, arrays = self.task, self._program, self._arrays
            penalties = program.penalties if program.simplified else None
            arguments = (
                arrays, program.stages, self._state, task.room(program, self._state),
                task.errors(arrays), task.near(arrays), penalties,
            )  # fmt: skip
            self._compiled = lambda limit, soft_limit: advance((limit, soft_limit), *arguments)
            if first:
                self._compiled(0, 0)
                _COMPILED.add(self._kind)

    @property
    def _kind(self) -> tuple[object, ...]:
        """What the compiled code is specialised on."""
        a = self._arrays
        return (
            a.rows is None, a.columns is None, a.shifts is None, len(a.width),
            self._program.simplified,
        )  # fmt: skip

    def _engine(self) -> Callable[[int, int], None]:
        """The plain engine at first, where there is one; the compiled one for longer searches."""
        if self._compiled is None:
            plain = self._arrays.rows is None and not self._program.simplified
            if plain and self._kind not in _COMPILED and sum(_plain_seconds) < _PLAIN:
                return PlainEngine(self._arrays, self._program, self._state).advance
            self.compile()
        assert self._compiled is not None
        return self._compiled

    def _first_slice(self) -> int:
        """Steps that take about a millisecond; some twenty times as long when they are plain."""
        if any(stage.move == "gibbs" for stage in self.method.stages):
            return min(100, max(1, int(1e-3 / self.task.move_seconds)))
        return 10_000
