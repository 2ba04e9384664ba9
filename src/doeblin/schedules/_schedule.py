"""Schedules: the Markov chain over stages that drives a staged chain."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._errors import InputError
from .._numbers import whole
from .._stochastic import checked_transitions, invariant_law, steps_until, visits


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
        checked = checked_transitions(matrix, "stage matrix")
        restart = whole("restart", restart, least=0)
        if not restart < len(checked):
            raise InputError(
                f"restart stage {restart} does not exist: the {len(checked)} stages are numbered "
                f"0 to {len(checked) - 1}"
            )
        _check_reaches(checked, restart)
        checked.setflags(write=False)
        object.__setattr__(self, "matrix", checked)
        object.__setattr__(self, "restart", restart)

    @classmethod
    def doeblin(cls, epsilon: float) -> Schedule:
        """Plain strong Doeblin: restart with probability ε at every step."""
        epsilon = checked_epsilon(epsilon)
        return cls([[epsilon, 1 - epsilon], [epsilon, 1 - epsilon]])

    @classmethod
    def cycle(cls, exits: Sequence[float]) -> Schedule:
        """The paper's cycle 0 → 1 → … → k-1 → 0 with exit rates δ_0 … δ_{k-1}; stage 0 restarts."""
        try:
            rates = np.asarray(exits, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"exits = {exits!r} must be a list of exit rates") from None
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
        return invariant_law(self.matrix)

    def steps_until_restart(self) -> NDArray[np.float64]:
        """Mean steps until the next restart, at least one; from `z*` it is the mean tour length."""
        return steps_until(self.matrix, self.restart)

    def expected_draw_cost(self) -> float:
        """Mean number of transitions, the restart included, that an exact draw costs.

        It is the mean age of the stationary chain plus one, which for a tour of random length L
        is E[L(L+1)/2] / E[L]: 1/ε for plain strong Doeblin chains. Infinite where restarts are so
        rare that floats cannot say it.
        """
        until = self.steps_until_restart()
        with np.errstate(invalid="ignore"):
            cost = float(visits(self.matrix, self.restart) @ (until / until[self.restart]))
        return cost if math.isfinite(cost) else math.inf

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
    try:
        value = float(epsilon)
    except (TypeError, ValueError):
        raise InputError(f"epsilon = {epsilon!r} must be one number in (0, 1]") from None
    if not 0 < value <= 1:
        raise InputError(
            f"epsilon = {value:g} is outside (0, 1]; it is the probability of a restart at each "
            "step (try 1/T for about T steps between restarts)"
        )
    return value


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
