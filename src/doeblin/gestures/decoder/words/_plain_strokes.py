"""The strokes to and from each letter in numpy: as `_strokes.py`, for few traces."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..restart import (
    FINE,
    Floats,
    Ints,
    Packed,
    Restart,
    Trace,
    plain_num_frames,
    plain_samples,
    plain_trace,
)
from ._names import NUM_STROKE_INPUTS, POINTS, TOUCH, TURN, Words


class _Letters:
    """The letters of some words side by side: keys, hits, and the places of each in its word."""

    def __init__(self, words: Words, ids: Ints, hits: Ints):
        first, sizes = words.starts[ids], np.diff(words.starts)[ids]
        self.word = np.repeat(np.arange(len(ids)), sizes)
        self.sizes = sizes[self.word]
        self.number = np.arange(len(self.word)) - (np.cumsum(sizes) - sizes)[self.word]
        self.key = words.keys[first[self.word] + self.number]
        self.hit = hits[self.word, self.number]
        self.twice = self.key == words.doubled[ids][self.word]
        self.first, self.last = self.number == 0, self.number == self.sizes - 1

    def shifted(self, values: NDArray, by: int, other: NDArray) -> NDArray:
        """Of each letter the value of the one before (-1) or after (1) it; `other` at the end."""
        return np.where(self.first if by < 0 else self.last, other, np.roll(values, -by, axis=0))


def _hit_samples(letters: _Letters, plane: Floats, at: Floats) -> Ints:
    """The sample nearest to each letter's key within the frame of its hit, in order of time."""
    centre, fine = FINE * letters.hit, len(at)
    window = np.clip(centre[:, None] + np.arange(-(FINE // 2), FINE // 2 + 1), 0, fine - 1)
    square = ((at[window] - plane[letters.key][:, None]) ** 2).sum(axis=2)
    best = window[np.arange(len(window)), square.argmin(axis=1)]
    # A running maximum within each word: words are told apart by a multiple of what is possible.
    return np.maximum.accumulate(best + letters.word * fine) - letters.word * fine


def _stroke(
    samples: tuple[Floats, Floats, float], begin: Ints, end: Ints, place: Floats, way: Floats,
    length: Floats, arriving: bool, out: NDArray[np.float32],
) -> None:  # fmt: skip
    """Writes strokes between two samples, relative to a key and to the way from or to it."""
    at, path, step = samples
    shares = np.arange(POINTS) + (0 if arriving else 1)
    where = begin[:, None] + shares / POINTS * (end - begin)[:, None]
    s = np.minimum(where.astype(np.int64), len(at) - 2)
    points = at[s] + (where - s)[..., None] * (at[s + 1] - at[s]) - place[:, None]
    ux, uy = way[:, :1], way[:, 1:]
    out[:, 0 : 2 * POINTS : 2] = np.clip(points[..., 0] * ux + points[..., 1] * uy, -6.0, 6.0) / 2
    out[:, 1 : 2 * POINTS : 2] = np.clip(points[..., 1] * ux - points[..., 0] * uy, -4.0, 4.0)
    off = at - place[:, None]
    across = np.abs(off[..., 1] * ux - off[..., 0] * uy)
    order = np.arange(len(at))
    across[(order < begin[:, None]) | (order > end[:, None])] = 0.0
    column = 2 * POINTS
    out[:, column] = length / 2 - 1
    out[:, column + 1 : column + 3] = np.where(length[:, None] > 0, way, 0.0)
    out[:, column + 3] = np.log(((end - begin) * step + 0.02) / 0.2)
    out[:, column + 4] = np.log((path[end] - path[begin] + 0.5) / (length + 0.5))
    out[:, column + 5] = np.minimum(across.max(axis=1), 4.0)


def _spent(at: Floats, place: Floats, hit: Ints, step: float) -> Floats:
    """How long the finger was at each letter's key around its hit."""
    order, fine = np.arange(len(at)), len(at)
    off = at - place[:, None]
    away = np.hypot(off[..., 0], off[..., 1]) >= TOUCH
    away[:, 0] = True  # there is no time before the first sample
    before = np.where(away & (order <= hit[:, None]), order, 0).max(axis=1)
    after = np.where(away & (order > hit[:, None]), order, fine).min(axis=1)
    return ((hit - before) + (after - hit - 1)) * np.float64(step)


def _rows(trace: Trace, restart: Restart, letters: _Letters) -> NDArray[np.float32]:
    """A row for each letter."""
    plane = restart.plane
    fine = (plain_num_frames(trace, restart) - 1) * FINE + 1
    at, path = plain_samples(trace, fine)
    step = max(float(trace.t[-1] - trace.t[0]) / 1000.0, 1e-3) / (fine - 1)
    mean = max(float(path[-1]) / (step * (fine - 1)), 1e-6)
    place, hit = plane[letters.key], _hit_samples(letters, plane, at)
    rows = np.empty((len(hit), NUM_STROKE_INPUTS), np.float32)
    side = 2 * POINTS + 6
    for by in (-1, 1):
        none = letters.first if by < 0 else letters.last
        way = np.where(none[:, None], place, np.roll(place, -by, axis=0)) - place
        length = np.hypot(way[:, 0], way[:, 1])
        way = np.where(none[:, None], [1.0, 0.0], way / np.where(none, 1.0, length)[:, None])
        begin = letters.shifted(hit, -1, np.zeros_like(hit)) if by < 0 else hit
        end = hit if by < 0 else letters.shifted(hit, 1, np.full_like(hit, fine - 1))
        out = rows[:, :side] if by < 0 else rows[:, side : 2 * side]
        _stroke((at, path, step), begin, end, place, way, length, by < 0, out)
    before, after = np.maximum(hit - TURN, 0), np.minimum(hit + TURN, fine - 1)
    a, b = at[hit] - at[before], at[after] - at[hit]
    size = np.hypot(a[:, 0], a[:, 1]) * np.hypot(b[:, 0], b[:, 1]) + 0.01
    speed = (path[after] - path[before]) / ((after - before) * step)
    middle = plane.mean(axis=0)
    rest = rows[:, 2 * side :]
    rest[:, 0:2] = np.clip(at[hit] - place, -3.0, 3.0)
    rest[:, 2] = (a * b).sum(axis=1) / size
    rest[:, 3] = (a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]) / size
    rest[:, 4] = np.log(speed + 1.0) / 2 - 0.5
    rest[:, 5] = np.minimum(speed / mean, 3.0) - 1
    rest[:, 6] = np.log((_spent(at, place, hit, step) + 0.02) / 0.1)
    rest[:, 7], rest[:, 8], rest[:, 9] = letters.first, letters.last, letters.twice
    rest[:, 10], rest[:, 11] = (place[:, 0] - middle[0]) / 5, place[:, 1] - middle[1]
    rest[:, 12], rest[:, 13] = letters.sizes / 5 - 1, letters.number / letters.sizes
    return rows


def plain_stroke_rows(
    packed: Packed, restart: Restart, words: Words, ids: Ints, hits: Ints
) -> tuple[NDArray[np.float32], Ints]:
    """As `stroke_rows`."""
    rows = [np.empty((0, NUM_STROKE_INPUTS), np.float32)]
    owners = [np.empty(0, np.int64)]
    for e in range(len(ids)):
        there = np.flatnonzero(ids[e] >= 0)
        letters = _Letters(words, ids[e, there], hits[e, there])
        if len(letters.key):
            rows.append(_rows(plain_trace(packed, e), restart, letters))
            owners.append(e * ids.shape[1] + there[letters.word])
    return np.concatenate(rows), np.concatenate(owners)
