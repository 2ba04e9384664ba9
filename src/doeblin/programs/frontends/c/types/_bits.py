"""Bit operations on integers, as C's two's complement has them, in terms of div and mod.

Everything comes down to `&`: `x | y` is x + y - (x & y), and `x ^ y` is x + y - 2 (x & y). With a
constant, `&` keeps runs of bits: those from `low` up to `high` are x mod 2^high - x mod 2^low. Of
two variables it goes bit by bit, through as many as the narrower of them has.
"""

from __future__ import annotations

from collections.abc import Callable

from ....system.terms import (
    ZERO,
    Term,
    add,
    alike,
    as_bool,
    compare,
    conj,
    const,
    disj,
    divide,
    ite,
    mul,
    negate,
    sub,
)

Range = tuple[int, int]
_WIDEST = 64


def bitwise(op: str, a: Term, b: Term, ranges: tuple[Range, Range]) -> Term:
    """`a & b`, `a | b` or `a ^ b`, if the operands are within their ranges; a truth (sort Bool) if
    both of them are 0 or 1."""
    if all(low >= 0 and high <= 1 for low, high in ranges):
        left, right = as_bool(a), as_bool(b)
        if op == "^":
            return ite(left, negate(right), right)
        return conj((left, right)) if op == "&" else disj((left, right))
    both = a if alike(a, b) else _both(a, b, *ranges)
    if op == "&":
        return both
    return sub(add(a, b), both if op == "|" else mul(const(2), both))


def _both(a: Term, b: Term, first: Range, second: Range) -> Term:
    if a.constant:
        return _masked(b, int(a.leaf), second)
    if b.constant:
        return _masked(a, int(b.leaf), first)
    lowest = max(_zeros(a), _zeros(b))
    counts = [high.bit_length() for low, high in (first, second) if low >= 0]
    if counts:  # the bits above those of a number that is not negative do not matter
        return add(*_common_bits(a, b, range(lowest, min(counts))))
    count = max(value.bit_length() for value in (*first, *second))
    below = conj((compare("<", a, ZERO), compare("<", b, ZERO)))
    common = _common_bits(a, b, range(lowest, count))
    return add(*common, ite(below, const(-(1 << count)), ZERO))


def _zeros(term: Term) -> int:
    """So many of the last bits are zero for certain: none of what is shifted in is in the way of
    what was there before."""
    if term.op == "const":
        value = int(term.leaf)
        return (value & -value).bit_length() - 1 if value else _WIDEST
    if term.op == "*":
        return sum(map(_zeros, term.args))
    if term.op == "+":
        return min(map(_zeros, term.args))
    if term.op == "ite":
        return min(map(_zeros, term.args[1:]))
    if term.op == "mod":
        return min(map(_zeros, term.args))
    return 0


def _common_bits(a: Term, b: Term, numbers: range) -> list[Term]:
    found = []
    for number in numbers:
        both = conj((_bit(a, number), _bit(b, number)))
        found.append(ite(both, const(1 << number), ZERO))
    return found


def _bit(term: Term, number: int) -> Term:
    shifted = divide("div", term, const(1 << number))
    return compare("=", divide("mod", shifted, const(2)), const(1))


def _masked(term: Term, mask: int, bounds: Range) -> Term:
    """The term without the bits that a constant has not; all above those of a negative one are."""
    parts: list[Term] = []
    low = 0
    while mask >> low not in (0, -1):
        if not mask >> low & 1:
            low += 1
            continue
        high = low
        while mask >> high & 1 and mask >> high != -1:
            high += 1
        parts += _run(term, low, high, bounds)
        low = high
    if mask < 0:
        parts += _run(term, low, None, bounds)
    return add(*parts)


def _run(term: Term, low: int, high: int | None, bounds: Range) -> list[Term]:
    """The bits from `low` up to `high`, or to the last."""
    above = term if high is None else _remainder(term, high, bounds)
    return [above, mul(const(-1), _remainder(term, low, bounds))]


def _remainder(term: Term, bits: int, bounds: Range) -> Term:
    if bounds[0] >= 0 and bounds[1] < 1 << bits:
        return term
    return divide("mod", term, const(1 << bits))


def shifted(op: str, a: Term, amount: Term, most: Range) -> Term:
    """`a << amount` without overflow or `a >> amount`, for an amount in the range."""

    def by(number: int) -> Term:
        power = const(1 << number)
        return divide("div", a, power) if op == ">>" else mul(a, power)

    low, high = most
    result = by(high)
    for number in range(high - 1, low - 1, -1):
        result = ite(compare("=", amount, const(number)), by(number), result)
    return result


def interval(term: Term, known: Callable[[str], Range], outside: Range) -> Range:
    """Bounds of a term by those of its variables; `outside` where nothing better is found."""
    low, high = outside
    found = _interval(term, known)
    return outside if found is None else (max(low, found[0]), min(high, found[1]))


def _interval(term: Term, known: Callable[[str], Range]) -> Range | None:
    if term.boolean:
        return 0, 1
    if term.op == "const":
        return int(term.leaf), int(term.leaf)
    if term.op == "var":
        return known(term.leaf)
    if term.op in ("mod", "div") and term.args[1].constant and term.args[1].leaf > 0:
        divisor = int(term.args[1].leaf)
        inner = _interval(term.args[0], known)
        if term.op == "mod":
            within = inner is not None and inner[0] >= 0 and inner[1] < divisor
            return inner if within else (0, divisor - 1)
        return None if inner is None else (inner[0] // divisor, inner[1] // divisor)
    if term.op == "ite":
        sides = [_interval(side, known) for side in term.args[1:]]
        if sides[0] is not None and sides[1] is not None:
            return min(sides[0][0], sides[1][0]), max(sides[0][1], sides[1][1])
    return None
