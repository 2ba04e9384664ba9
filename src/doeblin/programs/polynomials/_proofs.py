"""What of some facts a condition needs, asked one conclusion at a time."""

from __future__ import annotations

from collections.abc import Sequence

import z3

from ..solve import SECOND, Budget
from ..system import Clause, System
from ..system.terms import Term, Translator, negate, substitute
from ._linear import linearised

_AT_ONCE = 0.03 * SECOND  # for what should be obvious
_PATIENCE = 0.25 * SECOND


class Prover:
    """Asks whether a clause leads from facts to a fact."""

    def __init__(self, system: System, budget: Budget):
        self.system = system
        self._budget = budget
        self._context = budget.context()
        self._translate = Translator(self._context)

    def holds(self, facts: Sequence[Term], fact: Term) -> bool:
        """Do facts imply another, whatever products are?"""
        solver = self._budget.solver(self._context)
        solver.add(*(self._translate(linearised(term)) for term in facts))
        solver.add(self._translate(linearised(negate(fact))))
        return self._ask(solver, _AT_ONCE) == "unsat"

    def needs(
        self, clause: Clause, facts: Sequence[Sequence[Term]], fact: Term | None, linear: bool
    ) -> list[list[int]] | None:
        """Which facts at each cut take the clause to a fact (None: exclude the failure)? None if
        they do not, or if the solver cannot tell. `linear`: whatever products are."""
        translate = (lambda t: self._translate(linearised(t))) if linear else self._translate
        solver = self._budget.solver(self._context)
        solver.add(translate(clause.constraint))
        if fact is not None:
            assert clause.target is not None
            names = self.system.cuts[clause.target].variables
            after = substitute(fact, dict(zip(names, clause.args, strict=True)))
            solver.add(translate(negate(after)))
        flags: dict[int, tuple[int, int]] = {}
        assumed: list[z3.BoolRef] = []
        for premise in clause.premises:
            for number, term in enumerate(facts[premise.cut]):
                flag = z3.Bool(f"use!{len(assumed)}", self._context)
                formula = translate(self.system.at(premise, term))
                solver.add(z3.Implies(flag, formula))
                flags[flag.get_id()] = (premise.cut, number)
                assumed.append(flag)
        for reals in (False, True):
            # Without the reals' own procedure first: its work is not counted well.
            solver.set("arith.nl.nra", reals)
            answer = self._ask(solver, _PATIENCE, *assumed)
            if answer != "unknown" or linear:
                break
        if answer == "unsat":
            found: list[set[int]] = [set() for _ in self.system.cuts]
            for flag in solver.unsat_core():
                cut, number = flags[flag.get_id()]
                found[cut].add(number)
            return [sorted(numbers) for numbers in found]
        return None

    def _ask(self, solver: z3.Solver, most: float, *assumed: z3.BoolRef) -> str:
        try:
            return self._budget.ask(solver, most, *assumed)
        except z3.Z3Exception:
            self._budget.tick()
            return "unknown"
