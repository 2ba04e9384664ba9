"""A claimed failure, run step by step on the original program."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, NamedTuple

from ..._errors import Place
from ..system import Clause, Fail, Fill, Graph, Havoc, Interpreter, Law, Run, System
from ..system.terms import evaluate
from ._paths import Path
from ._scripts import scripted

_SHORT = 100_000
_DEEP = 1_000_000  # blocks of a run with calls, of which none is compiled
_LONG = 4_000_000_000
_SHOWN = 200
_KEPT = 1000  # inputs of a run that has more than can be kept
_PROBES = 20  # turns of a leap that are looked at
FARTHEST = 10_000_000  # turns that are taken one by one where leaping does not do


class Fact(NamedTuple):
    """What an instance of a clause shows: a state of a cut, from facts before it in the list. Of an
    array, some cells by their index, and what all `else` have."""

    name: str
    values: dict[str, int | dict[str, int]]
    premises: tuple[int, ...]
    place: Place | None

    def listed(self) -> list[tuple[str, int]]:
        """All numbers, with their names."""
        found = []
        for key, value in self.values.items():
            if isinstance(value, int):
                found.append((f"{self.name}.{key}", value))
            else:
                found += [(f"{self.name}.{key}[{index}]", cell) for index, cell in value.items()]
        return found


@dataclass(slots=True)
class Failure:
    """A failure that has been replayed: by the interpreter, or clause by clause.

    The `facts` are a tree of clause instances, each after its premises, the failure last.
    """

    run: Run | None = None
    facts: list[Fact] = field(default_factory=list)


def replay_graph(
    graph: Graph,
    interpreter: Interpreter,
    system: System,
    path: Path,
    tick: Callable[[], None] = lambda: None,
) -> Failure | None:
    """Run the program with the path's inputs; a failure only if the program really fails."""
    if graph.procedures and path.steps:
        inputs, blocks, tell, initial = scripted(graph, system, path, _default)
        run = interpreter.run(
            inputs,
            watch=blocks,
            limit=_DEEP,
            initial=initial,
            record=True,
            visit_limit=_DEEP,
            arrive=tell,
            again=True,
        )
        return Failure(run) if run.outcome == "failed" else None
    sites = [system.clauses[index].sites(values) for index, values in path.steps]
    ends = list(accumulate(path.turns or [1] * len(sites)))
    queue = iter(path.prefix)

    def choose(havoc: Havoc, arrivals: int) -> int:
        for value in queue:
            return value
        step = bisect_right(ends, arrivals - path.arrivals)
        if arrivals >= path.arrivals and step < len(sites) and havoc.site in sites[step]:
            return sites[step][havoc.site]
        return _default(havoc)

    def contents(fill: Fill) -> Callable[[int], int] | None:
        step = bisect_right(ends, arrivals - path.arrivals)
        known = step < len(path.contents) and arrivals >= path.arrivals
        return path.contents[step].get(fill.site) if known else None

    # Variables that are read though no statement gave them a value start as the solver chose.
    initial = {}
    if path.steps and not path.arrivals:
        first, values = path.steps[0]
        unset = [item for item in system.clauses[first].inputs if item.site is None]
        initial = {item.variable: values[item.name] for item in unset if item.variable}
    watch = [cut.block for cut in system.cuts]
    arrivals = 0

    def arrive(block: int) -> None:
        nonlocal arrivals
        arrivals += 1

    run = interpreter.run(
        lambda havoc: choose(havoc, arrivals),
        watch=watch,
        limit=_SHORT,
        initial=initial,
        record=True,
        arrive=arrive,
        visit_limit=_SHORT,
        contents=contents,
    )
    if run.outcome == "cut" and sum(path.turns) > _SHORT and any(path.leaps):
        return _Leaping(interpreter, system, path).replay(initial)
    if run.outcome == "cut" and not graph.compilable:
        return None
    if run.outcome == "cut":
        queue = iter(path.prefix)
        if not any(sites[1:]):
            watch = []  # arrivals do not matter, and counting them takes time
        return _replay_long(graph, interpreter, watch, choose, initial, tick)
    return Failure(run) if run.outcome == "failed" else None


def _replay_long(
    graph: Graph,
    interpreter: Interpreter,
    watch: list[int],
    choose: Callable[[Havoc, int], int],
    initial: dict[str, int],
    tick: Callable[[], None],
) -> Failure | None:
    """A run too long to write down: executed in full, shown from both ends."""
    from ..system.fast import Fast, LongRun

    passed: list[LongRun] = []

    def go_on(now: LongRun) -> bool:
        tick()
        passed[:] = [*passed[-1:], now]
        return True

    fast = Fast(graph, watch)
    whole = fast.run(choose, limit=_LONG, initial=initial, go_on=go_on)
    if whole.outcome != "failed":
        return None
    values = [value for _, value in whole.inputs]
    head = interpreter.run(_in_order(values), limit=_SHOWN, initial=initial, record=True)
    # From the last state but one that was noted, or else the start, to shortly before the end.
    used, blocks, state, block = 0, 0, initial, 0
    if passed:
        note = passed[0]
        used, blocks, state, block = note.used, note.blocks, note.state, note.block
    late = fast.run(
        _ordered(values[used:]),
        limit=max(0, whole.blocks - blocks - _SHOWN),
        initial=state,
        block=block,
    )
    tail = interpreter.run(
        _in_order(values[used + late.used :]),
        limit=_SHORT,
        initial=late.state,
        block=late.block,
        record=True,
    )
    if tail.outcome != "failed":
        return None
    middle = whole.blocks - 2 * _SHOWN
    return Failure(
        Run(
            "failed",
            tail.failure,
            inputs=whole.inputs,
            steps=head.steps + tail.steps,
            gap=(len(head.steps), middle),
        )
    )


def _in_order(values: Sequence[int]) -> Callable[[Havoc], int]:
    rest = iter(values)
    return lambda havoc: next(rest, 0)


def _ordered(values: Sequence[int]) -> Callable[[Havoc, int], int]:
    rest = iter(values)
    return lambda havoc, arrivals: next(rest, 0)


def fails_on(
    interpreter: Interpreter, inputs: Sequence[int], tick: Callable[[], None]
) -> Fail | None:
    """The failure that a program comes to on these inputs, if it does."""
    most = _SHORT if interpreter.graph.compilable else _DEEP
    run = interpreter.run(_in_order(inputs), limit=most, visit_limit=most)
    if run.outcome != "cut" or not interpreter.graph.compilable:
        return run.failure
    from ..system.fast import Fast

    def go_on(now: object) -> bool:
        tick()
        return True

    return Fast(interpreter.graph).run(_ordered(inputs), limit=_LONG, go_on=go_on).failure


class _Leaping:
    """Replays a path of more turns than can be taken one by one, with inputs by their law.

    Of each step that is taken many times, the interpreter takes the first turns, the last, and
    some in between; each must lead where the arithmetic of all turns says. That arithmetic must
    hold on the state at hand, evaluated in whole numbers; no solver is involved.
    """

    def __init__(self, interpreter: Interpreter, system: System, path: Path):
        self._interpreter = interpreter
        self._system = system
        self._path = path
        self._watch = [cut.block for cut in system.cuts]

    def replay(self, initial: dict[str, int]) -> Failure | None:
        path = self._path
        block, state = 0, initial
        parts: list[tuple[tuple[tuple[Havoc, int], ...], int]] = []
        steps: list = []
        gap: tuple[int, int] | None = None
        for number, (index, values) in enumerate(path.steps):
            clause, leap, turns = (
                self._system.clauses[index],
                path.leaps[number],
                path.turns[number],
            )
            if (clause.source is None) != (number == 0):
                return None
            if clause.source is not None and self._system.cuts[clause.source].block != block:
                return None
            sites = clause.sites(values)
            if leap is not None:
                landed = self._leap(leap, values, state, turns - 1)
                if landed is None:
                    return None
                turn = self._turn(block, state, sites)
                parts.append((tuple(turn.inputs), turns - 1))
                steps += turn.steps
                gap = (len(steps), (gap[1] if gap else 0) + (turns - 2) * (turn.blocks + 1))
                state = landed
            turn = self._turn(block, state, sites, start=clause.source is None)
            parts.append((tuple(turn.inputs), 1))
            steps += turn.steps
            if clause.target is None:
                if turn.outcome != "failed" or number != len(path.steps) - 1:
                    return None
                law = Law(tuple(parts))
                first = law.head(_KEPT)
                run = Run("failed", turn.failure, inputs=first, law=law, steps=steps, gap=gap)
                return Failure(run)
            arrived = self._arrival(turn, start=clause.source is None)
            if arrived is None:
                return None
            block, state = arrived
        return None

    def _turn(
        self, block: int, state: dict[str, int], sites: dict[int, int], *, start: bool = False
    ) -> Run:
        """From here to the next cut point, or to the end."""
        return self._interpreter.run(
            lambda havoc: sites.get(havoc.site, _default(havoc)),
            watch=self._watch,
            limit=_SHORT,
            initial=state,
            block=block,
            record=True,
            visit_limit=1 if start else 2,
        )

    def _arrival(self, turn: Run, *, start: bool = False) -> tuple[int, dict[str, int]] | None:
        if turn.outcome != "cut" or len(turn.visits) < (1 if start else 2):
            return None
        block, now = turn.visits[-1]
        return block, dict(zip(self._interpreter.names, now, strict=True))

    def _leap(
        self, leap: Clause, values: dict[str, int], state: dict[str, int], turns: int
    ) -> dict[str, int] | None:
        """The state after so many turns; None where the arithmetic or a turn disagrees."""
        assert leap.source is not None and leap.turns is not None
        count_of_turns = leap.turns
        cut = self._system.cuts[leap.source]
        known = values | {name: state[name] for name in cut.variables}

        def after(count: int) -> dict[str, int]:
            now = known | {count_of_turns: count}
            return {
                name: int(evaluate(arg, now))
                for name, arg in zip(cut.variables, leap.args, strict=True)
            }

        try:
            if not evaluate(leap.constraint, known | {count_of_turns: turns + 1}, strict=True):
                return None
        except ZeroDivisionError:
            return None
        sites = leap.sites(values)
        between = range(2, turns + 1, max(1, (turns - 1) // _PROBES))
        for count in (0, 1, *between, turns):
            now = state | after(count) if count > 1 else state
            if count == 1:
                arrived = self._arrival(self._turn(cut.block, state, sites))
                if arrived is None:
                    return None
                now = arrived[1]
            arrived = self._arrival(self._turn(cut.block, now, sites))
            if arrived is None or arrived[0] != cut.block:
                return None
            if count and {name: arrived[1][name] for name in cut.variables} != after(count + 1):
                return None
        return state | after(turns)


def _default(havoc: Havoc) -> int:
    low = havoc.low if havoc.low is not None else 0
    high = havoc.high if havoc.high is not None else 0
    return min(max(0, low), high) if high >= low else low


def replay_clauses(system: System, path: Path) -> Failure | None:
    """Check a derivation by evaluating every constraint; no solver is involved."""
    facts: list[Fact] = []
    heads: list[tuple[int, tuple[int, ...], int]] = []  # of each step: cut, state, its fact
    turns = path.turns or (1,) * len(path.steps)
    if sum(turns) > _SHORT:
        return None
    for number, (index, values) in enumerate(path.steps):
        clause = system.clauses[index]
        built = path.builds_on(number)
        if any(not 0 <= before < number for before in built):
            return None
        before = [heads[i] for i in built]
        if [cut for cut, _, _ in before] != [premise.cut for premise in clause.premises]:
            return None
        states = [state for _, state, _ in before]
        origin = tuple(fact for _, _, fact in before)
        for turn in range(turns[number]):
            now = dict(values)
            if turn:  # a loop, whose step has one premise
                now |= zip(clause.premises[0].names, states[0], strict=True)
            if not _allowed(system, clause, states, now):
                return None
            if clause.target is None:
                facts.append(Fact("failure", _inputs(clause, now), origin, clause.place))
                return Failure(None, facts) if number == len(path.steps) - 1 else None
            try:
                state = tuple(int(evaluate(arg, now, strict=True)) for arg in clause.args)
            except ZeroDivisionError:  # which may give any value, so this shows nothing
                return None
            target = system.cuts[clause.target]
            shown: dict[str, Any] = dict(zip(target.shown, state, strict=True))
            facts.append(Fact(target.name, shown, origin, clause.place))
            origin, states = (len(facts) - 1,), [state]
        assert clause.target is not None
        heads.append((clause.target, states[0], len(facts) - 1))
    return None


def _inputs(clause: Clause, values: dict[str, int]) -> dict[str, Any]:
    return {item.name: values[item.name] for item in clause.inputs}


def _allowed(
    system: System, clause: Clause, states: Sequence[Sequence[int]], values: dict[str, int]
) -> bool:
    for premise, state in zip(clause.premises, states, strict=True):
        if any(values.get(n) != v for n, v in zip(premise.names, state, strict=True)):
            return False
        if not evaluate(system.at(premise, system.cuts[premise.cut].facts()), values):
            return False
    try:
        return bool(evaluate(clause.constraint, values, strict=True))
    except ZeroDivisionError:
        return False
