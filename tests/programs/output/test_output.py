"""Proofs and failures as other tools read them."""

import shutil
import subprocess

import cvc5
import jsonschema
import pytest
import yaml
import z3

from doeblin._errors import InputError
from doeblin.cli import main
from doeblin.programs import parse_program, verify
from doeblin.programs.examples import PAPER, example
from doeblin.programs.output import acsl, certificate, check_certificate, driver, trace, witness

COMPILER = shutil.which("cc")
LOCATION = {
    "type": "object",
    "required": ["file_name", "line"],
    "properties": {
        "file_name": {"type": "string"},
        "line": {"type": "integer", "minimum": 1},
        "column": {"type": "integer", "minimum": 1},
        "function": {"type": "string"},
    },
    "additionalProperties": False,
}
METADATA = {
    "type": "object",
    "required": ["format_version", "uuid", "creation_time", "producer", "task"],
    "properties": {
        "format_version": {"const": "2.0"},
        "uuid": {"type": "string", "pattern": "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"},
        "creation_time": {
            "type": "string",
            "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)$",
        },
        "producer": {
            "type": "object",
            "required": ["name", "version"],
            "properties": {"name": {"type": "string"}, "version": {"type": "string"}},
        },
        "task": {
            "type": "object",
            "required": [
                "input_files", "input_file_hashes", "specification", "data_model", "language",
            ],
            "properties": {
                "input_files": {"type": "array", "items": {"type": "string"}, "minItems": 1},
                "input_file_hashes": {
                    "type": "object",
                    "additionalProperties": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
                },
                "specification": {"type": "string"},
                "data_model": {"enum": ["ILP32", "LP64"]},
                "language": {"const": "C"},
            },
        },
    },
}  # fmt: skip
INVARIANT = {
    "type": "object",
    "required": ["invariant"],
    "properties": {
        "invariant": {
            "type": "object",
            "required": ["type", "location", "value", "format"],
            "properties": {
                "type": {"enum": ["loop_invariant", "location_invariant"]},
                "location": LOCATION,
                "value": {"type": "string"},
                "format": {"const": "c_expression"},
            },
            "additionalProperties": False,
        }
    },
}


def waypoint(kind, **constraint):
    """A waypoint of one kind; each has its own rules for the constraint."""
    properties = {"type": {"const": kind}, "action": {"const": "follow"}, "location": LOCATION}
    if constraint:
        properties["constraint"] = {
            "type": "object",
            "required": ["value", "format"],
            "properties": constraint,
            "additionalProperties": False,
        }
    return {
        "type": "object",
        "required": list(properties),
        "properties": properties,
        "additionalProperties": False,
    }


# The kinds that we write. In format 2.0 a condition on a result is in ACSL, `\\result` against
# a constant, and an assumption is a C expression; a target has no condition.
WAYPOINT = {
    "oneOf": [
        waypoint(
            "function_return",
            value={"type": "string", "pattern": r"^\\result == -?\d+$"},
            format={"const": "acsl_expression"},
        ),
        waypoint(
            "assumption",
            value={"type": "string", "not": {"pattern": r"\\|(?<![=!<>])=(?!=)"}},
            format={"const": "c_expression"},
        ),
        waypoint("target"),
    ]
}
SEGMENT = {
    "type": "object",
    "required": ["segment"],
    "properties": {
        "segment": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["waypoint"],
                "properties": {"waypoint": WAYPOINT},
            },
        }
    },
}


def schema(kind, content):
    return {
        "type": "array",
        "minItems": 1,
        "items": {
            "type": "object",
            "required": ["entry_type", "metadata", "content"],
            "properties": {
                "entry_type": {"const": kind},
                "metadata": METADATA,
                "content": {"type": "array", "items": content},
            },
            "additionalProperties": False,
        },
    }


@pytest.fixture(scope="module")
def proofs():
    found = {}
    for name in (*PAPER, "valve"):
        program = parse_program(example(name), file=f"{name}.c")
        found[name] = (program, verify(program, timeout=30))
    return found


@pytest.fixture(scope="module")
def failure():
    program = parse_program(example("off_by_one"), file="off_by_one.c")
    return program, verify(program, timeout=30)


@pytest.mark.parametrize("name", [*PAPER, "valve"])
def test_certificates_convince_z3_and_cvc5(proofs, name):
    program, verdict = proofs[name]
    text = certificate(program, verdict)
    conditions = text.count("(check-sat)")
    assert conditions == len(program.system.clauses)
    context = z3.Context()
    assert z3.Z3_eval_smtlib2_string(context.ref(), text).split() == ["unsat"] * conditions
    assert cvc5_answers(text) == ["unsat"] * conditions
    assert check_certificate(program, text) is None


def test_certificates_with_arrays_are_of_one_sort():
    """A cell of one array or the other: both arrays are used twice, so each has a name."""
    program = parse_program(
        "int main(void) { int a[2] = {1, 2}, b[2] = {3, 4}; int *p = unknown() ? a : b;"
        " p[1] = 0; assert(a[1] == 0 || b[1] == 0); return 0; }"
    )
    text = certificate(program, verify(program, timeout=30))
    sorted_so = "() (Array Int Int) (store"
    assert sorted_so in text
    context = z3.Context()
    assert z3.Z3_eval_smtlib2_string(context.ref(), text).split() == ["unsat"]
    # Constant arrays are no part of SMT-LIB, and cvc5 wants to be asked for them.
    assert cvc5_answers(text, "arrays-exp") == ["unsat"]
    assert check_certificate(program, text) is None
    with pytest.raises(InputError, match="sort mismatch"):
        check_certificate(program, text.replace(sorted_so, "() Int (store"))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("(assert (< 0 nowhere))", "'nowhere' is not declared"),
        ("(assert (+ 0 1))", "Bool"),
        ("(pop 1)", "invalid pop"),
        ("(get-value (x))", "the command 'get-value' in a certificate"),
    ],
)
def test_what_no_solver_reads_is_not_confirmed(proofs, wrong, said):
    program, verdict = proofs["fig1"]
    text = certificate(program, verdict)
    line = text.count("\n") + 1
    try:
        found = check_certificate(program, f"{text}{wrong}\n", file="proof.smt2") or ""
    except InputError as error:
        found = str(error)
    assert said in found and f"proof.smt2:{line}:" in found


def cvc5_answers(text, *options):
    solver = cvc5.Solver()
    for option in options:
        solver.setOption(option, "true")
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "certificate")
    answers = []
    while not (command := parser.nextCommand()).isNull():
        answers.append(command.invoke(solver, parser.getSymbolManager()).strip())
    return [answer for answer in answers if answer]


def test_a_certificate_is_checked_against_the_program(proofs):
    program, verdict = proofs["fig1"]
    text = certificate(program, verdict)
    broken = parse_program(example("fig1").replace("y > 0", "y > 1"))
    assert "no failure" in (check_certificate(broken, text) or "")
    with pytest.raises(InputError, match="is this certificate for"):
        check_certificate(parse_program(example("nested")), text)
    weakened = text.replace("(define-fun invariant-of-loop0", "(define-fun other")
    with pytest.raises(InputError, match="no invariant"):
        check_certificate(program, weakened)


@pytest.mark.parametrize("name", [*PAPER, "valve"])
def test_correctness_witnesses(proofs, name):
    program, verdict = proofs[name]
    document = yaml.safe_load(witness(program, verdict))
    jsonschema.validate(document, schema("invariant_set", INVARIANT))
    lines = program.text.splitlines()
    assert document[0]["content"]
    for entry in document[0]["content"]:
        place = entry["invariant"]["location"]
        there = lines[place["line"] - 1][place["column"] - 1 :]
        assert there.startswith(("while", "for", "again:"))


@pytest.mark.skipif(COMPILER is None, reason="compiles what was written, and there is no compiler")
@pytest.mark.parametrize("name", PAPER)
def test_annotations_leave_the_program_valid(proofs, tmp_path, name):
    program, verdict = proofs[name]
    text = acsl(program, verdict)
    assert text.count("loop invariant") == len(verdict.invariants)
    assert "loop assigns" in text
    (tmp_path / "a.c").write_text("void assert(int);\n" + text)
    command = [COMPILER, "-std=gnu11", "-fsyntax-only", "-w", tmp_path / "a.c"]
    subprocess.run(command, check=True)


@pytest.mark.skipif(COMPILER is None, reason="compiles what was written, and there is no compiler")
@pytest.mark.parametrize("name", PAPER)
def test_witness_invariants_hold_in_the_compiled_program(proofs, tmp_path, name):
    """The expressions of the witness, asserted at their loops and run by the machine."""
    program, verdict = proofs[name]
    text = program.text.replace("extern int unknown(void);", "")
    lines = text.splitlines()
    shift = len(program.text.splitlines()) - len(lines)
    for entry in yaml.safe_load(witness(program, verdict))[0]["content"]:
        place = entry["invariant"]["location"]
        row = place["line"] - 1 - shift
        line = lines[row]
        assert line.strip().startswith(("while (", "for ("))
        check = f"__holds({entry['invariant']['value']})"
        if line.strip().startswith("while ("):
            lines[row] = line.replace("while (", f"while ({check} && ", 1)
        else:
            lines[row] = line.replace("; ", f"; {check} && ", 1)
    head = (
        "#include <stdlib.h>\n#include <assert.h>\nstatic unsigned seed_ = 7;\n"
        "static int unknown(void) { seed_ = seed_ * 1103515245u + 12345u;"
        " return (int)(seed_ >> 16) % 23 - 4; }\n"
        "static int __holds(int c) { if (!c) exit(9); return 1; }\n"
    )
    source = tmp_path / "w.c"
    source.write_text(head + "\n".join(lines) + "\n")
    binary = tmp_path / "w"
    subprocess.run([COMPILER, "-w", "-o", binary, source], check=True)
    assert subprocess.run([binary], timeout=20, check=False).returncode == 0


UNSET = """extern int __VERIFIER_nondet_int(void);
extern void abort(void);
void reach_error() { abort(); }
void __VERIFIER_assert(int c) { if (!c) { ERROR: {reach_error(); abort();} } }
int main() {
  int x, y = __VERIFIER_nondet_int(), z; /* no; value */
  // nor; here
  for (int i = 0; i < 2; i++) { int w;
    if (w != 7 + i) return 0; }
  if (y > 3 && z == 2) __VERIFIER_assert(x != 5);
  return 0;
}
"""


def waypoints(program):
    verdict = verify(program, timeout=30)
    document = yaml.safe_load(witness(program, verdict))
    jsonschema.validate(document, schema("violation_sequence", SEGMENT))
    # One waypoint to follow in each segment; the target is the last, and there is only one.
    assert all(len(part["segment"]) == 1 for part in document[0]["content"])
    found = [part["segment"][0]["waypoint"] for part in document[0]["content"]]
    assert [way["type"] == "target" for way in found] == [False] * (len(found) - 1) + [True]
    return found


def test_values_of_unset_variables_are_in_the_witness():
    program = parse_program(UNSET, file="unset.c")
    lines = UNSET.splitlines()
    found = [
        (
            way["type"],
            way.get("constraint", {}).get("value"),
            lines[way["location"]["line"] - 1][way["location"]["column"] - 1 :],
        )
        for way in waypoints(program)
    ]
    assert found == [
        ("function_return", "\\result == 4", "), z; /* no; value */"),
        ("assumption", "x == 5 && z == 2", "for (int i = 0; i < 2; i++) { int w;"),
        ("assumption", "w == 7", "if (w != 7 + i) return 0; }"),
        ("assumption", "w == 8", "if (w != 7 + i) return 0; }"),
        ("target", None, "reach_error(); abort();} } }"),
    ]


REACHED = "CHECK( init(main()), LTL(G ! call(reach_error())) )"
OVERFLOWS = "CHECK( init(main()), LTL(G ! overflow) )"


@pytest.mark.parametrize(
    ("body", "ints", "outcome", "stated"),
    [
        ("assert(x != 3);", "c", "UNSAFE", REACHED),
        ("assert(x == x);", "c", "SAFE", REACHED),
        ("if (x == 3) reach_error();", "overflow", "UNSAFE", REACHED),
        ("return x + 1;", "overflow", "UNSAFE", OVERFLOWS),
        ("return x - x / 2;", "overflow", "SAFE", OVERFLOWS),
        ("return 7 / x;", "c", "UNSAFE", "no property for division by zero"),
        ("return x << 40;", "c", "UNSAFE", "no property for shift out of range"),
        ("if (x) return 7 / x;", "c", "SAFE", "no property for undefined behaviour"),
        ("/*@ assert x > 0; */", "c", "UNSAFE", "no property for ACSL assertion"),
        ("/*@ assert x == x; */", "c", "SAFE", "no property for annotations"),
        ("/*@ assert x == x; */ assert(x < 5 || x > 4);", "c", "SAFE", REACHED),
    ],
)
def test_a_witness_states_the_property_it_is_about(body, ints, outcome, stated):
    text = f"int unknown(void); void reach_error(void); int main() {{ int x = unknown(); {body} }}"
    program = parse_program(text, file="p.c", ints=ints)
    verdict = verify(program, timeout=30)
    assert verdict.outcome.value == outcome, verdict.reason
    if stated.startswith("CHECK"):
        document = yaml.safe_load(witness(program, verdict))
        assert document[0]["metadata"]["task"]["specification"] == stated
    else:
        with pytest.raises(InputError, match=stated):
            witness(program, verdict)


def test_a_witness_names_the_function_where_the_program_starts():
    program = parse_program("void f(int n) { assert(n != 3); }", file="p.c")
    document = yaml.safe_load(witness(program, verify(program, timeout=30)))
    stated = document[0]["metadata"]["task"]["specification"]
    assert stated == "CHECK( init(f()), LTL(G ! call(reach_error())) )"


def test_a_witness_is_the_same_again(failure, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    text = witness(*failure)
    assert "1970-01-02T00:00:00Z" in text and witness(*failure) == text
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    now = witness(*failure)

    def uuids(of):
        return [line for line in of.splitlines() if "uuid" in line]

    assert uuids(now) == uuids(text) and "1970" not in now
    other = parse_program(example("off_by_one") + "\n", file="off_by_one.c")
    assert uuids(witness(other, verify(other, timeout=30))) != uuids(text)


@pytest.mark.parametrize(
    ("body", "said", "checks"),
    [
        ("unsigned char c = 200; c += 100; assert(c == 44); assert(c < 45);", "Nothing is left", 0),
        ("int x = unknown(); assert(1 + 1 == 2); assert(x < 5 || x > 3);", "1 of 2 possible", 1),
        ("int x = unknown(); assert(x < 5 || x > 3);", "", 1),
    ],
)
def test_a_certificate_says_what_no_solver_can_confirm(body, said, checks, tmp_path, capsys):
    source, proof = tmp_path / "p.c", tmp_path / "proof.smt2"
    source.write_text(f"int unknown(void); int main() {{ {body} }}")
    with pytest.raises(SystemExit) as end:
        main(["verify", str(source), "--certificate", str(proof)])
    assert end.value.code == 0
    text = proof.read_text()
    assert text.count("(check-sat)") == checks
    assert said in text and ("folding" in text) == bool(said)
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        main(["check", str(source), str(proof)])
    out = capsys.readouterr().out
    assert end.value.code == 0 and said in out and ("folding" in out) == bool(said)


def test_violation_witness_and_trace(failure):
    program, verdict = failure
    assert waypoints(program)
    lines = trace(program, verdict)
    assert "assert(used < capacity);" in lines[-1] and lines[-1].endswith("assertion")


@pytest.mark.skipif(COMPILER is None, reason="compiles what was written, and there is no compiler")
@pytest.mark.parametrize(
    "text",
    [
        example("off_by_one"),
        "int main(int flag) { int x, y = 2; while (y < 9) { int z; y += z; assume(z > 0); }"
        " if (flag == 4) assert(x != y); return 0; }",
        "extern void __VERIFIER_error(void);\nextern unsigned int __VERIFIER_nondet_uint();\n"
        "void __VERIFIER_assert(int cond) { if (!(cond)) { ERROR: __VERIFIER_error(); } return; }\n"
        "int main() { unsigned int n = __VERIFIER_nondet_uint(), i = 0; while (i < n) i += 3;"
        " __VERIFIER_assert(i != 9); }",
        "void __VERIFIER_assert(int cond) { if (!cond) { ERROR: goto ERROR; } }\n"
        'extern int level;\n#include "missing.h"\n'
        "int main() { __VERIFIER_assert(level != 17); return 0; }",
        "#include <assert.h>\nextern int unknown(void); extern void assume(int);\n"
        "int main() { int x = unknown(); assume(x > 3); assert(x != 7); return 0; }",
        "extern void abort(void);\nextern void __assert_fail(const char *, const char *,"
        " unsigned int, const char *)"
        " __attribute__ ((__nothrow__ , __leaf__)) __attribute__ ((__noreturn__));\n"
        'void reach_error() { __assert_fail("0", "p.c", 3, "reach_error"); }\n'
        "extern int __VERIFIER_nondet_int(void);\n"
        "int main() { if (__VERIFIER_nondet_int() == 5) {reach_error();abort();} return 0; }",
        "extern void __assert_fail (const char *__assertion, const char *__file,\n"
        "    unsigned int __line, const char *__function);\n"
        "int main() { int x; for (x = 0; x < 4; x++) ((x != 3) ? (void) (0) :"
        ' __assert_fail ("x != 3", "p.c", 3, __PRETTY_FUNCTION__)); return 0; }',
    ],
)
def test_drivers_reproduce_the_failure(tmp_path, text):
    program = parse_program(text, file="p.c")
    verdict = verify(program, timeout=30)
    source = tmp_path / "t.c"
    source.write_text(driver(program, verdict))
    binary = tmp_path / "t"
    subprocess.run([COMPILER, "-std=gnu11", "-w", "-o", binary, source], check=True)
    answer = subprocess.run([binary], timeout=20, check=False, capture_output=True, text=True)
    assert answer.returncode == 1 and "violated" in answer.stderr


def test_the_wrong_verdict_is_an_error(proofs, failure):
    with pytest.raises(InputError, match="UNSAFE"):
        acsl(*failure)
    with pytest.raises(InputError, match="SAFE"):
        driver(*proofs["fig1"])
