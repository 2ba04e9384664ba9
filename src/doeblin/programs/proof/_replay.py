"""A claimed failure, run step by step on the original program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..flow import Clause, Graph, Havoc, Interpreter, Run, System
from ..terms import evaluate


@dataclass(frozen=True, slots=True)
class Path:
    """A way to a failure: inputs of a concrete run so far (`prefix`), then steps by clause.

    `prefix` are the values of a run's inputs in order; each step gives the values of the clause's
    variables and inputs.
    """

    steps: tuple[tuple[int, dict[str, int]], ...]
    prefix: tuple[int, ...] = ()
    arrivals: int = 0


@dataclass(slots=True)
class Failure:
    """A failure that has been replayed: by the interpreter, or clause by clause."""

    run: Run | None = None
    states: list[tuple[str, dict[str, int]]] = field(default_factory=list)


def replay_graph(
    graph: Graph,
    interpreter: Interpreter,
    system: System,
    path: Path,
    *,
    limit: int = 2_000_000,
) -> Failure | None:
    """Run the program with the path's inputs; a failure only if the program really fails."""
    queue = list(path.prefix)
    queue.reverse()
    arrivals = 0
    by_site: list[dict[int, int]] = [_sites(values) for _, values in path.steps]

    def arrive(block: int) -> None:
        nonlocal arrivals
        arrivals += 1

    def inputs(havoc: Havoc) -> int:
        if queue:
            return queue.pop()
        step = arrivals - path.arrivals
        if 0 <= step < len(by_site) and havoc.site in by_site[step]:
            return by_site[step][havoc.site]
        return _default(havoc)

    # Variables that are read though no statement gave them a value start as the solver chose.
    unset = path.steps[0][1] if path.steps and not path.arrivals else {}
    run = interpreter.run(
        inputs,
        watch=[cut.block for cut in system.cuts],
        limit=limit,
        initial={name[:-1]: value for name, value in unset.items() if name.endswith("?")},
        record=True,
        arrive=arrive,
        visit_limit=limit,
    )
    return Failure(run) if run.outcome == "failed" else None


def _sites(values: dict[str, int]) -> dict[int, int]:
    found = {}
    for name, value in values.items():
        _, mark, site = name.rpartition("?")
        if mark and site:
            found[int(site)] = value
    return found


def _default(havoc: Havoc) -> int:
    low = havoc.low if havoc.low is not None else 0
    high = havoc.high if havoc.high is not None else 0
    return min(max(0, low), high) if high >= low else low


def replay_clauses(system: System, path: Path) -> Failure | None:
    """Check a path through the clauses by evaluating every constraint; no solver is involved."""
    states: list[tuple[str, dict[str, int]]] = []
    cut: int | None = None
    state: tuple[int, ...] = ()
    for number, (index, values) in enumerate(path.steps):
        clause = system.clauses[index]
        if (clause.source is None) != (number == 0) or clause.source != cut:
            return None
        if not _allowed(system, clause, state, values):
            return None
        if clause.target is None:
            states.append(("failure", _inputs(clause, values)))
            return Failure(None, states) if number == len(path.steps) - 1 else None
        cut = clause.target
        state = tuple(int(evaluate(arg, values)) for arg in clause.args)
        target = system.cuts[cut]
        states.append((target.name, dict(zip(target.shown, state, strict=True))))
    return None


def _inputs(clause: Clause, values: dict[str, int]) -> dict[str, int]:
    return {name: values[name] for name in clause.inputs}


def _allowed(system: System, clause: Clause, state: Sequence[int], values: dict[str, int]) -> bool:
    if clause.source is not None:
        names = system.cuts[clause.source].variables
        if any(values.get(n) != v for n, v in zip(names, state, strict=True)):
            return False
        if not evaluate(system.cuts[clause.source].facts(), values):
            return False
    try:
        return bool(evaluate(clause.constraint, values, strict=True))
    except ZeroDivisionError:
        return False
