"""Terms: folding and substitution never change the value; text and Z3 agree with evaluation."""

import operator

import z3
from hypothesis import given
from hypothesis import strategies as st

from doeblin.programs.system.terms import (
    Definitions,
    Translator,
    add,
    as_bool,
    as_int,
    compare,
    conj,
    const,
    disj,
    divide,
    evaluate,
    ite,
    mul,
    neg,
    negate,
    smtlib,
    substitute,
    var,
    variables,
)

NAMES = ("x", "y", "z#2")
small = st.integers(-5, 5)
values = st.fixed_dictionaries({name: small for name in NAMES})


def integers(depth: int):
    leaves = st.one_of(small.map(const), st.sampled_from(NAMES).map(var))
    if depth == 0:
        return leaves
    sub = integers(depth - 1)
    divisor = st.sampled_from([-3, -1, 1, 2, 7]).map(const)
    return st.one_of(
        leaves,
        st.tuples(sub, sub).map(lambda p: add(*p)),
        st.tuples(sub, sub).map(lambda p: mul(*p)),
        st.tuples(st.sampled_from(["div", "mod", "tdiv", "trem"]), sub, divisor).map(
            lambda p: divide(*p)
        ),
        sub.map(neg),
        st.tuples(booleans(depth - 1), sub, sub).map(lambda p: ite(*p)),
        booleans(depth - 1).map(as_int),
    )


def booleans(depth: int):
    sub = integers(max(0, depth - 1))
    comparison = st.tuples(st.sampled_from(["<", "<=", ">", ">=", "=", "!="]), sub, sub).map(
        lambda p: compare(*p)
    )
    if depth == 0:
        return comparison
    inner = booleans(depth - 1)
    return st.one_of(
        comparison,
        st.lists(inner, max_size=3).map(conj),
        st.lists(inner, max_size=3).map(disj),
        inner.map(negate),
        sub.map(as_bool),
    )


@given(booleans(2), values)
def test_z3_and_text_agree_with_evaluation(term, point):
    expected = bool(evaluate(term, point))
    context = z3.Context()
    translate = Translator(context)
    solver = z3.Solver(ctx=context)
    solver.add(translate(term), *(translate.constant(n) == v for n, v in point.items()))
    assert (str(solver.check()) == "sat") == expected
    definitions = Definitions()
    text = definitions.text(term)
    lines = [
        f"(declare-const |{n}| Int)(assert (= |{n}| {smtlib(const(v))}))" for n, v in point.items()
    ]
    parsed = z3.Solver(ctx=z3.Context())
    parsed.from_string("\n".join([*lines, *definitions.lines, f"(assert {text})"]))
    assert (str(parsed.check()) == "sat") == expected


@given(booleans(2), values, values)
def test_substitution_is_evaluation_in_another_point(term, point, shift):
    moved = {name: add(var(name), const(shift[name])) for name in NAMES}
    there = {name: point[name] + shift[name] for name in NAMES}
    assert bool(evaluate(substitute(term, moved), point)) == bool(evaluate(term, there))


@given(booleans(2), values)
def test_negation(term, point):
    assert bool(evaluate(negate(term), point)) != bool(evaluate(term, point))


@given(small, st.sampled_from([-4, -1, 1, 3]))
def test_divisions(a, b):
    quotient, rest = (evaluate(divide(op, const(a), const(b)), {}) for op in ("tdiv", "trem"))
    assert a == b * quotient + rest and abs(rest) < abs(b) and rest * a >= 0
    quotient, rest = (evaluate(divide(op, const(a), const(b)), {}) for op in ("div", "mod"))
    assert a == b * quotient + rest and 0 <= rest < abs(b)


def test_deep_terms_need_no_recursion():
    term = var("x")
    for i in range(30_000):
        term = ite(compare("<", term, const(i)), add(term, const(1)), term)
    assert variables(term) == {"x"}
    assert operator.ge(evaluate(term, {"x": 0}), 0)
