"""Numbers and texts that others wrote: taken as they are, or refused by name."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..._errors import InputError
from ..._json import shown

# What Python would turn into a number without a word: truth values, and text with digits.
_NO_NUMBERS = (bool, np.bool_, str, bytes, type(None))


def number(name: str, value: Any) -> float:
    """A finite number."""
    found = _float(value)
    if not math.isfinite(found):
        raise InputError(f"{name} is {shown(value)}; it must be a finite number")
    return found


def numbers(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """A list of finite numbers, or an error that names the point."""
    try:
        array = _array(name, values)
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{name} must be a list of numbers, got {shown(values)}") from None
    if array.ndim != 1:
        raise InputError(f"{name} must be a list of numbers, got shape {array.shape}")
    bad = np.flatnonzero(~np.isfinite(array))
    if len(bad):
        value = shown(np.asarray(values, dtype=object)[bad[0]])
        raise InputError(f"{name} is {value} at point {bad[0]}; it must be finite")
    return array


def text(name: str, value: Any) -> str:
    """A text; what is not there is an empty one."""
    if not isinstance(value, str | None):
        raise InputError(f"{name} is {shown(value)}; it must be text")
    return value or ""


def label(name: str, value: Any) -> str:
    """A text or a number that stands for somebody or something; what is not there is empty."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | None):
        raise InputError(f"{name} is {shown(value)}; it must be text or a number")
    return "" if value is None else str(value)


def _array(name: str, values: ArrayLike) -> NDArray[np.float64]:
    if isinstance(values, str | bytes) or (
        isinstance(values, np.ndarray) and values.dtype.kind in "bSU"
    ):
        raise TypeError
    if isinstance(values, list | tuple) and not set(map(type, values)) <= {float, int}:
        _refuse_odd(name, values)
    try:
        return np.asarray(values, dtype=float)
    except OverflowError:
        _refuse_odd(name, np.asarray(values, dtype=object).ravel())
        raise ValueError from None


def _refuse_odd(name: str, values: Any) -> None:
    for point, value in enumerate(values):
        if isinstance(value, _NO_NUMBERS) or (
            isinstance(value, int) and not math.isfinite(_float(value))
        ):
            raise InputError(
                f"{name} is {shown(value)} at point {point}; it must be a finite number"
            )


def _float(value: Any) -> float:
    """The number, or none (NaN) where it is not one, or beyond all numbers here."""
    if isinstance(value, _NO_NUMBERS):
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan
