"""Two ways to a verdict at once, in two threads."""

from __future__ import annotations

import threading
from collections.abc import Callable

import z3

from ._verdict import Outcome, Verdict
from .proof import Clock, OutOfTime


def race(
    clock: Clock, mine: Callable[[Clock], Verdict], rival: Callable[[Clock], Verdict]
) -> Verdict | None:
    """The verdict of whichever decides first, which stops the other; `rival` has its own thread.

    Where neither decides, mine, or None if it was cut short. Raises when time is up.
    """
    decided, over = threading.Event(), threading.Event()
    theirs: list[Verdict] = []

    def other() -> None:
        with Clock(clock.left, over) as own:
            verdict = rival(own)
        if verdict.outcome is not Outcome.UNKNOWN:
            theirs.append(verdict)
            decided.set()

    thread = threading.Thread(target=other, daemon=True)
    thread.start()
    verdict = None
    try:
        with clock.part(clock.left, decided) as own:
            try:
                verdict = mine(own)
            except OutOfTime:
                if not theirs:
                    clock.tick()
            except z3.Z3Exception:
                # The rival's success interrupts the solver, in whatever call it is.
                if not theirs:
                    raise
    finally:
        over.set()
        thread.join()
    if theirs and (verdict is None or verdict.outcome is Outcome.UNKNOWN):
        return theirs[0]
    return verdict
