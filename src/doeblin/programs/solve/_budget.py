"""One budget for a proof attempt: the work done so far decides what is tried, time only ends it.

Work is counted, not measured, so that the same seed does the same on a busy machine: the solver's
own count of its steps (`rlimit`), and steps of other engines in the same currency. A unit is about
a microsecond.
"""

from __future__ import annotations

import contextlib
import math
import threading
from collections.abc import Iterator
from typing import Any

import z3

from ..._compiling import clock as running
from .._tunables import SECOND as SECOND
from ..system.terms import new_context

_UNLIMITED = 4_000_000_000  # beyond what the solver can count
_QUESTION = 100  # units for putting a question, whatever the answer costs


def heedless(solver: z3.Solver) -> z3.Solver:
    """The solver, which leaves Ctrl-C to Python from now on; Z3's own take it for themselves."""
    solver.set("ctrl_c", False)
    return solver


class OutOfTime(Exception):
    """The attempt must end now; the message is the reason to report."""


class Budget:
    """A deadline, a cancel flag, and a count of work and of questions to solvers.

    As a context manager it watches registered solver contexts and interrupts them when time is up,
    so that no query outlives the limit. It stands still while something is compiled."""

    def __init__(
        self, seconds: float, cancel: threading.Event | None = None, *, spent: float = 0.0
    ):
        self.limit = seconds
        self._start = running() - spent
        self._cancel = cancel or threading.Event()
        self.reals = True
        self.work = 0.0
        self.queries = 0
        self._counts: dict[int, int] = {}
        self._closed = threading.Event()
        self._contexts: list[z3.Context] = []
        self._watcher: threading.Thread | None = None

    def __enter__(self) -> Budget:
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closed.set()
        if self._watcher is not None:
            self._watcher.join()

    def part(self, units: float, *, reals: bool = True) -> Part:
        """A budget for a part of the work. Without `reals`, its solvers leave out the procedure for
        products of reals: that proves more, but its work is not counted."""
        return Part(self, units, reals)

    def context(self) -> z3.Context:
        """A new solver context that this budget may interrupt."""
        made = new_context()
        self._contexts.append(made)
        return made

    def solver(self, context: z3.Context) -> z3.Solver:
        """An incremental solver."""
        made = heedless(z3.SimpleSolver(ctx=context))
        made.set("arith.nl.nra", self.reals)
        return made

    @contextlib.contextmanager
    def excused(self, least: float) -> Iterator[None]:
        """Work that is not the program's fault, such as the first compilation of the search.

        No limit ends it, and its seconds do not count unless they are fewer than `least`.
        """
        limit, before = self.limit, running()
        self.limit = math.inf
        try:
            yield
        finally:
            used = running() - before
            self.limit = limit
            self._start += used if used >= least else 0.0

    @property
    def seconds(self) -> float:
        return running() - self._start

    @property
    def left(self) -> float:
        return self.limit - self.seconds

    @property
    def over(self) -> bool:
        return self._cancel.is_set() or self.left <= 0

    def tick(self) -> None:
        """Raise OutOfTime when the attempt must end."""
        if self._cancel.is_set():
            raise OutOfTime("cancelled")
        if self.left <= 0:
            raise OutOfTime(f"time limit of {self.limit:g} s reached")

    # ---- work

    @property
    def allowed(self) -> float:
        """The work that may still be done."""
        return math.inf

    def spend(self, units: float, *, queries: int = 0) -> None:
        self.work += units
        self.queries += queries

    def ask(self, solver: Any, most: float = math.inf, *assumptions: Any) -> str:
        """What the solver says with at most so much work; what it did is counted."""
        self.tick()
        most = min(most, self.allowed)
        solver.set("rlimit", max(1, int(most)) if most < _UNLIMITED else 0)
        context = solver.ctx
        # Z3's own `check` converts every assumption; hundreds of flags make that the cost.
        handles = (z3.Ast * len(assumptions))(*(flag.as_ast() for flag in assumptions))
        try:
            answer = z3.Z3_solver_check_assumptions(
                context.ref(), solver.solver, len(assumptions), handles
            )
        finally:
            self._count(solver)
        if answer == z3.Z3_L_UNDEF:
            self.tick()
        return str(z3.CheckSatResult(answer))

    def _count(self, solver: Any) -> None:
        """Count what the solver's context has done since it was last asked."""
        context, done = solver.ctx.ref(), 0
        found = z3.Z3_solver_get_statistics(context, solver.solver)
        z3.Z3_stats_inc_ref(context, found)
        for number in reversed(range(z3.Z3_stats_size(context, found))):
            if z3.Z3_stats_get_key(context, found, number) == "rlimit count":
                done = z3.Z3_stats_get_uint_value(context, found, number)
                break
        z3.Z3_stats_dec_ref(context, found)
        key = id(solver.ctx)
        self.spend(_QUESTION + max(0, done - self._counts.get(key, 0)), queries=1)
        self._counts[key] = done

    def _watch(self) -> None:
        while not self._closed.wait(min(0.02, max(self.left, 0.001))):
            if self.over:
                for context in list(self._contexts):
                    # The call reports errors of the interrupted thread; they are not its own.
                    with contextlib.suppress(z3.Z3Exception):
                        context.interrupt()


class Part(Budget):
    """A budget for a part of another one's work; it shares all the rest with it."""

    def __init__(self, whole: Budget, units: float, reals: bool):
        self._whole = whole
        self._most = units
        self.reals = whole.reals and reals
        self.work = 0.0
        self.queries = 0
        self._counts = whole._counts
        self._contexts = whole._contexts
        self._cancel = whole._cancel

    @property
    def limit(self) -> float:  # type: ignore[override]
        return self._whole.limit

    @property
    def seconds(self) -> float:
        return self._whole.seconds

    @property
    def allowed(self) -> float:
        return min(self._most - self.work, self._whole.allowed)

    @contextlib.contextmanager
    def excused(self, least: float) -> Iterator[None]:
        with self._whole.excused(least):
            yield

    def spend(self, units: float, *, queries: int = 0) -> None:
        super().spend(units, queries=queries)
        self._whole.spend(units, queries=queries)

    def tick(self) -> None:
        self._whole.tick()
        if self.work >= self._most:
            raise OutOfTime("this part of the work is done")
