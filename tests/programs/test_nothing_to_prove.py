"""Nothing to prove is no proof: what was checked is said, and what was missing."""

import json

import pytest

from doeblin.cli import main
from doeblin.programs import Outcome, parse_program, verify

EMPTY = {
    "misspelt": "int main() { int x = 3; asert(x == 4); }",
    "missing header": '#include "check.h"\nint main() { int x = 3; CHECK(x == 4); }',
    "no body": "void check(int);\nint main() { int x = 3; check(x == 4); }",
    "no assertion": "int main() { int x = 3; x++; return x; }",
    "no main": "int f(int x) { return x + 1; }",
    "never called": "void test(void) { assert(0); }\nint main() { return 0; }",
    "says nothing": "void assert(int c) { }\nint main() { assert(0); }",
    "says nothing as a macro": "#define assert(c)\nint main() { assert(0); }",
    "switched off": "#define NDEBUG\n#include <assert.h>\nint main() { assert(0); }",
    "under sizeof": "int f(void);\nint main() { return sizeof(1 / f()); }",
    "a plain comment": "int main() { int x = 3; // @ assert x == 4;\n }",
}


@pytest.mark.parametrize("name", EMPTY)
def test_is_not_safe(name):
    verdict = verify(parse_program(EMPTY[name], file="p.c"))
    assert verdict.outcome is Outcome.UNKNOWN and verdict.nothing_to_prove
    assert verdict.reason.startswith("nothing to prove")
    assert verdict.as_dict()["checked"] == {"properties": 0, "undefined": 0}
    assert verdict.as_dict()["warnings"][0] == verdict.reason
    allowed = verify(parse_program(EMPTY[name], file="p.c"), allow_empty=True)
    assert allowed.outcome is Outcome.SAFE and allowed.nothing_to_prove


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as end:
        main(["verify", *map(str, arguments)])
    return end.value.code, capsys.readouterr().out


def test_the_command_says_so(capsys, tmp_path):
    path = tmp_path / "p.c"
    path.write_text(EMPTY["missing header"])
    status, out = run(capsys, path)
    assert status == 2
    assert out.startswith(f"NOTHING TO PROVE  {path}\n  nothing to prove:")
    assert f"the header 'check.h' was not found at {path}:1:1" in out
    assert f"the function 'CHECK' has no body at {path}:2:25" in out
    status, out = run(capsys, path, "--json")
    found = json.loads(out)
    assert status == 2 and found["verdict"] == "UNKNOWN"
    assert found["without_body"] == ["CHECK"] and found["headers_not_found"] == ["check.h"]
    status, out = run(capsys, path, "--allow-empty", "--json")
    assert status == 0 and "nothing to prove" in json.loads(out)["warnings"][0]


@pytest.mark.parametrize(
    ("text", "checked"),
    [
        ("int main() { int x = 3; assert(x); assert(x > 2); }", "2 properties"),
        ("int f(int x) { assert(x); return 0; }\nint main() { f(1); f(2); }", "1 property"),
        (
            "int unknown(void);\nint main() { int x = unknown(); if (x) x = 1 / x; assert(1); }",
            "1 property and undefined behaviour at 1 place",
        ),
    ],
)
def test_how_much_was_checked(text, checked):
    verdict = verify(parse_program(text))
    assert verdict.outcome is Outcome.SAFE and verdict.remarks is not None
    assert verdict.remarks.checked() == checked


def test_only_undefined_behaviour():
    text = "int unknown(void);\nint main() { int x = unknown(); return x ? 1 / x : 0; }"
    verdict = verify(parse_program(text))
    assert verdict.outcome is Outcome.SAFE
    assert verdict.as_dict()["warnings"] == ["no assertion: only undefined behaviour was checked"]


def test_horn_clauses_always_ask_something():
    text = "(set-logic HORN)(declare-fun p (Int) Bool)(assert (p 0))(check-sat)"
    verdict = verify(parse_program(text, language="horn"))
    assert verdict.outcome is Outcome.SAFE and not verdict.nothing_to_prove
    assert verdict.as_dict()["warnings"] == [
        "no clause has the conclusion false: any such clauses are SAFE"
    ]


def test_only_main_has_arguments_that_are_counted():
    text = "int {}(int count) {{ assert(count >= 0); return 0; }}"
    outcomes = [
        verify(parse_program(text.format(name), file="p.c")).outcome for name in ("main", "start")
    ]
    assert outcomes == [Outcome.SAFE, Outcome.UNSAFE]


def test_what_is_taken_of_a_function_without_a_body_is_said():
    """In another file `e` may call `f`, and then the assertion fails: SAFE only as assumed."""
    text = (
        "void e(void);\nint f(void) { static int n; return ++n; }\n"
        "int main(void) { f(); e(); assert(f() == 2); }"
    )
    verdict = verify(parse_program(text, file="p.c"))
    assert verdict.outcome is Outcome.SAFE
    (warning,) = verdict.as_dict()["warnings"]
    assert warning.startswith("the function 'e' has no body at p.c:3:23")
    assert warning.endswith("is taken to call nothing of the program")
