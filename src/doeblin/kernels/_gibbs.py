"""Gibbs sampling of discrete sites from a user's log-density."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from .._custom_types import Count, Flag, Input, RandomKey, Scalar, State
from .._errors import InputError
from .._inversion import invert, random_words
from .._states import log_prob_of, one_number
from ._base import AbstractKernel, AbstractReversibleKernel
from ._sites import LogDensity, Sites, checked_choice, checked_logits, over_keys

Conditional = Callable[[State, Count, Input], Float[Array, " values"]]


class Gibbs(AbstractReversibleKernel):
    """Random-scan Gibbs: redraw one site, chosen uniformly, from its conditional.

    All values of the site are scored at once. By default the whole `log_density(state, x)` is
    evaluated for each value; a model with local structure gives `conditional(state, site, x)`, the
    log-density of each value of `site` up to a common constant, and pays for one site only.
    """

    log_density: LogDensity
    sites: Sites
    conditional: Conditional | None

    def __init__(
        self,
        log_density: LogDensity,
        num_values: int | Any,
        *,
        conditional: Conditional | None = None,
        where: Callable[[State], Any] | None = None,
    ):
        self.log_density = log_density
        self.sites = Sites(num_values, where)
        self.conditional = conditional

    def logits(self, state: State, site: Count, x: Input = None) -> Float[Array, " values"]:
        """Unnormalised log-probabilities of the values of one site given all others."""
        return checked_logits(self._logits(state, site, x))

    def _logits(self, state: State, site: Count, x: Input) -> Float[Array, " values"]:
        if self.conditional is not None:
            scores = jnp.asarray(self.conditional(state, site, x))
            if scores.shape != (self.sites.num_values,):
                raise InputError(
                    f"a conditional must return one number for each of {self.sites.num_values} "
                    f"values, got shape {scores.shape}"
                )
        else:
            neighbours = self.sites.neighbours(state, site)
            scores = jax.vmap(lambda one: one_number(self.log_density(one, x)))(neighbours)
        return self.sites.mask(scores, site)

    def sample(self, key: RandomKey, state: State, x: Input = None) -> State:
        new, _, _, is_choice = self._redrawn(key, state, x)
        return checked_choice(new, is_choice)

    def sample_many(self, keys: Key[Array, " steps"], state: State, x: Input = None) -> State:
        def step(carry: tuple[State, Flag], key: RandomKey) -> tuple[State, Flag]:
            new, _, _, is_choice = self._redrawn(key, carry[0], x)
            return new, carry[1] & is_choice

        return checked_choice(*over_keys(step, (state, jnp.array(True)), keys))

    def sample_scored(self, key: RandomKey, state: State, x: Input = None) -> tuple[State, Scalar]:
        new, value, logits, is_choice = self._redrawn(key, state, x)
        new, logits = checked_choice((new, logits), is_choice)
        # The choice of the site has a probability too, but one without parameters.
        log_prob = jax.nn.log_softmax(logits)[value]
        return new, log_prob - jnp.log(self.sites.get(state).shape[0])

    def _redrawn(
        self, key: RandomKey, state: State, x: Input
    ) -> tuple[State, Count, Float[Array, " values"], Flag]:
        """The state with one site redrawn, its value, the logits that it was drawn by, and whether
        they left a choice."""
        # All randomness of a step from one use of the key: each costs its share of compile time.
        values = self.sites.get(state)
        words = random_words(key, (2,))
        site = (words[0] % values.shape[0]).astype(jnp.int32)
        logits = self._logits(state, site, x)
        value, is_choice = invert(jax.lax.stop_gradient(logits), words[1])
        new = self.sites.put(state, values.at[site].set(value.astype(values.dtype)))
        return new, value, logits, is_choice

    def log_prob(self, new: State, old: State, x: Input = None) -> Scalar:
        before, after = self.sites.get(old), self.sites.get(new)
        # A change names its site; staying put can happen at every site.
        sites = jnp.arange(before.shape[0])
        log_choices = jax.vmap(lambda site: self._log_choice(old, after, site, x))(sites)
        log_stay = jax.nn.logsumexp(log_choices) - jnp.log(len(sites))
        same = (before == after).all() & self.sites.same_rest(new, old)
        return jnp.where(same, log_stay, self.log_move(new, old, x))

    def log_move(self, new: State, old: State, x: Input = None) -> Scalar:
        before, after = self.sites.get(old), self.sites.get(new)
        changed = before != after
        log_prob = self._log_choice(old, after, jnp.argmax(changed), x)
        possible = (changed.sum() <= 1) & self.sites.same_rest(new, old)
        return jnp.where(possible, log_prob - jnp.log(before.shape[0]), -jnp.inf)

    def _log_choice(self, old: State, after: Array, site: Count, x: Input) -> Scalar:
        return log_prob_of(jax.nn.log_softmax(self.logits(old, site, x)), after[site])

    def log_target(self, state: State, x: Input = None) -> Scalar:
        return self.sites.log_target(self.log_density, state, x)

    def density(self) -> LogDensity:
        return self.log_density

    def support(self, state: State, x: Input = None) -> tuple[State, Bool[Array, " states"]]:
        return self.sites.neighbourhood(state)


class GibbsSweep(AbstractKernel):
    """Systematic-scan Gibbs: redraw every site once, in order (or in reversed order).

    Its transition probability is exact, since the sites' order makes the path between two states
    unique. It is not reversible; its time reversal is the sweep in the opposite order.
    """

    gibbs: Gibbs
    order: Literal["forward", "backward"] = eqx.field(static=True)

    def __init__(self, gibbs: Gibbs, order: Literal["forward", "backward"] = "forward"):
        if order not in ("forward", "backward"):
            raise InputError(f"order = {order!r} must be 'forward' or 'backward'")
        self.gibbs = gibbs
        self.order = order

    def _order(self, num_sites: int) -> Int[Array, " sites"]:
        sites = jnp.arange(num_sites)
        return sites if self.order == "forward" else sites[::-1]

    def sample(self, key: RandomKey, state: State, x: Input = None) -> State:
        sites = self.gibbs.sites
        num_sites = sites.get(state).shape[0]

        def redraw(state: State, step: tuple[Count, RandomKey]) -> tuple[State, None]:
            site, key = step
            values = sites.get(state)
            value, _ = invert(self.gibbs.logits(state, site, x), random_words(key, ()))
            return sites.put(state, values.at[site].set(value.astype(values.dtype))), None

        steps = (self._order(num_sites), jax.random.split(key, num_sites))
        return jax.lax.scan(redraw, state, steps)[0]

    def log_prob(self, new: State, old: State, x: Input = None) -> Scalar:
        sites = self.gibbs.sites
        after = sites.get(new)

        def redraw(state: State, site: Count) -> tuple[State, Scalar]:
            log_probs = jax.nn.log_softmax(self.gibbs.logits(state, site, x))
            log_prob = log_prob_of(log_probs, after[site])
            values = sites.get(state)
            # From what is impossible nothing follows: the rest is asked of where the sweep can be.
            value = jnp.where(log_prob > -jnp.inf, after[site], values[site])
            return sites.put(state, values.at[site].set(value)), log_prob

        log_probs = jax.lax.scan(redraw, old, self._order(after.shape[0]))[1]
        return jnp.where(sites.same_rest(new, old), log_probs.sum(), -jnp.inf)

    def log_target(self, state: State, x: Input = None) -> Scalar:
        return self.gibbs.log_target(state, x)

    def density(self) -> LogDensity:
        return self.gibbs.log_density

    def reverse(self) -> GibbsSweep:
        return GibbsSweep(self.gibbs, "backward" if self.order == "forward" else "forward")
