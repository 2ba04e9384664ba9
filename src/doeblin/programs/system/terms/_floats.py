"""Floating point (IEEE 754, rounded to nearest) as integers: every value has a number, its key.

The key of a value that is not negative is its bits; where the bits without the sign are b, that of
a negative one is -1 - b. So keys are in the order of the values, -0.0 is -1, 0.0 is 0, and NaN, of
which there is one here, is the number after infinity. Terms are over keys; an operation has the
width of its operands' format, 32 or 64, as its leaf, and what gives floating point, as variables
do, that of its own as `bits`. A constant has none: it is a key of whatever format is asked for.
"""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Callable
from fractions import Fraction

from ._node import Term

DIGITS = {32: 24, 64: 53}
"""Binary digits: integers up to this power of two are numbers of the format."""
_LEAST = {32: -149, 64: -1074}  # the exponent of the least number
INFINITE = {32: 0x7F800000, 64: 0x7FF0000000000000}
NAN = {bits: key + 1 for bits, key in INFINITE.items()}
LOWEST = {bits: -1 - key for bits, key in INFINITE.items()}
_PACKED = {32: ("<I", "<f"), 64: ("<Q", "<d")}

FLOATING = frozenset({"f+", "f-", "f*", "f/", "fneg", "fabs", "fof", "fwiden", "fnarrow"})
"""What gives floating point: `fof` is of an integer."""
TESTS = frozenset({"f<", "f<=", "f=", "fnan", "finf"})
"""IEEE's comparisons: none is true of NaN, and -0.0 equals 0.0."""
TRUNCATED = "fint"
OPERATIONS = FLOATING | TESTS | {TRUNCATED}


def result_format(op: str, bits: int) -> int | None:
    """The width of what an operation gives, if that is floating point."""
    if op not in FLOATING:
        return None
    return {"fwiden": 64, "fnarrow": 32}.get(op, bits)


def number_of(key: int, bits: int) -> float:
    """The value that has this key; all of either format are Python's numbers."""
    if not LOWEST[bits] <= key <= INFINITE[bits]:
        return math.nan
    whole, real = _PACKED[bits]
    raw = key if key >= 0 else (1 << (bits - 1)) | (-1 - key)
    return struct.unpack(real, struct.pack(whole, raw))[0]


def key_of(value: float, bits: int) -> int:
    """The key of a value, which is rounded to the format."""
    if math.isnan(value):
        return NAN[bits]
    whole, real = _PACKED[bits]
    if bits == 32:
        value = ctypes.c_float(value).value
    (raw,) = struct.unpack(whole, struct.pack(real, value))
    sign = 1 << (bits - 1)
    return -1 - (raw - sign) if raw >= sign else raw


def rounded(value: Fraction, bits: int) -> int:
    """The key of what is nearest to a number; of two, the even one."""
    size = abs(value)
    digits, least = DIGITS[bits], _LEAST[bits]
    raw = 0
    if size:
        exponent = size.numerator.bit_length() - size.denominator.bit_length()
        exponent -= size < Fraction(2) ** exponent
        unit = max(exponent - digits + 1, least)
        whole = round(size / Fraction(2) ** unit)  # to even, as Python does
        raw = whole
        if whole >= 1 << (digits - 1):
            raw = ((unit - least + 1) << (digits - 1)) + whole - (1 << (digits - 1))
    raw = min(raw, INFINITE[bits])
    return -1 - raw if value < 0 else raw


def _quotient(a: float, b: float) -> float:
    if b != 0 or math.isnan(a):
        return a / b if b != 0 else math.nan
    if a == 0:
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


_BINARY: dict[str, Callable[[float, float], float | bool]] = {
    "f+": lambda a, b: a + b,
    "f-": lambda a, b: a - b,
    "f*": lambda a, b: a * b,
    "f/": _quotient,
    "f<": lambda a, b: a < b,
    "f<=": lambda a, b: a <= b,
    "f=": lambda a, b: a == b,
}


def float_value(op: str, bits: int, args: list[int]) -> int | bool:
    """What an operation comes to.

    Sums, products and quotients of the narrow format are computed in the wide one first, which has
    more than twice the digits: to round twice is then the same as to round once.
    """
    if op == "fof":
        return rounded(Fraction(args[0]), bits)
    if op in _BINARY:
        found = _BINARY[op](number_of(args[0], bits), number_of(args[1], bits))
        return found if isinstance(found, bool) else key_of(found, bits)
    (key,) = args
    if op == "fnan":
        return key == NAN[bits]
    if op == "finf":
        return key in (INFINITE[bits], LOWEST[bits])
    if op in ("fneg", "fabs"):
        flips = key != NAN[bits] and (op == "fneg" or key < 0)
        return -1 - key if flips else key
    value = number_of(key, bits)
    if op == TRUNCATED:
        return math.trunc(value) if math.isfinite(value) else 0  # which nothing looks at
    return key_of(value, 64 if op == "fwiden" else 32)


def floating(op: str, bits: int, *args: Term) -> Term:
    """An operation on floating point, computed where that is possible."""
    test = op in TESTS
    for arg in args:
        expect(arg, None if op == "fof" else bits)
    if all(arg.constant for arg in args):
        found = float_value(op, bits, [int(arg.leaf) for arg in args])
        return Term("const", (), found if test else int(found), test)
    return Term(op, args, bits, test, result_format(op, bits))


def expect(term: Term, bits: int | None) -> None:
    """Raises where a term is not in the format that is wanted, which is an error of ours. What has
    none may be a constant, or a choice of constants."""
    if term.bits != bits and (term.bits is not None or term.op not in ("const", "ite")):
        raise AssertionError(f"a term with the format {term.bits}, not {bits}: {term!r}")


def value_text(value: int, bits: int | None) -> str:
    """What a variable of a format, or an integer, has, for people."""
    return str(value) if bits is None else float_text(value, bits)


def float_text(key: int, bits: int) -> str:
    """A constant of C that has this value, exactly; for people also in decimal, if that is it."""
    value = number_of(key, bits)
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    short = repr(value)
    if len(short) > 12 and bits == 32:
        short = value.hex()
    return short + ("f" if bits == 32 else "")
