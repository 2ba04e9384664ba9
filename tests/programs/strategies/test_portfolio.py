"""Strategies take turns, and what does not count."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import replace

import pytest
import z3

from doeblin.programs import Outcome, Tunables, parse_program, verify
from doeblin.programs.examples import example
from doeblin.programs.solve import SECOND, Budget, OutOfTime, Pause
from doeblin.programs.strategies import Portfolio


class Stuck:
    """A strategy that finds nothing, and lets others have a turn."""

    def run(self):
        yield Pause.NOTHING
        return None


@pytest.fixture
def stuck(monkeypatch):
    """Nothing is found, and Spacer is asked at once."""
    monkeypatch.setattr(Portfolio, "_plan", lambda self, knowledge: iter([Stuck()]))
    defaults = Tunables()
    return replace(defaults, shares=replace(defaults.shares, spacer=((0, 10 * SECOND),)))


def test_the_default_asks_spacer_and_says_so(stuck):
    verdict = verify(parse_program(example("fig1")), timeout=30, tunables=stuck)
    assert verdict.outcome is Outcome.SAFE
    assert verdict.found_by == "Spacer" and verdict.method == "default"


@pytest.mark.parametrize("method", ["two-stage", "one-stage", "zero-stage"])
def test_the_chains_of_the_paper_are_on_their_own(stuck, method):
    verdict = verify(parse_program(example("fig1")), timeout=30, method=method, tunables=stuck)
    assert verdict.outcome is Outcome.UNKNOWN


def test_the_limit_waits_for_what_is_excused():
    with Budget(0.2) as budget:
        with budget.excused(least=0.1):
            time.sleep(0.3)
            budget.tick()
        assert budget.left > 0.1 and budget.seconds < 0.1
        with budget.part(1).excused(least=0.1):
            time.sleep(0.3)
        assert budget.left > 0.1
        with budget.excused(least=10.0):
            time.sleep(0.3)
        with pytest.raises(OutOfTime):
            budget.tick()


def test_a_part_of_the_work_ends_alone():
    with Budget(60) as budget:
        part = budget.part(10)
        part.spend(9)
        part.tick()
        inner = part.part(5)
        assert inner.allowed == 1
        inner.spend(2)
        assert part.work == budget.work == 11
        for over in (inner, part):
            assert over.allowed <= 3
        with pytest.raises(OutOfTime):
            part.tick()
        budget.tick()


def test_the_solvers_steps_are_counted_and_limited():
    with Budget(60) as budget:
        solver = budget.solver(budget.context())
        x, y, z = z3.Ints("x y z", solver.ctx)
        solver.add(x * x * x + y * y * y + z * z * z == 114, x > y)
        assert budget.ask(solver, 2000) == "unknown"
        assert 2000 <= budget.work <= 4000
        solver.reset()
        solver.add(x > 3)
        assert budget.ask(solver) == "sat"


def test_a_solver_that_prints_is_not_heard():
    script = (
        "import os, sys; from doeblin.programs.process import prepare_process; prepare_process();"
        "os.write(2, b'foreign'); print('own', file=sys.stderr)"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)
    assert run.stderr.split() == ["own"]
