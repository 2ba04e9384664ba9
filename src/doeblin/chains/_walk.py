"""Walks over stages that end at a restart, drawn stage by stage instead of step by step.

Two walks matter. A *tour* follows the stage matrix from the restart stage z* until it is about to
restart again. An *exact draw* is the same walk, tilted so that it ends at a stationary moment: with
τ(z) the expected number of steps until the next restart (the present step counted), a walk that
stops at stage z with probability 1/τ(z), and otherwise moves to z' ≠ z* with probability
C[z, z'] τ(z') / (τ(z) - 1), takes every path with its stationary probability of being the path
since the last restart. For plain strong Doeblin chains both lengths are Geometric(ε).
"""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from .._custom_types import Count, RandomKey
from .._solve import solve


class Segment(NamedTuple):
    """A stay in one stage. `stage` is `num_stages` of the walk once the walk has ended."""

    stage: Count
    steps: Count


class Walk(eqx.Module):
    """A walk over the stages other than z*, numbered 0 … m-1, which ends in state m.

    `cumulative[0]` has the running sums of the (unnormalised) law of the first stage,
    `cumulative[1 + i]` those of the stage after i.
    """

    cumulative: Float[Array, "from to"]
    exit: Float[Array, " stages"]

    @property
    def num_stages(self) -> int:
        return self.exit.shape[0]

    def segment(self, key: RandomKey, number: Count, previous: Count) -> Segment:
        """The segment of that number (0 is the first), after a stay in stage `previous`.

        It depends on the key and the number alone, so that a walk can be walked again.
        """
        choose, stay = jax.random.uniform(jax.random.fold_in(key, number), (2,))
        below = self.cumulative[jnp.where(number == 0, 0, previous + 1)]
        stage = (below <= choose * below[-1]).sum()
        exit = self.exit[jnp.minimum(stage, self.num_stages - 1)]
        # Stays are geometric; log1p keeps rare exits exact where 1 - exit would round to one.
        more = jnp.floor(jnp.log1p(-stay) / jnp.log1p(-exit))
        ended = stage == self.num_stages
        return Segment(stage, jnp.where(ended, 0, 1 + more.astype(jnp.int32)))

    def lengths(self, keys: Array) -> Int[Array, " walks"]:
        """Total number of steps of each walk."""

        def more(carry):
            return (carry[1] < self.num_stages).any()

        def extend(carry):
            number, stage, total = carry
            segment = jax.vmap(self.segment, in_axes=(0, None, 0))(keys, number, stage)
            running = stage < self.num_stages
            stage = jnp.where(running, segment.stage, stage)
            return number + 1, stage, total + jnp.where(running, segment.steps, 0)

        zeros = jnp.zeros(keys.shape[0], dtype=jnp.int32)
        return jax.lax.while_loop(more, extend, (jnp.array(0), zeros, zeros))[2]


def tour_walk(stage_matrix: Float[Array, "k k"], restart_stage: int) -> Walk:
    """The stages between one restart and the next."""
    ones = jnp.ones(stage_matrix.shape[0])
    return _walk(stage_matrix, restart_stage, ones, stage_matrix[:, restart_stage])


def draw_walk(stage_matrix: Float[Array, "k k"], restart_stage: int) -> Walk:
    """The stages since the last restart, seen at a stationary moment."""
    away = stage_matrix.at[:, restart_stage].set(0)
    # I - away, with its diagonal summed from the exits: exact for rare exits.
    leave = jnp.where(jnp.eye(len(away), dtype=bool), 0, stage_matrix).sum(axis=1)
    leave = leave.at[restart_stage].set(1)
    system = jnp.where(jnp.eye(len(away), dtype=bool), jnp.diag(leave), -away)
    until = solve(system, jnp.ones(len(away)))
    return _walk(stage_matrix, restart_stage, until, 1 / until)


def _walk(matrix: Array, restart_stage: int, height: Array, end: Array) -> Walk:
    """The stage matrix tilted by `height`, ending with probability `end`."""
    stages = np.delete(np.arange(matrix.shape[0]), restart_stage)
    order = np.concatenate([[restart_stage], stages])
    moves = (matrix * height / height[:, None])[order][:, stages]
    # A stay is one segment, so the next stage is another one.
    stays = np.eye(len(order), len(stages), -1, dtype=bool)
    table = jnp.concatenate([jnp.where(stays, 0, moves), end[order][:, None]], axis=1)
    return Walk(jnp.cumsum(table, axis=1), jnp.minimum(table[1:].sum(axis=1), 1.0))
