"""The last word on SAFE: a fresh solver, the original clauses, nothing kept from the search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import z3

from ..system import System
from ..system.terms import Term, Translator, conj, negate, said, substitute
from ._budget import Budget


@dataclass(frozen=True, slots=True)
class Obligation:
    """A formula that must be unsatisfiable, and what it says."""

    says: str
    formula: Term


def obligations(system: System, invariants: Sequence[Term]) -> list[Obligation]:
    """Start, step and failure conditions of the invariants, one for each clause."""
    found = []
    for clause in system.clauses:
        premise = [clause.constraint, *system.assumed(clause, invariants)]
        if clause.target is not None:
            cut = system.cuts[clause.target]
            renamed = dict(zip(cut.variables, clause.args, strict=True))
            premise.append(negate(substitute(invariants[clause.target], renamed)))
        names = [system.cuts[premise.cut].name for premise in clause.premises]
        source = " and ".join(names) or "the start"
        if clause.target is None:
            says = f"no failure from {source}"
        else:
            says = f"from {source} the invariant of {system.cuts[clause.target].name} holds"
        found.append(Obligation(says, conj(premise)))
    return found


def recheck(system: System, invariants: Sequence[Term], budget: Budget) -> str | None:
    """None when every obligation is confirmed, else the one that is not, with the reason."""
    context = budget.context()
    for obligation in obligations(system, invariants):
        solver = z3.Solver(ctx=context)
        solver.set("ctrl_c", False)
        solver.add(Translator(context)(obligation.formula))
        try:
            answer = budget.ask(solver)
        except z3.Z3Exception as error:
            answer = said(error)
        if answer != "unsat":
            budget.tick()
            return f"{obligation.says}: {answer}"
    return None
