"""What u's network sees of a frame and a key.

It is a convolution over the frames, the same for every key: it looks at one key over a window of
them, at where the finger was relative to the key, how near it came, and how fast it was. Since it
knows keys by geometry only, it works on every layout.
"""

from __future__ import annotations

import math

import numpy as np

from ...._numba import kept, larger, part, smaller
from ._arrays import NUM_INPUTS, REACH, WINDOW, Rows
from ._frames import frame_arrays, make_frames, num_frames, trace_of


@part(error_model="numpy")
def fill_rows(plane, count, seen, rows, at):
    """Writes the rows of one trace from row `at` on; returns the row after the last."""
    near, place, move = seen.near, seen.place, seen.move
    inputs = rows.inputs
    for i in range(count):
        for c in range(len(plane)):
            if near[i, c] > REACH:
                continue
            column = 0
            for j in range(i - WINDOW, i + WINDOW + 1):
                k = smaller(larger(j, 0), count - 1)
                dx = place[k, 0] - plane[c, 0]
                dy = place[k, 1] - plane[c, 1]
                inputs[at, column] = smaller(larger(dx, -3.0), 3.0) / 2
                inputs[at, column + 1] = smaller(larger(dy, -3.0), 3.0) / 2
                inputs[at, column + 2] = smaller(near[k, c], 3.0) - 1
                speed = math.sqrt(move[k, 0] ** 2 + move[k, 1] ** 2)
                inputs[at, column + 3] = math.log(speed + 1.0) / 2 - 0.5
                column += 4
            inputs[at, column] = smaller(i, 5) / 5
            inputs[at, column + 1] = smaller(count - 1 - i, 5) / 5
            inputs[at, column + 2] = i == 0
            inputs[at, column + 3] = i == count - 1
            rows.keys[at], rows.frames[at] = c, i
            at += 1
    return at


@kept(about=5, error_model="numpy")
def network_rows(packed, restart):
    """The `Rows` of some gestures."""
    num_keys, count = len(restart.plane), len(packed.starts) - 1
    size = 0
    for e in range(count):
        size += num_keys * num_frames(trace_of(packed, e).t, restart)
    rows = Rows(
        np.empty((size, NUM_INPUTS)),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty(count + 1, np.int64),
    )
    rows.starts[0] = at = 0
    for e in range(count):
        trace = trace_of(packed, e)
        frames = frame_arrays(num_frames(trace.t, restart), num_keys)
        make_frames(trace, restart.plane, len(frames.near), frames)
        at = fill_rows(restart.plane, len(frames.near), frames, rows, at)
        rows.starts[e + 1] = at
    return Rows(
        rows.inputs[:at].copy(), rows.keys[:at].copy(), rows.frames[:at].copy(), rows.starts
    )
