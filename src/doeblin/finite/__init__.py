"""Finite chains by linear algebra: every quantity of the paper's theory, exactly. Needs numpy only.

Matrices are row-stochastic: `matrix[i, j]` is the probability of going from i to j.
"""

from .._stochastic import checked_law as checked_law
from .._stochastic import checked_transitions as checked_transitions
from ._example import three_state_chain as three_state_chain
from ._laws import doeblin_coefficient as doeblin_coefficient
from ._laws import eigenvalues as eigenvalues
from ._laws import is_reversible as is_reversible
from ._laws import kl_divergence as kl_divergence
from ._laws import mahalanobis as mahalanobis
from ._laws import spectral_gap as spectral_gap
from ._laws import stationary as stationary
from ._laws import total_variation as total_variation
from ._restarted import kl_curves as kl_curves
from ._restarted import mahalanobis_bound as mahalanobis_bound
from ._restarted import restarted as restarted
from ._restarted import restarted_law as restarted_law
from ._restarted import staged_law as staged_law
from ._restarted import staged_matrix as staged_matrix
