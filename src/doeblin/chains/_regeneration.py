"""Regenerative estimates: tours between restarts are independent, so error bars are honest."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import jax
import numpy as np
from scipy.special import stdtrit

from .._errors import InputError
from ._sums import Sum, TourSums


@dataclass(frozen=True)
class Estimate:
    """An expectation under π̃, estimated from independent tours by a ratio of means.

    `mean` and `standard_error` have the structure of the function's value. They know what the tours
    met: an event that happens in one tour of a thousand is, in a hundred, most often 0 ± 0. Until
    it was met in a dozen tours or so, the interval is too short; ask for more of them. So it is
    where long tours count for most: of the age, an interval of 95 % holds the truth in some 85 % of
    cases with 64 tours, in 91 % with 256 and in 94 % with 1,024. Where the function, or its sum
    over a tour, is infinite, so is the mean, and the error is NaN.
    """

    mean: Any
    standard_error: Any
    num_tours: int
    num_steps: int

    def interval(self, confidence: float = 0.95) -> tuple[Any, Any]:
        """Lower and upper ends of the confidence interval (Student's t over tours)."""
        if not isinstance(confidence, Real | jax.Array) or not 0 < confidence < 1:
            raise InputError(f"confidence = {confidence!r} is no number in (0, 1)")
        factor = float(stdtrit(self.num_tours - 1, 0.5 + confidence / 2))
        low = jax.tree.map(lambda m, s: m - factor * s, self.mean, self.standard_error)
        high = jax.tree.map(lambda m, s: m + factor * s, self.mean, self.standard_error)
        return low, high


class _Moments:
    """Streaming means and (co)variances of tour sums Y and weights L, for one leaf of the value.

    Chunks are merged as in Chan, Golub & LeVeque (1983): stable, and constant in memory. Values are
    taken from the first of all that counts: large ones that hardly differ keep their digits.
    """

    def __init__(self) -> None:
        self.count = 0
        self.visits = 0
        self.centre: Any = 0.0
        self.beyond: Any = 0.0
        self.mean_y: Any = 0.0
        self.mean_l = 0.0
        self.yy: Any = 0.0
        self.yl: Any = 0.0
        self.ll = 0.0

    def add(self, sums: Sum, weights: np.ndarray) -> None:
        count = len(weights)
        first = np.add.reduce([part.astype(np.float64) for part in sums.first])
        if not self.visits and weights.any():
            self.centre = first[np.argmax(weights > 0)]
        self.visits += int(np.count_nonzero(weights))
        values = sums.total.astype(np.float64)
        values += np.where(np.isfinite(values), sums.lost, 0)
        values += (first - self.centre) * weights.reshape((-1,) + (1,) * (values.ndim - 1))
        # What is infinite or NaN is so in the end, in whatever order it comes.
        finite = np.isfinite(values)
        self.beyond = self.beyond + np.where(finite, 0, values).sum(axis=0)
        values = np.where(finite, values, 0)
        mean_y, mean_l = values.mean(axis=0), weights.mean()
        centred_y = values - mean_y
        centred_l = (weights - mean_l).reshape((-1,) + (1,) * (values.ndim - 1))
        shift_y, shift_l = mean_y - self.mean_y, mean_l - self.mean_l
        total = self.count + count
        share = self.count * count / total
        self.yy = self.yy + (centred_y**2).sum(axis=0) + shift_y**2 * share
        self.yl = self.yl + (centred_y * centred_l).sum(axis=0) + shift_y * shift_l * share
        self.ll = self.ll + float((centred_l**2).sum()) + shift_l**2 * share
        self.mean_y = self.mean_y + shift_y * (count / total)
        self.mean_l = self.mean_l + shift_l * (count / total)
        self.count = total

    def ratio(self) -> tuple[Any, Any]:
        """E[Y]/E[L] and its standard error by the delta method."""
        if self.visits < 2:
            raise InputError(
                f"{('no tour', 'one tour alone')[self.visits]} of {self.count} visited the stages "
                "asked for; ask for more tours or other stages"
            )
        ratio = self.mean_y / self.mean_l
        residual = self.yy - 2 * ratio * self.yl + ratio**2 * self.ll
        error = np.sqrt(np.maximum(residual, 0) / (self.count - 1) / self.count) / self.mean_l
        finite = np.isfinite(self.beyond)
        mean = np.where(finite, self.centre + ratio, self.beyond)
        return mean[()], np.where(finite, error, np.nan)[()]


def estimate_from_tours(
    sums: Callable[[int, int], TourSums], num_tours: int, chunk: int
) -> Estimate:
    """Estimate from `sums(first, count)`, asked for chunk by chunk."""
    num_chunks = math.ceil(num_tours / chunk)
    # Chunks of one size share what was compiled; the tours that fill up the last are not used.
    chunk = math.ceil(num_tours / num_chunks)
    moments: list[_Moments] = []
    structure: Any = None
    num_steps = 0
    for first in range(0, num_tours, chunk):
        found = jax.tree.map(np.asarray, sums(first, chunk))
        tours = jax.tree.map(lambda leaf, first=first: leaf[: num_tours - first], found)
        leaves, structure = jax.tree.flatten(tours.values, is_leaf=lambda it: isinstance(it, Sum))
        moments = moments or [_Moments() for _ in leaves]
        for leaf, moment in zip(leaves, moments, strict=True):
            with np.errstate(over="ignore", invalid="ignore"):
                moment.add(leaf, tours.weights.astype(np.float64))
        num_steps += int(tours.steps.sum(dtype=np.int64))
    ratios = [moment.ratio() for moment in moments]
    mean = jax.tree.unflatten(structure, [ratio for ratio, _ in ratios])
    standard_error = jax.tree.unflatten(structure, [error for _, error in ratios])
    return Estimate(mean, standard_error, num_tours, num_steps)
