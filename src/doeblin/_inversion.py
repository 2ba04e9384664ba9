"""Draws from few values by inverting their distribution function, one random word for each.

The values share out all words: one of probability p has p·2³² of them (2⁶⁴ with `jax_enable_x64`),
wherever it stands among the others. So a probability is right to 2⁻³³, and above that to the digits
of a float; what is rarer than 2⁻³³ is never drawn, nor is what is impossible. Of k > 2 values, the
likeliest has up to k·2⁻²³ too much, which the others lack in proportion.
"""

from __future__ import annotations

import functools
import itertools
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, UInt

from ._custom_types import RandomKey

Words = UInt[Array, "..."]


def random_words(key: RandomKey, shape: tuple[int, ...]) -> Words:
    """Random bits as wide as JAX's numbers: 32, with `jax_enable_x64` 64."""
    wide = jnp.result_type(float) == jnp.float64
    return jax.random.bits(key, shape, jnp.uint64 if wide else jnp.uint32)


def uniform(words: Words) -> Float[Array, "..."]:
    """Uniform numbers in (0, 1] that have all bits of the words where they are small."""
    dtype = _float_type(words)
    return (words.astype(dtype) + 0.5) * dtype(1 / _num_words(words))


def invert(
    logits: Float[Array, "*sites values"], words: UInt[Array, "*sites"]
) -> tuple[Int[Array, "*sites"], Bool[Array, "*sites"]]:
    """One draw a site from one word each; and where the logits left a choice."""
    num_values = logits.shape[-1]
    if num_values <= 32:
        return invert_each(list(jnp.unstack(logits, axis=-1)), words)
    logits = logits.astype(_float_type(words))
    top = logits.max(axis=-1)
    odds = jnp.exp(logits - top[..., None])
    shares = _shares(odds, odds.sum(axis=-1, keepdims=True), num_values, words)
    value = (jnp.cumsum(shares, axis=-1, dtype=words.dtype) <= words[..., None]).sum(axis=-1)
    value = jnp.where(value == num_values, logits.argmax(axis=-1), value)
    return value.astype(jnp.int32), jnp.isfinite(top)


def invert_each(
    logits: list[Float[Array, "..."]], words: Words
) -> tuple[Int[Array, "..."], Bool[Array, "..."]]:
    """The same from an array of logits for each value: nothing goes along an axis, so that all of
    it is one operation on a device."""
    logits = [jnp.asarray(each, _float_type(words)) for each in logits]
    # The largest is NaN or infinite exactly if something is wrong.
    top = functools.reduce(jnp.maximum, logits)
    if len(logits) == 2:
        gap = logits[1] - logits[0]
        odds = jnp.exp(-jnp.abs(gap))
        rarer = uniform(words) * (1 + odds) < odds
        return (rarer ^ (gap >= 0)).astype(jnp.int32), jnp.isfinite(top)
    odds = [jnp.exp(each - top) for each in logits]
    total = functools.reduce(jnp.add, odds)
    shares = [_shares(each, total, len(odds), words) for each in odds]
    value = jnp.zeros((), jnp.int32)
    for number, each in enumerate(logits):
        value = jnp.where(each == top, number, value)
    for number, below in reversed(list(enumerate(itertools.accumulate(shares)))):
        value = jnp.where(words < below, number, value)
    return value, jnp.isfinite(top)


def _shares(odds: Array, total: Array, num_values: int, words: Words) -> Words:
    """How many words a value has: in sum so many less than all that no rounding makes them more.

    Sums of these are exact, where sums of floats are not. The few words that are left over are the
    likeliest value's.
    """
    spare = (num_values + 2) * float(jnp.finfo(odds.dtype).eps) / 2
    return (odds * (_num_words(words) * (1 - spare) / total) + 0.5).astype(words.dtype)


def _num_words(words: Words) -> float:
    return 2.0 ** (8 * words.dtype.itemsize)


def _float_type(words: Words) -> Any:
    return jnp.float64 if words.dtype == jnp.uint64 else jnp.float32
