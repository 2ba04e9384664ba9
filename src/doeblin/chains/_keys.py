"""Where every random key of a tour comes from.

One rule holds in all of doeblin: *a key is used once*. It is given to one sampler, or split once,
or folded with a counter, and never two of these, since in JAX `fold_in(key, 0)` is the same key as
`split(key)[0]`. A restart or a kernel may do with its key whatever obeys the rule, so a key that
was given away is never looked at again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, Key

from .._custom_types import RandomKey
from .._errors import InputError
from .._random import alone, quick


def checked_key(key: Any) -> RandomKey:
    """One typed key, whose bits depend on it alone, or an error that says how to get one."""
    dtype = getattr(key, "dtype", None)
    if dtype is None:
        remedy = f"jax.random.key({key})" if isinstance(key, int) else "jax.random.key(0)"
        raise InputError(f"{key!r} is not a random key; write {remedy}")
    if not jnp.issubdtype(dtype, jax.dtypes.prng_key):
        raise InputError(
            f"an array of type {dtype} and shape {jnp.shape(key)} is not a random key: doeblin "
            "takes the typed keys of jax.random.key(seed), not the arrays of "
            "jax.random.PRNGKey(seed); jax.random.wrap_key_data(array) turns one into the other"
        )
    if jnp.shape(key) != ():
        raise InputError(
            f"one random key is needed, got {jnp.shape(key)} of them; for many runs, `jax.vmap` "
            "over the keys"
        )
    return alone(key)


class TourKeys(NamedTuple):
    """The keys of tours, one of each for a tour, along a leading axis."""

    start: Key[Array, " tours"]
    """For the restart."""
    walk: Key[Array, " tours"]
    """For the stages: folded with the numbers of segments."""
    steps: Key[Array, " tours"]
    """For the kernels: folded with the numbers of steps."""


def keys_of_draws(key: RandomKey, num_inputs: int, num_draws: int) -> TourKeys:
    """For `num_draws` draws for each of the inputs, input by input.

    The draws of an input come from its own key: they do not depend on the other inputs.
    """

    def of_input(number: Array) -> Array:
        return jax.random.split(jax.random.fold_in(key, number), (num_draws, 3))

    key = quick(key)
    keys = jax.vmap(of_input)(jnp.arange(num_inputs)).reshape(-1, 3)
    return TourKeys(keys[:, 0], keys[:, 1], keys[:, 2])


def keys_of_tours(key: RandomKey, numbers: Int[Array, " tours"]) -> TourKeys:
    """For the tours of the given numbers."""
    key = quick(key)
    keys = jax.vmap(lambda number: jax.random.split(jax.random.fold_in(key, number), 3))(numbers)
    return TourKeys(keys[:, 0], keys[:, 1], keys[:, 2])
