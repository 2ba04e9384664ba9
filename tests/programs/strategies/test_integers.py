"""Unsigned arithmetic wraps around in C, and a proof in other integers must not hide a failure."""

from __future__ import annotations

import shutil
import subprocess
import threading

import pytest

from doeblin.programs import Outcome, parse_program, verify
from doeblin.programs.output import driver, trace
from doeblin.programs.strategies._integers import InC

COMPILER = shutil.which("cc")

FAILING = {
    "successor": "int main() { unsigned x = unknown_uint(); unsigned y = x + 1; assert(y > x); }",
    "middle": """int main() {
  unsigned low = unknown_uint(), high = unknown_uint();
  assume(low <= high);
  while (low < high) {
    unsigned middle = (low + high) / 2;
    assert(low <= middle && middle < high);
    if (unknown_int()) high = middle; else low = middle + 1;
  }
}""",
    "product": "int main() { unsigned x = unknown_uint(); if (x > 0) assert(3 * x > 2); }",
}
HOLDING = [
    "int main() { unsigned n = unknown_uint(), i = 0; while (i < n) i++; assert(i == n); }",
    "int main() { unsigned x = 0; while (unknown_int()) x += 2; assert(x % 2 == 0); }",
    "int main() { unsigned x = 0; while (unknown_int()) x++; assert(x >= 0); }",
]


def parsed(text: str):
    head = "extern unsigned unknown_uint(void); extern int unknown_int(void);\n"
    return parse_program(head + text, file="p.c")


@pytest.mark.parametrize("name", FAILING)
def test_failures_by_wrapping_around_are_found(tmp_path, name):
    program = parsed(FAILING[name])
    verdict = verify(program, timeout=30)
    assert verdict.outcome is Outcome.UNSAFE
    assert trace(program, verdict)[-1].endswith("assertion")
    if COMPILER is not None:  # the machine has the last word
        source, binary = tmp_path / "t.c", tmp_path / "t"
        source.write_text(driver(program, verdict))
        subprocess.run([COMPILER, "-std=gnu11", "-w", "-o", binary, source], check=True)
        answer = subprocess.run([binary], timeout=20, check=False, capture_output=True, text=True)
        assert answer.returncode == 1 and "violated" in answer.stderr


@pytest.mark.parametrize("text", HOLDING)
def test_what_holds_in_spite_of_it_is_safe(text):
    verdict = verify(parsed(text), timeout=30)
    assert verdict.outcome is Outcome.SAFE


def test_no_assumption_where_nothing_signed_is_computed():
    for text in HOLDING:
        verdict = verify(parsed(text), timeout=30)
        assert verdict.assumptions == () and verdict.ints == "c"


@pytest.mark.parametrize(
    ("text", "assumed"),
    [
        ("int main() { int x = 0; while (x < 9) x++; assert(x == 9); }", False),
        ("int main() { int n = unknown_int(), i = 0; while (i < n) i++; assert(i >= n); }", False),
        ("int main() { int x = 0; while (unknown_int()) x++; assert(x >= 0); }", True),
        ("int main() { int x = unknown_int(), y = x + 1; assert(y > x); }", True),
        ("int main() { int x = unknown_int(), y = x + x; assert(y <= 2147483647); }", True),
        ("int main() { long x = unknown_int(); assert(x * x >= 0); }", False),
    ],
)
def test_signed_overflow_is_assumed_away_only_where_it_is_not_excluded(text, assumed):
    verdict = verify(parsed(text), timeout=30)
    assert verdict.outcome is Outcome.SAFE, verdict.reason
    assert verdict.assumptions == (("no signed overflow",) if assumed else ())
    assert verdict.as_dict()["assumptions"] == list(verdict.assumptions)
    strict = verify(parse_program(parsed(text).text, ints="overflow"), timeout=20)
    assert strict.outcome is not (Outcome.SAFE if assumed else Outcome.UNSAFE)


def test_a_run_that_overflows_is_no_failure():
    text = "int main() { int x = unknown_int(), y = x + 1; if (x == 2147483647) assert(y < x); }"
    verdict = verify(parsed(text), timeout=30)
    assert verdict.outcome is not Outcome.UNSAFE


SOME = "int x = 2147483647 - (unknown() > 0);"


@pytest.mark.parametrize(
    ("first", "said"),
    [("int x = 2147483647;", "every run ends in"), (SOME, "possible")],
)
def test_an_overflow_on_every_run_is_told_from_one_on_some(first, said):
    """Of a program without other runs the proof says nothing, and the remark tells."""
    text = f"int unknown(void); int main(void) {{ {first} x = x + 1; assert(x < 2147483648L); }}"
    verdict = verify(parse_program(text, file="f.c"), timeout=5)
    assert verdict.outcome is Outcome.SAFE and verdict.assumptions
    assert said in verdict.remark and "f.c:1:" in verdict.remark, verdict.remark


def test_what_holds_for_mathematical_integers_only_is_a_remark():
    """A hash is never below its start, unless it wraps around, which no short run shows."""
    text = """int main() { unsigned h = 5381, i = 0;
      while (i < 100) { h = h * 33 + 1; i++; assert(h > 5000); } }"""
    verdict = verify(parsed(text), timeout=3)
    assert verdict.outcome is Outcome.UNKNOWN
    assert verdict.remark == verdict.as_dict()["remark"] == "holds for mathematical integers"


@pytest.mark.parametrize("raises", [True, False])
def test_what_the_clock_ended_is_said(monkeypatch, raises):
    """The weaker proof stands; that there was no time for the stronger one is its remark, whether
    the end came as an exception or inside a question that then had no answer."""
    cancel = threading.Event()

    def slow(self, strict, verdict, budget):
        cancel.set()
        if raises:
            budget.tick()

    monkeypatch.setattr(InC, "_without_overflow", slow)
    text = "int main() { int x = 0; while (x < 9) x++; assert(x == 9); }"
    verdict = verify(parse_program(text), cancel=cancel)
    assert verdict.outcome is Outcome.SAFE and verdict.assumptions == ("no signed overflow",)
    assert verdict.remark == "stopped before signed overflow could be excluded"
    monkeypatch.undo()
    assert verify(parse_program(text)).assumptions == ()
