"""States of any shape."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from ._custom_types import Scalar, State
from ._errors import InputError


def same_state(a: State, b: State) -> Bool[Array, ""]:
    """Whether two states are equal, leaf by leaf."""
    equal = jax.tree.map(lambda p, q: jnp.all(p == q), a, b)
    return jnp.all(jnp.stack(jax.tree.leaves(equal)))


def log_prob_of(log_probs: Float[Array, "... values"], value: Any) -> Float[Array, "..."]:
    """The entry of each row at a value; -inf at values that there are none of.

    (JAX clamps an index that is too large, and counts one below zero from the end.)
    """
    value = jnp.asarray(value)
    if value.shape != log_probs.shape[:-1] or not jnp.issubdtype(value.dtype, jnp.integer):
        raise InputError(
            f"a state of type {value.dtype} and shape {value.shape} does not fit here: it must be "
            f"whole numbers of shape {log_probs.shape[:-1]}"
        )
    inside = (value >= 0) & (value < log_probs.shape[-1])
    index = jnp.where(inside, value, 0)[..., None]
    return jnp.where(inside, jnp.take_along_axis(log_probs, index, axis=-1)[..., 0], -jnp.inf)


def one_number(value: Any, what: str = "a log-density") -> Scalar:
    """What a user's function says of one state, checked to be one number."""
    value = jnp.asarray(value)
    if value.shape != ():
        raise InputError(
            f"{what} must return one number for one state, got shape {value.shape}; write it for a "
            "single state (doeblin vmaps for you), and sum over the state's parts: `.sum()`"
        )
    return value
