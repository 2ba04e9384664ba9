"""Runs a graph on concrete inputs: the judge of every failure that is claimed.

Terms are compiled to closures once; nothing here shares code with the solver's side.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ._graph import (
    Assign,
    Assume,
    Branch,
    Call,
    Copy,
    Fail,
    Fill,
    Graph,
    Havoc,
    Jump,
    Load,
    Procedure,
    Return,
    Statement,
    Store,
)
from ._law import Law
from ._memory import Contents, Memory
from .terms import DIVISIONS, OPERATIONS, Term, const, float_value

_LARGEST = 1 << 256
State = list[Any]
"""Of each variable its value, then of each array its cells."""
Inputs = Callable[[Havoc], int]


_FREE = (None, -1, None, None)  # of an array that was never filled
Step = Statement | Branch | Fail | Return


class Frame(NamedTuple):
    """A call that has not returned: what is restored and where the run goes on when it does."""

    call: Call
    block: int
    following: int
    saved: list[int]
    args: tuple[int, ...]
    key: tuple[int, ...] | None  # all that a call without inputs depends on, if that is numbers
    inputs: int


@dataclass(slots=True)
class Run:
    """How a run went: `failed` with the failure, or ended, stopped by an assumption, or cut."""

    outcome: str
    failure: Fail | None = None
    visits: list[tuple[int, tuple[Any, ...]]] = field(default_factory=list)
    inputs: list[tuple[Havoc, int]] = field(default_factory=list)
    steps: list[tuple[Step, int | bool | None]] = field(default_factory=list)
    law: Law | None = None
    """Of a run with very many inputs, how all of them are made; `inputs` are the first."""
    blocks: int = 0
    gap: tuple[int, int] | None = None
    """Of a very long run, the middle is not in `steps`: how many steps are before the gap, and how
    many blocks of the graph are in it."""
    stack: list[tuple[Call, tuple[int, ...]]] = field(default_factory=list)
    """The calls that had not returned in the end, outermost first, and their arguments."""


class _Slots:
    """Where the variables of a procedure are in a state."""

    def __init__(self, procedure: Procedure, index: dict[str, int], arrays: Container[str]):
        self.entry = procedure.entry
        self.parameters = [index[name] for name in procedure.parameters]
        self.results = [index[name] for name in procedure.results]
        # Arrays that are not its own stay where they are.
        self.changed = [index[name] for name in procedure.changed if name not in arrays]
        self.shared = [index[name] for name in procedure.shared if name not in arrays]
        self.numeric = len(self.shared) == len(procedure.shared)
        self.locals = sorted(index[name] for name in procedure.locals)
        self._own = [index[name] for name in procedure.locals if name in arrays]

    def enter(self, state: State, frame: Frame) -> None:
        for slot, value in zip(self.parameters, frame.args, strict=True):
            state[slot] = value
        for slot in self._own:
            state[slot] = Memory()

    def end(self, state: State) -> tuple[int, ...]:
        """What a call comes to: its results and what it changed."""
        return tuple(state[slot] for slot in (*self.results, *self.changed))

    def leave(
        self, state: State, frame: Frame, ended: tuple[int, ...], index: dict[str, int]
    ) -> None:
        for slot, value in zip(self.locals, frame.saved, strict=True):
            state[slot] = value
        targets = [index[name] for name in frame.call.results]
        for slot, value in zip((*targets, *self.changed), ended, strict=True):
            state[slot] = value


class Interpreter:
    """A graph made ready to run; may be used from several threads at once."""

    def __init__(self, graph: Graph):
        self.graph = graph
        self.names = [*graph.variables, *graph.arrays]
        self._arrays = range(len(graph.variables), len(self.names))
        self._index = {name: i for i, name in enumerate(self.names)}
        self._code = [
            [(s, self._index.get(getattr(s, "name", "")), self._closure(s)) for s in b.statements]
            for b in graph.blocks
        ]
        self._stored = {
            id(statement): self._compile(statement.value)
            for block in graph.blocks
            for statement in block.statements
            if isinstance(statement, Store)
        }
        self._procedures = {
            name: _Slots(procedure, self._index, graph.arrays)
            for name, procedure in graph.procedures.items()
        }
        self._args = {
            statement.site: [self._compile(arg) for arg in statement.args]
            for block in graph.blocks
            for statement in block.statements
            if isinstance(statement, Call)
        }
        self._conditions = [
            self._compile(b.end.condition) if isinstance(b.end, Branch) else None
            for b in graph.blocks
        ]

    def run(
        self,
        inputs: Inputs,
        *,
        watch: Sequence[int] = (),
        limit: int = 100_000,
        initial: dict[str, int] | None = None,
        block: int = 0,
        record: bool = False,
        visit_limit: int = 10_000,
        arrive: Callable[[int], None] | None = None,
        again: bool = False,
        contents: Contents = lambda fill: None,
    ) -> Run:
        """Follow the graph from `block` for at most `limit` blocks.

        `watch` lists blocks whose states are kept in `visits`; `arrive(block)` is called on each
        arrival at one, and no arrays are kept then; with `record` every statement and its value are
        kept, for traces. A call that took no input is not made `again` with the same values: it
        ends as it did. `contents` may say what the cells of an array are that takes arbitrary
        values; else a cell becomes an input once it is read.
        """
        state: State = [0] * len(self.names)
        for slot in self._arrays:
            state[slot] = Memory()
        for name, value in (initial or {}).items():
            state[self._index[name]] = value
        watched = set(watch)
        run = Run("cut")
        frames: list[Frame] = []
        known: dict[tuple[str, tuple[int, ...]], tuple[int, ...]] = {}
        following = 0  # the first statement of the block that is left to do
        for passed in range(limit):
            run.blocks = passed
            if block in watched and not following:
                if arrive is not None:
                    arrive(block)
                seen = tuple(state)
                if self._arrays:
                    cut = self._arrays.start
                    # Who watches arrivals looks at numbers alone.
                    kept = [memory.copy() for memory in seen[cut:]] if arrive is None else ()
                    seen = (*seen[:cut], *kept)
                run.visits.append((block, seen))
                if len(run.visits) >= visit_limit:
                    return self._ended(run, frames)
            code = self._code[block]
            entered = False
            for number in range(following, len(code)):
                statement, slot, compute = code[number]
                if isinstance(statement, Call):
                    frame = self._frame(statement, state, (block, number + 1), len(run.inputs))
                    ended = None
                    if frame.key is not None and not again:
                        ended = known.get((statement.procedure, frame.key))
                    if record:
                        run.steps.append((statement, None))
                    slots = self._procedures[statement.procedure]
                    if ended is not None:
                        slots.leave(state, frame, ended, self._index)
                        if record and statement.results:
                            end = Return(statement.procedure, statement.shown, statement.place)
                            run.steps.append((end, ended[0]))
                        continue
                    frames.append(frame)
                    slots.enter(state, frame)
                    block, following, entered = slots.entry, 0, True
                    break
                if isinstance(statement, Copy):
                    if frames and (not watched or arrive is not None):
                        continue  # it is what a call began with, which only states show
                    source = state[self._index[statement.source]]
                    state[self._index[statement.array]] = source.copy()
                    if record:
                        run.steps.append((statement, None))
                    continue
                if isinstance(statement, Load | Store | Fill):
                    value = self._access(statement, compute, state, run, inputs, contents)
                    if isinstance(statement, Load):
                        state[slot] = value  # type: ignore[index]
                    if record:
                        run.steps.append(value if isinstance(value, tuple) else (statement, value))
                    continue
                if compute is None:
                    assert isinstance(statement, Havoc)
                    value = statement.within(inputs(statement))
                    run.inputs.append((statement, value))
                else:
                    value = compute(state)
                if slot is not None:
                    if not -_LARGEST < value < _LARGEST:
                        return self._ended(run, frames)  # it would soon fill the memory
                    state[slot] = value
                    if record:
                        run.steps.append((statement, value))
                elif not value:
                    run.outcome = "assumption"
                    return self._ended(run, frames)
            if entered:
                continue
            following = 0
            end = self.graph.blocks[block].end
            if isinstance(end, Jump):
                block = end.target
            elif isinstance(end, Branch):
                holds = bool(self._conditions[block](state))  # type: ignore[misc]
                if record:
                    run.steps.append((end, holds))
                block = end.yes if holds else end.no
            elif isinstance(end, Return) and frames:
                frame, slots = frames.pop(), self._procedures[end.procedure]
                ended = slots.end(state)
                if frame.key is not None and frame.inputs == len(run.inputs):
                    known[end.procedure, frame.key] = ended
                slots.leave(state, frame, ended, self._index)
                if record:
                    run.steps.append((end, ended[0] if frame.call.results else None))
                block, following = frame.block, frame.following
            else:
                run.outcome = "ended"
                if isinstance(end, Fail):
                    run.outcome, run.failure = "failed", end
                    if record:
                        run.steps.append((end, None))
                return self._ended(run, frames)
        return self._ended(run, frames)

    def _access(
        self,
        statement: Load | Store | Fill,
        index: Callable[[State], int] | None,
        state: State,
        run: Run,
        inputs: Inputs,
        contents: Contents,
    ) -> Any:
        """Do what a statement does to an array: the cell that is read, or the step taken."""
        memory = state[self._index[statement.array]]
        if isinstance(statement, Fill):
            memory.refill(statement, contents(statement))
            return statement, statement.value
        assert index is not None
        at = index(state)
        if isinstance(statement, Store):
            value = memory.cells[at] = self._stored[id(statement)](state)
            return Store(statement.array, const(at), const(value), statement.place), value
        if (found := memory.known(at)) is not None:
            return found
        cell = memory.filled.cell(at) if memory.filled else Fill(statement.array, *_FREE).cell(at)
        given = memory.decided(at)
        value = memory.cells[at] = cell.within(inputs(cell) if given is None else given)
        run.inputs.append((cell, value))
        return value

    def _frame(self, call: Call, state: State, after: tuple[int, int], inputs: int) -> Frame:
        args = tuple(compute(state) for compute in self._args[call.site])
        slots = self._procedures[call.procedure]
        shared = tuple(state[i] for i in slots.shared)
        saved = [state[i] for i in slots.locals]
        key = (*args, *shared) if slots.numeric else None
        return Frame(call, *after, saved, args, key, inputs)

    def _ended(self, run: Run, frames: list[Frame]) -> Run:
        run.stack = [(frame.call, frame.args) for frame in frames]
        return run

    def _closure(self, statement: Statement) -> Callable[[State], int] | None:
        if isinstance(statement, Assign | Assume):
            term = statement.value if isinstance(statement, Assign) else statement.condition
            return self._compile(term)
        return self._compile(statement.index) if isinstance(statement, Load | Store) else None

    def _compile(self, term: Term) -> Callable[[State], int]:
        op = term.op
        if op == "const":
            value = term.leaf
            return lambda s: value
        if op == "var":
            slot = self._index[term.leaf]
            return lambda s: s[slot]
        args = [self._compile(item) for item in term.args]
        if op in OPERATIONS:
            bits = term.leaf
            return lambda s: float_value(op, bits, [f(s) for f in args])
        if op == "+":
            if len(args) == 2:
                a, b = args
                return lambda s: a(s) + b(s)
            return lambda s: sum(f(s) for f in args)
        if op == "and":
            return lambda s: all(f(s) for f in args)
        if op == "or":
            return lambda s: any(f(s) for f in args)
        if op == "not":
            a = args[0]
            return lambda s: not a(s)
        if op == "ite":
            c, a, b = args
            return lambda s: a(s) if c(s) else b(s)
        a, b = args
        if op == "*":
            return lambda s: a(s) * b(s)
        if op == "<=":
            return lambda s: a(s) <= b(s)
        if op == "<":
            return lambda s: a(s) < b(s)
        if op == "=":
            return lambda s: a(s) == b(s)
        divide = DIVISIONS[op]
        return lambda s: divide(a(s), b(s))
