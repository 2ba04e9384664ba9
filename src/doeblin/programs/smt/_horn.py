"""SMT-LIB HORN (`.smt2`): linear constrained Horn clauses over Int and Bool."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..._errors import InputError, Place
from ..c import Unsupported
from ..flow import Clause, Cut, System
from ..terms import Term, as_int, compare, conj, negate, substitute, var, variables
from ._formula import Definitions, Environment, bind, variable
from ._sexpr import Expression, Group, Symbol, parse

_IGNORED = frozenset(
    {"set-logic", "set-option", "set-info", "check-sat", "get-model", "exit", "get-info",
     "get-proof"}
)  # fmt: skip


@dataclass
class _Predicate:
    name: str
    sorts: list[Expression]
    place: Place
    index: int
    formals: list[str] = field(default_factory=list)
    named: int = 0  # how many of the formals are names from the file


@dataclass
class _Rule:
    """A clause being taken apart."""

    place: Place
    constraints: list[Term] = field(default_factory=list)
    source: tuple[_Predicate, list[Term]] | None = None
    target: tuple[_Predicate, list[Term]] | None = None
    quantified: int = 0


class _Reader:
    def __init__(self) -> None:
        self.definitions = Definitions()
        self.predicates: dict[str, _Predicate] = {}
        self.rules: list[_Rule] = []
        self.globals: Environment = {}
        self.facts: list[Term] = []

    def command(self, command: Expression) -> None:
        if not isinstance(command, Group) or not command or not isinstance(command[0], Symbol):
            raise InputError("a command in parentheses is expected", place=command.place)
        name = command[0]
        if name in _IGNORED:
            return
        if name in ("declare-fun", "declare-rel", "declare-const"):
            self._declare(command)
        elif name == "declare-var" and len(command) == 3:
            term, fact = variable(str(command[1]), command[2])
            self.globals[str(command[1])] = term
            self.facts.append(fact)
        elif name == "define-fun" and len(command) == 5 and isinstance(command[2], Group):
            parameters = [(str(p[0]), str(p[1])) for p in command[2] if isinstance(p, Group)]
            self.definitions.define(str(command[1]), parameters, command[4])
        elif name in ("assert", "rule") and len(command) >= 2:
            rule = _Rule(command.place)
            rule.constraints += self.facts
            self._head(command[1], dict(self.globals), rule)
            self.rules.append(rule)
        elif name == "query" and len(command) >= 2:
            rule = _Rule(command.place)
            rule.constraints += self.facts
            self._body(command[1], dict(self.globals), rule)
            self.rules.append(rule)
        else:
            raise Unsupported(f"the command '{name}'", command.place)

    def _declare(self, command: Group) -> None:
        relation = command[0] == "declare-rel"
        if command[0] == "declare-const" or len(command) < (3 if relation else 4):
            raise Unsupported("declarations other than predicates", command.place)
        if not relation and command[3] != "Bool":
            raise Unsupported("functions that are no predicates", command.place)
        sorts = command[2]
        if not isinstance(sorts, Group):
            raise InputError("a list of sorts is expected", place=command.place)
        for sort in sorts:
            variable("x", sort)
        name = str(command[1])
        self.predicates[name] = _Predicate(
            name,
            list(sorts),
            command.place,
            len(self.predicates),
        )

    def _quantify(self, binders: Expression, names: Environment, rule: _Rule) -> Environment:
        inner = dict(names)
        if not isinstance(binders, Group):
            raise InputError("a list of variables is expected", place=binders.place)
        for item in binders:
            if not (isinstance(item, Group) and len(item) == 2):
                raise InputError("a variable is a name and a sort", place=item.place)
            name = str(item[0])
            if name in names:
                rule.quantified += 1
                unique = f"{name}.{rule.quantified}"
            else:
                unique = name
            inner[name], fact = variable(unique, item[1])
            rule.constraints.append(fact)
        return inner

    def _application(self, item: Expression, names: Environment) -> tuple | None:
        name = str(item[0]) if isinstance(item, Group) and item else str(item)
        if name not in self.predicates or name in names:
            return None
        predicate = self.predicates[name]
        args = (
            [self.definitions.term(a, names) for a in item[1:]] if isinstance(item, Group) else []
        )
        if len(args) != len(predicate.sorts):
            raise InputError(f"'{name}' takes {len(predicate.sorts)} arguments", place=item.place)
        return predicate, args

    def _head(self, item: Expression, names: Environment, rule: _Rule) -> None:
        """The asserted formula as a disjunction with at most one positive predicate."""
        op = item[0] if isinstance(item, Group) and item else None
        found = self._application(item, names)
        if found is not None:
            if rule.target is not None:
                raise Unsupported("a clause with two conclusions", item.place)
            rule.target = found
        elif isinstance(item, Group) and op == "forall":
            self._head(item[2], self._quantify(item[1], names, rule), rule)
        elif isinstance(item, Group) and op == "=>":
            for premise in item[1:-1]:
                self._body(premise, names, rule)
            self._head(item[-1], names, rule)
        elif isinstance(item, Group) and op == "or" and self._mentions(item):
            for part in item[1:]:
                self._head(part, names, rule)
        elif isinstance(item, Group) and op == "not":
            self._body(item[1], names, rule)
        elif isinstance(item, Group) and op == "let":
            self._head(item[2], bind(self.definitions, item, names), rule)
        elif isinstance(item, Group) and op == "!":
            self._head(item[1], names, rule)
        else:
            rule.constraints.append(negate(self.definitions.term(item, names)))

    def _body(self, item: Expression, names: Environment, rule: _Rule) -> None:
        op = item[0] if isinstance(item, Group) and item else None
        found = self._application(item, names)
        if found is not None:
            if rule.source is not None:
                raise Unsupported("a clause with two unknown premises (non-linear)", item.place)
            rule.source = found
        elif isinstance(item, Group) and op == "and":
            for part in item[1:]:
                self._body(part, names, rule)
        elif isinstance(item, Group) and op == "exists":
            self._body(item[2], self._quantify(item[1], names, rule), rule)
        elif isinstance(item, Group) and op == "let":
            self._body(item[2], bind(self.definitions, item, names), rule)
        elif (
            isinstance(item, Group)
            and op == "not"
            and isinstance(item[1], Group)
            and (item[1] and item[1][0] in ("or", "=>", "not") and self._mentions(item[1]))
        ):
            self._head(item[1], names, rule)
        elif self._mentions(item):
            raise Unsupported("an unknown predicate inside this formula", item.place)
        else:
            rule.constraints.append(self.definitions.term(item, names))

    def _mentions(self, item: Expression) -> bool:
        if isinstance(item, Symbol):
            return str(item) in self.predicates
        return any(self._mentions(part) for part in item)

    def system(self) -> System:
        for rule in self.rules:
            for side in (rule.source, rule.target):
                if side is not None and _named(side[1]) > side[0].named:
                    side[0].named = _named(side[1])
                    side[0].formals = _formals(*side)
        cuts = []
        for predicate in self.predicates.values():
            names = predicate.formals or [f"a{i}" for i in range(len(predicate.sorts))]
            predicate.formals = names
            ranges = tuple((0, 1) if s == "Bool" else (None, None) for s in predicate.sorts)
            cuts.append(Cut(predicate.name, tuple(names), tuple(names), ranges, predicate.place))
        return System(tuple(cuts), tuple(_clause(rule) for rule in self.rules))


def _name(term: Term) -> str | None:
    """The variable that an argument is, if it is one (a Bool is `variable = 1`)."""
    if term.op == "=" and term.args[0].op == "var" and term.args[1].constant:
        term = term.args[0]
    return term.leaf if term.op == "var" else None


def _named(args: list[Term]) -> int:
    return len({_name(arg) for arg in args} - {None})


def _formals(predicate: _Predicate, args: list[Term]) -> list[str]:
    names: list[str] = []
    for number, arg in enumerate(args):
        name = _name(arg)
        names.append(name if name and name not in names else f"{predicate.name}_{number}")
    return names


def _clause(rule: _Rule) -> Clause:
    constraints = list(rule.constraints)
    used: dict[str, Term] = {}
    formals: list[str] = []
    equalities: list[tuple[str, Term]] = []
    if rule.source is not None:
        predicate, args = rule.source
        formals = predicate.formals
        for formal, arg in zip(formals, args, strict=True):
            name = _name(arg)
            if name is not None and name not in used:
                used[name] = var(formal)
            else:
                equalities.append((formal, arg))
    everything = [*constraints, *(a for _, a in equalities)]
    target_args = list(rule.target[1]) if rule.target else []
    for name in sorted(variables(*everything, *target_args)):
        if name not in used:
            new = name
            while new in formals or any(t.leaf == new for t in used.values()):
                new += "'"
            used[name] = var(new)
    constraints = [substitute(c, used) for c in constraints]
    constraints += [
        compare("=", var(formal), as_int(substitute(arg, used))) for formal, arg in equalities
    ]
    args = tuple(as_int(substitute(arg, used)) for arg in target_args)
    inputs = sorted({t.leaf for t in used.values()} - set(formals))
    return Clause(
        rule.source[0].index if rule.source else None,
        conj(constraints),
        rule.target[0].index if rule.target else None,
        args,
        tuple(inputs),
        rule.place,
    )


def read_horn(text: str, file: str) -> System:
    """The clauses of a HORN file."""
    reader = _Reader()
    for command in parse(text, file):
        reader.command(command)
    if not reader.rules:
        raise InputError("there are no clauses", place=Place(file, 1, 1))
    return reader.system()
