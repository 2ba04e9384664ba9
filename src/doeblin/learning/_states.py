"""The stationary law as weighted states, from the same walks that learning uses."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .._custom_types import Input, RandomKey, State
from .._random import quick
from ..chains import Chain
from ._horizons import AbstractHorizon
from ._model import Model
from ._prefixes import forward_tape
from ._tape import frozen


def weighted_states(
    key: RandomKey, chain: Chain, horizon: AbstractHorizon, num_walks: int, x: Input = None
) -> tuple[State, Float[Array, " slots"]]:
    """States that walks from the restart pass, with weights (summing to one) that make them π̃'s.

    All states of all walks are used, so expectations cost less than from exact draws.
    """
    model = frozen(Model.of(chain, x))
    start_key, walk_key = jax.random.split(quick(key))
    start, tape, _, log_coefficient = forward_tape(start_key, walk_key, model, horizon, num_walks)
    states = jax.tree.map(lambda a, b: jnp.concatenate([a, b]), start, tape.new)
    first = jnp.broadcast_to(model.log_start, num_walks)
    return states, jax.nn.softmax(jnp.concatenate([first, log_coefficient]))
