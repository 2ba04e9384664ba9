"""What an attempt shares its time with, and what does not count."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
import z3

from doeblin.programs import Outcome, _attempt, parse_program, verify
from doeblin.programs.examples import example
from doeblin.programs.learner import Learner
from doeblin.programs.proof import SECOND, Clock, OutOfTime


@pytest.fixture
def stuck(monkeypatch):
    """A learner that finds nothing, and Spacer asked at once."""
    monkeypatch.setattr(_attempt, "_SPACER", {"default": ((0, 10 * SECOND),)})
    monkeypatch.setattr(Learner, "run", lambda self: self.aside())


@pytest.mark.usefixtures("stuck")
def test_the_default_asks_spacer_and_says_so():
    verdict = verify(parse_program(example("fig1")), timeout=30)
    assert verdict.outcome is Outcome.SAFE
    assert verdict.found_by == "Spacer" and verdict.method == "default"


@pytest.mark.usefixtures("stuck")
@pytest.mark.parametrize("method", ["two-stage", "one-stage", "zero-stage"])
def test_the_chains_of_the_paper_are_on_their_own(method):
    verdict = verify(parse_program(example("fig1")), timeout=30, method=method)
    assert verdict.outcome is Outcome.UNKNOWN


def test_the_limit_waits_for_what_is_excused():
    with Clock(0.2) as clock:
        with clock.excused(least=0.1):
            time.sleep(0.3)
            clock.tick()
        assert clock.left > 0.1 and clock.seconds < 0.1
        with clock.part(1).excused(least=0.1):
            time.sleep(0.3)
        assert clock.left > 0.1
        with clock.excused(least=10.0):
            time.sleep(0.3)
        with pytest.raises(OutOfTime):
            clock.tick()


def test_a_part_of_the_work_ends_alone():
    with Clock(60) as clock:
        part = clock.part(10)
        part.spend(9)
        part.tick()
        inner = part.part(5)
        assert inner.allowed == 1
        inner.spend(2)
        assert part.work == clock.work == 11
        for over in (inner, part):
            assert over.allowed <= 3
        with pytest.raises(OutOfTime):
            part.tick()
        clock.tick()


def test_the_solvers_steps_are_counted_and_limited():
    with Clock(60) as clock:
        solver = clock.solver(clock.context())
        x, y, z = z3.Ints("x y z", solver.ctx)
        solver.add(x * x * x + y * y * y + z * z * z == 114, x > y)
        assert clock.ask(solver, 2000) == "unknown"
        assert 2000 <= clock.work <= 4000
        solver.reset()
        solver.add(x > 3)
        assert clock.ask(solver) == "sat"


def test_a_solver_that_prints_is_not_heard():
    script = (
        "import os, sys; from doeblin.programs._batch import prepare_process; prepare_process();"
        "os.write(2, b'foreign'); print('own', file=sys.stderr)"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)
    assert run.stderr.split() == ["own"]
