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

from .._program import Program
from ..frontends.c import SIGNED_OVERFLOW
from ..learner import Knowledge, Progress
from ..lemmas import QUICK
from ..solve import Budget, OutOfTime, Path, finish
from ..system import Fail, Graph, System, reachable
from ..system.terms import Term, conj, variables
from ..verdict import NO_OVERFLOW, Invariant, Outcome, Verdict
from ._judge import Judge, Request
from ._lemmas import Lemmas
from ._portfolio import Portfolio, subject_of

MATH_REMARK = "holds for mathematical integers"
LATE_REMARK = "stopped before signed overflow could be excluded"


def decide(program: Program, budget: Budget, request: Request) -> Verdict:
    """A verdict on a program, with the integers that it is read with."""
    if program.unsupported:
        return Judge(program, budget, request, Progress()).unknown(program.unsupported)
    if program.ints == "c":
        return InC(program, budget, request).decide()
    return _decide(Judge(program, budget, request, Progress()))


def _decide(judge: Judge, suggested: Sequence[Term] = ()) -> Verdict:
    return judge.decide(lambda: finish(Portfolio(judge, suggested).run()))


class InC:
    """A verdict on a C program as a compiler reads it."""

    def __init__(self, program: Program, budget: Budget, request: Request):
        self.program = program
        self.budget = budget
        self.request = request
        self.shares = request.tunables.shares
        self.progress = Progress()

    def decide(self) -> Verdict:
        remark, suggested = "", None
        graph = self.program.graph
        if graph is not None and graph.modular and graph.floating is None:
            found, suggested = self._on_math()
            if found is not None:
                return self._finished(found)
            remark = MATH_REMARK if suggested is not None else ""
        verdict = _decide(self._judge(self.program, self.budget), suggested or ())
        if verdict.doubtful and verdict.outcome is Outcome.UNKNOWN:
            bounded = self._judge(self.program.under("bounded"), self.budget)
            verdict = _decide(bounded, suggested or ())
        if verdict.outcome is Outcome.UNKNOWN and remark:
            return dataclasses.replace(verdict, remark=remark)
        return self._finished(dataclasses.replace(verdict, ints=self.program.ints))

    def _judge(self, program: Program, budget: Budget) -> Judge:
        return Judge(program, budget, self.request, self.progress)

    # ---- mathematical integers first

    def _on_math(self) -> tuple[Verdict | None, list[Term] | None]:
        """A verdict in C, if the one on mathematical integers is one; else invariants to try."""
        math = self.program.under("math")
        found = _decide(self._judge(math, self.budget.part(self.shares.math)))
        if found.outcome is Outcome.UNKNOWN or self.budget.over:
            return None, None
        if found.outcome is Outcome.UNSAFE:
            judge = self._judge(self.program, self.budget)
            path = Path.of_run([int(value) for _, value in found.inputs])
            verdict = judge.decide(lambda: judge.unsafe(path))
            return (verdict if verdict.outcome is Outcome.UNSAFE else None), None
        terms = None
        for reading in (self.program, self.program.under("bounded")):
            part = self.budget.part(self.shares.confirm)
            try:
                reading.prepare(part.tick)
            except OutOfTime:
                return None, terms
            moving = moved(found.invariants, math.system, reading.system)
            if moving is None:
                continue
            verdict = self._confirm(self._judge(reading, part), moving, found)
            if verdict.outcome is Outcome.SAFE:
                return dataclasses.replace(verdict, ints=self.program.ints), terms
            if reading is self.program:
                terms = moving
        return None, terms

    def _confirm(self, judge: Judge, invariants: Sequence[Term], found: Verdict) -> Verdict:
        """SAFE, if these invariants are a proof on another reading."""
        return judge.decide(lambda: judge.safe(invariants, found.found_by))

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
            part = self.budget.part(self.shares.overflow, reals=False)
            proof = self._without_overflow(strict, verdict, part)
            if isinstance(proof, Verdict):
                return dataclasses.replace(
                    verdict, seconds=self.budget.seconds, invariants=proof.invariants, proved=strict
                )
            if proof is not None and not proof.steps:
                remark = self._possible(strict, proof.prefix)
        except (OutOfTime, z3.Z3Exception, RecursionError):
            pass
        if not remark and self.budget.over:
            remark = LATE_REMARK
        return dataclasses.replace(
            verdict, seconds=self.budget.seconds, assumptions=assumed, remark=remark
        )

    def _without_overflow(
        self, strict: Program, verdict: Verdict, budget: Budget
    ) -> Verdict | Path | None:
        """The proof, with bounds that exclude overflow, or a way to one; None if neither is found
        at once."""
        assert verdict.proved is not None
        strict.prepare(budget.tick)
        known = moved(verdict.invariants, verdict.proved.system, strict.system)
        if known is None:
            return None
        judge = self._judge(strict, budget)
        direct = self._confirm(judge, known, verdict)
        whole = strict.exact is strict.system and not strict.system.floating
        if direct.outcome is Outcome.SAFE or not whole:
            return direct if direct.outcome is Outcome.SAFE else None
        # What is proved without overflow in mind holds on every run up to the first one.
        subject = subject_of(judge, with_facts(strict.system, known))
        knowledge = Knowledge(subject, budget, self.request.seed, self.request.tunables)
        knowledge.gather(quick=True)
        bounds = None
        if knowledge.failure is None:
            bounds = finish(Lemmas(knowledge, judge, QUICK).proof())
        if bounds is None:
            return knowledge.failure
        both = [conj(pair) for pair in zip(known, knowledge.terms(bounds), strict=True)]
        found = self._confirm(judge, both, verdict)
        return found if found.outcome is Outcome.SAFE else None

    def _possible(self, strict: Program, inputs: Sequence[int]) -> str:
        """Where a run that was seen overflows."""
        assert strict.interpreter is not None
        rest = iter(inputs)
        run = strict.interpreter.run(lambda havoc: next(rest, 0))
        if run.failure is None or run.failure.what != SIGNED_OVERFLOW:
            return ""
        if not run.inputs:  # every run is this one
            return f"every run ends in a signed overflow at {run.failure.place}"
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
        constraint = conj((*system.assumed(clause, facts), clause.constraint))
        clauses.append(dataclasses.replace(clause, constraint=constraint))
    return System(system.cuts, tuple(clauses))
