"""SMT-LIB formulas over Int and Bool to terms. A Bool variable is an integer that is 0 or 1."""

from __future__ import annotations

import re
from itertools import pairwise

from ..._errors import InputError
from ..c import Unsupported
from ..terms import (
    FALSE,
    TRUE,
    Term,
    add,
    compare,
    conj,
    const,
    disj,
    divide,
    implies,
    ite,
    mul,
    neg,
    negate,
    var,
)  # fmt: skip
from ._sexpr import Expression, Group, Symbol

Environment = dict[str, Term]
_NUMERAL = re.compile(r"-?[0-9]+\Z")


class Definitions:
    """`define-fun` definitions, expanded where they are used."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[list[tuple[str, str]], Expression]] = {}

    def define(self, name: str, parameters: list[tuple[str, str]], body: Expression) -> None:
        self._known[name] = (parameters, body)

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def parameters(self, name: str) -> list[tuple[str, str]]:
        return self._known[name][0]

    def apply(self, name: str, args: list[Term], at: Expression) -> Term:
        parameters, body = self._known[name]
        if len(args) != len(parameters):
            raise InputError(
                f"'{name}' takes {len(parameters)} arguments, got {len(args)}", place=at.place
            )
        inner = {p: arg for (p, _), arg in zip(parameters, args, strict=True)}
        return self.term(body, inner)

    def term(self, expression: Expression, names: Environment) -> Term:
        if isinstance(expression, Symbol):
            return self._symbol(expression, names)
        if not expression:
            raise InputError("an empty expression", place=expression.place)
        head = expression[0]
        if not isinstance(head, Symbol):
            raise Unsupported("this operator", expression.place)
        if head == "let":
            return self.term(expression[2], bind(self, expression, names))
        if head == "!":
            return self.term(expression[1], names)
        if head in ("forall", "exists"):
            raise Unsupported("a quantifier here", head.place)
        args = [self.term(item, names) for item in expression[1:]]
        if head in self._known:
            return self.apply(head, args, head)
        return _operator(head, args)

    def _symbol(self, symbol: Symbol, names: Environment) -> Term:
        if symbol in names:
            return names[symbol]
        if symbol in ("true", "false"):
            return TRUE if symbol == "true" else FALSE
        if _NUMERAL.match(symbol):
            if len(symbol) > 4000:
                raise Unsupported("a constant of more than 4000 digits", symbol.place)
            return const(int(symbol))
        if symbol in self._known:
            return self.apply(symbol, [], symbol)
        if re.match(r"[0-9]+\.[0-9]+\Z|#", symbol):
            raise Unsupported("constants other than integers", symbol.place)
        raise InputError(f"'{symbol}' is not declared", place=symbol.place)


def bind(definitions: Definitions, expression: Group, names: Environment) -> Environment:
    """The environment inside a `let`; its bindings are parallel."""
    if len(expression) != 3 or not isinstance(expression[1], Group):
        raise InputError("'let' needs bindings and a body", place=expression.place)
    inner = dict(names)
    for pair in expression[1]:
        if not (isinstance(pair, Group) and len(pair) == 2 and isinstance(pair[0], Symbol)):
            raise InputError("a binding is a name and a value", place=expression.place)
        inner[str(pair[0])] = definitions.term(pair[1], names)
    return inner


def variable(name: str, sort: Expression) -> tuple[Term, Term]:
    """A quantified or declared variable as a term, and the fact that its sort gives."""
    if sort == "Int":
        return var(name), TRUE
    if sort == "Bool":
        inside = conj((compare("<=", const(0), var(name)), compare("<=", var(name), const(1))))
        return compare("=", var(name), const(1)), inside
    shown = sort if isinstance(sort, Symbol) else "this sort"
    raise Unsupported(f"the sort {shown}", sort.place)


def _operator(head: Symbol, args: list[Term]) -> Term:
    try:
        return _apply(str(head), args)
    except (IndexError, TypeError, ValueError):
        raise InputError(f"'{head}' with {len(args)} arguments", place=head.place) from None
    except KeyError:
        raise Unsupported(f"the operator '{head}'", head.place) from None


def _chain(op: str, args: list[Term]) -> Term:
    if len(args) < 2:
        raise ValueError
    return conj(compare(op, a, b) for a, b in pairwise(args))


def _apply(op: str, args: list[Term]) -> Term:
    if op == "+":
        return add(*args)
    if op == "-":
        return neg(args[0]) if len(args) == 1 else add(args[0], *(neg(a) for a in args[1:]))
    if op == "*":
        result = args[0]
        for other in args[1:]:
            result = mul(result, other)
        return result
    if op in ("div", "mod"):
        first, second = args
        return divide(op, first, second)
    if op == "abs":
        return ite(compare("<=", const(0), args[0]), args[0], neg(args[0]))
    if op in ("<", "<=", ">", ">=", "="):
        return _chain(op, args)
    if op == "distinct":
        return conj(compare("!=", a, b) for i, a in enumerate(args) for b in args[i + 1 :])
    if op == "not":
        (only,) = args
        return negate(only)
    if op == "and":
        return conj(args)
    if op == "or":
        return disj(args)
    if op == "=>":
        result = args[-1]
        for other in reversed(args[:-1]):
            result = implies(other, result)
        return result
    if op == "xor":
        first, second = args
        return negate(compare("=", first, second))
    if op == "ite":
        first, second, third = args
        return ite(first, second, third)
    raise KeyError(op)
