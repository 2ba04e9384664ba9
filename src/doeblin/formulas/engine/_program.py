"""Stages and a schedule as arrays for the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._errors import InputError
from . import _control as state
from ._stages import Method, Stage, longest_useful

_HEAT_SCALE = float(1 << 26)
_ACCEPT_SCALE = float(1 << 32)


class Stages(NamedTuple):
    """A program in the form in which kernels read it; a row for each stage."""

    kinds: NDArray[np.int64]
    chances: NDArray[np.uint64]
    accept: NDArray[np.uint64]
    accept_size: NDArray[np.int64]
    heat: NDArray[np.uint32]
    heat_size: NDArray[np.int64]
    exits: NDArray[np.float64]
    jumps: NDArray[np.float64]


@dataclass(frozen=True)
class Program:
    """Stages and schedule as the arrays that the kernels follow; a row for each stage."""

    restart: int
    kinds: NDArray[np.int64]
    chances: NDArray[np.uint64]
    penalties: NDArray[np.int64]
    accept: list[NDArray[np.uint64]]
    """Acceptance thresholds of Metropolis steps, by how much worse the proposal is."""
    heat: list[NDArray[np.uint32]]
    """Weights of Gibbs moves, by how much worse than the best an atom is; the last is zero."""
    exits: NDArray[np.float64]
    jumps: NDArray[np.float64]
    """Cumulative probabilities of the next stage when one is left."""

    most_cost: int
    """An upper bound on the costs that a Gibbs move weighs."""

    @property
    def gibbs(self) -> bool:
        return bool((self.kinds[:, 0] == state.GIBBS).any())

    @property
    def simplified(self) -> bool:
        return bool((self.kinds[:, 1] == state.SIMPLIFIED).any())

    @property
    def stages(self) -> Stages:
        """What the compiled kernels follow, but for the penalties."""
        accept, heat = _stacked(self.accept), _stacked(self.heat)
        return Stages(self.kinds, self.chances, *accept, *heat, self.exits, self.jumps)


def compiled(method: Method, most_cost: int) -> Program:
    schedule = method.schedule
    if schedule is None:
        # Nothing leads back to the restart: it only makes the first state.
        matrix, restart = np.array([[0.0, 1.0], [0.0, 1.0]]), 0
    else:
        matrix, restart = schedule.matrix, schedule.restart
    stages: list[Stage | None] = list(method.stages)
    stages.insert(restart, None)
    k = len(stages)
    kinds = np.zeros((k, 3), dtype=np.int64)
    chances = np.zeros((k, 2), dtype=np.uint64)
    penalties = np.zeros((k, 2), dtype=np.int64)
    most = most_cost
    accept: list[NDArray[np.uint64]] = []
    heat: list[NDArray[np.uint32]] = []
    for z, stage in enumerate(stages):
        boltzmann = np.ones(1)
        if stage is not None:
            gibbs, simplified = stage.move == "gibbs", stage.cost == "simplified"
            kinds[z] = (state.GIBBS if gibbs else state.METROPOLIS), simplified, stage.sweep
            chances[z] = stage.single * _ACCEPT_SCALE, stage.focus * _ACCEPT_SCALE
            penalties[z] = stage.false_positive, stage.false_negative
            largest = most_cost
            if simplified:
                largest *= stage.false_positive + stage.false_negative
                if largest >= state.IMPOSSIBLE:
                    raise InputError("the penalties times the examples' weights are too large")
            most = max(most, largest)
            floor = 0.5 / _HEAT_SCALE if gibbs else 0.5 / _ACCEPT_SCALE
            length = longest_useful(stage.beta, floor, largest)
            with np.errstate(invalid="ignore"):
                boltzmann = np.exp(-stage.beta * np.arange(length))
            boltzmann[0] = 1.0
        accept.append(np.floor(boltzmann * _ACCEPT_SCALE).astype(np.uint64))
        heat.append(np.append(np.round(boltzmann * _HEAT_SCALE), 0).astype(np.uint32))
    off_diagonal = matrix - np.diag(np.diag(matrix))
    exits = 1.0 - np.diag(matrix) if schedule is not None else np.array([1.0, 0.0])
    jumps = np.cumsum(off_diagonal, axis=1)
    # Divided by their own last entry, so that the last possible jump has exactly 1.
    jumps /= np.where(jumps[:, -1:] > 0, jumps[:, -1:], 1.0)
    return Program(
        restart, kinds, chances, penalties, accept, heat,
        np.ascontiguousarray(exits), np.ascontiguousarray(jumps), most,
    )  # fmt: skip


def _stacked(rows: Sequence[NDArray[Any]]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    sizes = np.array([len(row) for row in rows], dtype=np.int64)
    table = np.zeros((len(rows), sizes.max()), dtype=rows[0].dtype)
    for row, values in zip(table, rows, strict=True):
        row[: len(values)] = values
    return table, sizes
