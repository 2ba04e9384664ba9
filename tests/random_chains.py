"""Random finite chains for property tests, from sticky to fast and from sparse to dense."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from doeblin.schedules import Schedule

Matrix = NDArray[np.float64]

_seeds = st.integers(0, 2**32 - 1)
_concentrations = st.sampled_from([0.05, 0.3, 1.0, 10.0])


def epsilons() -> st.SearchStrategy[float]:
    return st.floats(1e-4, 1.0)


@st.composite
def laws(draw, size: int) -> Matrix:
    rng = np.random.default_rng(draw(_seeds))
    weights = rng.gamma(draw(_concentrations), size=size) + 1e-6
    return weights / weights.sum()


@st.composite
def matrices(draw, size: int) -> Matrix:
    """Ergodic matrices: all entries are positive, though some very small."""
    rng = np.random.default_rng(draw(_seeds))
    weights = rng.gamma(draw(_concentrations), size=(size, size)) + 1e-6
    sticky = draw(st.sampled_from([0.0, 0.9]))
    return sticky * np.eye(size) + (1 - sticky) * weights / weights.sum(axis=1, keepdims=True)


@st.composite
def reversible_matrices(draw, size: int) -> Matrix:
    """Metropolis chains of random proposals and targets."""
    law = draw(laws(size))
    rng = np.random.default_rng(draw(_seeds))
    weights = rng.gamma(0.5, size=(size, size)) + 1e-3
    proposal = weights + weights.T
    proposal /= 1.1 * proposal.sum(axis=1).max()
    matrix = proposal * np.minimum(1, law / law[:, None])
    np.fill_diagonal(matrix, 0)
    np.fill_diagonal(matrix, 1 - matrix.sum(axis=1))
    return matrix


@st.composite
def schedules(draw) -> Schedule:
    """Cycles, plain Doeblin schedules, and any others."""
    kind = draw(st.sampled_from(["cycle", "doeblin", "any"]))
    if kind == "doeblin":
        return Schedule.doeblin(draw(st.floats(0.02, 1.0)))
    size = draw(st.integers(2, 4))
    if kind == "cycle":
        exits = draw(st.lists(st.floats(0.05, 1.0), min_size=size, max_size=size))
        return Schedule.cycle(exits)
    return Schedule(draw(matrices(size)), restart=draw(st.integers(0, size - 1)))
