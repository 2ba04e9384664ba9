"""Gestures side by side in flat arrays, as the compiled code wants them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...data import Gesture, Layout

Floats = NDArray[np.float64]


class Packed(NamedTuple):
    """Coordinates in key widths both ways, times in ms, and where each gesture begins."""

    x: Floats
    y: Floats
    t: Floats
    starts: NDArray[np.int64]


def pack(gestures: Sequence[Gesture], layout: Layout) -> Packed:
    """Several gestures as one."""
    sizes = [len(gesture.x) for gesture in gestures]
    return Packed(
        np.concatenate([gesture.x for gesture in gestures] or [np.empty(0)]),
        np.concatenate([gesture.y for gesture in gestures] or [np.empty(0)]) * layout.aspect,
        np.concatenate([gesture.t for gesture in gestures] or [np.empty(0)]),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
    )
