"""Runs bytecode at the speed of the machine: a hundred million instructions a second.

Nothing is learned from such a run but how it ends; a failure is then shown by the interpreter. The
first blocks of a process run in Python, so that short runs need no compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._compiling import not_counted
from ._bytecode import Bytecode
from ._execute import CUT, FAILED, HUNGRY, LARGEST, execute
from ._graph import Fail, Graph, Havoc

_OUTCOMES = ("cut", "ended", "assumption", "failed", "left", "left")
_FIRST_INPUTS = 64
_MOST_INPUTS = 1 << 20
_SLICE = 2_000_000
CHOICES = 64
# Blocks that a process runs in Python: a tenth of a second, where a compiler is loaded in one.
_PLAIN = 10_000

_plain_blocks = 0


@dataclass(slots=True)
class LongRun:
    """How a run ended (or where it stands), and what it took.

    `outcome` is as an interpreter's, or `left`: too large numbers, or too many inputs.
    """

    outcome: str
    failure: Fail | None
    used: int
    blocks: int
    block: int
    state: dict[str, int]
    tape: NDArray[np.int64]
    sites: dict[int, Havoc]

    @property
    def inputs(self) -> list[tuple[Havoc, int]]:
        """The values of the inputs in order; there may be a million."""
        return [(self.sites[site], value) for value, site in self.tape.tolist()]


def _execute(code, registers, low, high, menu, tape, state, until) -> int:
    """As `execute`, in Python as long as that is the shorter way."""
    global _plain_blocks
    if _plain_blocks < _PLAIN:
        before = int(state[4])
        first = min(until, before + _PLAIN - _plain_blocks)
        status = execute(code, registers, low, high, menu, tape, state, first)
        _plain_blocks += int(state[4]) - before
        if status != CUT or state[4] >= until:
            return int(status)
    return int(compiled_loop()(code, registers, low, high, menu, tape, state, until))


@cache
def compiled_loop() -> Any:
    """The compiled loop; loading it, or compiling it first, counts as compiling."""
    with not_counted():
        from ._compiled import compiled

        nothing = np.zeros((1, 5), np.uint64), np.zeros(1, np.int64)
        few, room = nothing[1], np.zeros((1, 2), np.int64)
        compiled(*nothing, few, few, room, room, np.zeros(6, np.int64), 0)
    return compiled


class Fast:
    """A graph made ready for long runs; inputs may depend on the arrivals at `watch`ed blocks."""

    def __init__(self, graph: Graph, watch: Sequence[int] = ()):
        self._code = Bytecode(graph, set(watch))
        size = max(self._code.sites, default=0) + 1
        self._low = np.full(size, -LARGEST, dtype=np.int64)
        self._high = np.full(size, LARGEST, dtype=np.int64)
        for site, havoc in self._code.sites.items():
            if havoc.low is not None:
                self._low[site] = max(havoc.low, -LARGEST)
            if havoc.high is not None:
                self._high[site] = min(havoc.high, LARGEST)

    def run(
        self,
        inputs: Callable[[Havoc, int], int],
        *,
        limit: int,
        menu: Callable[[Havoc], Sequence[int]] | None = None,
        rng: np.random.Generator | None = None,
        initial: dict[str, int] | None = None,
        block: int = 0,
        go_on: Callable[[LongRun], bool] = lambda run: True,
    ) -> LongRun:
        """Run from `block` for at most `limit` blocks.

        `inputs(havoc, arrivals)` gives a value each time one is needed. With `menu` it does so for
        the first few only; then each is one of the `CHOICES` values that `menu(havoc)` gives, drawn
        by `rng`. `go_on` is called about fifty times a second; it may return False, or raise, to
        end the run.
        """
        code = self._code
        registers = code.registers.copy()
        for number, name in enumerate(code.graph.variables):
            registers[number] = (initial or {}).get(name, 0)
        tape = np.zeros((_FIRST_INPUTS, 2), dtype=np.int64)
        state = np.array([code.starts[block], 0, 0, 0, 0, _MOST_INPUTS], dtype=np.int64)
        choices = np.zeros((1, CHOICES), dtype=np.int64)
        size = _SLICE // 20
        while True:
            until = min(limit, int(state[4]) + size)
            status = _execute(
                code.code, registers, self._low, self._high, choices, tape, state, until
            )
            if status == HUNGRY:
                if menu is not None and state[1] == _FIRST_INPUTS:
                    choices = self._choices(menu)
                    state[5] = _FIRST_INPUTS
                tape = self._feed(inputs, rng, tape, state)
                if state[1] < state[2]:
                    continue
            elif status == CUT and state[4] < limit:
                size = _SLICE
                if go_on(self._result(status, registers, tape[:0], state)):
                    continue
            return self._result(status, registers, tape[: state[1]], state)

    def _choices(self, menu: Callable[[Havoc], Sequence[int]]) -> NDArray[np.int64]:
        found = np.zeros((len(self._low), CHOICES), dtype=np.int64)
        for site, havoc in self._code.sites.items():
            found[site] = np.clip(menu(havoc), -LARGEST, LARGEST)
        return found

    def _feed(self, inputs: Any, rng: Any, tape: Any, state: Any) -> Any:
        """More inputs, unless the run has had more than anybody will read."""
        used = int(state[1])
        if used == len(tape):
            if used >= _MOST_INPUTS:
                return tape
            tape = np.concatenate([tape, np.zeros_like(tape)])
        if used < state[5]:
            havoc = self._code.sites[int(self._code.code[state[0], 2])]
            tape[used, 0] = min(max(inputs(havoc, int(state[3])), -LARGEST), LARGEST)
            state[2] = used + 1
        else:
            tape[used:, 0] = rng.integers(0, CHOICES, len(tape) - used)
            state[2] = len(tape)
        return tape

    def _result(self, status: int, registers: Any, tape: Any, state: Any) -> LongRun:
        code = self._code
        block = int(code.blocks[state[0]])
        end = code.graph.blocks[block].end
        names = code.graph.variables
        return LongRun(
            _OUTCOMES[status],
            end if status == FAILED and isinstance(end, Fail) else None,
            int(state[1]),
            int(state[4]),
            block,
            dict(zip(names, registers[: len(names)].tolist(), strict=True)),
            tape,
            code.sites,
        )
