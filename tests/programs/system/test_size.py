"""Terms share their parts: nothing may grow with what a term would be when it is written out."""

import pytest
import z3

from doeblin.programs import parse_program
from doeblin.programs.polynomials import abstract_system, polynomial_of
from doeblin.programs.polynomials._ring import TooManyTerms
from doeblin.programs.system.terms import (
    ONE,
    Translator,
    add,
    compare,
    const,
    evaluate,
    ite,
    mul,
    postorder,
    var,
    variables,
)

TIMES = 12  # so often doubled, a term that is written out is long; more would be too long to fail


class Stopped(Exception):
    """Raised by a tick."""


def doubled(step, times=TIMES):
    term = var("x")
    for _ in range(times):
        term = step(term)
    return term


def size(*terms):
    return sum(len(node.args) for node in postorder(*terms))


def squared(term):
    return mul(term, term)


def chosen(term):
    return ite(compare("<", mul(term, term), var("y")), term, mul(term, var("y")))


@pytest.mark.parametrize("step", [squared, chosen])
def test_a_text_is_short_and_the_same_for_the_same_terms(step):
    assert len(repr(doubled(step))) < 10_000
    assert repr(doubled(step)) == repr(doubled(step))
    assert repr(doubled(step)) != repr(doubled(step, TIMES - 1))


@pytest.mark.parametrize(
    ("step", "factor"),
    [
        (lambda t: add(t, t), 2),
        (lambda t: add(t, mul(const(2), t)), 3),
        (lambda t: add(mul(const(5), t), mul(const(-7), t)), -2),
    ],
)
def test_sums_are_gathered(step, factor):
    term = doubled(step)
    assert size(term) < 300
    assert evaluate(term, {"x": 3}) == 3 * factor**TIMES


def test_sums_of_many_different_parts():
    """Sums of sums: none is written out in another, and factors stay outside of them."""
    parts = [var(f"v{i}") for i in range(100)]
    total = add(*parts)
    for i in range(TIMES):
        total = add(total, mul(const(3), total), mul(var(f"w{i}"), total))
    assert size(total) < 300 * TIMES
    values = {f"v{i}": i for i in range(100)} | {f"w{i}": i % 3 for i in range(TIMES)}
    exact = 4950
    for i in range(TIMES):
        exact = exact + 3 * exact + (i % 3) * exact
    assert evaluate(total, values) == exact


def test_products_have_few_factors():
    with pytest.raises(TooManyTerms):
        polynomial_of(doubled(squared))
    assert polynomial_of(doubled(squared, 3)) == {("x",) * 8: 1}


def test_the_solver_is_given_no_product_that_it_would_write_out():
    translate = Translator(z3.Context())
    with pytest.raises(z3.Z3Exception, match="factors"):
        translate(doubled(squared, 40))
    inner = doubled(lambda t: add(mul(t, t), ONE), 40)  # it leaves sums as they are
    assert translate(inner).num_args() == 2


def test_names_of_products_are_short():
    """What a campaign of random programs found: 20 GB of names."""
    text = "int main() { int x = 1, y = 2, i = 0; while (i < 9) { i++; STEPS } assert(x != y); }"
    steps = "x = x * (y + x); y = (x < y ? x : y) * x; " * 6
    plain = abstract_system(parse_program(text.replace("STEPS", steps)).system)
    names = {n for c in plain.clauses for n in variables(c.constraint, *c.args)}
    assert any(name.startswith("#") for name in names)
    assert max(map(len, names)) < 5000


@pytest.mark.parametrize("most", [1, 100, 1000])
def test_preparing_a_program_can_be_stopped_anywhere(most):
    """Many ways to fail, and many cells: the clauses of such a program take long."""
    steps = "a[i] = a[j] + a[i + j]; j = a[j] & 15;" * 12
    text = f"int main() {{ int a[50], j = 3; for (int i = 0; i < 9; i++) {{ {steps} }} }}"
    program = parse_program(text)
    ticks = 0

    def tick():
        nonlocal ticks
        ticks += 1
        if ticks > most:
            raise Stopped

    with pytest.raises(Stopped):
        program.prepare(tick)
