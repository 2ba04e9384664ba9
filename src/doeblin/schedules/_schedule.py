"""Schedules: the Markov chain over stages that drives a staged chain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._errors import InputError

# Rows of a stage matrix may miss one by this much: decimal input such as 1/3 is rarely exact.
_ROW_SUM_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Schedule:
    """A stage matrix `C` and its restart stage `z*`.

    `matrix[i, j]` is the probability of going from stage `i` to stage `j`, so rows sum to one.
    One step of a staged chain draws `z' ~ C[z]` and then moves the state by stage `z'`; stage `z*`
    forgets the state and draws a fresh one from the restart `u`.

    A schedule never looks at the state, so everything that can be *certified* about a staged chain
    follows from the schedule alone: see [`certify`][doeblin.schedules.certify].

    >>> Schedule.cycle([1, 0.04, 0.0002]).num_stages
    3
    >>> Schedule.doeblin(0.1).matrix.tolist()
    [[0.1, 0.9], [0.1, 0.9]]
    """

    matrix: NDArray[np.float64]
    restart: int

    def __init__(self, matrix: ArrayLike, *, restart: int = 0):
        checked = _checked_matrix(matrix)
        if not 0 <= restart < len(checked):
            raise InputError(
                f"restart stage {restart} does not exist: the {len(checked)} stages are numbered "
                f"0 to {len(checked) - 1}"
            )
        _check_reaches(checked, restart)
        checked.setflags(write=False)
        object.__setattr__(self, "matrix", checked)
        object.__setattr__(self, "restart", int(restart))

    @classmethod
    def doeblin(cls, epsilon: float) -> Schedule:
        """Plain strong Doeblin: restart with probability ε at every step."""
        epsilon = checked_epsilon(epsilon)
        return cls([[epsilon, 1 - epsilon], [epsilon, 1 - epsilon]])

    @classmethod
    def cycle(cls, exits: Sequence[float]) -> Schedule:
        """The paper's cycle 0 → 1 → … → k-1 → 0 with exit rates δ_0 … δ_{k-1}; stage 0 restarts."""
        rates = np.asarray(exits, dtype=np.float64)
        if rates.ndim != 1 or len(rates) < 2:
            raise InputError(
                f"a cycle needs at least two exit rates (restart first), got {list(exits)!r}"
            )
        for i, rate in enumerate(rates):
            if not 0 < rate <= 1:
                raise InputError(
                    f"exit rate δ_{i} = {rate:g} is outside (0, 1]; it is the probability of "
                    f"leaving stage {i} at each step"
                )
        matrix = np.diag(1 - rates)
        matrix[np.arange(len(rates)), (np.arange(len(rates)) + 1) % len(rates)] += rates
        return cls(matrix)

    @property
    def num_stages(self) -> int:
        return len(self.matrix)

    @property
    def exits(self) -> NDArray[np.float64] | None:
        """The exit rates if this schedule is a cycle that starts at stage 0, else None."""
        k = self.num_stages
        stage = np.arange(k)
        rates = self.matrix[stage, (stage + 1) % k]
        on_cycle = np.zeros((k, k), dtype=bool)
        on_cycle[stage, stage] = on_cycle[stage, (stage + 1) % k] = True
        is_cycle = k >= 2 and self.restart == 0 and not self.matrix[~on_cycle].any()
        return rates if is_cycle and bool(np.all(rates > 0)) else None

    def stationary(self) -> NDArray[np.float64]:
        """The stationary law of the stages."""
        k = self.num_stages
        # Replacing one balance equation by normalisation makes the system square and regular: a
        # schedule has a single recurrent class, since every stage reaches z*.
        system = np.vstack([(self.matrix.T - np.eye(k))[1:], np.ones(k)])
        law = np.linalg.solve(system, np.append(np.zeros(k - 1), 1.0))
        return np.maximum(law, 0) / np.maximum(law, 0).sum()

    def steps_until_restart(self) -> NDArray[np.float64]:
        """Mean steps until the next restart, at least one; from `z*` it is the mean tour length."""
        stay = self.matrix.copy()
        stay[:, self.restart] = 0
        return np.linalg.solve(np.eye(self.num_stages) - stay, np.ones(self.num_stages))

    def expected_draw_cost(self) -> float:
        """Mean number of transitions, the restart included, that an exact draw costs.

        It is the mean age of the stationary chain plus one: 1/ε for plain strong Doeblin chains.
        """
        return float(self.stationary() @ self.steps_until_restart_backwards())

    def steps_until_restart_backwards(self) -> NDArray[np.float64]:
        """Mean steps back to the last restart in reversed time, the step at `z*` included."""
        law = self.stationary()
        visited = law > 0
        reversed_matrix = np.zeros_like(self.matrix)
        flow = self.matrix * law[:, None]
        reversed_matrix[visited] = flow.T[visited] / law[visited, None]
        reversed_matrix[self.restart] = 0
        return np.linalg.solve(np.eye(self.num_stages) - reversed_matrix, np.ones(self.num_stages))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Schedule)
            and self.restart == other.restart
            and np.array_equal(self.matrix, other.matrix)
        )

    def __hash__(self) -> int:
        return hash((self.restart, self.matrix.tobytes()))


def checked_epsilon(epsilon: float) -> float:
    """ε as a float, or an error that names it."""
    value = float(epsilon)
    if not 0 < value <= 1:
        raise InputError(
            f"epsilon = {value:g} is outside (0, 1]; it is the probability of a restart at each "
            "step (try 1/T for about T steps between restarts)"
        )
    return value


def _checked_matrix(matrix: ArrayLike) -> NDArray[np.float64]:
    try:
        checked = np.array(matrix, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"a stage matrix needs numbers in rows of equal length: {error}") from None
    if checked.ndim != 2 or checked.shape[0] != checked.shape[1] or not len(checked):
        raise InputError(
            f"a stage matrix must be square, got shape {checked.shape}; "
            "matrix[i][j] is the probability of going from stage i to stage j"
        )
    bad = ~((checked >= 0) & (checked <= 1 + _ROW_SUM_TOLERANCE))
    if bad.any():
        i, j = np.argwhere(bad)[0]
        raise InputError(f"stage matrix entry [{i}][{j}] = {checked[i, j]:g} is not a probability")
    sums = checked.sum(axis=1)
    off = np.abs(sums - 1) > _ROW_SUM_TOLERANCE
    if off.any():
        i = int(np.flatnonzero(off)[0])
        hint = (
            " (its columns do; transpose it)"
            if np.allclose(checked.sum(axis=0), 1, atol=_ROW_SUM_TOLERANCE)
            else ""
        )
        raise InputError(f"row {i} of the stage matrix sums to {sums[i]:g} instead of 1{hint}")
    return checked / sums[:, None]


def _check_reaches(matrix: NDArray[np.float64], restart: int) -> None:
    reaches = np.zeros(len(matrix), dtype=bool)
    reaches[restart] = True
    while True:
        grown = reaches | ((matrix > 0) & reaches).any(axis=1)
        if np.array_equal(grown, reaches):
            break
        reaches = grown
    if not reaches.all():
        stuck = int(np.flatnonzero(~reaches)[0])
        raise InputError(
            f"there is no path from stage {stuck} to the restart stage {restart}, so the chain "
            f"could stay away from it for ever; give stage {stuck} a positive exit rate"
        )
