"""Z3's Horn engine (Spacer) on the same clauses, as a peer and as a partner in the portfolio."""

from __future__ import annotations

from typing import Any

import z3

from ..._errors import Place
from ..frontends.c import Unsupported
from ..system import System
from ..system.terms import TRUE, Term, Translator, said, var
from ._budget import Budget, heedless


def spacer(
    system: System, budget: Budget, *, global_guidance: bool = True
) -> list[Term] | str | None:
    """Invariants when Spacer proves the system; None when it says unsafe; else its reason."""
    context = budget.context()
    translate = Translator(context)
    integer, boolean = z3.IntSort(context), z3.BoolSort(context)
    predicates = [
        z3.Function(f"inv{i}", *([integer] * len(cut.variables)), boolean)
        for i, cut in enumerate(system.cuts)
    ]
    solver = heedless(z3.SolverFor("HORN", ctx=context))
    if global_guidance:
        solver.set("fp.spacer.global", True)
    for clause in system.clauses:
        names = clause.names()
        body = [translate(clause.constraint)]
        for premise in clause.premises:
            names += premise.names
            state = [translate.constant(n) for n in premise.names]
            body.append(predicates[premise.cut](*state))
        head: Any = z3.BoolVal(False, context)
        if clause.target is not None:
            head = predicates[clause.target](*(translate(arg) for arg in clause.args))
        rule = z3.Implies(z3.And(*body, context), head)
        # The order decides how fast Spacer is; with this one it proves all that it proved before.
        bound = [translate.constant(n) for n in reversed(dict.fromkeys(names))]
        solver.add(z3.ForAll(bound, rule) if bound else rule)
    try:
        answer = budget.ask(solver)
    except z3.Z3Exception as error:
        budget.tick()
        return f"Spacer failed: {said(error)}"
    budget.tick()
    if answer == "unsat":
        return None
    if answer != "sat":
        return f"Spacer gave up: {solver.reason_unknown()}"
    model = solver.model()
    found = []
    for predicate, cut in zip(predicates, system.cuts, strict=True):
        variables = [translate.constant(n) for n in cut.variables]
        # No completion: it would give values to the variables, too.
        value = model.eval(predicate(*variables))
        if value.decl().eq(predicate):
            found.append(TRUE)  # Spacer simplified this predicate away; the re-check decides
            continue
        term = _read(value, variables, cut.variables)
        if term is None:
            return "Spacer's invariant has quantifiers, which cannot be re-checked here"
        found.append(term)
    return found


def _read(expression: Any, constants: list[Any], names: tuple[str, ...]) -> Term | None:
    """Z3's formula as a term, if it is one over these constants."""
    from ..frontends.smt import Reader  # most proofs do without

    reader = Reader(Place("<spacer>"))
    for constant, name in zip(constants, names, strict=True):
        reader.bind(constant, var(name))
    try:
        return reader(expression)
    except Unsupported:  # quantifiers, arrays
        return None
