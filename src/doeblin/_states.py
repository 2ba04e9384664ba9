"""States of any shape."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool

from ._custom_types import State


def same_state(a: State, b: State) -> Bool[Array, ""]:
    """Whether two states are equal, leaf by leaf."""
    equal = jax.tree.map(lambda p, q: jnp.all(p == q), a, b)
    return jnp.all(jnp.stack(jax.tree.leaves(equal)))
