"""Laws, distances and spectra of finite chains."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._errors import InputError
from .._stochastic import checked_law, checked_transitions, invariant_law


def stationary(matrix: ArrayLike) -> NDArray[np.float64]:
    """The stationary law π of a chain with a single recurrent class, accurate entry by entry.

    >>> stationary([[0.9, 0.1], [0.3, 0.7]]).round(4).tolist()
    [0.75, 0.25]
    """
    return invariant_law(checked_transitions(matrix))


def eigenvalues(matrix: ArrayLike) -> NDArray[np.complex128]:
    """All eigenvalues, the largest modulus first."""
    values = np.linalg.eigvals(checked_transitions(matrix)).astype(np.complex128)
    return values[np.argsort(-np.abs(values), kind="stable")]


def spectral_gap(matrix: ArrayLike) -> float:
    """1 - |λ_2|, with λ_2 the eigenvalue of second-largest modulus; 1 for a single state."""
    values = eigenvalues(matrix)
    return 1.0 - float(np.abs(values[1])) if len(values) > 1 else 1.0


def is_reversible(matrix: ArrayLike, *, tolerance: float = 1e-10) -> bool:
    """Whether the chain is in detailed balance with its stationary law.

    Flows to and fro may differ by `tolerance` times the larger of the two.
    """
    checked = checked_transitions(matrix)
    flow = stationary(checked)[:, None] * checked
    return bool(np.all(np.abs(flow - flow.T) <= tolerance * np.maximum(flow, flow.T)))


def doeblin_coefficient(matrix: ArrayLike) -> float:
    """Γ(A) = Σ_y min_{y'} A(y | y'): the largest ε for which A is a strong Doeblin chain.

    >>> round(doeblin_coefficient([[0.9, 0.1], [0.3, 0.7]]), 4)
    0.4
    """
    return float(checked_transitions(matrix).min(axis=0).sum())


def kl_divergence(p: ArrayLike, q: ArrayLike) -> float:
    """KL(p ‖ q) = Σ p log(p/q); infinite where p has mass and q has none."""
    p, q = checked_law(p), checked_law(q)
    _check_same_length(p, q)
    has_mass = p > 0
    if (q[has_mass] == 0).any():
        return math.inf
    # Rounding can take a divergence of zero below it.
    return max(0.0, float(np.sum(p[has_mass] * (np.log(p[has_mass]) - np.log(q[has_mass])))))


def total_variation(p: ArrayLike, q: ArrayLike) -> float:
    """½ Σ |p - q|."""
    p, q = checked_law(p), checked_law(q)
    _check_same_length(p, q)
    return 0.5 * float(np.abs(p - q).sum())


def mahalanobis(law: ArrayLike, other: ArrayLike) -> float:
    """d_π(π') = ‖π - π'‖ in the norm of diag(π)^-1, which is sqrt(χ²(π' ‖ π))."""
    law, other = checked_law(law), checked_law(other)
    _check_same_length(law, other)
    if (other[law == 0] > 0).any():
        return math.inf
    has_mass = law > 0
    difference = (law - other)[has_mass]
    return float(np.sqrt(np.sum(difference**2 / law[has_mass])))


def _check_same_length(p: NDArray[np.float64], q: NDArray[np.float64]) -> None:
    if len(p) != len(q):
        raise InputError(f"the laws have different numbers of states, {len(p)} and {len(q)}")
