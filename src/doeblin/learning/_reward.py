"""Rewards instead of hits: the paper's surrogate for spaces where no walk hits the data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from .._custom_types import Count, Input, RandomKey, Scalar, State
from .._random import quick
from ..chains import Chain
from ._estimate import AbstractEstimator, PathEstimate, with_gradient_of
from ._horizons import AbstractHorizon, checked_horizon
from ._model import Model
from ._normalise import Normalise, WalkWeights, checked_normalise
from ._prefixes import Weighed, checked_walks, count_moves, forward_tape
from ._stages import others
from ._tape import frozen

LogReward = Callable[[Any, State, Input], Any]
"""log r(y, ŷ) of a state ŷ for the datum y; -inf for no reward."""


class Reward(AbstractEstimator):
    """log E[r(y, ŷ)] for ŷ ~ π̃(· | x), and its gradient.

    This is *not* the likelihood unless r(y, ŷ) is the indicator of ŷ = y: its gradient pulls
    towards states that are near y, however r says so. The estimate's `log_likelihood` is that of
    log E[r]; parameters of the reward have their share in the gradient. The paper's gesture
    experiment uses [`edit_distance_reward`][doeblin.learning.edit_distance_reward].
    """

    log_reward: LogReward
    horizon: AbstractHorizon = eqx.field(converter=checked_horizon)
    num_walks: int = eqx.field(static=True, default=16, converter=checked_walks)
    baseline: bool = eqx.field(static=True, default=True)
    normalise: Normalise = eqx.field(static=True, default="all", converter=checked_normalise)

    def __call__(self, key: RandomKey, chain: Chain, y: Any, x: Input = None) -> PathEstimate:
        model = Model.of(chain, x)
        model.demand("sample_scored", "reward")
        fixed = frozen(model)
        start_key, walk_key = jax.random.split(quick(key))
        start, tape, _, log_coefficient = forward_tape(
            start_key, walk_key, fixed, self.horizon, self.num_walks
        )
        log_reward = jax.vmap(lambda state: jnp.asarray(self.log_reward(y, state, x)))
        rewards = log_reward(start), log_reward(tape.new)
        log_first = fixed.log_start + frozen(rewards[0])
        log_later = log_coefficient + frozen(rewards[1])
        top = jnp.maximum(jnp.max(log_first), jnp.max(log_later))
        top = jnp.where(jnp.isfinite(top), top, 0)
        first, later = jnp.exp(log_first - top), jnp.exp(log_later - top)
        own = Weighed.of(tape, later, log_coefficient, self.horizon)
        walks = WalkWeights(first + own.walks.early, own.walks.late, own.walks.tails)
        per_walk, scales = walks.total, walks.scales(self.normalise)

        to_go = own.to_go * tape.spread(scales)
        paid = jnp.exp(fixed.log_start) + own.paid
        price = jnp.zeros(self.num_walks)
        if self.baseline and self.num_walks > 1:
            price = scales * (per_walk.sum() - per_walk) / (paid.sum() - paid)
        advantage = jnp.where(tape.alive, to_go - tape.spread(price) * own.left, 0)
        log_stage = model.log_stage(tape.previous, tape.stage)
        surrogate = (
            model.log_start * jnp.sum(per_walk * scales)
            + jnp.sum((per_walk * scales - price * paid) * model.log_u(start))
            + jnp.sum(advantage * model.scores(tape, reverse=False))
            + jnp.sum(jnp.where(to_go > 0, to_go * log_stage, 0))
            # The reward may have parameters too, or look at the input.
            + _weighted(first * scales, rewards[0])
            + _weighted(later * tape.spread(scales), rewards[1])
        )
        per_walk = jnp.where(model.never_leaves, first, per_walk)
        total = per_walk.sum()
        value = jnp.where(total > 0, jnp.log(total / self.num_walks) + top, -jnp.inf)
        order = np.argsort(others(chain.stage_matrix, chain.restart_stage))
        seen = own.to_go * walks.scale
        counts = count_moves(tape.previous, tape.stage, seen, model.matrix.shape[0])
        return PathEstimate(
            with_gradient_of(value, surrogate),
            jnp.log(per_walk) + top,
            tape.alive.sum().astype(float),
            counts[order][:, order],
        )


def _weighted(weights: Array, logarithms: Array) -> Scalar:
    """Σ w log r, where log r may be -inf if w is zero."""
    return jnp.sum(weights * jnp.where(weights > 0, logarithms, 0))


def edit_distance_reward(
    output: Callable[[State, Input], tuple[Array, Count]] | None = None,
) -> LogReward:
    """The paper's reward: 1 if ŷ spells y, else exp(-(D+1)) with D their edit distance.

    `output(state, x)` gives the symbols that a state spells and how many of them count; without
    it the state itself is the sequence. A datum is a sequence, or a pair (symbols, length).
    """

    def log_reward(y: Any, state: State, x: Input) -> Scalar:
        symbols, length = output(state, x) if output is not None else _with_length(state)
        wanted, wanted_length = _with_length(y)
        distance = edit_distance(symbols, wanted, length, wanted_length)
        return jnp.where(distance == 0, 0.0, -(distance.astype(float) + 1.0))

    return log_reward


def edit_distance(
    a: Int[Array, " m"],
    b: Int[Array, " n"],
    a_length: Count | int | None = None,
    b_length: Count | int | None = None,
) -> Count:
    """Levenshtein's distance between the beginnings of two sequences.

    >>> int(edit_distance(jnp.array([1, 2, 3]), jnp.array([1, 3, 3, 4])))
    2
    """
    a_length = a.shape[0] if a_length is None else a_length
    b_length = b.shape[0] if b_length is None else b_length
    place = jnp.arange(b.shape[0] + 1)

    def row(above: Array, symbol_and_index: tuple[Array, Array]) -> tuple[Array, None]:
        symbol, index = symbol_and_index
        changed = above[:-1] + (b != symbol).astype(above.dtype)
        cheapest = (above + 1).at[1:].min(changed)
        # Insertions run along the row: their cost is the distance, so a running minimum does it.
        here = jax.lax.cummin(cheapest - place) + place
        return jnp.where(index < a_length, here, above), None

    last = jax.lax.scan(row, place, (a, jnp.arange(a.shape[0])))[0]
    return last[b_length]


def _with_length(sequence: Any) -> tuple[Array, Count]:
    if isinstance(sequence, tuple):
        return sequence[0], sequence[1]
    return sequence, jnp.array(sequence.shape[0])
