"""A whole trace against words' ideal paths in numpy: as `_shapes.py`, for few traces."""

from __future__ import annotations

import numpy as np

from ..restart import Floats, Ints, Trace, along, path_length
from ._names import NUM_FEATURES, SHAPE_POINTS, TOUCH


def _resampled(points: Floats) -> tuple[Floats, float]:
    """Points at equal distances along a path, and its length."""
    where = path_length(points)
    total = float(where[-1])
    if len(points) == 1 or total <= 0.0:
        return np.repeat(points[:1], SHAPE_POINTS, axis=0), total
    at = total * np.arange(SHAPE_POINTS) / (SHAPE_POINTS - 1)
    return along(where, at, points, 0.0), total


def _shape(paths: Floats) -> Floats:
    """The shapes alone: centred, the larger side scaled to one."""
    size = np.maximum(np.ptp(paths, axis=-2).max(axis=-1), 0.5)
    return (paths - paths.mean(axis=-2, keepdims=True)) / size[..., None, None]


def _elastic(drawn: Floats, places: Floats, sizes: Ints) -> tuple[Floats, Floats]:
    """Letters matched in order to points; see `elastic`. Rows of `places` are padded."""
    square = ((drawn[:, None, None] - places) ** 2).sum(axis=-1)  # by points, words and letters
    cost = worst = square[..., 0]
    order = np.arange(len(drawn))[:, None]
    for j in range(1, places.shape[1]):
        least = np.minimum.accumulate(cost, axis=0)
        newer = np.ones(cost.shape, bool)
        newer[1:] = cost[1:] < least[:-1]
        at = np.maximum.accumulate(np.where(newer, order, 0), axis=0)
        goes = j < sizes
        worst = np.where(
            goes, np.maximum(np.take_along_axis(worst, at, axis=0), square[..., j]), worst
        )
        cost = np.where(goes, least + square[..., j], cost)
    at = cost.argmin(axis=0)
    words = np.arange(len(sizes))
    return np.sqrt(cost[at, words] / sizes), np.sqrt(worst[at, words])


def _write_shifts(drawn: Floats, ideal: Floats, out: Floats) -> None:
    """How the points of a drawn path lie beside those of the ideal ones (`SHIFTS`)."""
    middle = ideal.mean(axis=1)
    off = drawn.mean(axis=0) - middle
    x, y = np.moveaxis(ideal - middle[:, None], 2, 0)
    dx, dy = np.moveaxis(drawn - ideal - off[:, None], 2, 0)
    wide, tall = 1.0 + (x * x).mean(axis=1), 0.5 + (y * y).mean(axis=1)
    out[:, 0:2] = off
    out[:, 2:4] = drawn[0] - ideal[:, 0]
    out[:, 4:6] = drawn[-1] - ideal[:, -1]
    out[:, 6], out[:, 7] = (x * dx).mean(axis=1) / wide, (y * dy).mean(axis=1) / tall
    out[:, 8] = (y * dx).mean(axis=1) / tall


def _dwells(trace: Trace, key: Floats) -> float:
    """How long the finger was at a key, in ms."""
    near = np.hypot(trace.x[1:] - key[0], trace.y[1:] - key[1]) < TOUCH
    return float(np.diff(trace.t)[near].sum())


def plain_features(
    trace: Trace, plane: Floats, keys: Ints, sizes: Ints, doubled: Ints, out: Floats
) -> None:
    """The features of words for one trace, after the first three; keys come in padded rows."""
    drawn, length = _resampled(np.stack([trace.x, trace.y], axis=1))
    places = plane[keys]
    paths = [_resampled(row[:size]) for row, size in zip(places, sizes.tolist(), strict=True)]
    ideal = np.stack([path for path, _ in paths])
    gap = np.hypot(*np.moveaxis(drawn - ideal, 2, 0))
    shape = np.hypot(*np.moveaxis(_shape(drawn) - _shape(ideal), 2, 0))
    steps = np.hypot(*np.moveaxis(np.diff(places, axis=1), 2, 0))
    # How long people take between two letters (ms), see the generator.
    slow = np.exp(5.21 + 0.43 * np.log(np.maximum(steps, 0.5)))
    expected = np.where(np.arange(1, keys.shape[1]) < sizes[:, None], slow, 0.0).sum(axis=1)
    ratio = np.log((length + 1.0) / (np.array([one for _, one in paths]) + 1.0))
    duration = max(float(trace.t[-1] - trace.t[0]), 20.0)
    slowness = np.log(duration / np.maximum(expected, 100.0))
    dwell = np.zeros(len(keys))
    for row in np.flatnonzero(doubled >= 0):
        spent = _dwells(trace, plane[doubled[row]])
        dwell[row] = np.log((spent + 20.0) / (duration / sizes[row] + 20.0))
    out[:, 3] = sizes + out[:, 2]
    out[:, 4], out[:, 5], out[:, 6] = gap.mean(axis=1), (gap * gap).mean(axis=1), gap.max(axis=1)
    out[:, 7] = shape.mean(axis=1)
    out[:, 8] = ((drawn[0] - ideal[:, 0]) ** 2).sum(axis=1)
    out[:, 9] = ((drawn[-1] - ideal[:, -1]) ** 2).sum(axis=1)
    out[:, 10], out[:, 11] = ratio, ratio * ratio
    out[:, 12], out[:, 13] = _elastic(drawn, places, sizes)
    out[:, 14], out[:, 15], out[:, 16] = slowness, slowness * slowness, dwell
    _write_shifts(drawn, ideal, out[:, NUM_FEATURES:])
