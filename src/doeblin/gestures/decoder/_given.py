"""What callers give, looked at before compiled code takes it as it is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..._errors import InputError
from ..._numbers import whole
from ..._text import shortened
from ..data import Gesture

MOST = 10_000_000
"""Draws of a gesture, or steps of a run."""


def gestures_of(given: Iterable[Gesture]) -> list[Gesture]:
    """They as a list, if all of them are gestures that have a trace."""
    if isinstance(given, Gesture):
        raise InputError("a list of gestures is needed, not one gesture: give [gesture]")
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(f"a list of gestures is needed, got {_shown(given)}")
    found = list(given)
    for number, one in enumerate(found):
        if not isinstance(one, Gesture):
            raise InputError(
                f"gesture {number} is {_shown(one)}, and no Gesture: Gesture.checked, "
                "Gesture.from_frame and read_gestures make them"
            )
        if not len(one.x) == len(one.y) == len(one.t) > 0:
            raise _unusable(number, one)
    if found and not all(np.isfinite(np.concatenate(part)).all() for part in _parts(found)):
        for number, one in enumerate(found):
            if not all(np.isfinite(part).all() for part in (one.x, one.y, one.t)):
                raise _unusable(number, one)
    return found


def _parts(found: list[Gesture]) -> Iterable[tuple[Any, ...]]:
    return zip(*((one.x, one.y, one.t) for one in found), strict=True)


def _unusable(number: int, one: Gesture) -> InputError:
    return InputError(
        f"gesture {number} ({one.word!r}) is empty or not finite, or x, y and t are not equally "
        "long: make it by Gesture.checked, which says what is wrong"
    )


def _shown(value: object) -> str:
    return shortened(repr(value))


def count_of(name: str, value: int) -> int:
    """How many draws or steps, of which there are 1 to `MOST`."""
    number = whole(name, value, least=1)
    if number > MOST:
        raise InputError(f"{name} = {number} must be at most {MOST:,}: give fewer, such as 1000")
    return number


def seed_of(value: int) -> int:
    """A seed: a whole number of 64 bits."""
    number = whole("seed", value)
    if not -(2**63) <= number < 2**63:
        raise InputError(f"seed = {number} must be a number of 64 bits, such as 0")
    return number
