"""What of some facts a condition needs, asked one conclusion at a time."""

from __future__ import annotations

from collections.abc import Sequence

import z3

from ..solve import SECOND, Budget, solving
from ..system import Clause, Premise, System
from ..system.terms import Term, Translator, negate, substitute
from ._abstract import abstracted
from ._branches import Branch

_AT_ONCE = 0.03 * SECOND  # for what should be obvious
_PATIENCE = 0.25 * SECOND
_LITTLE_PATIENCE = 0.08 * SECOND


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
        solver.add(*(self._translate(abstracted(term)) for term in facts))
        solver.add(self._translate(abstracted(negate(fact))))
        return self._ask(solver, _AT_ONCE) == "unsat"

    def needs(
        self,
        clause: Clause,
        ways: Sequence[Branch] | None,
        facts: Sequence[Sequence[Term]],
        fact: Term | None,
        *,
        linear: bool = False,
        likely: bool = False,
        reals: bool = False,
    ) -> list[list[int]] | None:
        """Which facts at each cut take the clause to a fact (None: exclude the failure)? None if
        they do not, or if the solver cannot tell. It is asked of each way through the clause, if
        these are known; `linear`: whatever products are; `likely`: it is worth another
        try, and with `reals` a third one, which may take long."""
        found: list[set[int]] = [set() for _ in self.system.cuts]
        whole = ((clause.constraint, clause.args),)
        for constraint, args in whole if ways is None else ((w.constraint, w.terms) for w in ways):
            conditions = [constraint]
            if fact is not None:
                assert clause.target is not None
                names = self.system.cuts[clause.target].variables
                after = substitute(fact, dict(zip(names, args, strict=True)))
                conditions.append(negate(after))
            used = self._core(clause.premises, conditions, facts, linear, likely)
            if used is None and likely:
                used = self._solved(clause.premises, conditions, facts, reals)
            if used is None:
                return None
            for cut, number in used:
                found[cut].add(number)
        return [sorted(numbers) for numbers in found]

    def _core(
        self,
        premises: Sequence[Premise],
        conditions: Sequence[Term],
        facts: Sequence[Sequence[Term]],
        linear: bool,
        likely: bool,
    ) -> list[tuple[int, int]] | None:
        """Facts that exclude the conditions, if they do."""
        translate = (lambda t: self._translate(abstracted(t))) if linear else self._translate
        solver = self._budget.solver(self._context)
        solver.add(*map(translate, conditions))
        flags: dict[int, tuple[int, int]] = {}
        assumed: list[z3.BoolRef] = []
        for premise in premises:
            for number, term in enumerate(facts[premise.cut]):
                flag = z3.Bool(f"use!{len(assumed)}", self._context)
                solver.add(z3.Implies(flag, translate(self.system.at(premise, term))))
                flags[flag.get_id()] = (premise.cut, number)
                assumed.append(flag)
        patience = _PATIENCE if likely else _LITTLE_PATIENCE
        if self._ask(solver, patience, *assumed) != "unsat":
            return None
        core: list[z3.BoolRef] = list(solver.unsat_core())  # type: ignore[arg-type]
        return [flags[flag.get_id()] for flag in core]

    def _solved(
        self,
        premises: Sequence[Premise],
        conditions: Sequence[Term],
        facts: Sequence[Sequence[Term]],
        reals: bool,
    ) -> list[tuple[int, int]] | None:
        """The same with all facts at once, so that equations can be solved before anything else;
        then without those that turn out not to be needed, many at a time first."""
        used = [
            (premise.cut, number, self._translate(self.system.at(premise, term)))
            for premise in premises
            for number, term in enumerate(facts[premise.cut])
        ]
        given = [self._translate(term) for term in conditions]

        def excluded(formulas: Sequence[z3.BoolRef]) -> bool:
            for also in (False, True) if reals else (False,):
                solver = solving(self._context, reals=also)
                solver.add(*given, *formulas)
                answer = self._ask(solver, _PATIENCE)
                if answer != "unknown":
                    return answer == "unsat"
            return False

        if not excluded([formula for _, _, formula in used]):
            return None
        size = len(used)
        while size > 1:
            size = (size + 1) // 2
            start = 0
            while start < len(used):
                rest = used[:start] + used[start + size :]
                if excluded([formula for _, _, formula in rest]):
                    used = rest
                else:
                    start += size
        return [(cut, number) for cut, number, _ in used]

    def _ask(self, solver: z3.Solver, most: float, *assumed: z3.BoolRef) -> str:
        try:
            return self._budget.ask(solver, most, *assumed)
        except z3.Z3Exception:
            self._budget.tick()
            return "unknown"
