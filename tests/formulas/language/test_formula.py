"""Formulas: evaluation, the four ways of printing, reading back, simplification."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doeblin._errors import InputError
from doeblin.formulas import Atom, Formula

VARIABLES = ("x", "y")
BOX = np.array(list(itertools.product(range(-4, 5), repeat=2)))

small = st.integers(-3, 3)
inequalities = st.builds(Atom, st.tuples(small, small), st.just("<="), small, st.just(0))
equalities = st.builds(
    Atom, st.tuples(small, small), st.sampled_from(["==", "!="]), small, st.just(0)
)
congruences = st.builds(
    Atom, st.tuples(small, small), st.sampled_from(["==", "!="]), small, st.integers(2, 4)
)
atoms = st.one_of(inequalities, equalities, congruences)
formulas = st.builds(
    lambda disjuncts: Formula(VARIABLES, disjuncts),
    st.lists(st.lists(atoms, max_size=3), max_size=3),
)


def plainly(formula: Formula, points: np.ndarray) -> list[bool]:
    """The formula decided by Python integers, one point at a time."""
    compare = {"<=": int.__le__, "==": int.__eq__, "!=": int.__ne__}

    def holds(atom: Atom, point) -> bool:
        value = sum(a * int(v) for a, v in zip(atom.coefficients, point, strict=True))
        return compare[atom.relation](
            value % atom.modulus if atom.modulus else value, atom.constant
        )

    return [
        any(all(holds(atom, point) for atom in disjunct) for disjunct in formula.disjuncts)
        for point in points
    ]


@given(formulas)
def test_evaluation_agrees_with_plain_python(formula):
    assert formula(BOX).tolist() == plainly(formula, BOX)


@given(formulas)
def test_what_is_printed_is_read_back(formula):
    assert Formula.parse(str(formula), VARIABLES) == formula
    assert Formula.from_json(json.loads(json.dumps(formula.to_json()))) == formula


@given(formulas)
def test_simplification_keeps_the_meaning_and_never_grows(formula):
    simple = formula.simplified()
    assert np.array_equal(simple(BOX), formula(BOX))
    assert len(simple.atoms) <= len(formula.atoms)
    assert simple.simplified() == simple


@given(formulas)
def test_the_python_function_decides_the_same(formula):
    namespace: dict = {}
    exec(formula.python("decide"), namespace)
    decided = [bool(namespace["decide"](int(x), int(y))) for x, y in BOX]
    assert decided == formula(BOX).tolist()


@settings(max_examples=30, deadline=None)
@given(formulas)
def test_the_smtlib_definition_decides_the_same(formula):
    z3 = pytest.importorskip("z3")  # the solver is part of the extra `verify`
    # A disagreement at any of these points would make the conjunction below unsatisfiable.
    claims = [
        f"(assert (= (f {_numeral(x)} {_numeral(y)}) {str(bool(truth)).lower()}))"
        for (x, y), truth in zip(BOX[::7], formula(BOX[::7]), strict=True)
    ]
    solver = z3.Solver()
    solver.from_string(formula.smtlib() + "\n" + "\n".join(claims))
    assert solver.check() == z3.sat


def _numeral(value) -> str:
    return str(int(value)) if value >= 0 else f"(- {-int(value)})"


@pytest.mark.parametrize(
    ("text", "simple"),
    [
        ("x <= -1 or x >= 1 or (y <= z and z <= y)", "x != 0 or y == z"),
        ("x <= 3 and x <= 5", "x <= 3"),
        ("x <= 1 and x >= 2", "False"),
        ("x <= 4 or x > 4", "True"),
        ("x == 1 and x >= 0", "x == 1"),
        ("x >= 0 and x != 0", "x >= 1"),
        ("(x <= 2 and y == 0) or y == 0", "y == 0"),
        ("x <= 1 or x == 2", "x <= 2"),
        ("(y == 0 and x <= 2) or (y == 0 and x >= 4)", "x != 3 and y == 0"),
        ("x % 2 == 1 and x % 2 != 1", "False"),
        ("2*x <= 5", "x <= 2"),
        ("x - y <= -1", "x < y"),
        ("2*x == 3", "False"),
    ],
)
def test_simplified_for_people(text, simple):
    assert str(Formula.parse(text).simplified()) == simple


def test_the_papers_example_in_every_language():
    f = Formula.parse("x1 != 0 or x2 == x3")
    assert f([[1, 2, 3], [1, 4, 4], [0, 1, 0], [0, 2, 2]]).tolist() == [True, True, False, True]
    assert str(f) == "x1 != 0 or x2 == x3"
    assert f.python() == "def f(x1, x2, x3):\n    return x1 != 0 or x2 == x3\n"
    assert f.smtlib() == (
        "(define-fun f ((x1 Int) (x2 Int) (x3 Int)) Bool "
        "(or (not (= x1 0)) (= (+ x2 (* (- 1) x3)) 0)))"
    )
    assert f.latex() == r"x_{1} \ne 0 \lor x_{2} = x_{3}"


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("not (x <= 3 and y != 2)", "x >= 4 or y == 2"),
        ("1 <= x < 5", "x >= 1 and x <= 4"),
        ("(x + y) * 2 <= 7 && !(x = 1)", "x + y <= 3 and x != 1"),
        ("-(x - 2*y) ≥ 0 ∨ ¬ x ≠ 3", "x <= 2*y or x == 3"),
        ("((x)) <= (3) and (y <= 1 or (x + 1) % 2 == 0)", "x <= 3 and (y <= 1 or x % 2 == 1)"),
        ("3 == x % 2", "False"),
        ("true", "True"),
    ],
)
def test_many_spellings_are_read(text, same):
    assert Formula.parse(text, VARIABLES) == Formula.parse(same, VARIABLES)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x <=", "column 5 .*expected a number or a variable, but the text ends"),
        ("x * y <= 1", "not linear"),
        ("x <= 3 )", "column 8 .*expected 'and', 'or' or the end"),
        ("x @ 3", "column 3 .*unexpected '@'"),
        ("x % 0 == 1", "positive number"),
        ("x % 2 <= 1", "only be compared by == or !="),
        ("z <= 1", "unknown variable 'z'"),
        ("x", "expected a comparison"),
        ("(x <= 1", "expected"),
        ("x % 2 + 1 == 1", "stand alone"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(text, message):
    with pytest.raises(InputError, match=message):
        Formula.parse(text, VARIABLES)


def test_formulas_are_values():
    first = Formula.parse("x <= 1 or y == 2", VARIABLES)
    second = Formula.parse("y == 2 or x <= 1", VARIABLES)
    assert first == second
    assert len({first, second}) == 1
    assert eval(repr(first), {"Formula": Formula}) == first
    with pytest.raises(AttributeError):
        first.variables = ("a", "b")  # type: ignore[misc]


def test_evaluation_is_exact_for_integers_of_any_size():
    f = Formula.parse("x + y <= 0", VARIABLES)
    huge = 10**30
    assert f([[huge, -huge], [huge, 1 - huge]]).tolist() == [True, False]
    assert f({"x": [2**62], "y": [2**62]}).tolist() == [False]


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([[0.5, 1.0]], "over integers"),
        ([[1, 2, 3]], "3 coordinates, but the formula is over 2"),
        ({"x": [1]}, "no value for variable 'y'"),
    ],
)
def test_points_that_do_not_fit_are_refused(points, message):
    with pytest.raises(InputError, match=message):
        Formula.parse("x <= y", VARIABLES)(points)


def test_json_that_is_no_formula_is_refused():
    with pytest.raises(InputError, match="not a formula"):
        Formula.from_json({"variables": ["x"]})
    with pytest.raises(InputError, match="not an integer"):
        Formula.from_json(
            {
                "variables": ["x"],
                "disjuncts": [[{"coefficients": [0.5], "relation": "<=", "constant": 1}]],
            }
        )
