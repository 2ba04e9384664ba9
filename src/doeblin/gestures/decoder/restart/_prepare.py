"""From a trace to its potentials."""

from __future__ import annotations

import numpy as np

from ...._numba import njit, part
from ._frames import make_frames, num_frames
from ._potentials import make_potentials, transit_cells

# Masses below this count as none: their logarithms would soon be out of range.
TINY = 1e-290


@part(error_model="numpy")
def frame_arrays(count, num_keys):
    return (
        np.empty((count, num_keys)),
        np.empty((count, num_keys)),
        np.empty((count, num_keys)),
        np.empty((count, num_keys), np.int64),
        np.empty(count, np.int64),
        np.empty(count, np.int64),
        np.empty((num_keys, num_keys, count), np.int32),
    )


@njit(error_model="numpy")
def prepare(x, y, t, plane, weights, rate, least, most, extra, extra_keys, extra_frames):
    """Frames and potentials of one trace."""
    num_keys = len(plane)
    count = num_frames(x, y, t, rate, least, most)
    frames = frame_arrays(count, num_keys)
    near, offset_x, offset_y, lowest, motion, speeds, cells = frames
    place = np.empty((count, 2))
    move = np.empty((count, 2))
    make_frames(
        x, y, t, plane, count, near, offset_x, offset_y, lowest, motion, speeds, place, move
    )
    transit_cells(plane, count, place, move, cells)
    hit = np.empty((num_keys, count))
    dwell = np.empty((num_keys, count))
    transit = np.empty((num_keys + 1, num_keys, count))
    logs = np.empty(count)
    make_potentials(
        weights, plane, count, near, offset_x, offset_y, lowest, motion, speeds, cells,
        extra, extra_keys, extra_frames, hit, dwell, transit, logs,
    )  # fmt: skip
    return count, frames, hit, dwell, transit, logs
