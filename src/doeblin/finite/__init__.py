"""Finite chains by linear algebra: every quantity of the paper's theory, exactly. Needs numpy only.

Matrices are row-stochastic: `matrix[i, j]` is the probability of going from i to j.
"""

from .._stochastic import checked_law, checked_transitions
from ._example import three_state_chain
from ._laws import (
    doeblin_coefficient,
    eigenvalues,
    is_reversible,
    kl_divergence,
    mahalanobis,
    spectral_gap,
    stationary,
    total_variation,
)
from ._restarted import (
    kl_curves,
    mahalanobis_bound,
    restarted,
    restarted_law,
    staged_law,
    staged_matrix,
)

__all__ = [
    "checked_law",
    "checked_transitions",
    "doeblin_coefficient",
    "eigenvalues",
    "is_reversible",
    "kl_curves",
    "kl_divergence",
    "mahalanobis",
    "mahalanobis_bound",
    "restarted",
    "restarted_law",
    "spectral_gap",
    "staged_law",
    "staged_matrix",
    "stationary",
    "three_state_chain",
    "total_variation",
]
