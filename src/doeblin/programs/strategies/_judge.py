"""What a verdict takes: a fresh solver for SAFE, a replay on the program for UNSAFE."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import z3

from ...linear import Dnf
from .._program import Program
from .._tunables import Tunables
from ..frontends.c import SIGNED_OVERFLOW
from ..learner import Knowledge, Listener, Progress
from ..solve import (
    FARTHEST,
    Budget,
    Failure,
    OutOfTime,
    Path,
    fails_on,
    recheck,
    replay_arrays,
    replay_clauses,
    replay_graph,
)
from ..system import Havoc, shown_formula
from ..system.terms import Term, c_text, conj, float_text, said
from ..verdict import Invariant, Outcome, Verdict

_OPEN = (
    "too little is known here of floating point and its conversions for a proof, and no run was "
    "found that fails"
)


@dataclass(frozen=True)
class Request:
    """How somebody wants a program to be verified."""

    method: str = "default"
    seed: int = 0
    hints: Sequence[str] = ()
    notify: Listener = lambda news: None
    tunables: Tunables = field(default_factory=Tunables)

    @property
    def lemmas(self) -> bool:
        """The paper's chains are on their own."""
        return self.method in ("default", "portfolio")


class Judge:
    """Says the verdicts on a program, within a budget."""

    def __init__(self, program: Program, budget: Budget, request: Request, progress: Progress):
        self.program = program
        self.budget = budget
        self.request = request
        self.progress = progress
        self.notify = request.notify
        self._doubtful = False
        self._doubted = ""  # why a failure that was found is not said

    def decide(self, work: Callable[[], Verdict | None]) -> Verdict:
        """The verdict that the work comes to, or why it came to none."""
        budget = self.budget
        try:
            self.program.prepare(budget.tick)
            return work() or self.unknown("no strategy came to a verdict")
        except OutOfTime as reason:
            return self.unknown(self._explain(str(reason)))
        except z3.Z3Exception as error:
            # An interrupt can surface in any call of the solver's.
            try:
                budget.tick()
            except OutOfTime as reason:
                return self.unknown(self._explain(str(reason)))
            return self.unknown(f"the solver failed: {said(error)}")
        except RecursionError:
            return self.unknown("unsupported: nesting this deep")
        except MemoryError:
            return self.unknown("out of memory")

    def _explain(self, reason: str) -> str:
        if self._doubted and reason != "cancelled":
            return f"{reason}; {self._doubted}"
        if self.progress.gave_up and reason != "cancelled":
            return f"{reason}; the solver gave up on a condition ({self.progress.gave_up})"
        return reason

    def unknown(self, reason: str) -> Verdict:
        return self._verdict(Outcome.UNKNOWN, reason)

    def safe(self, found: Sequence[Term], by: str) -> Verdict:
        """SAFE, if a fresh solver agrees that these invariants are a proof."""
        system = self.program.system
        terms = [conj((cut.facts(), term)) for cut, term in zip(system.cuts, found, strict=True)]
        refusal = recheck(system, terms, self.budget)
        if refusal is not None:
            said = f"the final re-check did not confirm the proof ({refusal})"
            if system.floating:  # what was proposed is often no more than a question
                said = _OPEN
            return self.unknown(self._doubted or said)
        invariants = []
        for cut, term, full in zip(system.cuts, found, terms, strict=True):
            shown = dict(zip(cut.variables, cut.shown, strict=True))
            alone = {s for s in cut.shown if s and cut.shown.count(s) == 1}
            shown = {n: s if s in alone else n for n, s in shown.items()}
            text = shown_formula(term, cut.cells, partial(_in_c, shown))
            invariants.append(Invariant(cut.name, cut.place, full, text, cut.block))
        self.progress.by = by
        return self._verdict(Outcome.SAFE, "", invariants=tuple(invariants), proved=self.program)

    def essential(self, knowledge: Knowledge, formulas: list[list[Dnf]]) -> list[list[Dnf]]:
        """What of a proof is needed; notes which sources that is from."""
        found = knowledge.teacher.essential(formulas)
        origins = [
            knowledge.origins[cut].get(dnf) for cut, dnfs in enumerate(found) for dnf in dnfs
        ]
        self.progress.sources = tuple(sorted({name for name in origins if name is not None}))
        return found

    def unsafe(self, path: Path) -> Verdict:
        """UNSAFE, if the program really fails on this path."""
        program = self.program
        failure: Failure | None
        exact = program.ints in ("overflow", "bounded")
        if sum(path.turns) > FARTHEST and program.graph is not None and not exact:
            self._doubtful = True
            return self.unknown(
                f"a failure was found after {sum(path.turns)} turns of loops, too many to replay"
            )
        if program.graph is not None and program.interpreter is not None:
            failure = replay_graph(
                program.graph, program.interpreter, program.exact, path, self.budget.tick
            )
        elif program.given is not None and program.exact is not program.system:
            failure = replay_arrays(program.given, path, self.budget)
        else:
            failure = replay_clauses(program.system, path)
        if failure is None:
            self._doubtful = True
            return self.unknown("a failure was found but could not be replayed")
        if (doubt := self._doubt(failure)) is not None:
            self._doubted = doubt
            return self.unknown(doubt)
        reason = "the failure condition is reachable"
        if failure.run is None:
            inputs = [pair for fact in failure.facts for pair in fact.listed()]
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

    def _described(self, inputs: Sequence[tuple[Havoc, int]]) -> tuple[tuple[str, int | str], ...]:
        graph = self.program.graph
        found: list[tuple[str, int | str]] = []
        for havoc, value in inputs:
            shown = graph.shown(havoc.name) if graph else ""
            what = f"{havoc.call}()" if havoc.call else shown
            if havoc.cell is not None:
                what = f"{shown}[{havoc.cell}]"
            bits = graph.bits(havoc.name) if graph else None
            told = value if bits is None else float_text(value, bits)
            found.append((f"{what} at {havoc.place}", told))
        return tuple(found)

    def _doubt(self, failure: Failure) -> str | None:
        """Why a failure is none of the compiled program's, if it is not."""
        machine = self.program.machine
        if (rough := _rough(failure)) is not None:
            unknown = (
                f"what '{rough.call}' returns ({rough.place}), of which only the type is known"
            )
            if rough.origin == "inner":
                by = f"'{rough.call}'" if rough.call else "a function without a body"
                unknown = f"what {by} leaves in a static variable ({rough.place})"
            elif rough.call is None:
                unknown = f"where two objects are in memory ({rough.place})"
            return f"a failure was found, but it may depend on {unknown}"
        if failure.run is None or failure.run.failure is None or machine is None:
            return None
        if self.program.ints in ("overflow", "bounded"):
            return None  # it was the machine that failed
        inputs = [value for _, value in failure.run.inputs]
        found = fails_on(machine, inputs, self.budget.tick)
        if found is not None and found.what == failure.run.failure.what:
            return None
        if found is not None and found.what == SIGNED_OVERFLOW:
            self._doubtful = True
            return (
                "the property fails, but only after a signed overflow, which C leaves undefined "
                f"({found.place}); --overflow makes that a failure"
            )
        return "a run fails on mathematical integers, and on C's it could not be confirmed"

    def _verdict(self, outcome: Outcome, reason: str, **more: object) -> Verdict:
        progress = self.progress
        return Verdict(
            outcome,
            self.program.file,
            reason,
            seconds=self.budget.seconds,
            rounds=progress.rounds,
            method=self.request.method,
            found_by=progress.by,
            sources=progress.sources if progress.by != "Spacer" else (),
            seed=self.request.seed,
            ints=self.program.ints,
            steps=progress.steps,
            search_seconds=progress.search_seconds,
            queries=self.budget.queries,
            doubtful=self._doubtful,
            **more,  # type: ignore[arg-type]
        )


def _in_c(shown: dict[str, str], term: Term) -> str:
    return c_text(term, lambda name: shown.get(name, name))


def _rough(failure: Failure) -> Havoc | None:
    """An input of the run that may not be possible."""
    if failure.run is None:
        return None
    parts = failure.run.law.parts if failure.run.law else ()
    inputs = [*failure.run.inputs, *(pair for part, _ in parts for pair in part)]
    return next((havoc for havoc, _ in inputs if havoc.origin in ("rough", "inner")), None)
