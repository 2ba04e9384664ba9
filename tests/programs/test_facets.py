"""What clouds of examples suggest, held against slow enumeration."""

import random
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doeblin.programs import Outcome, parse_program, verify
from doeblin.programs._methods import search_method
from doeblin.programs.learner import Learner, multiplies, with_products, without_products
from doeblin.programs.learner._facets import congruences, equations, facets, two_valued
from doeblin.programs.learner._harvest import harvest
from doeblin.programs.learner._lemmas import new_formulas, phases
from doeblin.programs.learner._modes import sizes
from doeblin.programs.learner._space import Space
from doeblin.programs.learner._starts import Starts
from doeblin.programs.proof import EQ, LE, NE, Atom, Clock, all_term, dnf_holds, recheck
from doeblin.programs.terms import conj


def clouds(width, *, least=1):
    point = st.tuples(*[st.integers(-6, 6)] * width)
    return st.lists(point, min_size=least, max_size=14, unique=True)


def rank(rows):
    rows, found = [[Fraction(v) for v in row] for row in rows], 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((r for r in rows[found:] if r[column]), None)
        if pivot is None:
            continue
        rows.remove(pivot)
        rows.insert(found, pivot)
        for i, row in enumerate(rows):
            if i != found and row[column]:
                factor = row[column] / pivot[column]
                rows[i] = [a - factor * b for a, b in zip(row, pivot, strict=True)]
        found += 1
    return found


def spans(points):
    return rank([[a - b for a, b in zip(p, points[0], strict=True)] for p in points[1:]])


@given(clouds(3, least=3))
def test_facets_are_all_bounds_that_a_full_face_attains(cloud):
    found = facets(np.array(cloud), [0, 1, 2], [2], most=10_000)
    # Columns that repeat another, up to sign and a constant, are left out.
    columns = []
    by_values = sorted(range(3), key=lambda i: (-len({p[i] for p in cloud}), i))
    for i in by_values:
        repeats = any(len({p[i] - s * p[j] for p in cloud}) == 1 for j in columns for s in (1, -1))
        if len({p[i] for p in cloud}) > 1 and not repeats:
            columns.append(i)
    expected = set()
    for vector in product((-2, -1, 0, 1, 2), repeat=3):
        used = [i for i, c in enumerate(vector) if c]
        if len(used) < 2 or not set(used) <= set(columns) or np.gcd.reduce(vector) != 1:
            continue
        shown = {tuple(p[i] for i in used) for p in cloud}
        values = {p: sum(vector[i] * v for i, v in zip(used, p, strict=True)) for p in shown}
        highest = max(values.values())
        face = [p for p, value in values.items() if value == highest]
        if spans(list(shown)) == len(used) and spans(face) == len(used) - 1:
            expected.add((vector, highest))
    assert set(found) == expected


@given(clouds(3), st.sampled_from([2, 3, 5]))
def test_congruences_span_all_that_hold(cloud, prime):
    def remainders(vector):
        return {sum(c * x for c, x in zip(vector, p, strict=True)) % prime for p in cloud}

    found = congruences(np.array(cloud), [0, 1, 2], prime)
    assert all(remainders(vector) == {rest} for vector, rest in found)
    spanned = {
        tuple(sum(k * v[i] for k, (v, _) in zip(ks, found, strict=True)) % prime for i in range(3))
        for ks in product(range(prime), repeat=len(found))
    }
    same = {v for v in product(range(prime), repeat=3) if len(remainders(v)) == 1}
    assert spanned == same and len(spanned) == prime ** len(found)


@given(clouds(3))
def test_equations_span_all_that_hold(cloud):
    found = equations(np.array(cloud), [0, 1, 2])
    for vector, value in found:
        assert {sum(c * x for c, x in zip(vector, p, strict=True)) for p in cloud} == {value}
    assert rank([vector for vector, _ in found]) == 3 - spans(cloud)


@given(clouds(3, least=4))
def test_two_values_are_all_the_values(cloud):
    for vector, (low, high) in two_valued(np.array(cloud), [0, 1, 2]):
        values = {sum(c * x for c, x in zip(vector, p, strict=True)) for p in cloud}
        assert values == {low, high} and high > low + 1


def test_a_ring_has_two_values():
    cloud = [((t + n) % 5, t, n) for t in range(5) for n in range(6)]
    assert ((1, -1, -1), (-5, 0)) in two_valued(np.array(cloud), [0, 1, 2])


@given(
    st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3), st.integers(-9, 9)), max_size=12),
    st.integers(-4, 0),
    st.integers(0, 4),
    st.integers(-4, 4),
)
def test_formulas_left_out_follow_from_what_is_known(bounds, low, high, other):
    formulas = [((Atom((a, b), LE, c),),) for a, b, c in bounds if a or b]
    known = [((Atom((1, 0), LE, high),),), ((Atom((-1, 0), LE, -low),),)]
    ranges = [(None, None), (other, other + 3)]
    kept = new_formulas(formulas, known, ranges)
    for dnf in formulas:
        everywhere = all(
            dnf_holds(dnf, (x, y)) for x in range(low, high + 1) for y in range(other, other + 4)
        )
        assert dnf in kept or dnf in known or everywhere
        assert not (dnf in kept and everywhere)


def test_runs_start_within_what_the_program_assumes():
    program = parse_program("""int main() {
      int n = unknown(), m = unknown(), k = unknown(), i = 0;
      if (!(10 <= n && n < 200)) return 0;
      assume(m > -5); assume(!(m >= 8 || k == 3));
      while (i < n) i++;
      assert(i == n);
    }""")
    starts, rng = Starts(program.system), random.Random(0)
    for _ in range(200):
        values = sorted(starts.draw(rng, anywhere=0.5).values())
        assert len(values) == 2 and -4 <= values[0] <= 7 and 10 <= values[1] <= 199


def space_of(text):
    program = parse_program(text)
    found = harvest(program.system, program.graph)
    (cut,) = program.system.cuts
    return Space(cut, found.relevant[0], found, random.Random(0)), cut.shown.index


def test_phases_are_between_the_constants_that_a_variable_is_compared_with():
    space, at = space_of("""int main() { int x = 0, y = 0;
      while (x < 1000) { if (x < 250) y++; else if (x >= 750) y--; x++; }
      assert(y == 0); }""")
    up, down = space.unit(at("x")), space.unit(at("x"), -1)
    found = {
        (-low.constant, high.constant)
        for low, high in phases(space)
        if (low.vector, high.vector) == (down, up)
    }
    assert {(250, 750), (750, 1000)} <= found


def test_what_moves_in_steps_of_a_size_keeps_its_remainder():
    space, at = space_of("""int main() { int k = unknown(), i; assume(0 <= k && k <= 9);
      for (i = 0; i < 100 * k; i += k) ; assert(i == 100 * k); }""")
    i, k = at("i"), at("k")
    good = [(n * s, s) if i < k else (s, n * s) for s in range(10) for n in range(30)]
    known = [((Atom(space.unit(k), LE, 9),),), ((Atom(space.unit(k, -1), LE, 0),),)]
    found = sizes(space, good, known, space.cut.ranges)
    wanted = ((Atom(space.unit(k), NE, 7),), (Atom(space.unit(i), EQ, 0, 7),))
    assert wanted in found
    assert all(dnf_holds(dnf, point) for dnf in found for point in good)
    assert not sizes(space, good, known[:1], [(None, None)] * 2)  # not known to be few


@pytest.mark.parametrize(
    "text",
    [
        # Each attempt is bounded, and so is their sum: coefficients in several loops at once.
        """int main() {
          int n = unknown(), sent = 0, lost = 0, tries, all = 0;
          if (n <= 0) return 0;
        next:
          if (sent + lost == n) goto out;
          tries = 0;
        retry:
          tries++; all++;
          if (unknown() > 0) { sent++; goto next; }
          if (tries < 4) goto retry;
          lost++;
          goto next;
        out:
          assert(all >= n && all <= 4 * n && all >= sent + 4 * lost);
        }""",
        # A fact about inputs of either sign travels through four loops.
        """int main() {
          int a = unknown(), b = unknown(), k = 0, i;
          for (i = 0; i < a; i++) k++;
          for (i = 0; i < b; i++) k++;
          for (i = 0; i < b; i++) k--;
          for (i = 0; i < a; i++) { assert(k > 0); k--; }
        }""",
        # Three variables are even together, none of them alone.
        """int main() {
          int a = 0, b = 0, c = 0;
          while (unknown()) {
            if (unknown()) { a++; b++; } else if (unknown()) { b += 3; c--; } else { a -= 5; c++; }
          }
          assert(a + b + c != 7);
        }""",
        # Products, of which six variables would have too many.
        """int main() {
          int x = unknown(), y = unknown(), q = 0, r = x, a = 0, b = 0;
          assume(x >= 0 && y >= 1);
          while (r >= y) {
            for (a = 1, b = y; r >= 2 * b; ) { assert(b == y * a); a = 2 * a; b = 2 * b; }
            r = r - b; q = q + a;
          }
          assert(x == q * y + r);
        }""",
    ],
)
def test_what_facets_prove(text):
    """By lemmas alone, without any help; a fresh solver agrees."""
    program = parse_program(text)
    system = with_products(program.system) if multiplies(program.system) else program.system
    with Clock(60) as clock:
        learner = Learner(
            system,
            clock,
            lambda: search_method("default"),
            random.Random(0),
            graph=program.graph,
            interpreter=program.interpreter,
        )
        found = learner.run()
        assert found is not None and learner.progress.by == "lemmas"
        terms = [
            conj((cut.facts(), without_products(all_term(formulas, wide.variables), wide)))
            for formulas, wide, cut in zip(found, system.cuts, program.system.cuts, strict=True)
        ]
        assert recheck(program.system, terms, clock) is None


@pytest.mark.parametrize(
    "text",
    [
        # One value of the input's range, known only deep inside.
        """int main() {
          int n = unknown(), m = unknown(), i, j, k = 0;
          assume(n >= 60 && n <= 100 && m >= 60 && m <= 100);
          for (i = 0; i < n; i++) for (j = 0; j < m; j++) {
            k++;
            if (i == 50 && j == 50) assert(k != 3301);
          }
        }""",
        # Hundreds of turns in which the same inputs come again and again.
        """int main() {
          int a = 0, b = 1, run = 0, idle = 0, turn = 0, t;
          for (t = 0; t < 2000; t++) {
            int w = unknown();
            if (w == 1) a = 1; else if (w == 2) b = 1;
            if (run == 0 || turn >= 4) { run = a ? 1 : b ? 2 : 0; turn = 0; }
            turn++;
            if (run != 2 && b) idle++;
            if (unknown()) { if (run == 1) a = 0; else if (run == 2) { b = 0; idle = 0; } run = 0; }
            assert(idle < 150);
          }
        }""",
    ],
)
def test_failures_that_runs_reach(text):
    assert verify(parse_program(text), timeout=20).outcome is Outcome.UNSAFE
