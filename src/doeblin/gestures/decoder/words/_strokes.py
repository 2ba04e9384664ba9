"""What A's network sees of one letter of a word: the strokes to its key and away from it.

A word's letters are put where the best alignment under u hits them. Strokes are seen along and
across the straight line between the two keys, so that the network knows keys by geometry only.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...._numba import NOUGHT, kept, larger, part, smaller
from ..restart import FINE, Floats, column_mean, num_frames, sample_trace, trace_of
from ._names import NUM_STROKE_INPUTS, POINTS, TOUCH, TURN


class Samples(NamedTuple):
    """A trace at equal times: where it was, and how far along its path; `step` is in seconds."""

    x: Floats
    y: Floats
    path: Floats
    step: float


@part(error_model="numpy")
def _bounded(value, bound):
    return smaller(larger(value, -bound), bound)


@part(error_model="numpy")
def hit_samples(keys, hits, plane, samples, out):
    """The sample nearest to each letter's key within the frame of its hit, in order of time."""
    fx, fy = samples.x, samples.y
    last = 0
    for j in range(len(keys)):
        centre = FINE * hits[j]
        best, at = np.inf, centre
        for s in range(larger(centre - FINE // 2, 0), smaller(centre + FINE // 2, len(fx) - 1) + 1):
            square = (fx[s] - plane[keys[j], 0]) ** 2 + (fy[s] - plane[keys[j], 1]) ** 2
            if square < best:
                best, at = square, s
        last = larger(last, at)
        out[j] = last


@part(error_model="numpy")
def stroke(samples, begin, end, x, y, ux, uy, length, arriving, out, column):
    """Writes a stroke between two samples, relative to the key at (x, y) and the direction u."""
    fx, fy, path, step = samples.x, samples.y, samples.path, samples.step
    for m in range(POINTS):
        share = m / POINTS if arriving else (m + 1) / POINTS
        at = begin + share * (end - begin)
        s = smaller(int(at), len(fx) - 2)
        part = at - s
        dx = fx[s] + part * (fx[s + 1] - fx[s]) - x
        dy = fy[s] + part * (fy[s + 1] - fy[s]) - y
        out[column + 2 * m] = _bounded(dx * ux + dy * uy, 6.0) / 2
        out[column + 2 * m + 1] = _bounded(dy * ux - dx * uy, 4.0)
    column += 2 * POINTS
    greatest = 0.0
    for s in range(begin, end + 1):
        greatest = larger(greatest, abs((fy[s] - y) * ux - (fx[s] - x) * uy))
    out[column] = length / 2 - 1
    out[column + 1] = ux if length > 0 else 0.0
    out[column + 2] = uy if length > 0 else 0.0
    out[column + 3] = math.log(((end - begin) * step + 0.02) / 0.2)
    out[column + 4] = math.log((path[end] - path[begin] + 0.5) / (length + 0.5))
    out[column + 5] = smaller(greatest, 4.0)
    return column + 6


@part(error_model="numpy")
def word_strokes(samples, plane, keys, hits, doubled, hit_at, out):
    """One row of `out` for each letter of a word; `hit_at` is room for its samples."""
    fx, fy, path, step = samples.x, samples.y, samples.path, samples.step
    count, fine = len(keys), len(fx)
    hit_samples(keys, hits, plane, samples, hit_at)
    mean = larger(path[-1] / (step * (fine - 1)), 1e-6)
    middle_x, middle_y = column_mean(plane, 0), column_mean(plane, 1)
    for j in range(count):
        x, y, at = plane[keys[j], 0], plane[keys[j], 1], hit_at[j]
        column = NOUGHT
        for side in range(2):
            other = j - 1 if side == 0 else j + 1
            ux, uy, length = 1.0, 0.0, 0.0
            if 0 <= other < count:
                ux, uy = plane[keys[other], 0] - x, plane[keys[other], 1] - y
                length = math.hypot(ux, uy)
                ux, uy = ux / length, uy / length
            begin, end = at, at
            if side == 0:
                begin = hit_at[j - 1] if j > 0 else NOUGHT
            else:
                end = hit_at[j + 1] if j < count - 1 else fine - 1
            column = stroke(samples, begin, end, x, y, ux, uy, length, side == 0, out[j], column)
        before, after = larger(at - TURN, 0), smaller(at + TURN, fine - 1)
        ax, ay = fx[at] - fx[before], fy[at] - fy[before]
        bx, by = fx[after] - fx[at], fy[after] - fy[at]
        size = math.hypot(ax, ay) * math.hypot(bx, by) + 0.01
        speed = (path[after] - path[before]) / ((after - before) * step)
        spent = 0.0
        s = at
        while s > 0 and math.hypot(fx[s] - x, fy[s] - y) < TOUCH:
            spent += step
            s -= 1
        s = at + 1
        while s < fine and math.hypot(fx[s] - x, fy[s] - y) < TOUCH:
            spent += step
            s += 1
        row = out[j]
        row[column] = _bounded(fx[at] - x, 3.0)
        row[column + 1] = _bounded(fy[at] - y, 3.0)
        row[column + 2] = (ax * bx + ay * by) / size
        row[column + 3] = (ax * by - ay * bx) / size
        row[column + 4] = math.log(speed + 1.0) / 2 - 0.5
        row[column + 5] = smaller(speed / mean, 3.0) - 1
        row[column + 6] = math.log((spent + 0.02) / 0.1)
        row[column + 7] = j == 0
        row[column + 8] = j == count - 1
        row[column + 9] = keys[j] == doubled
        row[column + 10] = (x - middle_x) / 5
        row[column + 11] = y - middle_y
        row[column + 12] = count / 5 - 1
        row[column + 13] = j / count


@part(error_model="numpy")
def samples_of(trace, count):
    """The samples of a trace of so many frames."""
    fine = (count - 1) * FINE + 1
    step = larger((trace.t[-1] - trace.t[0]) / 1000.0, 1e-3) / (fine - 1)
    samples = Samples(np.empty(fine), np.empty(fine), np.empty(fine), step)
    sample_trace(trace, samples.x, samples.y, samples.path)
    return samples


@kept(about=3, nogil=True, error_model="numpy")
def stroke_rows(packed, restart, words, ids, hits):
    """One row for each letter of each candidate, and the candidate that it is of.

    Candidates are numbered on through the gestures, as if there were no gaps in `ids`' rows.
    """
    size = 0
    for e in range(len(ids)):
        for k in range(ids.shape[1]):
            word = ids[e, k]
            if word >= 0:
                size += words.starts[word + 1] - words.starts[word]
    rows = np.empty((size, NUM_STROKE_INPUTS), np.float32)
    owners = np.empty(size, np.int64)
    hit_at = np.empty(hits.shape[2], np.int64)
    at = NOUGHT
    for e in range(len(ids)):
        trace = trace_of(packed, e)
        samples = samples_of(trace, num_frames(trace.t, restart))
        for k in range(ids.shape[1]):
            word = ids[e, k]
            if word < 0:
                continue
            keys = words.keys[words.starts[word] : words.starts[word + 1]]
            end = at + len(keys)
            word_strokes(
                samples, restart.plane, keys, hits[e, k], words.doubled[word], hit_at,
                rows[at:end],
            )  # fmt: skip
            for row in range(at, end):
                owners[row] = e * ids.shape[1] + k
            at = end
    return rows, owners
