"""C's arithmetic types (64-bit `long`, as on Linux and macOS) and its rules of conversion."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from ....._errors import InputError, Place
from ....._text import shortened
from ....system.terms import LOWEST, NAN
from .._unsupported import Unsupported

Wraps = Literal["none", "unsigned", "all"]
"""Which arithmetic is a machine's: "all" also makes signed overflow a failure."""


@dataclass(frozen=True, slots=True)
class CType:
    name: str
    bits: int
    signed: bool
    rank: int

    @property
    def low(self) -> int:
        return -(1 << (self.bits - 1)) if self.signed else 0

    @property
    def high(self) -> int:
        return (1 << (self.bits - self.signed)) - 1

    @property
    def floating(self) -> bool:
        return False

    @property
    def format(self) -> int | None:
        """The width of floating point's format."""
        return self.bits if self.floating else None

    def holds(self, other: CType) -> bool:
        """Is every value of `other` a value of this type, and the same number?"""
        if self.floating or other.floating:
            return self == other
        return self.low <= other.low and other.high <= self.high


@dataclass(frozen=True, slots=True)
class Floating(CType):
    """`float` or `double`, whose values are known by their keys (`system/terms/_floats.py`)."""

    @property
    def low(self) -> int:
        return LOWEST[self.bits]

    @property
    def high(self) -> int:
        return NAN[self.bits]

    @property
    def floating(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class Opaque:
    """A type that is not arithmetic, or not modelled: may be declared, may not be computed with."""

    name: str
    what: str


@dataclass(frozen=True, slots=True)
class Struct(Opaque):
    """A structure: its members with their types and, of arrays, their lengths. Members that are
    not modelled may be there, and may not be used."""

    fields: tuple[tuple[str, CType | Opaque, tuple[int, ...]], ...]

    def member(self, name: str) -> tuple[CType | Opaque, tuple[int, ...]] | None:
        return next((found[1:] for found in self.fields if found[0] == name), None)


def layout(kind: CType | Opaque) -> tuple[int, int] | None:
    """The size and the alignment of a type in bytes; None if that is not known."""
    if isinstance(kind, CType):
        size = max(1, kind.bits // 8)
        return size, size
    if not isinstance(kind, Struct):
        return (8, 8) if kind.name == "pointer" else None
    at, widest = 0, 1
    for _, inner, lengths in kind.fields:
        own = layout(inner)
        if own is None:
            return None
        size, unit = own
        for length in lengths:
            size *= length
        at, widest = -(-at // unit) * unit + size, max(widest, unit)
    return -(-at // widest) * widest, widest


BOOL = CType("_Bool", 1, False, 0)
CHAR = CType("char", 8, True, 1)
SCHAR = CType("signed char", 8, True, 1)
UCHAR = CType("unsigned char", 8, False, 1)
SHORT = CType("short", 16, True, 2)
USHORT = CType("unsigned short", 16, False, 2)
INT = CType("int", 32, True, 3)
UINT = CType("unsigned int", 32, False, 3)
LONG = CType("long", 64, True, 4)
ULONG = CType("unsigned long", 64, False, 4)
LLONG = CType("long long", 64, True, 5)
ULLONG = CType("unsigned long long", 64, False, 5)
FLOAT = Floating("float", 32, True, 6)
DOUBLE = Floating("double", 64, True, 7)

_SIGNED = {"char": SCHAR, "short": SHORT, "int": INT, "long": LONG, "long long": LLONG}
_UNSIGNED = {"char": UCHAR, "short": USHORT, "int": UINT, "long": ULONG, "long long": ULLONG}


def type_of(words: list[str]) -> CType | Opaque | None:
    """The type that specifiers such as `unsigned long int` name; None when unknown."""
    rest = list(words)
    unsigned = "unsigned" in rest
    explicit = "signed" in rest
    rest = [word for word in rest if word not in ("unsigned", "signed")]
    if rest.count("long") == 2:
        base = "long long"
    elif "long" in rest:
        base = "long"
    elif "short" in rest:
        base = "short"
    elif rest in ([], ["int"]):
        base = "int"
    elif len(rest) == 1:
        base = rest[0]
    else:
        base = " ".join(rest)
    if words in (["float"], ["double"]):
        return FLOAT if words == ["float"] else DOUBLE
    if "double" in rest or "float" in rest or "_Complex" in rest:
        return Opaque(" ".join(words), "floating point")
    if base == "char" and not unsigned and not explicit:
        return CHAR
    if base in _SIGNED:
        return _UNSIGNED[base] if unsigned else _SIGNED[base]
    if base == "_Bool":
        return BOOL
    if base == "void":
        return Opaque("void", "a value of type void")
    return None


def promote(kind: CType) -> CType:
    return INT if kind.rank < INT.rank else kind


def common(left: CType, right: CType) -> CType:
    """The usual arithmetic conversions."""
    left, right = promote(left), promote(right)
    if left.floating or right.floating:
        return max(left, right, key=lambda kind: kind.rank)
    if left == right:
        return left
    if left.signed == right.signed:
        return left if left.rank >= right.rank else right
    signed, unsigned = (left, right) if left.signed else (right, left)
    if unsigned.rank >= signed.rank:
        return unsigned
    if signed.holds(unsigned):
        return signed
    return _UNSIGNED[signed.name]


INTEGER = re.compile(
    r"(0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+)([uU]?(?:l|L|ll|LL)?|(?:l|L|ll|LL)[uU])\Z"
)
_ESCAPES = {"n": 10, "t": 9, "r": 13, "0": 0, "a": 7, "b": 8, "f": 12, "v": 11, "e": 27, "\\": 92}


def integer_literal(text: str, place: Place) -> tuple[int, CType]:
    """A constant's value and type; one that no C type holds is refused, never wrapped."""
    if text.startswith("'"):
        return character(text[1:-1], place), INT
    if text.endswith("'"):
        raise Unsupported("wide characters", place)
    match = INTEGER.match(text)
    if match is None:
        raise InputError(f"'{shortened(text)}' is no integer constant", place=place)
    digits, suffix = match.group(1), match.group(2).lower()
    if digits[:2] in ("0x", "0X"):
        value, decimal = int(digits, 16), False
    elif digits[:2] in ("0b", "0B"):
        value, decimal = int(digits, 2), False
    elif len(digits) > 1 and digits[0] == "0":
        if set(digits) & {"8", "9"}:
            raise InputError(f"'{shortened(text)}' is octal and has a digit above 7", place=place)
        value, decimal = int(digits, 8), False
    else:
        if len(digits) > 30:
            raise InputError("this constant is beyond 64 bits", place=place)
        value, decimal = int(digits), True
    longs = suffix.count("l")
    ladder = [INT, UINT, LONG, ULONG, LLONG, ULLONG][2 * longs if longs else 0 :]
    for kind in ladder:
        if "u" in suffix and kind.signed:
            continue
        if decimal and "u" not in suffix and not kind.signed:
            continue
        if value <= kind.high:
            return value, kind
    if value <= ULLONG.high:
        raise Unsupported(f"the constant {shortened(text)}, which no signed type holds,", place)
    raise InputError(f"the constant {shortened(text)} is beyond 64 bits", place=place)


def character(body: str, place: Place) -> int:
    if len(body) == 1 and ord(body) < 128:
        return ord(body)
    if body.startswith("\\"):
        rest = body[1:]
        if rest in _ESCAPES:
            return _ESCAPES[rest]
        if len(rest) == 1 and rest in "'\"?":
            return ord(rest)
        value = None
        if re.fullmatch(r"[0-7]{1,3}", rest):
            value = int(rest, 8)
        elif re.fullmatch(r"x[0-9a-fA-F]{1,2}", rest):
            value = int(rest[1:], 16)
        if value is not None and value < 256:
            return value - 256 if value > 127 else value
    raise Unsupported(f"the character constant '{body}'", place)


# Of what is between the quotes. The parser keeps those between two literals where an escape in the
# first would take more from the second: "\x4" "1" are two characters.
_PIECES = re.compile(r'" "|\\x[0-9a-fA-F]+|\\[0-7]{1,3}|\\.|[^\\]', re.DOTALL)


def string_values(text: str, place: Place, kind: CType) -> list[int]:
    """The characters of a text and the zero that ends it, as cells of a type of 8 bits."""
    if not text.startswith('"'):
        raise Unsupported("wide characters", place)
    found = []
    for piece in _PIECES.findall(text[1:-1]):
        if piece == '" "':
            continue
        value = character(piece, place)
        found.append(value if kind.low <= value else value + 256)
    return [*found, 0]
