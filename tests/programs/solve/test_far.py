"""Failures that are far away: compiled runs, loops taken many times at once, long replays."""

import random
from itertools import product

import pytest
import yaml

from doeblin.programs import Outcome, parse_program, verify
from doeblin.programs.output import driver, trace, witness
from doeblin.programs.solve import Budget, Path, accelerate, replay_graph
from doeblin.programs.system import fast as long_runs
from doeblin.programs.system.fast import Fast
from doeblin.programs.system.terms import evaluate

from ..program_generator import Generator


@pytest.fixture(params=[0, 700, 1 << 60], ids=["compiled", "both", "plain"])
def engine(request, monkeypatch):
    """How many blocks run in Python before the loop is compiled."""
    monkeypatch.setattr(long_runs, "_PLAIN", request.param)
    monkeypatch.setattr(long_runs, "_plain_blocks", 0)


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("ints", ["c", "math", "overflow"])
def test_compiled_runs_agree_with_the_interpreter(ints):
    """On random programs and inputs: the same end, the same inputs taken, the same last state."""
    compared = 0
    for seed in range(30):
        program = parse_program(Generator(seed).program().text, ints=ints)
        assert program.interpreter is not None and program.graph is not None
        fast = Fast(program.graph)
        for case in range(3):
            rng = random.Random(100 * seed + case)
            values = [rng.choice((0, 1, -1, 7, rng.randint(-300, 300))) for _ in range(2500)]

            def clamped(havoc, given):
                return min(max(next(given), havoc.low), havoc.high)

            given = iter(values)
            slow = program.interpreter.run(lambda h, g=given: clamped(h, g), limit=1500)
            if slow.outcome == "cut":
                continue
            given = iter(values)
            run = fast.run(lambda h, arrivals, g=given: clamped(h, g), limit=10_000)
            if run.outcome == "left" and ints != "overflow":
                continue  # numbers that no machine has
            assert (run.outcome, run.failure) == (slow.outcome, slow.failure), seed
            assert run.inputs == slow.inputs, seed
            compared += 1
    assert compared > 50


@pytest.mark.usefixtures("engine")
def test_a_compiled_run_goes_on_where_it_stopped():
    program = parse_program("int main() { int x = 0; while (x < 9000) x += 3; assert(x != 9000); }")
    assert program.graph is not None
    fast = Fast(program.graph)
    whole = fast.run(lambda havoc, arrivals: 0, limit=100_000)
    half = fast.run(lambda havoc, arrivals: 0, limit=1000)
    rest = fast.run(lambda havoc, arrivals: 0, limit=100_000, initial=half.state, block=half.block)
    assert half.outcome == "cut" and rest.outcome == whole.outcome == "failed"
    assert half.blocks + rest.blocks == whole.blocks and rest.state == whole.state


@pytest.mark.usefixtures("engine")
def test_numbers_too_large_end_a_compiled_run():
    text = "int main() { long x = 3; while (1) x = x * x; assert(x); }"
    program = parse_program(text)
    assert program.graph is not None
    assert Fast(program.graph).run(lambda havoc, arrivals: 0, limit=1000).outcome == "left"


def test_many_turns_at_once_are_those_turns_one_by_one():
    text = """int main() { int n = unknown(), i = 0, s = 0, t = 0, last = 0;
      while (i < n) { last = i; if (i < 50) s += 2; else { t += 3; s--; } i++; }
      assert(s + t + last != 77); }"""
    system = parse_program(text).system
    with Budget(20) as budget:
        found = accelerate(system, budget)
        assert len(found.base) == 2  # a way for each branch
        checked = 0
        rng = random.Random(5)
        for index, base in found.base.items():
            long, short = found.system.clauses[index], system.clauses[base]
            names = system.cuts[0].variables
            for _ in range(300):
                state = {name: rng.randint(-5, 90) for name in names}
                turns = rng.randint(2, 12)
                values = state | dict.fromkeys(short.names(), 0) | {long.turns: turns}
                if not evaluate(long.constraint, values):
                    continue
                now = dict(state)
                for _ in range(turns):
                    assert evaluate(short.constraint, now)
                    new = [evaluate(arg, now) for arg in short.args]
                    now = dict(zip(names, new, strict=True))
                assert now == dict(
                    zip(names, (evaluate(arg, values) for arg in long.args), strict=True)
                )
                checked += 1
        assert checked > 40


@pytest.mark.parametrize(
    "text",
    [
        "int main() { int x = 0; while (x < 1000000) x++; assert(x != 1000000); }",
        "int main() { unsigned x = 0, y = 0; while (x < 400000) { if (x < 200000) y++; else y--;"
        " x++; } assert(y != 0); }",
        "int main() { int n = unknown(), i = 0, s = 0; assume(n >= 0 && n <= 100000);"
        " while (i < n) { s += 3; i++; } assert(s != 3 * 31337); }",
        # A billion turns that read nothing: not one of them may be counted out.
        "int main() { unsigned i = 0; while (i != 1) i += 3; assert(i != 1); }",
        # Too long to be shown in full, but compiled it takes fewer blocks than that.
        pytest.param(
            "int main() { int i, j, s = 0; for (i = 0; i < 200; i++) for (j = 0; j < 200; j++)"
            " { if (unknown() < 2147483647) s++; assert(s < 25000); } }",
            marks=pytest.mark.thorough,
        ),
    ],
)
def test_failures_after_very_many_steps(text):
    program = parse_program(text, file="far.c")
    verdict = verify(program, timeout=60)
    assert verdict.outcome is Outcome.UNSAFE, verdict.reason
    assert verdict.failure is not None and verdict.failure.run is not None
    lines = trace(program, verdict)
    long = verdict.failure.run.gap is not None
    assert any("steps are not shown" in line for line in lines) == long
    assert len(lines) < 200_000 and lines[-1].endswith("assertion")
    # Tens of thousands of inputs: the loader in Python would take most of a minute.
    assert yaml.load(witness(program, verdict), Loader=yaml.CSafeLoader)
    assert "doeblin_inputs" in driver(program, verdict)


FAR = """int main(void) { int x = 0, y = 9;
  while (unknown()) { x = x + 10; y = y + 10; }
  if (x == 20) assert(y != 0); }"""


def test_failures_after_more_inputs_than_can_be_listed(tmp_path):
    """Two hundred million inputs, by their law; the sanitizer agrees where it overflows."""
    program = parse_program(FAR, file="far.c", ints="overflow")
    verdict = verify(program, timeout=60)
    assert verdict.outcome is Outcome.UNSAFE, verdict.reason
    assert verdict.reason == "undefined behaviour: signed overflow at far.c:2:39"
    found = verdict.as_dict()
    assert len(found["inputs"]) <= 1000
    assert sum(part["times"] * len(part["inputs"]) for part in found["inputs_law"]) > 1 << 27
    assert len(driver(program, verdict)) < 5000 and len(witness(program, verdict)) < 1 << 20
    assert any("steps are not shown" in line for line in trace(program, verdict))


def test_a_leap_that_the_program_does_not_take_is_no_replay():
    program = parse_program(FAR, ints="overflow")
    assert program.interpreter is not None
    system = program.system
    with Budget(60) as budget:
        wide, base = accelerate(system, budget)
    start = next(i for i, c in enumerate(system.clauses) if c.source is None)
    end = next(i for i, c in enumerate(system.clauses) if c.target is None and c.source is not None)
    possible = 0
    for number, turns in product(base, (150_000, 1 << 29)):  # too few to overflow, and too many
        leap = wide.clauses[number]
        for given in (-1, 1):
            values = dict.fromkeys(leap.names(), given) | {"x": 0, "y": 9}
            steps = ((start, {}), (base[number], values), (end, values))
            path = Path(steps, turns=(1, turns, 1), leaps=(None, leap, None))
            assert replay_graph(program.graph, program.interpreter, system, path) is None
            possible += bool(evaluate(leap.constraint, values | {leap.turns: turns}))
    assert possible
