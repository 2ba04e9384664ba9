"""Sums of a function over tours, which keep their digits however long the tours are."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array

from .._custom_types import Flag
from .._errors import InputError


class Sum(NamedTuple):
    """Of one value over the states of a tour that count, each less the first of them.

    So a large constant costs no digits. What it comes to is added in double precision.
    """

    first: tuple[Any, ...]
    """In parts that are added; zero where it is infinite or NaN, and until there is one."""
    total: Any
    lost: Any
    """What rounding took from the total."""

    @classmethod
    def of_nothing(cls, value: Any) -> Sum:
        """To which such values can be added."""
        first = tuple(jnp.zeros_like(part) for part in _in_floats(value))
        return cls(first, first[0], first[0])

    def plus(self, value: Any, counts: Flag, begins: Flag) -> Sum:
        """With one more value if it counts, of which it may be the first that does."""
        parts = _in_floats(value)
        first = tuple(
            jnp.where(begins & jnp.isfinite(part), part, known)
            for part, known in zip(parts, self.first, strict=True)
        )
        change, lost = _added(parts[0], -first[0])
        for part, start in zip(parts[1:], first[1:], strict=True):
            change, more = _added(change, part - start)
            lost += more
        total, more = _added(self.total, change)
        whole = Sum(first, total, self.lost + (lost + more))
        # `where` and not a product: what the function says of other stages may be infinite.
        return jax.tree.map(lambda new, old: jnp.where(counts, new, old), whole, self)


class TourSums(NamedTuple):
    """For each tour: the function's sums, how many states count, the length."""

    values: Any
    """A `Sum` in the place of each array of the function's value."""
    weights: Any
    steps: Any


def _in_floats(value: Any) -> tuple[Array, ...]:
    """A value as the sum of one float or two. Integers may have more digits than a float of their
    size: their last twelve bits are the second."""
    kind = _float(value)
    if not isinstance(value, jax.Array) or not jnp.issubdtype(value.dtype, jnp.integer):
        return (jnp.asarray(value, kind),)
    if value.dtype.itemsize < 4:
        return (value.astype(kind),)
    low = value & 0xFFF
    return (value - low).astype(kind), low.astype(kind)


def _float(value: Any) -> Any:
    """The type to add it up in: halves of floats would stop at a few hundred steps."""
    try:
        with jax.numpy_dtype_promotion("standard"):
            kind = jnp.promote_types(jnp.result_type(value, float), jnp.float32)
    except (TypeError, ValueError):
        what = f"numbers of type {value.dtype}" if isinstance(value, jax.Array) else repr(value)
        raise InputError(
            f"the function returns {what:.40}, which cannot be averaged: return numbers of an "
            "ordinary type, or arrays or trees of them"
        ) from None
    if jnp.issubdtype(kind, jnp.complexfloating):
        raise InputError(
            "the function returns complex numbers, which have no standard error: return their real "
            "and imaginary parts"
        )
    return kind


def _added(a: Array, b: Array) -> tuple[Array, Array]:
    """a + b as it is rounded, and what that took from it (Knuth)."""
    total = a + b
    added = total - a
    return total, (a - (total - added)) + (b - added)
