"""Small linear systems inside compiled code."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


def solve(matrix: Float[Array, "n n"], right: Float[Array, " n"]) -> Float[Array, " n"]:
    """The solution of `matrix @ v = right`, by Gauss-Jordan elimination with pivots.

    For the few stages or states of an explicit chain. Batches of LAPACK's triangular solves, which
    `jnp.linalg.solve` becomes under `vmap` and `grad`, can wait for each other for ever on machines
    with few cores (jaxlib 0.10 runs them on the pool of threads that they wait in).
    """
    return jax.lax.custom_linear_solve(
        lambda vector: jnp.matmul(matrix, vector, precision="highest"),
        right,
        solve=lambda _, b: _eliminate(matrix, b),
        transpose_solve=lambda _, b: _eliminate(matrix.T, b),
    )


def _eliminate(matrix: Array, right: Array) -> Array:
    size = matrix.shape[0]
    rows = jnp.arange(size)

    def column(table: Array, i: Array) -> tuple[Array, None]:
        candidates = jnp.where(rows >= i, jnp.abs(table[:, i]), -1.0)
        pivot = jnp.argmax(candidates)
        swapped = jnp.where(rows == i, pivot, jnp.where(rows == pivot, i, rows))
        table = table[swapped]
        row = table[i] / table[i, i]
        table = table - jnp.where(rows == i, 0, table[:, i])[:, None] * row[None]
        return table.at[i].set(row), None

    table = jnp.concatenate([matrix, right[:, None]], axis=1)
    return jax.lax.scan(column, table, rows)[0][:, -1]
