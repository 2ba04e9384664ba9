"""Runs a graph on concrete inputs: the judge of every failure that is claimed.

Terms are compiled to closures once; nothing here shares code with the solver's side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ._graph import Assign, Branch, Fail, Graph, Havoc, Jump, Statement
from ._law import Law
from .terms import DIVISIONS, Term

_LARGEST = 1 << 256
State = list[int]
Inputs = Callable[[Havoc], int]


@dataclass(slots=True)
class Run:
    """How a run went: `failed` with the failure, or ended, stopped by an assumption, or cut."""

    outcome: str
    failure: Fail | None = None
    visits: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)
    inputs: list[tuple[Havoc, int]] = field(default_factory=list)
    steps: list[tuple[Statement | Branch | Fail, int | bool | None]] = field(default_factory=list)
    law: Law | None = None
    """Of a run with very many inputs, how all of them are made; `inputs` are the first."""
    blocks: int = 0
    gap: tuple[int, int] | None = None
    """Of a very long run, the middle is not in `steps`: how many steps are before the gap, and how
    many blocks of the graph are in it."""


class Interpreter:
    """A graph made ready to run; may be used from several threads at once."""

    def __init__(self, graph: Graph):
        self.graph = graph
        self.names = list(graph.variables)
        self._index = {name: i for i, name in enumerate(self.names)}
        self._code = [
            [(s, self._index.get(getattr(s, "name", "")), self._closure(s)) for s in b.statements]
            for b in graph.blocks
        ]
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
    ) -> Run:
        """Follow the graph from `block` for at most `limit` blocks.

        `watch` lists blocks whose states are kept in `visits`; `arrive(block)` is called on each
        arrival at one; with `record` every statement and its value are kept, for traces.
        """
        state = [0] * len(self.names)
        for name, value in (initial or {}).items():
            state[self._index[name]] = value
        watched = set(watch)
        run = Run("cut")
        for passed in range(limit):
            run.blocks = passed
            if block in watched:
                if arrive is not None:
                    arrive(block)
                run.visits.append((block, tuple(state)))
                if len(run.visits) >= visit_limit:
                    return run
            for statement, slot, compute in self._code[block]:
                if compute is None:
                    assert isinstance(statement, Havoc)
                    value = statement.within(inputs(statement))
                    run.inputs.append((statement, value))
                else:
                    value = compute(state)
                if slot is not None:
                    if not -_LARGEST < value < _LARGEST:
                        return run  # a number that squares itself would soon fill the memory
                    state[slot] = value
                    if record:
                        run.steps.append((statement, value))
                elif not value:
                    run.outcome = "assumption"
                    return run
            end = self.graph.blocks[block].end
            if isinstance(end, Jump):
                block = end.target
            elif isinstance(end, Branch):
                holds = bool(self._conditions[block](state))  # type: ignore[misc]
                if record:
                    run.steps.append((end, holds))
                block = end.yes if holds else end.no
            else:
                run.outcome = "ended"
                if isinstance(end, Fail):
                    run.outcome, run.failure = "failed", end
                    if record:
                        run.steps.append((end, None))
                return run
        return run

    def _closure(self, statement: Statement) -> Callable[[State], int] | None:
        if isinstance(statement, Havoc):
            return None
        term = statement.value if isinstance(statement, Assign) else statement.condition
        return self._compile(term)

    def _compile(self, term: Term) -> Callable[[State], int]:
        op = term.op
        if op == "const":
            value = term.leaf
            return lambda s: value
        if op == "var":
            slot = self._index[term.leaf]
            return lambda s: s[slot]
        args = [self._compile(item) for item in term.args]
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
