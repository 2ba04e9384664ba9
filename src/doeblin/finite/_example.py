"""The paper's three-state example."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._errors import InputError


def three_state_chain(delta: float) -> NDArray[np.float64]:
    """Two sticky states, 1 and 3, around a transient one, 2.

    The paper's figure of the transitions is determined by what its text says of them: the
    stationary law is (1, 3δ, 1)/(2+3δ), and after a uniform restart the chain falls into state 1
    with probability 4/9 and into state 3 with 5/9. So state 2 leaves to 1 and 3 with 1/3 and 2/3,
    and detailed balance gives the ways back, δ and 2δ.

    >>> three_state_chain(0.1).round(3).tolist()
    [[0.9, 0.1, 0.0], [0.333, 0.0, 0.667], [0.0, 0.2, 0.8]]
    """
    if not 0 < delta <= 0.5:
        raise InputError(f"delta = {delta:g} is outside (0, 0.5]: state 3 is left with rate 2δ")
    return np.array([[1 - delta, delta, 0], [1 / 3, 0, 2 / 3], [0, 2 * delta, 1 - 2 * delta]])
