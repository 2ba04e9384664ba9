"""First examples: concrete runs of the program, and a few models of the conditions."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

from ..flow import Havoc, Interpreter, Run, System
from ..proof import Conditions, GaveUp, Model
from ._data import Data

BLOCK = 3  # units of work for a block of the graph, interpreted
FAST_BLOCK = 0.02  # and compiled


class FailedRun(Exception):
    """A random run violated the property; it proves that the program is unsafe."""

    def __init__(self, inputs: tuple[int, ...]):
        super().__init__("a concrete run fails")
        self.inputs = inputs


def chooser(
    rng: random.Random,
    constants: list[int],
    *,
    first: dict[int, int] | None = None,
    compared: dict[int, list[int]] | None = None,
    wide: bool = False,
) -> Callable[[Havoc], int]:
    """A source of random inputs: small numbers, many zeros, and the program's own constants,
    above all those that an input is `compared` with."""
    zero = rng.choice((0.05, 0.3, 0.5, 0.8))
    scale = rng.choice((2, 5, 12))
    if wide and constants:
        # Deep failures often need an input of the size of the program's own constants.
        scale = rng.choice((5, 40, max(map(abs, constants)) + 5))
    given = dict(first or {})
    # A run in which each input likes one value goes where mixed inputs never come.
    loyal = rng.choice((0.0, 0.0, 0.5, 0.95, 1.0))
    liked: dict[int, int] = {}
    # Of the constants that matter to an input, each run likes some better than others.
    keen = rng.choice((0.1, 0.4, 0.9))
    weights: dict[int, list[float]] = {}
    matter = compared or {}

    def choose(havoc: Havoc) -> int:
        if havoc.site in given:
            return given.pop(havoc.site)
        if rng.random() < loyal:
            if havoc.site not in liked:
                liked[havoc.site] = some(havoc)
            return liked[havoc.site]
        return some(havoc)

    def some(havoc: Havoc) -> int:
        if havoc.site in matter and rng.random() < keen:
            values = matter[havoc.site]
            if havoc.site not in weights:
                weights[havoc.site] = [rng.random() ** 2 for _ in values]
            return havoc.within(rng.choices(values, weights[havoc.site])[0])
        draw = rng.random()
        if draw < zero:
            value = 0 if havoc.call else rng.randint(-1, 1)
        elif draw < 0.95 or not constants:
            value = rng.randint(-scale, scale) if rng.random() < 0.4 else rng.randint(0, scale)
        else:
            value = rng.choice(constants) + rng.randint(-1, 1)
        return havoc.within(value)

    return choose


def run_program(
    interpreter: Interpreter,
    system: System,
    data: Data,
    rng: random.Random,
    constants: list[int],
    *,
    first: dict[int, int] | None = None,
    compared: dict[int, list[int]] | None = None,
    keep: int = 30,
    limit: int = 3000,
) -> int:
    """One run on random inputs; its states at loop heads are reachable examples. How many blocks
    it took.

    `first` gives values to the first use of an input site, e.g. from a model of the start.
    """
    blocks = [cut.block for cut in system.cuts]
    inputs = chooser(rng, constants, first=first, compared=compared)
    marks: list[int] = []
    taken: list[tuple[Havoc, int]] = []

    def record(havoc: Havoc) -> int:
        value = inputs(havoc)
        taken.append((havoc, value))
        return value

    run = interpreter.run(
        record,
        watch=blocks,
        limit=limit,
        arrive=lambda block: marks.append(len(taken)),
        visit_limit=limit,
    )
    values = tuple(value for _, value in taken)
    if run.outcome == "failed":
        raise FailedRun(values)
    chosen = list(range(len(run.visits)))
    if len(chosen) > keep:
        chosen = sorted({*chosen[: keep // 2], *chosen[-4:], *rng.sample(chosen, keep // 3)})
    points = visited(interpreter, system, run)
    for position in chosen:
        data.add_run(*points[position], values[: marks[position]], position + 1)
    return run.blocks


def visited(
    interpreter: Interpreter, system: System, run: Run
) -> list[tuple[int, tuple[int, ...]]]:
    """The states of a run at cut points, over each cut's variables."""
    index = {name: i for i, name in enumerate(interpreter.names)}
    blocks = {cut.block: number for number, cut in enumerate(system.cuts)}
    columns = [
        [[index[part] for part in parts] for parts in (*((n,) for n in cut.plain), *cut.products)]
        for cut in system.cuts
    ]
    return [
        (blocks[b], tuple(math.prod(state[i] for i in part) for part in columns[blocks[b]]))
        for b, state in run.visits
    ]


def add_models(data: Data, system: System, models: list[Model]) -> int:
    """Record models; how many were new and small enough."""
    count = 0
    for model in models:
        clause = system.clauses[model.clause]
        count += data.add(model, clause.source, clause.target)
    return count


def walk(
    conditions: Conditions,
    data: Data,
    rng: random.Random,
    start: Model,
    *,
    steps: int,
    scale: int,
) -> None:
    """Follow the clauses forwards from a state by asking the solver, for systems without code."""
    system = conditions.system
    cut, state = system.clauses[start.clause].target, start.target
    for _ in range(steps):
        options = [
            i for i, c in enumerate(system.clauses) if c.source == cut and c.target is not None
        ]
        rng.shuffle(options)
        for clause in options:
            model = successor(conditions, rng, clause, state, scale)
            if model is not None and (model.target != state or len(options) > 1):
                add_models(data, system, [model])
                cut, state = system.clauses[clause].target, model.target
                break
        else:
            return


def successor(
    conditions: Conditions, rng: random.Random, clause: int, state: tuple[int, ...], scale: int
) -> Model | None:
    """A model of the clause that starts in the given state, varied at random."""
    solver = conditions.at_state(clause, state)
    try:
        if conditions.check(solver) != "sat":
            return None
        found = conditions.model(solver, clause)
        varied = conditions.vary(solver, clause, rng, scale)
        return varied or found
    except GaveUp:
        return None
    finally:
        solver.pop()
