"""Gestures made up: fitted on how people swipe, or the simple walk of the paper's experiment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..._errors import InputError
from ._gesture import Gesture
from ._layout import Layout
from ._lexicon import Lexicon

Preset = Literal["realistic", "paper"]
# Where points lie all over the keyboard, and beside it, whatever the word.
_MOST_NOISE = 10.0


@dataclass(frozen=True)
class Generator:
    """Makes gestures for words.

    `realistic` has one via-point a letter (doubled letters merged), off its key by a heavy-tailed
    normal, passed through on the path of least jerk with a short dwell, at times fitted on people.
    `paper` is a first-order autoregressive walk from letter to letter, the likeliest reading of
    "a time series model". `noise`, 10 at most, scales the spread of the points, `rate` is in points
    a second; without it, `realistic` samples at 60 Hz as phones do and `paper` at 9 Hz as the
    paper's example. Words of one letter (after merging) are taps.
    """

    layout: Layout
    preset: Preset = "realistic"
    noise: float = 1.0
    rate: float | None = None
    words_per_user: int = 50

    def __post_init__(self):
        if self.preset not in ("realistic", "paper"):
            raise InputError(f"preset = {self.preset!r} must be 'realistic' or 'paper'")
        if not 0 <= self.noise <= _MOST_NOISE:
            raise InputError(f"noise = {self.noise} must be between 0 and {_MOST_NOISE:g}")
        if self.rate is not None and not (np.isfinite(self.rate) and 1 <= self.rate <= 1000):
            raise InputError(f"rate = {self.rate} must be between 1 and 1000 points a second")
        if self.words_per_user < 1:
            raise InputError(f"words_per_user = {self.words_per_user} must be at least 1")

    def gesture(self, word: str, rng: np.random.Generator, *, pace: float = 0.0) -> Gesture:
        """A gesture for one word. `pace` is the user's effect on log-times (SD 0.42 in people)."""
        if not word:
            raise InputError("cannot swipe an empty word")
        keys = self.layout.encode(word)
        if self.preset == "paper":
            points, times = self._walk(keys, rng)
        else:
            points, times = self._least_jerk(keys[np.diff(keys, prepend=-1) != 0], rng, pace)
        return Gesture(points[:, 0], points[:, 1], times, word=word)

    def sample(
        self, lexicon: Lexicon, count: int, seed: int = 0, *, power: float = 1.0
    ) -> Iterator[Gesture]:
        """`count` gestures of words drawn by frequency, in order of their (made-up) users.

        With a `power` below one, rare words come more often: frequencies are raised to it.
        """
        if not 0 <= power <= 10:
            raise InputError(f"power = {power} must be between 0 and 10")
        words = [word for word in lexicon.words if self.layout.spells(word)]
        if not words:
            raise InputError(f"layout {self.layout.name!r} can spell no word of the lexicon")
        ranks = [lexicon.index[word] for word in words]
        chances = np.cumsum(_powers(lexicon.frequencies[ranks], power))
        rng = np.random.default_rng(seed)
        pace = 0.0
        for number in range(count):
            if number % self.words_per_user == 0:
                pace = 0.42 * rng.standard_normal()
            word = words[int(np.searchsorted(chances, rng.random() * chances[-1], side="right"))]
            gesture = self.gesture(word, rng, pace=pace)
            user = str(number // self.words_per_user)
            yield replace(gesture, user=user, id=str(number))

    def _least_jerk(
        self, keys: NDArray[np.int64], rng: np.random.Generator, pace: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        count = len(keys)
        spread = np.tile([0.24, 0.153], (count, 1))
        spread[0] = [0.26, 0.145]
        spread[-1] = [0.44, 0.23]
        tail = np.where(rng.random(count) < 0.15, 1.8, 0.8)[:, None]
        via = self.layout.centres[keys] + self.noise * spread * tail * rng.standard_normal(
            (count, 2)
        )
        rate = self.rate or 60.0
        if count == 1:
            # A tap: the finger rests for a while.
            times = np.arange(0, max(2, round(0.1 * rate))) / rate
            return np.repeat(via, len(times), axis=0), 1000 * times
        gaps = np.linalg.norm(np.diff(self.layout.plane[keys], axis=0), axis=1)
        between = (
            np.exp(
                5.21
                + 0.43 * np.log(np.maximum(gaps, 0.5))
                + pace
                + 0.5 * rng.standard_normal(count - 1)
            )
            / 1000
        )
        dwell = rng.uniform(0.1, 0.2, count - 1)
        moved = via[1:] + self.noise * rng.standard_normal((count - 1, 2)) * [0.05, 0.03]
        knots = np.empty((2 * count - 1, 2))
        knots[0], knots[1::2], knots[2::2] = via[0], via[1:], moved
        steps = np.empty(2 * count - 2)
        steps[0::2], steps[1::2] = between * (1 - dwell), between * dwell
        times = np.concatenate([[0.0], np.cumsum(steps)])
        frames = np.linspace(0, times[-1], max(2, round(times[-1] * rate) + 1))
        return least_jerk(times, knots, frames), 1000 * frames

    def _walk(
        self, keys: NDArray[np.int64], rng: np.random.Generator
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        pull, spread, reach, leave, patience = 0.6, 0.45, 0.9, 0.6, 12
        shape = np.array([1.0, 1.0 / self.layout.aspect])
        place = self.layout.centres[keys[0]] + self.noise * spread * rng.standard_normal(2) * shape
        points = [place]
        for target in self.layout.centres[keys[1:]]:
            for _ in range(patience):
                shake = self.noise * spread * rng.standard_normal(2) * shape
                place = place + pull * (target - place) + shake
                points.append(place)
                near = np.linalg.norm((place - target) / shape) < reach
                if near and rng.random() < leave:
                    break
        return np.array(points), 1000 * np.arange(len(points)) / (self.rate or 9.0)


def _powers(frequencies: NDArray[np.float64], power: float) -> NDArray[np.float64]:
    """Powers of frequencies, up to a factor where they would all be too large or too small."""
    with np.errstate(over="ignore", under="ignore"):
        powers = frequencies**power
        if np.finfo(float).tiny <= powers.max() and np.isfinite(powers.sum()):
            return powers
        return np.exp(power * (np.log(frequencies) - np.log(frequencies.max())))


def least_jerk(
    times: NDArray[np.float64], points: NDArray[np.float64], at: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The path of least integrated squared jerk through `points` at `times`, at rest at both ends.

    It is the quintic spline with four continuous derivatives (Flash & Hogan, 1985). Position,
    velocity and acceleration at the knots are the unknowns of a small linear system.
    """
    count = len(times)
    steps = np.diff(times)
    system = np.zeros((2 * count, 2 * count))
    right = np.zeros((2 * count, points.shape[1]))
    # At rest at both ends: no velocity, no acceleration.
    for row, column in enumerate((0, 1, 2 * count - 2, 2 * count - 1)):
        system[row, column] = 1.0
    row = 4
    for knot in range(1, count - 1):
        a, b = steps[knot - 1], steps[knot]
        before, here, after = 2 * (knot - 1), 2 * knot, 2 * (knot + 1)
        past = points[knot] - points[knot - 1]
        next_ = points[knot + 1] - points[knot]
        # Third derivative, continuous at the knot.
        system[row, before : before + 2] = [-24 / a**2, -3 / a]
        system[row, here : here + 2] = [-36 / a**2 + 36 / b**2, 9 / a + 9 / b]
        system[row, after : after + 2] = [24 / b**2, -3 / b]
        right[row] = -60 * past / a**3 + 60 * next_ / b**3
        # Fourth derivative, likewise.
        system[row + 1, before : before + 2] = [-168 / a**3, -24 / a**2]
        system[row + 1, here : here + 2] = [-192 / a**3 - 192 / b**3, 36 / a**2 - 36 / b**2]
        system[row + 1, after : after + 2] = [-168 / b**3, 24 / b**2]
        right[row + 1] = -360 * past / a**4 - 360 * next_ / b**4
        row += 2
    slopes = np.linalg.solve(system, right)
    velocity, acceleration = slopes[0::2], slopes[1::2]
    piece = np.clip(np.searchsorted(times, at, side="right") - 1, 0, count - 2)
    h = steps[piece][:, None]
    s = (at[:, None] - times[piece][:, None]) / h
    p0, p1 = points[piece], points[piece + 1]
    v0, v1 = velocity[piece] * h, velocity[piece + 1] * h
    a0, a1 = acceleration[piece] * h**2, acceleration[piece + 1] * h**2
    rise = p1 - p0
    cubic = 10 * rise - 6 * v0 - 4 * v1 - 1.5 * a0 + 0.5 * a1
    quartic = -15 * rise + 8 * v0 + 7 * v1 + 1.5 * a0 - a1
    quintic = 6 * rise - 3 * v0 - 3 * v1 - 0.5 * a0 + 0.5 * a1
    return p0 + s * (v0 + s * (0.5 * a0 + s * (cubic + s * (quartic + s * quintic))))
