"""The last word on SAFE: a fresh solver, the original clauses, nothing kept from the search."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import z3

from ..system import System
from ..system.terms import Term, Translator, conj, negate, postorder, said, substitute
from ._budget import SECOND, Budget, heedless
from ._easing import eased

_QUICK = 0.3 * SECOND  # for products: other solvers are often much faster


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
        if system.floating:
            premise += eased(*premise)
        found.append(Obligation(says, conj(premise)))
    return found


def recheck(system: System, invariants: Sequence[Term], budget: Budget) -> str | None:
    """None when every obligation is confirmed, else the one that is not, with the reason."""
    context = budget.context()
    quick = budget.part(math.inf, reals=False)
    for obligation in obligations(system, invariants):
        formula = Translator(context)(obligation.formula)
        answer = ""
        for made in (quick.solver, solving) if _multiplies(obligation.formula) else ():
            if answer != "unsat":
                answer = _answer(made(context), formula, budget, _QUICK)
        if answer != "unsat":
            answer = _answer(heedless(z3.Solver(ctx=context)), formula, budget, math.inf)
        if answer != "unsat":
            budget.tick()
            return f"{obligation.says}: {answer}"
    return None


def _answer(solver: z3.Solver, formula: z3.BoolRef, budget: Budget, most: float) -> str:
    solver.add(formula)
    try:
        return budget.ask(solver, most)
    except z3.Z3Exception as error:
        return said(error)


def solving(context: z3.Context, *, reals: bool = False) -> z3.Solver:
    """One that first solves equations and multiplies out, so that it sees identities; with the
    procedure for `reals`, if that is wanted."""
    first = [z3.Tactic(name, context) for name in ("simplify", "propagate-values", "solve-eqs")]
    expanded = z3.With(z3.Tactic("simplify", context), som=True)
    last = z3.With(z3.Tactic("smt", context), **{"arith.nl.nra": reals})
    return heedless(z3.Then(*first, expanded, last, ctx=context).solver())


def _multiplies(term: Term) -> bool:
    return any(
        node.op == "*" and not any(arg.constant for arg in node.args) for node in postorder(term)
    )
