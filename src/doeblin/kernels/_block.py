"""The block kernel: redraw a part of the state from the restart, several times, and pick one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool

from .._custom_types import Input, RandomKey, Scalar, State
from .._errors import InputError
from .._inversion import categorical, random_words, uniform
from .._numbers import whole
from ._base import AbstractRestart, AbstractReversibleKernel, Capability
from ._sites import LogDensity, checked_logits, checked_scalar

ChooseBlock = Callable[[RandomKey], Any]


class BlockKernel(AbstractReversibleKernel):
    """Iterated sampling importance resampling (i-SIR) of a random block of the state.

    Draws `num_proposals` versions of a block from the restart given the rest, weighs them and the
    present state by π̂(y)/u(y), and picks one. The kernel is reversible with respect to π̂
    (Andrieu, Lee & Vihola, "Uniform ergodicity of the iterated conditional SMC", 2018).

    `choose_block(key)` names the block in the restart's own terms and must not look at the state;
    without it the whole state is redrawn.
    """

    restart: AbstractRestart
    log_density: LogDensity
    num_proposals: int = eqx.field(static=True)
    choose_block: ChooseBlock | None

    def __init__(
        self,
        restart: AbstractRestart,
        log_density: LogDensity,
        *,
        num_proposals: int = 8,
        choose_block: ChooseBlock | None = None,
    ):
        if choose_block is not None and not restart.supports("sample_block"):
            raise InputError(
                f"{type(restart).__name__} cannot redraw a block: give it `sample_block`, or leave "
                "`choose_block` out to redraw whole states"
            )
        self.restart = restart
        self.log_density = log_density
        self.num_proposals = whole("num_proposals", num_proposals, least=1)
        self.choose_block = choose_block

    def supports(self, capability: Capability) -> bool:
        if capability == "sample_scored":
            return self.choose_block is None or self.restart.supports("log_prob_block")
        return super().supports(capability)

    def sample(self, key: RandomKey, state: State, x: Input = None) -> State:
        return self._draw(key, state, x)[0]

    def sample_scored(self, key: RandomKey, state: State, x: Input = None) -> tuple[State, Scalar]:
        new, drawn, block, log_pick = self._draw(key, state, x)
        log_drawn = jax.vmap(lambda one: self.restart.log_prob(one, x))(drawn)
        if self.choose_block is not None:
            # All share the rest, so they differ by their log-probabilities as whole states.
            first = jax.tree.map(lambda leaf: leaf[0], drawn)
            log_drawn += self.restart.log_prob_block(first, block, x) - log_drawn[0]
        return new, log_drawn.sum() + log_pick

    def _draw(self, key: RandomKey, state: State, x: Input) -> tuple[State, State, Any, Scalar]:
        """The new state, all that were proposed, their block, and the log-probability of the pick.

        The choice of the block is the user's, and has no parameters to learn.
        """
        block_key, draw_key, pick_key = jax.random.split(key, 3)
        keys = jax.random.split(draw_key, self.num_proposals)
        block = None
        if self.choose_block is None:
            drawn = jax.vmap(lambda key: self.restart.sample(key, x))(keys)
        else:
            block = self.choose_block(block_key)
            drawn = jax.vmap(lambda key: self.restart.sample_block(key, state, block, x))(keys)
        drawn = jax.lax.stop_gradient(drawn)
        candidates = jax.tree.map(
            lambda one, more: jnp.concatenate([one[None], more.astype(one.dtype)]), state, drawn
        )
        weights = checked_logits(jax.vmap(self._log_weight, in_axes=(0, None))(candidates, x))
        picked = categorical(pick_key, weights)
        new = jax.tree.map(lambda leaf: leaf[picked], candidates)
        return new, drawn, block, jax.nn.log_softmax(weights)[picked]

    def _log_weight(self, state: State, x: Input) -> Scalar:
        log_target = self.log_target(state, x)
        # A state without mass under π̂ weighs nothing, even where u has no mass either.
        return jnp.where(
            jnp.isneginf(log_target), -jnp.inf, log_target - self.restart.log_prob(state, x)
        )

    def log_target(self, state: State, x: Input = None) -> Scalar:
        return checked_scalar(self.log_density(state, x))

    def density(self) -> LogDensity:
        return self.log_density


class RandomSites(eqx.Module):
    """Blocks for site restarts: each site joins with a given probability."""

    shape: tuple[int, ...] = eqx.field(static=True)
    probability: float = eqx.field(static=True, default=0.5)

    def __call__(self, key: RandomKey) -> Bool[Array, "..."]:
        return uniform(random_words(key, self.shape)) <= self.probability


class PrefixOrSuffix(eqx.Module):
    """Blocks for sequences of `length` sites: everything up to, or from, a random place."""

    length: int = eqx.field(static=True)

    def __call__(self, key: RandomKey) -> Bool[Array, " length"]:
        side_key, place_key = jax.random.split(key)
        size = jax.random.randint(place_key, (), 1, self.length + 1)
        prefix = jnp.arange(self.length) < size
        return jnp.where(jax.random.bernoulli(side_key), prefix, prefix[::-1])
