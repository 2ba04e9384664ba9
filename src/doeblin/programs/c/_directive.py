"""Conditions of `#if`: integer constant expressions over tokens, by precedence climbing."""

from __future__ import annotations

from ..._errors import InputError, Place
from ..terms._term import trunc_div, trunc_rem
from ._types import integer_literal

_LEVELS = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", ">", "<=", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
)


def condition_holds(words: list[str], place: Place) -> bool:
    """The truth of a `#if` condition; names that are no macros count as 0, as C says."""
    rest = words[::-1]
    value = _ternary(rest, place)
    if rest:
        raise InputError(f"#if condition goes on after its end: {rest[-1]!r}", place=place)
    return value != 0


def _ternary(rest: list[str], place: Place) -> int:
    value = _level(rest, 0, place)
    if rest and rest[-1] == "?":
        rest.pop()
        yes = _ternary(rest, place)
        if not rest or rest.pop() != ":":
            raise InputError("#if condition lacks a ':'", place=place)
        no = _ternary(rest, place)
        return yes if value else no
    return value


def _level(rest: list[str], level: int, place: Place) -> int:
    if level == len(_LEVELS):
        return _unary(rest, place)
    value = _level(rest, level + 1, place)
    while rest and rest[-1] in _LEVELS[level]:
        op = rest.pop()
        other = _level(rest, level + 1, place)
        if op in "/%" and other == 0:
            raise InputError("#if condition divides by zero", place=place)
        value = binary_constant(op, value, other)
    return value


def _unary(rest: list[str], place: Place) -> int:
    if not rest:
        raise InputError("#if condition is incomplete", place=place)
    word = rest.pop()
    if word == "(":
        value = _ternary(rest, place)
        if not rest or rest.pop() != ")":
            raise InputError("#if condition lacks a ')'", place=place)
        return value
    if word in ("!", "-", "+", "~"):
        value = _unary(rest, place)
        return {"!": int(not value), "-": -value, "+": value, "~": ~value}[word]
    if word[0].isdigit() or word[0] == "'":
        return integer_literal(word, place)[0]
    if word[0].isalpha() or word[0] == "_":
        return 0
    raise InputError(f"#if condition has an unexpected {word!r}", place=place)


def binary_constant(op: str, a: int, b: int) -> int:
    """A C operator on constants (divisor not zero)."""
    if op in ("<<", ">>"):
        if not 0 <= b < 64:
            return 0
        return a << b if op == "<<" else a >> b
    return int(
        {
            "||": lambda: bool(a or b),
            "&&": lambda: bool(a and b),
            "|": lambda: a | b,
            "^": lambda: a ^ b,
            "&": lambda: a & b,
            "==": lambda: a == b,
            "!=": lambda: a != b,
            "<": lambda: a < b,
            ">": lambda: a > b,
            "<=": lambda: a <= b,
            ">=": lambda: a >= b,
            "+": lambda: a + b,
            "-": lambda: a - b,
            "*": lambda: a * b,
            "/": lambda: trunc_div(a, b),
            "%": lambda: trunc_rem(a, b),
        }[op]()
    )
