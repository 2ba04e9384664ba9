"""A derivation over a program with procedures as the inputs of a run.

A step of the derivation is a way from one cut point to the next within a call, and its further
premises are the calls that it makes and that return. So every call has a script, the steps from its
entry on, and the calls of each step have scripts in turn. Those that have not returned when the
run fails are found by going back from the failure to where its procedure was entered.
"""

from __future__ import annotations

from collections.abc import Callable

from ..system import Graph, Havoc, System
from ._paths import Path

Inputs = Callable[[Havoc], int]


def scripted(
    graph: Graph, system: System, path: Path, otherwise: Inputs
) -> tuple[Inputs, list[int], Callable[[int], None], dict[str, int]]:
    """Inputs for a run, the blocks to watch, what to tell when it arrives at one, and the values
    of variables that have none at the start; `otherwise` gives inputs that no step says."""
    script = _Script(graph, system, path)

    def choose(havoc: Havoc) -> int:
        found = script.sites().get(havoc.site)
        return otherwise(havoc) if found is None else found

    return choose, [cut.block for cut in system.cuts], script.arrive, script.initial()


class _Call:
    """A call that goes on: its steps in order, where it is, and how many calls that step made."""

    def __init__(self, steps: list[int]):
        self.steps = steps
        self.position = 0
        self.made = 0


class _Script:
    def __init__(self, graph: Graph, system: System, path: Path):
        self._system = system
        self._path = path
        self._entries = {procedure.entry for procedure in graph.procedures.values()}
        self._exits = {procedure.exit for procedure in graph.procedures.values()}
        # The steps of the calls that do not return, innermost first.
        self._open = [self._steps_to(len(path.steps) - 1)]
        while (entered := self._entering(self._open[-1][0])) is not None:
            self._open.append(self._steps_to(entered))
        self._calls = [_Call(self._open.pop())]

    def initial(self) -> dict[str, int]:
        """Values of what is read at the start though no statement gave it one."""
        index, values = self._path.steps[self._calls[0].steps[0]]
        unset = [item for item in self._system.clauses[index].inputs if item.site is None]
        return {item.variable: values[item.name] for item in unset if item.variable}

    def sites(self) -> dict[int, int]:
        """The inputs of the step that the run is in."""
        step = self._now()
        if step is None:
            return {}
        index, values = self._path.steps[step]
        return self._system.clauses[index].sites(values)

    def arrive(self, block: int) -> None:
        if block in self._entries:
            self._calls.append(_Call(self._next_call()))
        elif block in self._exits:
            if len(self._calls) > 1:
                self._calls.pop()
        else:
            self._calls[-1].position += 1
            self._calls[-1].made = 0

    def _now(self) -> int | None:
        call = self._calls[-1]
        return call.steps[call.position] if call.position < len(call.steps) else None

    def _next_call(self) -> list[int]:
        """The steps of the call that the run makes now."""
        call, step = self._calls[-1], self._now()
        if step is None:
            return []
        returned = self._path.builds_on(step)[self._leaves(step) :]
        call.made += 1
        if call.made <= len(returned):
            return self._steps_to(returned[call.made - 1])
        return self._open.pop() if self._open else []

    def _leaves(self, step: int) -> int:
        """1 if the step leaves a cut point, 0 if it is the first of the program."""
        clause = self._system.clauses[self._path.steps[step][0]]
        if not clause.premises:
            return 0
        first = clause.premises[0]
        cut = self._system.cuts[first.cut]
        own = (cut.variables, tuple(bank.name for bank in cut.arrays))
        return int((first.names, first.arrays) == own)

    def _entering(self, step: int) -> int | None:
        """The step that enters the procedure in which this one is the first."""
        return self._path.builds_on(step)[0] if self._leaves(step) else None

    def _steps_to(self, step: int) -> list[int]:
        """The steps of a call, from its entry to this one."""
        found = [step]
        while self._leaves(found[-1]):
            before = self._path.builds_on(found[-1])[0]
            target = self._system.clauses[self._path.steps[before][0]].target
            assert target is not None
            if self._system.cuts[target].block in self._entries:
                break
            found.append(before)
        return found[::-1]
