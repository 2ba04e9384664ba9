"""C's integers: what is tried on which reading of a program, and what a verdict assumes.

A program is read in up to four ways. In `c`, unsigned arithmetic is exact and signed arithmetic has
no bounds: every run without signed overflow is a run there, so a proof holds for all of them. In
`math` unsigned sums have no bounds either, which makes proofs easy to find; they count only once
they are confirmed on `c`. In `overflow` a signed overflow is a failure, so a proof there assumes
nothing. And where `c` allows failures that only an overflow makes possible, a run of the fourth
reading ends at the first signed overflow.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import z3

from ._attempt import Attempt
from ._program import Program
from ._verdict import NO_OVERFLOW, Invariant, Outcome, Verdict
from .c import SIGNED_OVERFLOW
from .flow import Fail, Graph, System
from .flow._analysis import reachable
from .learner import Conflict, FailedRun, Listener, Progress
from .proof import SECOND, Clock, OutOfTime
from .terms import Term, conj, variables

_MATH = 3 * SECOND  # for a proof on mathematical integers
_CONFIRM = 1 * SECOND  # to confirm it on C's
_BOUNDS = 1 * SECOND  # to exclude signed overflow
MATH_REMARK = "holds for mathematical integers"


class InC:
    """A verdict on a C program as a compiler reads it."""

    def __init__(self, program: Program, clock: Clock, method: str, seed: int, notify: Listener):
        self.program = program
        self.clock = clock
        self.method = method
        self.seed = seed
        self.notify = notify
        self.progress = Progress()

    def run(self, hints: Sequence[str]) -> Verdict:
        remark, suggested = "", None
        if self.program.graph is not None and self.program.graph.modular:
            found, suggested = self._on_math(hints)
            if found is not None:
                return self._finished(found)
            remark = MATH_REMARK if suggested is not None else ""
        attempt = self._attempt(self.program, self.clock)
        verdict = attempt.run(hints, suggested)
        if attempt.doubtful and verdict.outcome is Outcome.UNKNOWN:
            verdict = self._attempt(self.program.under("bounded"), self.clock).run(hints, suggested)
        if verdict.outcome is Outcome.UNKNOWN and remark:
            return dataclasses.replace(verdict, remark=remark)
        return self._finished(dataclasses.replace(verdict, ints=self.program.ints))

    def _attempt(self, program: Program, clock: Clock) -> Attempt:
        return Attempt(program, clock, self.method, self.seed, self.notify, self.progress)

    # ---- mathematical integers first

    def _on_math(self, hints: Sequence[str]) -> tuple[Verdict | None, list[Term] | None]:
        """A verdict in C, if the one on mathematical integers is one; else invariants to try."""
        math = self.program.under("math")
        found = self._attempt(math, self.clock.part(_MATH)).run(hints)
        if found.outcome is Outcome.UNKNOWN or self.clock.over:
            return None, None
        attempt = self._attempt(self.program, self.clock)
        if found.outcome is Outcome.UNSAFE:
            verdict = attempt.confirm_failure([value for _, value in found.inputs])
            return (verdict if verdict.outcome is Outcome.UNSAFE else None), None
        terms = None
        for reading in (self.program, self.program.under("bounded")):
            part = self.clock.part(_CONFIRM)
            try:
                reading.prepare(part.tick)
            except OutOfTime:
                return None, terms
            moving = moved(found.invariants, math.system, reading.system)
            if moving is None:
                continue
            verdict = self._attempt(reading, part).confirm(moving, found.found_by)
            if verdict.outcome is Outcome.SAFE:
                return dataclasses.replace(verdict, ints=self.program.ints), terms
            if reading is self.program:
                terms = moving
        return None, terms

    # ---- signed overflow

    def _finished(self, verdict: Verdict) -> Verdict:
        """A proof states what it assumes, unless that can be proved as well."""
        if verdict.outcome is not Outcome.SAFE:
            return verdict
        if not (assumed := assumptions(self.program)):
            return verdict
        strict = self.program.under("overflow")
        remark = ""
        try:
            proof = self._without_overflow(strict, verdict, self.clock.part(_BOUNDS))
            if proof is not None:
                return dataclasses.replace(
                    verdict, seconds=self.clock.seconds, invariants=proof.invariants, proved=strict
                )
        except FailedRun as failed:
            remark = self._possible(strict, failed.inputs)
        except (Conflict, OutOfTime, z3.Z3Exception, RecursionError):
            pass
        return dataclasses.replace(
            verdict, seconds=self.clock.seconds, assumptions=assumed, remark=remark
        )

    def _without_overflow(self, strict: Program, verdict: Verdict, clock: Clock) -> Verdict | None:
        """The proof, with bounds that exclude overflow; None if these are not found at once."""
        assert verdict.proved is not None
        strict.prepare(clock.tick)
        known = moved(verdict.invariants, verdict.proved.system, strict.system)
        if known is None:
            return None
        attempt = self._attempt(strict, clock)
        direct = attempt.confirm(known, verdict.found_by)
        if direct.outcome is Outcome.SAFE:
            return direct
        # What is proved without overflow in mind holds on every run up to the first one.
        bounds = attempt.bounds(with_facts(strict.system, known))
        if bounds is None:
            return None
        both = [conj(pair) for pair in zip(known, bounds, strict=True)]
        found = attempt.confirm(both, verdict.found_by)
        return found if found.outcome is Outcome.SAFE else None

    def _possible(self, strict: Program, inputs: Sequence[int]) -> str:
        """Where a run that was seen overflows."""
        assert strict.interpreter is not None
        rest = iter(inputs)
        run = strict.interpreter.run(lambda havoc: next(rest, 0))
        if run.failure is None or run.failure.what != SIGNED_OVERFLOW:
            return ""
        return f"a signed overflow is possible at {run.failure.place}"


def assumptions(program: Program) -> tuple[str, ...]:
    """What a proof on this reading takes for granted."""
    if program.ints not in ("c", "bounded") or program.graph is None:
        return ()
    strict = program.under("overflow").graph
    return (NO_OVERFLOW,) if strict is not None and overflows(strict) else ()


def overflows(graph: Graph) -> bool:
    """Is there a place where a signed result might leave its type?"""
    ends = (graph.blocks[index].end for index in reachable(graph))
    return any(isinstance(end, Fail) and end.what == SIGNED_OVERFLOW for end in ends)


def moved(invariants: Sequence[Invariant], source: System, target: System) -> list[Term] | None:
    """Invariants of one reading as candidates for another; None where the loops differ."""
    if [cut.place for cut in source.cuts] != [cut.place for cut in target.cuts]:
        return None
    terms = []
    for invariant, old, new in zip(invariants, source.cuts, target.cuts, strict=True):
        known = {repr(part) for part in _parts(old.facts())}
        names = set(new.variables)
        terms.append(
            conj(
                part
                for part in _parts(invariant.formula)
                if variables(part) <= names and repr(part) not in known
            )
        )
    return terms


def _parts(term: Term) -> tuple[Term, ...]:
    return term.args if term.op == "and" else (term,)


def with_facts(system: System, facts: Sequence[Term]) -> System:
    """The system, knowing these facts at its cut points."""
    clauses = []
    for clause in system.clauses:
        constraint = clause.constraint
        if clause.source is not None:
            constraint = conj((facts[clause.source], constraint))
        clauses.append(dataclasses.replace(clause, constraint=constraint))
    return System(system.cuts, tuple(clauses))
