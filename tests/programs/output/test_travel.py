"""Files that travel cannot lie: certificates, annotations, tests and what a terminal shows."""

import hashlib
import os
import re
import shutil
import subprocess

import pytest
import yaml
import z3

from doeblin._errors import InputError
from doeblin.cli import main
from doeblin.programs import parse_program, read_program, verify
from doeblin.programs.output import (
    acsl,
    certificate,
    check_certificate,
    driver,
    run_driver,
    trace,
    witness,
)

from .test_output import cvc5_answers

SAFE = "int main() { int x = 0; while (x < 10) x++; assert(x == 10); return 0; }\n"
HORN = """(declare-fun {name} (Int) Bool)
(assert ({name} 0))
(assert (forall ((x Int)) (=> (and ({name} x) (< x 5)) ({name} (+ x 1)))))
(assert (forall ((x Int)) (=> (and ({name} x) (> x 5)) false)))
(check-sat)
"""
compiled = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")


def answers(text):
    context = z3.Context()
    return z3.Z3_eval_smtlib2_string(context.ref(), text).split()


def test_a_file_name_cannot_speak_in_a_certificate():
    name = "a.c\n(assert injected)\n; */ int y; /*"
    program = parse_program(SAFE, file=name)
    verdict = verify(program)
    text = certificate(program, verdict)
    assert "\n(assert injected)" not in text and answers(text) == ["unsat"] * text.count(
        "(check-sat)"
    )
    assert yaml.safe_load(witness(program, verdict))[0]["metadata"]["task"]["input_files"] == [name]
    bad = parse_program(SAFE.replace("x == 10", "x == 11"), file=name)
    head, _, rest = driver(bad, verify(bad)).partition("*/")
    assert "(assert injected)" in head and head.count("\n") == 2 and rest.startswith("\n/* Inputs")


@pytest.mark.parametrize("name", ["|a b|", "|a;b|", "|(x)|", "p.1", "|invariant|", "|é|"])
def test_quoted_names_are_told_apart_in_a_certificate(name):
    program = parse_program(HORN.format(name=name), language="horn")
    verdict = verify(program)
    text = certificate(program, verdict)
    assert answers(text) == ["unsat"] * 3
    assert check_certificate(program, text) is None


ODD = """int main() {{
  int {names};
  while (let < 10) {{ let++; abs += 2; select += as; _ += 3; bvadd = bvadd + and; }}
  assert(abs == {claim} * let && select == let && _ == 3 * let);
  return 0; }}
"""


def test_variables_called_as_solvers_call_things(tmp_path):
    """Words of SMT-LIB are names in C, and `_` is one, too."""
    words = [
        *("let", "abs", "select", "_", "bvadd", "and", "as", "par", "forall", "exists", "match"),
        *("div", "mod", "store", "distinct", "xor", "or", "ite", "implies", "iff", "is_int", "Int"),
        *("Bool", "loop0", "t0", "pi", "true_", "assert_", "not"),
    ]
    names = ", ".join(f"{word} = {int(word in ('as', 'and'))}" for word in words)
    program = parse_program(ODD.format(names=names, claim=2))
    verdict = verify(program, timeout=30)
    assert verdict.outcome.value == "SAFE", verdict.reason
    assert "abs" in verdict.invariants[0].text and "#" not in verdict.invariants[0].text
    text = certificate(program, verdict)
    assert answers(text) == ["unsat"] * 3 == cvc5_answers(text)
    assert check_certificate(verdict.proved or program, text) is None
    horn = """(declare-fun p (Int Int Int) Bool)
    (assert (p 0 0 0))
    (assert (forall ((|let| Int) (abs Int) (|_| Int))
      (=> (and (p |let| abs |_|) (< abs 9)) (p (+ |let| 2) (+ abs 1) |_|))))
    (assert (forall ((|(| Int) ($ Int) (|;| Int)) (=> (and (p |(| $ |;|) (> |(| (* 2 $))) false)))
    """
    program = parse_program(horn, language="horn")
    verdict = verify(program, timeout=30)
    assert verdict.outcome.value == "SAFE", verdict.reason
    assert cvc5_answers(certificate(program, verdict)) == ["unsat"] * 3


@pytest.mark.parametrize("name", ["x0", "x1", "a0"])
def test_predicates_called_as_we_call_arguments(name):
    program = parse_program(HORN.format(name=name), language="horn")
    assert verify(program).outcome.value == "SAFE"


@pytest.mark.parametrize("name", ["|a\n(assert false)|", "|a\x1bb|", "|\u202e|"])
def test_names_that_are_not_printable_are_refused(name):
    program = parse_program(HORN.format(name=name), language="horn")
    assert program.unsupported is not None and program.unsupported.isprintable()


def test_no_certificate_confirms_what_does_not_hold(tmp_path, capsys):
    """Forged ones: another program's, a weaker model's, one that says `true` or `false`."""
    source = tmp_path / "u.c"
    source.write_text(
        "int main() { unsigned n = __VERIFIER_nondet_uint(), i = 0, s = n + 1;\n"
        "while (i < 5) i++; assert(s > 0); return 0; }"
    )
    proof = tmp_path / "p.smt2"

    def status(*arguments):
        with pytest.raises(SystemExit) as end:
            main([*map(str, arguments)])
        return end.value.code

    assert status("verify", source, "--ints", "math", "--certificate", proof) == 0
    assert status("check", source, proof) == 2
    assert "mathematical integers" in capsys.readouterr().out
    assert status("check", source, proof, "--ints", "math") == 0
    text = proof.read_text()
    proof.write_text(text.replace("doeblin math", "doeblin c"))
    assert status("check", source, proof) == 2
    head, _, rest = text.partition("(define-fun invariant-of-loop0")
    variables = rest[: rest.index("Bool")]
    for body in ("true", "false", "(forall ((z Int)) (> z z))", "(= 1 (div 1 0))"):
        forged = f"{head}(define-fun invariant-of-loop0{variables}Bool {body})"
        proof.write_text(forged.replace("doeblin math", "doeblin c"))
        assert status("check", source, proof) == 2, body
    for forged in (text + text, text[:300], "", "(((", rest, "\0"):
        proof.write_text(forged)
        assert status("check", source, proof) in (2, 3)
    # Before Z3's parser sees it, which would take a minute, and hear of no time limit.
    huge = f"(< n 1{'0' * 200_000})"
    proof.write_text(f"{head}(define-fun invariant-of-loop0{variables}Bool {huge})")
    assert status("check", source, proof, "--ints", "math", "--timeout", 2) == 2
    assert re.search(r"more than 4000 digits at \S*p.smt2:\d+:\d+", capsys.readouterr().out)
    source.write_text("int main() { return 0; }")
    proof.write_text("")
    assert status("check", source, proof) == 2  # nothing to prove is nothing proved


@pytest.mark.parametrize("wrong", ["(define-fun invariant-of-loop0 ((x Real)) Bool true)"])
def test_sorts_of_a_certificate_are_checked(tmp_path, wrong):
    program = parse_program(SAFE)
    with pytest.raises(ValueError, match="no Int"):
        check_certificate(program, wrong)


def test_outputs_may_not_overwrite(tmp_path, capsys):
    source = tmp_path / "a.c"
    source.write_text(SAFE)
    os.link(source, tmp_path / "hard.c")
    (tmp_path / "soft.c").symlink_to(source)
    out = str(tmp_path / "out")
    for options in (
        ("--acsl", str(source)),
        ("--acsl", str(tmp_path / "." / "a.c")),
        ("--certificate", str(tmp_path / "hard.c")),
        ("--witness", str(tmp_path / "soft.c")),
        ("--acsl", out, "--certificate", out),
        ("--acsl", out, "--test", f"{tmp_path}/../{tmp_path.name}/out"),
    ):
        with pytest.raises(SystemExit) as end:
            main(["verify", str(source), *options])
        assert end.value.code == 3 and "would overwrite" in capsys.readouterr().err
        assert source.read_text() == SAFE and not os.path.exists(out)
    with pytest.raises(SystemExit) as end:
        main(["verify", str(source), "--acsl", "/dev/null", "--certificate", "/dev/null"])
    assert end.value.code == 0


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a\x1b[31m\nSAFE  b.c", SAFE),
        ("e", "#error \x1b]0;title\x07 \x9b31m\n"),
        ("s", "int main() { int x = 3\x1b[8m; }\n"),
        ("i", "int main() { x\u202e = 3; }\n"),
        ("t", SAFE.replace("x == 10", "x == 11 /* \x1b[2J */")),
        (os.fsdecode(b"\xff\xfe"), SAFE),
    ],
)
def test_a_terminal_only_shows(tmp_path, capsys, name, text):
    try:
        path = tmp_path / f"{name}.c"
        path.write_text(text, encoding="utf-8")
    except OSError:
        pytest.skip("this file system has no such names")
    for more in ((), ("--trace",), ("--json",), ("--certificate", str(tmp_path / "p"))):
        with pytest.raises(SystemExit) as end:
            main(["verify", str(path), *more])
        shown = capsys.readouterr()
        assert end.value.code in (0, 1, 2, 3)
        for line in (shown.out + shown.err).split("\n"):
            assert line.replace("\t", "").isprintable(), line
            assert not line.startswith("SAFE  b.c")


def test_a_batch_of_strange_names(tmp_path, capsys):
    for name in (b"\xff.c", b"a\nb.c", b"ok.c"):
        try:
            with open(os.path.join(os.fsencode(tmp_path), name), "w") as file:
                file.write(SAFE)
        except OSError:
            pytest.skip("this file system has no such names")
    with pytest.raises(SystemExit) as end:
        main(["verify", str(tmp_path)])
    out = capsys.readouterr().out
    assert end.value.code == 0 and out.count("SAFE") == 4 and "\\udcff.c" in out


def test_digests_are_those_of_the_file(tmp_path):
    path = tmp_path / "a.c"
    path.write_bytes(
        b"\xef\xbb\xbf" + SAFE.replace("{ int", "{ /* \xff */\r\nint").encode("latin-1")
    )
    program = read_program(path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    verdict = verify(program)
    assert digest in certificate(program, verdict) and digest in witness(program, verdict)


LIBRARY = """/* a header */
\x0c
int twice(int n) {
  int i = 0, s = 0;
  while (i < 10) { i++; s += 2; }
  return s + n;
}
"""
USER = """#include "lib.h"
extern int unknown(void);
int main() {
  int n = unknown(), k = 0;
  if (n < 0 || n > 100) return 0;
  while (k < n) k++;
  assert(twice(k) != 27);
}
"""


@compiled
def test_places_in_headers_are_not_taken_for_places_in_the_file(tmp_path):
    """Trace, witness and test of a program whose loop is on the same line of another file."""
    (tmp_path / "lib.h").write_text(LIBRARY)
    (tmp_path / "u.c").write_text(USER)
    program = read_program(tmp_path / "u.c")
    verdict = verify(program, timeout=30)
    assert verdict.outcome.value == "UNSAFE"
    lines = trace(program, verdict)
    assert any("lib.h:5:" in line and "s = 2" in line for line in lines)
    assert not any("unknown" in line and "s = 2" in line for line in lines)
    assert run_driver(driver(program, verdict), verdict).fails
    (tmp_path / "u.c").write_text(USER.replace("!= 27", "<= 120"))
    program = read_program(tmp_path / "u.c")
    verdict = verify(program, timeout=30)
    assert verdict.outcome.value == "SAFE"
    loops = [line for line in acsl(program, verdict).split("\n") if "loop invariant" in line]
    assert len(loops) == 1 and "k" in loops[0]
    for entry in yaml.safe_load(witness(program, verdict))[0]["content"]:
        assert entry["invariant"]["location"]["line"] == 6


def test_a_form_feed_ends_no_line():
    text = "\x0cint main() {\n  int x = 0; /* \u2028 \x0b */\n"
    text += "  while (x < 9) x++;\n  assert(x == 9);\n}\n"
    program = parse_program(text)
    annotated = acsl(program, verify(program)).split("\n")
    at = next(n for n, line in enumerate(annotated) if "loop invariant" in line)
    assert annotated[at + 1].strip() == "while (x < 9) x++;"


@compiled
@pytest.mark.parametrize(
    ("body", "overflow"),
    [
        ("int x = unknown(); int y = 10; if (x > 3) y = 10 / (x - 4); return y;", False),
        ("int x = unknown(); int y = 10; if (x > 3) y = 10 % (x - 4); return y;", False),
        ("int x = unknown(); int i = 0; while (i < 3) { i++; x = x + 1000; } return x;", True),
        ("int x; if (x == 77) assert(0); return 0;", False),
        ("int x = -1; int y = x << 1; return y;", False),
        ("int x = unknown(); x >>= 40; return x;", False),
        ("int x = -1; x << 1;", False),
        ("char c = 1; c >>= 33; return 0;", False),
        ("if (unknown() == 4) __builtin_unreachable(); return 0;", False),
    ],
)
def test_a_test_fails_when_it_is_run(tmp_path, body, overflow):
    text = f"extern int unknown(void);\nint main() {{ {body} }}\n"
    program = parse_program(text, file="p.c", ints="overflow" if overflow else "c")
    verdict = verify(program, timeout=20)
    assert verdict.outcome.value == "UNSAFE"
    source = driver(program, verdict)
    assert run_driver(source, verdict)[:2] == (True, "compiled with cc and run: it fails")
    # As its own first lines say, by hand.
    command = next(line for line in source.splitlines() if "Compile and run" in line)
    (tmp_path / "test.c").write_text(source)
    by_hand = command.partition(": ")[2].removesuffix(" */")
    ended = subprocess.run(by_hand, shell=True, cwd=tmp_path, capture_output=True, check=False)
    assert ended.returncode != 0 and (tmp_path / "a.out").exists()


# Names that are also the library's, functions with parameters, macros: tests need none of theirs.
AWKWARD = {
    "parameter": "int nondet_int(int);\nint main() { int y = nondet_int(4); assert(y == 0); }",
    "printf": '#include <stdio.h>\nint main() { int n = 3; printf("%d", n); assert(n == 4); }',
    "random": "#include <stdlib.h>\nint main() { int n = rand(); srand(1); assert(n != 17); }",
    "macro": "extern int nondet_int(void);\n#define ANY nondet_int()\n"
    "int main() { int a = nondet_int(), b = ANY; assert(a != 4 || b != 5); }",
    "effects": "int nondet_int(int);\n"
    "int main() { int i = 0, y = nondet_int(i++); assert(i != 1 || y != 7); }",
    "own exit": "static void exit(int c) { return; }\nvoid assert(int);\n"
    "int main() { exit(1); assert(0); }",
    "own _exit": "static void _exit(int c) { }\nint main() { _exit(1); assert(0); }",
    "own write": "int write = 3;\nint main() { assert(write == 4); }",
    "own fputs": "static int fputs(int x) { return x; }\nint main() { assert(fputs(3) == 4); }",
    "own abs": "static int abs(int x) { return -5; }\nint main() { assert(abs(3) == 3); }",
    "undeclared": "int main() { if (nondet_int() == 3) { assert(0); } else abort(); }",
}


@compiled
@pytest.mark.parametrize("name", AWKWARD)
def test_a_test_needs_no_name_of_the_program(name):
    program = parse_program(AWKWARD[name], file="p.c")
    verdict = verify(program, timeout=20)
    assert verdict.outcome.value == "UNSAFE", verdict.reason
    tried = run_driver(driver(program, verdict), verdict)
    assert tried.fails, (tried, driver(program, verdict))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("int f(int x) { if (x) return 3; } int main() { int y = f(0); assert(y); }", "make up"),
        ("_Noreturn void f(int x) { if (x) for (;;); } int main() { f(0); }", "does not return"),
        ("int main(int x) { /*@ assert x > 0; */ }", "annotation"),
    ],
)
def test_what_compilers_let_pass_has_no_test(text, why):
    program = parse_program(text, file="p.c")
    verdict = verify(program, timeout=20)
    assert verdict.outcome.value == "UNSAFE", verdict.reason
    with pytest.raises(InputError, match=why):
        driver(program, verdict)


@compiled
def test_a_test_that_does_not_fail_is_not_written(tmp_path, monkeypatch, capsys):
    from doeblin.programs import output

    source, target = tmp_path / "p.c", tmp_path / "t.c"
    source.write_text(SAFE.replace("x == 10", "x == 11"))
    for body, why, status in (
        ("int main() { return 0; }", "does not fail", 2),  # evidence against the verdict
        ("int main(", "not compile", 1),
    ):
        monkeypatch.setattr(output, "driver", lambda *_, body=body: body)
        for options in ((), ("--json",)):
            with pytest.raises(SystemExit) as end:
                main(["verify", str(source), "--test", str(target), *options])
            said = capsys.readouterr()
            assert end.value.code == status and not target.exists()
            assert why in said.out + said.err and ("UNKNOWN" in said.out) == (status == 2)
    monkeypatch.undo()
    monkeypatch.setattr("shutil.which", lambda *_: None)
    with pytest.raises(SystemExit) as end:
        main(["verify", str(source), "--test", str(target)])
    assert end.value.code == 1 and "unchecked" in capsys.readouterr().out
    assert "Nobody has run it yet" in target.read_text()


OVERLOOKED = {
    "own macro": "#include <stdlib.h>\n#define assert(c) do { if (!(c)) abort(); } while (0)\n"
    "int main(void) { int x = unknown(); assert(x != 42); return 0; }",
    "never set": "int main(void) { switch (unknown()) { int x; case 3: if (x == 9) assert(0); } }",
    "of the library": "#include <stdlib.h>\nint main(void) { return abs(unknown()) > 0; }",
    "unused": "int main(void) { int x = unknown(); x + 1; return 0; }",
}


@compiled
@pytest.mark.parametrize("name", OVERLOOKED)
def test_a_test_that_cannot_fail_says_nothing_against_a_verdict(name, tmp_path, capsys):
    source, target = tmp_path / "p.c", tmp_path / "t.c"
    source.write_text(OVERLOOKED[name])
    with pytest.raises(SystemExit) as end:
        main(["verify", str(source), "--overflow", "--test", str(target)])
    said = capsys.readouterr().out
    assert end.value.code == 1 and said.startswith("UNSAFE") and f"not written: {target}" in said
    assert not target.exists()


def test_outputs_may_not_overwrite_headers(tmp_path, capsys):
    source, header = tmp_path / "a.c", tmp_path / "a.h"
    source.write_text(f'#include "a.h"\n{SAFE}')
    header.write_text("#define TEN 10\n")
    for option in ("--acsl", "--certificate", "--witness"):
        with pytest.raises(SystemExit) as end:
            main(["verify", str(source), option, str(header)])
        assert end.value.code == 0 and "the program includes it" in capsys.readouterr().out
        assert header.read_text() == "#define TEN 10\n"


def test_deep_and_long_files_end_in_a_message(tmp_path, capsys):
    for name, text in {
        "include.c": f'#include "{"a" * 300}.h"\n{SAFE}',
        "deep.c": "int main() { return " + "(" * 50_000 + "1" + ")" * 50_000 + "; }",
        "deep.smt2": "(" * 200_000,
        "long.c": f"int {'x' * 100_000};\n{SAFE}",
        "number.c": f"int x = {'9' * 6000};\n{SAFE}",
        "nul.c": "int\0 x;",
    }.items():
        (tmp_path / name).write_text(text)
        with pytest.raises(SystemExit) as end:
            main(["verify", str(tmp_path / name), "--timeout", "20"])
        shown = capsys.readouterr()
        assert end.value.code in (0, 2, 3), (name, shown)
        assert "Traceback" not in shown.err and "fault of doeblin" not in shown.err
