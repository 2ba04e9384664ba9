"""Terms over the mathematical integers: what conditions, guards and updates are made of.

Two sorts, Int and Bool, and arrays of integers, of which terms take cells; floating point is
integers, too (`_floats.py`). The constructors fold
constants and flatten, so that a term is small before any solver sees it. Terms are immutable and
shared: traversals are by identity, without recursion, because joins of long programs make deep
terms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ._contents import array_value
from ._floats import OPERATIONS, expect, float_value, floating
from ._node import Term, fold

COMPARISONS = frozenset({"<=", "<", "="})
_LONG = 64  # parts of a sum; one that is doubled again and again would have as many as its value


def const(value: int) -> Term:
    return Term("const", (), int(value), False)


def var(name: str, bits: int | None = None) -> Term:
    """A variable: an integer, or of the format that has so many `bits`."""
    return Term("var", (), name, False, bits)


def renamed(variable: Term, name: str) -> Term:
    """A variable of the same format by another name."""
    return var(name, variable.bits)


def array(name: str) -> Term:
    """An array of integers, with a cell for every integer."""
    return Term("array", (), name, False)


TRUE = Term("const", (), True, True)
FALSE = Term("const", (), False, True)
ZERO = const(0)
ONE = const(1)


def truth(value: bool) -> Term:
    return TRUE if value else FALSE


def add(*parts: Term) -> Term:
    total, rest = 0, []
    for part in parts:
        for item in part.args if part.op == "+" else (part,):
            if item.constant:
                total += item.leaf
            else:
                rest.append(item)
    if len(rest) > _LONG:
        rest = _gathered(rest)
        if len(rest) > _LONG:  # sums of sums
            rest = [part for part in parts if not part.constant]
            total = sum(part.leaf for part in parts if part.constant)
    if not rest:
        return const(total)
    if total:
        rest.append(const(total))
    return rest[0] if len(rest) == 1 else Term("+", tuple(rest), None, False)


def _gathered(parts: list[Term]) -> list[Term]:
    """The parts of a sum, those that are multiples of the same variable or node once."""
    total: dict[str | int, tuple[int, Term]] = {}
    for part in parts:
        factor, rest = 1, part
        if part.op == "*" and part.args[0].constant:
            factor, rest = part.args[0].leaf, part.args[1]
        key = rest.leaf if rest.op == "var" else id(rest)
        total[key] = (total.get(key, (0, rest))[0] + factor, rest)
    return [mul(const(factor), rest) for factor, rest in total.values() if factor]


def mul(left: Term, right: Term) -> Term:
    if right.constant:
        left, right = right, left
    if left.constant:
        factor = left.leaf
        if right.constant:
            return const(factor * right.leaf)
        if factor == 0:
            return ZERO
        if factor == 1:
            return right
        if right.op == "*" and right.args[0].constant:
            return mul(const(factor * right.args[0].leaf), right.args[1])
        if right.op == "+" and not any(item.op == "+" for item in right.args):
            return add(*(mul(left, item) for item in right.args))
    return Term("*", (left, right), None, False)


def neg(term: Term) -> Term:
    return mul(const(-1), term)


def sub(left: Term, right: Term) -> Term:
    return add(left, neg(right))


def divide(op: str, left: Term, right: Term) -> Term:
    """`div` and `mod` are SMT-LIB's (remainder never negative), `tdiv` and `trem` are C's."""
    if right.constant and right.leaf:
        if left.constant:
            return const(DIVISIONS[op](left.leaf, right.leaf))
        if right.leaf == 1:
            return left if op in ("div", "tdiv") else ZERO
        if left.op == "*" and left.args[0].constant and left.args[0].leaf % right.leaf == 0:
            whole = mul(const(left.args[0].leaf // right.leaf), left.args[1])
            return whole if op in ("div", "tdiv") else ZERO
    return Term(op, (left, right), None, False)


def euclid_div(a: int, b: int) -> int:
    return a // b if b > 0 else -(a // -b)


def euclid_mod(a: int, b: int) -> int:
    return a % abs(b)


def trunc_div(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def trunc_rem(a: int, b: int) -> int:
    return a - b * trunc_div(a, b)


DIVISIONS: dict[str, Callable[[int, int], int]] = {
    "div": euclid_div,
    "mod": euclid_mod,
    "tdiv": trunc_div,
    "trem": trunc_rem,
}


def compare(op: str, left: Term, right: Term) -> Term:
    """One of `<= < >= > = !=`; normalised to `<=`, `<`, `=` and negation."""
    if op == ">":
        op, left, right = "<", right, left
    elif op == ">=":
        op, left, right = "<=", right, left
    elif op == "!=":
        return negate(compare("=", left, right))
    if left.boolean != right.boolean:
        left, right = as_int(left), as_int(right)
    if left.constant and right.constant:
        a, b = left.leaf, right.leaf
        return truth(a <= b if op == "<=" else a < b if op == "<" else a == b)
    if left is right:
        return truth(op != "<")
    if right.constant and _two_valued(left):
        # A truth that went through C's 0 and 1: the comparison is about the truth itself.
        condition, yes, no = left.args
        return ite(condition, compare(op, yes, right), compare(op, no, right))
    if op == "=" and left.boolean and (left.constant or right.constant):
        known, other = (left, right) if left.constant else (right, left)
        return other if known.leaf else negate(other)
    return Term(op, (left, right), None, True)


def _two_valued(term: Term) -> bool:
    return term.op == "ite" and not term.boolean and term.args[1].constant and term.args[2].constant


def negate(term: Term) -> Term:
    if term.constant:
        return truth(not term.leaf)
    if term.op == "not":
        return term.args[0]
    if term.op == "<":
        return Term("<=", (term.args[1], term.args[0]), None, True)
    if term.op == "<=":
        return Term("<", (term.args[1], term.args[0]), None, True)
    return Term("not", (term,), None, True)


def conj(parts: Iterable[Term]) -> Term:
    return _junction("and", parts, FALSE, TRUE)


def disj(parts: Iterable[Term]) -> Term:
    return _junction("or", parts, TRUE, FALSE)


def _junction(op: str, parts: Iterable[Term], absorbing: Term, unit: Term) -> Term:
    found: dict[int, Term] = {}
    for part in parts:
        for item in part.args if part.op == op else (part,):
            if item.constant:
                if item.leaf == absorbing.leaf:
                    return absorbing
            else:
                found[id(item)] = item
    if not found:
        return unit
    kept = tuple(found.values())
    return kept[0] if len(kept) == 1 else Term(op, kept, None, True)


def implies(left: Term, right: Term) -> Term:
    return disj((negate(left), right))


def ite(condition: Term, yes: Term, no: Term) -> Term:
    if condition.constant:
        return yes if condition.leaf else no
    if yes is no:
        return yes
    if yes.constant and no.constant and yes.boolean == no.boolean and yes.leaf == no.leaf:
        return yes
    if condition.op == "not":
        condition, yes, no = condition.args[0], no, yes
    if yes.boolean:
        if yes.constant:
            return disj((condition, no)) if yes.leaf else conj((negate(condition), no))
        if no.constant:
            return disj((negate(condition), yes)) if no.leaf else conj((condition, yes))
    bits = no.bits if yes.bits is None else yes.bits
    if bits is not None:
        expect(yes, bits)
        expect(no, bits)
    return Term("ite", (condition, yes, no), None, yes.boolean, bits)


def select(cells: Term, index: Term) -> Term:
    """A cell of an array."""
    while cells.op == "store":
        same = alike(cells.args[1], index)
        if same:
            return cells.args[2]
        if same is None:
            break
        cells = cells.args[0]
    return cells.args[0] if cells.op == "fill" else Term("select", (cells, index), None, False)


def alike(left: Term, right: Term) -> bool | None:
    """Are two numbers equal? None where that depends on variables."""
    total: dict[str, int] = {}
    for term, sign in ((left, 1), (right, -1)):
        for item in term.args if term.op == "+" else (term,):
            factor, rest = sign, item
            if item.op == "*" and item.args[0].constant:
                factor, rest = sign * item.args[0].leaf, item.args[1]
            if rest.op not in ("const", "var"):
                return True if left is right else None
            name = rest.leaf if rest.op == "var" else ""
            total[name] = total.get(name, 0) + factor * (1 if name else rest.leaf)
    gap = total.pop("", 0)
    return None if any(total.values()) else gap == 0


def collected(term: Term) -> Term:
    """A sum with each of its parts once, and nothing that cancels."""
    total: dict[str, tuple[int, Term]] = {}
    for item in term.args if term.op == "+" else (term,):
        factor, rest = 1, item
        if item.op == "*" and item.args[0].constant:
            factor, rest = item.args[0].leaf, item.args[1]
        if rest.constant:
            factor, rest = factor * rest.leaf, ONE
        name = repr(rest)
        total[name] = (total.get(name, (0, rest))[0] + factor, rest)
    return add(*(mul(const(factor), rest) for factor, rest in total.values() if factor))


def store(cells: Term, index: Term, value: Term) -> Term:
    """An array that differs from another in one cell."""
    return Term("store", (cells, index, value), None, False)


def fill(value: Term) -> Term:
    """An array with the same value in all cells."""
    return Term("fill", (value,), None, False)


def holds_cells(term: Term) -> bool:
    """Is it an array?"""
    while term.op == "ite":
        term = term.args[1]
    return term.op in ("array", "store", "fill")


def as_int(term: Term) -> Term:
    """C's value of a truth: 1 or 0."""
    return ite(term, ONE, ZERO) if term.boolean else term


def as_bool(term: Term) -> Term:
    """C's truth of a value: not zero."""
    if term.boolean:
        return term
    if term.op == "ite" and all(side.constant for side in term.args[1:]):
        yes, no = (bool(side.leaf) for side in term.args[1:])
        if yes != no:
            return term.args[0] if yes else negate(term.args[0])
    return compare("!=", term, ZERO)


def rebuild(node: Term, args: list[Term]) -> Term:
    """The node with new arguments, folded anew."""
    op = node.op
    if not args:
        return node
    if op == "+":
        return add(*args)
    if op == "*":
        return mul(*args)
    if op in DIVISIONS:
        return divide(op, *args)
    if op in COMPARISONS:
        return compare(op, *args)
    if op == "not":
        return negate(args[0])
    if op == "and":
        return conj(args)
    if op == "or":
        return disj(args)
    if op in _ARRAYS:
        return _ARRAYS[op](*args)
    if op in OPERATIONS:
        return floating(op, node.leaf, *args)
    return ite(*args)


_ARRAYS: dict[str, Callable[..., Term]] = {"select": select, "store": store, "fill": fill}


def substitute(term: Term, names: dict[str, Term]) -> Term:
    """The term with others, of the same format each, in place of variables."""

    def combine(node: Term, args: list[Term]) -> Term:
        if node.op in ("var", "array"):
            new = names.get(node.leaf, node)
            if new.bits != node.bits:
                expect(new, node.bits)
            return new
        if all(new is old for new, old in zip(args, node.args, strict=True)):
            return node
        return rebuild(node, args)

    return fold(term, combine)


def evaluate(term: Term, values: dict[str, Any], *, strict: bool = False) -> Any:
    """The value under an assignment. With `strict` any division by zero raises."""
    return fold(term, lambda node, args: node_value(node, args, values, strict=strict))


def node_value(node: Term, args: list[Any], values: dict[str, Any], *, strict: bool = False) -> Any:
    """The value of a node from those of its arguments."""
    op = node.op
    if op == "const":
        return node.leaf
    if op in ("var", "array"):
        return values[node.leaf]
    if op in _ARRAYS:
        return array_value(op, args)
    if op in OPERATIONS:
        return float_value(op, node.leaf, args)
    if op == "+":
        return sum(args)
    if op == "*":
        return args[0] * args[1]
    if op == "<=":
        return args[0] <= args[1]
    if op == "<":
        return args[0] < args[1]
    if op == "=":
        return args[0] == args[1]
    if op == "not":
        return not args[0]
    if op == "and":
        return all(args)
    if op == "or":
        return any(args)
    if op == "ite":
        return args[1] if args[0] else args[2]
    if args[1] == 0 and not strict:
        return 0  # on the side of an `ite` that is not taken
    return DIVISIONS[op](args[0], args[1])
