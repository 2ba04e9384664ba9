"""Many turns of a loop in one step, so that bounded search reaches deep failures.

One way through a loop's body, on which every variable moves by a constant or follows those that do,
can be taken k times at once: the guards are linear, so they hold on all turns if they hold on the
first, the second and the last. Such steps are a part of what the program can do, never more.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import z3

from ..system import Clause, System
from ..system.terms import (
    Term,
    Translator,
    add,
    compare,
    conj,
    const,
    fold,
    mul,
    negate,
    node_value,
    postorder,
    rebuild,
    sub,
    substitute,
    var,
)
from ._budget import SECOND, Budget

_WAYS = 6


class Accelerated(NamedTuple):
    """The system with further clauses at its end; `base` gives the clause each repeats."""

    system: System
    base: dict[int, int]


def accelerate(system: System, budget: Budget, *, units: float = SECOND / 2) -> Accelerated:
    """Add a clause for each way through a loop that can be taken many times at once."""
    until = budget.work + units
    context = budget.context()
    clauses, base = list(system.clauses), {}
    for index, clause in enumerate(system.clauses):
        if len(clause.premises) != 1 or clause.source != clause.target:
            continue
        for way in _ways(system, clause, context, budget):
            made = _repeated(system, clause, way, f"#turns{len(clauses)}")
            if made is not None:
                base[len(clauses)] = index
                clauses.append(made)
            if budget.work > until:
                return Accelerated(System(system.cuts, tuple(clauses)), base)
    return Accelerated(System(system.cuts, tuple(clauses)), base)


def _ways(system: System, clause: Clause, context: Any, budget: Budget) -> Iterator[_Way]:
    """Different ways through a clause."""
    assert clause.source is not None
    translate = Translator(context)
    solver = budget.solver(context)
    solver.add(translate(clause.constraint), translate(system.cuts[clause.source].facts()))
    names = [*system.cuts[clause.source].variables, *clause.names()]
    for _ in range(_WAYS):
        if budget.ask(solver, 0.3 * SECOND) != "sat":
            return
        model = solver.model()
        values = {}
        for name in names:
            value: Any = model.eval(translate.constant(name), model_completion=True)
            values[name] = value.as_long() if z3.is_int_value(value) else 0
        try:
            way = _Way(clause, values)
        except RecursionError:
            return
        yield way
        solver.add(z3.Not(translate(conj(way.literals))))


class _Way:
    """What a state decides on its way: comparisons without `ite`, each true in the state."""

    def __init__(self, clause: Clause, values: dict[str, int]):
        self._values: dict[int, Any] = {}
        for node in postorder(clause.constraint, *clause.args):
            args = [self._values[id(arg)] for arg in node.args]
            self._values[id(node)] = node_value(node, args, values)
        self._found: dict[str, Term] = {}
        self._take(clause.constraint, True)
        self.args = [self._plain(arg) for arg in clause.args]
        self.literals = list(self._found.values())

    def _add(self, literal: Term) -> None:
        if not literal.constant:
            self._found.setdefault(repr(literal), literal)

    def _take(self, term: Term, wanted: bool) -> None:
        """Add comparisons that make the term true (or false) as it is in the state."""
        if term.constant:
            return
        if term.op == "not":
            self._take(term.args[0], not wanted)
        elif term.op in ("and", "or"):
            deciding = [arg for arg in term.args if bool(self._values[id(arg)]) == wanted]
            for arg in deciding if (term.op == "and") == wanted else deciding[:1]:
                self._take(arg, wanted)
        elif term.op == "ite":
            self._take(self._choice(term), wanted)
        elif term.args[0].boolean:
            for arg in term.args:
                self._take(arg, bool(self._values[id(arg)]))
        else:
            left, right = (self._plain(arg) for arg in term.args)
            if wanted or term.op != "=":
                found = compare(term.op, left, right)
                self._add(found if wanted else negate(found))
            else:
                a, b = (self._values[id(arg)] for arg in term.args)
                self._add(compare("<" if a < b else ">", left, right))

    def _choice(self, term: Term) -> Term:
        holds = bool(self._values[id(term.args[0])])
        self._take(term.args[0], holds)
        return term.args[1 if holds else 2]

    def _plain(self, term: Term) -> Term:
        """The term without `ite`, as it is on this way."""
        if not term.args:
            return term
        if term.op == "ite":
            return self._plain(self._choice(term))
        args = [self._plain(arg) for arg in term.args]
        if term.op == "trem":
            # C's remainder repeats only as long as the sign stays.
            relation = ">=" if self._values[id(term.args[0])] >= 0 else "<="
            self._add(compare(relation, args[0], const(0)))
        return rebuild(term, args)


def _repeated(system: System, clause: Clause, way: _Way, name: str) -> Clause | None:
    """The clause that takes a way at least twice; None where turns do not add up simply."""
    assert clause.source is not None
    names = system.cuts[clause.source].variables
    slopes: dict[str, int] = dict.fromkeys(clause.names(), 0)
    followers: dict[str, Term] = {}
    for own, value in zip(names, way.args, strict=True):
        step = _cancelled(sub(value, var(own)), own)
        if step is not None:
            slopes[own] = step
        else:
            followers[own] = value
    moving = dict(slopes)
    for own, value in followers.items():
        slope = _slope(value, moving)
        if slope is None:
            return None
        slopes[own] = slope
    literals = way.literals
    for literal in literals:
        comparison = literal.args[0] if literal.op == "not" else literal
        if _slope(sub(*comparison.args), slopes) is None:
            return None
    turns = var(name)

    def after(count: Term) -> dict[str, Term]:
        """The state after so many turns, one at least."""
        before = {n: add(var(n), mul(const(d), sub(count, const(1)))) for n, d in moving.items()}
        state = {n: add(var(n), mul(const(d), count)) for n, d in moving.items()}
        return state | {n: substitute(value, before) for n, value in followers.items()}

    last = sub(turns, const(1))
    constraint = conj(
        (
            compare("<=", const(2), turns),
            *literals,
            *(substitute(literal, after(const(1))) for literal in literals),
            *(substitute(literal, after(last)) for literal in literals),
        )
    )
    end = after(turns)
    return Clause(
        clause.premises,
        constraint,
        clause.target,
        tuple(end[n] for n in names),
        clause.inputs,
        clause.place,
        turns=name,
    )


def _cancelled(step: Term, own: str) -> int | None:
    """The constant that `value - own` is, if it is one."""
    total, rest = 0, 0
    for item in step.args if step.op == "+" else (step,):
        if item.constant:
            total += item.leaf
        elif item.op == "var" and item.leaf == own:
            rest += 1
        elif item.op == "*" and item.args[0].constant and item.args[1].op == "var":
            if item.args[1].leaf != own:
                return None
            rest += item.args[0].leaf
        else:
            return None
    return total if rest == 0 else None


def _slope(term: Term, slopes: dict[str, int]) -> int | None:
    """By how much the term grows with each turn; None where that is not constant."""

    def combine(node: Term, args: list[int | None]) -> int | None:
        if node.op == "const":
            return 0
        if node.op == "var":
            return slopes.get(node.leaf)
        if None in args:
            return None
        if node.op == "+":
            return sum(a for a in args if a is not None)
        if not any(args):
            return 0
        if node.op == "*" and node.args[0].constant:
            return node.args[0].leaf * args[1]
        if node.op in ("mod", "trem") and node.args[1].constant and node.args[1].leaf:
            return 0 if args[0] is not None and args[0] % node.args[1].leaf == 0 else None
        return None

    return fold(term, combine)
