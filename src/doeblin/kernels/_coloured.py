"""Gibbs sampling of many sites at once, where colours keep neighbours apart."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Integer, Key

from .._custom_types import Count, Flag, Input, RandomKey, Scalar, State
from .._errors import InputError
from .._inversion import Words, invert, invert_each, random_words
from .._states import log_prob_of
from ._base import AbstractKernel, AbstractReversibleKernel
from ._sites import LogDensity, Sites, checked_choice, checked_logits, over_keys

Conditionals = Callable[[State, Input], Float[Array, "sites values"]]


class AbstractParts(eqx.Module):
    """How a model keeps a state as one array for each colour, and scores one colour alone.

    A sweep then looks at every site once, where `conditionals` scores all sites for each colour.
    Where that does not pay, it draws the same from `conditionals`.
    """

    pays: eqx.AbstractVar[bool]
    """Whether it is the quicker way on the device at hand."""

    @abc.abstractmethod
    def split(self, state: State) -> tuple[Int[Array, "..."], ...]:
        """The sites of each colour as one array; all of one shape."""

    @abc.abstractmethod
    def join(self, parts: tuple[Integer[Array, "..."], ...]) -> State:
        """The state with these parts; random words are joined by it, too."""

    @abc.abstractmethod
    def logits(
        self, parts: tuple[Int[Array, "..."], ...], colour: int, x: Input = None
    ) -> list[Float[Array, "..."]]:
        """For each value, the logits of that value at all sites of a colour."""

    @abc.abstractmethod
    def is_choice(self, x: Input = None) -> Flag:
        """Whether logits leave a choice everywhere, whatever the state."""


class ColouredGibbs(AbstractReversibleKernel):
    """Redraw all sites of one random colour at once.

    Sites of a colour must be independent given all others: no factor of the density may hold two of
    them (on a grid, the checkerboard). `conditionals(state, x)` gives, for every site at once, the
    log-density of each of its values up to a constant. A model that can do so for one colour alone
    may give `parts` besides.
    """

    log_density: LogDensity
    conditionals: Conditionals
    colours: Int[Array, " sites"]
    num_colours: int = eqx.field(static=True)
    sites: Sites
    parts: AbstractParts | None

    def __init__(
        self,
        log_density: LogDensity,
        conditionals: Conditionals,
        colours: Any,
        num_values: int | Any,
        *,
        where: Callable[[State], Any] | None = None,
        parts: AbstractParts | None = None,
    ):
        flat = np.asarray(colours).ravel()
        if not np.issubdtype(flat.dtype, np.integer) or not len(flat) or flat.min() < 0:
            raise InputError("colours must be whole numbers from 0, one for each site")
        self.log_density = log_density
        self.conditionals = conditionals
        self.colours = jnp.asarray(flat)
        self.num_colours = int(flat.max()) + 1
        self.sites = Sites(num_values, where)
        self.parts = parts

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

    def redraw(self, words: Words, state: State, colour: Any, x: Input) -> State:
        """Redraw the sites of one colour by inverting their distribution functions, from a random
        word for each site."""
        new, is_choice = self._redrawn(words, state, colour, x)
        return checked_choice(new, is_choice.all())

    def _redrawn(
        self, words: Words, state: State, colour: Any, x: Input
    ) -> tuple[State, Bool[Array, " sites"]]:
        """The state with the sites of one colour redrawn, and where there was a choice.

        Many steps together ask once for all sites whether there always was: asking at each step
        would take longer than the step.
        """
        values, logits = self.sites.get(state), self.logits(state, x)
        fresh, is_choice = invert(logits, words)
        kept = jnp.where(self.colours == colour, fresh.astype(values.dtype), values)
        return self.sites.put(state, kept), is_choice

    def log_redraw(self, new: State, old: State, colour: Any, x: Input) -> Scalar:
        """Log-probability that redrawing one colour turns `old` into `new`, if it can."""
        log_probs = jax.nn.log_softmax(checked_logits(self.logits(old, x)))
        chosen = log_prob_of(log_probs, self.sites.get(new))
        return jnp.where(self.colours == colour, chosen, 0).sum()

    def sample(self, key: RandomKey, state: State, x: Input = None) -> State:
        return self.redraw(*self._choices(key, state), x)

    def sample_many(self, keys: Key[Array, " steps"], state: State, x: Input = None) -> State:
        def step(carry: tuple[State, Array], key: RandomKey) -> tuple[State, Array]:
            state, is_choice = self._redrawn(*self._choices(key, carry[0]), x)
            return state, carry[1] & is_choice

        return self._walked(step, keys, state)

    def _walked(self, step: Any, keys: Key[Array, " steps"], state: State) -> State:
        """The state after all steps, each of which takes along where there always was a choice."""
        always = jnp.ones(self.colours.shape, bool)
        state, always = over_keys(step, (state, always), keys)
        return checked_choice(state, always.all())

    def sample_scored(self, key: RandomKey, state: State, x: Input = None) -> tuple[State, Scalar]:
        words, _, colour = self._choices(key, state)
        new = self.redraw(words, state, colour, x)
        return new, self.log_redraw(new, state, colour, x) - jnp.log(self.num_colours)

    def _choices(self, key: RandomKey, state: State) -> tuple[Words, State, Count]:
        colour_key, value_key = jax.random.split(key)
        colour = jax.random.randint(colour_key, (), 0, self.num_colours)
        return random_words(value_key, self.colours.shape), state, colour

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
        return self.sample_many(key[None], state, x)

    def sample_many(self, keys: Key[Array, " steps"], state: State, x: Input = None) -> State:
        parts = self.gibbs.parts
        self.gibbs.sites.get(state)  # Refuses what are no sites.
        if parts is None or not parts.pays:
            return self.gibbs._walked(self._sweep(x), keys, state)
        arrays = over_keys(self._sweep_parts(parts, x), parts.split(state), keys)
        return checked_choice(parts.join(arrays), parts.is_choice(x))

    def _sweep(self, x: Input) -> Callable[[Any, RandomKey], Any]:
        def sweep(carry: tuple[State, Array], key: RandomKey) -> tuple[State, Array]:
            state, always = carry
            # Each site is redrawn once in a sweep, so one word a site serves all colours.
            words = self._words(key, state)
            for colour in self._order():
                state, is_choice = self.gibbs._redrawn(words, state, colour, x)
                always &= is_choice
            return state, always

        return sweep

    def _words(self, key: RandomKey, state: State) -> Words:
        """A word for each site, which is the same one where sites are kept in parts."""
        parts = self.gibbs.parts
        if parts is None:
            return random_words(key, self.gibbs.colours.shape)
        each = jax.eval_shape(parts.split, state)
        return self.gibbs.sites.get(
            parts.join(tuple(random_words(key, (len(each), *each[0].shape))))
        )

    def _sweep_parts(self, parts: AbstractParts, x: Input) -> Callable[[Any, RandomKey], Any]:
        def sweep(arrays: tuple[Array, ...], key: RandomKey) -> tuple[Array, ...]:
            words = random_words(key, (len(arrays), *arrays[0].shape))
            for colour in self._order():
                fresh, _ = invert_each(parts.logits(arrays, colour, x), words[colour])
                fresh = fresh.astype(arrays[colour].dtype)
                arrays = (*arrays[:colour], fresh, *arrays[colour + 1 :])
            return arrays

        return sweep

    def log_prob(self, new: State, old: State, x: Input = None) -> Scalar:
        sites, colours = self.gibbs.sites, self.gibbs.colours
        total, state = jnp.array(0.0), old
        for colour in self._order():
            log_prob = self.gibbs.log_redraw(new, state, colour, x)
            # From what is impossible nothing follows, as in a `GibbsSweep`.
            redrawn = (colours == colour) & (log_prob > -jnp.inf)
            state = sites.put(state, jnp.where(redrawn, sites.get(new), sites.get(state)))
            total += log_prob
        return jnp.where(sites.same_rest(new, old), total, -jnp.inf)

    def log_target(self, state: State, x: Input = None) -> Scalar:
        return self.gibbs.log_target(state, x)

    def density(self) -> LogDensity:
        return self.gibbs.log_density

    def reverse(self) -> ColouredSweep:
        return ColouredSweep(self.gibbs, "backward" if self.order == "forward" else "forward")
