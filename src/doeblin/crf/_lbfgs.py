"""L-BFGS on the host, for objectives that are computed there."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.floating]
Loss = Callable[[Vector], tuple[float, Vector]]

_MEMORY = 6
_ENOUGH, _FLATTER = 1e-4, 0.9  # the weak conditions of Wolfe
_PERIOD = 10


def lowest(
    loss: Loss, start: Vector, *, steps: int, tolerance: float, metric: Vector | None = None
) -> Vector:
    """Where a smooth loss is about lowest; `loss` gives its value and its gradient.

    `metric` is a guess at one over the second derivative by each coordinate, up to a common factor:
    where all directions are curved alike, few steps lead there. It ends after `steps`, or when the
    last ten have lowered the loss by less than `tolerance` of it, or where no step lowers it.
    """
    point = start
    value, slope = loss(point)
    pairs: deque[tuple[Vector, Vector, float]] = deque(maxlen=_MEMORY)
    values = [value]
    for _ in range(steps):
        direction = _direction(slope, pairs, metric)
        found = _searched(loss, point, value, slope, direction, first=not pairs)
        if found is None:
            if not pairs:
                break
            pairs.clear()  # What was remembered misled; once more, along the gradient.
            continue
        following, value, new_slope = found
        moved, bent = following - point, new_slope - slope
        curvature = float(np.dot(moved, bent))
        if curvature > 0:
            pairs.append((moved, bent, curvature))
        point, slope = following, new_slope
        values.append(value)
        if len(values) > _PERIOD and values[-1 - _PERIOD] - value < tolerance * abs(value):
            break
    return point


def _direction(
    slope: Vector, pairs: deque[tuple[Vector, Vector, float]], metric: Vector | None
) -> Vector:
    direction = -slope
    shares = []
    for moved, bent, curvature in reversed(pairs):
        share = np.dot(moved, direction) / curvature
        direction -= (share * bent).astype(slope.dtype, copy=False)
        shares.append(share)
    if metric is not None:
        direction *= metric
    if pairs:
        _, bent, curvature = pairs[-1]
        size = np.dot(bent, bent if metric is None else bent * metric)
        if size > 0:
            direction *= slope.dtype.type(curvature / size)
    for (moved, bent, curvature), share in zip(pairs, reversed(shares), strict=True):
        back = share - np.dot(bent, direction) / curvature
        direction += (back * moved).astype(slope.dtype, copy=False)
    return direction


def _searched(
    loss: Loss, point: Vector, value: float, slope: Vector, direction: Vector, *, first: bool
) -> tuple[Vector, float, Vector] | None:
    """A point along the direction that is lower, and where the slope is less steep."""
    steepness = float(np.dot(slope, direction))
    if not steepness < 0:  # nor a number, where nothing is left to learn
        return None
    size = min(1.0, 1.0 / float(np.linalg.norm(direction))) if first else 1.0
    low, high = 0.0, np.inf
    best: Any = None
    for _ in range(20):
        following = point + direction * point.dtype.type(size)
        now, now_slope = loss(following)
        if not now <= value + _ENOUGH * size * steepness:
            high = size
        else:
            best = (following, now, now_slope)
            if float(np.dot(now_slope, direction)) >= _FLATTER * steepness:
                return best
            low = size
        size = (low + high) / 2 if np.isfinite(high) else 2 * low
    return best
