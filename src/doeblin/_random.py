"""Keys whose random bits depend on nothing else, and compile quickly.

On processors, JAX writes each use of its generator (Threefry) as a loop of ten small kernels. A
gradient has dozens of uses, and they are most of its compile time. Here the same generator is
straight-line code, which becomes part of the kernel that needs the bits: the same bits, in a third
of the time to compile, and no slower.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.extend.random
import jax.numpy as jnp
from jaxtyping import Array, UInt32

from ._custom_types import RandomKey
from ._errors import InputError

_TAG = "doeblin"
_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))


def alone(key: RandomKey) -> RandomKey:
    """The same key if it is one of Threefry, else one of Threefry that is made of it.

    With `rbg` and `unsafe_rbg`, JAX draws for all keys of a `vmap` from the first. That one may
    stand still while others walk on, and who comes first depends on lanes and devices. What other
    generators do is not known.
    """
    if not jnp.issubdtype(key.dtype, jax.dtypes.prng_key):
        if jax.config.jax_default_prng_impl == "threefry2x32":  # pyright: ignore
            return key
        key = jax.random.wrap_key_data(key)
    if str(jax.random.key_impl(key)) in ("threefry2x32", _TAG):
        return key
    words = jax.random.key_data(key).astype(jnp.uint32).reshape(-1)
    words = jnp.pad(words, (0, len(words) % 2))
    own = words[:2]
    for more in words[2:].reshape(-1, 2):
        own = jnp.stack(_threefry(own, *more))
    return jax.random.wrap_key_data(own, impl="threefry2x32")


def quick(key: RandomKey) -> RandomKey:
    """The same key, `alone`, with quick code if it is one of JAX's default generator."""
    key = alone(key)
    if not jnp.issubdtype(key.dtype, jax.dtypes.prng_key):
        return key
    # The other way to count that JAX can be told to gives other bits.
    partitionable = getattr(jax.config, "jax_threefry_partitionable", True)
    if str(jax.random.key_impl(key)) != "threefry2x32" or not partitionable:
        return key
    return jax.random.wrap_key_data(jax.random.key_data(key), impl=_IMPLEMENTATION)


@jax.jit
def _threefry(key: Any, high: Array, low: Array) -> tuple[Array, Array]:
    """Threefry-2x32 with 20 rounds (Salmon et al., "Parallel random numbers", 2011)."""
    words = (key[0], key[1], key[0] ^ key[1] ^ jnp.uint32(0x1BD11BDA))
    high, low = high + words[0], low + words[1]
    for group in range(5):
        for rotation in _ROTATIONS[group % 2]:
            high = high + low
            low = (low << jnp.uint32(rotation)) | (low >> jnp.uint32(32 - rotation))
            low = high ^ low
        high = high + words[(group + 1) % 3]
        low = low + words[(group + 2) % 3] + jnp.uint32(group + 1)
    return high, low


def _counts(shape: tuple[int, ...]) -> tuple[Array, Array]:
    """The numbers 0, 1, … in a given shape, as two words each."""
    size = math.prod(shape)
    if size >= 2**32:
        # Counters have 32 bits here; an array of that size would take 16 GiB.
        raise InputError(f"{size} random numbers from one key are too many; draw them in parts")
    low = jax.lax.iota(jnp.uint32, size).reshape(shape)
    return jnp.zeros_like(low), low


def _seed(seed: Array) -> UInt32[Array, "2"]:
    return jax.random.key_data(jax.random.key(seed, impl="threefry2x32"))


def _split(key: UInt32[Array, "2"], shape: tuple[int, ...]) -> UInt32[Array, "... 2"]:
    return _kept(_threefry(key, *_counts(shape)), axis=-1)


def _fold_in(key: UInt32[Array, "2"], data: Any) -> UInt32[Array, "2"]:
    low = jnp.asarray(data).astype(jnp.uint32)
    return _kept(_threefry(key, jnp.zeros_like(low), low), axis=0)


def _kept(words: tuple[Array, Array], axis: int) -> UInt32[Array, "..."]:
    """Keys as an array that stays one.

    Without the barrier XLA looks through it, and computes the words of a key anew, generation by
    generation, inside of every kernel that uses them: half of the time to compile a gradient.
    """
    return jax.lax.optimization_barrier(jnp.stack(words, axis=axis))


def _random_bits(key: UInt32[Array, "2"], bit_width: int, shape: tuple[int, ...]) -> Array:
    high, low = _threefry(key, *_counts(shape))
    if bit_width == 64:
        return (high.astype(jnp.uint64) << jnp.uint64(32)) | low.astype(jnp.uint64)
    return (high ^ low).astype({8: jnp.uint8, 16: jnp.uint16, 32: jnp.uint32}[bit_width])


_IMPLEMENTATION = jax.extend.random.define_prng_impl(
    key_shape=(2,),
    seed=_seed,
    split=_split,
    random_bits=_random_bits,
    fold_in=_fold_in,
    name="doeblin_threefry2x32",
    tag=_TAG,
)
