"""Arrays of C: runs with what is in them, clauses over their cells, and random programs."""

import re
import shutil

import pytest

from doeblin._errors import InputError
from doeblin.programs import Outcome, output, parse_program, verify
from doeblin.programs.learner import linear
from doeblin.programs.system import Coordinates, Interpreter
from tests.programs.fuzz import arrays

GUESSED = """int main() {
  int n = unknown(); if (n < 1 || n > 9) return 0;
  int a[n], i = unknown();
  if (i >= 0 && i < n && a[i] == 5) { a[i]--; assert(a[i] != 4); }
}"""


def test_a_failing_run_shows_the_cells_that_matter():
    program = parse_program(GUESSED, file="p.c")
    verdict = verify(program)
    assert verdict.outcome is Outcome.UNSAFE and "assertion at p.c:4:47" in verdict.reason
    inputs = dict(verdict.inputs)
    index = inputs["unknown() at p.c:3:17"]
    assert inputs[f"a[{index}] at p.c:3:7"] == 5
    shown = output.trace(program, verdict)
    assert any(line.endswith(f"a[{index}] = 4") for line in shown)
    with pytest.raises(InputError, match="nothing stored there"):
        output.driver(program, verdict)


def test_a_test_fails_where_the_index_is_out_of_bounds():
    text = "int main() { int a[3], i, n = unknown(); for (i = 0; i < 3; i++) a[i] = i;"
    program = parse_program(text + " if (n > 0) a[n] = 1; assert(a[0] == 0); }", file="p.c")
    verdict = verify(program)
    assert verdict.outcome is Outcome.UNSAFE and "out of bounds at p.c:1:87" in verdict.reason
    if shutil.which("gcc") is None:
        pytest.skip("there is no gcc here")
    assert output.run_driver(output.driver(program, verdict), verdict).fails


def test_cells_keep_their_values_until_the_array_is_declared_again():
    text = "int main() { int i; for (i = 0; i < 2; i++) { int a[2]; a[i] += a[i]; a[1] = a[i]; } }"
    graph = parse_program(text).graph
    assert graph is not None
    asked = []
    run = Interpreter(graph).run(lambda havoc: asked.append(havoc.cell) or 7)
    assert run.outcome == "ended"
    assert asked == [None, 0, 1]  # `i`, then a cell of either array


PROVED = {
    "filled": "int main() { int n = unknown(); if (n <= 0) return 0; int a[n], i;"
    " for (i = 0; i < n; i++) a[i] = 7; for (i = 0; i < n; i++) assert(a[i] == {7}); }",
    "copied backwards": "/*@ requires n > 0; requires \\separated(a+(0..n-1), b+(0..n-1)); */"
    " int main(int *a, int *b, int n) { int i; for (i = 0; i < n; i++) a[i] = b[n - 1 - i];"
    " for (i = 0; i < n; i++) assert(a[i] == b[n - 1 - i] + {0}); }",
    "summed": "int main() { int n = unknown(), s = 0; if (n <= 0) return 0; int a[n], i;"
    " for (i = 0; i < n; i++) a[i] = unknown(); for (i = 0; i < n; i++) s = s + a[i];"
    " for (i = 0; i < n; i++) s = s - a[i]; assert(s == {0}); }",
    "squares": "int main() { int n = unknown(); if (n <= 0) return 0; int a[n], i; a[0] = 0;"
    " for (i = 1; i < n; i++) a[i] = a[i - 1] + 2 * i - 1;"
    " for (i = 0; i < n; i++) assert(a[i] == i * i + {0}); }",
    "largest": "int main() { int n = unknown(); if (n <= 0) return 0; unsigned char a[n]; int i, m;"
    " for (i = 0; i < n; i++) a[i] = unknown(); m = a[0];"
    " for (i = 1; i < n; i++) if (a[i] > m) m = a[i];"
    " for (i = 0; i < n; i++) assert(a[i] <= m - {0}); }",
    "found": "int main() { int n = unknown(), x = unknown(), p = 0; if (n <= 0) return 0;"
    " int a[n], i; for (i = 0; i < n; i++) a[i] = unknown(); while (p < n && a[p] != x) p++;"
    " for (i = 0; i < p; i++) assert(a[i] != x + {0}); }",
    "the largest last": "int main() { int n = unknown(), t; if (n <= 0) return 0; char a[n]; int i;"
    " for (i = 0; i < n; i++) a[i] = unknown(); for (i = 0; i + 1 < n; i++)"
    " if (a[i] > a[i + 1]) { t = a[i]; a[i] = a[i + 1]; a[i + 1] = t; }"
    " for (i = 0; i < n; i++) assert(a[i] <= a[n - 1] - {0}); }",
    "a palindrome": "int main() { int n = unknown(), same = 1; if (n <= 0) return 0; int a[n], i;"
    " for (i = 0; i < n; i++) a[i] = unknown();"
    " for (i = 0; i < n; i++) if (a[i] != a[n - 1 - i]) same = 0;"
    " if (same) for (i = 0; i < n; i++) assert(a[i] == a[n - 1 - i] + {0}); }",
    "moved down": "int main() { int n = unknown(); if (n <= 0) return 0; int a[n], b[n], i;"
    " for (i = 0; i < n; i++) { a[i] = unknown(); b[i] = a[i]; }"
    " for (i = 0; i + 1 < n; i++) a[i] = a[i + 1];"
    " for (i = 0; i + 1 < n; i++) assert(a[i] == b[i + 1] + {0}); }",
    "sums of sums": "int main() { int n = unknown(), s = 0; if (n <= 0) return 0; int a[n], i;"
    " for (i = 0; i < n; i++) a[i] = 1; for (i = 0; i < n; i++) s = s + a[i];"
    " for (i = 0; i < n; i++) a[i] = a[i] + s; for (i = 0; i < n; i++) s = s + a[i];"
    " assert(s == n * (n + 2) + {0}); }",
    "found last": "int main() { int n = unknown(), x = unknown(), p = -1; if (n <= 0) return 0;"
    " int a[n], i; for (i = 0; i < n; i++) a[i] = unknown();"
    " for (i = 0; i < n; i++) if (a[i] == x) p = i;"
    " for (i = p + 1; i < n; i++) assert(a[i] != x); if (p >= 0) assert(a[p] == x + {0}); }",
    "none counted": "int main() { int n = unknown(), x = unknown(), c = 0; if (n <= 0) return 0;"
    " int a[n], i; for (i = 0; i < n; i++) a[i] = unknown();"
    " for (i = 0; i < n; i++) if (a[i] == x) c++;"
    " if (c == {0}) for (i = 0; i < n; i++) assert(a[i] != x); }",
    "in pairs": "int main() { int n = unknown(), i; if (n <= 0 || n > 99) return 0; int a[200];"
    " for (i = 0; i < n; i++) { a[2 * i] = 5; a[2 * i + 1] = 6; }"
    " for (i = 0; i < n; i++) { assert(a[2 * i] == {5}); assert(a[2 * i + 1] == 6); } }",
    "three colours": "int main() { int n = unknown(), l = 0, m = 0, h, t, i; if (n <= 0) return 0;"
    " int a[n]; for (i = 0; i < n; i++) { a[i] = unknown(); if (a[i] < 0 || a[i] > 2) return 0; }"
    " h = n - 1; while (m <= h) {"
    " if (a[m] == 0) { t = a[l]; a[l] = a[m]; a[m] = t; l++; m++; } else if (a[m] == 1) m++;"
    " else { t = a[m]; a[m] = a[h]; a[h] = t; h--; } }"
    " for (i = l; i < m; i++) assert(a[i] == {1}); }",
}


def text_of(name, change):
    """The program, with the number in braces changed by so much."""
    return re.sub(r"\{(\d+)\}", lambda found: str(int(found[1]) + change), PROVED[name])


# The regions and relations of these are in other programs, too.
DEAR = {"the largest last", "moved down", "found last", "in pairs", "sums of sums", "none counted"}
DEAR |= {"copied backwards", "a palindrome"}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.thorough if n in DEAR else ()) for n in PROVED]
)
def test_proved_and_changed_by_one_refuted(name):
    program = parse_program(text_of(name, 0), file=f"{name}.c")
    verdict = verify(program, tunables=arrays.TUNABLES, timeout=60)
    assert verdict.outcome is Outcome.SAFE, verdict.reason
    assert any(re.search(r"for all k: |sum\(a", i.text) for i in verdict.invariants)
    certificate = output.certificate(program, verdict)
    proved = verdict.proved
    assert proved is not None and output.check_certificate(proved, certificate) is None
    other = parse_program(text_of(name, 1), file=f"{name}.c", ints=proved.ints)
    assert output.check_certificate(other.under(proved.ints), certificate) is not None
    written = output.acsl(program, verdict)
    assert (
        "(\\forall integer k; " in written or "\\sum(0, i - 1, \\lambda integer q; a[q])" in written
    )
    assert "\\forall" not in output.witness(program, verdict)
    refuted = verify(other, timeout=60)
    assert refuted.outcome is Outcome.UNSAFE, refuted.reason


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc here")
@pytest.mark.parametrize("name", ["k", "j", "m"])
def test_a_variable_may_have_the_name_of_the_index_in_a_proof(name):
    """It is not there at the loop; what is looked at was then twice under one name."""
    text = f"""int main(void) {{ int a[2]; int i; for (i = 0; i < 2; i++) a[i] = 3;
      int {name} = unknown(); assume({name} >= 0 && {name} < 2); assert(a[{name}] == 3); }}"""
    assert verify(parse_program(text), timeout=30).outcome is Outcome.SAFE
    false = text.replace("== 3", "== 4")
    assert verify(parse_program(false), timeout=30).outcome is Outcome.UNSAFE


@pytest.mark.parametrize("count", [6, pytest.param(12, marks=pytest.mark.thorough)])
def test_random_programs(count: int):
    wrong, counts = arrays.disagreements(range(count), timeout=2.0)
    assert not wrong, wrong[0]
    assert counts["UNSAFE"] > count / 6


def test_an_index_with_a_product_is_no_coordinate():
    text = """int main() { int n = unknown(), i, j; if (n < 1 || n > 9) return 0; int a[n][n];
      for (i = 0; i < n; i++) for (j = 0; j < n; j++) a[i][j] = i + a[n - 1 - i][0]; }"""
    program = parse_program(text)
    assert program.runnable is not None
    coordinates = Coordinates(program.runnable)
    extras = [extra for cut in program.system.cuts for extra in coordinates.of(cut, "k")]
    assert all(len(linear(extra.index, str)) == 1 for extra in extras)


OF_CONSTANT_LENGTH = {
    "rows of rows": """int main() { int a[10][20], i, j;
      for (i = 0; i < 10; i++) for (j = 0; j < 20; j++) a[i][j] = 4;
      for (i = 0; i < 10; i++) for (j = 0; j < 20; j++) assert(a[i][j] == 4); }""",
    "more than can be run": """int main() { int a[1000000], i, m;
      for (i = 0; i < 1000000; i++) a[i] = unknown();
      m = a[0]; for (i = 1; i < 1000000; i++) if (a[i] > m) m = a[i];
      for (i = 0; i < 1000000; i++) assert(a[i] <= m); }""",
}


@pytest.mark.parametrize(
    "name", [pytest.param("rows of rows", marks=pytest.mark.thorough), "more than can be run"]
)
def test_arrays_of_constant_length(name):
    program = parse_program(OF_CONSTANT_LENGTH[name])
    verdict = verify(program, tunables=arrays.TUNABLES, timeout=60)
    assert verdict.outcome is Outcome.SAFE, verdict.reason
    certificate = output.certificate(program, verdict)
    assert output.check_certificate(verdict.proved or program, certificate) is None


def test_a_failure_at_the_end_of_a_long_loop():
    text = "int main() { int a[1000], i; for (i = 0; i <= 1000; i++) a[i] = 1; assert(a[0] == 1); }"
    verdict = verify(parse_program(text, file="p.c"))
    assert verdict.outcome is Outcome.UNSAFE and "out of bounds" in verdict.reason


def test_only_indices_matter():
    text = "int main() { int a[5]; for (int i = 0; i < 5; i++) a[i] = 1; }"
    assert verify(parse_program(text)).outcome is Outcome.SAFE


def test_a_length_without_a_name_is_shown_as_something():
    text = "int main() { int n = unknown(), i; if (n < 1 || n > 9) return 0; int a[2 * n];"
    text += " for (i = 0; i < 2 * n; i++) a[i] = 3; for (i = 0; i < n; i++) assert(a[i] == 3); }"
    verdict = verify(parse_program(text), timeout=60)
    assert verdict.outcome is Outcome.SAFE
    assert "tmp#" in "".join(invariant.text for invariant in verdict.invariants)
