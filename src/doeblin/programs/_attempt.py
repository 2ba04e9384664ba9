"""One attempt at a program: what is tried, in which order, and what a verdict takes."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence

import z3

from ._hints import parse_hints
from ._methods import search_method
from ._program import Program
from ._spacer import spacer
from ._verdict import Invariant, Outcome, Verdict
from .c import SIGNED_OVERFLOW
from .flow import Havoc, System
from .learner import (
    Conflict,
    FailedRun,
    Learner,
    Listener,
    Note,
    Progress,
    dnf_of,
    multiplies,
    with_products,
    without_products,
)
from .output._c_text import c_text
from .proof import (
    FARTHEST,
    SECOND,
    Bounded,
    Clock,
    Failure,
    OutOfTime,
    Path,
    accelerate,
    all_term,
    fails_on,
    recheck,
    replay_clauses,
    replay_graph,
)
from .terms import TRUE, Term, conj, said

# When Spacer is asked for help, and for how much work; four times as late and as much from then on.
# In the portfolio it gets as much as all others.
_SPACER: dict[str, tuple[tuple[float, float], ...]] = {
    "default": ((1 * SECOND, 1 * SECOND), (5 * SECOND, 2.5 * SECOND)),
    "portfolio": ((0.1 * SECOND, 0.2 * SECOND), (0.6 * SECOND, 0.6 * SECOND)),
}
_FIRST_LOOK = 0.3 * SECOND  # for failures within a few steps
_LINEAR = 1.2 * SECOND  # for linear invariants, where the program multiplies variables


class Attempt:
    """A program, a clock, and how far the proof has come."""

    def __init__(
        self,
        program: Program,
        clock: Clock,
        method: str,
        seed: int,
        notify: Listener,
        progress: Progress | None = None,
    ):
        self.program = program
        self.clock = clock
        self.method = method
        self.seed = seed
        self.notify = notify
        self.progress = progress or Progress()
        self.doubtful = False
        self._suggested: Sequence[Term] | None = None
        self.queries = 0
        self.bounded_work = 0.0
        self.accelerated = False
        self.asked = 0
        self.gave_up: str | None = None

    def run(self, hints: Sequence[str], suggested: Sequence[Term] | None = None) -> Verdict:
        """A verdict; `suggested` are formulas, one for each cut point, that may be of use."""
        if self.program.unsupported:
            return self._verdict(Outcome.UNKNOWN, self.program.unsupported)
        self._suggested = suggested
        return self._guarded(lambda: self._decide(hints))

    def confirm(self, invariants: Sequence[Term], by: str) -> Verdict:
        """SAFE, if these invariants are a proof."""
        return self._guarded(lambda: self._safe(invariants, by))

    def confirm_failure(self, inputs: Sequence[int]) -> Verdict:
        """UNSAFE, if the program fails on these inputs."""
        return self._guarded(lambda: self._unsafe(Path((), tuple(inputs), 1 << 60)))

    def bounds(self, system: System) -> list[Term] | None:
        """Invariants of a system of this program's, if lemmas that cost little suffice."""
        learner = self._learner(system, (), self.clock)
        learner.aside = lambda: None
        try:
            found = learner.quick()
        finally:
            self.queries += learner.conditions.queries
        if found is None:
            return None
        return [all_term(f, cut.variables) for f, cut in zip(found, system.cuts, strict=True)]

    def _guarded(self, work: Callable[[], Verdict]) -> Verdict:
        """The verdict that the work comes to, or why it came to none."""
        try:
            self.program.prepare(self.clock.tick)
            return work()
        except OutOfTime as reason:
            return self._verdict(Outcome.UNKNOWN, self._explain(str(reason)))
        except z3.Z3Exception as error:
            # An interrupt can surface in any call of the solver's.
            try:
                self.clock.tick()
            except OutOfTime as reason:
                return self._verdict(Outcome.UNKNOWN, self._explain(str(reason)))
            return self._verdict(Outcome.UNKNOWN, f"the solver failed: {said(error)}")
        except RecursionError:
            return self._verdict(Outcome.UNKNOWN, "unsupported: nesting this deep")
        except MemoryError:
            return self._verdict(Outcome.UNKNOWN, "out of memory")

    def _explain(self, reason: str) -> str:
        if self.gave_up and reason != "cancelled":
            return f"{reason}; the solver gave up on a condition ({self.gave_up})"
        return reason

    def _decide(self, hints: Sequence[str]) -> Verdict:
        system = self.program.system
        if not any(clause.target is None for clause in system.clauses):
            return self._safe([TRUE for _ in system.cuts], "no failure is reachable at all")
        if self.method == "spacer":
            return self._spacer()
        self.bounded = Bounded(system, self.clock)
        units = _FIRST_LOOK if system.cuts else math.inf
        found = self._bounded_search(depth=8 if system.cuts else 1, units=units)
        if found is not None:
            return found
        if not system.cuts:
            if self.bounded.exhausted:
                return self._verdict(Outcome.UNKNOWN, "the solver gave up on the only condition")
            return self._safe([], "no loops")
        return self._learn(hints, self.clock)

    def _learn(self, hints: Sequence[str], clock: Clock) -> Verdict:
        """The loop; where the program multiplies variables, linear invariants get a first part of
        the work, and the rest goes to invariants that may speak of products."""
        system = self.program.system
        if not multiplies(system):
            return self._learn_in(system, hints, clock)
        try:
            return self._learn_in(system, hints, clock.part(_LINEAR))
        except (OutOfTime, z3.Z3Exception):
            clock.tick()
        self.notify(Note("products", "states now include products of variables"))
        return self._learn_in(with_products(system), hints, clock)

    def _learner(self, system: System, hints: Sequence[str], clock: Clock) -> Learner:
        program = self.program
        given = parse_hints(program, hints, system)
        for cut, mine, term in zip(system.cuts, given, self._suggested or (), strict=False):
            parts = term.args if term.op == "and" else (term,)
            found = [dnf_of(part, cut.variables) for part in parts]
            mine += [dnf for dnf in found if dnf and all(dnf)]
        return Learner(
            system,
            clock,
            lambda: search_method(self.method),
            random.Random(self.seed),
            graph=program.graph,
            interpreter=program.interpreter,
            lemmas=self.method in ("default", "portfolio"),
            hints=given,
            progress=self.progress,
            notify=self.notify,
            aside=self._aside,
        )

    def _learn_in(self, system: System, hints: Sequence[str], clock: Clock) -> Verdict:
        learner = self._learner(system, hints, clock)
        try:
            invariants = learner.run()
        except _Decided as decided:
            return decided.verdict
        except FailedRun as failed:
            return self._unsafe(Path((), failed.inputs, 1 << 60))
        except Conflict as conflict:
            return self._unsafe(conflict.path)
        finally:
            self.queries += learner.conditions.queries
            self.gave_up = learner.teacher.gave_up
        if invariants is None:
            return self._verdict(Outcome.UNKNOWN, "the templates are exhausted")
        terms = [
            without_products(all_term(formulas, wide.variables), wide)
            for formulas, wide in zip(invariants, system.cuts, strict=True)
        ]
        return self._safe(terms, self.progress.by)

    # ---- verdicts

    def _safe(self, found: Sequence[Term], by: str) -> Verdict:
        """SAFE, if a fresh solver agrees."""
        system = self.program.system
        terms = [conj((cut.facts(), term)) for cut, term in zip(system.cuts, found, strict=True)]
        refusal = recheck(system, terms, self.clock)
        if refusal is not None:
            return self._verdict(
                Outcome.UNKNOWN, f"the final re-check did not confirm the proof ({refusal})"
            )
        invariants = []
        for cut, term, full in zip(system.cuts, found, terms, strict=True):
            shown = dict(zip(cut.variables, cut.shown, strict=True))
            shown = {n: s if list(shown.values()).count(s) == 1 else n for n, s in shown.items()}
            text = c_text(term, lambda n, shown=shown: shown.get(n, n))
            invariants.append(Invariant(cut.name, cut.place, full, text, cut.block))
        self.progress.by = by
        return self._verdict(Outcome.SAFE, "", invariants=tuple(invariants), proved=self.program)

    def _unsafe(self, path: Path) -> Verdict:
        """UNSAFE, if the program really fails on this path."""
        program = self.program
        failure: Failure | None
        exact = program.ints in ("overflow", "bounded")
        if sum(path.turns) > FARTHEST and program.graph is not None and not exact:
            self.doubtful = True
            return self._verdict(
                Outcome.UNKNOWN,
                f"a failure was found after {sum(path.turns)} turns of loops, too many to replay",
            )
        if program.graph is not None and program.interpreter is not None:
            failure = replay_graph(
                program.graph, program.interpreter, program.system, path, self.clock.tick
            )
        else:
            failure = replay_clauses(program.system, path)
        if failure is None:
            self.doubtful = True
            return self._verdict(Outcome.UNKNOWN, "a failure was found but could not be replayed")
        if (doubt := self._doubt(failure)) is not None:
            return self._verdict(Outcome.UNKNOWN, doubt)
        reason = "the failure condition is reachable"
        if failure.run is None:
            inputs = [
                (f"{name}.{key}", value)
                for name, values in failure.states
                for key, value in values.items()
            ]
            return self._verdict(Outcome.UNSAFE, reason, failure=failure, inputs=tuple(inputs))
        law = failure.run.law.parts if failure.run.law else ()
        fail = failure.run.failure
        return self._verdict(
            Outcome.UNSAFE,
            f"{fail.what} at {fail.place}" if fail is not None else reason,
            failure=failure,
            inputs=self._described(failure.run.inputs),
            law=tuple((self._described(part), times) for part, times in law if part),
        )

    def _described(self, inputs: Sequence[tuple[Havoc, int]]) -> tuple[tuple[str, int], ...]:
        found = []
        for havoc, value in inputs:
            variable = self.program.graph.variables[havoc.name] if self.program.graph else None
            what = f"{havoc.call}()" if havoc.call else (variable.shown if variable else "")
            found.append((f"{what} at {havoc.place}", value))
        return tuple(found)

    def _doubt(self, failure: Failure) -> str | None:
        """Why a failure is none of the compiled program's, if it is not."""
        machine = self.program.machine
        if failure.run is None or failure.run.failure is None or machine is None:
            return None
        if self.program.ints in ("overflow", "bounded"):
            return None  # it was the machine that failed
        inputs = [value for _, value in failure.run.inputs]
        found = fails_on(machine, inputs, self.clock.tick)
        if found is not None and found.what == failure.run.failure.what:
            return None
        if found is not None and found.what == SIGNED_OVERFLOW:
            self.doubtful = True
            return (
                "the property fails, but only after a signed overflow, which C leaves undefined "
                f"({found.place}); --overflow makes that a failure"
            )
        return "the property fails on mathematical integers, but not on C's"

    def _verdict(self, outcome: Outcome, reason: str, **more: object) -> Verdict:
        return Verdict(
            outcome,
            self.program.file,
            reason,
            seconds=self.clock.seconds,
            rounds=self.progress.rounds,
            method=self.method,
            found_by=self.progress.by,
            seed=self.seed,
            ints=self.program.ints,
            steps=self.progress.steps,
            search_seconds=self.progress.search_seconds,
            queries=self.queries,
            **more,  # type: ignore[arg-type]
        )

    # ---- other ways

    def _bounded_search(self, depth: int, units: float) -> Verdict | None:
        until = self.clock.work + units
        while self.bounded.depth < depth and not self.bounded.exhausted:
            before = self.clock.work
            if before >= until:
                return None
            path = self.bounded.deepen(until - before)
            self.bounded_work += self.clock.work - before
            if path is not None:
                verdict = self._unsafe(path)
                return verdict if verdict.outcome is Outcome.UNSAFE else None
            if not self.program.system.cuts:
                return None
        return None

    def _deepen(self) -> None:
        """Bounded search on the side: about a sixth of the work so far.

        Here loops may be taken many times at once, so all depths are looked at anew.
        """
        share = self.clock.work / 6 - self.bounded_work
        if not self.accelerated:
            self.accelerated = True
            system, base = accelerate(self.program.system, self.clock)
            if base:
                self.bounded = Bounded(system, self.clock, base)
                share = max(share, 0.2 * SECOND)
        until = self.clock.work + share
        while (left := until - self.clock.work) > 0.02 * SECOND:
            before = self.clock.work
            path = self.bounded.deepen(left)
            self.bounded_work += self.clock.work - before
            if path is not None:
                raise Conflict(path)

    def _aside(self) -> None:
        """What shares the time with the learner."""
        self._deepen()
        if self.method in _SPACER:
            self._ask_spacer()

    def _ask_spacer(self) -> None:
        """Spacer is at its best where the search is not: many variables, few disjunctions."""
        plan = _SPACER[self.method]
        after, most = plan[min(self.asked, len(plan) - 1)]
        later = 4 ** max(0, self.asked - len(plan) + 1)
        if self.clock.work < later * after:
            return
        self.asked += 1
        try:
            answer = spacer(self.program.system, self.clock.part(later * most))
        except (OutOfTime, z3.Z3Exception):
            self.clock.tick()
            return
        if isinstance(answer, list):
            verdict = self._safe(answer, "Spacer")
            if verdict.outcome is not Outcome.UNKNOWN:
                raise _Decided(verdict)

    def _spacer(self) -> Verdict:
        """Z3's own engine for the same clauses; its proof is re-checked like any other."""
        answer = spacer(self.program.system, self.clock)
        if isinstance(answer, str):
            return self._verdict(Outcome.UNKNOWN, answer)
        if answer is not None:
            return self._safe(answer, "Spacer")
        self.bounded = Bounded(self.program.system, self.clock)
        found = self._bounded_search(depth=10_000, units=math.inf)
        return found or self._verdict(
            Outcome.UNKNOWN, "Spacer says unsafe, but no failure could be replayed in time"
        )


class _Decided(Exception):
    """The attempt has come to its end in the midst of another one's work."""

    def __init__(self, verdict: Verdict):
        super().__init__(verdict.outcome.value)
        self.verdict = verdict
