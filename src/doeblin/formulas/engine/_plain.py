"""The staged chain in numpy, for Gibbs moves under the full cost.

It takes the same path as the compiled engine, from the same state, a few dozen times slower. Most
searches are over before the compiled one would have been compiled or loaded.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ._bits import GAMMA, MIX_1, MIX_2, Words, unpack
from ._control import (
    BEST,
    CONTROL_SIZE,
    COST,
    LEFT,
    NEVER,
    RESTART,
    STAGE,
    STEPS,
    TOURS,
    TRACED,
    State,
)
from ._program import Program
from ._task import Arrays

_WORD, _LOW = (1 << 64) - 1, (1 << 32) - 1
_ONES = np.uint64(_WORD)


class PlainEngine:
    """Runs a chain over formulas, as the compiled `advance` does."""

    def __init__(self, arrays: Arrays, program: Program, state: State):
        assert arrays.columns is not None
        self._columns, self._labels, self._pairs = arrays.columns, arrays.labels, arrays.pairs
        self._shifts, self._cumulative = arrays.shifts, arrays.cumulative
        self._prior = np.broadcast_to(arrays.prior, self._columns.shape[1:]).astype(np.uint64)
        self._program, self._state = program, state
        self._n = len(state.disjuncts)
        self._m = len(state.codes) // self._n
        self._random = 0

    def advance(self, limit: int, soft_limit: int) -> None:
        """As the compiled `advance`."""
        control, program = self._state.control, self._program
        self._random = int(self._state.random[0])
        while control[BEST] > 0 and control[STEPS] < limit:
            stage = int(control[STAGE])
            if control[LEFT] == 0:
                if program.kinds[stage, 0] == RESTART and control[STEPS] >= soft_limit:
                    break
                if control[TOURS] > 0:
                    share, jumps = self._unit(), program.jumps[stage]
                    stage = min(int(np.searchsorted(jumps, share, side="right")), len(jumps) - 1)
                    control[STAGE] = stage
                control[LEFT] = self._sojourn(program.exits[stage])
                control[CONTROL_SIZE:] = 0
            count = min(int(control[LEFT]), limit - int(control[STEPS]))
            if program.kinds[stage, 0] == RESTART:
                self._restart(count)
                taken = count
            else:
                taken = self._gibbs(stage, count)
            control[STEPS] += taken
            control[LEFT] -= taken
            if control[LEFT] == 0 and program.kinds[stage, 0] == RESTART:
                control[COST] = self._weigh(self._violated())
                if control[COST] < control[BEST]:
                    self._note(int(control[STEPS]))
        self._state.random[0] = self._random

    def _restart(self, count: int) -> None:
        state = self._state
        total = int(self._cumulative[-1])
        for _ in range(count):
            for q in range(len(state.codes)):
                share = min(int(self._unit() * float(total)), total - 1)
                state.codes[q] = np.searchsorted(self._cumulative, np.uint64(share), side="right")
        state.control[TOURS] += count
        state.atoms[:] = self._columns[:, state.codes].T
        grouped = state.atoms.reshape(self._n, self._m, -1)
        state.disjuncts[:] = np.bitwise_and.reduce(grouped, axis=1)

    def _gibbs(self, stage: int, count: int) -> int:
        """At most `count` whole-atom Gibbs steps; returns the steps taken."""
        codes, atoms, disjuncts, _, control, *_ = self._state
        n, m = self._n, self._m
        focus, sweep = int(self._program.chances[stage, 1]), self._program.kinds[stage, 2] > 0
        heat = self._program.heat[stage].astype(np.uint64)
        tried = control[CONTROL_SIZE:]
        taken = 0
        while control[COST] > 0 and taken < count:
            taken += 1
            number = self._next()
            mend = number >> 32 < focus
            if sweep:
                open_places = np.flatnonzero(tried == 0)
                mend = mend or not len(open_places)
                q = int(open_places[_below(number & _LOW, len(open_places))]) if not mend else 0
            else:
                q = _below(number & _LOW, n * m)
            allowed = None
            if mend:
                w, bit, wanted = self._violated_bit(self._next())
                q = self._mending_atom(w, bit, wanted, self._next())
                allowed = (self._columns[w] >> np.uint64(bit)) & np.uint64(1) == np.uint64(wanted)
            i = q // m
            others = _reduced(np.bitwise_and, atoms[i * m : i * m + m], q - i * m, _ONES)
            rest = _reduced(np.bitwise_or, disjuncts, i, np.uint64(0))
            inside = (self._columns & others[:, None]) | rest[:, None]
            costs = self._weighed(self._wrong(inside))
            number = self._next()
            c = self._heat_bath(costs, allowed, heat, _unit(number))
            if c < 0:
                continue
            codes[q] = c
            atoms[q] = self._columns[:, c]
            disjuncts[i] = atoms[q] & others
            before = control[COST]
            control[COST] = costs[c]
            if mend or control[COST] < before:
                tried[:] = 0
            tried[q] = 1
            if control[COST] < control[BEST]:
                self._note(int(control[STEPS]) + taken)
        return taken

    def _heat_bath(
        self, costs: NDArray[np.int64], allowed: NDArray[np.bool_] | None, heat: Words, share: float
    ) -> int:
        """An atom drawn with weight prior · heat[cost - least cost], better ones first in order."""
        places = None if allowed is None else np.flatnonzero(allowed)
        if places is not None:
            if not len(places):
                return -1
            costs = costs[places]
        worse = costs - costs.min()
        levels = len(heat) - 1  # the last is zero
        near = np.flatnonzero(worse < levels)
        if levels > 1:
            near = near[np.argsort(worse[near], kind="stable")]
        drawn = near if places is None else places[near]
        cumulative = np.cumsum(self._prior[drawn] * heat[worse[near]])
        total = int(cumulative[-1])
        part = min(int(share * float(total)), total - 1)
        return int(drawn[np.searchsorted(cumulative, np.uint64(part), side="right")])

    def _wrong(self, inside: Words) -> Words:
        """The violated examples of formulas that are `inside`, word by word."""
        labelled, split = len(self._labels), len(self._labels) + self._pairs
        labels = self._labels.reshape(-1, *[1] * (inside.ndim - 1))
        wrong = inside[:labelled] ^ labels
        if self._pairs:
            wrong = np.concatenate([wrong, inside[labelled:split] & ~inside[split:]])
        return wrong

    def _weighed(self, wrong: Words) -> NDArray[np.int64]:
        counts = np.bitwise_count(wrong).astype(np.int64)
        if self._shifts is not None:
            counts <<= self._shifts.reshape(-1, *[1] * (wrong.ndim - 1))
        return counts.sum(axis=0)

    def _weigh(self, wrong: Words) -> int:
        return int(self._weighed(wrong))

    def _violated(self) -> Words:
        return self._wrong(np.bitwise_or.reduce(self._state.disjuncts, axis=0))

    def _violated_bit(self, number: int) -> tuple[int, int, bool]:
        """A random violated example as `(word, bit, wanted)`."""
        bits = np.flatnonzero(unpack(self._violated(), 64 * (len(self._labels) + self._pairs)))
        w, bit = divmod(int(bits[_below(number >> 32, len(bits))]), 64)
        if w < len(self._labels):
            return w, bit, bool(int(self._labels[w]) >> bit & 1)
        return (w, bit, False) if number & 1 else (w + self._pairs, bit, True)

    def _mending_atom(self, w: int, bit: int, wanted: bool, number: int) -> int:
        """An atom through which the example at (w, bit) can become `wanted`."""
        n, m = self._n, self._m
        holds = [word >> bit & 1 for word in self._state.atoms[:, w].tolist()]
        if wanted:
            # The disjunct that fewest atoms keep from holding, the first after a random one.
            start = _below(number >> 32, n)
            order = [(start + e) % n for e in range(n)]
            i = max(order, key=lambda i: sum(holds[i * m : i * m + m]))
            failing = [q for q in range(i * m, i * m + m) if not holds[q]]
            return failing[_below(number & _LOW, len(failing))]
        holding = [i for i in range(n) if all(holds[i * m : i * m + m])]
        return holding[_below(number >> 32, len(holding))] * m + _below(number & _LOW, m)

    def _note(self, steps: int) -> None:
        control, trace = self._state.control, self._state.trace
        control[BEST] = control[COST]
        self._state.best[:] = self._state.codes
        if control[TRACED] < len(trace):
            trace[control[TRACED]] = steps, control[COST], control[TOURS]
            control[TRACED] += 1

    def _next(self) -> int:
        self._random = (self._random + int(GAMMA)) & _WORD
        z = self._random
        z = (z ^ (z >> 30)) * int(MIX_1) & _WORD
        z = (z ^ (z >> 27)) * int(MIX_2) & _WORD
        return z ^ (z >> 31)

    def _unit(self) -> float:
        return _unit(self._next())

    def _sojourn(self, exit_rate: float) -> int:
        """A Geometric(exit_rate) number of steps, at least one; endless when nothing exits."""
        share = self._unit()
        if exit_rate <= 0.0:
            return NEVER
        return 1 if exit_rate >= 1.0 else 1 + int(math.log(1.0 - share) / math.log1p(-exit_rate))


def _reduced(operation: np.ufunc, rows: Words, skip: int, nothing: np.uint64) -> Words:
    """All rows but one, combined."""
    kept = rows[skip].copy()
    rows[skip] = nothing
    found = operation.reduce(rows, axis=0)
    rows[skip] = kept
    return found


def _below(bits: int, bound: int) -> int:
    return bits * bound >> 32


def _unit(number: int) -> float:
    return (number >> 11) * 2.0**-53
