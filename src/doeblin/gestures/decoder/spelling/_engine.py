"""Compiled entry points beside the lexicon: open spelling, and the networks' inputs."""

from __future__ import annotations

import math

import numpy as np

from ...._numba import NOUGHT, kept
from ..restart._frames import make_frames, num_frames
from ..restart._lattice import advance, follow, look_ahead
from ..restart._prepare import TINY, frame_arrays, prepare
from ..restart._rows import NUM_INPUTS, fill_rows
from ..words._strokes import NUM_STROKE_INPUTS, trace_strokes


@kept(about=5, error_model="numpy")
def spell(
    x,
    y,
    t,
    plane,
    weights,
    letters,
    rate,
    least,
    most,
    extra,
    extra_keys,
    extra_frames,
    out_keys,
    out_sizes,
    out_masses,
):
    """The best strings of letters by log m + log-probability of the letters; a beam search.

    Prefixes are ranked by their mass times the exact mass of all that may follow.
    """
    beam, longest = out_keys.shape
    num_keys = len(plane)
    count, _frames, hit, dwell, transit, logs = prepare(
        x, y, t, plane, weights, rate, least, most, extra, extra_keys, extra_frames
    )
    scale = logs.sum()
    ahead = np.empty((num_keys + 1, count + 1))
    look_ahead(letters, hit, dwell, transit, count, ahead)
    masses = np.zeros((beam, count + 1))
    masses[0, 0] = 1.0
    prefixes = np.full((beam, longest), -1)
    weight = np.zeros(beam)
    alive = 1
    found = 0
    arriving = np.empty(count)
    mass = np.empty((beam * num_keys, count + 1))
    promise = np.empty(beam * num_keys)
    for size in range(1, longest + 1):
        for k in range(alive):
            previous = prefixes[k, size - 2] if size > 1 else num_keys
            for c in range(num_keys):
                at = k * num_keys + c
                promise[at] = -np.inf
                if c == previous or letters[previous, c] <= 0.0:
                    continue
                advance(
                    masses[k], hit[c], dwell[c], transit[previous, c], count, arriving,
                    mass[at],
                )  # fmt: skip
                value = 0.0
                for i in range(count):
                    value += arriving[i] * hit[c, i] * ahead[c, i + 1]
                if value > TINY:
                    promise[at] = math.log(value) + weight[k] + math.log(letters[previous, c])
        order = np.argsort(-promise[: alive * num_keys])
        new_prefixes = np.full((beam, longest), -1)
        new_weight = np.zeros(beam)
        new_alive = 0
        for at in order[:beam]:
            if promise[at] == -np.inf:
                break
            # Every string found so far beats all that this prefix may become.
            if found == beam and promise[at] + scale <= out_masses[:beam].min():
                break
            k, c = at // num_keys, at % num_keys
            previous = prefixes[k, size - 2] if size > 1 else num_keys
            new_prefixes[new_alive] = prefixes[k]
            new_prefixes[new_alive, size - 1] = c
            new_weight[new_alive] = weight[k] + math.log(letters[previous, c])
            new_alive += 1
        kept = np.zeros((beam, count + 1))
        for n in range(new_alive):
            kept[n] = mass[order[n]]
            c = new_prefixes[n, size - 1]
            if kept[n, count] > TINY and letters[c, num_keys] > 0.0:
                value = (
                    math.log(kept[n, count]) + new_weight[n] + math.log(letters[c, num_keys])
                    + scale
                )  # fmt: skip
                slot = found
                if found == beam:
                    slot = np.argmin(out_masses)
                    if out_masses[slot] >= value:
                        continue
                else:
                    found += 1
                out_masses[slot] = value
                out_sizes[slot] = size
                out_keys[slot] = new_prefixes[n]
        masses, prefixes, weight, alive = kept, new_prefixes, new_weight, new_alive
        if alive == 0:
            break
    return found


@kept(about=5, error_model="numpy")
def spelt(
    x, y, t, plane, weights, letters, rate, least, most, extra, extra_keys, extra_frames, keys
):
    """log m of one word (by its merged keys), and the log of the mass of all spellings."""
    count, _frames, hit, dwell, transit, logs = prepare(
        x, y, t, plane, weights, rate, least, most, extra, extra_keys, extra_frames
    )
    arriving = np.empty((len(keys) + 1, count))
    mass = np.empty((len(keys) + 1, count + 1))
    value = follow(keys, hit, dwell, transit, count, arriving, mass)
    ahead = np.empty((len(plane) + 1, count + 1))
    total = look_ahead(letters, hit, dwell, transit, count, ahead)
    scale = logs.sum()
    return (
        scale + math.log(value) if value > TINY else -np.inf,
        scale + math.log(total) if total > TINY else -np.inf,
    )


@kept(about=5, error_model="numpy")
def network_rows(xs, ys, ts, starts, plane, rate, least, most):
    """The network's inputs for some traces: inputs, keys, frames, and where each begins."""
    num_keys = len(plane)
    row_starts = np.empty(len(starts), np.int64)
    row_starts[0] = 0
    size = 0
    for e in range(len(starts) - 1):
        a, b = starts[e], starts[e + 1]
        size += num_keys * num_frames(xs[a:b], ys[a:b], ts[a:b], rate, least, most)
    inputs = np.empty((size, NUM_INPUTS))
    keys, frames = np.empty(size, np.int64), np.empty(size, np.int64)
    at = 0
    for e in range(len(starts) - 1):
        a, b = starts[e], starts[e + 1]
        count = num_frames(xs[a:b], ys[a:b], ts[a:b], rate, least, most)
        near, offset_x, offset_y, lowest, motion, speeds, _cells = frame_arrays(count, num_keys)
        place, move = np.empty((count, 2)), np.empty((count, 2))
        make_frames(
            xs[a:b], ys[a:b], ts[a:b], plane, count, near, offset_x, offset_y, lowest,
            motion, speeds, place, move,
        )  # fmt: skip
        at = fill_rows(plane, count, near, place, move, inputs, keys, frames, at)
        row_starts[e + 1] = at
    return inputs[:at].copy(), keys[:at].copy(), frames[:at].copy(), row_starts


@kept(about=10, nogil=True, error_model="numpy")
def stroke_rows(
    xs, ys, ts, starts, plane, rate, least, most, ids, hits, word_keys, word_starts, doubled
):
    """One row for each letter of each candidate, and the candidate that it is of.

    Candidates are numbered on through the gestures, as if there were no gaps in `ids`' rows.
    """
    size = 0
    for e in range(len(ids)):
        for k in range(ids.shape[1]):
            word = ids[e, k]
            if word >= 0:
                size += word_starts[word + 1] - word_starts[word]
    rows = np.empty((size, NUM_STROKE_INPUTS), np.float32)
    owners = np.empty(size, np.int64)
    samples = np.empty(hits.shape[2], np.int64)
    at = NOUGHT
    for e in range(len(ids)):
        a, b = starts[e], starts[e + 1]
        count = num_frames(xs[a:b], ys[a:b], ts[a:b], rate, least, most)
        at = trace_strokes(
            xs[a:b], ys[a:b], ts[a:b], plane, count, ids[e], hits[e], word_keys, word_starts,
            doubled, samples, rows, owners, e * ids.shape[1], at,
        )  # fmt: skip
    return rows, owners
