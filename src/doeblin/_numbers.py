"""Numbers that users give as options."""

from __future__ import annotations

import math
import operator
from typing import Any

from ._errors import InputError


def whole(name: str, value: Any, *, least: int) -> int:
    """A whole number of any integer type, numpy's too; no float is rounded on the quiet."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InputError(f"{name} = {value!r} must be a whole number") from None
    if number < least:
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
