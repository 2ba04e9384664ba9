"""Prefixes of walks as weighted paths to the data, and their scores, grouped to O(T) a walk.

A path is (z_0..z_t, y_0..y_t = y). Its probability under the chain is
π_C(z*) u(y_0) Π C[z_{s-1}, z_s] A_{z_s}(y_s | y_{s-1}); its weight is that over the probability
with which the walk took it. The score of a path is a sum over its steps, so the weighted sum of the
scores of all prefixes is, step by step, the score of the step times the weight of all prefixes that
hold it (`Tape.to_go`).
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .._custom_types import Input, RandomKey, Scalar, State
from .._errors import InputError, UnsupportedError
from ..chains import Chain
from ..kernels import AbstractKernel, AbstractRestart
from ..kernels._sites import same_state
from ._horizons import AbstractHorizon
from ._stages import StageWalk, backward_walk, forward_walk, log_restart_mass, reordered, safe_log
from ._tape import Tape, frozen, on_stage, walk


class Model(eqx.Module):
    """A chain given its input, with z* as the last stage."""

    matrix: Float[Array, "stages stages"]
    kernels: tuple[AbstractKernel, ...]
    restart: AbstractRestart
    x: Input

    @classmethod
    def of(cls, chain: Chain, x: Input) -> Model:
        matrix = reordered(chain.stage_matrix, chain.restart_stage)
        kernels = tuple(kernel for kernel in chain.kernels if kernel is not None)
        return cls(matrix, kernels, chain.restart, x)

    @property
    def log_start(self) -> Scalar:
        return log_restart_mass(self.matrix)

    def demand(self, capability: Any, estimator: str) -> None:
        for kernel in self.kernels:
            if not kernel.supports(capability):
                raise UnsupportedError(
                    f"the {estimator} estimator needs kernels with `{capability}`, and "
                    f"{type(kernel).__name__} has none"
                )

    def log_u(self, states: State) -> Array:
        return jax.vmap(lambda state: self.restart.log_prob(state, self.x))(states)

    def log_stage(self, before: Array, after: Array) -> Array:
        """log C[before, after]; only entries that are used get a gradient."""
        if len(self.kernels) == 1:
            # Without a gather: the one stage follows itself or z*.
            first, later = safe_log(self.matrix[1, 0]), safe_log(self.matrix[0, 0])
            return jnp.where(before == 1, first, later)
        return safe_log(self.matrix[before, after])

    def log_prob(self, stage: Array, new: State, old: State) -> Array:
        """log A(new | old) at each slot, by the kernel of its stage."""

        def one(stage: Array, new: State, old: State) -> Scalar:
            return on_stage(self.kernels, stage, lambda kernel: kernel.log_prob(new, old, self.x))

        return jax.vmap(one)(stage, new, old)

    def log_move(self, tape: Tape, new: State) -> Array:
        """The same from a tape's old states; right where the two states differ."""

        def one(stage: Array, new: State, old: State) -> Scalar:
            return on_stage(self.kernels, stage, lambda kernel: kernel.log_move(new, old, self.x))

        return jax.vmap(one)(tape.stage, new, tape.old)

    def log_stay(self, tape: Tape, endpoints: Endpoints) -> Array:
        """log A(y | y) at each slot for its walk's y, computed once for each y and stage."""

        def one(kernel: AbstractKernel, state: State) -> Scalar:
            given = frozen((kernel, self.x))
            log_stay = given[0].log_prob(state, state, given[1])
            # If staying is impossible, the gradient is taken at a step that is not.
            taken = frozen(given[0].sample(jax.random.key(0), state, given[1]))
            possible = log_stay > -jnp.inf
            new = jax.tree.map(lambda here, there: jnp.where(possible, here, there), state, taken)
            return jnp.where(possible, kernel.log_prob(new, state, self.x), -jnp.inf)

        found = jnp.zeros(tape.stage.shape)
        for stage, kernel in enumerate(self.kernels):
            own = endpoints.each(jax.vmap(lambda state, kernel=kernel: one(kernel, state)))
            found = jnp.where(tape.stage == stage, tape.spread(own), found)
        return found

    def log_drop(self, tape: Tape) -> Array:
        """log π̂(old) - log π̂(new) at each slot, with the target of the kernel of its stage."""

        def one(stage: Array, old: State, new: State) -> Scalar:
            return on_stage(
                self.kernels,
                stage,
                lambda kernel: kernel.log_target(old, self.x) - kernel.log_target(new, self.x),
            )

        return jax.vmap(one)(tape.stage, tape.old, tape.new)

    def scores(self, tape: Tape, *, reverse: bool) -> Array:
        """Log-probability of the choices of each slot's step (or of the step back in time)."""
        kernels = [kernel.reverse() for kernel in self.kernels] if reverse else self.kernels

        def one(stage: Array, key: RandomKey, old: State) -> Scalar:
            return on_stage(
                kernels, stage, lambda kernel: kernel.sample_scored(key, old, self.x)[1]
            )

        return jax.vmap(one)(tape.stage, tape.keys, tape.old)


class Endpoints(eqx.Module):
    """The data as states, one for each walk: y itself, or draws of the latent state given y."""

    states: State
    log_proposed: Float[Array, " walks"]
    alike: bool = eqx.field(static=True)

    def each(self, function: Callable[[State], Array]) -> Float[Array, " walks"]:
        """A function of stacked states, computed once if all walks have the same."""
        if not self.alike:
            return function(self.states)
        one = jax.tree.map(lambda leaf: leaf[:1], self.states)
        return jnp.broadcast_to(function(one)[0], self.log_proposed.shape)

    @classmethod
    def draw(
        cls, key: RandomKey, y: Any, x: Input, proposal: AbstractRestart | None, num_walks: int
    ) -> Endpoints:
        if proposal is None:
            states = jax.tree.map(
                lambda leaf: jnp.broadcast_to(leaf, (num_walks, *jnp.shape(leaf))), y
            )
            return cls(states, jnp.zeros(num_walks), alike=True)
        fixed, given = frozen(proposal), frozen((x, y))
        keys = jax.random.split(key, num_walks)
        states = frozen(jax.vmap(lambda key: fixed.sample(key, given))(keys))
        log_proposed = jax.vmap(lambda state: fixed.log_prob(state, given))(states)
        return cls(states, log_proposed, alike=False)


class AbstractPrefixes(eqx.Module):
    """All prefixes of some walks: their weights, and the sum of their weighted scores."""

    tape: eqx.AbstractVar[Tape]
    log_coefficient: eqx.AbstractVar[Array]
    """What a prefix weighs for its stages and its length alone; -inf once its walk has ended."""
    log_weight: eqx.AbstractVar[Array]
    stages: eqx.AbstractVar[StageWalk]

    @abc.abstractmethod
    def surrogate(self, model: Model, weight: Array, price: Array) -> Scalar:
        """Σ weight · log-probability of the prefix; its gradient is the weighted score.

        Scores whose mean is zero are multiplied with weights less a baseline: `price` of the walk
        times the coefficients still to come, neither of which looks at the walk's own states.
        """

    @abc.abstractmethod
    def stage_counts(self, weight: Array, num_stages: int) -> Array:
        """Weighted sum of the prefixes' moves from stage to stage (z* last)."""

    def log_stage_ratio(self, other: StageWalk) -> Array:
        """Log-probability of the prefix's stages by their own walk, less that by the other.

        The other walk begins at the prefix's last stage and takes its stages the other way round.
        """
        tape = self.tape
        own = tape.running(self.stages.log_prob(tape.previous, tape.stage))
        first = tape.previous == other.num_stages
        back = jnp.where(first, 0, other.log_prob(tape.stage, jnp.where(first, 0, tape.previous)))
        begin = other.log_prob(jnp.full_like(tape.stage, other.num_stages), tape.stage)
        return own - tape.running(back) - begin


class ForwardPrefixes(AbstractPrefixes):
    """Walks from the restart; a prefix ends by stepping onto its walk's data point."""

    tape: Tape
    log_coefficient: Array
    log_weight: Array
    log_hit: Array
    start: State
    log_start_u: Array
    target: State
    there: Array
    """Whether the walk stands on its data point already, before the slot's step."""
    endpoints: Endpoints
    stages: StageWalk

    @classmethod
    def walk(
        cls, key: RandomKey, model: Model, horizon: AbstractHorizon, endpoints: Endpoints
    ) -> ForwardPrefixes:
        fixed = frozen(model)
        start_key, walk_key = jax.random.split(key)
        num_walks = endpoints.log_proposed.shape[0]
        start, tape, stages, log_coefficient = forward_tape(
            start_key, walk_key, fixed, horizon, num_walks
        )
        target = tape.spread(endpoints.states)
        there = jax.vmap(same_state)(tape.old, target)
        log_hit = jnp.where(there, fixed.log_stay(tape, endpoints), fixed.log_move(tape, target))
        log_weight = log_coefficient + log_hit - tape.spread(endpoints.log_proposed)
        return cls(
            tape=tape,
            log_coefficient=log_coefficient,
            log_weight=log_weight,
            stages=stages,
            log_hit=log_hit,
            start=start,
            log_start_u=fixed.log_u(start),
            target=target,
            there=there,
            endpoints=endpoints,
        )

    def surrogate(self, model: Model, weight: Array, price: Array) -> Scalar:
        tape = self.tape
        to_go, left = tape.to_go(weight), _coefficients_left(self)
        own = jnp.exp(self.log_coefficient)
        # A prefix that ends at step s does not hold the step that the walk itself took there.
        after = to_go - weight - tape.spread(price) * (left - own)
        begin = tape.walk_sum(weight) - price * left[: tape.num_walks]
        # Where a hit is impossible the weight is zero; the gradient is taken at the step taken.
        possible = weight > 0
        target = jax.tree.map(
            lambda hit, new: jnp.where(_like(possible & ~self.there, new), hit, new),
            self.target,
            tape.new,
        )
        log_hit = jnp.where(
            self.there, model.log_stay(tape, self.endpoints), model.log_move(tape, target)
        )
        return (
            jnp.sum(begin * model.log_u(self.start))
            + jnp.sum(jnp.where(tape.alive, after, 0) * model.scores(tape, reverse=False))
            + jnp.sum(weight * jnp.where(possible, log_hit, 0))
            + jnp.sum(jnp.where(to_go > 0, to_go * model.log_stage(tape.previous, tape.stage), 0))
        )

    def stage_counts(self, weight: Array, num_stages: int) -> Array:
        tape = self.tape
        return count_moves(tape.previous, tape.stage, tape.to_go(weight), num_stages)


class BackwardPrefixes(AbstractPrefixes):
    """Walks from the data back in time; a prefix ends by having been drawn from the restart.

    Π A(y_s | y_{s-1}) = Π π̂(y_s)/π̂(y_{s-1}) A*(y_{s-1} | y_s), so the weight needs no hit.
    """

    tape: Tape
    log_coefficient: Array
    log_weight: Array
    log_drop: Array
    log_u: Array
    spare: State
    stages: StageWalk

    @classmethod
    def walk(
        cls, key: RandomKey, model: Model, horizon: AbstractHorizon, endpoints: Endpoints
    ) -> BackwardPrefixes:
        fixed = frozen(model)
        walk_key, spare_key = jax.random.split(key)
        stages = backward_walk(fixed.matrix)
        kernels = [kernel.reverse() for kernel in fixed.kernels]
        tape = walk(walk_key, kernels, stages, horizon, endpoints.states, fixed.x)
        tape = frozen(tape)
        first = tape.previous == stages.num_stages
        log_moves = jnp.where(first, 0, fixed.log_stage(tape.stage, tape.previous))
        log_mass = fixed.log_start + tape.running(log_moves) + _log_from_restart(fixed, tape)
        log_coefficient = _log_coefficient(tape, stages, horizon, log_mass)
        log_drop, log_u = fixed.log_drop(tape), fixed.log_u(tape.new)
        log_weight = log_coefficient + tape.running(log_drop) + log_u
        log_weight = log_weight - tape.spread(endpoints.log_proposed)
        spare = frozen(fixed.restart.sample(spare_key, fixed.x))
        return cls(
            tape=tape,
            log_coefficient=log_coefficient,
            log_weight=log_weight,
            stages=stages,
            log_drop=log_drop,
            log_u=log_u,
            spare=spare,
        )

    def surrogate(self, model: Model, weight: Array, price: Array) -> Scalar:
        tape = self.tape
        to_go = tape.to_go(weight)
        first = tape.previous == self.stages.num_stages
        moves = jnp.where(first, 0, model.log_stage(tape.stage, tape.previous))
        # The steps back have scores of mean zero under the walk: here the baseline pays.
        advantage = to_go - tape.spread(price) * _coefficients_left(self)
        # Where the restart has no mass the weight is zero; any state with mass gives a gradient.
        possible = weight > 0
        end = jax.tree.map(
            lambda new, spare: jnp.where(_like(possible, new), new, spare), tape.new, self.spare
        )
        at_end = model.log_u(end) + _log_from_restart(model, tape)
        return (
            jnp.sum(weight * jnp.where(possible, at_end, 0))
            + jnp.sum(jnp.where(to_go > 0, to_go * (model.log_drop(tape) + moves), 0))
            + jnp.sum(jnp.where(tape.alive, advantage, 0) * model.scores(tape, reverse=True))
        )

    def stage_counts(self, weight: Array, num_stages: int) -> Array:
        tape = self.tape
        first = tape.previous == self.stages.num_stages
        to_go = jnp.where(first, 0, tape.to_go(weight))
        # Where a walk starts there is no stage that the move could lead to, and no weight.
        moves = count_moves(tape.stage, jnp.where(first, 0, tape.previous), to_go, num_stages)
        restart = jnp.full_like(tape.stage, num_stages - 1)
        return moves + count_moves(restart, tape.stage, weight, num_stages)


def forward_tape(
    start_key: RandomKey,
    walk_key: RandomKey,
    fixed: Model,
    horizon: AbstractHorizon,
    num_walks: int,
) -> tuple[State, Tape, StageWalk, Array]:
    """Walks from the restart: where they start, their steps, and what their prefixes weigh."""
    keys = jax.random.split(start_key, num_walks)
    start = frozen(jax.vmap(lambda key: fixed.restart.sample(key, fixed.x))(keys))
    stages = forward_walk(fixed.matrix)
    tape = frozen(walk(walk_key, fixed.kernels, stages, horizon, start, fixed.x))
    log_mass = fixed.log_start + tape.running(fixed.log_stage(tape.previous, tape.stage))
    return start, tape, stages, _log_coefficient(tape, stages, horizon, log_mass)


def count_moves(before: Array, after: Array, weight: Array, num_stages: int) -> Array:
    if num_stages == 2:
        first = jnp.sum(jnp.where(before == 1, weight, 0))
        return jnp.zeros((2, 2)).at[:, 0].set(jnp.stack([weight.sum() - first, first]))
    return jnp.zeros((num_stages, num_stages)).at[before, after].add(weight)


def checked_walks(num_walks: int) -> int:
    if num_walks < 1:
        raise InputError(f"num_walks = {num_walks} must be at least 1")
    return int(num_walks)


def _coefficients_left(prefixes: AbstractPrefixes) -> Array:
    return prefixes.tape.to_go(jnp.exp(prefixes.log_coefficient))


def _log_from_restart(model: Model, tape: Tape) -> Array:
    """log C[z*, stage]: the first move of a path whose first stage is the slot's."""
    return model.log_stage(jnp.full_like(tape.stage, len(model.kernels)), tape.stage)


def _log_coefficient(
    tape: Tape, stages: StageWalk, horizon: AbstractHorizon, log_mass: Array
) -> Array:
    log_proposed = tape.running(stages.log_prob(tape.previous, tape.stage))
    log_survival = horizon.log_survival(tape.num_walks, jnp.asarray(tape.step))
    return jnp.where(tape.alive, log_mass - log_proposed - log_survival, -jnp.inf)


def _like(mask: Array, leaf: Array) -> Array:
    return mask.reshape(mask.shape + (1,) * (leaf.ndim - 1))
