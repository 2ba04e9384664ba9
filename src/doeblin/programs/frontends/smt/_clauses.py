"""Asserted formulas as Horn clauses, and the clauses as a system."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain, product
from typing import Any

import z3

from ...._errors import Place
from ...system import Clause, Cut, Input, Premise, System
from ...system.terms import WORDS, Term, as_int, compare, conj, const, disj, negate, substitute, var
from ...system.terms import variables as names_in
from ..c import Unsupported
from ._script import Script
from ._sexpr import Expression, Group, Symbol
from ._terms import Reader

_CASES = 500


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


@dataclass(frozen=True)
class _Application:
    predicate: Predicate
    args: tuple[Term, ...]


@dataclass(frozen=True)
class _Case:
    """A conjunction: a constraint, predicates that hold, and predicates that do not."""

    constraint: tuple[Term, ...] = ()
    holds: tuple[_Application, ...] = ()
    fails: tuple[_Application, ...] = ()


@dataclass(frozen=True)
class _Rule:
    """A clause, still in its own variables; `booleans` are those that are 0 or 1."""

    constraint: Term
    sources: tuple[_Application, ...]
    target: _Application | None
    place: Place
    shown: dict[str, str]
    booleans: set[str]


class Clauses:
    """Collects predicates and clauses."""

    def __init__(self, script: Script):
        self.script = script
        self._universal: list[Any] = []
        self._predicates: dict[int, Predicate] = {}
        self._rules: list[_Rule] = []

    def declare(self, name: Symbol, sorts: Group) -> None:
        """An unknown predicate with these sorts."""
        self._declare(name, [self.script.part(sort) for sort in sorts])
        decl = next(reversed(self._predicates.values())).decl
        for number, sort in enumerate(sorts):
            check_sort(decl.domain(number), sort.place)

    def _declare(self, name: Symbol, sorts: list[str]) -> None:
        names = [unique(f"x{number}", {name}) for number in range(len(sorts))]
        binders = " ".join(f"({n} {sort})" for n, sort in zip(names, sorts, strict=True))
        applied = f"({quoted(name)} {' '.join(names)})" if names else quoted(name)
        somewhere = f"(exists ({binders}) {applied})" if names else applied
        declaration = f"(declare-fun {quoted(name)} ({' '.join(sorts)}) Bool)"
        found = self.script.take(f"{declaration}(assert {somewhere})", name)[0]
        decl = (found.body() if z3.is_quantifier(found) else found).decl()
        index = len(self._predicates)
        self._predicates[decl.get_id()] = Predicate(name, decl, name.place, index, somewhere)

    def universal(self, name: Symbol, sort: Expression) -> None:
        """A variable of which every clause is for all values."""
        text = f"(declare-const {quoted(name)} {self.script.part(sort)})"
        constant = self.script.take(f"{text}(assert (= {quoted(name)} {quoted(name)}))", sort)
        check_sort(constant[0].arg(0).sort(), sort.place)
        self._universal.append(constant[0].arg(0))

    def refuse(self, item: Expression, place: Place) -> None:
        """The formula, or a predicate by its name, must never hold."""
        text = self.script.part(item)
        for predicate in self._predicates.values():
            if isinstance(item, Symbol) and predicate.name == item:
                text = predicate.somewhere
        head = "(assert (not "
        self.require(self.script.take(f"{head}{text}))", item, len(head))[0], place)

    def require(self, formula: Any, place: Place) -> None:
        """The formula must hold: every way in which it could fail is a clause."""
        splitter = _Splitter(self._predicates, place)
        for constant in self._universal:
            splitter.fresh(constant, constant.decl().name())
        for case in splitter.cases(formula, False):
            if len(case.fails) > 1:
                raise Unsupported("a clause with several unknown conclusions", place)
            target = case.fails[0] if case.fails else None
            args = [arg for applied in (*case.holds, *case.fails) for arg in applied.args]
            constraint = conj((*splitter.facts(*case.constraint, *args), *case.constraint))
            if target is not None and constraint.constant and not constraint.leaf:
                continue  # it holds anyway
            rule = _Rule(constraint, case.holds, target, place, splitter.shown, splitter.booleans)
            self._rules.append(rule)

    def system(self) -> System:
        for rule in self._rules:
            for side in (*rule.sources, *([rule.target] if rule.target else ())):
                _name_formals(side, rule)
        cuts = []
        names: set[str] = set()
        for predicate in self._predicates.values():
            if not predicate.formals:  # never used
                predicate.formals = [f"a{i}" for i in range(len(predicate.booleans))]
                predicate.shown = list(predicate.formals)
            name = unique(predicate.name, names)
            names.add(name)
            cuts.append(
                Cut(
                    name,
                    tuple(predicate.formals),
                    tuple(predicate.shown),
                    tuple((0, 1) if b else (None, None) for b in predicate.booleans),
                    predicate.place,
                )
            )
        return System(tuple(cuts), tuple(_clause(rule) for rule in self._rules))


def quoted(name: str) -> str:
    """The name as a symbol for Z3; it comes from a file, so it has neither bar nor backslash."""
    return f"|{name}|"


def check_sort(sort: Any, place: Place) -> None:
    if sort.kind() not in (z3.Z3_INT_SORT, z3.Z3_BOOL_SORT):
        raise Unsupported(f"the sort {sort.sexpr()}", place)


def unique(name: str, taken: Iterable[str]) -> str:
    """The name, with a number where it is taken."""
    found, number = name, 1
    while found in taken:
        number += 1
        found = f"{name}_{number}"
    return found


class _Splitter:
    """Takes one asserted formula apart. Its variables get names of letters and digits only, so
    that they cannot be confused with what the prover makes of names."""

    def __init__(self, predicates: dict[int, Predicate], place: Place):
        self.booleans: set[str] = set()
        self.shown: dict[str, str] = {}
        self._taken = set(WORDS)
        self._predicates = predicates
        self._place = place
        self._read = Reader(place)
        self._mixed: dict[int, bool] = {}
        self._cases: dict[tuple[int, bool], list[_Case]] = {}
        self._kept: list[Any] = []

    def fresh(self, constant: Any, shown: str) -> None:
        """A variable: the constant that stands for it, and the name that it had."""
        check_sort(constant.sort(), self._place)
        word = re.sub(r"\W", "_", shown, flags=re.ASCII)
        named = re.match(r"_*[A-Za-z]", word) and not word.startswith("bv")
        name = unique(word if named else f"v{word}", self._taken)
        self._taken.add(name)
        self.shown[name] = shown
        term = var(name)
        if constant.sort().kind() == z3.Z3_BOOL_SORT:
            self.booleans.add(name)
            term = compare("=", term, const(1))
        self._read.bind(constant, term)

    def facts(self, *terms: Term) -> list[Term]:
        """What the sorts of the variables of these terms say."""
        used = names_in(*terms) & self.booleans
        names = [var(name) for name in self.shown if name in used]
        return [compare("<=", a, b) for n in names for a, b in ((const(0), n), (n, const(1)))]

    def cases(self, formula: Any, wanted: bool) -> list[_Case]:
        """The formula, or its negation, as a disjunction."""
        key = (formula.get_id(), wanted)
        if key not in self._cases:
            self._kept.append(formula)
            found = self._split(formula, wanted)
            if len(found) > _CASES:
                raise Unsupported(f"a formula of more than {_CASES} cases", self._place)
            self._cases[key] = found
        return self._cases[key]

    def _split(self, formula: Any, wanted: bool) -> list[_Case]:
        if not self._is_mixed(formula):
            term = self._read(formula)
            return [_Case((term if wanted else negate(term),))]
        if z3.is_quantifier(formula):
            return self._quantified(formula, wanted)
        predicate = self._predicates.get(formula.decl().get_id())
        if predicate is not None:
            applied = _Application(predicate, tuple(self._read(a) for a in formula.children()))
            return [_Case(holds=(applied,)) if wanted else _Case(fails=(applied,))]
        kind, parts = formula.decl().kind(), formula.children()
        if kind == z3.Z3_OP_NOT:
            return self.cases(parts[0], not wanted)
        if kind in (z3.Z3_OP_AND, z3.Z3_OP_OR):
            signed = [(part, wanted) for part in parts]
            return self._all(signed) if (kind == z3.Z3_OP_AND) == wanted else self._any(signed)
        if kind == z3.Z3_OP_IMPLIES:
            signed = [(parts[0], not wanted), (parts[1], wanted)]
            return self._any(signed) if wanted else self._all(signed)
        if kind == z3.Z3_OP_ITE:
            test, yes, no = parts
            return [
                *self._all([(test, True), (yes, wanted)]),
                *self._all([(test, False), (no, wanted)]),
            ]
        equal = kind in (z3.Z3_OP_EQ, z3.Z3_OP_IFF)
        differ = kind in (z3.Z3_OP_XOR, z3.Z3_OP_DISTINCT)
        if (equal or differ) and len(parts) == 2 and z3.is_bool(parts[0]):
            same = equal == wanted
            return [
                *self._all([(parts[0], True), (parts[1], same)]),
                *self._all([(parts[0], False), (parts[1], not same)]),
            ]
        self._read(formula)  # which says what is in the way
        raise Unsupported("an unknown predicate inside this formula", self._place)

    def _quantified(self, formula: Any, wanted: bool) -> list[_Case]:
        if formula.is_lambda() or formula.is_exists() != wanted:
            raise Unsupported("a quantifier here", self._place)
        constants = []
        for number in range(formula.num_vars()):
            sort = formula.var_sort(number)
            constant = z3.FreshConst(sort)
            self.fresh(constant, str(formula.var_name(number)))
            constants.append(constant)
        return self.cases(z3.substitute_vars(formula.body(), *reversed(constants)), wanted)

    def _all(self, signed: list[tuple[Any, bool]]) -> list[_Case]:
        found = [_Case()]
        for part, wanted in signed:
            pairs = product(found, self.cases(part, wanted))
            found = [_both(a, b) for a, b in pairs]
            if len(found) > _CASES:
                raise Unsupported(f"a formula of more than {_CASES} cases", self._place)
        return found

    def _any(self, signed: list[tuple[Any, bool]]) -> list[_Case]:
        found = list(chain.from_iterable(self.cases(*part) for part in signed))
        plain = [case for case in found if not (case.holds or case.fails)]
        if len(plain) < 2:
            return found
        rest = [case for case in found if case.holds or case.fails]
        return [_Case((disj(conj(case.constraint) for case in plain),)), *rest]

    def _is_mixed(self, formula: Any) -> bool:
        """Does it mention an unknown predicate or have a quantifier?"""
        stack = [(formula, False)]
        while stack:
            node, ready = stack.pop()
            key = node.get_id()
            if key in self._mixed:
                continue
            children = [] if z3.is_var(node) else node.children()
            if z3.is_quantifier(node) or (
                z3.is_app(node) and node.decl().get_id() in self._predicates
            ):
                self._mixed[key] = True
            elif ready:
                self._mixed[key] = any(self._mixed[child.get_id()] for child in children)
            else:
                stack.append((node, True))
                stack += [(child, False) for child in children]
        self._kept.append(formula)
        return self._mixed[formula.get_id()]


def _both(first: _Case, second: _Case) -> _Case:
    return _Case(
        tuple(dict.fromkeys((*first.constraint, *second.constraint))),
        tuple(dict.fromkeys((*first.holds, *second.holds))),
        tuple(dict.fromkeys((*first.fails, *second.fails))),
    )


def _variable(term: Term, booleans: set[str]) -> str | None:
    """The variable that an argument is, if it is one (a Bool is `variable = 1`)."""
    if not term.boolean:
        return term.leaf if term.op == "var" else None
    if term.op == "=" and term.args[0].op == "var" and term.args[0].leaf in booleans:
        return term.args[0].leaf if term.args[1].constant and term.args[1].leaf == 1 else None
    return None


def _name_formals(side: _Application, rule: _Rule) -> None:
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


def _clause(rule: _Rule) -> Clause:
    used: dict[str, Term] = {}  # what the rule's variables are called in the clause
    equalities: list[tuple[str, Term]] = []
    premises: list[Premise] = []
    taken: set[str] = set()
    for source in rule.sources:
        names = []
        for formal, arg in zip(source.predicate.formals, source.args, strict=True):
            names.append(unique(formal, taken))
            taken.add(names[-1])
            name = _variable(arg, rule.booleans)
            if name is not None and name not in used:
                used[name] = var(names[-1])
            else:
                equalities.append((names[-1], arg))
        premises.append(Premise(source.predicate.index, tuple(names)))
    args = rule.target.args if rule.target else ()
    states = set(taken)
    everything = names_in(rule.constraint, *(arg for _, arg in equalities), *args)
    # In the order of the file: what a name is must not matter.
    for name in (name for name in rule.shown if name in everything - used.keys()):
        new = unique(name, taken)
        taken.add(new)
        used[name] = var(new)
    equations = [compare("=", var(f), as_int(substitute(arg, used))) for f, arg in equalities]
    return Clause(
        tuple(premises),
        conj((substitute(rule.constraint, used), *equations)),
        rule.target.predicate.index if rule.target else None,
        tuple(as_int(substitute(arg, used)) for arg in args),
        tuple(Input(term.leaf) for term in used.values() if term.leaf not in states),
        rule.place,
    )
