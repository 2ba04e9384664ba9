"""`doeblin formula` and `doeblin reproduce formulas` as a user meets them."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys

import pytest

from doeblin.cli import main

PAPER = "x1,x2,x3,f\n1,2,3,True\n1,4,4,True\n0,1,0,False\n0,2,2,True\n"


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


def whole_box() -> str:
    rows = ["x1,x2,x3,f"]
    for x1, x2, x3 in itertools.product(range(-2, 3), repeat=3):
        rows.append(f"{x1},{x2},{x3},{x1 != 0 or x2 == x3}")
    return "\n".join(rows) + "\n"


@pytest.fixture
def paper(tmp_path) -> str:
    path = tmp_path / "paper.csv"
    path.write_text(PAPER)
    return str(path)


@pytest.fixture
def box(tmp_path) -> str:
    path = tmp_path / "box.csv"
    path.write_text(whole_box())
    return str(path)


def test_the_papers_examples_are_explained_and_checked(capsys, paper):
    status, out, err = run(capsys, "formula", paper, "--check")
    assert status == 0
    assert out.strip()
    assert "agrees with all 4 examples" in err
    assert "checked on the data: 0 errors" in err


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("people", "x1 != 0 or x2 == x3"),
        ("python", "def f(x1, x2, x3):\n    return x1 != 0 or x2 == x3"),
        ("latex", r"x_{1} \ne 0 \lor x_{2} = x_{3}"),
        (
            "smtlib",
            "(define-fun f ((x1 Int) (x2 Int) (x3 Int)) Bool "
            "(or (not (= x1 0)) (= (+ x2 (* (- 1) x3)) 0)))",
        ),
    ],
)
def test_the_papers_formula_in_every_language(capsys, box, language, expected):
    status, out, _ = run(capsys, "formula", box, "--as", language)
    assert (status, out.strip()) == (0, expected)


def test_json_has_everything(capsys, box):
    status, out, _ = run(capsys, "formula", box, "--json", "--check", "--seed", "3")
    result = json.loads(out)
    assert status == 0
    assert result["formula"] == "x1 != 0 or x2 == x3"
    assert result["errors"] == result["checked_errors"] == 0
    assert result["steps"] > 0
    assert result["seconds"] > 0
    assert result["seed"] == 3
    assert result["contradictions"] == []
    assert result["trace"][-1]["cost"] == 0
    assert json.loads(run(capsys, "formula", box, "--as", "json")[1]) == result["structure"]


@pytest.mark.parametrize(
    "method",
    ["0-stage", "1-stage", pytest.param("2-stage", marks=pytest.mark.thorough), "gibbs"],
)
def test_every_method_in_the_papers_space(capsys, box, method):
    status, out, _ = run(
        capsys, "formula", box, "--method", method, "--beta", "2", "--template", "3x2",
        "--constants=-1..1", "--json",
    )  # fmt: skip
    assert status == 0
    assert json.loads(out)["template"] == [3, 2]


def test_an_answer_that_errs_says_so(capsys, box):
    status, out, err = run(capsys, "formula", box, "--template", "1x1", "--max-steps", "50")
    assert status == 2
    assert "errs on 5 of 125 examples: rows 51, 57, 63, 69, 75" in err
    assert "the steps were up" in err
    assert out.strip() == "x1 != 0"


def test_contradictions_are_reported_with_their_rows_before_the_search(capsys, tmp_path):
    path = tmp_path / "both.csv"
    path.write_text("x,f\n1,True\n2,False\n1,False\n1,True\n")
    status, _, err = run(capsys, "formula", str(path))
    assert status == 2
    assert "contradiction at x = 1: True in rows 1, 4, False in row 3" in err
    assert "no formula can do better" in err
    status, out, _ = run(capsys, "formula", str(path), "--json")
    assert json.loads(out)["contradictions"] == [{"true": [1, 4], "false": [3]}]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--template", "3"], "--template needs disjuncts x atoms"),
        (["--coefficients", "a..b"], "--coefficients needs a range"),
        (["--exits", "0.1", "--method", "2-stage"], "takes 2 exit rates"),
        (["--label", "g"], "no column 'g'"),
        (["--start", "x9 <= 1"], "unknown variable 'x9'"),
        (["--beta", "-1"], "beta"),
    ],
)
def test_bad_options_are_one_line_and_status_3(capsys, paper, arguments, message):
    status, _, err = run(capsys, "formula", paper, *arguments)
    assert status == 3
    assert message in err


def test_bad_files_name_the_place(capsys, tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("x,f\n1,True\n1.5,False\n")
    status, _, err = run(capsys, "formula", str(path))
    assert status == 3
    assert f"{path}:3: column 'x': '1.5' is not an integer" in err
    assert err.count("\n") == 1


def test_standard_input_and_no_jax():
    """From a pipe, in a fresh process, which never loads JAX."""
    code = (
        "import sys\n"
        "from doeblin.cli import main\n"
        "try:\n    main(['formula', '-'])\n"
        "finally:\n    print('jax' in sys.modules, file=sys.stderr)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], input=PAPER, capture_output=True, text=True, check=True
    )
    assert ended.stdout.strip()
    assert ended.stderr.strip().endswith("False")


@pytest.mark.thorough  # compiled for it alone; the search is that of the other tests
def test_reproduce_formulas_writes_table_plot_and_json(capsys, tmp_path):
    status, out, _ = run(
        capsys, "reproduce", "formulas", "--quick", "--families", "paper", "--out", str(tmp_path)
    )
    assert status == 0
    assert "2-stage" in out
    assert "focused Gibbs" in out
    assert "predicted" in out
    for name in ("formulas.png", "formulas.svg"):
        assert (tmp_path / name).stat().st_size > 1000
    # Strict JSON: the default's infinite β must not be written as such.
    numbers = json.loads((tmp_path / "formulas.json").read_text(), parse_constant=pytest.fail)
    assert {row["method"] for row in numbers["rows"]} == {
        "0-stage", "1-stage", "2-stage", "focused Gibbs",
    }  # fmt: skip
    assert all(row["runs"] == 10 for row in numbers["rows"])
    assert len(numbers["restart_curve"]["epsilon"]) == len(numbers["restart_curve"]["measured"])


def test_an_unknown_family_is_refused(capsys, tmp_path):
    status, _, err = run(
        capsys, "reproduce", "formulas", "--families", "none", "--out", str(tmp_path)
    )
    assert status == 3
    assert "there is no family 'none'" in err
