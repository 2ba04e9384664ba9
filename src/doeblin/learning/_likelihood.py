"""Estimators of the likelihood π̃(y | x) and of the gradient of its logarithm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from .._custom_types import Input, RandomKey, State
from .._errors import InputError
from .._random import quick
from ..chains import Chain
from ..kernels import AbstractRestart
from ._estimate import AbstractEstimator, PathEstimate, with_gradient_of
from ._horizons import AbstractHorizon, checked_horizon
from ._model import Endpoints, Model, Spares
from ._normalise import Normalise, WalkWeights, checked_normalise
from ._prefixes import (
    AbstractPrefixes,
    BackwardPrefixes,
    ForwardPrefixes,
    Weighed,
    checked_walks,
)
from ._stages import others
from ._tape import frozen

_LEFT_SUPPORT = (
    "Reversal cannot see all paths here: the restart draws states (or, with several stages, the "
    "kernels pass through some) of zero density under a kernel's target, from where no walk back "
    "in time starts. Use Bidirectional or Forward; or give the restart no mass there, or the "
    "density a finite value instead of -inf"
)


class Forward(AbstractEstimator):
    """Algorithm 1 of the paper: walk from the restart, weigh every prefix by its step onto y.

    Works for every kernel with `log_prob`, but needs walks to pass near y, so it is for small
    spaces. `baseline` takes the other walks' mean off the weights of scores of mean zero; the
    paper has none.
    """

    horizon: AbstractHorizon = eqx.field(converter=checked_horizon)
    num_walks: int = eqx.field(static=True, default=16, converter=checked_walks)
    proposal: AbstractRestart | None = None
    baseline: bool = eqx.field(static=True, default=False)
    normalise: Normalise = eqx.field(static=True, default="all", converter=checked_normalise)

    def __call__(self, key: RandomKey, chain: Chain, y: Any, x: Input = None) -> PathEstimate:
        model = Model.of(chain, x)
        model.demand("log_prob", "forward")
        end_key, start_key, walk_key = jax.random.split(quick(key), 3)
        endpoints = Endpoints.draw(end_key, model, y, self.proposal, self.num_walks)
        prefixes = ForwardPrefixes.walk(start_key, walk_key, frozen(model), self.horizon, endpoints)
        parts = [(prefixes, prefixes.log_weight)]
        start = jax.tree.map(lambda leaf: leaf[0], prefixes.start)
        return _combined(self, chain, model, endpoints, parts, start)


class Reversal(AbstractEstimator):
    """Time reversal: walk from y back in time, weigh every prefix by u(y_0) π̂(y)/π̂(y_0).

    No walk has to hit anything, so what limits it is not the size of the space but how far u and π
    are apart: at the paper's initialisation all weights are equal, and where χ²(u‖π) is large a few
    walks carry them all (`effective_walks` falls to one; see
    [`Bidirectional`][doeblin.learning.Bidirectional]). Needs kernels with `log_target` and
    `reverse` (reversible ones are their own).

    A walk back in time never reaches starts of zero density under π̂. As many draws from u as there
    are walks look for such starts, and if there are any, the estimate is refused with an error:
    `Bidirectional` has the right value. (If there are none among the draws, then forward walks from
    them would have added nothing.) In a program that you compile yourself the error is JAX's, with
    this message somewhere inside: compile with `equinox.filter_jit` to read it at its end.
    """

    horizon: AbstractHorizon = eqx.field(converter=checked_horizon)
    num_walks: int = eqx.field(static=True, default=16, converter=checked_walks)
    proposal: AbstractRestart | None = None
    baseline: bool = eqx.field(static=True, default=True)
    normalise: Normalise = eqx.field(static=True, default="all", converter=checked_normalise)

    def __call__(self, key: RandomKey, chain: Chain, y: Any, x: Input = None) -> PathEstimate:
        model = Model.of(chain, x)
        for capability in ("log_target", "reverse", "sample_scored"):
            model.demand(capability, "reversal")
        end_key, walk_key, spare_key = jax.random.split(quick(key), 3)
        fixed = frozen(model)
        endpoints = Endpoints.draw(end_key, model, y, self.proposal, self.num_walks)
        spares = Spares.of(fixed, fixed.starts(spare_key, self.num_walks))
        prefixes = BackwardPrefixes.walk(walk_key, fixed, self.horizon, endpoints, spares)
        log_weight = eqx.error_if(prefixes.log_weight, prefixes.leaves_support, _LEFT_SUPPORT)
        return _combined(self, chain, model, endpoints, [(prefixes, log_weight)], spares.first)


class Bidirectional(AbstractEstimator):
    """Half of the walks go forward, half back; the balance heuristic combines them.

    A path weighs its probability over the sum of the probabilities with which either kind of walk
    takes it, so no weight is large unless both are unlikely to find the path. Needs kernels with
    `log_prob`, `log_target` and `reverse`.
    """

    horizon: AbstractHorizon = eqx.field(converter=checked_horizon)
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
        end_key, start_key, ahead_key, back_key = jax.random.split(quick(key), 4)
        fixed = frozen(model)
        endpoints = Endpoints.draw(end_key, model, y, self.proposal, self.num_walks // 2)
        ahead = ForwardPrefixes.walk(start_key, ahead_key, fixed, self.horizon, endpoints)
        spares = Spares.of(fixed, ahead.start)
        back = BackwardPrefixes.walk(back_key, fixed, self.horizon, endpoints, spares)
        ratio_ahead = _log_ratio_ahead(fixed, ahead, back)
        ratio_back = _log_ratio_back(fixed, back, ahead)
        impossible = jnp.isneginf(back.log_weight)
        log_back = back.log_weight + jax.nn.log_sigmoid(-jnp.where(impossible, 0, ratio_back))
        parts: list[tuple[AbstractPrefixes, Array]] = [
            (ahead, ahead.log_weight + jax.nn.log_sigmoid(ratio_ahead)),
            (back, jnp.where(impossible, -jnp.inf, log_back)),
        ]
        return _combined(self, chain, model, endpoints, parts, spares.first)


def _log_ratio_ahead(model: Model, ahead: ForwardPrefixes, back: BackwardPrefixes) -> Array:
    """log of p_forward/p_backward for the prefixes of forward walks.

    Both take the steps in between alike, up to the targets: the ratio is that of the stages, of
    u(y_0) Π π̂(y_s)/π̂(y_{s-1}) over all steps but the last, and of A*(y_{t-1} | y) for the last.
    No walk back takes a path with a step from a state of zero density: its ratio is infinite.
    """
    tape = ahead.tape
    begin, later = model.log_targets(ahead.start), model.log_targets(tape.new)
    old = jnp.stack([tape.shifted(*row) for row in zip(begin, later, strict=True)])
    old, new = model.of_stage(tape.stage, old), model.of_stage(tape.stage, later)
    ends = ahead.endpoints.each(lambda states: model.log_targets(states).T)
    end = model.of_stage(tape.stage, tape.spread(ends).T)
    lost = jnp.isneginf(old) | jnp.isneginf(new)
    rise = jnp.where(lost, 0, new - jnp.where(lost, 0, old))
    sums = tape.running(jnp.stack([rise, jnp.where(jnp.isneginf(old), 1.0, 0.0)], axis=-1))
    log_back_step = ahead.log_hit + old - end
    start = tape.spread(model.log_u(ahead.start))
    ratio = ahead.log_stage_ratio(back.stages) + start + sums[:, 0] - rise - log_back_step
    only_ahead = jnp.isneginf(ahead.log_hit) | (sums[:, 1] > 0) | jnp.isneginf(end)
    return jnp.where(only_ahead, jnp.inf, ratio)


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
    parts: Sequence[tuple[AbstractPrefixes, Array]],
    spare: State,
) -> PathEstimate:
    """Z and ∇ log Z from weighted prefixes; the path of no steps, y ~ u, is counted once a walk.

    `spare` is a state that the restart can draw.
    """
    num_walks = endpoints.log_proposed.shape[0]
    fixed = frozen(model)
    log_direct = fixed.log_start + frozen(endpoints.each(fixed.log_u)) - endpoints.log_proposed
    log_parts = [jax.lax.stop_gradient(log_weight) for _, log_weight in parts]
    top = jnp.max(jnp.stack([jnp.max(log) for log in (log_direct, *log_parts)]))
    top = jnp.where(jnp.isfinite(top), top, 0)
    direct = jnp.exp(log_direct - top)
    weighed = [
        (part, Weighed.of(part.tape, jnp.exp(log - top), part.log_coefficient, estimator.horizon))
        for (part, _), log in zip(parts, log_parts, strict=True)
    ]
    walks = WalkWeights(
        sum((own.walks.early for _, own in weighed), direct),
        sum((own.walks.late for _, own in weighed), jnp.zeros_like(direct)),
        estimator.horizon.tails(num_walks),
    )
    per_walk = walks.total
    scale, scales = walks.scale, walks.scales(estimator.normalise)

    possible = direct > 0
    # Any state that the restart can draw stands in where it has no mass, with weight zero.
    surrogate = model.log_start * jnp.sum(per_walk * scales)
    log_u = endpoints.instead(possible, spare).each(model.log_u)
    surrogate += jnp.sum(scales * direct * jnp.where(possible, log_u, 0))
    num_stages = model.matrix.shape[0]
    counts = jnp.zeros((num_stages, num_stages))
    transitions = jnp.array(0.0)
    for part, own in weighed:
        price = _leave_one_out(own) if estimator.baseline else jnp.zeros(num_walks)
        surrogate += part.surrogate(model, own.scaled(part.tape.spread(scales)), price * scales)
        # Expectations given the data, so weights that sum to one.
        counts += part.stage_counts(own, num_stages) * scale
        transitions += part.tape.alive.sum().astype(float)
    per_walk = jnp.where(model.never_leaves, direct, per_walk)
    total = per_walk.sum()
    log_likelihood = jnp.where(total > 0, jnp.log(total / num_walks) + top, -jnp.inf)
    order = np.argsort(others(chain.stage_matrix, chain.restart_stage))
    return PathEstimate(
        with_gradient_of(log_likelihood, surrogate),
        jnp.log(per_walk) + top,
        transitions,
        counts[order][:, order],
    )


def _leave_one_out(own: Weighed) -> Array:
    """What the other walks' prefixes weigh, for each unit of their coefficients."""
    earned = own.walks.total
    earned, paid = earned.sum() - earned, own.paid.sum() - own.paid
    return jnp.where(paid > 0, earned / jnp.where(paid > 0, paid, 1), 0)
