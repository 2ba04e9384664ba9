"""From a trace to its potentials."""

from __future__ import annotations

import numpy as np

from ...._numba import njit, part
from ._arrays import Extra, Potentials
from ._frames import frame_arrays, make_frames, num_frames
from ._potentials import make_potentials, transit_cells


@part(error_model="numpy")
def extra_of(extra, e):
    """The additions of gesture number `e`."""
    r, q = extra.starts[e], extra.starts[e + 1]
    return Extra(extra.values[r:q], extra.keys[r:q], extra.frames[r:q], extra.starts)


@njit(error_model="numpy")
def prepare(trace, restart, extra):
    """Frames and potentials of one trace: how many, both, and the logs of the scales."""
    num_keys = len(restart.plane)
    count = num_frames(trace.t, restart)
    frames = frame_arrays(count, num_keys)
    make_frames(trace, restart.plane, count, frames)
    transit_cells(restart.plane, count, frames)
    potentials = Potentials(
        np.empty((num_keys, count)),
        np.empty((num_keys, count)),
        np.empty((num_keys + 1, num_keys, count)),
    )
    logs = np.empty(count)
    make_potentials(restart, count, frames, extra, potentials, logs)
    return count, frames, potentials, logs
