"""`verify`: the whole way from a program to a verdict."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Sequence
from pathlib import Path

from .._errors import InputError
from ._hints import read_hint
from ._program import Ints, Program, read_program
from ._tunables import LemmaTunables, Tunables
from .learner import METHODS, Listener
from .lemmas import CELL_STAGES, SOURCES
from .solve import Budget
from .strategies import POLYNOMIALS, Request, decide, vacuous
from .verdict import Outcome, Verdict


def without_sources(names: Sequence[str]) -> Tunables:
    """The tunables with some sources of lemmas switched off, to see what each of them is worth."""
    known = [*SOURCES, POLYNOMIALS, *(stage.name for stage in CELL_STAGES)]
    for name in names:
        if name not in known:
            raise InputError(f"unknown source of lemmas {name!r}: use one of {', '.join(known)}")
    return Tunables(lemmas=LemmaTunables(without=frozenset(names)))


def verify(
    program: Program | str | Path,
    *,
    timeout: float = 10.0,
    seed: int = 0,
    method: str = "default",
    hints: Sequence[str] = (),
    ints: Ints | None = None,
    on_event: Listener | None = None,
    cancel: threading.Event | None = None,
    spent: float = 0.0,
    allow_empty: bool = False,
    tunables: Tunables | None = None,
) -> Verdict:
    """Prove or refute a program within `timeout` seconds.

    SAFE is said only after a fresh solver confirmed every condition of the invariants on the
    program; UNSAFE only after the failure was replayed. `cancel` may be set from another thread;
    the verdict is then UNKNOWN within a tenth of a second. `on_event` hears of lemmas (`Note`) and
    of every candidate that the solver was asked about (`Asked`). `spent` seconds of the limit are
    used already, e.g. by reading the file. A program in which there is nothing to prove is UNKNOWN,
    unless `allow_empty`. `tunables` are for experiments. May be called from several threads.

    >>> from doeblin.programs import parse_program, verify
    >>> program = parse_program("int main() { int x = 0; while (x < 9) x++; assert(x == 9); }")
    >>> verify(program).outcome.value
    'SAFE'
    """
    if method not in METHODS:
        raise InputError(f"unknown method {method!r}: use one of {', '.join(METHODS)}")
    if not timeout > 0:
        raise InputError(f"the time limit must be positive, got {timeout}")
    for hint in hints:
        read_hint(hint)  # also where no hint is needed
    if not isinstance(program, Program):
        program = read_program(program, ints=ints or "c")
    remarks = program.remarks
    if remarks is not None and remarks.empty and not allow_empty:
        return Verdict(
            Outcome.UNKNOWN,
            program.file,
            remarks.warnings()[0],
            method=method,
            seed=seed,
            ints=program.ints,
            remarks=remarks,
        )
    with Budget(timeout, cancel, spent=spent) as budget:
        notify = on_event or (lambda news: None)
        request = Request(method, seed, tuple(hints), notify, tunables or Tunables())
        verdict = decide(program, budget, request)
        if empty := vacuous(program, verdict, budget):
            remark = f"{verdict.remark}; {empty}" if verdict.remark else empty
            verdict = dataclasses.replace(verdict, remark=remark)
    if remarks is not None and verdict.outcome is Outcome.SAFE:
        assumed = (*verdict.assumptions, *remarks.assumed())
        verdict = dataclasses.replace(verdict, assumptions=assumed)
    return dataclasses.replace(verdict, remarks=remarks)
