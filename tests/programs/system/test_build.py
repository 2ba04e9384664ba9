"""Nodes made by Z3's calls are those that its Python operators make, and models are read right."""

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from doeblin.programs.system.terms import Translator, new_context

CONTEXT = new_context()
BUILD = Translator(CONTEXT).build
X, Y = z3.Ints("x y", CONTEXT)
P, Q = z3.Bools("p q", CONTEXT)
ENDS = [0, 1, -1, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 10**40]


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (BUILD.variable("x"), X),
        (BUILD.variable("z#2 |'"), z3.Int("z#2 |'", CONTEXT)),
        (BUILD.flag("p"), P),
        (BUILD.total(X, Y, X), z3.Sum(X, Y, X)),
        (BUILD.product(X, Y), X * Y),
        (BUILD.remainder(X, BUILD.integer(3)), X % 3),
        (BUILD.at_most(X, Y), X <= Y),
        (BUILD.at_least(X, Y), X >= Y),
        (BUILD.below(X, Y), X < Y),
        (BUILD.equal(X, Y), X == Y),
        (BUILD.equal(P, Q), P == Q),
        (BUILD.different(X, Y), X != Y),
        (BUILD.negation(P), z3.Not(P)),
        (BUILD.implication(P, Q), z3.Implies(P, Q)),
        (BUILD.conjunction(P, Q, P), z3.And(P, Q, P)),
        (BUILD.conjunction(), z3.And(CONTEXT)),
        (BUILD.disjunction(P, Q), z3.Or(P, Q)),
        (BUILD.disjunction(), z3.Or(CONTEXT)),
    ],
    ids=lambda node: node.sexpr(),
)
def test_nodes_are_those_of_the_operators(made: z3.ExprRef, expected: z3.ExprRef):
    assert made.eq(expected)
    assert type(made) is type(expected)


@given(st.integers() | st.sampled_from(ENDS))
def test_numbers_come_back_from_models(value: int):
    number = BUILD.integer(value)
    assert number.eq(z3.IntVal(value, CONTEXT))
    assert number.as_long() == value
    solver = z3.SimpleSolver(ctx=CONTEXT)
    BUILD.hold(solver, BUILD.equal(X, number), BUILD.below(Y, X))
    assert solver.check() == z3.sat
    assert BUILD.numbers(solver.model(), [X, number]) == [value, value]
    assert BUILD.numbers(solver.model(), [Y])[0] < value


def test_what_a_model_leaves_open_is_zero():
    solver = z3.SimpleSolver(ctx=CONTEXT)
    BUILD.hold(solver, P)
    solver.check()
    assert BUILD.numbers(solver.model(), [X, z3.Int("unheard of", CONTEXT)]) == [0, 0]


def test_text_is_asserted_whole():
    solver = z3.SimpleSolver(ctx=CONTEXT)
    BUILD.hold_text(solver, "(declare-const x Int) (assert (< 3 x)) (assert (< x 5))")
    assert len(solver.assertions()) == 2
    assert solver.check() == z3.sat
    assert BUILD.numbers(solver.model(), [X]) == [4]


def test_truth_among_numbers_counts_one_and_numbers_are_no_truth():
    """Z3's own rule, which is that of the operators."""
    assert BUILD.total(X, P).eq(X + z3.If(P, 1, 0))
    assert BUILD.equal(X, P).eq(BUILD.equal(X, z3.If(P, 1, 0)))
    with pytest.raises(z3.Z3Exception):
        BUILD.conjunction(P, X)
