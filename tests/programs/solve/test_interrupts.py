"""Ctrl-C is Python's: a solver that takes it for itself lets the program go on."""

from __future__ import annotations

import os
import signal
import threading

import pytest
import z3

from doeblin.programs.solve import Budget, solving


@pytest.mark.parametrize("kind", ["incremental", "solving", "solving reals"])
def test_a_busy_solver_leaves_the_signal_to_python(kind: str):
    budget = Budget(60)
    context = budget.context()
    if kind == "incremental":
        solver = budget.solver(context)
    else:
        solver = solving(context, reals="reals" in kind)
    x, y, z = z3.Ints("x y z", context)
    bounds = [z3.And(v > 1, v < 10**6) for v in (x, y, z)]
    solver.add(*bounds, x * x * x + y * y * y == z * z * z)  # none, by Fermat; no solver knows
    solver.set("timeout", 1500)
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    timer = threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        assert solver.check() == z3.unknown
        timer.join()
        assert heard == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)
