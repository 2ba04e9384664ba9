"""Walks over stages: how paths of stages are proposed, and what they weigh.

A draw from the joint stationary law follows a path z* = z_0, z_1, …, z_t of stages, never back at
z*, with mass π_C(z*) Π C[z_{s-1}, z_s], where π_C(z*) = 1/τ(z*) and τ(z) is the expected number of
steps from z until the next restart. For a plain strong Doeblin chain that is ε(1-ε)^t.
"""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from .._custom_types import Scalar
from .._elimination import invariant, until_first


class StageWalk(eqx.Module):
    """A proposal for paths of stages. Stages other than z* are numbered 0 … m-1; m is the start."""

    log_next: Float[Array, "from to"]

    @property
    def num_stages(self) -> int:
        return self.log_next.shape[1]

    def log_prob(self, previous: Int[Array, "..."], stage: Int[Array, "..."]) -> Array:
        if self.num_stages == 1:
            return jnp.zeros(stage.shape)
        return self.log_next[previous, stage]


def others(stage_matrix: Array, restart_stage: int) -> np.ndarray:
    """The stages other than z*, in order, then z* itself: the numbering used here."""
    stages = np.delete(np.arange(stage_matrix.shape[0]), restart_stage)
    return np.append(stages, restart_stage)


def reordered(stage_matrix: Array, restart_stage: int) -> Float[Array, "k k"]:
    """The stage matrix with z* moved to the end."""
    order = others(stage_matrix, restart_stage)
    return stage_matrix[order][:, order]


def log_restart_mass(matrix: Float[Array, "k k"]) -> Scalar:
    """log π_C(z*), for a reordered stage matrix."""
    if len(matrix) == 2:
        # τ(z*) = 1 + C[z*, z]/C[z, z*]: ε for plain chains, and nothing to solve.
        return -jnp.log1p(matrix[1, 0] / matrix[0, 1])
    return jnp.log(invariant(_restart_first(matrix))[0])


def forward_walk(matrix: Float[Array, "k k"]) -> StageWalk:
    """From the restart on: C tilted by τ, so that stages are visited as in exact draws."""
    if len(matrix) == 2:
        return StageWalk(jnp.zeros((2, 1)))
    moves = matrix[:, :-1] * until_first(_restart_first(matrix))[None, :0:-1]
    return StageWalk(_log_rows(moves))


def backward_walk(matrix: Float[Array, "k k"]) -> StageWalk:
    """From a stationary moment back towards the restart: the time-reversed stage chain."""
    if len(matrix) == 2:
        return StageWalk(jnp.zeros((2, 1)))
    visits = invariant(_restart_first(matrix))[::-1]
    before = (visits[:-1, None] * matrix[:-1, :-1]).T
    return StageWalk(_log_rows(jnp.concatenate([before, visits[None, :-1]])))


def safe_log(values: Array) -> Array:
    """log with gradient zero, not NaN, at zero."""
    positive = values > 0
    return jnp.where(positive, jnp.log(jnp.where(positive, values, 1)), -jnp.inf)


def _restart_first(matrix: Float[Array, "k k"]) -> Float[Array, "k k"]:
    return matrix[::-1, ::-1]


def _log_rows(moves: Array) -> Array:
    """Rows as log-laws. A row without mass is a dead end; staying there weighs nothing."""
    total = moves.sum(axis=1, keepdims=True)
    stay = jnp.eye(moves.shape[0], moves.shape[1])
    return safe_log(jnp.where(total > 0, moves / jnp.where(total > 0, total, 1), stay))
