"""A claimed refutation of clauses with arrays, held against the clauses as they were read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import z3

from ..system import Clause, System
from ..system.terms import Contents, Term, Translator, array, evaluate, substitute, var
from ._budget import SECOND, Budget
from ._paths import Path
from ._replay import Fact, Failure

_MOST = 2 * SECOND


def replay_arrays(system: System, path: Path, budget: Budget) -> Failure | None:
    """The steps of a path on the original clauses, with what the arrays have in them: a fresh
    solver says what that is, and every instance is then evaluated without it."""
    clauses = [system.clauses[index] for index, _ in path.steps]
    if not clauses or any(turns != 1 for turns in path.turns):
        return None
    solver = _Asked(system, clauses, budget)
    values = solver.values([values for _, values in path.steps]) or solver.values(())
    return _checked(system, clauses, values) if values is not None else None


class _Asked:
    """The steps one after the other, in a solver of their own."""

    def __init__(self, system: System, clauses: list[Clause], budget: Budget):
        self._budget = budget
        self._translate = Translator(budget.context())
        self._solver = budget.solver(self._translate.context)
        self._names: list[dict[str, Term]] = []
        for number, clause in enumerate(clauses):
            mine = {name: var(f"{name}@{number}") for name in clause.names()}
            mine |= {bank.name: array(f"{bank.name}@{number}") for bank in clause.banks}
            if clause.source is not None:
                cut = system.cuts[clause.source]
                mine |= {name: var(f"{name}@{number}") for name in cut.variables}
                mine |= {bank.name: array(f"{bank.name}@{number}") for bank in cut.arrays}
            self._names.append(mine)
            self._solver.add(self._translate(substitute(clause.constraint, mine)))
            if number + 1 < len(clauses) and clause.target is not None:
                cut = system.cuts[clause.target]
                following = [var(f"{name}@{number + 1}") for name in cut.variables]
                following += [array(f"{bank.name}@{number + 1}") for bank in cut.arrays]
                for new, arg in zip(following, (*clause.args, *clause.arrays), strict=True):
                    value = self._translate(substitute(arg, mine))
                    self._solver.add(self._translate(new) == value)

    def values(self, given: Sequence[dict[str, int]]) -> list[dict[str, Any]] | None:
        """All variables of all steps, where numbers are as given."""
        solver = self._solver
        solver.push()
        try:
            for mine, known in zip(self._names, given, strict=False):
                for name, term in mine.items():
                    if term.op == "var" and name in known:
                        solver.add(self._translate(term) == known[name])
            if self._budget.ask(solver, _MOST) != "sat":
                return None
            model = solver.model()
            found = [
                {
                    name: _value(model.eval(self._translate(term), model_completion=True))
                    for name, term in mine.items()
                }
                for mine in self._names
            ]
            return None if any(v is None for one in found for v in one.values()) else found
        finally:
            solver.pop()


def _value(value: Any) -> int | Contents | None:
    """What a model says of a variable; None where that is no plain value."""
    if z3.is_int_value(value):
        return value.as_long()
    changes = []
    while z3.is_store(value):
        changes.append(value.children()[1:])
        value = value.arg(0)
    if not z3.is_const_array(value) or not z3.is_int_value(value.arg(0)):
        return None
    found = Contents(value.arg(0).as_long())
    for index, cell in reversed(changes):
        if not (z3.is_int_value(index) and z3.is_int_value(cell)):
            return None
        found = found.but(index.as_long(), cell.as_long())
    return found


def _checked(system: System, clauses: list[Clause], values: list[dict[str, Any]]) -> Failure | None:
    """A derivation, if it is one."""
    facts: list[Fact] = []
    state: dict[str, Any] = {}
    at: int | None = None
    for number, (clause, now) in enumerate(zip(clauses, values, strict=True)):
        if clause.source != at or any(now[name] != value for name, value in state.items()):
            return None
        if at is not None and not evaluate(system.cuts[at].facts(), now):
            return None
        origin = (number - 1,) if number else ()
        try:
            if not evaluate(clause.constraint, now, strict=True):
                return None
            ends = [evaluate(term, now, strict=True) for term in (*clause.args, *clause.arrays)]
        except ZeroDivisionError:  # which may give any value, so this shows nothing
            return None
        if clause.target is None:
            free = {item.name: now[item.name] for item in clause.inputs}
            facts.append(Fact("failure", free, origin, clause.place))
            return Failure(None, facts) if number == len(clauses) - 1 else None
        cut = system.cuts[clause.target]
        names = (*cut.variables, *(bank.name for bank in cut.arrays))
        shown = (*cut.shown, *(bank.variable for bank in cut.arrays))
        state, at = dict(zip(names, ends, strict=True)), clause.target
        told = [v.as_dict() if isinstance(v, Contents) else int(v) for v in ends]
        facts.append(Fact(cut.name, dict(zip(shown, told, strict=True)), origin, clause.place))
    return None
