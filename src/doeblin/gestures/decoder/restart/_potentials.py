"""The log-linear potentials of u, and the way back from expected counts to a gradient."""

from __future__ import annotations

import math

import numpy as np

from ...._numba import larger, part, smaller
from ._frames import column_mean
from ._weights import (
    AIM_REACH,
    APPROACH,
    DISTANCES,
    DWELL,
    GAPS,
    GRID,
    HIT,
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


@part(error_model="numpy")
def knot(value, knots):
    """The knot before `value` and how far along it is to the next one."""
    last = len(knots) - 2
    k = 0
    while k < last and knots[k + 1] <= value:
        k += 1
    return k, smaller((value - knots[k]) / (knots[k + 1] - knots[k]), 1.0)


@part(error_model="numpy")
def transit_cell(px, py, move_x, move_y, speed, ax, ay, ux, uy, length, far):
    """The flat cell of the transit table: length class, heading, gap to the line a + s·u."""
    along = (px - ax) * ux + (py - ay) * uy
    along = smaller(larger(along, 0.0), length)
    dx = px - ax - along * ux
    dy = py - ay - along * uy
    gap = smaller(int(math.sqrt(dx * dx + dy * dy) / GRID + 0.5), NUM_GRID - 1)
    sector = 0
    if speed >= SLOW:
        cosine = (move_x * ux + move_y * uy) / speed
        sector = (
            1 if cosine > 0.92 else
            2 if cosine > 0.7 else
            3 if cosine > 0.3 else
            4 if cosine > -0.3 else 5
        )  # fmt: skip
    return (far * NUM_HEADINGS + sector) * NUM_GRID + gap


@part(error_model="numpy")
def transit_cells(plane, count, frames):
    """`cells[p, c, i]` for every pair of keys and frame."""
    place, move, cells = frames.place, frames.move, frames.cells
    num_keys = len(plane)
    for p in range(num_keys):
        for c in range(num_keys):
            if p == c:
                continue
            dx = plane[c, 0] - plane[p, 0]
            dy = plane[c, 1] - plane[p, 1]
            length = math.sqrt(dx * dx + dy * dy)
            far = 0
            while far < NUM_LENGTHS - 1 and length > LENGTHS[far]:
                far += 1
            for i in range(count):
                speed = math.sqrt(move[i, 0] ** 2 + move[i, 1] ** 2)
                cells[p, c, i] = transit_cell(
                    place[i, 0], place[i, 1], move[i, 0], move[i, 1], speed,
                    plane[p, 0], plane[p, 1], dx / length, dy / length, length, far,
                )  # fmt: skip


@part(error_model="numpy")
def transit_table(weights):
    """Exponential potentials of transit by cell, scaled by the largest; and that scale's log."""
    size = NUM_LENGTHS * NUM_HEADINGS * NUM_GRID
    table = np.empty(size)
    top = -np.inf
    for cell in range(size):
        k, share = knot((cell % NUM_GRID) * GRID, GAPS)
        at = TRANSIT + (cell // NUM_GRID) * NUM_GAPS + k
        table[cell] = (1 - share) * weights[at] + share * weights[at + 1]
        top = larger(top, table[cell])
    for cell in range(size):
        table[cell] = math.exp(table[cell] - top)
    return table, top


@part(error_model="numpy")
def key_offsets(plane, c, near, dx, dy, i, count, features):
    """Where in the vector an aim's offset begins; fills its six features. -1 if too far away."""
    if near >= AIM_REACH:
        return -1
    fade = 1 - (near / AIM_REACH) ** 2
    right = (plane[c, 0] - column_mean(plane, 0)) / 5
    down = plane[c, 1] - column_mean(plane, 1)
    features[0], features[3] = fade * dx, fade * dy
    features[1], features[4] = right * features[0], right * features[3]
    features[2], features[5] = down * features[0], down * features[3]
    return OFFSET + 6 * (0 if i == 0 else 2 if i == count - 1 else 1)


@part(error_model="numpy")
def make_potentials(restart, count, frames, extra, potentials, logs):
    """Potentials of one trace.

    Row K of `transit` is for the way to the first letter. Potentials are exponentials, scaled
    frame by frame; `logs` holds the logs of the scales. `extra` are the trace's additions.
    """
    plane, weights = restart.plane, restart.weights
    near, offset_x, offset_y, lowest = frames.near, frames.offset_x, frames.offset_y, frames.lowest
    motion, speeds, cells = frames.motion, frames.speeds, frames.cells
    hit, dwell, transit = potentials.hit, potentials.dwell, potentials.transit
    num_keys = len(plane)
    table, table_top = transit_table(weights)
    features = np.empty(6)
    bonus = np.empty((count, num_keys, 2))
    for i in range(count):
        for c in range(num_keys):
            bonus[i, c, 0] = bonus[i, c, 1] = 0.0
    for row in range(len(extra.values)):
        for kind in range(2):
            bonus[extra.frames[row], extra.keys[row], kind] = extra.values[row, kind]
    for i in range(count):
        top = table_top
        for c in range(num_keys):
            k, share = knot(near[i, c], DISTANCES)
            at = HIT + (motion[i] * 2 + lowest[i, c]) * NUM_DISTANCES + k
            value = (1 - share) * weights[at] + share * weights[at + 1]
            start = key_offsets(
                plane, c, near[i, c], offset_x[i, c], offset_y[i, c], i, count, features
            )
            if start >= 0:
                for f in range(6):
                    value += features[f] * weights[start + f]
            hit[c, i] = value + bonus[i, c, 0]
            at = DWELL + speeds[i] * NUM_DISTANCES + k
            dwell[c, i] = (1 - share) * weights[at] + share * weights[at + 1] + bonus[i, c, 1]
            at = APPROACH + k
            transit[num_keys, c, i] = (1 - share) * weights[at] + share * weights[at + 1]
            top = larger(top, larger(hit[c, i], larger(dwell[c, i], transit[num_keys, c, i])))
        logs[i] = top
        for c in range(num_keys):
            hit[c, i] = math.exp(hit[c, i] - top)
            dwell[c, i] = math.exp(dwell[c, i] - top)
            transit[num_keys, c, i] = math.exp(transit[num_keys, c, i] - top)
    scales = np.empty(count)
    for i in range(count):
        scales[i] = math.exp(table_top - logs[i])
    for p in range(num_keys):
        for c in range(num_keys):
            for i in range(count):
                transit[p, c, i] = table[cells[p, c, i]] * scales[i] if p != c else 0.0


@part(error_model="numpy")
def add_gradient(plane, count, frames, counts, gradient):
    """Adds Σ counts · ∂log-potential/∂weights to `gradient`."""
    near, offset_x, offset_y, lowest = frames.near, frames.offset_x, frames.offset_y, frames.lowest
    motion, speeds, cells = frames.motion, frames.speeds, frames.cells
    hit_count, dwell_count, transit_count = counts.hit, counts.dwell, counts.transit
    num_keys = len(plane)
    features = np.empty(6)
    for i in range(count):
        for c in range(num_keys):
            k, share = knot(near[i, c], DISTANCES)
            amount = hit_count[c, i]
            at = HIT + (motion[i] * 2 + lowest[i, c]) * NUM_DISTANCES + k
            gradient[at] += (1 - share) * amount
            gradient[at + 1] += share * amount
            start = key_offsets(
                plane, c, near[i, c], offset_x[i, c], offset_y[i, c], i, count, features
            )
            if start >= 0:
                for f in range(6):
                    gradient[start + f] += features[f] * amount
            amount = dwell_count[c, i]
            at = DWELL + speeds[i] * NUM_DISTANCES + k
            gradient[at] += (1 - share) * amount
            gradient[at + 1] += share * amount
            amount = transit_count[num_keys, c, i]
            gradient[APPROACH + k] += (1 - share) * amount
            gradient[APPROACH + k + 1] += share * amount
    table = np.zeros(NUM_LENGTHS * NUM_HEADINGS * NUM_GRID)
    for p in range(num_keys):
        for c in range(num_keys):
            if p != c:
                for i in range(count):
                    table[cells[p, c, i]] += transit_count[p, c, i]
    for cell in range(len(table)):
        if table[cell] != 0.0:
            k, share = knot((cell % NUM_GRID) * GRID, GAPS)
            at = TRANSIT + (cell // NUM_GRID) * NUM_GAPS + k
            gradient[at] += (1 - share) * table[cell]
            gradient[at + 1] += share * table[cell]
