"""Walks over stages that end at a restart, drawn stage by stage instead of step by step.

Two walks matter. A *tour* follows the stage matrix from the restart stage z* until it is about to
restart again. An *exact draw* is the same walk, tilted so that it ends at a stationary moment: with
τ(z) the expected number of steps until the next restart (the present step counted), a walk that
stops at stage z with probability 1/τ(z), and otherwise moves to z' ≠ z* with probability
C[z, z'] τ(z') / (τ(z) - 1), takes every path with its stationary probability of being the path
since the last restart. For plain strong Doeblin chains both lengths are Geometric(ε).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from .._custom_types import Count, RandomKey

LONGEST = np.iinfo(np.int32).max
"""Walks that would be as long or longer are refused: steps are counted in 32 bits."""

_BLOCK = 4096


class Segment(NamedTuple):
    """A stay in one stage. `stage` is `num_stages` of the walk once the walk has ended."""

    stage: Count
    steps: Count


class Walk(eqx.Module):
    """A walk over the stages other than z*, numbered 0 … m-1, which ends in state m.

    Row 0 of `cumulative` has the running sums of the (unnormalised) law of the first stage, row
    1 + i those of the stage after i, each in the order of `stages`: the unlikely ones come first,
    so that no sum swallows them.
    """

    stages: Int[Array, "from to"]
    cumulative: Float[Array, "from to"]
    exit: Float[Array, " stages"]

    @property
    def num_stages(self) -> int:
        return self.exit.shape[0]

    def segment(self, key: RandomKey, number: Count, previous: Count) -> Segment:
        """The segment of that number (0 is the first), after a stay in stage `previous`.

        It depends on the key and the number alone, so that a walk can be walked again.
        """
        uniforms = _uniforms(jax.random.fold_in(key, number), 3, self.exit.dtype)
        row = jnp.where(number == 0, 0, previous + 1)
        below = self.cumulative[row]
        stage = self.stages[row, jnp.sum(below <= uniforms[0] * below[-1])]
        exit = self.exit[jnp.minimum(stage, self.num_stages - 1)]
        more = _geometric(uniforms[1], uniforms[2], exit)
        return Segment(stage, jnp.where(stage == self.num_stages, 0, 1 + more))

    def lengths(self, keys: Key[Array, " walks"]) -> Int[Array, " walks"]:
        """Total number of steps of each walk."""

        def running(stage: Array, total: Array) -> Array:
            return (stage < self.num_stages) & (total < LONGEST)

        def extend(carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
            number, stage, total = carry
            segment = jax.vmap(self.segment, in_axes=(0, None, 0))(keys, number, stage)
            go = running(stage, total)
            longer = jnp.where(segment.steps > LONGEST - total, LONGEST, total + segment.steps)
            return number + 1, jnp.where(go, segment.stage, stage), jnp.where(go, longer, total)

        zeros = jnp.zeros(keys.shape[0], jnp.int32)
        carry = (jnp.array(0, jnp.int32), zeros, zeros)
        total = jax.lax.while_loop(lambda carry: running(*carry[1:]).any(), extend, carry)[2]
        return eqx.error_if(
            total,
            (total == LONGEST).any() | ~jnp.isfinite(self.cumulative).all(),
            "the chain restarts so rarely that 2,147,483,647 steps do not lead to a restart; make "
            "epsilon, or the exit rates of the schedule, larger",
        )


def tour_walk(stage_matrix: Float[Array, "k k"], restart_stage: int) -> Walk:
    """The stages between one restart and the next."""
    matrix = _restart_first(stage_matrix, restart_stage)
    return _walk(matrix, jnp.ones_like(matrix[0]), matrix[:, 0])


def draw_walk(stage_matrix: Float[Array, "k k"], restart_stage: int) -> Walk:
    """The stages since the last restart, seen at a stationary moment."""
    matrix = _restart_first(stage_matrix, restart_stage)
    until = _until_restart(matrix)
    return _walk(matrix, until, 1 / until)


def _restart_first(matrix: Float[Array, "k k"], restart_stage: int) -> Float[Array, "k k"]:
    stages = np.delete(np.arange(matrix.shape[0]), restart_stage)
    order = np.concatenate([[restart_stage], stages])
    return matrix[order][:, order]


def _until_restart(matrix: Float[Array, "k k"]) -> Float[Array, " k"]:
    """τ, for a matrix with the restart stage first.

    Stages are taken out from the last, each with the chances and the time of passing through it.
    Nothing is ever subtracted, so rare exits keep their digits (Grassmann, Taksar & Heyman, 1985).
    """
    size = matrix.shape[0]
    time, leave = jnp.ones_like(matrix[0]), [matrix[0, 0]] * size
    for last in range(size - 1, 0, -1):
        leave[last] = matrix[last, :last].sum()
        passing = matrix[:last, last] / leave[last]
        time = time.at[:last].add(passing * time[last])
        matrix = matrix.at[:last, :last].add(passing[:, None] * matrix[None, last, :last])
    until = [time[0]]
    for stage in range(1, size):
        onward = sum(matrix[stage, other] * until[other] for other in range(1, stage))
        until.append((time[stage] + onward) / leave[stage])
    return jnp.stack(until)


def _walk(matrix: Float[Array, "k k"], height: Array, end: Array) -> Walk:
    """The stage matrix (restart stage first) tilted by `height`, ending with probability `end`."""
    moves = (matrix * height[None] / height[:, None])[:, 1:]
    # A stay is one segment, so the next stage is another one.
    stays = np.eye(moves.shape[0], moves.shape[1], -1, dtype=bool)
    table = jnp.concatenate([jnp.where(stays, 0, moves), end[:, None]], axis=1)
    stages = jnp.argsort(table, axis=1)
    cumulative = jnp.cumsum(jnp.take_along_axis(table, stages, axis=1), axis=1)
    return Walk(stages.astype(jnp.int32), cumulative, jnp.minimum(cumulative[1:, -1], 1.0))


def _uniforms(key: RandomKey, count: int, dtype: Any) -> Float[Array, " count"]:
    """Uniform numbers in (0, 1) that have all their digits where they are small."""
    first, second = jax.random.uniform(key, (2, count), dtype)
    unit = jnp.finfo(dtype).eps
    return first + jnp.where(first < 0.5, jnp.maximum(second, unit / 2) * unit, 0)


def _geometric(coarse: Array, fine: Array, exit: Array) -> Count:
    """How often a coin that shows `exit` does not: floor(E/λ), λ = -log(1-exit), E exponential.

    Where exits are rare it is drawn as a number of whole blocks and the rest within a block, which
    are independent: a quotient above 2^24 would have lost its last digits.
    """
    rate = -jnp.log1p(-exit)
    block = jnp.where(rate * _BLOCK < 1, _BLOCK, 1).astype(jnp.int32)
    span = block.astype(rate.dtype) * rate
    blocks = jnp.floor(-jnp.log(coarse) / span)
    within = jnp.floor(-jnp.log1p(fine * jnp.expm1(-span)) / rate)
    # Rounding may take the rest to the block's end. An exit of zero gives 0/0, and no end.
    fits = blocks < LONGEST // _BLOCK
    whole, rest = (jnp.where(fits, part, 0).astype(jnp.int32) for part in (blocks, within))
    return jnp.where(fits, whole * block + jnp.minimum(rest, block - 1), LONGEST - 1)
