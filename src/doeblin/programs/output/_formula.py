"""C conditions as ACSL formulas, where numbers are mathematical.

What C does silently is written down: a cast where a value is converted or an unsigned result wraps
around, a comparison with zero where a number stands for a truth. Every formula is then read as
annotations are, and must mean what the program's own graph says of that place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from pycparser import CParser, c_ast
from pycparser.c_parser import ParseError

from ..._errors import InputError, Place
from ..frontends.c import (
    BOOL,
    INT,
    CType,
    Formula,
    Names,
    NotUnderstood,
    Unsupported,
    clauses,
    common,
    integer_literal,
    promote,
    tokenize,
    type_of,
)
from ..solve import Budget
from ..system import Variable
from ..system.terms import Term, Translator, compare, conj, const, disj, negate, var, variables

_SECONDS, _WORK = 10.0, 1_000_000  # for the question whether one formula is right
_CHOICE, _OR, _AND, _EQUAL, _LESS, _SUM, _PRODUCT, _UNARY, _WHOLE = range(9)
_COMPARED = {"==": _EQUAL, "!=": _EQUAL, "<": _LESS, "<=": _LESS, ">": _LESS, ">=": _LESS}
_COMPUTED = {"+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "%": _PRODUCT}


class Untranslated(Exception):
    """A condition that has no faithful form here; the message says why."""


class _Text(NamedTuple):
    """A formula, and how tightly its outermost operator binds."""

    text: str
    level: int

    def within(self, level: int) -> str:
        return self.text if self.level >= level else f"({self.text})"


class _Number(NamedTuple):
    shown: _Text
    kind: CType
    value: int | None = None  # of a constant


def formula(call: str, meanings: Iterable[tuple[Term | None, Mapping[str, Variable]]]) -> str:
    """The condition that is the first argument of a call, in ACSL.

    `meanings` are the terms that graphs have for it (None: no single one), each with all variables
    of its graph.
    Raises Untranslated.
    """
    found: set[str] = set()
    tree = _parsed(call)
    for term, known in meanings:
        if term is None:
            raise Untranslated("it is evaluated in several steps")
        names = _named(term, known)
        text = _Conditions(names).truth(tree).text
        _confirm(text, term, names)
        found.add(text)
    if len(found) != 1:
        raise Untranslated("its types differ from call to call" if found else "it is never reached")
    return found.pop()


def _parsed(call: str) -> Any:
    """The first argument between the brackets of a call."""
    try:
        words = [token.text for token in tokenize(call, "<condition>") if token.kind != "newline"]
        tree = CParser().parse(f"void f(void) {{ g({' '.join(words)}); }}", "<condition>")
        return tree.ext[0].body.block_items[0].args.exprs[0]
    except (ParseError, InputError, AttributeError, IndexError, RecursionError):
        raise Untranslated("it is no plain expression") from None


def _named(term: Term, known: Mapping[str, Variable]) -> dict[str, Variable]:
    """What the names stand for: variables of the term or, where those were simplified away, any
    one, provided that all that are called so have one type."""
    used = variables(term)
    called: dict[str, list[Variable]] = {}
    for variable in known.values():
        called.setdefault(variable.shown, []).append(variable)
    found: dict[str, Variable] = {}
    for name, every in called.items():
        here = [variable for variable in every if variable.name in used]
        if len(here) > 1:
            raise Untranslated("it depends on what is not in scope there")
        if here or len({variable.kind for variable in every}) == 1:
            found[name] = (here or every)[0]
    return found


def _confirm(text: str, term: Term, names: Mapping[str, Variable]) -> None:
    """Is the formula, read as an annotation, true where the term is, and only there?"""

    def value(name: str) -> Term | None:
        found = names.get(name)
        return var(found.name, found.bits) if found is not None else None

    try:
        clause = clauses(Place("<formula>"), tokenize(f"assert {text};", "<formula>"))[0]
        read = Formula(clause.words, Names(value, lambda name: None)).truth()
    except NotUnderstood as reason:
        raise Untranslated(f"{reason} cannot be read again") from None
    used = variables(term)
    facts = [disj((conj((read, negate(term))), conj((negate(read), term))))]
    for variable in names.values():
        if variable.name in used:  # of others nothing is known for certain
            if variable.low is not None:
                facts.append(compare("<=", const(variable.low), var(variable.name)))
            if variable.high is not None:
                facts.append(compare("<=", var(variable.name), const(variable.high)))
    with Budget(_SECONDS) as budget:
        context = budget.context()
        solver = budget.solver(context)
        solver.add(Translator(context)(conj(facts)))
        if budget.part(_WORK).ask(solver) != "unsat":
            raise Untranslated("C's meaning has no such form")


class _Conditions:
    """Expressions with their types, as far as ACSL says the same of them as C."""

    def __init__(self, names: Mapping[str, Variable]):
        self._names = names

    def truth(self, node: Any) -> _Text:
        if isinstance(node, c_ast.Constant) and node.type == "string":
            return _Text("\\true", _WHOLE)
        if isinstance(node, c_ast.UnaryOp) and node.op == "!":
            return _Text(f"!{self.truth(node.expr).within(_WHOLE)}", _UNARY)
        if isinstance(node, c_ast.BinaryOp) and node.op in ("&&", "||"):
            level = _AND if node.op == "&&" else _OR
            parts = [self.truth(side) for side in (node.left, node.right)]
            # `&&` inside `||` keeps its brackets: people misread.
            shown = [part.within(level if part.level == level else _EQUAL) for part in parts]
            return _Text(f" {node.op} ".join(shown), level)
        if isinstance(node, c_ast.BinaryOp) and node.op in _COMPARED:
            left, right, _ = self._sides(node)
            text = f"{left.within(_SUM)} {node.op} {right.within(_SUM)}"
            return _Text(text, _COMPARED[node.op])
        if isinstance(node, c_ast.TernaryOp):
            parts = [self.truth(part) for part in (node.cond, node.iftrue, node.iffalse)]
            text = "{} ? {} : {}".format(*(part.within(_OR) for part in parts))
            return _Text(f"({text})", _WHOLE)
        number = self.number(node)
        return _Text(f"{number.shown.within(_SUM)} != 0", _EQUAL)

    def number(self, node: Any) -> _Number:
        if isinstance(node, c_ast.Constant):
            return _literal(node)
        if isinstance(node, c_ast.ID):
            return self._name(node.name)
        if isinstance(node, c_ast.Cast):
            return _converted(self.number(node.expr), _cast(node.to_type))
        if isinstance(node, c_ast.UnaryOp):
            return self._unary(node)
        if isinstance(node, c_ast.BinaryOp) and node.op in _COMPUTED:
            return self._computed(node)
        if isinstance(node, c_ast.BinaryOp) and (node.op in _COMPARED or node.op in ("&&", "||")):
            return _counted(self.truth(node))
        if isinstance(node, c_ast.TernaryOp):
            test = self.truth(node.cond)
            yes, no = self.number(node.iftrue), self.number(node.iffalse)
            kind = common(yes.kind, no.kind)
            sides = [_converted(side, kind).shown.within(_OR) for side in (yes, no)]
            return _Number(_Text(f"({test.within(_OR)} ? {sides[0]} : {sides[1]})", _WHOLE), kind)
        raise Untranslated(_described(node))

    def _name(self, name: str) -> _Number:
        variable = self._names.get(name)
        kind = type_of(variable.kind.split()) if variable is not None else None
        if not isinstance(kind, CType):
            raise Untranslated(f"'{name}' is not known to be one variable of an integer type")
        return _Number(_Text(name, _WHOLE), kind)

    def _unary(self, node: Any) -> _Number:
        if node.op == "!":
            return _counted(self.truth(node))
        if node.op not in ("+", "-", "~"):
            raise Untranslated(_described(node))
        inner = self.number(node.expr)
        kind = promote(inner.kind)
        inner = _converted(inner, kind)
        if node.op == "+":
            return inner
        text = _Text(f"{node.op}{inner.shown.within(_WHOLE)}", _UNARY)
        value = inner.value
        if value is not None:
            value = -value if node.op == "-" else -1 - value
        return _wrapped(_Number(text, kind, value))

    def _sides(self, node: Any) -> tuple[_Text, _Text, CType]:
        left, right = self.number(node.left), self.number(node.right)
        kind = common(left.kind, right.kind)
        return _converted(left, kind).shown, _converted(right, kind).shown, kind

    def _computed(self, node: Any) -> _Number:
        left, right, kind = self._sides(node)
        level = _COMPUTED[node.op]
        text = _Text(f"{left.within(level)} {node.op} {right.within(level + 1)}", level)
        if node.op in ("/", "%"):
            return _Number(text, kind)  # of two values of the type, it is one
        return _wrapped(_Number(text, kind))


def _literal(node: Any) -> _Number:
    if node.type == "string" or "float" in node.type or "double" in node.type:
        raise Untranslated(f"it has a constant of type {node.type}")
    try:
        value, kind = integer_literal(node.value, Place("<condition>"))
    except (InputError, Unsupported):
        raise Untranslated(f"the constant {node.value}") from None
    return _Number(_Text(node.value, _WHOLE), kind, value)


def _wrapped(number: _Number) -> _Number:
    """The result of an operator in its type: C's unsigned ones wrap around."""
    fits = number.value is not None and number.kind.low <= number.value <= number.kind.high
    return number if number.kind.signed or fits else _forced(number, number.kind)


def _converted(number: _Number, kind: CType) -> _Number:
    fits = number.value is not None and kind.low <= number.value <= kind.high
    if kind == BOOL and number.kind != BOOL:
        return _counted(_Text(f"{number.shown.within(_SUM)} != 0", _EQUAL), BOOL)
    if fits or kind.holds(number.kind):
        return number._replace(kind=kind)
    return _forced(number, kind)


def _forced(number: _Number, kind: CType) -> _Number:
    return _Number(_Text(f"({kind.name})({number.shown.text})", _UNARY), kind)


def _counted(truth: _Text, kind: CType = INT) -> _Number:
    return _Number(_Text(f"({truth.within(_OR)} ? 1 : 0)", _WHOLE), kind)


def _cast(node: Any) -> CType:
    inner = getattr(node.type, "type", None)
    kind = type_of(list(getattr(inner, "names", ["?"])))
    if not isinstance(kind, CType):
        raise Untranslated("a cast to a type that is no plain integer")
    return kind


def _described(node: Any) -> str:
    if isinstance(node, c_ast.FuncCall):
        return "it has a call"
    if isinstance(node, c_ast.Assignment) or getattr(node, "op", "") in ("++", "--", "p++", "p--"):
        return "it has a side effect"
    return f"it has the operator '{node.op}'" if getattr(node, "op", "") else "it is not plain"
