"""Estimators of the likelihood π̃(y | x) and of the gradient of its logarithm."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from .._custom_types import Input, RandomKey
from .._errors import InputError
from ..chains import Chain
from ..kernels import AbstractRestart
from ._estimate import AbstractEstimator, PathEstimate, with_gradient_of
from ._horizons import AbstractHorizon
from ._normalise import Normalise, WalkWeights, checked_normalise
from ._prefixes import (
    AbstractPrefixes,
    BackwardPrefixes,
    Endpoints,
    ForwardPrefixes,
    Model,
    checked_walks,
)
from ._stages import others
from ._tape import frozen


class Forward(AbstractEstimator):
    """Algorithm 1 of the paper: walk from the restart, weigh every prefix by its step onto y.

    Works for every kernel with `log_prob`, but needs walks to pass near y, so it is for small
    spaces. `baseline` takes the other walks' mean off the weights of scores of mean zero; the
    paper has none.
    """

    horizon: AbstractHorizon
    num_walks: int = eqx.field(static=True, default=16, converter=checked_walks)
    proposal: AbstractRestart | None = None
    baseline: bool = eqx.field(static=True, default=False)
    normalise: Normalise = eqx.field(static=True, default="all", converter=checked_normalise)

    def __call__(self, key: RandomKey, chain: Chain, y: Any, x: Input = None) -> PathEstimate:
        model = Model.of(chain, x)
        model.demand("log_prob", "forward")
        end_key, walk_key = jax.random.split(key)
        endpoints = Endpoints.draw(end_key, y, x, self.proposal, self.num_walks)
        prefixes = ForwardPrefixes.walk(walk_key, model, self.horizon, endpoints)
        return _combined(self, chain, model, endpoints, [(prefixes, prefixes.log_weight)])


class Reversal(AbstractEstimator):
    """Time reversal: walk from y back in time, weigh every prefix by u(y_0) π̂(y)/π̂(y_0).

    No walk has to hit anything, so it works in spaces of any size; at the paper's initialisation
    all weights are equal. Needs kernels with `log_target` and `reverse` (reversible ones are their
    own). Weights are heavy-tailed where u and π are far apart (large χ²(u‖π)): see
    [`Bidirectional`][doeblin.learning.Bidirectional].
    """

    horizon: AbstractHorizon
    num_walks: int = eqx.field(static=True, default=16, converter=checked_walks)
    proposal: AbstractRestart | None = None
    baseline: bool = eqx.field(static=True, default=True)
    normalise: Normalise = eqx.field(static=True, default="all", converter=checked_normalise)

    def __call__(self, key: RandomKey, chain: Chain, y: Any, x: Input = None) -> PathEstimate:
        model = Model.of(chain, x)
        for capability in ("log_target", "reverse", "sample_scored"):
            model.demand(capability, "reversal")
        end_key, walk_key = jax.random.split(key)
        endpoints = Endpoints.draw(end_key, y, x, self.proposal, self.num_walks)
        prefixes = BackwardPrefixes.walk(walk_key, model, self.horizon, endpoints)
        return _combined(self, chain, model, endpoints, [(prefixes, prefixes.log_weight)])


class Bidirectional(AbstractEstimator):
    """Half of the walks go forward, half back; the balance heuristic combines them.

    A path weighs its probability over the sum of the probabilities with which either kind of walk
    takes it, so no weight is large unless both are unlikely to find the path. Needs kernels with
    `log_prob`, `log_target` and `reverse`.
    """

    horizon: AbstractHorizon
    num_walks: int = eqx.field(static=True, default=16, converter=checked_walks)
    proposal: AbstractRestart | None = None
    baseline: bool = eqx.field(static=True, default=True)
    normalise: Normalise = eqx.field(static=True, default="all", converter=checked_normalise)

    def __check_init__(self):
        if self.num_walks % 2:
            raise InputError(
                f"num_walks = {self.num_walks} must be even: half of the walks go each way"
            )

    def __call__(self, key: RandomKey, chain: Chain, y: Any, x: Input = None) -> PathEstimate:
        model = Model.of(chain, x)
        for capability in ("log_prob", "log_target", "reverse"):
            model.demand(capability, "bidirectional")
        end_key, ahead_key, back_key = jax.random.split(key, 3)
        endpoints = Endpoints.draw(end_key, y, x, self.proposal, self.num_walks // 2)
        ahead = ForwardPrefixes.walk(ahead_key, model, self.horizon, endpoints)
        back = BackwardPrefixes.walk(back_key, model, self.horizon, endpoints)
        fixed = frozen(model)
        ratio_ahead = _log_ratio_ahead(fixed, ahead, back)
        ratio_back = _log_ratio_back(fixed, back, ahead)
        parts: list[tuple[AbstractPrefixes, Array]] = [
            (ahead, ahead.log_weight + jax.nn.log_sigmoid(ratio_ahead)),
            (back, back.log_weight + jax.nn.log_sigmoid(-ratio_back)),
        ]
        return _combined(self, chain, model, endpoints, parts)


def _log_ratio_ahead(model: Model, ahead: ForwardPrefixes, back: BackwardPrefixes) -> Array:
    """log of p_forward/p_backward for the prefixes of forward walks.

    Both take the steps in between alike, up to the targets: the ratio is that of the stages, of
    u(y_0) Π π̂(y_s)/π̂(y_{s-1}) over all steps but the last, and of A*(y_{t-1} | y) for the last.
    """
    tape = ahead.tape
    drop = model.log_drop(tape)
    before = -(tape.running(drop) - drop)
    last_drop = _log_targets_drop(model, ahead)
    log_back_step = ahead.log_hit + last_drop
    start = tape.spread(ahead.log_start_u)
    ratio = ahead.log_stage_ratio(back.stages) + start + before - log_back_step
    return jnp.where(jnp.isneginf(ahead.log_hit), jnp.inf, ratio)


def _log_targets_drop(model: Model, ahead: ForwardPrefixes) -> Array:
    """log π̂(y_{t-1}) - log π̂(y) at each slot of forward walks."""
    onto_target = eqx.tree_at(lambda tape: tape.new, ahead.tape, ahead.target)
    return model.log_drop(onto_target)


def _log_ratio_back(model: Model, back: BackwardPrefixes, ahead: ForwardPrefixes) -> Array:
    """The same for the prefixes of backward walks."""
    tape = back.tape
    first = slice(0, tape.num_walks)
    stage, old, new = jax.tree.map(lambda leaf: leaf[first], (tape.stage, tape.old, tape.new))
    # log A*(y_{t-1} | y) = log A(y | y_{t-1}) + log π̂(y_{t-1}) - log π̂(y).
    first_drop = back.log_drop[first]
    log_back_step = model.log_prob(stage, old, new) - first_drop
    gone = tape.running(back.log_drop) - tape.spread(first_drop)
    ratio = back.log_u + gone - back.log_stage_ratio(ahead.stages)
    return ratio - tape.spread(log_back_step)


def _combined(
    estimator: Forward | Reversal | Bidirectional,
    chain: Chain,
    model: Model,
    endpoints: Endpoints,
    parts: list[tuple[AbstractPrefixes, Array]],
) -> PathEstimate:
    """Z and ∇ log Z from weighted prefixes; the path of no steps, y ~ u, is counted once a walk."""
    num_walks = endpoints.log_proposed.shape[0]
    fixed = frozen(model)
    log_direct = fixed.log_start + endpoints.each(fixed.log_u) - endpoints.log_proposed
    log_parts = [jax.lax.stop_gradient(log_weight) for _, log_weight in parts]
    top = jnp.max(jnp.stack([jnp.max(log) for log in (log_direct, *log_parts)]))
    top = jnp.where(jnp.isfinite(top), top, 0)
    direct = jnp.exp(log_direct - top)
    weighted = [(part, jnp.exp(log - top)) for (part, _), log in zip(parts, log_parts, strict=True)]
    walks = WalkWeights.of(
        direct, [(part.tape, weight) for part, weight in weighted], estimator.horizon
    )
    per_walk = walks.total
    scale, scales = walks.scale, walks.scales(estimator.normalise)

    possible = direct > 0
    # Any state that the restart can draw stands in where it has no mass, with weight zero.
    surrogate = model.log_start * jnp.sum(per_walk * scales)
    log_u = _possible_states(fixed, endpoints, possible).each(model.log_u)
    surrogate += jnp.sum(scales * direct * jnp.where(possible, log_u, 0))
    num_stages = model.matrix.shape[0]
    counts = jnp.zeros((num_stages, num_stages))
    transitions = jnp.array(0.0)
    for part, weight in weighted:
        price = _leave_one_out(part, weight) if estimator.baseline else jnp.zeros(num_walks)
        surrogate += part.surrogate(model, weight * part.tape.spread(scales), price * scales)
        # Expectations given the data, so weights that sum to one.
        counts += part.stage_counts(weight * scale, num_stages)
        transitions += part.tape.alive.sum()
    total = per_walk.sum()
    log_likelihood = jnp.where(total > 0, jnp.log(total / num_walks) + top, -jnp.inf)
    order = np.argsort(others(chain.stage_matrix, chain.restart_stage))
    return PathEstimate(
        with_gradient_of(log_likelihood, surrogate),
        jnp.log(per_walk) + top,
        transitions,
        counts[order][:, order],
    )


def _possible_states(fixed: Model, endpoints: Endpoints, possible: Array) -> Endpoints:
    spare = frozen(fixed.restart.sample(jax.random.key(0), fixed.x))
    states = jax.tree.map(
        lambda leaf, spare: jnp.where(
            possible.reshape(possible.shape + (1,) * (leaf.ndim - 1)), leaf, spare
        ),
        endpoints.states,
        spare,
    )
    return eqx.tree_at(lambda endpoints: endpoints.states, endpoints, states)


def _leave_one_out(part: AbstractPrefixes, weight: Array) -> Array:
    """What the other walks' prefixes weigh, for each unit of their coefficients."""
    earned = part.tape.walk_sum(weight)
    paid = part.tape.walk_sum(jnp.exp(part.log_coefficient))
    earned, paid = earned.sum() - earned, paid.sum() - paid
    return jnp.where(paid > 0, earned / jnp.where(paid > 0, paid, 1), 0)
