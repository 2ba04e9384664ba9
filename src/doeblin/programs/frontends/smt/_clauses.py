"""Asserted formulas as Horn clauses, and the clauses as a system."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain, product
from typing import Any

import z3

from ...._errors import Place
from ...system import System
from ...system.terms import WORDS, Term, array, compare, conj, const, disj, negate, var
from ...system.terms import variables as names_in
from ..c import Unsupported
from ._rules import Application, Predicate, Rule, clauses_of, name_formals, unique
from ._script import Script
from ._sexpr import Expression, Group, Symbol
from ._terms import Reader, of_cells, said_of_sort

_CASES = 500


@dataclass(frozen=True)
class _Case:
    """A conjunction: a constraint, predicates that hold, and predicates that do not."""

    constraint: tuple[Term, ...] = ()
    holds: tuple[Application, ...] = ()
    fails: tuple[Application, ...] = ()


class Clauses:
    """Collects predicates and clauses."""

    def __init__(self, script: Script):
        self.script = script
        self._universal: list[tuple[Any, str, str]] = []
        self._predicates: dict[int, Predicate] = {}
        self._rules: list[Rule] = []

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
        found = constant[0].arg(0)
        self._universal.append((found, found.decl().name(), found.sort().sexpr()))

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
        for constant, name, sort in self._universal:
            splitter.fresh(constant, name, sort)
        for case in splitter.cases(formula, False):
            if len(case.fails) > 1:
                raise Unsupported("a clause with several unknown conclusions", place)
            target = case.fails[0] if case.fails else None
            args = [arg for applied in (*case.holds, *case.fails) for arg in applied.args]
            constraint = conj((*splitter.facts(*case.constraint, *args), *case.constraint))
            if target is not None and constraint.constant and not constraint.leaf:
                continue  # it holds anyway
            known = (splitter.shown, splitter.booleans, splitter.arrays)
            self._rules.append(Rule(constraint, case.holds, target, place, *known))

    def system(self) -> System:
        for rule in self._rules:
            for side in (*rule.sources, *([rule.target] if rule.target else ())):
                name_formals(side, rule)
        for predicate in self._predicates.values():
            if not predicate.formals:  # never used
                predicate.formals = [f"a{i}" for i in range(len(predicate.booleans))]
                predicate.shown = list(predicate.formals)
        self._name_arrays()
        cuts = []
        names: set[str] = set()
        for predicate in self._predicates.values():
            name = unique(predicate.name, names)
            names.add(name)
            cuts.append(predicate.cut(name))
        made = [clause for rule in self._rules for clause in clauses_of(rule, self._cellular)]
        return System(tuple(cuts), tuple(made))

    def _name_arrays(self) -> None:
        """No name is an array's here and a number's there."""
        every = list(self._predicates.values())
        pairs = [(n, a) for p in every for n, a in zip(p.formals, p.arrays, strict=True)]
        numbers = {name for name, held in pairs if not held}
        for predicate in every:
            for i, held in enumerate(predicate.arrays):
                if held:
                    taken = {*numbers, *predicate.formals[:i], *predicate.formals[i + 1 :]}
                    predicate.formals[i] = unique(predicate.formals[i], taken)

    @property
    def _cellular(self) -> bool:
        """Are there arrays at all?"""
        held = any(any(predicate.arrays) for predicate in self._predicates.values())
        return held or any(rule.arrays for rule in self._rules)


def quoted(name: str) -> str:
    """The name as a symbol for Z3; it comes from a file, so it has neither bar nor backslash."""
    return f"|{name}|"


def check_sort(sort: Any, place: Place) -> None:
    if sort.kind() not in (z3.Z3_INT_SORT, z3.Z3_BOOL_SORT) and not of_cells(sort):
        raise Unsupported(said_of_sort(sort), place)


class _Splitter:
    """Takes one asserted formula apart. Its variables get names of letters and digits only, so
    that they cannot be confused with what the prover makes of names."""

    def __init__(self, predicates: dict[int, Predicate], place: Place):
        self.booleans: set[str] = set()
        self.arrays: set[str] = set()
        self.shown: dict[str, str] = {}
        self._taken = set(WORDS)
        self._predicates = predicates
        self._place = place
        self._read = Reader(place)
        self._mixed: dict[int, bool] = {}
        self._cases: dict[tuple[int, bool], list[_Case]] = {}
        self._kept: list[Any] = []

    def fresh(self, constant: Any, shown: str, sort: str) -> None:
        """A variable: the constant that stands for it, the name that it had, and its sort."""
        word = re.sub(r"\W", "_", shown, flags=re.ASCII)
        named = re.match(r"_*[A-Za-z]", word) and not word.startswith("bv")
        name = unique(word if named else f"v{word}", self._taken)
        self._taken.add(name)
        self.shown[name] = shown
        term = var(name)
        if sort == "Bool":
            self.booleans.add(name)
            term = compare("=", term, const(1))
        elif sort != "Int":
            self.arrays.add(name)
            term = array(name)
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
            applied = Application(predicate, tuple(self._read(a) for a in formula.children()))
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
            check_sort(sort, self._place)
            constant = z3.FreshConst(sort)
            self.fresh(constant, str(formula.var_name(number)), sort.sexpr())
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
