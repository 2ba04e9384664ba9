"""Houdini on formulas that are terms, of integers and of floating point alike.

As in `_houdini.py`, candidates are dropped until the rest is preserved by every clause. Solvers
take their time with floating point, so of what remains only that is kept which a proof needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import z3

from ..solve import SECOND, Budget, Pause, Turns, eased, heedless
from ..system import Clause, System
from ..system.terms import Term, Translator, substitute

Item = tuple[int, int]  # a cut point, and the number of one of its candidates
_PATIENCE = 4 * SECOND  # with a question about all candidates
_ONE = 1 * SECOND  # with a question about one
_LESS = 0.3 * SECOND  # with one that only serves to leave something out


class TermHoudini:
    """The candidates of all cut points, and a solver for each clause."""

    def __init__(self, system: System, candidates: Sequence[Sequence[Term]], budget: Budget):
        self._system = system
        self._budget = budget
        self._candidates = candidates
        self._context = budget.context()
        self._translate = Translator(self._context)
        self._flags = [
            [z3.Bool(f"on!{cut}!{i}", self._context) for i in range(len(terms))]
            for cut, terms in enumerate(candidates)
        ]
        self._items = {
            flag.get_id(): (cut, i)
            for cut, flags in enumerate(self._flags)
            for i, flag in enumerate(flags)
        }
        self.on = [set(range(len(terms))) for terms in candidates]
        self._solvers = [self._solver(clause) for clause in system.clauses]
        self._goals = [
            self._concluded(clause, solver)
            for clause, solver in zip(system.clauses, self._solvers, strict=True)
        ]

    def _solver(self, clause: Clause) -> Any:
        self._budget.tick()
        solver = heedless(z3.Solver(ctx=self._context))
        solver.add(self._translate(clause.constraint))
        for premise in clause.premises:
            facts = self._system.cuts[premise.cut].facts()
            solver.add(self._translate(self._system.at(premise, facts)))
            for flag, term in zip(
                self._flags[premise.cut], self._candidates[premise.cut], strict=True
            ):
                said = self._translate(self._system.at(premise, term))
                solver.add(z3.Implies(flag, said))
        return solver

    def _concluded(self, clause: Clause, solver: Any) -> list[Any]:
        """What the candidates say of the state that a clause leads to; facts are added to ease the
        questions about it."""
        goals: list[Term] = []
        if clause.target is not None:
            names = dict(zip(self._system.cuts[clause.target].variables, clause.args, strict=True))
            goals = [substitute(term, names) for term in self._candidates[clause.target]]
        said = [
            self._system.at(premise, term)
            for premise in clause.premises
            for term in self._candidates[premise.cut]
        ]
        solver.add(*map(self._translate, eased(clause.constraint, *goals, *said)))
        return list(map(self._translate, goals))

    def _assumed(self, clause: Clause) -> list[Any]:
        cuts = dict.fromkeys(premise.cut for premise in clause.premises)
        return [self._flags[cut][i] for cut in cuts for i in sorted(self.on[cut])]

    def _ask(self, index: int, goals: Sequence[int], patience: float) -> str:
        """Can one of the goals, or (without any) the constraint, come out wrong? The solver stays
        pushed, for its model or core."""
        solver, clause = self._solvers[index], self._system.clauses[index]
        solver.push()
        if goals:
            wrong = [z3.Not(self._goals[index][i]) for i in goals]
            solver.add(wrong[0] if len(wrong) == 1 else z3.Or(*wrong, self._context))
        try:
            return self._budget.ask(solver, patience, *self._assumed(clause))
        except z3.Z3Exception:
            self._budget.tick()
            return "unknown"

    def prove(self) -> Turns[None]:
        """Drop candidates until the rest is preserved."""
        clauses = self._system.clauses
        steps = [i for i, clause in enumerate(clauses) if clause.target is not None]
        todo = sorted(steps, key=lambda i: bool(clauses[i].premises))
        while todo:
            index = todo.pop(0)
            target = clauses[index].target
            assert target is not None
            before = set(self.on[target])
            while self.on[target] and self._weaken(index, target):
                yield Pause.MIDST
            if self.on[target] != before:
                todo += [
                    i
                    for i in steps
                    if i not in todo and any(p.cut == target for p in clauses[i].premises)
                ]

    def _weaken(self, index: int, target: int) -> bool:
        """Drop what one model shows to be wrong; was there one?"""
        goals = sorted(self.on[target])
        solver = self._solvers[index]
        answer = self._ask(index, goals, _PATIENCE)
        try:
            if answer == "unsat":
                return False
            if answer == "sat":
                model = solver.model()
                wrong = {
                    i
                    for i in goals
                    if z3.is_false(model.eval(self._goals[index][i], model_completion=True))
                }
                self.on[target] -= wrong or set(goals)
                return True
        finally:
            solver.pop()
        for goal in goals:  # one by one, as far as the solver answers
            answer = self._ask(index, [goal], _ONE)
            solver.pop()
            if answer != "unsat":
                self.on[target].discard(goal)
        return False

    def proof(self) -> list[list[Term]] | None:
        """Of what is proved, as much as excludes every failure; None where all of it does not."""
        needed: set[Item] = set()
        clauses = self._system.clauses
        for index, clause in enumerate(clauses):
            if clause.target is None:
                core = self._core(index, [], _PATIENCE)
                if core is None:
                    return None
                needed |= core
        todo = list(needed)
        while todo:
            cut, number = todo.pop()
            for index, clause in enumerate(clauses):
                if clause.target == cut:
                    core = self._core(index, [number], _LESS)
                    if core is None:  # alone it is harder to prove: all of them, then
                        return [
                            [terms[i] for i in sorted(on)]
                            for terms, on in zip(self._candidates, self.on, strict=True)
                        ]
                    todo += core - needed
                    needed |= core
        return [
            [term for i, term in enumerate(terms) if (cut, i) in needed]
            for cut, terms in enumerate(self._candidates)
        ]

    def _core(self, index: int, goals: Sequence[int], patience: float) -> set[Item] | None:
        solver = self._solvers[index]
        answer = self._ask(index, goals, patience)
        try:
            if answer != "unsat":
                return None
            return {self._items[flag.get_id()] for flag in solver.unsat_core()}
        finally:
            solver.pop()
