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
_MOST_STEPS = 200


def replay_arrays(system: System, path: Path, budget: Budget) -> Failure | None:
    """The steps of a path on the original clauses, with what the arrays have in them: a fresh
    solver says what that is, and every instance is then evaluated without it."""
    if not path.steps or any(turns != 1 for turns in path.turns):
        return None
    built = [path.builds_on(number) for number in range(len(path.steps))]
    for number, before in enumerate(built):
        if any(not 0 <= step < number for step in before):
            return None
        premises = system.clauses[path.steps[number][0]].premises
        targets = [system.clauses[path.steps[step][0]].target for step in before]
        if targets != [premise.cut for premise in premises]:
            return None
    # Two premises that are alike in the cells that were looked at may be different arrays.
    for steps in filter(None, (list(enumerate(built)), _unfolded(built))):
        clauses = [system.clauses[path.steps[step][0]] for step, _ in steps]
        origins = [origin for _, origin in steps]
        solver = _Asked(clauses, origins, budget)
        values = solver.values([path.steps[step][1] for step, _ in steps]) or solver.values(())
        if values is not None:
            return _checked(system, clauses, origins, values)
    return None


def _unfolded(built: Sequence[tuple[int, ...]]) -> list[tuple[int, tuple[int, ...]]]:
    """The steps that the last one builds on, one for each time that it is built on; none if they
    are too many, or the same as before."""
    sizes: list[int] = []
    for before in built:
        sizes.append(1 + sum(sizes[step] for step in before))
    if not len(built) < sizes[-1] <= _MOST_STEPS:
        return []
    made: list[tuple[int, tuple[int, ...]]] = []

    def copied(step: int) -> int:
        origin = tuple(copied(before) for before in built[step])
        made.append((step, origin))
        return len(made) - 1

    copied(len(built) - 1)
    return made


class _Asked:
    """The steps, each after those that it builds on, in a solver of their own."""

    def __init__(self, clauses: list[Clause], built: list[tuple[int, ...]], budget: Budget):
        self._budget = budget
        self._translate = Translator(budget.context())
        self._solver = budget.solver(self._translate.context)
        self._names: list[dict[str, Term]] = []
        for number, clause in enumerate(clauses):
            mine = {name: var(f"{name}@{number}") for name in clause.names()}
            mine |= {bank.name: array(f"{bank.name}@{number}") for bank in clause.banks}
            for premise, step in zip(clause.premises, built[number], strict=True):
                state: list[Term] = [var(f"{name}@{number}") for name in premise.names]
                state += [array(f"{name}@{number}") for name in premise.arrays]
                mine |= zip((*premise.names, *premise.arrays), state, strict=True)
                before = clauses[step]
                for new, arg in zip(state, (*before.args, *before.arrays), strict=True):
                    value = self._translate(substitute(arg, self._names[step]))
                    self._solver.add(self._translate(new) == value)
            self._names.append(mine)
            self._solver.add(self._translate(substitute(clause.constraint, mine)))

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
                    name: model_of(model.eval(self._translate(term), model_completion=True))
                    for name, term in mine.items()
                }
                for mine in self._names
            ]
            return None if any(v is None for one in found for v in one.values()) else found
        finally:
            solver.pop()


def model_of(value: Any) -> int | Contents | None:
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


def _checked(
    system: System,
    clauses: list[Clause],
    built: list[tuple[int, ...]],
    values: list[dict[str, Any]],
) -> Failure | None:
    """A derivation, if it is one."""
    facts: list[Fact] = []
    heads: list[tuple[Any, ...]] = []  # what the steps conclude
    for number, (clause, now) in enumerate(zip(clauses, values, strict=True)):
        origin = built[number]
        for premise, step in zip(clause.premises, origin, strict=True):
            names = (*premise.names, *premise.arrays)
            if any(now[name] != v for name, v in zip(names, heads[step], strict=True)):
                return None
            if not evaluate(system.at(premise, system.cuts[premise.cut].facts()), now):
                return None
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
        heads.append(tuple(ends))
        names = (*cut.variables, *(bank.name for bank in cut.arrays))
        shown = (*cut.shown, *(bank.shown for bank in cut.arrays))
        told = [v.as_dict() if isinstance(v, Contents) else int(v) for v in ends]
        said = dict(zip(names, zip(shown, told, strict=True), strict=True))
        in_order = dict(said[name] for name in cut.formals or names)
        facts.append(Fact(cut.name, in_order, origin, clause.place))
    return None
