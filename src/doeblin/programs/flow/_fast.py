"""Runs bytecode at the speed of the machine: a hundred million instructions a second.

Nothing is learned from such a run but how it ends; a failure is then shown by the interpreter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._bytecode import Bytecode
from ._execute import CUT, FAILED, HUNGRY, LARGEST, execute
from ._graph import Fail, Graph, Havoc

_OUTCOMES = ("cut", "ended", "assumption", "failed", "left", "left")
_FIRST_INPUTS = 64
_MOST_INPUTS = 1 << 20
_SLICE = 2_000_000


@dataclass(slots=True)
class LongRun:
    """How a run ended (or where it stands), and the values of its inputs in order.

    `outcome` is as an interpreter's, or `left`: too large numbers, or too many inputs.
    """

    outcome: str
    failure: Fail | None
    inputs: list[tuple[Havoc, int]]
    used: int
    blocks: int
    block: int
    state: dict[str, int]


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
        draw: Callable[[int], NDArray[np.int64]] | None = None,
        initial: dict[str, int] | None = None,
        block: int = 0,
        go_on: Callable[[LongRun], bool] = lambda run: True,
    ) -> LongRun:
        """Run from `block` for at most `limit` blocks.

        `inputs(havoc, arrivals)` gives a value each time one is needed. With `draw` it does so for
        the first few only, and then `draw(n)` gives n at once. `go_on` is called about fifty
        times a second; it may return False, or raise, to end the run.
        """
        code = self._code
        registers = code.registers.copy()
        for number, name in enumerate(code.graph.variables):
            registers[number] = (initial or {}).get(name, 0)
        tape = np.zeros((_FIRST_INPUTS, 2), dtype=np.int64)
        state = np.array([code.starts[block], 0, 0, 0, 0], dtype=np.int64)
        size = _SLICE // 20
        while True:
            until = min(limit, int(state[4]) + size)
            status = execute(code.code, registers, self._low, self._high, tape, state, until)
            if status == HUNGRY:
                tape = self._feed(inputs, draw, tape, state)
                if state[1] < state[2]:
                    continue
            elif status == CUT and state[4] < limit:
                size = _SLICE
                if go_on(self._result(status, registers, tape[:0], state)):
                    continue
            return self._result(status, registers, tape[: state[1]], state)

    def _feed(self, inputs: Any, draw: Any, tape: Any, state: Any) -> Any:
        """More inputs, unless the run has had more than anybody will read."""
        used = int(state[1])
        if used == len(tape):
            if used >= _MOST_INPUTS:
                return tape
            tape = np.concatenate([tape, np.zeros_like(tape)])
        if draw is None or used < _FIRST_INPUTS:
            havoc = self._code.sites[int(self._code.code[state[0], 2])]
            tape[used, 0] = min(max(inputs(havoc, int(state[3])), -LARGEST), LARGEST)
            state[2] = used + 1
        else:
            tape[used:, 0] = draw(len(tape) - used)
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
            [(code.sites[site], value) for value, site in tape.tolist()],
            int(state[1]),
            int(state[4]),
            block,
            dict(zip(names, registers[: len(names)].tolist(), strict=True)),
        )
