"""From the states of walks and their weights to what is predicted."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array

Decoder = Callable[[Array, Array, int], Array]
"""From states, their weights and the number of labels to what is predicted."""


def sampled_marginals(states: Array, weights: Array, num_labels: int) -> Array:
    def add(total: Array, one: tuple[Array, Array]) -> tuple[Array, None]:
        labels, weight = one
        return total + weight * jax.nn.one_hot(labels, num_labels), None

    zeros = jnp.zeros((states.shape[1], num_labels))
    return jax.lax.scan(add, zeros, (states, weights))[0]


def likeliest(states: Array, weights: Array, num_labels: int) -> Array:
    return jnp.argmax(sampled_marginals(states, weights, num_labels), axis=-1)


def most_visited(states: Array, weights: Array, num_labels: int) -> Array:
    """The state of the largest weight in all. Equal ones have equal numbers, and come together."""
    places = states.shape[1]
    words = jax.random.bits(jax.random.key(places), (2, places), jnp.uint32)
    one, other = (states.astype(jnp.uint32)[None] * words[:, None]).sum(axis=-1, dtype=jnp.uint32)
    order = jnp.lexsort((one, other))
    one, other = one[order], other[order]
    changes = (one[1:] != one[:-1]) | (other[1:] != other[:-1])
    group = jnp.concatenate([jnp.zeros(1, jnp.int32), jnp.cumsum(changes)])
    totals = jax.ops.segment_sum(weights[order], group, len(group))
    return states[order[jnp.argmax(totals[group])]]
