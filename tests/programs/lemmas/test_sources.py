"""Each source proposes what it is for, and nothing that an example refutes."""

import numpy as np
import pytest

from doeblin.linear import EQ, LE, NE, dnf_holds
from doeblin.programs.lemmas import CELL_STAGES, SOURCES, STAGES, in_order

from .contexts import atom, context_of

COUNT = """int main() { int n = unknown(), i = 0, k = 0; assume(n >= 0 && n <= 50);
  while (i < n) { i++; k += 3; } assert(k == 3 * n); }"""
MODES = """int main() { int mode = 0, left = 0, right = 0; while (unknown() >= 0) {
  if (mode == 0) { mode = 1; left++; } else if (mode == 1) { mode = 2; right++; } else mode = 0; }
  assert(left >= right); }"""
PHASES = """int main() { int x = 0, y = 0;
  while (x < 1000) { if (x < 250) y++; else if (x >= 750) y--; x++; } assert(y == 0); }"""
STEPS = """int main() { int k = unknown(), i; assume(0 <= k && k <= 9);
  for (i = 0; i < 100 * k; i += k) ; assert(i == 100 * k); }"""
RING = """int main() { int head = 0, tail = 0, n = 0; while (unknown() >= 0) {
  if (n < 5) { n++; tail = tail == 4 ? 0 : tail + 1; }
  else { n--; head = head == 4 ? 0 : head + 1; } } assert(n < 5 || head == tail); }"""
RING_ROWS = [{"head": h, "n": n, "tail": (h + n) % 5} for h in range(5) for n in range(6)]
PARITY = """int main() { int a = 0, b = 0; while (unknown() >= 0) { a += 2; b += a % 4; }
  assert(a % 2 == 0); }"""
SUM = """int main() { int a = unknown(), b = unknown(), c = 0, d = 0; assume(a >= 0 && b >= a);
  while (d < b) { d++; if (d <= a) c++; } assert(c <= d); }"""


def proposed(name, context):
    """All formulas of a source; none may be false at a point that it was shown."""
    found = list(SOURCES[name](context))
    for dnf in found:
        assert all(dnf_holds(dnf, point) for point in context.points.tolist())
    return set(found)


def test_hints():
    context = context_of(COUNT)
    hint = ((atom(context, LE, 7, n=1),),)
    (found,) = SOURCES["hints"](context_of(COUNT, hints=[hint]))  # even a wrong one
    assert found == hint


def test_equations():
    context = context_of(COUNT)
    assert ((atom(context, EQ, 0, k=-1, i=3),),) in proposed("equations", context) or (
        (atom(context, EQ, 0, k=1, i=-3),),
    ) in proposed("equations", context)
    assert not proposed("equations", context_of(COUNT, []))


def test_comparisons():
    context = context_of(COUNT)
    found = proposed("comparisons", context)
    assert ((atom(context, LE, 0, i=1, n=-1),),) in found
    assert ((atom(context, LE, -1, i=1, n=-1),),) not in found  # false at the end


def test_intervals():
    context = context_of(COUNT)
    found = proposed("intervals", context)
    assert {((atom(context, LE, 0, i=-1),),), ((atom(context, LE, 50, n=1),),)} <= found
    assert ((atom(context, LE, 11, n=1),),) in found  # as tight as the examples
    assert all(sum(map(bool, a.coefficients)) == 1 for ((a,),) in found)


def test_facets():
    context = context_of(COUNT)
    vectors = {a.coefficients for ((a,),) in proposed("facets", context)}
    assert atom(context, LE, 0, i=1, n=-1).coefficients in vectors
    assert all(sum(map(bool, vector)) > 1 for vector in vectors)


def test_congruences():
    thirds = COUNT.replace("k += 3", "k += unknown() > 5 ? 9 : 6").replace("k == 3 * n", "k != 7")
    context = context_of(thirds)
    assert ((atom(context, EQ, 0, 3, k=1),),) in proposed("congruences", context)
    context = context_of(PARITY)
    assert ((atom(context, EQ, 0, 2, a=1),),) in proposed("congruences", context)


def test_two_values():
    context = context_of(RING, RING_ROWS)
    ring = [atom(context, EQ, c, head=1, n=1, tail=-1) for c in (0, 5)]
    flipped = [atom(context, EQ, c, head=-1, n=-1, tail=1) for c in (-5, 0)]
    found = [set(dnf) for dnf in proposed("two-values", context)]
    assert {(a,) for a in ring} in found or {(a,) for a in flipped} in found


def test_modes():
    context = context_of(MODES)
    found = proposed("modes", context)
    assert tuple((atom(context, EQ, value, mode=1),) for value in (0, 1, 2)) in found
    never = (atom(context, NE, 0, mode=1),)
    special = {atom(context, EQ, 0, left=1, right=-1), atom(context, EQ, 0, left=-1, right=1)}
    assert any((never, (a,)) in found for a in special)


def test_sizes():
    context = context_of(STEPS, inputs=range(10))
    known = [((atom(context, LE, 9, k=1),),), ((atom(context, LE, 0, k=-1),),)]
    context = context_of(STEPS, known=known, inputs=range(10))
    wanted = ((atom(context, NE, 7, k=1),), (atom(context, EQ, 0, 7, i=1),))
    assert wanted in proposed("sizes", context)


def test_implications():
    context = context_of(PHASES, [{"x": x, "y": min(x, 250, 1000 - x)} for x in range(1001)])
    found = proposed("implications", context)
    # From 750 on: the complement of the phase, or what holds in it.
    outside = {atom(context, LE, 749, x=1), atom(context, LE, -1001, x=-1)}
    down = {atom(context, EQ, 1000, x=1, y=1), atom(context, EQ, -1000, x=-1, y=-1)}
    cases = [({cube[0] for cube in dnf[:-1]}, dnf[-1][0]) for dnf in found]
    assert any(case <= outside and last in down for case, last in cases)


@pytest.mark.parametrize(
    ("name", "vector"),
    [
        ("likely-bounds", {"c": 1, "d": -1}),
        ("wide-bounds", {"c": 1, "a": -1}),
    ],
)
def test_bounds(name, vector):
    context = context_of(SUM)
    found = proposed(name, context)
    assert ((atom(context, LE, 0, **vector),),) in found
    blind = list(SOURCES[name](context_of(SUM, [])))
    assert blind  # without examples, what the program says


def test_wide_implications():
    context = context_of(SUM, inputs=range(-3, 9))
    assert all(len(dnf) == 2 for dnf in proposed("wide-implications", context))


@pytest.mark.parametrize("name", SOURCES)
def test_no_source_minds_extremes(name):
    """No state, one state, states that are all alike, and no variable of interest."""
    for rows in ([], [{"n": 3, "i": 0, "k": 0}], [{"n": 3, "i": i, "k": 0} for i in range(4)]):
        proposed_for = context_of(COUNT, rows)
        list(SOURCES[name](proposed_for))
    far = [{"n": (1 << 39) - i, "i": -(1 << 39), "k": i % 2} for i in range(9)]
    for dnf in SOURCES[name](context_of(COUNT, far)):
        assert np.isfinite(sum(a.constant for cube in dnf for a in cube))


def test_the_table_names_sources_that_exist_and_uses_all():
    assert {name for stage in STAGES for name in stage.sources} == set(SOURCES)
    assert len({stage.name for stage in STAGES}) == len(STAGES)


def test_stages_about_cells_follow_the_products_that_a_program_makes():
    def first(*products):
        return [stage.name for stage in in_order(products, {"i", "n"})[:2]]

    assert first() == ["cells", "cells-bounds"]
    assert first(("i", "n")) == ["cells", "cells-squares"]
    assert first(("i", "s")) == ["cells", "cells-products"]
    assert first(("i", "i", "i")) == ["cells", "cells-cubes"]
    assert {stage.name for stage in in_order([("i", "s")], ())} == {s.name for s in CELL_STAGES}
