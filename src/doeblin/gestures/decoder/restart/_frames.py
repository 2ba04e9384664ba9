"""From a trace to frames: how near each key the finger came in each of them, and how it moved."""

from __future__ import annotations

import math

import numpy as np

from ...._numba import larger, part, smaller
from ._arrays import FINE, Frames, Trace
from ._weights import FIRST_MOTION, LAST_MOTION


@part(error_model="numpy")
def column_mean(points, column):
    total = 0.0
    for k in range(len(points)):
        total += points[k, column]
    return total / len(points)


@part(error_model="numpy")
def trace_of(packed, e):
    """The gesture number `e`."""
    a, b = packed.starts[e], packed.starts[e + 1]
    return Trace(packed.x[a:b], packed.y[a:b], packed.t[a:b])


@part(error_model="numpy")
def num_frames(t, restart):
    """Frames of a trace: `rate` a second, but within bounds."""
    duration = (t[-1] - t[0]) / 1000.0
    return smaller(larger(int(duration * restart.rate + 0.5) + 1, restart.least), restart.most)


@part(error_model="numpy")
def sample_trace(trace, fx, fy, path):
    """The trace at as many equal times as `fx` has places, and the path's length up to them."""
    x, y, t = trace.x, trace.y, trace.t
    points, fine = len(x), len(fx)
    duration = t[-1] - t[0]
    j = 0
    for k in range(fine):
        at = t[0] + duration * k / (fine - 1)
        while j < points - 2 and t[j + 1] < at:
            j += 1
        if points == 1:
            fx[k], fy[k] = x[0], y[0]
            continue
        gap = t[j + 1] - t[j]
        share = smaller(larger((at - t[j]) / gap, 0.0), 1.0) if gap > 0 else 1.0
        fx[k] = x[j] + share * (x[j + 1] - x[j])
        fy[k] = y[j] + share * (y[j + 1] - y[j])
    path[0] = 0.0
    for k in range(1, fine):
        path[k] = path[k - 1] + math.hypot(fx[k] - fx[k - 1], fy[k] - fy[k - 1])


@part(error_model="numpy")
def frame_arrays(count, num_keys):
    return Frames(
        np.empty((count, num_keys)),
        np.empty((count, num_keys)),
        np.empty((count, num_keys)),
        np.empty((count, num_keys), np.int64),
        np.empty(count, np.int64),
        np.empty(count, np.int64),
        np.empty((count, 2)),
        np.empty((count, 2)),
        np.empty((num_keys, num_keys, count), np.int32),
    )


@part(error_model="numpy")
def make_frames(trace, plane, count, frames):
    """Fills the frames of one trace (y in key widths), but for the cells.

    `near[i, c]` is the least distance to key c in a window around frame i, `offset_*` the offset of
    the nearest point, `lowest` marks local minima over frames. `motion[i]` says how the finger
    moved, `speeds[i]` how fast, `place[i]` and `move[i]` where it was and its velocity in key
    widths and seconds.
    """
    near, offset_x, offset_y, lowest = frames.near, frames.offset_x, frames.offset_y, frames.lowest
    motion, speeds, place, move = frames.motion, frames.speeds, frames.place, frames.move
    num_keys = len(plane)
    fine = (count - 1) * FINE + 1
    fx, fy, path = np.empty(fine), np.empty(fine), np.empty(fine)
    sample_trace(trace, fx, fy, path)
    duration = trace.t[-1] - trace.t[0]
    seconds = larger(duration / 1000.0, 1e-3)
    step = seconds / (fine - 1)
    mean = larger(path[-1] / seconds, 1e-6)
    half = FINE // 2
    for i in range(count):
        centre = i * FINE
        low = larger(centre - half, 0)
        high = smaller(centre + half, fine - 1)
        for c in range(num_keys):
            best = 1e30
            at_best = low
            for k in range(low, high + 1):
                dx = fx[k] - plane[c, 0]
                dy = fy[k] - plane[c, 1]
                square = dx * dx + dy * dy
                if square < best:
                    best = square
                    at_best = k
            near[i, c] = math.sqrt(best)
            offset_x[i, c] = fx[at_best] - plane[c, 0]
            offset_y[i, c] = fy[at_best] - plane[c, 1]
        speed = (path[high] - path[low]) / ((high - low) * step)
        place[i, 0], place[i, 1] = fx[centre], fy[centre]
        before = larger(centre - FINE, 0)
        after = smaller(centre + FINE, fine - 1)
        ax, ay = fx[centre] - fx[before], fy[centre] - fy[before]
        bx, by = fx[after] - fx[centre], fy[after] - fy[centre]
        move[i, 0] = (fx[high] - fx[low]) / ((high - low) * step)
        move[i, 1] = (fy[high] - fy[low]) / ((high - low) * step)
        turn = 0.0
        if math.hypot(ax, ay) > 0.05 and math.hypot(bx, by) > 0.05:
            turn = abs(math.atan2(ax * by - ay * bx, ax * bx + ay * by))
        relative = speed / mean
        pace = 0 if relative < 0.3 else 1 if relative < 0.7 else 2 if relative < 1.2 else 3
        bend = 0 if turn < 0.45 else 1 if turn < 1.2 else 2
        speeds[i] = pace
        motion[i] = 3 * pace + bend
    motion[0] = FIRST_MOTION
    motion[count - 1] = LAST_MOTION
    for i in range(count):
        for c in range(num_keys):
            lowest[i, c] = (i == 0 or near[i, c] <= near[i - 1, c]) and (
                i == count - 1 or near[i, c] <= near[i + 1, c]
            )
