"""Array types, named once."""

from __future__ import annotations

from typing import Any, TypeAlias

from jaxtyping import Array, Bool, Float, Int, Key, PyTree

RandomKey: TypeAlias = Key[Array, ""]
Scalar: TypeAlias = Float[Array, ""]
Flag: TypeAlias = Bool[Array, ""]
Count: TypeAlias = Int[Array, ""]
State: TypeAlias = PyTree[Any]
"""What a chain moves: any pytree of arrays."""
Input: TypeAlias = PyTree[Any]
"""What a model is conditioned on: any pytree of arrays, or None."""
