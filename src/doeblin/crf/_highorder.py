"""Past the linear chain: densities with features of the whole labelling, and their kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .._custom_types import Count, Input, RandomKey, Scalar
from .._inversion import invert, random_words
from .._states import log_prob_of, one_number
from ..kernels import AbstractReversibleKernel
from ._ends import FractionBlock
from ._potentials import Labels, Potentials, log_weight
from ._restart import Observed

Extra = Callable[[Labels, Observed], Any]
"""Features of a whole labelling, as a vector; must not look at labels beyond `x.length`."""


class Given(NamedTuple):
    """One observed sequence with all scores that need no labels, computed once."""

    base: Potentials
    """The restart's."""
    full: Potentials
    """The kernel's own version of them."""
    observed: Observed


class HighOrder(eqx.Module):
    """log π̂(y | x) = scores of a linear chain + weights · extra features of all labels at once."""

    weights: Float[Array, " extra"]
    extra: Extra = eqx.field(static=True)

    def __call__(self, labels: Labels, x: Given) -> Scalar:
        features = jnp.asarray(self.extra(labels, x.observed), dtype=self.weights.dtype)
        return log_weight(x.full, labels) + jnp.dot(
            self.weights, features.ravel(), precision="highest"
        )


class SequenceGibbs(AbstractReversibleKernel):
    """Random-scan Gibbs over the places of a sequence that are not padding.

    `log_density(labels, x)` scores whole labellings; `length(x)` says how many places count. By
    default it is evaluated for each label of a place; a model with local structure gives
    `conditional(labels, place, x)`, the log-density of each label of `place` up to a common
    constant, and pays for one place only.
    """

    log_density: Callable[[Labels, Any], Any]
    num_labels: int = eqx.field(static=True)
    length: Callable[[Any], Count] = eqx.field(static=True)
    conditional: Callable[[Labels, Count, Any], Any] | None = None

    def sample(self, key: RandomKey, state: Labels, x: Input = None) -> Labels:
        return self.sample_scored(key, state, x)[0]

    def sample_scored(
        self, key: RandomKey, state: Labels, x: Input = None
    ) -> tuple[Labels, Scalar]:
        # Two numbers are all the randomness of a step; more would cost more than the step does.
        choose, pick = random_words(key, (2,))
        length = self.length(x)
        place = (choose % jnp.asarray(length, choose.dtype)).astype(jnp.int32)
        logits = self._logits(state, place, x)
        label, _ = invert(logits, pick)
        new = state.at[place].set(label.astype(state.dtype))
        return new, jax.nn.log_softmax(logits)[label] - jnp.log(length)

    def log_prob(self, new: Labels, old: Labels, x: Input = None) -> Scalar:
        length, places = self.length(x), jnp.arange(old.shape[0])
        # One change names its place; staying put can happen at every place.
        stay = jax.vmap(lambda place: self._log_choice(new, old, place, x))(places)
        log_stay = jax.nn.logsumexp(stay, where=places < length) - jnp.log(length)
        return jnp.where((new != old).any(), self.log_move(new, old, x), log_stay)

    def log_move(self, new: Labels, old: Labels, x: Input = None) -> Scalar:
        length, changed = self.length(x), new != old
        place = jnp.argmax(changed)
        log_prob = self._log_choice(new, old, place, x) - jnp.log(length)
        return jnp.where((changed.sum() <= 1) & (place < length), log_prob, -jnp.inf)

    def _log_choice(self, new: Labels, old: Labels, place: Array, x: Input) -> Scalar:
        return log_prob_of(jax.nn.log_softmax(self._logits(old, place, x)), new[place])

    def log_target(self, state: Labels, x: Input = None) -> Scalar:
        known = ((state >= 0) & (state < self.num_labels)).all()
        return jnp.where(known, one_number(self.log_density(state, x)), -jnp.inf)

    def density(self) -> Callable[[Labels, Any], Any]:
        return self.log_density

    def _logits(self, state: Labels, place: Array, x: Input) -> Float[Array, " labels"]:
        if self.conditional is not None:
            return jnp.asarray(self.conditional(state, place, x))
        labels = jnp.arange(self.num_labels, dtype=state.dtype)
        return jax.vmap(lambda label: one_number(self.log_density(state.at[place].set(label), x)))(
            labels
        )


class RandomFraction(eqx.Module):
    """Blocks for sequences of any length: a random share of it, from its start or its end."""

    def __call__(self, key: RandomKey) -> FractionBlock:
        # From one use of the key: each costs its share of compile time.
        share, side = jax.random.uniform(key, (2,))
        return FractionBlock(share, side < 0.5)
