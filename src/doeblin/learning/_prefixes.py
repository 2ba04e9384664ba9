"""Prefixes of walks as weighted paths to the data, and their scores, grouped to O(T) a walk.

A path is (z_0..z_t, y_0..y_t = y). Its probability under the chain is
π_C(z*) u(y_0) Π C[z_{s-1}, z_s] A_{z_s}(y_s | y_{s-1}); its weight is that over the probability
with which the walk took it. The score of a path is a sum over its steps, so the weighted sum of the
scores of all prefixes is, step by step, the score of the step times the weight of all prefixes that
hold it (`Tape.to_go`).
"""

from __future__ import annotations

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .._custom_types import Flag, RandomKey, Scalar, State
from .._numbers import whole
from .._states import same_state
from ._horizons import AbstractHorizon
from ._model import Endpoints, Model, Spares, instead
from ._normalise import WalkWeights
from ._stages import StageWalk, backward_walk, forward_walk
from ._tape import Tape, frozen, walk


class Weighed(eqx.Module):
    """Weights of all prefixes of a tape, summed over those that hold each slot's step."""

    weight: Array
    to_go: Array
    left: Array
    """The same sum of coefficients, which do not look at the walk's states."""
    walks: WalkWeights
    paid: Float[Array, " walks"]
    """Σ of each walk's coefficients."""

    @classmethod
    def of(
        cls, tape: Tape, weight: Array, log_coefficient: Array, horizon: AbstractHorizon
    ) -> Weighed:
        common = horizon.common_steps()
        is_late = jnp.asarray(False if common is None else tape.step > common)
        early, late = jnp.where(is_late, 0, weight), jnp.where(is_late, weight, 0)
        columns = jnp.stack([early, late, jnp.exp(log_coefficient)], axis=-1)
        sums = tape.to_go(columns)
        early, late, paid = sums[: tape.num_walks].T
        to_go = sums[:, 0] + sums[:, 1]
        walks = WalkWeights(early, late, horizon.tails(tape.num_walks))
        return cls(weight, to_go, sums[:, 2], walks, paid)

    def scaled(self, scales: Array) -> Weighed:
        """The weights multiplied with what belongs to their slot's walk."""
        return eqx.tree_at(
            lambda own: (own.weight, own.to_go), self, (self.weight * scales, self.to_go * scales)
        )


class AbstractPrefixes(eqx.Module):
    """All prefixes of some walks: their weights, and the sum of their weighted scores."""

    tape: eqx.AbstractVar[Tape]
    log_coefficient: eqx.AbstractVar[Array]
    """What a prefix weighs for its stages and its length alone; -inf once its walk has ended."""
    log_weight: eqx.AbstractVar[Array]
    stages: eqx.AbstractVar[StageWalk]

    @abc.abstractmethod
    def surrogate(self, model: Model, own: Weighed, price: Array) -> Scalar:
        """Σ weight · log-probability of the prefix; its gradient is the weighted score.

        Scores whose mean is zero are multiplied with weights less a baseline: `price` of the walk
        times the coefficients still to come, neither of which looks at the walk's own states.
        """

    @abc.abstractmethod
    def stage_counts(self, own: Weighed, num_stages: int) -> Array:
        """Weighted sum of the prefixes' moves from stage to stage (z* last)."""

    def log_stage_ratio(self, other: StageWalk) -> Array:
        """Log-probability of the prefix's stages by their own walk, less that by the other.

        The other walk begins at the prefix's last stage and takes its stages the other way round.
        """
        tape = self.tape
        if other.num_stages == 1:
            return jnp.zeros(tape.stage.shape)
        own = self.stages.log_prob(tape.previous, tape.stage)
        first = tape.previous == other.num_stages
        back = jnp.where(first, 0, other.log_prob(tape.stage, jnp.where(first, 0, tape.previous)))
        begin = other.log_prob(jnp.full_like(tape.stage, other.num_stages), tape.stage)
        return tape.running(own - back) - begin


class ForwardPrefixes(AbstractPrefixes):
    """Walks from the restart; a prefix ends by stepping onto its walk's data point."""

    tape: Tape
    log_coefficient: Array
    log_weight: Array
    log_hit: Array
    start: State
    target: State
    there: Array
    """Whether the walk stands on its data point already, before the slot's step."""
    endpoints: Endpoints
    stages: StageWalk

    @classmethod
    def walk(
        cls,
        start_key: RandomKey,
        walk_key: RandomKey,
        fixed: Model,
        horizon: AbstractHorizon,
        endpoints: Endpoints,
    ) -> ForwardPrefixes:
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
            target=target,
            there=there,
            endpoints=endpoints,
        )

    def surrogate(self, model: Model, own: Weighed, price: Array) -> Scalar:
        tape, weight, to_go = self.tape, own.weight, own.to_go
        # A prefix that ends at step s does not hold the step that the walk itself took there.
        later = own.left - jnp.exp(self.log_coefficient)
        after = to_go - weight - tape.spread(price) * later
        begin = to_go[: tape.num_walks] - price * own.paid
        # Where a hit is impossible the weight is zero; the gradient is taken at the step taken.
        possible = weight > 0
        target = jax.tree.map(
            lambda hit, new: jnp.where(_like(possible & ~self.there, new), hit, new),
            self.target,
            tape.new,
        )
        log_stay = model.log_stay(tape, self.endpoints, self._can_stay(frozen(model)))
        log_hit = jnp.where(self.there, log_stay, model.log_move(tape, target))
        return (
            jnp.sum(begin * model.log_u(self.start))
            + jnp.sum(jnp.where(tape.alive, after, 0) * model.scores(tape, reverse=False))
            + jnp.sum(weight * jnp.where(possible, log_hit, 0))
            + jnp.sum(jnp.where(to_go > 0, to_go * model.log_stage(tape.previous, tape.stage), 0))
        )

    def _can_stay(self, fixed: Model) -> Array:
        """Whether the kernel of each stage can stay at each walk's data point."""

        def one(state: State) -> Array:
            stays = [kernel.log_prob(state, state, fixed.x) for kernel in fixed.kernels]
            return jnp.stack(stays) > -jnp.inf

        return self.endpoints.each(jax.vmap(one)).T

    def stage_counts(self, own: Weighed, num_stages: int) -> Array:
        return count_moves(self.tape.previous, self.tape.stage, own.to_go, num_stages)


class BackwardPrefixes(AbstractPrefixes):
    """Walks from the data back in time; a prefix ends by having been drawn from the restart.

    Π A(y_s | y_{s-1}) = Π π̂(y_s)/π̂(y_{s-1}) A*(y_{s-1} | y_s), so the weight needs no hit. A step
    from a state of zero density has no reversal: paths with one weigh nothing here.
    """

    tape: Tape
    log_coefficient: Array
    log_weight: Array
    log_drop: Array
    """log π̂(y_s) - log π̂(y_{s-1}) at each slot; -inf where either has no density."""
    log_u: Array
    start: State
    possible: Array
    """Whether the state after each slot, and before the first, has density, kernel by kernel."""
    spares: Spares
    stages: StageWalk

    @classmethod
    def walk(
        cls,
        key: RandomKey,
        fixed: Model,
        horizon: AbstractHorizon,
        endpoints: Endpoints,
        spares: Spares,
    ) -> BackwardPrefixes:
        stages = backward_walk(fixed.matrix)
        kernels = [kernel.reverse() for kernel in fixed.kernels]
        # From data without density under any target nothing can be walked back.
        own = endpoints.each(lambda states: fixed.log_targets(states).T).T
        start = endpoints.instead((own > -jnp.inf).any(axis=0), spares.inside(0)).states
        tape = frozen(walk(key, kernels, stages, horizon, start, fixed.x))
        targets = fixed.log_targets(tape.new)
        log_drop = _log_drop(fixed, tape, own, targets)
        first = tape.previous == stages.num_stages
        log_moves = jnp.where(first, 0, fixed.log_stage(tape.stage, tape.previous))
        log_proposed = stages.log_prob(tape.previous, tape.stage)
        total = tape.running(jnp.stack([log_moves - log_proposed, log_drop], axis=-1))
        log_mass = fixed.log_start + total[:, 0] + _log_from_restart(fixed, tape)
        log_coefficient = _log_coefficient(tape, horizon, log_mass)
        log_u = fixed.log_u(tape.new)
        log_weight = log_coefficient + total[:, 1] + log_u - tape.spread(endpoints.log_proposed)
        return cls(
            tape=tape,
            log_coefficient=log_coefficient,
            log_weight=log_weight,
            stages=stages,
            log_drop=log_drop,
            log_u=log_u,
            start=endpoints.states,
            possible=jnp.concatenate([own, targets], axis=1) > -jnp.inf,
            spares=spares,
        )

    @property
    def leaves_support(self) -> Flag:
        """Whether states were seen that some kernel moves from without being able to return."""
        several = self.possible.shape[0] > 1
        return self.spares.some_outside | (several & ~self.possible.all())

    def surrogate(self, model: Model, own: Weighed, price: Array) -> Scalar:
        tape, weight, to_go = self.tape, own.weight, own.to_go
        first = tape.previous == self.stages.num_stages
        moves = jnp.where(first, 0, model.log_stage(tape.stage, tape.previous))
        # The steps back have scores of mean zero under the walk: here the baseline pays.
        advantage = to_go - tape.spread(price) * own.left
        # Where the restart has no mass the weight is zero; any state with mass gives a gradient.
        possible = weight > 0
        end = instead(possible, tape.new, self.spares.first)
        at_end = model.log_u(end) + _log_from_restart(model, tape)
        visited = jax.tree.map(lambda a, b: jnp.concatenate([a, b]), self.start, tape.new)
        targets = model.log_targets(visited, self.spares, self.possible)
        begin, later = targets[:, : tape.num_walks], targets[:, tape.num_walks :]
        old = jnp.stack([tape.shifted(*row) for row in zip(begin, later, strict=True)])
        drop = model.of_stage(tape.stage, old) - model.of_stage(tape.stage, later)
        return (
            jnp.sum(weight * jnp.where(possible, at_end, 0))
            + jnp.sum(jnp.where(to_go > 0, to_go * (drop + moves), 0))
            + jnp.sum(jnp.where(tape.alive, advantage, 0) * model.scores(tape, reverse=True))
        )

    def stage_counts(self, own: Weighed, num_stages: int) -> Array:
        tape = self.tape
        first = tape.previous == self.stages.num_stages
        to_go = jnp.where(first, 0, own.to_go)
        # Where a walk starts there is no stage that the move could lead to, and no weight.
        moves = count_moves(tape.stage, jnp.where(first, 0, tape.previous), to_go, num_stages)
        restart = jnp.full_like(tape.stage, num_stages - 1)
        return moves + count_moves(restart, tape.stage, own.weight, num_stages)


def forward_tape(
    start_key: RandomKey,
    walk_key: RandomKey,
    fixed: Model,
    horizon: AbstractHorizon,
    num_walks: int,
) -> tuple[State, Tape, StageWalk, Array]:
    """Walks from the restart: where they start, their steps, and what their prefixes weigh."""
    start = fixed.starts(start_key, num_walks)
    stages = forward_walk(fixed.matrix)
    tape = frozen(walk(walk_key, fixed.kernels, stages, horizon, start, fixed.x))
    log_moves = fixed.log_stage(tape.previous, tape.stage)
    log_proposed = stages.log_prob(tape.previous, tape.stage)
    log_mass = fixed.log_start + tape.running(log_moves - log_proposed)
    return start, tape, stages, _log_coefficient(tape, horizon, log_mass)


def count_moves(before: Array, after: Array, weight: Array, num_stages: int) -> Array:
    if num_stages == 2:
        first = jnp.sum(jnp.where(before == 1, weight, 0))
        return jnp.zeros((2, 2)).at[:, 0].set(jnp.stack([weight.sum() - first, first]))
    return jnp.zeros((num_stages, num_stages)).at[before, after].add(weight)


def checked_walks(num_walks: int) -> int:
    return whole("num_walks", num_walks, least=1)


def _log_drop(model: Model, tape: Tape, begin: Array, targets: Array) -> Array:
    """log π̂(old) - log π̂(new) by the kernel of each slot's stage; -inf without density."""
    old = jnp.stack([tape.shifted(*row) for row in zip(begin, targets, strict=True)])
    old, new = model.of_stage(tape.stage, old), model.of_stage(tape.stage, targets)
    possible = (old > -jnp.inf) & (new > -jnp.inf)
    return jnp.where(possible, old - jnp.where(possible, new, 0), -jnp.inf)


def _log_from_restart(model: Model, tape: Tape) -> Array:
    """log C[z*, stage]: the first move of a path whose first stage is the slot's."""
    return model.log_stage(jnp.full_like(tape.stage, len(model.kernels)), tape.stage)


def _log_coefficient(tape: Tape, horizon: AbstractHorizon, log_mass: Array) -> Array:
    """From the log-mass of a prefix's stages, less that of their proposal."""
    log_survival = horizon.log_survival(tape.num_walks, jnp.asarray(tape.step))
    return jnp.where(tape.alive, log_mass - log_survival, -jnp.inf)


def _like(mask: Array, leaf: Array) -> Array:
    return mask.reshape(mask.shape + (1,) * (leaf.ndim - 1))
