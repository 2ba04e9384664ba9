"""The paper's table on programs: how long each chain takes to find the invariants."""

from __future__ import annotations

import json
import math
import random
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from .._fleet import Fleet, finished
from ..programs import Outcome, Program, parse_program, verify
from ..programs.examples import PAPER, example
from ..programs.peers import PEERS, ask_peer

METHODS = ("zero-stage", "one-stage", "two-stage", "default")
_CHUNK = 10  # trials that a worker is given at a time


class Trial(NamedTuple):
    """One attempt: seconds on the clock, of the processor, and of the search alone; its steps."""

    program: str
    method: str
    seed: int
    wall: float
    cpu: float
    search: float
    steps: int
    solved: bool


@dataclass(frozen=True)
class Cell:
    """The trials of one program and method.

    Those that reached the limit count with it, so that the mean is a lower bound.
    """

    program: str
    method: str
    trials: tuple[Trial, ...]

    def as_dict(self) -> dict[str, Any]:
        result: dict[str, Any] = {
            "program": self.program,
            "method": self.method,
            "trials": len(self.trials),
            "unsolved": sum(not trial.solved for trial in self.trials),
        }
        for kind in ("wall", "cpu", "search", "steps"):
            values = [getattr(trial, kind) for trial in self.trials]
            result[f"{kind}_mean"] = sum(values) / len(values)
            result[f"{kind}_standard_error"] = standard_error(values)
        return result


def standard_error(values: list[float]) -> float | None:
    """Of the mean; unknown from a single trial."""
    if len(values) < 2:
        return None
    mean = sum(values) / len(values)
    return math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1) / len(values))


def program_table(
    trials: int,
    *,
    timeout: float = 10.0,
    seed: int = 0,
    programs: tuple[str, ...] = PAPER,
    methods: tuple[str, ...] = METHODS,
    fleet: Fleet | None = None,
    log: Path | None = None,
    step: Callable[[], None] = lambda: None,
) -> list[Cell]:
    """Prove every program with every method, `trials` times with different seeds.

    Trials of different methods are interleaved in random order, so that a busy machine slows all
    of them alike. With a `log`, finished trials are kept there, a line each, and not repeated.
    """
    runs = [
        (name, method, seed + number)
        for number in range(trials)
        for name in programs
        for method in methods
    ]
    known = {trial[:3]: trial for trial in _read(log)}
    found = [known[run] for run in runs if run in known]
    missing = [run for run in runs if run not in known]
    random.Random(seed).shuffle(missing)
    for _ in found:
        step()
    chunks = [missing[i : i + _CHUNK] for i in range(0, len(missing), _CHUNK)]
    for _, some in finished(fleet, partial(attempt, timeout=timeout), chunks):
        found += some
        if log is not None:
            with log.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(trial._asdict()) + "\n" for trial in some)
        for _ in some:
            step()
    return [
        Cell(name, method, tuple(t for t in found if t[:2] == (name, method)))
        for name in programs
        for method in methods
    ]


Run = tuple[str, str, int]


def attempt(runs: Iterable[Run], timeout: float) -> list[Trial]:
    """Verify the named programs, each with its method and seed."""
    found = []
    for name, method, seed in runs:
        program = _warm(name, method)
        before = time.process_time()
        verdict = verify(program, method=method, timeout=timeout, seed=seed)
        cpu = time.process_time() - before
        search, solved = (verdict.search_seconds, verdict.steps), verdict.outcome is Outcome.SAFE
        found.append(Trial(name, method, seed, verdict.seconds, cpu, *search, solved))
    return found


@cache
def _warm(name: str, method: str) -> Program:
    """The program, verified once so that compiling and loading are not timed."""
    program = parse_program(example(name), file=f"{name}.c")
    verify(program, method=method)
    return program


def _read(log: Path | None) -> Iterator[Trial]:
    """The finished trials; a line that was cut off is left out."""
    if log is None or not log.exists():
        return
    for line in log.read_text(encoding="utf-8").splitlines():
        try:
            yield Trial(**json.loads(line))
        except (ValueError, TypeError):
            continue


def peer_table(
    *,
    timeout: float = 10.0,
    programs: tuple[str, ...] = PAPER,
    step: Callable[[], None] = lambda: None,
) -> list[dict[str, Any]]:
    """The same programs for Spacer and cvc5, once each (they are not random)."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in programs:
            path = Path(folder) / f"{name}.c"
            path.write_text(example(name), encoding="utf-8")
            for peer in PEERS:
                answer = ask_peer(peer, path, timeout)
                rows.append(
                    {
                        "program": name,
                        "tool": peer,
                        "result": answer.result,
                        "seconds": answer.seconds,
                    }
                )
                step()
    return rows
