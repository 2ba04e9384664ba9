"""Terms as C expressions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from ._floats import NAN, TRUNCATED, float_text
from ._node import Term

_LEVEL = {"or": 1, "and": 2, "=": 3, "<=": 4, "<": 4, "+": 5, "*": 6, "tdiv": 6, "trem": 6}


Ranges = Callable[[str], tuple[int, int]]
_LONG, _WIDEST = 1 << 63, 1 << 127


class TooLargeError(Exception):
    """No type of C holds what the term computes."""


def c_text(
    term: Term,
    name: Callable[[str], str] = lambda n: n,
    *,
    ranges: Ranges | None = None,
    acsl: bool = False,
) -> str:
    """The term in C's syntax.

    With the `ranges` of the variables' types, it has the same truth when C evaluates it: each
    comparison is made in a type that holds all it computes (`long long`, or gcc's `__int128`).
    In ACSL numbers are mathematical, and nothing is needed.
    """
    return _show(term, _Style(name, _plain if acsl else c_number, ranges), 0)


class _Style(NamedTuple):
    name: Callable[[str], str]
    number: Callable[[int], str]
    ranges: Ranges | None = None
    cast: str = ""  # the type in which a comparison is made


def c_number(value: int) -> str:
    """A constant of C that has this value."""
    if value == -(1 << 63):
        return "(-9223372036854775807LL - 1)"
    suffix = "" if abs(value) < 1 << 31 else "LL" if value < _LONG else "ULL"
    return f"{value}{suffix}"


def _plain(value: int) -> str:
    """A constant of ACSL, which has no type; the suffix is for what no signed type holds."""
    return f"{value}u" if (1 << 63) <= value < 1 << 64 else str(value)


def _show(term: Term, style: _Style, outer: int) -> str:
    op = term.op
    if (text := _floating(term, style, outer)) is not None:
        return text
    if op == "const":
        return ("1" if term.leaf else "0") if term.boolean else style.number(term.leaf)
    if op == "var":
        return style.cast + style.name(term.leaf)
    if op in ("<=", "<", "=") and style.ranges is not None and not term.args[0].boolean:
        style = style._replace(cast=_cast(term, style.ranges), ranges=None)
    if op == "not":
        inner = term.args[0]
        if inner.op == "=" and not inner.args[0].boolean:
            if style.ranges is not None:
                style = style._replace(cast=_cast(inner, style.ranges))
            text = f"{_show(inner.args[0], style, 4)} != {_show(inner.args[1], style, 4)}"
            return _wrap(text, 3, outer)
        return f"!({_show(inner, style, 0)})"
    if op == "ite":
        parts = [_show(arg, style, 1) for arg in term.args]
        return f"({parts[0]} ? {parts[1]} : {parts[2]})"
    if op in ("mod", "div"):
        # C truncates towards zero; the divisor is positive here.
        a, b = _show(term.args[0], style, 7), _show(term.args[1], style, 7)
        if op == "mod":
            return f"(({a} % {b} + {b}) % {b})"
        return f"(({a} - ({a} % {b} + {b}) % {b}) / {b})"
    level = _LEVEL[op]
    if op == "+":
        text = _sum(term, style)
    elif op in ("and", "or"):
        text = {"and": " && ", "or": " || "}[op].join(_show(arg, style, level) for arg in term.args)
    elif op == "=" and term.args[0].op == "mod" and (remainder := _remainder(term)):
        text = f"{_show(term.args[0].args[0], style, 6)} {remainder}"
    elif op in ("<=", "<", "="):
        left, right = (_show(arg, style, level) for arg in term.args)
        text = f"{left} {'==' if op == '=' else op} {right}"
    else:
        sign = {"*": "*", "tdiv": "/", "trem": "%"}[op]
        first, second = _show(term.args[0], style, level), _show(term.args[1], style, level + 1)
        text = f"{first} {sign} {second}"
    return _wrap(text, level, outer)


_FLOATS = {
    "f<": ("<", 4), "f<=": ("<=", 4), "f=": ("==", 3), "f+": ("+", 5), "f-": ("-", 5),
    "f*": ("*", 6), "f/": ("/", 6),
}  # fmt: skip
_PREFIXES = {
    "fneg": "-", "fabs": "fabs", "fnan": "isnan", "finf": "isinf", "fwiden": "(double)",
    "fnarrow": "(float)", TRUNCATED: "(long)",
}  # fmt: skip


def _floating(term: Term, style: _Style, outer: int) -> str | None:
    """What is about floating point, of which constants are keys."""
    op = term.op
    if op == "not" and term.args[0].op == "f=":
        left, right = (_value(arg, term.args[0].leaf, style, 3) for arg in term.args[0].args)
        return _wrap(f"{left} != {right}", 3, outer)
    if op in _FLOATS:
        sign, level = _FLOATS[op]
        first = _value(term.args[0], term.leaf, style, level - (level > 4))
        return _wrap(
            f"{first} {sign} {_value(term.args[1], term.leaf, style, level)}", level, outer
        )
    if op in _PREFIXES:
        return f"{_PREFIXES[op]}({_value(term.args[0], term.leaf, style, 0)})"
    if op == "fof":
        return f"({'float' if term.leaf == 32 else 'double'})({_show(term.args[0], style, 0)})"
    if op == "=" and term.args[0].op == "var" and term.args[1].constant:
        bits = term.args[0].bits
        if bits is not None:
            return _identical(_show(term.args[0], style, 0), int(term.args[1].leaf), bits, outer)
    return None


def _value(term: Term, bits: int, style: _Style, outer: int) -> str:
    return float_text(int(term.leaf), bits) if term.constant else _show(term, style, outer)


def _identical(name: str, key: int, bits: int, outer: int) -> str:
    """That a variable is one value, and no other, not even one that equals it."""
    if key == NAN[bits]:
        return f"isnan({name})"
    text = f"{name} == {float_text(key, bits)}"
    if key in (0, -1):
        return _wrap(f"{text} && {'' if key else '!'}signbit({name})", 2, outer)
    return _wrap(text, 3, outer)


def _cast(comparison: Term, ranges: Ranges) -> str:
    """What each variable is cast to, so that C compares what mathematics does."""
    if all(arg.op in ("var", "const") for arg in comparison.args):
        sides = [
            ranges(arg.leaf) if arg.op == "var" else (arg.leaf, arg.leaf) for arg in comparison.args
        ]
        signed = [low < 0 or high < 1 << 31 for low, high in sides]
        if all(signed) or all(low >= 0 for low, _ in sides):
            return ""
    size = max(_size(arg, ranges) for arg in comparison.args)
    if size >= _WIDEST:
        raise TooLargeError
    return "(long long)" if size < _LONG else "(__int128)"


def _size(term: Term, ranges: Ranges) -> int:
    """No number that is met on the way to the term's value is larger than that."""
    if term.op == "const":
        return abs(int(term.leaf)) if -_LONG <= term.leaf < 2 * _LONG else _WIDEST
    if term.op == "var":
        return max(map(abs, ranges(term.leaf)))
    if term.op == "*":
        return math.prod(_size(arg, ranges) for arg in term.args)
    sizes = [_size(arg, ranges) for arg in term.args]
    return sum(sizes) + (sizes[-1] if term.op in ("mod", "div") else 0)


def _remainder(term: Term) -> str | None:
    """`% k == 0`, where C's remainder says the same as the mathematical one."""
    divisor, value = term.args[0].args[1], term.args[1]
    if divisor.constant and value.constant and value.leaf == 0:
        return f"% {divisor.leaf} == 0"
    if divisor.constant and value.constant and (divisor.leaf, value.leaf) == (2, 1):
        return "% 2 != 0"
    return None


def _sum(term: Term, style: _Style) -> str:
    text = ""
    for number, arg in enumerate(term.args):
        negative = (arg.constant and arg.leaf < 0) or (
            arg.op == "*" and arg.args[0].constant and arg.args[0].leaf < 0
        )
        if number and negative:
            piece = _show(_flip(arg), style, 6)
            text += f" - {piece}"
        else:
            piece = _show(arg, style, 5)
            text += f" + {piece}" if number else piece
    return text


def _flip(term: Term) -> Term:
    from . import neg

    return neg(term)


def _wrap(text: str, level: int, outer: int) -> str:
    # `&&` inside `||` keeps its brackets: compilers warn, and people misread.
    return f"({text})" if level <= outer or (level == 2 and outer == 1) else text
