"""The paper's table on programs: how long each chain takes to find the invariants."""

from __future__ import annotations

import math
import random
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..programs import Outcome, parse_program, verify
from ..programs._peers import PEERS, ask_peer
from ..programs.examples import PAPER, example

METHODS = ("zero-stage", "one-stage", "two-stage", "default")


@dataclass(frozen=True)
class Cell:
    """Seconds over the trials of one program and method.

    `unsolved` trials reached the limit and count with it, so that their mean is a lower bound.
    """

    program: str
    method: str
    wall: tuple[float, ...]
    search: tuple[float, ...]
    unsolved: int

    def as_dict(self) -> dict[str, Any]:
        return {
            "program": self.program,
            "method": self.method,
            "trials": len(self.wall),
            "unsolved": self.unsolved,
            "wall_mean": mean(self.wall),
            "wall_standard_error": standard_error(self.wall),
            "search_mean": mean(self.search),
            "search_standard_error": standard_error(self.search),
        }


def mean(values: tuple[float, ...]) -> float:
    return sum(values) / len(values)


def standard_error(values: tuple[float, ...]) -> float | None:
    """Of the mean; unknown from a single trial."""
    if len(values) < 2:
        return None
    centre = mean(values)
    return math.sqrt(sum((v - centre) ** 2 for v in values) / (len(values) - 1) / len(values))


def program_table(
    trials: int,
    *,
    timeout: float = 10.0,
    seed: int = 0,
    programs: tuple[str, ...] = PAPER,
    methods: tuple[str, ...] = METHODS,
    step: Callable[[], None] = lambda: None,
) -> list[Cell]:
    """Prove every program with every method, `trials` times with different seeds.

    Trials of different methods are interleaved in random order, so that a busy machine slows all
    of them alike.
    """
    parsed = {name: parse_program(example(name), file=f"{name}.c") for name in programs}
    for name in programs:
        for method in methods:  # compile and load before anything is timed
            verify(parsed[name], method=method, timeout=timeout, seed=seed)
    runs = [(name, method, t) for t in range(trials) for name in programs for method in methods]
    random.Random(seed).shuffle(runs)
    found: dict[tuple[str, str], list[tuple[float, float, bool]]] = {}
    for name, method, trial in runs:
        verdict = verify(parsed[name], method=method, timeout=timeout, seed=seed + trial)
        found.setdefault((name, method), []).append(
            (verdict.seconds, verdict.search_seconds, verdict.outcome is Outcome.SAFE)
        )
        step()
    return [
        Cell(
            name,
            method,
            tuple(wall for wall, _, _ in rows),
            tuple(search for _, search, _ in rows),
            sum(not solved for _, _, solved in rows),
        )
        for (name, method), rows in sorted(
            found.items(), key=lambda item: (programs.index(item[0][0]), methods.index(item[0][1]))
        )
    ]


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
