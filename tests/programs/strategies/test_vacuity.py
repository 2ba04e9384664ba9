"""A proof that is about no run at all says so, and no other does."""

import json

import pytest

from doeblin.cli import main
from doeblin.programs import Outcome, parse_program, verify

BLAMED = "no run reaches a property: the assumptions exclude all of them"
HEAD = "extern int unknown(void); extern void assume(int);\n"
LOOP = "int i = 0; while (i < 10) i++;"
NOTHING = [
    "int main() { int x = unknown(); assume(x > 3); assume(x < 3); assert(0); }",
    "int main() { assume(0); assert(0); }",
    f"int main() {{ {LOOP} assume(i < 5); assert(i == 3); }}",  # only the invariant tells
    f"int main() {{ int x = unknown(); assume(x * 2 == 7); {LOOP} assert(i == x); }}",
    "int main() { int x = unknown(); if (x > 0) { assume(x < 0); assert(0); } else"
    " { assume(x > 9); assert(x == 5); } }",
    "int main() { int x = unknown(); assume(x == 0 && x == 1); return 7 / x; }",
    "int g = 4;\n/*@ requires g == 5; */\nint main() { /*@ assert 0 == 1; */ }",
    "int main() { /*@ admit 0 == 1; */ assert(unknown()); }",
]
SOMETHING = [
    "int main() { int x = unknown(); assume(x > 3); assert(x > 2); }",
    "int main() { int x = unknown(); assume(x > 3); if (x == 777) assert(x != 12); }",
    "int main() { int x = unknown(); assert(x == x); assume(x > 3); assume(x < 3); assert(0); }",
    "int main() { int x = unknown(); if (x == 98765) { assert(x > 5); } assume(0); assert(0); }",
    f"int main() {{ {LOOP} assume(i > 5); assert(i == 10); }}",
    "int main() { int x = unknown(); assume(x > 3); assert(1); }",
    "int main() { int x = unknown(); assume(x > 3 && x < 3 || x == 50021); assert(x == 50021); }",
    "int main() { int n = unknown(), i = 0; assume(n > 400); while (i < n) i++; assert(i == n); }",
    "int main() { if (0) assert(0); int x = unknown(); if (x != x) assert(0); return x; }",
    "/*@ requires x > 0; */\nint main(int x) { /*@ assert x > 0; */ }",
]


@pytest.mark.parametrize("text", NOTHING)
def test_assumptions_that_contradict_each_other(text):
    verdict = verify(parse_program(HEAD + text), timeout=30)
    assert verdict.outcome is Outcome.SAFE and BLAMED in verdict.remark


@pytest.mark.parametrize("text", SOMETHING)
def test_runs_that_reach_a_property(text):
    verdict = verify(parse_program(HEAD + text), timeout=30)
    assert verdict.outcome is Outcome.SAFE and "no run" not in verdict.remark


def test_conditions_that_contradict_each_other_are_not_blamed_on_assumptions():
    text = "int main() { int c = 0, n = unknown(); assume(n); if (c < 0) if (n < c) assert(0); }"
    assert verify(parse_program(HEAD + text)).remark == "no run reaches a property"


def test_the_command_says_both(tmp_path, capsys):
    """Also that what `main` requires is assumed."""
    path = tmp_path / "p.c"
    path.write_text(NOTHING[-2])
    for options in ((), ("--json",)):
        with pytest.raises(SystemExit) as end:
            main(["verify", str(path), *options])
        out = capsys.readouterr().out
        assert end.value.code == 0 and BLAMED in out
        assert "assuming the precondition of 'main'" in out or options
    found = json.loads(out)
    assert found["assumptions"] == ["the precondition of 'main'"] and found["remark"] == BLAMED
