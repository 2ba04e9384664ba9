"""The C front end: positions, what is refused, and the meaning of programs against a compiler."""

import shutil
import subprocess

import pytest

from doeblin._errors import InputError
from doeblin.programs import Outcome, parse_program, verify
from doeblin.programs.system import Interpreter

from ..program_generator import Generator


def refused(text: str) -> str:
    with pytest.raises(InputError) as error:
        parse_program(text, file="p.c")
    return str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "int main() {\n  int x = 3\n  x++;\n}",
            "p.c:2:12: C syntax error after '3': is a ';' missing? (before: x, line 3)",
        ),
        ("int main() {\n  int x = ;\n}", "p.c:2:11: C syntax error: invalid expression"),
        ("int main() {\n  y = 3;\n}", "p.c:2:3: 'y' is not declared"),
        ("int main() { int x = 99999999999999999999; }", "p.c:1:22: the constant"),
        ("/* open", "p.c:1:1: this comment does not end"),
        ("int main() { goto L; }", "p.c:1:14: there is no label 'L'"),
        ("#if 1\nint main() {}", "p.c:1:1: this #if has no #endif"),
        ("int main() { break; }", "p.c:1:14: 'break' outside"),
        ("#define F(a) a\nint main() { return F(1, 2); }", "p.c:2:21: macro 'F' takes 1"),
        ("int f() { return 1; }\nint g() { return 2; }", "there is no function 'main'"),
        ("int main() { int x = ", "p.c:1:20"),
        ("double x = 1.0f99; int main() {}", "p.c:1:12: C syntax error before: 99"),
        ("double x = 1.0dx; int main() {}", "p.c:1:12: C syntax error before: dx"),
    ],
)
def test_malformed(text, message):
    assert message in refused(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("int main() {\n  int a[3][2];\n  **a = 1;\n}", "pointers at p.c:3:"),
        ("int main() { int x; int *p = &x, **q = &p; **q = 1; }", "pointers at p.c:1:"),
        ("int main() { long double d = 1; d = d + 1; }", "floating point at p.c:1:33"),
        ("int main(int n) { return main(n); }", "recursion of 'main' at p.c:1:26"),
        ("int main() { volatile int v = 1; assert(v); }", "volatile variables at p.c:1:27"),
        ("int main() { double a[1]; a[0] = 1; }", "arrays at p.c:1:27"),
        ("union u { int a; };\nint main() { union u v; v.a = 1; }", "unions at p.c:2:"),
    ],
)
def test_unsupported_is_unknown_with_a_place(text, reason):
    verdict = verify(parse_program(text, file="p.c"))
    assert verdict.outcome is Outcome.UNKNOWN
    assert reason in verdict.reason


def test_places_survive_macros_and_comments():
    text = "#define TWO (1 + 1)\nint main() { /* c */ int x = TWO;\n  assert(x == TWO + 1); }"
    verdict = verify(parse_program(text, file="p.c"))
    assert verdict.reason == "assertion at p.c:3:3"


@pytest.mark.parametrize(
    "claim",
    [
        "int x = -7; assert(x / 2 == -3 && x % 2 == -1);",
        "unsigned x = 0; x--; assert(x == 4294967295u);",
        "unsigned char c = 250; c += 10; assert(c == 4);",
        "int x = -1; unsigned u = 1; assert(x > u);",
        "_Bool b = 7; assert(b == 1);",
        "short s = 70000; assert(s == 4464);",
        "int x = 5; int y = x++ + 1; assert(x == 6 && y == 6);",
        "int x = 5; int y = ++x * 2; assert(y == 12);",
        "int x = 1, y = 0; if (x || y++) x = 3; assert(y == 0 && x == 3);",
        "int i, s = 0; for (i = 0; i < 5; i++) { if (i == 2) continue; if (i == 4) break; s += i; }"
        " assert(s == 4);",
        "int x = 2, r = 0; switch (x) { case 1: r = 1; case 2: r += 2; case 3: r += 3; break;"
        " default: r = 9; } assert(r == 5);",
        "enum { A, B = 5, C }; assert(A == 0 && C == 6);",
        "int x = (1 << 4) | 3; assert(x == 19 && (x & 7) == 3 && x >> 2 == 4);",
        "assert('a' == 97 && 0x1F == 31 && 017 == 15);",
        "assert(sizeof(int) == 4 && sizeof(long) == 8);",
        "int x = 3; x = x > 2 ? x < 5 ? 1 : 2 : 3; assert(x == 1);",
        "int x = 3; ((x == 3) ? (void) x++ : abort()); x ? x++ : x--; assert(x == 5);",
        "int i = 0; again: i++; if (i < 4) goto again; assert(i == 4);",
        "int i = 0, j = 0; do { i++; if (i == 2) continue; j++; } while (i < 5); assert(j == 4);",
        "{ static int c; c++; assert(c == 1); }",
        "assert(count() == 1 && count() == 2 && count() == 3);",
        "assert(later == 4);",
        "int x = 1; { int x = 2; assert(x == 2); } assert(x == 1);",
        "long long x = 4294967296; int y = x; assert(y == 0);",
        "int x = ~5; assert(x == -6);",
    ],
)
def test_meaning(claim):
    """Each claim is true in C: proved in both integer models."""
    head = "int count(void) { static int c; return ++c; }\nint later = 4;\nint later;\n"
    text = f"{head}int main(void) {{ {claim} return 0; }}"
    for ints in ("c", "math", "overflow"):
        verdict = verify(parse_program(text, ints=ints), timeout=20)
        assert verdict.outcome is Outcome.SAFE, (ints, verdict.reason)


@pytest.mark.parametrize(
    "text",
    [
        "int main() { int x; if (x == 7) { ERROR: goto ERROR; } }",
        "void reach_error() { }\nint main() { reach_error(); }",
        "extern void __VERIFIER_error();\nint main() { if (unknown3()) __VERIFIER_error(); }",
        "int main() { int x = __VERIFIER_nondet_int(); __VERIFIER_assume(x > 3); sassert(x > 4); }",
        "int main() { unsigned char c = __VERIFIER_nondet_uchar(); static_assert(c < 255); }",
        "void __VERIFIER_assert(int c) { if (!c) { ERROR: __VERIFIER_error(); } }\n"
        "int main() { __VERIFIER_assert(nondet_bool()); }",
        '#include <assert.h>\n#include "nowhere.h"\nint main() { assert(unknown() != 12); }',
        "int main() { int d = unknown(); return 1 / d; }",
        "int main() { ((void) sizeof ((0) ? 1 : 0), __extension__ ({ if (unknown()) ; else "
        '__assert_fail ("0", "f.c", 3, __extension__ __PRETTY_FUNCTION__); })); }',
        "int g;\nint id(int v) { g++; return v; }\n"
        "int main() { int x = id(2); x += id(3); assert(x == 5); assert(g == 3); }",
    ],
)
def test_failures_in_all_spellings(text):
    assert verify(parse_program(text)).outcome is Outcome.UNSAFE


@pytest.mark.parametrize(
    "text",
    [
        "int main() { int n = unknown(); assume(n > 0); assert(n >= 1); }",
        "void assume_abort_if_not(int c) { if (!c) abort(); }\n"
        "int main() { int n = unknown(); assume_abort_if_not(n > 2); assert(n > 1); }",
        "int main() { exit(0); assert(0); }",
        "int main(int argc, char **argv) { int *unused; assert(1); }",
        "main() { int x = 3; assert(x); }",
        "extern int other(int);\nint main() { int x = 1; other(x); assert(x == 1); }",
        "typedef unsigned int u32;\nint main() { u32 x = unknown(); assert(x >= 0); }",
    ],
)
def test_harmless(text):
    assert verify(parse_program(text)).outcome is Outcome.SAFE


def test_signed_overflow_is_undefined_behaviour():
    text = "int main() { int x = nondet_int(); int y = x + 1; assert(y > x); }"
    assert verify(parse_program(text)).outcome is Outcome.SAFE
    verdict = verify(parse_program(text, ints="overflow", file="p.c"))
    assert verdict.outcome is Outcome.UNSAFE
    assert "signed overflow at p.c:1:44" in verdict.reason


COMPILER = shutil.which("cc")


@pytest.mark.skipif(COMPILER is None, reason="compares with a C compiler, and there is none")
def test_suffixes_of_other_formats_are_named(tmp_path):
    known = ["1.0f64", ".5f128", "1e3f32x", "0x1p3f64", "1.5df", "1.0q"]
    for at, number in enumerate([*known, "1.0f99", "1.0dx"]):
        source = tmp_path / "f.c"
        source.write_text(text := f"double x = {number}; int main() {{ return 0; }}")
        accepted = subprocess.run(
            [str(COMPILER), "-w", "-fsyntax-only", source], capture_output=True, check=False
        )
        if accepted.returncode == 0:  # of some of them not every compiler knows
            said = parse_program(text, file="f.c").unsupported
            assert said == f"unsupported: the suffix of '{number}' at f.c:1:12"
        else:
            assert at > 0  # _Float64 is C's


@pytest.mark.skipif(COMPILER is None, reason="compares with a C compiler, and there is none")
def test_interpreter_agrees_with_the_compiler(tmp_path):
    """Random programs on random inputs: ours and the compiled one end alike."""
    import random

    rng = random.Random(5)
    compared = 0
    for seed in range(12):
        program = Generator(900 + seed).program()
        harness = (
            "#include <stdio.h>\n#include <stdlib.h>\nstatic int n, argc_; static char **argv_;\n"
            "int __VERIFIER_nondet_int(void) { return n < argc_ ? atoi(argv_[n++]) : 0; }\n"
            'void __VERIFIER_assert(int c) { if (!c) { puts("failed"); exit(0); } }\n'
            'void __VERIFIER_assume(int c) { if (!c) { puts("assumption"); exit(0); } }\n'
        )
        body = program.text
        for name, value in program.initial.items():
            if value is None:
                kind = program.types[name]
                body = body.replace(
                    f"  {kind} {name};", f"  {kind} {name} = __VERIFIER_nondet_int();"
                )
        body = body.replace("int main(void) {", "int run(void) {")
        main = 'int main(int c, char **v) { n = 1; argc_ = c; argv_ = v; run(); puts("ended"); }\n'
        source = tmp_path / f"p{seed}.c"
        source.write_text(harness + body + main)
        binary = tmp_path / f"p{seed}"
        subprocess.run([COMPILER, "-fwrapv", "-w", "-o", binary, source], check=True)
        graph = parse_program(program.text, ints="overflow").graph
        assert graph is not None
        interpreter = Interpreter(graph)
        for _ in range(8):
            inputs = [rng.randint(-3, 4) for _ in range(200)]
            rest = iter(inputs)
            run = interpreter.run(lambda havoc, rest=rest: _fit(next(rest, 0), havoc), limit=3000)
            if run.outcome == "cut" or (run.failure and "undefined" in run.failure.what):
                continue
            answer = subprocess.run(
                [binary, *map(str, inputs)], capture_output=True, text=True, timeout=10
            )
            assert answer.stdout.strip() == run.outcome, (seed, inputs)
            compared += 1
    assert compared > 40


def _fit(value, havoc):
    """What C's conversion makes of an input for the type of the site."""
    size = havoc.high - havoc.low + 1
    if size == 2:
        return int(value != 0)
    return (value - havoc.low) % size + havoc.low
