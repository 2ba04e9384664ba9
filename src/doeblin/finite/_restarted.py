"""What restarts and stages make of finite chains."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._errors import InputError
from .._stochastic import checked_law, checked_transitions, invariant_law
from ..schedules import Schedule, checked_epsilon
from ._laws import is_reversible, kl_divergence, mahalanobis, spectral_gap, stationary


def restarted(matrix: ArrayLike, restart: ArrayLike, epsilon: float) -> NDArray[np.float64]:
    """The strong Doeblin chain Ã = (1-ε)A + ε·u."""
    checked, law = _checked_pair(matrix, restart)
    epsilon = checked_epsilon(epsilon)
    return (1 - epsilon) * checked + epsilon * law


def restarted_law(matrix: ArrayLike, restart: ArrayLike, epsilon: float) -> NDArray[np.float64]:
    """Its stationary law π̃ = ε Σ_j (1-ε)^j u A^j = ε u (I - (1-ε)A)^-1, for any ε > 0.

    >>> restarted_law([[0.9, 0.1], [0.3, 0.7]], [0, 1], 1.0).tolist()
    [0.0, 1.0]
    """
    return invariant_law(restarted(matrix, restart, epsilon))


def kl_curves(
    matrix: ArrayLike, restart: ArrayLike, epsilons: Sequence[float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """KL(π̃_ε ‖ π) and KL(π ‖ π̃_ε) along ε; both are monotone (paper's proposition)."""
    law = stationary(matrix)
    laws = [restarted_law(matrix, restart, epsilon) for epsilon in epsilons]
    forward = [kl_divergence(restarted, law) for restarted in laws]
    backward = [kl_divergence(law, restarted) for restarted in laws]
    return np.array(forward), np.array(backward)


def mahalanobis_bound(matrix: ArrayLike, restart: ArrayLike, epsilon: float) -> float:
    """The paper's bound on d_π(π̃) for reversible A: ε/(1-|λ_2(A)|) · d_π(u).

    Infinite for a periodic chain, whose gap is zero.
    """
    if not is_reversible(matrix):
        raise InputError("the Mahalanobis bound holds for reversible chains, and this one is not")
    distance = mahalanobis(stationary(matrix), checked_law(restart))
    epsilon, gap = checked_epsilon(epsilon), spectral_gap(matrix)
    if distance == 0:
        return 0.0
    # A gap of zero is computed as one of some roundings, of either sign.
    return math.inf if gap <= 1e-15 * len(np.atleast_1d(matrix)) else epsilon / gap * distance


def staged_matrix(
    schedule: Schedule, kernels: Sequence[ArrayLike | None], restart: ArrayLike
) -> NDArray[np.float64]:
    """The joint chain over (stage, state), stage-major; `kernels[z*]` is not used (give None)."""
    law = checked_law(restart, "restart law")
    if len(kernels) != schedule.num_stages:
        raise InputError(
            f"{schedule.num_stages} stages need {schedule.num_stages} kernels (None for the "
            f"restart stage), got {len(kernels)}"
        )
    moves = []
    for stage, kernel in enumerate(kernels):
        if stage == schedule.restart:
            moves.append(np.tile(law, (len(law), 1)))
        elif kernel is None:
            raise InputError(f"stage {stage} has no kernel")
        else:
            moves.append(_checked_pair(kernel, law)[0])
    blocks = [
        [rate * move for rate, move in zip(row, moves, strict=True)] for row in schedule.matrix
    ]
    return np.block(blocks)


def staged_law(
    schedule: Schedule, kernels: Sequence[ArrayLike | None], restart: ArrayLike
) -> NDArray[np.float64]:
    """The joint stationary law over (stage, state), as an array of shape (stages, states)."""
    joint = stationary(staged_matrix(schedule, kernels, restart))
    return joint.reshape(schedule.num_stages, -1)


def _checked_pair(
    matrix: ArrayLike, restart: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    checked, law = checked_transitions(matrix), checked_law(restart, "restart law")
    if len(law) != len(checked):
        raise InputError(
            f"the restart law has {len(law)} states, but the transition matrix has {len(checked)}"
        )
    return checked, law
