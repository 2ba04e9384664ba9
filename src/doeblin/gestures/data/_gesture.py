"""One gesture: a finger's trace, and the word that it was meant for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..._errors import InputError
from ._fields import number, numbers
from ._layout import Layout

# In keys, and in milliseconds; beyond these, places in tables are no longer whole numbers.
_FARTHEST = {"x": 1e6, "y": 1e6, "t": 1e15}


@dataclass(frozen=True, eq=False)
class Gesture:
    """Where the finger was (x in key widths, y in key heights) and when (ms from touch-down).

    A trace has at least one point; a single point is a tap. Coordinates are finite and time never
    runs backwards: anything else raises an `InputError` that names the point. Points may lie
    anywhere, also off the keyboard. `word` is the word that was meant, or empty if nobody knows.

    >>> Gesture.checked([1, 2, 3], [0, 0, 0], [0, 20, 10])
    Traceback (most recent call last):
        ...
    doeblin._errors.InputError: time runs backwards at point 2 (10 ms after 20 ms)
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    t: NDArray[np.float64]
    word: str = ""
    user: str = ""
    id: str = ""

    @classmethod
    def checked(
        cls,
        x: ArrayLike,
        y: ArrayLike,
        t: ArrayLike,
        *,
        word: str = "",
        user: str = "",
        id: str = "",
    ) -> Gesture:
        """A gesture from coordinates in key units, with everything about it checked."""
        arrays = [numbers(name, values) for name, values in (("x", x), ("y", y), ("t", t))]
        xs, ys, ts = arrays
        if not len(xs) == len(ys) == len(ts):
            raise InputError(
                f"x, y and t must be equally long, got {len(xs)}, {len(ys)} and {len(ts)} numbers"
            )
        if not len(xs):
            raise InputError("the trace is empty; a gesture has at least one point")
        for name, values in zip("xyt", arrays, strict=True):
            far = np.flatnonzero(np.abs(values) > _FARTHEST[name])
            if len(far):
                raise InputError(
                    f"{name} is {values[far[0]]:g} at point {int(far[0])}; a keyboard is not that "
                    f"large, nor a swipe that long (at most {_FARTHEST[name]:g})"
                )
        back = np.flatnonzero(np.diff(ts) < 0)
        if len(back):
            point = int(back[0]) + 1
            raise InputError(
                f"time runs backwards at point {point} ({ts[point]:g} ms after "
                f"{ts[point - 1]:g} ms)"
            )
        return cls(xs, ys, ts - ts[0], word, user, id)

    @classmethod
    def from_frame(
        cls,
        x: ArrayLike,
        y: ArrayLike,
        t: ArrayLike,
        *,
        size: tuple[float, float],
        layout: Layout,
        **fields: Any,
    ) -> Gesture:
        """A gesture in any unit, such as pixels; `size` is the keyboard's width and height."""
        if len(size) != 2:
            raise InputError(f"the keyboard's size {size} must be a width and a height")
        width, height = (number("the keyboard's size", side) for side in size)
        if not (width > 0 and height > 0):
            raise InputError(f"the keyboard's size {size} must be positive")
        with np.errstate(over="ignore", invalid="ignore"):  # what is too far is refused by name
            xs = numbers("x", x) * (layout.width / width)
            ys = numbers("y", y) * (layout.height / height)
        return cls.checked(xs, ys, t, **fields)
