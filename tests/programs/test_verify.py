"""The loop: verdicts, methods, seeds, limits, threads."""

import functools
import random
import threading
import time

import pytest

from doeblin._errors import InputError
from doeblin.programs import Asked, Outcome, parse_program, verify
from doeblin.programs.examples import PAPER, example, names
from doeblin.programs.learner._compiling import load
from doeblin.programs.solve import Budget, OutOfTime, recheck
from doeblin.programs.system import Interpreter
from doeblin.programs.system.terms import TRUE, evaluate

UNSAFE = {"off_by_one"}
HARD = """int main() {
  int a = unknown(), b = unknown(), c = unknown(), s = 0;
  while (unknown()) { s = s + a * b - c; a = b * c; b = a + s; c = a * a; }
  assert(s * s != a * b * 7 + 1111);
}"""


@functools.cache
def judged(name, seed=0):
    """An example and its verdict, which several tests look at."""
    program = parse_program(example(name), file=f"{name}.c")
    return program, verify(program, seed=seed, timeout=30)


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.thorough)])
def test_examples(name, seed):
    _, verdict = judged(name, seed)
    assert verdict.outcome.value == ("UNSAFE" if name in UNSAFE else "SAFE"), verdict.reason


def dear(name, method):
    """What the search is compiled for is that of the test of listeners."""
    return method != "portfolio" and name != "fig1"


METHODS = [
    pytest.param(name, method, marks=pytest.mark.thorough if dear(name, method) else ())
    for method in ("two-stage", "one-stage", "zero-stage", "portfolio")
    for name in PAPER
]


@pytest.mark.parametrize(("name", "method"), METHODS)
def test_methods(name, method):
    verdict = verify(parse_program(example(name)), method=method, timeout=60)
    assert verdict.outcome is Outcome.SAFE and verdict.method == method, verdict.reason


@pytest.mark.parametrize("name", ["fig1", "cegar2", "tacas06"])
def test_spacer_is_rechecked_like_any_other(name):
    assert verify(parse_program(example(name)), method="spacer").outcome is Outcome.SAFE


@pytest.mark.parametrize("name", [*PAPER, "valve"])
def test_invariants_hold_on_concrete_runs(name):
    """Every claimed invariant, at every visit of its loop, on random inputs."""
    program, verdict = judged(name)
    assert program.graph is not None
    interpreter = Interpreter(program.graph)
    by_block = {invariant.block: invariant.formula for invariant in verdict.invariants}
    rng = random.Random(3)
    checked = 0
    for _ in range(40):
        run = interpreter.run(
            lambda havoc: max(havoc.low, min(havoc.high, rng.randint(-20, 60))),
            watch=list(by_block),
            limit=500,
        )
        assert run.outcome != "failed"
        for block, state in run.visits:
            values = dict(zip(interpreter.names, state, strict=True))
            assert evaluate(by_block[block], values)
            checked += 1
    assert checked > 40


def test_a_wrong_proof_is_refused():
    program = parse_program(example("cegar2"))
    with Budget(10) as budget:
        assert recheck(program.system, [TRUE], budget) is not None


@pytest.mark.parametrize(
    "text",
    [
        "int main() { int n = unknown(), i = 0, s = 0; assume(n >= 0);"
        " while (i < n) { i++; s += 2 * i - 1; } assert(s == n * n); }",
        "int main() { unsigned x = 0, y = unknown(); while (x < 99) { if (y % 2 == 0) x += 2;"
        " else x++; } assert(x % 2 == y % 2); }",
        "int main() { int x = 0; while (x < 268435455) { if (x < 65520) x++; else x += 2; }"
        " assert(x % 2 == 0); }",
        "int main() { int f = unknown(), j = 2, k = 0; while (unknown()) { if (f) j += 4;"
        " else { j += 2; k++; } } if (k != 0) assert(j == 2 * k + 2); }",
        "int main() { int n = unknown(), i, j, k; for (i = 0; i < n; i++) for (j = i; j < n; j++)"
        " for (k = j; k < n; k++) assert(k >= i); }",
        # Modes: which values occur together, and what holds in each.
        "int main() { int st = 0, starts = 0, stops = 0; for (;;) { int e = unknown();"
        " switch (st) { case 0: if (e == 1) { st = 1; starts++; } else if (e == 9) goto end; break;"
        " case 1: st = e > 0 ? 2 : 3; break; case 2: if (e == 2) st = 1; break;"
        " case 3: st = 0; stops++; break; default: assert(0); } assert(starts - stops <= 1); }"
        " end: assert(starts == stops); }",
        # A variable that never changes is a constant, and the product is linear.
        "int main() { int n = unknown(), d = 7, q = 0, r = n; assume(n >= 0); while (r >= d) {"
        " r -= d; q++; } assert(q * d + r == n); assert(q == n / 7); }",
    ],
)
def test_what_the_search_must_find(text):
    verdict = verify(parse_program(text), timeout=20)
    assert verdict.outcome is Outcome.SAFE, verdict.reason


@pytest.mark.parametrize(
    "text",
    [
        "int main() { int i = 0, x = 0; while (i < 60) { i++; if (i % 7 == 3) x += 2; }"
        " assert(x != 18); }",
        "int main() { int n = unknown(), i = 0; while (i < n) i++; assert(i < 3); }",
        "int main() { int x = unknown(), y = unknown(); if (x * 3 + y * 7 == 1234 && x > 100)"
        " assert(y < 0); }",
    ],
)
def test_failures_are_replayed(text):
    program = parse_program(text)
    verdict = verify(program, timeout=30)
    assert verdict.outcome is Outcome.UNSAFE, verdict.reason
    assert program.graph is not None
    values = iter([value for _, value in verdict.inputs])
    assert Interpreter(program.graph).run(lambda havoc: next(values)).outcome == "failed"


def test_hints_are_used_and_checked():
    text = """int main() { int a = 0, b = 0, c = 0, d = 0, n = unknown();
      while (n-- > 0) { a += 3; b += 5; c += 7; d = d + a + b - c; }
      assert(15 * a + 6 * b == 15 * c - 30 * a + 40 * b - 4 * c - 0 * d || a >= 0); }"""
    verdict = verify(parse_program(text), hints=["7 * a == 3 * c"], timeout=30)
    assert verdict.outcome is Outcome.SAFE
    with pytest.raises(InputError, match="fits no loop"):
        verify(parse_program(text), hints=["zz <= 1"])
    with pytest.raises(InputError, match="not a C condition"):
        verify(parse_program(text), hints=["a <="])


def test_time_limit():
    verdict = verify(parse_program(HARD), timeout=1.0)
    assert verdict.outcome is Outcome.UNKNOWN and "time limit of 1 s" in verdict.reason
    # By its own clock, which stands still while the engine is compiled.
    assert 1.0 <= verdict.seconds < 2.0


def test_listeners_hear_of_every_candidate():
    heard = []
    verdict = verify(parse_program(example("cegar2")), method="two-stage", on_event=heard.append)
    asked = [news for news in heard if isinstance(news, Asked)]
    assert [news.round for news in asked] == list(range(verdict.rounds + 1))
    assert [news.accepted for news in asked] == [False] * verdict.rounds + [True]
    assert asked[-1].restarts > 0 and asked[-1].reachable > 0
    assert asked[-1].steps == max(news.steps for news in asked)


def test_cancellation_does_not_wait_for_the_limit():
    cancel = threading.Event()
    box = []
    verify(parse_program(HARD), timeout=0.5)  # everything is loaded
    thread = threading.Thread(
        target=lambda: box.append(verify(parse_program(HARD), timeout=60, cancel=cancel))
    )
    thread.start()
    time.sleep(1.0)
    cancel.set()
    thread.join(10)  # of the 60 s that it may take
    assert not thread.is_alive()
    assert box[0].outcome is Outcome.UNKNOWN and box[0].reason == "cancelled"


def test_cancellation_does_not_wait_for_the_engine_to_load():
    begun, go_on = threading.Event(), threading.Event()

    def method():
        begun.set()
        go_on.wait()  # as long as a compiler may take
        raise ValueError("no such method")

    def tick():
        if begun.is_set():
            raise OutOfTime("cancelled")

    with pytest.raises(OutOfTime, match="cancelled"):
        load(method, tick)
    go_on.set()
    with pytest.raises(ValueError, match="no such method"):
        load(method, lambda: None)


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        ("unsigned x = 0xF0F0u, c = 0; while (x) { c += x & 1; x >>= 1; }"
         " assert(c == ANSWER);", 8, 7),
        (
            "unsigned x = 1; for (int i = 0; i < 8; i++) x = x & 1 ? (x >> 1) ^ 0xEDB88320u"
            " : x >> 1; assert(x == ANSWER);",
            "0x77073096u",
            "0x77073097u",
        ),
        ("int x = 27, n = 0; while (x != 1 && n < 40) { x = x % 2 ? 3 * x + 1 : x / 2; n++; }"
         " assert(x == ANSWER);", 445, 444),
    ],
)  # fmt: skip
def test_what_asks_for_nothing_is_known_by_its_states(text, right, wrong):
    for answer, outcome in ((right, Outcome.SAFE), (wrong, Outcome.UNSAFE)):
        program = parse_program(f"int main() {{ {text.replace('ANSWER', str(answer))} }}")
        assert verify(program, timeout=30).outcome is outcome


def test_threads_share_a_program():
    program = parse_program(example("tacas06"))
    results = []
    threads = [
        threading.Thread(target=lambda s=s: results.append(verify(program, seed=s, timeout=60)))
        for s in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [verdict.outcome for verdict in results] == [Outcome.SAFE] * 4


def test_large_programs_are_given_up_when_the_time_is_over():
    """Every part of the way asks for the time: making clauses, harvesting, gathering examples."""
    count = 1500
    text = (
        "int main() {"
        + "".join(f"int v{i} = {i};" for i in range(count))
        + "while (unknown()) {"
        + "".join(f"v{i} = v{(i + 1) % count};" for i in range(count))
        + "} assert(v0 >= 0); }"
    )
    verdict = verify(parse_program(text), timeout=1.0)
    assert verdict.outcome is Outcome.UNKNOWN and "time limit of 1 s" in verdict.reason
    assert verdict.seconds < 2.5


def test_deep_programs_are_read_without_deep_recursion():
    deep = "int main() { int x = 0; " + "if (x < 5) {" * 900 + "x++;" + "}" * 900 + " assert(x); }"
    assert verify(parse_program(deep), timeout=5.0).outcome in (Outcome.SAFE, Outcome.UNKNOWN)


@pytest.mark.parametrize(("option", "value"), [("method", "magic"), ("timeout", 0.0)])
def test_bad_options(option, value):
    with pytest.raises(InputError):
        verify(parse_program(example("fig1")), **{option: value})
    with pytest.raises(InputError, match="integer model"):
        parse_program("int main() {}", ints="short")  # type: ignore[arg-type]
