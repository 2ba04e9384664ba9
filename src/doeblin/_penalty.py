"""The penalty that keeps learned weights small."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array


class SquaredNorm(eqx.Module):
    """l2/2 · ‖θ‖², over all numbers that are finite: a score of -inf is a rule, and no weight."""

    l2: float = eqx.field(static=True)

    def __call__(self, parameters: Any) -> Array:
        leaves = jax.tree.leaves(eqx.filter(parameters, eqx.is_inexact_array))
        finite = [jnp.where(jnp.isfinite(leaf), leaf, 0) for leaf in leaves]
        return self.l2 / 2 * sum((jnp.sum(leaf**2) for leaf in finite), jnp.array(0.0))
