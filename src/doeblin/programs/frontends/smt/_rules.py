"""Clauses as they are asserted, and what becomes of them in a system."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import z3

from ...._errors import Place
from ...system import Bank, Clause, Cut, Input, Premise
from ...system.terms import Term, array, as_int, compare, conj, postorder, substitute, var
from ...system.terms import variables as names_in
from ..c import Unsupported
from ._cases import TooMany, cases
from ._terms import of_cells

_FREE = (None, None)


@dataclass(eq=False)
class Predicate:
    """An unknown, as declared. `formals` are the variables of its cut point."""

    name: str
    decl: Any
    place: Place
    index: int
    somewhere: str  # as a formula: it holds for some arguments
    formals: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    named: int = 0  # how many of the formals are names from the file

    @property
    def booleans(self) -> list[bool]:
        return [self.decl.domain(i).kind() == z3.Z3_BOOL_SORT for i in range(self.decl.arity())]

    @property
    def flags(self) -> list[bool]:
        """Of each formal that is no array: is it a Bool?"""
        pairs = zip(self.booleans, self.arrays, strict=True)
        return [flag for flag, held in pairs if not held]

    @property
    def arrays(self) -> list[bool]:
        return [of_cells(self.decl.domain(i)) for i in range(self.decl.arity())]

    def cut(self, name: str) -> Cut:
        """The place in a system that needs an invariant for it."""
        each = list(zip(self.formals, self.shown, self.booleans, self.arrays, strict=True))
        return Cut(
            name,
            tuple(formal for formal, _, _, held in each if not held),
            tuple(shown for _, shown, _, held in each if not held),
            tuple((0, 1) if flag else _FREE for _, _, flag, held in each if not held),
            self.place,
            arrays=tuple(
                Bank(formal, *_FREE, _FREE, shown, shown) for formal, shown, _, held in each if held
            ),
            formals=tuple(self.formals) if any(self.arrays) else (),
        )


@dataclass(frozen=True)
class Application:
    predicate: Predicate
    args: tuple[Term, ...]


@dataclass(frozen=True)
class Rule:
    """A clause, still in its own variables; `booleans` are those that are 0 or 1."""

    constraint: Term
    sources: tuple[Application, ...]
    target: Application | None
    place: Place
    shown: dict[str, str]
    booleans: set[str]
    arrays: set[str]


def unique(name: str, taken: Iterable[str]) -> str:
    """The name, with a number where it is taken."""
    found, number = name, 1
    while found in taken:
        number += 1
        found = f"{name}_{number}"
    return found


def _variable(term: Term, booleans: set[str]) -> str | None:
    """The variable that an argument is, if it is one (a Bool is `variable = 1`)."""
    if not term.boolean:
        return term.leaf if term.op in ("var", "array") else None
    if term.op == "=" and term.args[0].op == "var" and term.args[0].leaf in booleans:
        return term.args[0].leaf if term.args[1].constant and term.args[1].leaf == 1 else None
    return None


def name_formals(side: Application, rule: Rule) -> None:
    """Names for a predicate's variables: those of the use that has most of them."""
    predicate = side.predicate
    found = [_variable(arg, rule.booleans) for arg in side.args]
    names = [name for name in dict.fromkeys(found) if name is not None]
    if predicate.formals and len(names) <= predicate.named:
        return
    formals: list[str] = []
    for number, name in enumerate(found):
        if name is None or name in formals:
            name = unique(f"a{number}", {*formals, *names})
        formals.append(name)
    predicate.formals, predicate.named = formals, len(names)
    predicate.shown = [rule.shown.get(name, name) for name in formals]


def clauses_of(rule: Rule, cellular: bool) -> Iterator[Clause]:
    """The rule as a clause; where there are arrays, one for each of its cases."""
    used: dict[str, Term] = {}  # what the rule's variables are called in the clause
    equations: list[tuple[Term, Term]] = []
    premises: list[Premise] = []
    taken: set[str] = set()
    for source in rule.sources:
        names, banks = [], []
        each = zip(source.predicate.formals, source.args, source.predicate.arrays, strict=True)
        for formal, arg, held in each:
            new = unique(formal, taken)
            taken.add(new)
            own = array(new) if held else var(new)
            (banks if held else names).append(new)
            name = _variable(arg, rule.booleans)
            if name is not None and name not in used:
                used[name] = own
            else:
                equations.append((own, arg))
        premises.append(Premise(source.predicate.index, tuple(names), tuple(banks)))
    args = rule.target.args if rule.target else ()
    states = set(taken)
    everything = names_in(rule.constraint, *(arg for _, arg in equations), *args)
    # In the order of the file: what a name is must not matter.
    for name in (name for name in rule.shown if name in everything - used.keys()):
        new = unique(name, taken)
        taken.add(new)
        used[name] = array(new) if name in rule.arrays else var(new)
    equal = [compare("=", own, as_int(substitute(arg, used))) for own, arg in equations]
    constraint = conj((substitute(rule.constraint, used), *equal))
    ends = [as_int(substitute(arg, used)) for arg in args]
    target = rule.target.predicate if rule.target else None
    if not cellular:
        inputs = tuple(Input(term.leaf) for term in used.values() if term.leaf not in states)
        index = target.index if target else None
        yield Clause(tuple(premises), constraint, index, tuple(ends), inputs, rule.place)
        return
    flags = {used[name].leaf for name in rule.booleans if name in used}
    flags |= {
        name
        for source, premise in zip(rule.sources, premises, strict=True)
        for name, flag in zip(premise.names, source.predicate.flags, strict=True)
        if flag
    }
    order = [term.leaf for term in used.values() if term.leaf not in states]
    try:
        for case in cases(constraint, ends, states, flags):
            yield _clause(conj(case.constraint), case.terms, premises, states, order, rule)
    except TooMany:
        raise Unsupported("a clause of very many cases beside arrays", rule.place) from None


def _clause(
    constraint: Term,
    ends: tuple[Term, ...],
    premises: list[Premise],
    states: set[str],
    order: list[str],
    rule: Rule,
) -> Clause:
    """A case of a rule."""
    target = rule.target.predicate if rule.target else None
    held = target.arrays if target else []
    nodes = postorder(constraint, *ends)
    free = {node.leaf: node.op for node in nodes if node.op in ("var", "array")}
    names = [name for name in order if name in free]
    names += [name for name in free if name not in {*names, *states}]
    banks = [name for name in names if free[name] == "array"]
    return Clause(
        tuple(premises),
        constraint,
        target.index if target else None,
        tuple(end for end, flag in zip(ends, held, strict=True) if not flag),
        tuple(Input(name) for name in names if free[name] == "var"),
        rule.place,
        banks=tuple(Bank(name, *_FREE, _FREE, name, name) for name in banks),
        arrays=tuple(end for end, flag in zip(ends, held, strict=True) if flag),
    )
