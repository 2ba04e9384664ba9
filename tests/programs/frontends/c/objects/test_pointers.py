"""Programs with pointers and structures, drawn at random, against what gcc makes of them."""

import re
import shutil
from typing import Any

import pytest

from doeblin.programs import parse_program, verify
from doeblin.programs.output import acsl, driver, run_driver

from ....fuzz.heap import disagree
from ....fuzz.pointers import disagreements

compiled = pytest.mark.skipif(shutil.which("gcc") is None, reason="the truth comes from gcc")


def few_or_all(few: range, all: range) -> Any:
    """Of which seeds, and how many of these programs fail at least."""
    dear = pytest.param(all, 5, marks=pytest.mark.thorough)
    return pytest.mark.parametrize(("seeds", "failing"), [(few, 2), dear], ids=["few", "all"])


@compiled
@few_or_all(range(100, 112, 2), range(100, 124, 2))
def test_pointers_agree_with_gcc(seeds: range, failing: int):
    wrong, counts = disagreements(seeds, timeout=2)
    assert wrong == []
    assert counts["SAFE"] >= 1 and counts["UNSAFE"] >= failing, counts


@compiled
@few_or_all(range(113, 125, 2), range(101, 125, 2))
def test_structures_agree_with_gcc(seeds: range, failing: int):
    wrong, counts = disagreements(seeds, timeout=2)
    assert wrong == []
    assert counts["SAFE"] >= 1 and counts["UNSAFE"] >= failing, counts


@compiled
@few_or_all(range(105, 110), range(100, 110))
def test_allocations_agree_with_gcc(seeds: range, failing: int):
    wrong, counts = disagree(seeds, timeout=2)
    assert wrong == []
    assert counts["SAFE"] >= 1 and counts["UNSAFE"] >= failing, counts


NULL = """int unknown(void);
int main(void) {
  int x = 1, *p = 0;
  if (unknown() > 5) p = &x;
  *p = 2;
}
"""
SHIFTS = """int unknown(void);
int main(void) {
  int n = unknown(), i = unknown();
  if (n < 1 || n > 100 || i < 0 || i >= n) return 0;
  int a[n], *p;
  for (p = a; p < a + n; p++)
    *p = 0;
  assert(a[i] == 0);
}
"""


@compiled
def test_a_null_pointer_fails_in_the_test_that_is_written():
    program = parse_program(NULL, file="p.c")
    verdict = verify(program, timeout=10)
    assert run_driver(driver(program, verdict), verdict).fails is True


ALLOCATED = """#include <stdlib.h>
int unknown(void);
int main(void) {
  int n = unknown(), *p = malloc(sizeof *p), *q = calloc(n, sizeof(int));
  if (!p) return 0;
  *p = n;
  if (n > 5) *q = *p;
  free(p);
  free(q);
}
"""


@compiled
def test_an_allocation_fails_in_the_test_that_is_written():
    program = parse_program(ALLOCATED, file="p.c")
    verdict = verify(program, timeout=10)
    assert "a null pointer is dereferenced at p.c:7" in verdict.reason
    chosen = {text.partition("(")[0]: value for text, value in verdict.inputs}
    assert chosen["malloc"] == 1 and chosen["calloc"] == 0
    assert run_driver(driver(program, verdict), verdict).fails is True


def test_invariants_speak_of_places_in_arrays():
    program = parse_program(SHIFTS, file="p.c")
    verdict = verify(program, timeout=20)
    assert verdict.outcome.value == "SAFE"
    assert "k < (p - a)" in verdict.invariants[0].text
    assert "loop assigns p, a[..]" in acsl(program, verdict) or "a[..], p" in acsl(program, verdict)


COPY = """int unknown(void);
struct s { int f, g; };
void copy(int *d, const int *s, int n) {
  while (n-- > 0)
    *d++ = *s++;
}
int main(void) {
  int n = unknown(), i = 0;
  if (n < 1 || n > 9) return 0;
  int a[9] = {0}, b[9];
  struct s c[9];
  copy(b, a, n);
  while (i < n) c[i++].f = 1;
  assert(i == n);
}
"""


def test_what_loops_change_through_pointers_is_written():
    program = parse_program(COPY, file="p.c")
    assert program.graph is not None
    inner, outer = (program.graph.loops[block] for block in sorted(program.graph.loops))
    assert inner.parts["b"] == "d[..]" and "d" in inner.parts.values()
    assert "(d - b)" not in inner.scope  # there is no b
    text = acsl(program, verify(program, timeout=20))
    (assigns,) = re.findall(r"loop assigns ([^;]*);", text)
    assert {*assigns.split(", ")} == {"c[..]", "i"} and outer.parts["c.f"] == "c[..]"


SEVERAL = """int unknown(void);
int main(void) {
  int x = 0, y = 0, z = 0, a[3] = {0}, *p = &x, k = unknown();
  if (k == 1) p = &y;
  if (k == 2) p = &z;
  if (k == 3) p = a + 1;
  while (unknown()) *p += 1;
  assert(x + y + z >= 0);
}
"""


def test_a_program_is_always_read_alike():
    """Pointers are known by what the parser makes, which lies elsewhere every time."""
    read = [parse_program(SEVERAL, file="p.c") for _ in range(6)]
    graphs = [program.graph for program in read]
    assert len({repr([(b.statements, b.end) for b in g.blocks]) for g in graphs if g}) == 1
