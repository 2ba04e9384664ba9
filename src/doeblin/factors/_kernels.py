"""Gibbs kernels over the states of a factor graph. All that they need is in their input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Self

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from .._custom_types import Input, RandomKey, Scalar
from .._errors import InputError
from .._inversion import invert, random_words
from .._states import log_prob_of
from ..kernels import AbstractKernel, AbstractReversibleKernel
from ._given import State
from ._restart import checked_given


def log_density(state: State, x: Input) -> Scalar:
    """The target of all kernels here; as one function, so that they can be combined."""
    return checked_given(x).log_density(state)


class SiteGibbs(AbstractReversibleKernel):
    """Redraw one site, chosen uniformly, from its conditional. A step costs the largest degree."""

    def sample(self, key: RandomKey, state: State, x: Input = None) -> State:
        return self.sample_scored(key, state, x)[0]

    def sample_scored(self, key: RandomKey, state: State, x: Input = None) -> tuple[State, Scalar]:
        given, state = checked_given(x), jnp.asarray(state)
        # All randomness of a step from one use of the key: each costs its share of compile time.
        words = random_words(key, (2,))
        site = (words[0] % given.graph.num_sites.astype(words.dtype)).astype(jnp.int32)[None]
        logits = given.conditionals(state, site)
        value, _ = invert(jax.lax.stop_gradient(logits), words[1:])
        new = state.at[site].set(value.astype(state.dtype))
        return new, _chosen(logits, value)[0] - jnp.log(given.graph.num_sites)

    def log_prob(self, new: State, old: State, x: Input = None) -> Scalar:
        graph = checked_given(x).graph
        # A change names its site; staying put can happen at every site.
        stay = _chosen(checked_given(x).conditionals(old), old)
        inside = jnp.arange(old.shape[0]) < graph.num_sites
        log_stay = jax.nn.logsumexp(stay, where=inside) - jnp.log(graph.num_sites)
        return jnp.where((new == old).all(), log_stay, self.log_move(new, old, x))

    def log_move(self, new: State, old: State, x: Input = None) -> Scalar:
        given, changed = checked_given(x), new != old
        site = jnp.argmax(changed)[None]
        log_prob = _chosen(given.conditionals(old, site), new[site])[0]
        return jnp.where(changed.sum() <= 1, log_prob - jnp.log(given.graph.num_sites), -jnp.inf)

    def log_target(self, state: State, x: Input = None) -> Scalar:
        return log_density(state, x)

    def density(self) -> Callable[[State, Input], Scalar]:
        return log_density


class ColourGibbs(AbstractReversibleKernel):
    """Redraw all sites of one colour at once, the colour chosen uniformly.

    No factor holds two sites of a colour, so they are independent given all others. A step costs
    the largest degree times the sites of the largest colour.
    """

    def sample(self, key: RandomKey, state: State, x: Input = None) -> State:
        return self.sample_scored(key, state, x)[0]

    def sample_scored(self, key: RandomKey, state: State, x: Input = None) -> tuple[State, Scalar]:
        graph, state = checked_given(x).graph, jnp.asarray(state)
        colour_key, value_key = jax.random.split(key)
        colour = jax.random.randint(colour_key, (), 0, graph.num_colours)
        new, log_prob = _redrawn(value_key, state, jnp.asarray(graph.colours)[colour], x)
        return new, log_prob - jnp.log(graph.num_colours)

    def log_prob(self, new: State, old: State, x: Input = None) -> Scalar:
        graph = checked_given(x).graph
        chosen = _chosen(checked_given(x).conditionals(old), new)

        def choose_it(sites: Int[Array, " sites"]) -> Scalar:
            is_there = (jnp.arange(old.shape[0])[:, None] == sites[None]).any(axis=1)
            possible = ~((new != old) & ~is_there).any() & (sites >= 0).any()
            return jnp.where(possible, jnp.where(is_there, chosen, 0).sum(), -jnp.inf)

        each = jax.vmap(choose_it)(jnp.asarray(graph.colours))
        return jax.nn.logsumexp(each) - jnp.log(graph.num_colours)

    def log_target(self, state: State, x: Input = None) -> Scalar:
        return log_density(state, x)

    def density(self) -> Callable[[State, Input], Scalar]:
        return log_density


class AbstractSweep(AbstractKernel):
    """Redraws parts of the graph one after the other, in an order or its reverse; the reverse is
    its time reversal."""

    order: Literal["forward", "backward"] = eqx.field(static=True, default="forward")

    def __check_init__(self):
        if self.order not in ("forward", "backward"):
            raise InputError(f"order = {self.order!r} must be 'forward' or 'backward'")

    def sample(self, key: RandomKey, state: State, x: Input = None) -> State:
        return self.sample_scored(key, state, x)[0]

    def log_target(self, state: State, x: Input = None) -> Scalar:
        return log_density(state, x)

    def density(self) -> Callable[[State, Input], Scalar]:
        return log_density

    def reverse(self) -> Self:
        return type(self)("forward" if self.backward else "backward")

    @property
    def backward(self) -> bool:
        return self.order == "backward"


class ColourSweep(AbstractSweep):
    """Redraw all colours in order (or in reversed order): every site once in a step.

    Not reversible; its time reversal is the sweep in the opposite order.
    """

    def sample_scored(self, key: RandomKey, state: State, x: Input = None) -> tuple[State, Scalar]:
        colours = jnp.asarray(checked_given(x).graph.colours)

        def redraw(state: State, step: tuple[Array, RandomKey]) -> tuple[State, Scalar]:
            return _redrawn(step[1], state, step[0], x)

        keys = jax.random.split(key, colours.shape[0])
        steps = (colours, keys)
        new, log_probs = jax.lax.scan(redraw, jnp.asarray(state), steps, reverse=self.backward)
        return new, log_probs.sum()

    def log_prob(self, new: State, old: State, x: Input = None) -> Scalar:
        given = checked_given(x)

        def redraw(state: State, sites: Array) -> tuple[State, Scalar]:
            log_probs = _chosen(given.conditionals(state, sites), new[sites])
            return put(state, sites, new[sites]), jnp.where(sites >= 0, log_probs, 0).sum()

        colours = jnp.asarray(given.graph.colours)
        steps = jax.lax.scan(redraw, old, colours, reverse=self.backward)[1]
        # Padding is never redrawn.
        beyond = jnp.arange(old.shape[0]) >= given.graph.num_sites
        return jnp.where((beyond & (new != old)).any(), -jnp.inf, steps.sum())


def _redrawn(
    key: RandomKey, state: State, sites: Int[Array, " n"], x: Input
) -> tuple[State, Scalar]:
    """The state with independent sites redrawn, and the log-probability of what was drawn."""
    logits = checked_given(x).conditionals(state, sites)
    values, _ = invert(jax.lax.stop_gradient(logits), random_words(key, sites.shape))
    log_probs = _chosen(logits, values)
    return put(state, sites, values), jnp.where(sites >= 0, log_probs, 0).sum()


def put(state: State, sites: Int[Array, " n"], values: Int[Array, " n"]) -> State:
    """Sites of -1 are nowhere, and written there."""
    there = jnp.where(sites >= 0, sites, state.shape[0])
    return state.at[there].set(values.astype(state.dtype), mode="drop")


def _chosen(logits: Float[Array, "n values"], values: Any) -> Float[Array, " n"]:
    return log_prob_of(jax.nn.log_softmax(logits), values)
