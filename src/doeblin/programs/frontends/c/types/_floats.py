"""Floating point in C: constants, conversions and operators, as gcc has them on x86-64 (IEEE 754,
rounded to nearest, `float` computed in `float`)."""

from __future__ import annotations

import re
from fractions import Fraction

from ....._errors import Place
from ....._text import shortened
from ....system.terms import INFINITE, Term, conj, const, floating, negate, number_of, rounded
from .._unsupported import Unsupported
from ._types import DOUBLE, FLOAT, CType

OUT_OF_RANGE = "undefined behaviour: a floating-point value that the integer type does not hold"
_DECIMAL = re.compile(r"([0-9]*)\.?([0-9]*)(?:[eE]([+-]?[0-9]+))?([fF]?)")
_HEXADECIMAL = re.compile(r"0[xX]([0-9a-fA-F]*)\.?([0-9a-fA-F]*)[pP]([+-]?[0-9]+)([fF]?)")
_FARTHEST = 20_000  # powers of ten or two, beyond which there is only zero or infinity
_TESTS = {"<": "f<", "<=": "f<=", ">": "f<", ">=": "f<=", "==": "f=", "!=": "f="}


def float_literal(text: str, place: Place) -> tuple[int, CType]:
    """The key of a constant, rounded once, and its type."""
    for pattern, base, digit in ((_HEXADECIMAL, 2, 16), (_DECIMAL, 10, 10)):
        match = pattern.fullmatch(text)
        if match is not None and match[1] + match[2]:
            kind = FLOAT if match[4] else DOUBLE
            digits = int(match[1] + match[2], digit) if len(text) < 1000 else -1
            if digits < 0:
                break
            power = int(match[3] or 0)
            if digits == 0:
                return 0, kind
            if abs(power) > _FARTHEST:
                return (INFINITE[kind.bits] if power > 0 else 0), kind
            shift = len(match[2]) * (4 if base == 2 else 1)
            return rounded(digits * Fraction(base) ** (power - shift), kind.bits), kind
    raise Unsupported(f"the constant {shortened(text)}", place)


def to_floating(term: Term, own: CType, kind: CType) -> Term:
    """A value of type `own` in a type of floating point; an integer is rounded."""
    if own == kind:
        return term
    if not own.floating:
        return floating("fof", kind.bits, term)
    return floating("fwiden" if kind.bits > own.bits else "fnarrow", own.bits, term)


def held(term: Term, own: CType, kind: CType) -> Term:
    """Does an integer type hold a value of floating point, without its fraction?

    That is so between what is one too low and one too high. The latter is a power of two, which
    every format has; where a format does not have the former, the type's least value, a power of
    two as well, is the first above it.
    """
    bits = own.bits
    below, most = rounded(Fraction(kind.low - 1), bits), rounded(Fraction(kind.high + 1), bits)
    above = floating("f<", bits, const(below), term)
    if number_of(below, bits) != kind.low - 1:
        above = floating("f<=", bits, const(rounded(Fraction(kind.low), bits)), term)
    return conj((above, floating("f<", bits, term, const(most))))


def truncated(term: Term, own: CType) -> Term:
    return floating("fint", own.bits, term)


def compared(op: str, left: Term, right: Term, kind: CType) -> Term:
    """A comparison of two values of one type of floating point."""
    if op in (">", ">="):
        left, right = right, left
    found = floating(_TESTS[op], kind.bits, left, right)
    return negate(found) if op == "!=" else found


def computed(op: str, left: Term, right: Term, kind: CType) -> Term | None:
    """A sum, difference, product or quotient; None if there is no such operator."""
    return floating(f"f{op}", kind.bits, left, right) if op in ("+", "-", "*", "/") else None
