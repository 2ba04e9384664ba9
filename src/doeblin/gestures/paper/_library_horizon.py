"""Lengths of tours for many lanes side by side."""

from __future__ import annotations

import math

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from ..._custom_types import RandomKey
from ...learning import AbstractHorizon, Segment


class Stratified(AbstractHorizon):
    """Tours of geometric lengths, one from each of as many strata as there are walks.

    So every length is as likely as under [`Geometric`][doeblin.learning.Geometric], but how many
    walks go on after t steps hardly varies, and lanes that would wait for them are not needed. As
    in the compiled engine, tours end after `longest` steps at the latest.
    """

    epsilon: float = eqx.field(static=True)
    longest: int = eqx.field(static=True)

    def lengths(self, key: RandomKey, num_walks: int) -> Int[Array, " walks"]:
        # The first stratum has the smallest uniform variates, so the longest walks.
        uniform = (jnp.arange(num_walks) + jax.random.uniform(key, (num_walks,))) / num_walks
        lengths = jnp.floor(jnp.log(uniform) / math.log1p(-self.epsilon))
        return jnp.minimum(lengths, self.longest).astype(jnp.int32)

    def log_survival(self, num_walks: int, steps: Array) -> Float[Array, "..."]:
        return steps * math.log1p(-self.epsilon)

    def common_steps(self) -> int | None:
        return None

    def segments(self, num_walks: int) -> tuple[Segment, ...]:
        lanes = max(num_walks // 8, 1)
        # Walk i ends once (1-ε)^t < i/k; one step more, against rounding.
        end = 1 + math.ceil(math.log(lanes / num_walks) / math.log1p(-self.epsilon))
        if num_walks == 1 or end >= self.longest:
            return (Segment(num_walks, self.longest),)
        return (Segment(num_walks, end), Segment(lanes, self.longest - end))
