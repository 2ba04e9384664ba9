"""Arrays of C: runs with what is in them, clauses over their cells, and random programs."""

import shutil

import pytest

from doeblin._errors import InputError
from doeblin.programs import Outcome, output, parse_program, verify
from doeblin.programs.system import Interpreter
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


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc here")
def test_random_programs():
    wrong, counts = arrays.disagreements(range(12), timeout=2.0)
    assert not wrong, wrong[0]
    assert counts["UNSAFE"] > 2
