"""The search engine once more, slowly and plainly: Python integers and Boolean arrays.

Draws the same random numbers as the compiled engine and must follow it step for step; tests hold
one against the other, and the benchmarks say what compiling is worth.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from doeblin.formulas.engine._bits import GAMMA, MIX_1, MIX_2, unpack
from doeblin.formulas.engine._chain import Chain, Task
from doeblin.formulas.engine._stages import Method, Stage

_WORD = (1 << 64) - 1
_LOW = (1 << 32) - 1


class ReferenceChain:
    """As `Chain`, for `run(max_steps=…)`, `steps`, `tours`, `cost`, `best` and `present`."""

    def __init__(self, task: Task, method: Method, template: tuple[int, int], *, seed: int):
        table = task.truth()
        labelled = len(table) - 2 * task.pairs
        # holds[k, w, b]: whether atom k holds in bit b of word w.
        self._holds = unpack(np.ascontiguousarray(table.T), 64 * len(table)).reshape(
            task.num_atoms, len(table), 64
        )
        self._labels = unpack(task.label_words(), 64 * labelled).reshape(labelled, 64)
        self._labelled, self._pairs = labelled, task.pairs
        self._weights = task.word_weights()
        self._prior = [int(weight) for weight in task.prior_weights()]
        self._neighbours = task.neighbours
        self._program = Chain(task, method, template, seed=0).program()
        self._stages: list[Stage | None] = list(method.stages)
        self._stages.insert(self._program.restart, None)
        self._n, self._m = template
        self._random = seed & _WORD
        self._stage, self._left = self._program.restart, 0
        self.present = np.zeros(template, dtype=np.int64)
        self.best = self.present.copy()
        self.steps = self.tours = 0
        self.cost = 1 << 30

    def run(self, *, max_steps: int) -> bool:
        last = self.steps + max_steps
        while self.cost > 0 and self.steps < last:
            if self._left == 0:
                if self.tours:
                    share = self._unit()
                    jumps = self._program.jumps[self._stage]
                    self._stage = next((z for z in range(len(jumps) - 1) if jumps[z] > share), -1)
                    self._stage %= len(jumps)
                self._left = self._sojourn(self._program.exits[self._stage])
                self._tried: set[int] = set()
            stage = self._stages[self._stage]
            if stage is None:
                for q in range(self._n * self._m):
                    self.present.flat[q] = self._drawn(self._prior)
                self.tours += 1
            elif stage.move == "metropolis":
                self._metropolis(stage)
            else:
                self._gibbs(stage)
            self.steps += 1
            self._left -= 1
            under_full_cost = stage is not None and stage.cost == "full"
            if under_full_cost or self._left == 0:
                cost = self._full_cost(self.present)
                if cost < self.cost:
                    self.cost, self.best = cost, self.present.copy()
        return self.cost == 0

    def _metropolis(self, stage: Stage) -> None:
        first, second = self._next(), self._next()
        q = (second & _LOW) * self._n * self._m >> 32
        bits = second >> 32
        if first >> 32 < int(stage.single * 2**32):
            assert self._neighbours is not None
            row = self._neighbours[self.present.flat[q]]
            c = int(row[bits * len(row) >> 32])
        else:
            c = bits * len(self._holds) >> 32
        proposed = self.present.copy()
        proposed.flat[q] = c
        worse = self._cost(stage, proposed) - self._cost(stage, self.present)
        accept = self._program.accept[self._stage]
        if worse <= 0 or (worse < len(accept) and first & _LOW < int(accept[worse])):
            self.present = proposed

    def _gibbs(self, stage: Stage) -> None:
        number = self._next()
        places = [q for q in range(self._n * self._m) if not stage.sweep or q not in self._tried]
        mend = not places or number >> 32 < int(stage.focus * 2**32)
        q = places[(number & _LOW) * len(places) >> 32] if places else -1
        allowed = np.ones(len(self._holds), dtype=bool)
        if mend:
            w, b, wanted = self._violated(self._next())
            q = self._mending(w, b, wanted, self._next())
            allowed = self._holds[:, w, b] == wanted
        number = self._next()
        if not allowed.any():
            return
        costs = np.empty(len(self._holds), dtype=np.int64)
        for c in range(len(costs)):
            proposed = self.present.copy()
            proposed.flat[q] = c
            costs[c] = self._cost(stage, proposed)
        costs -= costs[allowed].min()
        heat = self._program.heat[self._stage]
        # Better atoms first, then as they stand in the pool.
        order = [int(c) for c in np.argsort(costs, kind="stable") if allowed[c]]
        weights = [
            self._prior[c] * int(heat[costs[c]]) if costs[c] < len(heat) else 0 for c in order
        ]
        before = self._full_cost(self.present)
        self.present.flat[q] = order[_share(weights, _unit(number))]
        if mend or self._full_cost(self.present) < before:
            self._tried = set()
        self._tried.add(q)

    def _violated(self, number: int) -> tuple[int, int, bool]:
        wrong = np.argwhere(self._wrong(self.present))
        w, b = (int(part) for part in wrong[(number >> 32) * len(wrong) >> 32])
        if w < self._labelled:
            return w, b, bool(self._labels[w, b])
        return (w, b, False) if number & 1 else (w + self._pairs, b, True)

    def _mending(self, w: int, b: int, wanted: bool, number: int) -> int:
        atoms = self._holds[self.present, w, b]
        if wanted:
            start = (number >> 32) * self._n >> 32
            order = [(start + e) % self._n for e in range(self._n)]
            i = min(order, key=lambda i: int((~atoms[i]).sum()))
            failing = np.flatnonzero(~atoms[i])
            return i * self._m + int(failing[(number & _LOW) * len(failing) >> 32])
        holding = np.flatnonzero(atoms.all(axis=1))
        i = int(holding[(number >> 32) * len(holding) >> 32])
        return i * self._m + ((number & _LOW) * self._m >> 32)

    def _inside(self, codes: NDArray[np.int64]) -> NDArray[np.bool_]:
        return np.asarray(self._holds[codes].all(axis=1))

    def _wrong(self, codes: NDArray[np.int64]) -> NDArray[np.bool_]:
        inside = np.asarray(self._inside(codes).any(axis=0))
        split = self._labelled + self._pairs
        return np.concatenate(
            [
                inside[: self._labelled] ^ self._labels,
                inside[self._labelled : split] & ~inside[split:],
            ]
        )

    def _full_cost(self, codes: NDArray[np.int64]) -> int:
        return int(self._wrong(codes).sum(axis=1) @ self._weights)

    def _cost(self, stage: Stage, codes: NDArray[np.int64]) -> int:
        if stage.cost == "full":
            return self._full_cost(codes)
        inside = self._inside(codes)[:, : self._labelled]
        false_positive = (inside & ~self._labels).sum(axis=(0, 2))
        false_negative = (~inside & self._labels).sum(axis=(0, 2))
        penalties = stage.false_positive * false_positive + stage.false_negative * false_negative
        return int(penalties @ self._weights[: self._labelled])

    def _next(self) -> int:
        self._random = (self._random + int(GAMMA)) & _WORD
        z = self._random
        z = (z ^ (z >> 30)) * int(MIX_1) & _WORD
        z = (z ^ (z >> 27)) * int(MIX_2) & _WORD
        return z ^ (z >> 31)

    def _unit(self) -> float:
        return _unit(self._next())

    def _drawn(self, weights: list[int]) -> int:
        return _share(weights, self._unit())

    def _sojourn(self, exit_rate: float) -> int:
        share = self._unit()
        if exit_rate <= 0:
            return 1 << 62
        return 1 if exit_rate >= 1 else 1 + int(math.log(1 - share) / math.log1p(-exit_rate))


def _unit(number: int) -> float:
    return (number >> 11) * 2.0**-53


def _share(weights: list[int], unit: float) -> int:
    """The index at which the running sum of weights first exceeds a share of their total."""
    total = sum(weights)
    share = min(int(unit * float(total)), total - 1)
    for index, weight in enumerate(weights):
        if share < weight:
            return index
        share -= weight
    raise AssertionError("a share of the total lies within the total")
