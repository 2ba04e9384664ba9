"""Training the reader, in JAX."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from ..reading import LEAST, Reader, letters, seen, shapes

# Hidden units of a frame and within blocks, blocks, and units that see the way to a key.
_WIDTH, _WIDE, _BLOCKS, _BASIS = 64, 128, 3, 32
# The first gain, and how sharply letters are where the finger is before anything is learned.
_GAIN, _NEAR = 0.3, 0.5
_DROPOUT = 0.1
# Standard deviations of what is changed in a trace each time it is read: shift, stretch and slant,
# shakes (in key widths), and the pace. A shake is straight between so many points.
_SHIFT, _STRETCH, _SHAKE, _PACE, _KNOTS = 0.1, 0.04, 0.05, 0.15, 10
_NEVER = -1e9


def untrained(seed: int) -> dict[str, jax.Array]:
    """Weights by lot: a reader that takes the nearest letters, about."""
    rng = np.random.default_rng([seed, 12])
    weights: dict[str, NDArray] = {}
    for name, shape in shapes(_WIDTH, _WIDE, _BLOCKS, _BASIS).items():
        part = name.split(".")[-2] if "." in name else name
        if name.endswith(".weight"):
            size = {"way": 2.0, "back": 0.3, "tell": 0.3, "key": 0.3, "none": 0.3}.get(part, 1.0)
            weights[name] = size / np.sqrt(shape[0]) * rng.standard_normal(shape)
        else:
            weights[name] = np.zeros(shape)
    weights["gain"] = np.array(_GAIN)
    weights["key.bias"][-1] = -_NEAR
    return {name: jnp.asarray(value, jnp.float32) for name, value in weights.items()}


def exported(weights: dict[str, jax.Array]) -> Reader:
    """The reader in numpy, for decoding and for files."""
    return Reader({name: np.asarray(value, np.float32) for name, value in weights.items()})


def read(weights: Any, places: Any, seconds: Any, plane: Any, key: Any) -> Any:
    """The log-chances of letters in the frames of moved traces, with some units left out."""
    moving, *keys = jax.random.split(key, 1 + 2 * _BLOCKS)
    waiting = iter(keys)

    def drop(values: Any) -> Any:
        kept = jax.random.bernoulli(next(waiting), 1 - _DROPOUT, values.shape)
        return values * kept / (1 - _DROPOUT)

    places, seconds = _moved(places, seconds, plane, moving)
    return letters(weights, *seen(places, seconds, plane, jnp), jnp, drop)


def _moved(places: Any, seconds: Any, plane: Any, key: Any) -> tuple[Any, Any]:
    count = len(places)
    keys = jax.random.split(key, 5)
    middle = plane.mean(0)
    stretch = jnp.exp(_STRETCH * jax.random.normal(keys[0], (count, 1, 2)))
    slant = _STRETCH * jax.random.normal(keys[1], (count, 1))
    shift = _SHIFT * jax.random.normal(keys[2], (count, 1, 2))
    knots = _SHAKE * jax.random.normal(keys[3], (count, _KNOTS, 2))
    pace = jnp.exp(_PACE * jax.random.normal(keys[4], (count,)))
    bent = (places - middle) * stretch
    bent = bent.at[..., 0].add(slant * bent[..., 1])
    return middle + bent + shift + jax.image.resize(knots, places.shape, "linear"), seconds * pace


def log_chances(said: Any, keys: Any, sizes: Any) -> Any:
    """As the decoder's, of one trace: in logarithms, which have slopes wherever they are."""
    none = said.shape[-1] - 1
    states = jnp.full((len(keys), 2 * keys.shape[1] + 1), none).at[:, 1::2].set(keys)
    place = jnp.arange(states.shape[1])
    skips = (place % 2 == 1) & (place > 1)
    each = said[:, states]

    def back(values: Any, by: int) -> Any:
        return jnp.pad(values, ((0, 0), (by, 0)), constant_values=_NEVER)[:, :-by]

    def step(reached: Any, now: Any) -> tuple[Any, None]:
        one, two = back(reached, 1), jnp.where(skips, back(reached, 2), _NEVER)
        most = jnp.maximum(jnp.maximum(reached, one), two)
        total = jnp.exp(reached - most) + jnp.exp(one - most) + jnp.exp(two - most)
        return most + jnp.log(total) + now, None

    first = jnp.where(place < 2, each[0], _NEVER)
    reached, _ = jax.lax.scan(step, first, each[1:])
    last = 2 * sizes[:, None]
    ends = (jnp.take_along_axis(reached, last - k, 1)[:, 0] for k in (0, 1))
    return jnp.maximum(jnp.logaddexp(*ends), LEAST)
