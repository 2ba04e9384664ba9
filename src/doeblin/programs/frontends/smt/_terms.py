"""Z3's expressions over Int, Bool and arrays of Int to terms. A Bool variable is an integer that is
0 or 1."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

import z3

from ...._errors import InputError, Place
from ...system.terms import (
    FALSE,
    TRUE,
    Term,
    add,
    compare,
    conj,
    const,
    disj,
    divide,
    fill,
    floating,
    implies,
    ite,
    model_value,
    mul,
    neg,
    negate,
    select,
    store,
)  # fmt: skip
from ..c import Unsupported
from ._sexpr import MOST_DIGITS

# Terms are folded as they are made: shared parts could make a sum or a number astronomic.
_BITS = 16_000
_SUMMANDS = 4_000
_DISTINCT = 200


class Reader:
    """Reads expressions; `known` gives the terms of constants, by their identity in Z3.

    Shared parts are read once, and nothing here recurses. Comparisons of floating point (`floats`)
    are read in certificates only.
    """

    def __init__(self, place: Place, *, floats: bool = False):
        self.place = place
        self._floats = floats
        self.known: dict[int, Term] = {}
        self._done: dict[int, Term] = {}
        self._kept: list[Any] = []  # keeps identities in use while they are keys

    def bind(self, constant: Any, term: Term) -> None:
        self.known[constant.get_id()] = term
        self._kept.append(constant)

    def __call__(self, expression: Any) -> Term:
        done = self._done
        self._kept.append(expression)
        stack = [(expression, False)]
        while stack:
            node, ready = stack.pop()
            key = node.get_id()
            if key in done:
                continue
            if not z3.is_app(node):
                raise Unsupported("a quantifier here", self.place)
            if self._floats and node.decl().kind() in _FLOAT_VALUES:
                done[key] = self._float(node)
            elif ready:
                done[key] = self._bounded(self._node(node))
            else:
                stack.append((node, True))
                stack += [(child, False) for child in node.children()]
        return done[expression.get_id()]

    def _bounded(self, term: Term) -> Term:
        for item in term.args if term.op == "+" else (term,):
            number = item.args[0] if item.op == "*" else item
            if number.constant and not number.boolean and number.leaf.bit_length() > _BITS:
                raise Unsupported(f"a constant of more than {_BITS} bits", self.place)
        if term.op == "+" and len(term.args) > _SUMMANDS:
            raise Unsupported(f"a sum of more than {_SUMMANDS} terms", self.place)
        return term

    def _node(self, node: Any) -> Term:
        if (found := self.known.get(node.get_id())) is not None:
            return found
        kind = node.decl().kind()
        if kind == z3.Z3_OP_ANUM and node.is_int():
            text = node.as_string()
            if len(text) > MOST_DIGITS:
                raise Unsupported(f"a constant of more than {MOST_DIGITS} digits", self.place)
            return const(int(text))
        args = [self._done[child.get_id()] for child in node.children()]
        if self._floats and kind in _FLOAT_TESTS:
            return self._float_test(node, kind, args)
        make = _OPERATORS.get(kind)
        if make is None or not _ours(node.sort()):
            raise Unsupported(self._why(node, kind), self.place)
        if not args and kind not in (z3.Z3_OP_TRUE, z3.Z3_OP_FALSE):  # Z3 reads `xor` alone
            raise InputError(f"'{node.decl().name()}' has no arguments", place=self.place)
        if kind == z3.Z3_OP_DISTINCT and len(args) > _DISTINCT:
            raise Unsupported(f"'distinct' of more than {_DISTINCT} terms", self.place)
        return make(args)

    def _float(self, node: Any) -> Term:
        value = z3.simplify(node)
        if not z3.is_fp_value(value):
            raise Unsupported("floating point that is no number", self.place)
        return const(model_value(value))

    def _float_test(self, node: Any, kind: int, args: list[Term]) -> Term:
        sort = node.children()[0].sort()
        bits = sort.ebits() + sort.sbits()
        if bits not in (32, 64):
            raise Unsupported(said_of_sort(sort), self.place)
        op, flipped = _FLOAT_TESTS[kind]
        return conj(
            floating(op, bits, *(reversed(pair) if flipped else pair))
            for pair in ([tuple(args)] if op == "fnan" else pairwise(args))
        )

    def _why(self, node: Any, kind: int) -> str:
        if kind == z3.Z3_OP_UNINTERPRETED:
            shown = node.decl().name()
            return f"'{shown}' inside a term (only as a premise or a conclusion)"
        if not _ours(node.sort()):
            return said_of_sort(node.sort())
        return f"the operator '{node.decl().name()}'"


def _ours(sort: Any) -> bool:
    return sort.kind() in (z3.Z3_INT_SORT, z3.Z3_BOOL_SORT) or of_cells(sort)


def of_cells(sort: Any) -> bool:
    """Is it that of arrays of integers, indexed by integers?"""
    return sort.sexpr() == "(Array Int Int)"


def said_of_sort(sort: Any) -> str:
    """What is said of a sort that is not supported, and what to do about it."""
    text = f"the sort {sort.sexpr()}"
    if sort.kind() == z3.Z3_ARRAY_SORT:
        text += " (of arrays only (Array Int Int): put a number in place of each index and cell)"
    return text


def _subtract(args: list[Term]) -> Term:
    return add(args[0], *(neg(other) for other in args[1:]))


def _multiply(args: list[Term]) -> Term:
    result = args[0]
    for other in args[1:]:
        result = mul(result, other)
    return result


def _xor(args: list[Term]) -> Term:
    result = args[0]
    for other in args[1:]:
        result = negate(compare("=", result, other))
    return result


def _chain(op: str):
    return lambda args: conj(compare(op, a, b) for a, b in pairwise(args))


def _absolute(args: list[Term]) -> Term:
    return ite(compare("<=", const(0), args[0]), args[0], neg(args[0]))


_OPERATORS = {
    z3.Z3_OP_TRUE: lambda args: TRUE,
    z3.Z3_OP_FALSE: lambda args: FALSE,
    z3.Z3_OP_ADD: lambda args: add(*args),
    z3.Z3_OP_SUB: _subtract,
    z3.Z3_OP_UMINUS: lambda args: neg(args[0]),
    z3.Z3_OP_MUL: _multiply,
    z3.Z3_OP_IDIV: lambda args: divide("div", *args),
    z3.Z3_OP_MOD: lambda args: divide("mod", *args),
    z3.Z3_OP_LE: _chain("<="),
    z3.Z3_OP_LT: _chain("<"),
    z3.Z3_OP_GE: _chain(">="),
    z3.Z3_OP_GT: _chain(">"),
    z3.Z3_OP_EQ: _chain("="),
    z3.Z3_OP_IFF: _chain("="),
    z3.Z3_OP_DISTINCT: lambda args: conj(compare("!=", a, b) for a, b in combinations(args, 2)),
    z3.Z3_OP_NOT: lambda args: negate(args[0]),
    z3.Z3_OP_AND: conj,
    z3.Z3_OP_OR: disj,
    z3.Z3_OP_XOR: _xor,
    z3.Z3_OP_IMPLIES: lambda args: implies(*args),
    z3.Z3_OP_ITE: lambda args: ite(*args),
    z3.Z3_OP_SELECT: lambda args: select(*args),
    z3.Z3_OP_STORE: lambda args: store(*args),
    z3.Z3_OP_CONST_ARRAY: lambda args: fill(*args),
}
_FLOAT_VALUES = frozenset(
    {
        z3.Z3_OP_FPA_FP, z3.Z3_OP_FPA_NUM, z3.Z3_OP_FPA_NAN, z3.Z3_OP_FPA_PLUS_INF,
        z3.Z3_OP_FPA_MINUS_INF, z3.Z3_OP_FPA_PLUS_ZERO, z3.Z3_OP_FPA_MINUS_ZERO,
    }
)  # fmt: skip
_FLOAT_TESTS = {  # by our names, and whether the sides change places
    z3.Z3_OP_FPA_LT: ("f<", False),
    z3.Z3_OP_FPA_LE: ("f<=", False),
    z3.Z3_OP_FPA_GT: ("f<", True),
    z3.Z3_OP_FPA_GE: ("f<=", True),
    z3.Z3_OP_FPA_EQ: ("f=", False),
    z3.Z3_OP_FPA_IS_NAN: ("fnan", False),
}
if hasattr(z3, "Z3_OP_ABS"):
    _OPERATORS[z3.Z3_OP_ABS] = _absolute
