"""Programs in floating point: verdicts, proofs that others confirm, runs that compilers repeat."""

import shutil
import subprocess

import pytest
import z3

from doeblin._errors import InputError
from doeblin.programs import Outcome, output, parse_program, verify

from .fuzz.floats import judge

compiled = pytest.mark.skipif(shutil.which("gcc") is None, reason="the truth comes from gcc")
FILTER = """
extern int nondet_int(void);
extern double nondet_double(void);
int main(void) {
  double y = 0;
  int n = 0;
  while (nondet_int()) {
    double x = nondet_double();
    if (!(x >= -1 && x <= 1)) x = 0;
    y = 0.5 * y + 0.5 * x;
    if (n < 9) n++;
  }
  assert(y <= 1 && y >= -1 && n <= 9);
}
"""
WRONG = """
extern float nondet_float(void);
extern double nondet_double(void);
double given(float f) { double d; return nondet_double() + f + (d > 0); }
int main(void) {
  float f = nondet_float();
  if (f > 0.5f && f < 0.75f) { double h = given(f); assert(!(h > 0.25 && h < 2.25)); }
}
"""


@compiled
def test_random_programs_agree_with_gcc():
    # What is not decided within a tenth of a second is not within four seconds, either.
    wrong, counts = judge(range(8), timeout=1)
    assert not wrong
    assert counts["SAFE: SAFE"] >= 2 and counts["UNSAFE: UNSAFE"] >= 6, counts


def test_a_proof_is_confirmed_and_a_false_one_is_not():
    program = parse_program(FILTER, file="f.c")
    verdict = verify(program, timeout=30)
    assert verdict.outcome is Outcome.SAFE
    for write in (output.acsl, output.witness):  # these have no faithful form
        with pytest.raises(InputError, match="floating point"):
            write(program, verdict)
    text = output.certificate(program, verdict)
    proved = verdict.proved or program
    assert output.check_certificate(proved, text) is None
    solver = z3.Solver()
    for number, part in enumerate(text.split("(push 1)")[1:]):
        solver.reset()
        solver.from_string(part.partition("(check-sat)")[0])
        assert solver.check() == z3.unsat, number
    half, one = "(fp #b0 #b01111111110 #x0000000000000)", "(fp #b0 #b01111111111 #x0000000000000)"
    head, _, rest = text.partition("(push 1)")
    assert one in head
    changed = head.replace(one, half) + "(push 1)" + rest
    assert "invariant" in (output.check_certificate(proved, changed) or "")


SCOPES = """
extern int nondet_int(void);
extern double nondet_double(void);
int main(void) {
  int x = 0;
  while (nondet_int()) {
    {
      double x = nondet_double();
      { float x = 3; while (x > 0.5f) x = x / 2; assert(%s); }
      if (!(x <= 9)) break;
    }
    if (x < 5) x++;
  }
  assert(x <= 5);
}
"""


def test_variables_of_one_name_keep_their_types():
    """An `int`, a `double` and a `float`, all called x: in proofs, in certificates, in runs."""
    program = parse_program(SCOPES % "x >= 0", file="x.c")
    verdict = verify(program, timeout=30)
    assert verdict.outcome is Outcome.SAFE
    text = output.certificate(program, verdict)
    double, single = (f"(_ FloatingPoint {sizes})" for sizes in ("11 53", "8 24"))
    for own, sort in (("x", "Int"), ("|x#2|", double), ("|x#3|", single)):
        assert f"({own} {sort})" in text
    proved = verdict.proved or program
    assert output.check_certificate(proved, text) is None
    head, _, rest = text.partition("(push 1)")
    wrong = head.replace(f"(|x#2| {double})", f"(|x#2| {single})") + "(push 1)" + rest
    with pytest.raises(InputError, match="'x#2' is no"):
        output.check_certificate(proved, wrong)
    program = parse_program(SCOPES % "x == 0", file="x.c")
    verdict = verify(program, timeout=30)
    assert verdict.outcome is Outcome.UNSAFE
    lines = output.trace(program, verdict)
    for said in ("  x = 0", "  x = 0.375f"):
        assert any(line.endswith(said) for line in lines)


@compiled
def test_a_failing_run_is_repeated_by_the_compiled_program(tmp_path):
    program = parse_program(WRONG, file="w.c")
    verdict = verify(program, timeout=30)
    assert verdict.outcome is Outcome.UNSAFE
    text = output.driver(program, verdict)
    for level in ("-O0", "-O2"):
        source, binary = tmp_path / "w.c", tmp_path / "w"
        source.write_text(text)
        subprocess.run(["gcc", "-w", level, "-o", binary, source], check=True)
        ended = subprocess.run([binary], capture_output=True, text=True)
        assert ended.returncode == 1 and "violated" in ended.stderr
    shown = [line for line in output.trace(program, verdict) if "nondet_float() gives" in line]
    assert shown and not any("LL" in line for line in shown)
    with pytest.raises(InputError, match="floating point"):
        output.witness(program, verdict)


CONVERTED = """
extern int nondet_int(void);
extern double nondet_double(void);
int main(void) {
  int converted = 0;
  {
    int converted = 5;
    while (nondet_int()) {
      double d = nondet_double(), e = nondet_double(), f = nondet_double();
      if (!(d >= -1e9 && d < 1e9 && e >= -1e9 && e < 1e9 && f >= -1e9 && f < 1e9)) break;
      int a = d, b = e, c = f;
      if (a + b == c) converted = 4;
      assert(converted <= 5);
      assert(3 * (long) c < 3000000 || 3 * (long) c > 3000003);
    }
  }
}
"""


def test_what_stands_for_a_conversion_has_a_name_of_its_own():
    """It may be 1000000, which the variable `converted` of the program is never."""
    program = parse_program(CONVERTED, file="c.c")
    assert verify(program, timeout=5).outcome is not Outcome.SAFE
    for clause in program.system.clauses:
        states = {name for premise in clause.premises for name in premise.names}
        assert not states & {item.name for item in clause.inputs}


def test_integers_beside_unused_floating_point_are_as_before():
    text = "int main(void) { double d = 0.5; int x = 0; while (x < 9) x++; assert(x == 9); }"
    verdict = verify(parse_program(text, file="p.c"))
    assert verdict.outcome is Outcome.SAFE and verdict.found_by != "bounds of floating point"
