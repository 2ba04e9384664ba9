"""Numbers that users give as options, and bounds that they are shown."""

from __future__ import annotations

import math
import operator
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import Any

from ._errors import InputError


def at_least(value: float, digits: int) -> str:
    """A lower bound in so many digits, rounded down. (What floating point took off its twelfth
    digit is given back, so that 0.1 less some bits is not shown as 0.09999.)

    >>> at_least(0.123456789, 4), at_least(0.1 * (1 - 1e-15), 4)
    ('0.1234', '0.1')
    """
    down = Context(prec=digits, rounding=ROUND_FLOOR).create_decimal(value * (1 + 1e-12))
    return f"{float(down):.{digits}g}"


def at_most(value: float) -> str:
    """An upper bound: all digits of a whole number that can be read, else four, rounded up.

    >>> at_most(12345), at_most(1.23456e20)
    ('12,345', '1.235e+20')
    """
    if not 1e15 < value < math.inf:
        return f"{value:,.0f}"
    return f"{float(Context(prec=4, rounding=ROUND_CEILING).create_decimal(value)):.4g}"


def whole(name: str, value: Any, *, least: int | None = None) -> int:
    """A whole number of any integer type, numpy's too; no float is rounded on the quiet."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InputError(f"{name} = {value!r} must be a whole number") from None
    if least is not None and number < least:
        raise InputError(f"{name} = {number} must be at least {least}")
    return number


def not_negative(name: str, value: Any) -> float:
    """A finite number from zero on."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not 0 <= number < math.inf:
        raise InputError(f"{name} = {value!r} must be a finite number, zero or more")
    return number
