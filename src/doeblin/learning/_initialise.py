"""The paper's initialisation: train u alone, then let A leave u invariant."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from .._errors import InputError


def extend_with_zeros(small: Any, large: Any) -> Any:
    """The parameters θ_1 = [θ_0, 0] of a model that has more features than `small` has.

    Leaves are matched by their place in the trees. A leaf of `large` becomes the leaf of `small` at
    the same place, filled up with zeros to its own shape; one that `small` does not have becomes
    zero. If `small` are the trained parameters of u, and A a kernel whose target has u's features
    first, A then leaves u invariant, and the likelihood of the chain is u's (paper, section 4.2).

    >>> extend_with_zeros({"w": jnp.array([1.0, 2.0])}, {"w": jnp.ones(3)})["w"].tolist()
    [1.0, 2.0, 0.0]
    """
    known = dict(_leaves(small))
    places = dict(_leaves(large))
    lost = sorted(set(known) - set(places))
    if lost:
        raise InputError(
            f"the larger model has no parameters at {', '.join(lost)}, where the smaller one has "
            f"some; it has them at {', '.join(sorted(places))}"
        )

    def extended(path: Any, leaf: Any) -> Any:
        if not eqx.is_inexact_array(leaf):
            return leaf
        name = jax.tree_util.keystr(path)
        if name not in known:
            return jnp.zeros_like(leaf)
        given = known[name]
        if given.ndim != leaf.ndim or any(
            n > m for n, m in zip(given.shape, leaf.shape, strict=True)
        ):
            raise InputError(
                f"the parameters at {name} have shape {given.shape}, which does not fit into the "
                f"larger model's {leaf.shape}"
            )
        corner = tuple(slice(0, n) for n in given.shape)
        return jnp.zeros_like(leaf).at[corner].set(given)

    return jax.tree_util.tree_map_with_path(extended, large)


def _leaves(tree: Any) -> list[tuple[str, Any]]:
    return [
        (jax.tree_util.keystr(path), leaf)
        for path, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]
        if eqx.is_inexact_array(leaf)
    ]
