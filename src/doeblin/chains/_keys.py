"""Where every random key of a tour comes from.

One rule holds in all of doeblin: *a key is used once*. It is given to one sampler, or split once,
or folded with a counter, and never two of these, since in JAX `fold_in(key, 0)` is the same key as
`split(key)[0]`. A restart or a kernel may do with its key whatever obeys the rule, so a key that
was given away is never looked at again.
"""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Key

from .._custom_types import RandomKey
from .._errors import InputError
from .._random import alone, quick
from .._seeds import SEEDS


def checked_key(key: Any) -> RandomKey:
    """One typed key, whose bits depend on it alone, or an error that says how to get one."""
    dtype = getattr(key, "dtype", None)
    if dtype is None or not jnp.issubdtype(dtype, jax.dtypes.prng_key):
        kind = f"an array of type {dtype} and shape {jnp.shape(key)}"
        said = f"{key!r:.40}" if dtype is None or isinstance(key, np.generic) else kind
        raise InputError(f"key = {said} is not a random key: {_remedy(key)}")
    if jnp.shape(key) != ():
        raise InputError(
            f"key: one random key is needed, got {jnp.shape(key)} of them; for many runs, "
            "`jax.vmap` over the keys"
        )
    return alone(key)


def _remedy(key: Any) -> str:
    plain = jax.random.PRNGKey(0)
    if getattr(key, "dtype", None) == plain.dtype and jnp.shape(key) == plain.shape:
        return (
            "doeblin takes the typed keys of jax.random.key(seed), not the arrays of "
            "jax.random.PRNGKey(seed); jax.random.wrap_key_data(array) turns one into the other"
        )
    try:
        seed = operator.index(key)
    except TypeError:
        seed = 0
    return f"write jax.random.key({seed if 0 <= seed < SEEDS else 0})"


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
