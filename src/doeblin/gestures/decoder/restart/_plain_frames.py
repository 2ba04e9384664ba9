"""From a trace to its potentials in numpy: as `_frames.py` and `_potentials.py`, for few traces."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._arrays import FINE, NUM_INPUTS, REACH, WINDOW, Extra, Floats, Packed, Restart, Rows, Trace
from ._weights import (
    AIM_REACH,
    APPROACH,
    DISTANCES,
    DWELL,
    FIRST_MOTION,
    GAPS,
    GRID,
    HIT,
    LAST_MOTION,
    LENGTHS,
    NUM_DISTANCES,
    NUM_GAPS,
    NUM_GRID,
    NUM_HEADINGS,
    NUM_LENGTHS,
    OFFSET,
    SLOW,
    TRANSIT,
)


def plain_trace(packed: Packed, e: int) -> Trace:
    """The gesture number `e`."""
    some = slice(int(packed.starts[e]), int(packed.starts[e + 1]))
    return Trace(packed.x[some], packed.y[some], packed.t[some])


def plain_num_frames(trace: Trace, restart: Restart) -> int:
    """Frames of a trace: `rate` a second, but within bounds."""
    duration = float(trace.t[-1] - trace.t[0]) / 1000.0
    return min(max(int(duration * restart.rate + 0.5) + 1, restart.least), restart.most)


def along(where: Floats, at: Floats, points: Floats, standing: float) -> Floats:
    """Each of `points` (by columns) at the places `at` on a scale that never falls, `where`; where
    two have one place, `standing` says which of them counts."""
    j = np.minimum(np.searchsorted(where[1:], at), len(where) - 2)
    gap = where[j + 1] - where[j]
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(gap > 0, np.clip((at - where[j]) / gap, 0.0, 1.0), standing)
    return points[j] + share[:, None] * (points[j + 1] - points[j])


def plain_places(trace: Trace, fine: int) -> Floats:
    """Where the finger was at so many equal times."""
    points = np.stack([trace.x, trace.y], axis=1)
    if len(points) == 1:
        return np.repeat(points, fine, axis=0)
    at = trace.t[0] + (trace.t[-1] - trace.t[0]) * np.arange(fine) / (fine - 1)
    return along(trace.t, at, points, 1.0)


def plain_samples(trace: Trace, fine: int) -> tuple[Floats, Floats]:
    """The trace at so many equal times, and the path's length up to them."""
    places = plain_places(trace, fine)
    return places, path_length(places)


def path_length(points: Floats) -> Floats:
    """How far it is along a path to each of its points."""
    length = np.zeros(len(points))
    np.cumsum(np.hypot(*np.diff(points, axis=0).T), out=length[1:])
    return length


class Seen:
    """What is seen of a trace in each frame; see `make_frames` for the names."""

    def __init__(self, trace: Trace, plane: Floats, count: int):
        fine = (count - 1) * FINE + 1
        at, path = plain_samples(trace, fine)
        seconds = max(float(trace.t[-1] - trace.t[0]) / 1000.0, 1e-3)
        step, mean = seconds / (fine - 1), max(float(path[-1]) / seconds, 1e-6)
        frames, half = np.arange(count), FINE // 2
        centre = frames * FINE
        low, high = np.maximum(centre - half, 0), np.minimum(centre + half, fine - 1)
        offsets = at[:, None, :] - plane
        square = offsets[..., 0] ** 2 + offsets[..., 1] ** 2
        window = np.clip(centre[:, None] + np.arange(-half, half + 1), 0, fine - 1)
        within = square[window]
        best = within.argmin(axis=1)
        keys = np.arange(len(plane))
        nearest = window[frames[:, None], best]
        self.near = np.sqrt(within.min(axis=1))
        self.offset = offsets[nearest, keys]
        spent = ((high - low) * step)[:, None]
        speed = (path[high] - path[low]) / spent[:, 0]
        self.place, self.move = at[centre], (at[high] - at[low]) / spent
        a = at[centre] - at[np.maximum(centre - FINE, 0)]
        b = at[np.minimum(centre + FINE, fine - 1)] - at[centre]
        turn = np.abs(
            np.arctan2(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0], a[:, 0] * b[:, 0] + a[:, 1] * b[:, 1])
        )
        turn[(np.hypot(*a.T) <= 0.05) | (np.hypot(*b.T) <= 0.05)] = 0.0
        self.speeds = np.searchsorted([0.3, 0.7, 1.2], speed / mean, side="right")
        self.motion = 3 * self.speeds + np.searchsorted([0.45, 1.2], turn, side="right")
        self.motion[0], self.motion[-1] = FIRST_MOTION, LAST_MOTION
        near = self.near
        self.lowest = np.ones(near.shape, bool)
        self.lowest[1:] &= near[1:] <= near[:-1]
        self.lowest[:-1] &= near[:-1] <= near[1:]


def _knot(values: NDArray, knots: Floats) -> tuple[NDArray[np.int64], Floats]:
    """The knot before each value and how far along it is to the next one."""
    k = np.clip(np.searchsorted(knots, values, side="right") - 1, 0, len(knots) - 2)
    return k, np.minimum((values - knots[k]) / (knots[k + 1] - knots[k]), 1.0)


def _between(weights: Floats, at: NDArray[np.int64], share: Floats) -> Floats:
    return (1 - share) * weights[at] + share * weights[at + 1]


def _cells(plane: Floats, seen: Seen) -> NDArray[np.int64]:
    """The cell of the transit table for every two keys and frame; see `transit_cell`."""
    way = plane - plane[:, None]
    length = np.sqrt(way[..., 0] ** 2 + way[..., 1] ** 2)
    np.fill_diagonal(length, 1.0)  # there is no way from a key to itself
    ux, uy = (way[..., 0] / length)[..., None], (way[..., 1] / length)[..., None]
    far = np.searchsorted(LENGTHS, length)
    px, py = (seen.place[:, axis] - plane[:, None, axis] for axis in range(2))
    px, py = px[:, None], py[:, None]
    there = np.clip(px * ux + py * uy, 0.0, length[..., None])
    dx, dy = px - there * ux, py - there * uy
    gap = np.minimum((np.sqrt(dx * dx + dy * dy) / GRID + 0.5).astype(np.int64), NUM_GRID - 1)
    speed = np.sqrt(seen.move[:, 0] ** 2 + seen.move[:, 1] ** 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        cosine = (seen.move[:, 0] * ux + seen.move[:, 1] * uy) / speed
    sector = np.ones(cosine.shape, np.int64)
    for bound in (0.92, 0.7, 0.3, -0.3):
        sector += cosine <= bound
    sector[..., speed < SLOW] = 0
    return (far[..., None] * NUM_HEADINGS + sector) * NUM_GRID + gap


def _table(weights: Floats) -> tuple[Floats, float]:
    """Exponential potentials of transit by cell, scaled by the largest; and that scale's log."""
    cell = np.arange(NUM_LENGTHS * NUM_HEADINGS * NUM_GRID)
    k, share = _knot((cell % NUM_GRID) * GRID, GAPS)
    table = _between(weights, TRANSIT + (cell // NUM_GRID) * NUM_GAPS + k, share)
    top = float(table.max())
    return np.exp(table - top), top


def _aims(plane: Floats, seen: Seen, weights: Floats) -> Floats:
    """What the offset of a finger from a key adds to a hit, near the key; see `key_offsets`."""
    fade = 1 - (seen.near / AIM_REACH) ** 2
    middle = plane.mean(axis=0)
    right, down = (plane[:, 0] - middle[0]) / 5, plane[:, 1] - middle[1]
    dx, dy = fade * seen.offset[..., 0], fade * seen.offset[..., 1]
    features = (dx, right * dx, down * dx, dy, right * dy, down * dy)
    side = np.ones(len(fade), np.int64)
    side[-1], side[0] = 2, 0
    added = np.zeros(fade.shape)
    for number, feature in enumerate(features):
        added += feature * weights[OFFSET + 6 * side + number][:, None]
    return np.where(seen.near < AIM_REACH, added, 0.0)


class Plain:
    """Potentials of one trace with the frames first: `hit[i, c]`, `dwell[i, c]`,
    `transit[i, p, c]`, where row K is for the way to the first letter. `scale` is the sum of the
    logs of what they are scaled by."""

    def __init__(self, trace: Trace, restart: Restart, extra: Extra):
        plane, weights = restart.plane, restart.weights
        count, num_keys = plain_num_frames(trace, restart), len(plane)
        seen = Seen(trace, plane, count)
        table, table_top = _table(weights)
        k, share = _knot(seen.near, DISTANCES)
        kind = (seen.motion[:, None] * 2 + seen.lowest) * NUM_DISTANCES
        hit = _between(weights, HIT + kind + k, share) + _aims(plane, seen, weights)
        pace = seen.speeds[:, None] * NUM_DISTANCES
        dwell = _between(weights, DWELL + pace + k, share)
        if len(extra.values):
            at = extra.frames, extra.keys
            hit[at] += extra.values[:, 0]
            dwell[at] += extra.values[:, 1]
        first = _between(weights, APPROACH + k, share)
        tops = np.maximum(np.maximum(hit, dwell), first).max(axis=1)
        logs = np.maximum(tops, table_top)
        self.count, self.scale = count, float(logs.sum())
        self.hit, self.dwell = np.exp(hit - logs[:, None]), np.exp(dwell - logs[:, None])
        transit = table[_cells(plane, seen)] * np.exp(table_top - logs)
        transit[np.arange(num_keys), np.arange(num_keys)] = 0.0
        self.transit = np.empty((count, num_keys + 1, num_keys))
        self.transit[:, :num_keys] = np.moveaxis(transit, 2, 0)
        self.transit[:, num_keys] = np.exp(first - logs[:, None])


def plain_extra(extra: Extra, e: int) -> Extra:
    """The additions of gesture number `e`."""
    some = slice(int(extra.starts[e]), int(extra.starts[e + 1]))
    return Extra(extra.values[some], extra.keys[some], extra.frames[some], extra.starts)


def plain_network_rows(packed: Packed, restart: Restart) -> Rows:
    """As `network_rows`."""
    plane, parts, starts = restart.plane, [], [0]
    for e in range(len(packed.starts) - 1):
        trace = plain_trace(packed, e)
        count = plain_num_frames(trace, restart)
        seen = Seen(trace, plane, count)
        frames, keys = np.nonzero(seen.near <= REACH)
        window = np.clip(frames[:, None] + np.arange(-WINDOW, WINDOW + 1), 0, count - 1)
        inputs = np.empty((len(frames), NUM_INPUTS))
        many = inputs[:, :-4].reshape(len(frames), -1, 4)
        many[..., :2] = np.clip(seen.place[window] - plane[keys][:, None], -3.0, 3.0) / 2
        many[..., 2] = np.minimum(seen.near[window, keys[:, None]], 3.0) - 1
        speed = np.sqrt(seen.move[:, 0] ** 2 + seen.move[:, 1] ** 2)
        many[..., 3] = (np.log(speed + 1.0) / 2 - 0.5)[window]
        inputs[:, -4] = np.minimum(frames, 5) / 5
        inputs[:, -3] = np.minimum(count - 1 - frames, 5) / 5
        inputs[:, -2], inputs[:, -1] = frames == 0, frames == count - 1
        parts.append((inputs, keys, frames))
        starts.append(starts[-1] + len(frames))
    if not parts:
        nothing = np.empty(0, np.int64)
        parts = [(np.empty((0, NUM_INPUTS)), nothing, nothing)]
    inputs, keys, frames = (np.concatenate(one) for one in zip(*parts, strict=True))
    return Rows(inputs, keys, frames, np.array(starts))
