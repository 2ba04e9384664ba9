"""Where every random key of a tour comes from.

One rule holds in all of doeblin: *a key is used once*. It is given to one sampler, or split once,
or folded with a counter, and never two of these, since in JAX `fold_in(key, 0)` is the same key as
`split(key)[0]`. A restart or a kernel may do with its key whatever obeys the rule, so a key that
was given away is never looked at again.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, Key

from .._custom_types import RandomKey


class TourKeys(NamedTuple):
    """The keys of tours, one of each for a tour, along a leading axis."""

    start: Key[Array, " tours"]
    """For the restart."""
    walk: Key[Array, " tours"]
    """For the stages: folded with the numbers of segments."""
    steps: Key[Array, " tours"]
    """For the kernels: folded with the numbers of steps."""

    @classmethod
    def of(cls, keys: Key[Array, " tours"]) -> TourKeys:
        """All keys of the tours of the given keys: the one place where those are split."""
        return cls(*jax.vmap(lambda key: jax.random.split(key, 3), out_axes=1)(keys))


def keys_of_draws(key: RandomKey, num_inputs: int, num_draws: int) -> TourKeys:
    """For `num_draws` draws for each of the inputs, input by input.

    The draws of an input come from its own key: they do not depend on the other inputs.
    """

    def of_input(number: Array) -> Array:
        return jax.random.split(jax.random.fold_in(key, number), num_draws)

    return TourKeys.of(jax.vmap(of_input)(jnp.arange(num_inputs)).ravel())


def keys_of_tours(key: RandomKey, numbers: Int[Array, " tours"]) -> TourKeys:
    """For the tours of the given numbers."""
    return TourKeys.of(jax.vmap(lambda number: jax.random.fold_in(key, number))(numbers))
