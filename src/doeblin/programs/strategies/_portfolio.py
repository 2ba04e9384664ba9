"""All strategies on one program: what comes first, what goes on beside it, who gets a turn when."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import z3

from .._hints import parse_hints
from ..learner import Knowledge, Note, Subject, accumulates, dnf_of, multiplies, with_products
from ..lemmas import EARLY, LATE, WIDE
from ..solve import Budget, OutOfTime, Pause, Turns
from ..system import System
from ..system.terms import TRUE, Term
from ..verdict import Verdict
from ._acceleration import Acceleration
from ._assertion import Assertion
from ._bounded import Bounded, unrolled
from ._cells import CellWise
from ._floats import Floating
from ._judge import Judge
from ._lemmas import Lemmas
from ._polynomials import POLYNOMIALS, Polynomials
from ._products import Products
from ._runs import LongRuns
from ._search import Search
from ._spacer import Spacer, SpacerAlone
from ._strategy import Strategy


class Portfolio:
    """A verdict on one reading of a program; `suggested` are formulas, one for each cut point, that
    may be of use."""

    def __init__(self, judge: Judge, suggested: Sequence[Term] = ()):
        self._judge = judge
        self._suggested = suggested
        self._sides: list[Turns[Verdict | None]] = []

    def run(self) -> Turns[Verdict | None]:
        judge = self._judge
        system, shares = judge.program.system, judge.request.tunables.shares
        if not any(clause.target is None for clause in system.clauses):
            return judge.safe([TRUE for _ in system.cuts], "no failure is reachable at all")
        graph = judge.program.graph
        if graph is not None and judge.program.exact.floating:
            if graph.procedures or system.cellular:
                beside = "recursion" if graph.procedures else "arrays"
                place = graph.floating
                return judge.unknown(f"unsupported: floating point beside {beside} at {place}")
            return (yield from Floating(judge).run())
        if judge.program.exact is not system:
            return (yield from CellWise(judge).run())
        if judge.request.method == "spacer":
            return (yield from SpacerAlone(judge).run())
        bounded = Bounded(judge, unrolled(system, judge.budget))
        if not system.cuts:
            found = bounded.look(1)
            if found is not None:
                return found
            if bounded.exhausted:
                return judge.unknown("the solver gave up on the only condition")
            return judge.safe([], "no loops")
        # The solver does not count well what it does with products.
        depth = shares.first_depth_of_products if multiplies(system) else shares.first_depth
        found = bounded.look(depth, shares.first_look)
        if found is not None:
            return found
        plans = {"default": shares.spacer, "portfolio": shares.spacer_as_partner}
        self._sides = [Acceleration(judge, bounded).run()]
        if not system.linear:
            self._sides = [bounded.run()]
            plans["default"] = shares.spacer_as_partner
        if judge.request.method in plans:
            self._sides.append(Spacer(judge, plans[judge.request.method]).run())
        return (yield from self._learn())

    def _learn(self) -> Turns[Verdict | None]:
        """Where the program multiplies variables, polynomial equations get a first part of the
        work, linear invariants another, and the rest goes to lemmas that may speak of products."""
        judge = self._judge
        system, budget = judge.program.system, judge.budget
        if not multiplies(system):
            return (yield from self._learn_in(system, budget))
        if self._algebra:
            units = judge.request.tunables.shares.polynomials
            algebra = Polynomials(judge, subject_of(judge, system, self._suggested), units)
            found = yield from self._beside(algebra, budget, [])
            if found is not None:
                return found
        try:
            part = budget.part(judge.request.tunables.shares.linear)
            return (yield from self._learn_in(system, part))
        except (OutOfTime, z3.Z3Exception):
            budget.tick()
        judge.notify(Note("products", "states now include products of variables"))
        return (yield from self._learn_in(with_products(system), budget))

    def _learn_in(self, system: System, budget: Budget) -> Turns[Verdict | None]:
        """One strategy after another, on what they come to know together."""
        judge = self._judge
        subject = subject_of(judge, system, self._suggested)
        knowledge = Knowledge(subject, budget, judge.request.seed, judge.request.tunables)
        patient = []  # they have a turn only where nothing is interrupted
        graph = subject.graph
        if graph is not None and graph.compilable and knowledge.runs is not None:
            patient = [LongRuns(judge, graph, knowledge.runs).run()]
        try:
            for strategy in self._plan(knowledge):
                found = yield from self._beside(strategy, budget, patient)
                if found is not None:
                    return found
        finally:
            judge.progress.gave_up = knowledge.teacher.gave_up
        return None

    @property
    def _algebra(self) -> bool:
        request = self._judge.request
        return request.lemmas and POLYNOMIALS not in request.tunables.lemmas.without

    def _plan(self, knowledge: Knowledge) -> Iterator[Strategy]:
        judge = self._judge
        yield Assertion(knowledge, judge)
        if judge.request.lemmas:
            yield Lemmas(knowledge, judge, EARLY)
            if len(knowledge.system.cuts) == 1:
                yield Search(knowledge, judge, knowledge.tunables.search.early)
            yield Lemmas(knowledge, judge, LATE)
            own = judge.program.system
            if knowledge.system is own and not multiplies(own) and accumulates(own):
                if self._algebra:
                    units = knowledge.tunables.shares.summing
                    yield Polynomials(judge, subject_of(judge, own, self._suggested), units)
                wide = subject_of(judge, with_products(own), self._suggested)
                yield Products(judge, wide)
            yield Lemmas(knowledge, judge, WIDE)
        yield Search(knowledge, judge)

    def _beside(
        self,
        strategy: Strategy,
        budget: Budget,
        patient: list[Turns[Verdict | None]],
    ) -> Turns[Verdict | None]:
        """A strategy, and a turn for others whenever it pauses; the first verdict counts."""
        midst = self._judge.request.tunables.shares.midst
        work = strategy.run()
        while True:
            try:
                pause = next(work)
            except StopIteration as end:
                return end.value
            if pause is Pause.MIDST and budget.work <= midst:
                continue
            sides = (self._sides, patient) if pause is Pause.NOTHING else (self._sides,)
            for group in sides:
                for side in list(group):
                    try:
                        next(side)
                    except StopIteration as end:
                        if end.value is not None:
                            work.close()
                            return end.value
                        group.remove(side)
            yield pause


def subject_of(judge: Judge, system: System, suggested: Sequence[Term] = ()) -> Subject:
    """A system of the judge's program, with all that is suggested of its invariants."""
    program = judge.program
    hints = parse_hints(program, judge.request.hints, system)
    for cut, mine, term in zip(system.cuts, hints, suggested, strict=False):
        parts = term.args if term.op == "and" else (term,)
        found = [dnf_of(part, cut.variables) for part in parts]
        mine += [dnf for dnf in found if dnf and all(dnf)]
    return Subject(system, program.graph, program.interpreter, hints)
