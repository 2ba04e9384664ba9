"""Redrawing the start or the end of a labelling from sums that are known already."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from .._custom_types import Count, RandomKey, Scalar
from .._inversion import invert, random_words
from ._potentials import Labels, Potentials, Sums, log_partition


class FractionBlock(NamedTuple):
    """A block of a sequence of any length: its first (or last) `fraction`, at least one place."""

    fraction: Float[Array, ""]
    from_start: Bool[Array, ""]

    def size(self, length: Count) -> Count:
        return jnp.maximum(
            jnp.ceil(self.fraction * jnp.asarray(length, self.fraction.dtype)), 1
        ).astype(jnp.int32)

    def mask(self, places: int, length: Count) -> Bool[Array, " length"]:
        index = jnp.arange(places)
        from_end = length - 1 - index
        return jnp.where(self.from_start, index, from_end) < self.size(length)


def sample_end(
    key: RandomKey, potentials: Potentials, sums: Sums, state: Labels, block: FractionBlock
) -> Labels:
    """`state` with the block redrawn given the rest: label by label, outwards from the rest."""
    places, length = state.shape[0], potentials.length
    index = jnp.arange(places)
    # The place that is visited at each step, and also the step at which a place is visited; beyond
    # the other end it is of no consequence.
    order = jnp.clip(jnp.where(block.from_start, length - 1 - index, index), 0, places - 1)
    inside = block.mask(places, length) & potentials.inside
    forward = potentials.unary + sums.after

    def step(neighbour: Array, visit: tuple[Array, Array]) -> tuple[Array, Array]:
        place, word = visit
        came = potentials.step(jnp.maximum(place - 1, 0))[neighbour]
        goes = potentials.step(jnp.minimum(place, places - 2))[:, neighbour]
        logits = jnp.where(
            block.from_start,
            sums.before[place] + jnp.where(place < length - 1, goes, 0),
            forward[place] + jnp.where(place > 0, came, 0),
        )
        drawn, _ = invert(logits, word)
        label = jnp.where(inside[place], drawn.astype(state.dtype), state[place])
        return label, label

    words = random_words(key, (places,))
    labels = jax.lax.scan(step, jnp.zeros((), state.dtype), (order, words))[1]
    return jnp.where(index < length, labels[order], state)


def log_prob_end(potentials: Potentials, sums: Sums, state: Labels, block: FractionBlock) -> Scalar:
    """Log-probability that `sample_end` gives this very state."""
    places, length = state.shape[0], potentials.length
    index, size = jnp.arange(places), block.size(potentials.length)
    inside = block.mask(places, length) & potentials.inside
    at_places = jnp.where(inside, potentials.unary[index, state], 0).sum()
    pairs = potentials.at_steps(state)
    touched = (inside[:-1] | inside[1:]) & (index[1:] < length)
    weight = at_places + jnp.where(touched, pairs, 0).sum()
    # All versions together weigh what the sums say at the rest's last label before the block.
    nearest = jnp.where(block.from_start, size, length - 1 - size)
    nearest = jnp.clip(nearest, 0, places - 1)
    label = state[nearest]
    given_rest = jnp.where(
        block.from_start,
        sums.before[nearest, label] - potentials.unary[nearest, label],
        sums.after[nearest, label],
    )
    return weight - jnp.where(size < length, given_rest, log_partition(potentials))
