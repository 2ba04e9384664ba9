"""Examples: reading them, contradictions, weights, and clear refusals."""

from __future__ import annotations

import json

import numpy as np
import pytest

from doeblin._errors import InputError
from doeblin.formulas import Contradiction, Examples, Formula, read_examples


def write(folder, text: str, name: str = "examples.csv") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_csv_is_read(tmp_path):
    text = "\ufeffx1, x2 ,f,weight\n1,-2,True,1\n\n+3,4,false,2\n"
    data = read_examples(write(tmp_path, text))
    assert data.variables == ("x1", "x2")
    assert data.points.tolist() == [[1, -2], [3, 4]]
    assert data.labels.tolist() == [True, False]
    assert data.weights.tolist() == [1, 2]


def test_zeros_and_ones_are_labels_only_when_nothing_says_true(tmp_path):
    data = read_examples(write(tmp_path, "a,b\n7,1\n8,0\n"))
    assert data.variables == ("a",)
    data = read_examples(write(tmp_path, "f,a\nyes,1\nno,0\n"))
    assert data.variables == ("a",)
    assert data.labels.tolist() == [True, False]


def test_json_with_implications_is_read(tmp_path):
    value = {
        "examples": [{"x": 0, "f": True}, {"x": -1, "f": False}],
        "implications": [{"if": {"x": 0}, "then": {"x": 1}}],
    }
    data = read_examples(write(tmp_path, json.dumps(value), "e.json"))
    assert data.points.tolist() == [[0], [-1]]
    assert data.implications.tolist() == [[[0], [1]]]
    plain = read_examples(write(tmp_path, json.dumps(value["examples"]), "f.json"))
    assert plain.labels.tolist() == [True, False]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("x,f\n", "no rows"),
        ("x,f\n1,True\n,False\n", r"examples.csv:3: column 'x': the value is missing"),
        ("x,f\n1,True\n1.5,False\n", r"examples.csv:3: column 'x': '1.5' is not an integer"),
        ("x,f\n1,True\n99999999999999999999,False\n", r":3: column 'x': .* is too large"),
        (f"x,f\n1,True\n{'9' * 5000},False\n", r":3: column 'x': .* is too large"),
        ("x,f\n1,True\n2,False,3\n", r":3: 3 values, but the header has 2"),
        ("x,f\n1,True\n2,maybe\n", "column 'f' has 'maybe' in row 2"),
        ("x,f\n1,7\n2,8\n", "no column holds only True and False"),
        ("1,2,True\n3,4,False\n", "must name the columns"),
        ("x,x,f\n1,2,True\n", "two columns are called 'x'"),
        ("a b,f\n1,True\n", "column 'a b' is not a variable name"),
        ("x,f,g\n1,True,False\n", "2 columns hold truth values"),
        ("f\nTrue\n", "no integer column"),
        ("x,weight,f\n1,0,True\n", ":2: column 'weight': 0 is not positive"),
        ("[{]", "not JSON"),
        ('[{"x": 1, "f": true}, {"x": 2}]', "example 2: column 'f': the value is missing"),
        ('{"implications": [{"if": {"x": 1}}]}', "implication 1: needs the objects"),
        ("{}", "no examples"),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_place(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_examples(write(tmp_path, text))


def test_a_file_that_is_not_there_or_not_text_is_refused(tmp_path):
    with pytest.raises(InputError, match="cannot read"):
        read_examples(tmp_path / "nowhere.csv")
    path = tmp_path / "bytes.csv"
    path.write_bytes(b"\xff\xfe\xff")
    with pytest.raises(InputError, match="UTF-8"):
        read_examples(path)


def test_contradictions_are_found_and_what_they_cost_is_unavoidable():
    data = Examples([[0], [1], [0], [0]], [True, True, False, True], weights=[1, 1, 5, 1])
    assert data.contradictions() == [Contradiction(inside=(0, 3), outside=(2,))]
    merged = data.merged()
    assert merged.unavoidable == 2
    for text in ("x1 == 0", "x1 == 1", "True", "False"):
        formula = Formula.parse(text, ["x1"])
        rest = (merged.weights * (formula(merged.points) != merged.labels)).sum()
        assert data.cost(formula) == merged.unavoidable + rest


def test_implications_count_when_the_source_is_inside_and_the_target_outside():
    pairs = [[[k], [k + 1]] for k in range(5)]
    data = Examples([[0]], [True], implications=pairs)
    assert data.errors(Formula.parse("x1 <= 2", ["x1"])) == 1
    assert data.errors(Formula.parse("x1 != 0", ["x1"])) == 1
    assert data.errors(Formula.parse("x1 == 0 or x1 == 3", ["x1"])) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"points": [[0.5]], "labels": [True]}, "integers"),
        ({"points": [[2**60]], "labels": [True]}, "within ±2"),
        ({"points": [[1], [2]], "labels": [True]}, "2 truth values"),
        ({"points": [[1]], "labels": [1]}, "truth values"),
        ({"points": [], "labels": []}, "points must be rows|no examples"),
        ({"points": [[0] * 31], "labels": [True]}, "31 variables"),
        ({"points": [[1]], "labels": [True], "weights": [0]}, "number 0 is 0"),
        ({"points": [[1]], "labels": [True], "variables": ["a", "b"]}, "1 different variables"),
        ({"points": [[1]], "labels": [True], "implications": [[[1, 2], [3, 4]]]}, "pairs"),
    ],
)
def test_examples_that_make_no_sense_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        Examples(**arguments)


def test_examples_cannot_be_changed():
    data = Examples(np.array([[1]]), [True])
    with pytest.raises(ValueError, match="read-only"):
        data.points[0, 0] = 2
