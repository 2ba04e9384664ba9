"""The algebra by itself: spaces of vanishing polynomials against arithmetic by hand."""

from fractions import Fraction

import pytest

from doeblin.programs import parse_program
from doeblin.programs.polynomials import (
    branches_of,
    equation,
    generators,
    inductive,
    integral,
    monomials,
    polynomial_of,
    value_at,
    vanishing,
)
from doeblin.programs.polynomials._ring import PRIME, rational
from doeblin.programs.polynomials._spaces import Ideal
from doeblin.programs.system.terms import add, const, divide, mul, var

N, S = var("n"), var("s")


def test_the_sum_of_squares_is_found_from_points():
    points = [(n, sum(i * i for i in range(n + 1))) for n in range(12)]
    (found,) = generators(vanishing(points, ("n", "s"), [*monomials(("n",), 3), ("s",)]) or [])
    # 6 s = 2 n^3 + 3 n^2 + n
    exact = integral(found)
    assert exact in (
        {("n",) * 3: 2, ("n",) * 2: 3, ("n",): 1, ("s",): -6},
        {("n",) * 3: -2, ("n",) * 2: -3, ("n",): -1, ("s",): 6},
    )
    assert all(value_at(exact, {"n": n, "s": s}) == 0 for n, s in points)
    assert "(* n n)" in repr(equation(exact))


def test_too_few_points_say_nothing():
    assert vanishing([(0, 0), (1, 1)], ("n", "s"), monomials(("n", "s"), 2)) is None


@pytest.mark.parametrize("value", [Fraction(0), Fraction(-7, 30), Fraction(1, 2), Fraction(9999)])
def test_residues_are_the_rationals_that_they_stand_for(value):
    residue = value.numerator * pow(value.denominator, -1, PRIME) % PRIME
    assert rational(residue) == (value.numerator, value.denominator)


def test_division_leaves_what_is_not_in_the_ideal():
    ideal = Ideal([{("x", "y"): 1, (): PRIME - 1}])  # x y = 1
    assert ideal.rest({("x", "x", "y", "y"): 1}) == {(): 1}
    assert ideal.rest({("x", "x"): 1}) == {("x", "x"): 1}


def test_a_remainder_is_what_the_quotient_leaves():
    term = add(mul(const(2), divide("tdiv", N, const(2))), divide("trem", N, const(2)))
    assert polynomial_of(term, lambda *parts: "quotient") == {("n",): 1}
    assert polynomial_of(term) is None


def test_steps_keep_combinations_though_one_equation_is_an_accident():
    """Of n <= 1 alone n² = n is seen; with it any basis has 2 s = n² + n in disguise."""
    program = parse_program(
        "int main() { int i = 0, s = 0; while (unknown()) { i++; s += i; } assert(s >= 0); }"
    )
    system = program.system
    ways = [branches_of(clause, [], lambda facts, fact: False) for clause in system.clauses]
    cut = system.cuts[0]
    i, s = (next(n for n in cut.variables if n.startswith(x)) for x in "is")
    # s - i and i² - i vanish at (0, 0) and (1, 1); what remains is twice s less i² less i.
    space = [{(s,): 1, (i,): PRIME - 1}, {(i, i): 1, (i,): PRIME - 1}]
    (kept,) = inductive(system, ways, [space], lambda: None)[0]
    exact = integral(kept)
    assert exact is not None
    assert {m: abs(c) for m, c in exact.items()} == {(s,): 2, (i, i): 1, (i,): 1}
    assert exact[(s,)] * exact[(i,)] < 0 and exact[(i,)] == exact[(i, i)]
