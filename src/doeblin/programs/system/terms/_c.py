"""Terms as C expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ._term import Term

_LEVEL = {"or": 1, "and": 2, "=": 3, "<=": 4, "<": 4, "+": 5, "*": 6, "tdiv": 6, "trem": 6}


def c_text(
    term: Term, name: Callable[[str], str] = lambda n: n, *, wide: bool = False, acsl: bool = False
) -> str:
    """The term in C's syntax.

    `wide` computes in `long long`, so that sums of `int`s cannot overflow. In ACSL numbers are
    mathematical, and nothing is needed.
    """
    return _show(term, _Style(name, wide and not acsl, _plain if acsl else c_number), 0)


class _Style(NamedTuple):
    name: Callable[[str], str]
    wide: bool
    number: Callable[[int], str]


def c_number(value: int) -> str:
    """A constant of C that has this value."""
    if value == -(1 << 63):
        return "(-9223372036854775807LL - 1)"
    suffix = "" if abs(value) < 1 << 31 else "LL"
    return f"{value}{suffix}"


def _plain(value: int) -> str:
    """A constant of ACSL, which has no type; the suffix is for what no signed type holds."""
    return f"{value}u" if (1 << 63) <= value < 1 << 64 else str(value)


def _show(term: Term, style: _Style, outer: int) -> str:
    op, wide = term.op, style.wide
    if op == "const":
        return ("1" if term.leaf else "0") if term.boolean else style.number(term.leaf)
    if op == "var":
        return style.name(term.leaf)
    if op == "not":
        inner = term.args[0]
        if inner.op == "=" and not inner.args[0].boolean:
            text = f"{_show(inner.args[0], style, 4)} != {_show(inner.args[1], style, 4)}"
            return _wrap(text, 3, outer)
        return f"!({_show(inner, style, 0)})"
    if op == "ite":
        parts = [_show(arg, style, 1) for arg in term.args]
        return f"({parts[0]} ? {parts[1]} : {parts[2]})"
    if op in ("mod", "div"):
        # C truncates towards zero; the divisor is positive here.
        a, b = _show(term.args[0], style, 7), _show(term.args[1], style, 7)
        a = f"(long long)({a})" if wide else a
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
        first = _show(term.args[0], style, level)
        if wide and op == "*" and term.args[0].constant and not first.endswith("L"):
            first += "LL"
        text = f"{first} {sign} {_show(term.args[1], style, level + 1)}"
    return _wrap(text, level, outer)


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
            if style.wide and number == 0 and not piece.startswith("("):
                piece = f"(long long){piece}" if arg.op != "const" else piece
            text += f" + {piece}" if number else piece
    return text


def _flip(term: Term) -> Term:
    from . import neg

    return neg(term)


def _wrap(text: str, level: int, outer: int) -> str:
    # `&&` inside `||` keeps its brackets: compilers warn, and people misread.
    return f"({text})" if level <= outer or (level == 2 and outer == 1) else text
