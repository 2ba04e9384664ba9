"""From weights of walks to a gradient of log Z: what each walk's own gradient is divided by."""

from __future__ import annotations

from typing import Literal

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from .._custom_types import Scalar
from .._errors import InputError

Normalise = Literal["others", "all"]
"""Walk i gives an unbiased weight W_i and an unbiased gradient G_i of the likelihood.

- "all": Σ G_i / Σ W_i, the self-normalised ratio of Algorithm 1. Bounded by the largest score
  whatever the weights are, but its mean is off by O(1/k), in direction too.
- "others": each G_i over the mean weight of the *other* walks, which knows nothing of walk i. So
  the mean points exactly along ∇ log π̃, for any number of walks. Only its length is off: by
  E[Z/Z_others] ≥ 1, which tends to 1 as 1 + O(1/k). It pays with variance where few walks carry all
  the weight.
"""


class WalkWeights(eqx.Module):
    """What each walk weighs: for steps that all of them take, and for later ones."""

    early: Float[Array, " walks"]
    late: Float[Array, " walks"]
    """Zero but for the first `tails` walks, each of which speaks for walks/tails of all."""
    tails: int = eqx.field(static=True)

    @property
    def total(self) -> Float[Array, " walks"]:
        return self.early + self.late

    @property
    def scale(self) -> Scalar:
        """1/Σ W, or zero if nothing weighs anything."""
        total = self.total.sum()
        return jnp.where(total > 0, 1 / jnp.where(total > 0, total, 1), 0)

    def scales(self, normalise: Normalise) -> Float[Array, " walks"]:
        """What each walk's gradient is multiplied with."""
        num_walks = self.early.shape[0]
        same = jnp.broadcast_to(self.scale, num_walks)
        if normalise == "all" or num_walks == 1:
            return same
        # Those without a tail leave one out, too, so that what all are divided by has one law.
        others = _without_own(self.late[: self.tails])[jnp.arange(num_walks) % self.tails]
        late = others / (self.tails - 1) * self.tails / num_walks
        mean = _without_own(self.early) / (num_walks - 1) + late
        known = mean > 0
        return jnp.where(known, 1 / (num_walks * jnp.where(known, mean, 1)), same)


def checked_normalise(normalise: Normalise) -> Normalise:
    if normalise not in ("others", "all"):
        raise InputError(f"normalise = {normalise!r} must be 'others' or 'all'")
    return normalise


def _without_own(values: Float[Array, " walks"]) -> Float[Array, " walks"]:
    """The sum of all other values; no subtraction, which would lose the digits of small ones."""
    before = jnp.cumsum(values[:-1])
    after = jnp.cumsum(values[:0:-1])[::-1]
    return jnp.pad(before, (1, 0)) + jnp.pad(after, (0, 1))
