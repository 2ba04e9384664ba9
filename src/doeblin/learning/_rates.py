"""Learning how often to restart, and when to move from stage to stage.

By gradient: build the chain inside the loss from a traced ε or stage matrix (whose zeros are moves
that cannot happen, and stay so: with several kernels they get no gradient). By EM: take the
`stage_counts` of estimates for all data, and update.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float

from .._custom_types import Scalar
from .._errors import InputError
from ._stages import log_restart_mass, reordered, safe_log


def em_epsilon(stage_counts: Any) -> Scalar:
    """The EM update of ε: 1/(1 + mean E[T | y]), for plain strong Doeblin chains.

    `stage_counts` are those of the estimates for all data, with a leading axis.

    >>> import jax.numpy as jnp
    >>> float(em_epsilon(jnp.array([[[0.0, 1.0], [0.0, 18.0]]])))
    0.05000000074505806
    """
    counts = _checked_counts(stage_counts, 2)
    return 1 / (1 + counts.sum())


def em_stage_matrix(
    stage_counts: Any, stage_matrix: Any, *, restart_stage: int = 0, steps: int = 100
) -> Float[Array, "stages stages"]:
    """The EM update of a stage matrix C (exit rates included): never lowers the likelihood.

    The expected log-probability of the path to the data is log π_C(z*) + Σ N log C, with N the
    mean of `stage_counts`. How often a stage is left, N row by row, would be its maximum but for
    π_C(z*), which depends on all of C: so it is climbed by L-BFGS over the logits of the rows.
    Moves that are impossible stay so.
    """
    matrix = jnp.asarray(stage_matrix, dtype=float)
    counts = _checked_counts(stage_counts, matrix.shape[0])
    possible = matrix > 0

    def build(logits: Array) -> Array:
        return jax.nn.softmax(jnp.where(possible, logits, -jnp.inf), axis=-1)

    def loss(logits: Array) -> Scalar:
        rows = build(logits)
        log_rows = jnp.where(possible, safe_log(rows), 0)
        return -log_restart_mass(reordered(rows, restart_stage)) - jnp.sum(counts * log_rows)

    first = jnp.where(possible, safe_log(matrix), 0.0)
    best = _climb(loss, first, steps)
    improved = loss(best) < loss(first)
    return jnp.where(improved, build(best), matrix)


def exit_rates(logits: Float[Array, " stages"]) -> Float[Array, "stages+1 stages+1"]:
    """The stage matrix of a cycle 0 → 1 → … → 0 with learnable exit rates δ = sigmoid(logits).

    Stage 0 restarts and is left at once, as in the paper, so there is one logit for each stage
    from 1 on.

    >>> exit_rates(jnp.zeros(2)).tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.5, 0.5], [0.5, 0.0, 0.5]]
    """
    exits = jnp.concatenate([jnp.ones(1), jax.nn.sigmoid(jnp.asarray(logits))])
    size = exits.shape[0]
    onwards = jnp.asarray(np.roll(np.eye(size), 1, axis=1))
    return exits[:, None] * onwards + (1 - exits)[:, None] * jnp.eye(size)


def _climb(loss: Any, start: Array, steps: int) -> Array:
    solver = optax.lbfgs()
    value_and_grad = optax.value_and_grad_from_state(loss)

    def step(carry: Any, _: None) -> tuple[Any, None]:
        point, state = carry
        value, slope = value_and_grad(point, state=state)
        updates, state = solver.update(slope, state, point, value=value, grad=slope, value_fn=loss)
        return (optax.apply_updates(point, updates), state), None

    return jax.lax.scan(step, (start, solver.init(start)), None, length=steps)[0][0]


def _checked_counts(stage_counts: Any, num_stages: int) -> Array:
    counts = jnp.asarray(stage_counts)
    if counts.ndim < 2 or counts.shape[-2:] != (num_stages, num_stages):
        raise InputError(
            f"stage_counts of shape {counts.shape} must end in {(num_stages, num_stages)}, one "
            "count for each pair of stages"
        )
    return counts.reshape(-1, num_stages, num_stages).mean(axis=0)
