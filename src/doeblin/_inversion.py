"""Draws by inverting distribution functions, one random word for each.

The values share out all words: one of probability p has p·2³² of them (2⁶⁴ with `jax_enable_x64`),
wherever it stands among the others. So a probability is right to 2⁻³³, and above that to the digits
of a float; what is rarer than 2⁻³³ is never drawn, nor is what is impossible. Of k > 2 values, the
likeliest has up to k·2⁻²³ too much, which the others lack in proportion.

Many values are drawn in groups: first a group of groups, at last a value, each among at most 32. So
what is too much is never more than the likeliest of 32 can bear, 2⁻¹³ of its probability; rounding
adds a word (2⁻³²) for each time that groups are made.
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

_GROUP = 32


def random_words(key: RandomKey, shape: tuple[int, ...]) -> Words:
    """Random bits as wide as JAX's numbers: 32, with `jax_enable_x64` 64."""
    wide = jnp.result_type(float) == jnp.float64
    return jax.random.bits(key, shape, jnp.uint64 if wide else jnp.uint32)


def uniform(words: Words) -> Float[Array, "..."]:
    """Uniform numbers in (0, 1] that have all bits of the words where they are small."""
    dtype = _float_type(words)
    return (words.astype(dtype) + 0.5) * dtype(1 / _num_words(words))


def categorical(key: RandomKey, logits: Float[Array, "*sites values"]) -> Int[Array, "*sites"]:
    """One draw a site. That of `jax.random` is made of numbers with 23 bits, so that what is rarer
    than 10⁻⁶ comes too rarely."""
    logits = jax.lax.stop_gradient(logits)
    return invert(logits, random_words(key, logits.shape[:-1]))[0].astype(int)


def invert(
    logits: Float[Array, "*sites values"], words: UInt[Array, "*sites"]
) -> tuple[Int[Array, "*sites"], Bool[Array, "*sites"]]:
    """One draw a site from one word each; and where the logits left a choice."""
    if logits.shape[-1] <= _GROUP:
        return invert_each(list(jnp.unstack(logits, axis=-1)), words)
    logits = logits.astype(_float_type(words))
    top = logits.max(axis=-1)
    # The odds of the values, then those of their groups, of groups of groups, …
    odds = [_grouped(jnp.exp(logits - top[..., None]))]
    while odds[-1].shape[-2] > 1:
        odds.append(_grouped(_running(odds[-1])[..., -1]))
    value, span = jnp.zeros(words.shape, jnp.int32), jnp.zeros_like(words)
    for groups in reversed(odds):
        among = jnp.take_along_axis(groups, value[..., None, None], axis=-2)[..., 0, :]
        child, words, span = _within(among, words, span)
        value = value * _GROUP + child
    # Not by `top`: XLA's maximum overlooks NaN where an axis is long.
    return value, jnp.isfinite(_running(odds[-1])[..., 0, -1])


def _grouped(odds: Array) -> Float[Array, "... groups members"]:
    *sites, size = odds.shape
    filled = jnp.pad(odds, [(0, 0)] * len(sites) + [(0, -size % _GROUP)])
    return filled.reshape(*sites, filled.shape[-1] // _GROUP, _GROUP)


def _running(odds: Float[Array, "... members"]) -> Float[Array, "... members"]:
    """Sums from the first member on, one after the other: how XLA adds along an axis depends on
    what is beside it, and draws would, too."""
    return jnp.stack(list(itertools.accumulate(jnp.unstack(odds, axis=-1))), axis=-1)


def _within(
    odds: Float[Array, "... members"], words: Words, span: Words
) -> tuple[Array, Words, Words]:
    """Who has a word among the first `span` ones (0 stands for all), which of his words it is, and
    how many he has."""
    sums, likeliest = _running(odds), odds.argmax(axis=-1).astype(jnp.int32)
    total, size = sums[..., -1:], span.astype(odds.dtype)
    size = jnp.where(span == 0, odds.dtype.type(_num_words(words)), size)[..., None]
    shares = _shares(odds, total, _GROUP, words, size)
    below = jnp.cumsum(shares, axis=-1, dtype=words.dtype)
    # Of few words the ends are rounded, not the shares: nothing is left over.
    few = size * float(jnp.finfo(odds.dtype).eps) <= 1
    below = jnp.where(few, jnp.round(sums / total * size).astype(words.dtype), below)
    member = (below <= words[..., None]).sum(axis=-1, dtype=jnp.int32)
    # What is left over is the likeliest's, too: its last words.
    is_left = member == _GROUP
    member = jnp.where(is_left, likeliest, member)
    ends = jnp.pad(below, [(0, 0)] * (below.ndim - 1) + [(1, 0)])
    start, end = (
        jnp.take_along_axis(ends, (member + side)[..., None], axis=-1)[..., 0] for side in (0, 1)
    )
    share, last = end - start, below[..., -1]
    start = jnp.where(is_left, last - share, start)
    return member, words - start, share + jnp.where(member == likeliest, span - last, 0)


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
    all_words = _num_words(words)
    shares = [_shares(each, total, len(odds), words, all_words) for each in odds]
    value = jnp.zeros((), jnp.int32)
    for number, each in enumerate(logits):
        value = jnp.where(each == top, number, value)
    for number, below in reversed(list(enumerate(itertools.accumulate(shares)))):
        value = jnp.where(words < below, number, value)
    return value, jnp.isfinite(top)


def _shares(odds: Array, total: Array, num_values: int, words: Words, span: Any) -> Words:
    """How many of `span` words a value has: in sum so many less that no rounding makes them more.

    Sums of these are exact, where sums of floats are not. The few words that are left over are the
    likeliest value's.
    """
    spare = (num_values + 2) * float(jnp.finfo(odds.dtype).eps) / 2
    return (odds * (span * (1 - spare) / total) + 0.5).astype(words.dtype)


def _num_words(words: Words) -> float:
    return 2.0 ** (8 * words.dtype.itemsize)


def _float_type(words: Words) -> Any:
    return jnp.float64 if words.dtype == jnp.uint64 else jnp.float32
