"""Stochastic matrices and vectors: checked once, here, with messages that name the entry."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._errors import InputError

# Sums may miss one by this much: what was computed in single precision is welcome.
_TOLERANCE = 1e-6


def checked_transitions(matrix: ArrayLike, what: str = "transition matrix") -> NDArray[np.float64]:
    """A fresh row-stochastic copy, or an error that names the offending entry or row."""
    try:
        checked = np.array(matrix, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"a {what} needs numbers in rows of equal length: {error}") from None
    if checked.ndim != 2 or checked.shape[0] != checked.shape[1] or not len(checked):
        raise InputError(
            f"a {what} must be square, got shape {checked.shape}; "
            "entry [i][j] is the probability of going from i to j"
        )
    bad = ~((checked >= 0) & (checked <= 1 + _TOLERANCE))
    if bad.any():
        i, j = np.argwhere(bad)[0]
        raise InputError(f"{what} entry [{i}][{j}] = {checked[i, j]:g} is not a probability")
    sums = checked.sum(axis=1)
    off = np.flatnonzero(np.abs(sums - 1) > _TOLERANCE)
    if len(off):
        columns_do = bool(np.all(np.abs(checked.sum(axis=0) - 1) <= _TOLERANCE))
        hint = " (its columns do; transpose it)" if columns_do else ""
        total = f"{sums[off[0]]:.9g}"
        raise InputError(f"row {off[0]} of the {what} sums to {total} instead of 1{hint}")
    return checked / sums[:, None]


def checked_law(law: ArrayLike, what: str = "law") -> NDArray[np.float64]:
    """A fresh probability vector, or an error that names the offending entry."""
    try:
        checked = np.array(law, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"a {what} needs a list of numbers: {error}") from None
    if checked.ndim != 1 or not len(checked):
        raise InputError(f"a {what} must be a vector, got shape {checked.shape}")
    bad = np.flatnonzero(~((checked >= 0) & (checked <= 1 + _TOLERANCE)))
    if len(bad):
        raise InputError(f"{what} entry [{bad[0]}] = {checked[bad[0]]:g} is not a probability")
    if abs(checked.sum() - 1) > _TOLERANCE:
        raise InputError(f"the {what} sums to {checked.sum():.9g} instead of 1")
    return checked / checked.sum()


def invariant_law(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """The invariant law of a stochastic matrix; refuses one that has several.

    States are taken out one by one, each with the chances of passing through it. Nothing is ever
    subtracted, so every entry keeps its digits, however rare the moves are (Grassmann, Taksar &
    Heyman, 1985). `_elimination` is the same in JAX.
    """
    home = np.flatnonzero(_reach(matrix).all(axis=0))
    if not len(home):
        raise InputError(
            "the chain has more than one stationary law, because some states never reach others; "
            "connect them, or add restarts"
        )
    for first in home:
        law = visits(matrix, int(first))
        if np.isfinite(law.sum()):
            return law / law.sum()
    raise InputError(
        f"the chain moves so rarely ({matrix[matrix > 0].min():g}) that no float says how long it "
        "stays; leave out moves as rare as that"
    )


def visits(matrix: NDArray[np.float64], first: int) -> NDArray[np.float64]:
    """Expected visits to each state between two of one that all others lead to."""
    order, ways, _, _ = _taken_out(matrix, first)
    found = np.ones(len(matrix))
    with np.errstate(all="ignore"):
        for state in range(1, len(matrix)):
            found[state] = found[:state] @ ways[:state, state]
    return found[np.argsort(order)]


def steps_until(matrix: NDArray[np.float64], first: int) -> NDArray[np.float64]:
    """Expected steps, at least one, until a state that all others lead to."""
    order, ways, steps, exits = _taken_out(matrix, first)
    found = np.zeros(len(matrix))
    with np.errstate(all="ignore"):
        for state in range(1, len(matrix)):
            found[state] = (steps[state] + ways[state, :state] @ found[:state]) / exits[state]
    found[0] = steps[0]
    return found[np.argsort(order)]


def _taken_out(matrix: NDArray[np.float64], first: int) -> tuple[NDArray[Any], ...]:
    """All states but one taken out, the last first: their order, the ways on to those before it and
    how often these lead there, its steps until it leaves to one of them, and the chance to."""
    order = np.append(first, np.delete(np.arange(len(matrix)), first))
    ways, steps, exits = matrix[np.ix_(order, order)], np.ones(len(matrix)), np.ones(len(matrix))
    with np.errstate(all="ignore"):
        for last in range(len(matrix) - 1, 0, -1):
            exits[last] = ways[last, :last].sum()
            ways[:last, last] /= exits[last]
            ways[:last, :last] += np.outer(ways[:last, last], ways[last, :last])
            steps[:last] += ways[:last, last] * steps[last]
    return order, ways, steps, exits


def _reach(matrix: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether each state leads to each other one, in any number of steps."""
    reach = (matrix > 0) | np.eye(len(matrix), dtype=bool)
    for _ in range(len(matrix).bit_length()):
        reach = (reach.astype(np.float32) @ reach.astype(np.float32)) > 0
    return reach
