"""What the network sees of a frame and a key."""

from __future__ import annotations

import math

from ...._numba import larger, part, smaller

# Frames before and after.
WINDOW = 8
# Keys farther away than this are none of the network's business.
REACH = 2.2
NUM_INPUTS = 4 * (2 * WINDOW + 1) + 4


@part(error_model="numpy")
def fill_rows(plane, count, near, place, move, inputs, keys, frames, at):
    """Writes the rows of one trace from row `at` on; returns the row after the last."""
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
            keys[at], frames[at] = c, i
            at += 1
    return at
