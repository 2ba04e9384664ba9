"""Directives: which pragmas are refused, and the conditions of `#if`, constant expressions in
intmax_t and uintmax_t, by precedence climbing."""

from __future__ import annotations

from typing import NamedTuple

from ....._errors import InputError, Place
from ....system.terms import trunc_div, trunc_rem
from .._unsupported import Unsupported
from ..types import INTEGER, character

_ACTING = frozenset(
    {
        "push_macro", "pop_macro", "weak", "redefine_extname", "pack", "ms_struct",
        "scalar_storage_order", "poison", "error", "optimize",
    }
)  # fmt: skip
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
_COMPARING = frozenset({"==", "!=", "<", ">", "<=", ">="})
_BITS = 64


def check_pragma(words: list[str], place: Place) -> None:
    """Refuse a pragma that changes something."""
    for word in words[:2]:
        if word in _ACTING:
            raise Unsupported(f"#pragma {word}", place)


class _Number(NamedTuple):
    value: int
    unsigned: bool = False


def _fit(value: int, unsigned: bool) -> _Number:
    value %= 1 << _BITS
    if not unsigned and value >> (_BITS - 1):
        value -= 1 << _BITS
    return _Number(value, unsigned)


def condition_holds(words: list[str], place: Place) -> bool:
    """The truth of a `#if` condition; names that are no macros count as 0, as C says."""
    return _Condition(words, place).holds()


class _Condition:
    """One condition. What need not be evaluated (`0 && 1/0`) is parsed, and may divide by zero."""

    def __init__(self, words: list[str], place: Place):
        self._rest = words[::-1]
        self._place = place

    def holds(self) -> bool:
        value = self._ternary(True).value
        if self._rest:
            raise self._error(f"goes on after its end: {self._rest[-1]!r}")
        return value != 0

    def _error(self, what: str) -> InputError:
        return InputError(f"#if condition {what}", place=self._place)

    def _ternary(self, live: bool) -> _Number:
        test = self._level(0, live)
        if not self._rest or self._rest[-1] != "?":
            return test
        self._rest.pop()
        yes = self._ternary(live and test.value != 0)
        if not self._rest or self._rest.pop() != ":":
            raise self._error("lacks a ':'")
        no = self._ternary(live and test.value == 0)
        chosen = yes if test.value else no
        return _fit(chosen.value, yes.unsigned or no.unsigned)

    def _level(self, level: int, live: bool) -> _Number:
        if level == len(_LEVELS):
            return self._unary(live)
        left = self._level(level + 1, live)
        while self._rest and self._rest[-1] in _LEVELS[level]:
            op = self._rest.pop()
            needed = live
            if op in ("&&", "||"):
                needed = live and (left.value != 0) == (op == "&&")
            right = self._level(level + 1, needed)
            left = self._binary(op, left, right, live)
        return left

    def _binary(self, op: str, left: _Number, right: _Number, live: bool) -> _Number:
        if op in ("&&", "||"):
            return _Number(binary_constant(op, left.value, right.value))
        if op in ("<<", ">>"):
            amount = right.value if op == "<<" else -right.value
            if abs(amount) >= _BITS:
                value = 0 if amount > 0 or left.value >= 0 else -1
            else:
                value = left.value << amount if amount >= 0 else left.value >> -amount
            return _fit(value, left.unsigned)
        unsigned = left.unsigned or right.unsigned
        a, b = _fit(left.value, unsigned).value, _fit(right.value, unsigned).value
        if op in "/%" and b == 0:
            if live:
                raise self._error("divides by zero")
            return _Number(0, unsigned)
        value = binary_constant(op, a, b)
        return _Number(value) if op in _COMPARING else _fit(value, unsigned)

    def _unary(self, live: bool) -> _Number:
        if not self._rest:
            raise self._error("is incomplete")
        word = self._rest.pop()
        if word == "(":
            value = self._ternary(live)
            if not self._rest or self._rest.pop() != ")":
                raise self._error("lacks a ')'")
            return value
        if word in ("!", "-", "+", "~"):
            value, unsigned = self._unary(live)
            if word == "!":
                return _Number(int(not value))
            return _fit({"-": -value, "+": value, "~": ~value}[word], unsigned)
        if word[0] == "'":
            return _Number(character(word[1:-1], self._place))
        if word[0].isdigit():
            return self._number(word)
        if word[0].isalpha() or word[0] in "_$":
            if '"' in word or "'" in word:
                raise self._error(f"has {word}, which is not supported there")
            return _Number(0)
        raise self._error(f"has an unexpected {word!r}")

    def _number(self, word: str) -> _Number:
        match = INTEGER.match(word)
        if match is None:
            raise self._error(f"has '{word}', which is no integer constant")
        digits, suffix = match.groups()
        octal = len(digits) > 1 and digits.isdigit() and digits[0] == "0"
        if octal and set(digits) & {"8", "9"}:
            raise self._error(f"has '{word}', which is octal and has a digit above 7")
        value = int(digits, 8) if octal else int(digits, 0)
        if value >> _BITS:
            raise self._error(f"has '{word}', which is beyond 64 bits")
        return _Number(value, "u" in suffix.lower() or value >> (_BITS - 1) > 0)


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
