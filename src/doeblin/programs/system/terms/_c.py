"""Terms as C expressions."""

from __future__ import annotations

from collections.abc import Callable

from ._term import Term

_LEVEL = {"or": 1, "and": 2, "=": 3, "<=": 4, "<": 4, "+": 5, "*": 6, "tdiv": 6, "trem": 6}


def c_text(
    term: Term, name: Callable[[str], str] = lambda n: n, *, wide: bool = False, acsl: bool = False
) -> str:
    """The term in C's syntax.

    `wide` computes in `long long`, so that sums of `int`s cannot overflow. In ACSL numbers are
    mathematical, and nothing is needed.
    """
    return _show(term, name, 0, wide and not acsl)


def c_number(value: int) -> str:
    """A constant of C that has this value."""
    if value == -(1 << 63):
        return "(-9223372036854775807LL - 1)"
    suffix = "" if abs(value) < 1 << 31 else "LL"
    return f"{value}{suffix}"


def _show(term: Term, name: Callable[[str], str], outer: int, wide: bool) -> str:
    op = term.op
    if op == "const":
        return ("1" if term.leaf else "0") if term.boolean else c_number(term.leaf)
    if op == "var":
        return name(term.leaf)
    if op == "not":
        inner = term.args[0]
        if inner.op == "=" and not inner.args[0].boolean:
            text = f"{_show(inner.args[0], name, 4, wide)} != {_show(inner.args[1], name, 4, wide)}"
            return _wrap(text, 3, outer)
        return f"!({_show(inner, name, 0, wide)})"
    if op == "ite":
        parts = [_show(arg, name, 1, wide) for arg in term.args]
        return f"({parts[0]} ? {parts[1]} : {parts[2]})"
    if op in ("mod", "div"):
        # C truncates towards zero; the divisor is positive here.
        a, b = _show(term.args[0], name, 7, wide), _show(term.args[1], name, 7, wide)
        a = f"(long long)({a})" if wide else a
        if op == "mod":
            return f"(({a} % {b} + {b}) % {b})"
        return f"(({a} - ({a} % {b} + {b}) % {b}) / {b})"
    level = _LEVEL[op]
    if op == "+":
        text = _sum(term, name, wide)
    elif op in ("and", "or"):
        text = {"and": " && ", "or": " || "}[op].join(
            _show(arg, name, level, wide) for arg in term.args
        )
    elif op == "=" and term.args[0].op == "mod" and (remainder := _remainder(term)):
        text = f"{_show(term.args[0].args[0], name, 6, wide)} {remainder}"
    elif op in ("<=", "<", "="):
        left, right = (_show(arg, name, level, wide) for arg in term.args)
        text = f"{left} {'==' if op == '=' else op} {right}"
    else:
        sign = {"*": "*", "tdiv": "/", "trem": "%"}[op]
        first = _show(term.args[0], name, level, wide)
        if wide and op == "*" and term.args[0].constant and not first.endswith("L"):
            first += "LL"
        text = f"{first} {sign} {_show(term.args[1], name, level + 1, wide)}"
    return _wrap(text, level, outer)


def _remainder(term: Term) -> str | None:
    """`% k == 0`, where C's remainder says the same as the mathematical one."""
    divisor, value = term.args[0].args[1], term.args[1]
    if divisor.constant and value.constant and value.leaf == 0:
        return f"% {divisor.leaf} == 0"
    if divisor.constant and value.constant and (divisor.leaf, value.leaf) == (2, 1):
        return "% 2 != 0"
    return None


def _sum(term: Term, name: Callable[[str], str], wide: bool) -> str:
    text = ""
    for number, arg in enumerate(term.args):
        negative = (arg.constant and arg.leaf < 0) or (
            arg.op == "*" and arg.args[0].constant and arg.args[0].leaf < 0
        )
        if number and negative:
            piece = _show(_flip(arg), name, 6, wide)
            text += f" - {piece}"
        else:
            piece = _show(arg, name, 5, wide)
            if wide and number == 0 and not piece.startswith("("):
                piece = f"(long long){piece}" if arg.op != "const" else piece
            text += f" + {piece}" if number else piece
    return text


def _flip(term: Term) -> Term:
    from . import neg

    return neg(term)


def _wrap(text: str, level: int, outer: int) -> str:
    # `&&` inside `||` keeps its brackets: compilers warn, and people misread.
    return f"({text})" if level <= outer or (level == 2 and outer == 1) else text
