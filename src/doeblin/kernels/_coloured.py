"""Gibbs sampling of many sites at once, where colours keep neighbours apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from .._custom_types import Input, RandomKey, Scalar, State
from .._errors import InputError
from .._states import log_prob_of
from ._base import AbstractKernel, AbstractReversibleKernel
from ._sites import LogDensity, Sites, checked_choice, checked_logits

Conditionals = Callable[[State, Input], Float[Array, "sites values"]]


class ColouredGibbs(AbstractReversibleKernel):
    """Redraw all sites of one random colour at once.

    Sites of a colour must be independent given all others: no factor of the density may hold two of
    them (on a grid, the checkerboard). `conditionals(state, x)` gives, for every site at once, the
    log-density of each of its values up to a constant.
    """

    log_density: LogDensity
    conditionals: Conditionals
    colours: Int[Array, " sites"]
    num_colours: int = eqx.field(static=True)
    sites: Sites

    def __init__(
        self,
        log_density: LogDensity,
        conditionals: Conditionals,
        colours: Any,
        num_values: int | Any,
        *,
        where: Callable[[State], Any] | None = None,
    ):
        flat = np.asarray(colours).ravel()
        if not np.issubdtype(flat.dtype, np.integer) or not len(flat) or flat.min() < 0:
            raise InputError("colours must be whole numbers from 0, one for each site")
        self.log_density = log_density
        self.conditionals = conditionals
        self.colours = jnp.asarray(flat)
        self.num_colours = int(flat.max()) + 1
        self.sites = Sites(num_values, where)

    def logits(self, state: State, x: Input = None) -> Float[Array, "sites values"]:
        """Unnormalised log-probabilities of the values of all sites, each given all others."""
        logits, num_values = jnp.asarray(self.conditionals(state, x)), self.sites.num_values
        if logits.ndim < 2 or logits.shape[-1] != num_values:
            raise InputError(
                f"conditionals must return one number for each of {num_values} values of every "
                f"site, got shape {logits.shape}"
            )
        logits = logits.reshape(-1, num_values)
        if logits.shape[0] != self.colours.shape[0]:
            raise InputError(
                f"conditionals gave logits for {logits.shape[0]} sites, but there are "
                f"{self.colours.shape[0]} colours"
            )
        return self.sites.mask(logits)

    def redraw(
        self, uniforms: Float[Array, " sites"], state: State, colour: Any, x: Input
    ) -> State:
        """Redraw the sites of one colour by inverting their distribution functions."""
        values = self.sites.get(state)
        fresh = invert(self.logits(state, x), uniforms).astype(values.dtype)
        return self.sites.put(state, jnp.where(self.colours == colour, fresh, values))

    def log_redraw(self, new: State, old: State, colour: Any, x: Input) -> Scalar:
        """Log-probability that redrawing one colour turns `old` into `new`, if it can."""
        log_probs = jax.nn.log_softmax(checked_logits(self.logits(old, x)))
        chosen = log_prob_of(log_probs, self.sites.get(new))
        return jnp.where(self.colours == colour, chosen, 0).sum()

    def sample(self, key: RandomKey, state: State, x: Input = None) -> State:
        return self._draw(key, state, x)[0]

    def sample_scored(self, key: RandomKey, state: State, x: Input = None) -> tuple[State, Scalar]:
        new, colour = self._draw(key, state, x)
        return new, self.log_redraw(new, state, colour, x) - jnp.log(self.num_colours)

    def _draw(self, key: RandomKey, state: State, x: Input) -> tuple[State, Array]:
        colour_key, value_key = jax.random.split(key)
        colour = jax.random.randint(colour_key, (), 0, self.num_colours)
        uniforms = jax.random.uniform(value_key, self.colours.shape)
        return self.redraw(uniforms, state, colour, x), colour

    def log_prob(self, new: State, old: State, x: Input = None) -> Scalar:
        changed = self.sites.get(new) != self.sites.get(old)

        def choose(colour: Any) -> Scalar:
            possible = ~(changed & (self.colours != colour)).any()
            return jnp.where(possible, self.log_redraw(new, old, colour, x), -jnp.inf)

        total = jax.nn.logsumexp(jax.vmap(choose)(jnp.arange(self.num_colours)))
        return jnp.where(
            self.sites.same_rest(new, old), total - jnp.log(self.num_colours), -jnp.inf
        )

    def log_target(self, state: State, x: Input = None) -> Scalar:
        return self.sites.log_target(self.log_density, state, x)

    def density(self) -> LogDensity:
        return self.log_density


class ColouredSweep(AbstractKernel):
    """Redraw all colours in order (or in reversed order): every site once in a step."""

    gibbs: ColouredGibbs
    order: Literal["forward", "backward"] = eqx.field(static=True)

    def __init__(self, gibbs: ColouredGibbs, order: Literal["forward", "backward"] = "forward"):
        if order not in ("forward", "backward"):
            raise InputError(f"order = {order!r} must be 'forward' or 'backward'")
        self.gibbs = gibbs
        self.order = order

    def _order(self) -> list[int]:
        colours = range(self.gibbs.num_colours)
        return list(colours if self.order == "forward" else reversed(colours))

    def sample(self, key: RandomKey, state: State, x: Input = None) -> State:
        # Each site is redrawn once in a sweep, so one uniform a site serves all colours.
        uniforms = jax.random.uniform(key, self.gibbs.colours.shape)
        for colour in self._order():
            state = self.gibbs.redraw(uniforms, state, colour, x)
        return state

    def log_prob(self, new: State, old: State, x: Input = None) -> Scalar:
        sites, colours = self.gibbs.sites, self.gibbs.colours
        total, state = jnp.array(0.0), old
        for colour in self._order():
            total += self.gibbs.log_redraw(new, state, colour, x)
            state = sites.put(state, jnp.where(colours == colour, sites.get(new), sites.get(state)))
        return jnp.where(sites.same_rest(new, old), total, -jnp.inf)

    def log_target(self, state: State, x: Input = None) -> Scalar:
        return self.gibbs.log_target(state, x)

    def density(self) -> LogDensity:
        return self.gibbs.log_density

    def reverse(self) -> ColouredSweep:
        return ColouredSweep(self.gibbs, "backward" if self.order == "forward" else "forward")


def invert(logits: Float[Array, "sites values"], uniforms: Float[Array, " sites"]) -> Array:
    """One draw for each row of logits from one uniform each, by inverse distribution function.

    What there is to check shows in one number a site, so that checking costs little.
    """
    if logits.shape[-1] == 2:
        difference = checked_choice(logits[..., 1] - logits[..., 0])
        return (uniforms < jax.nn.sigmoid(difference)).astype(jnp.int32)
    weights = jnp.exp(logits - logits.max(axis=-1, keepdims=True))
    below = jnp.cumsum(weights, axis=-1)
    total = checked_choice(below[..., -1])
    return (below[..., :-1] <= (uniforms * total)[..., None]).sum(axis=-1)
