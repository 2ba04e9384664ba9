"""The command line as a whole: help, version, exit codes, certify, the example and the demo."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from decimal import Context, Decimal
from pathlib import Path

import pytest

import doeblin
from doeblin.cli import main

DOEBLIN = Path(sys.executable).with_name("doeblin")


def call(capsys, *arguments: str) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of a command, run in this process."""
    with pytest.raises(SystemExit) as stopped:
        main(list(arguments))
    captured = capsys.readouterr()
    return int(stopped.value.code or 0), captured.out, captured.err


def test_help_lists_the_commands(capsys):
    for arguments in (["--help"], ["-h"], []):
        status, out, _ = call(capsys, *arguments)
        assert status == 0
        assert "certify" in out and "reproduce" in out and "demo" in out


def test_version(capsys):
    assert call(capsys, "--version") == (0, f"doeblin {doeblin.__version__}\n", "")
    module = [sys.executable, "-m", "doeblin", "--version"]
    shown = subprocess.run(module, capture_output=True, text=True, check=True)
    assert shown.stdout == f"doeblin {doeblin.__version__}\n"


def test_every_command_has_help(capsys):
    from doeblin.cli._main import _Commands

    for command in _Commands.modules:
        status, out, _ = call(capsys, command, "--help")
        assert status == 0 and "Usage: doeblin" in out


def test_certify_for_programs(capsys):
    status, out, _ = call(capsys, "certify", "--exits", "1,0.04,0.0002", "--json")
    found = json.loads(out)
    assert status == 0
    assert found["gap"] >= 1.9e-4
    assert found["mixing_time"]["0.25"] == 7005
    assert {"doeblin_parameter", "steps", "expected_draw_cost", "theorem"} <= found.keys()


@pytest.mark.parametrize(
    "epsilon", ["0.123456789", "0.0123456789", "0.9999999999", "1e-7", "1e-300"]
)
def test_what_is_certified_is_shown_rounded_down(capsys, epsilon):
    """With the kernel that stays put the gap is ε itself, and not a bit more."""
    _, out, _ = call(capsys, "certify", "--epsilon", epsilon)
    shown = {line[:28].strip(): Decimal(line[28:].split()[0]) for line in out.splitlines()[:2]}
    assert Decimal(epsilon) * Decimal("0.999") < shown["spectral gap ≥"] <= Decimal(epsilon)
    assert shown["strong Doeblin parameter ≥"] <= Decimal(epsilon)
    assert "inf" not in out and max(map(len, out.splitlines())) < 100
    # (1 - ε)^n ≤ TV, by more digits than anything here has.
    after = Decimal(out.splitlines()[2].split()[4].replace(",", ""))
    rate = (Context(prec=400).subtract(1, Decimal(epsilon))).ln(Context(prec=330))
    assert rate * after <= Decimal("0.25").ln()
    for line in out.splitlines():
        if "corollary" in line:  # Where its condition holds.
            assert Decimal(line.split()[-1]) <= Decimal(epsilon) / 78


def test_certify_for_people(capsys):
    status, out, _ = call(capsys, "certify", "--epsilon", "0.1", "--tv", "0.5")
    assert status == 0
    assert "within TV 0.5 after         7 steps" in out


def test_certify_any_matrix(capsys):
    arguments = ["--matrix", "[[0.5, 0.5], [0.2, 0.8]]", "--restart", "1", "--json"]
    found = json.loads(call(capsys, "certify", *arguments)[1])
    assert found["restart_stage"] == 1


def test_what_is_not_certified_is_null_in_json(capsys):
    found = json.loads(call(capsys, "certify", "--exits", "1,1", "--json")[1])
    assert found["mixing_time"]["0.25"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["certify"], "give exactly one of --exits, --epsilon and --matrix (got 0)"),
        (["certify", "--epsilon", "1.5"], "epsilon = 1.5 is outside (0, 1]"),
        (["certify", "--epsilon", "many"], "'many' is not a valid float"),
        (["certify", "--exits", "1,x"], "--exits needs numbers separated by commas, got 'x'"),
        (["certify", "--matrix", "[[1"], "--matrix is not JSON (column"),
        (["certify", "--matrix", "[[0.5,0.4],[1,0]]"], "row 0 of the stage matrix sums to 0.9"),
        (["certify", "--matrix", "[[1,0],[0,1]]"], "no path from stage 1"),
        (["certify", "--epsilon", "0.5", "--tv", "2"], "total variation 2 is outside (0, 1)"),
        (["reproduce", "example", "--deltas", "0.9"], "delta = 0.9 is outside (0, 0.5]"),
        (["nonsense"], "No such command 'nonsense'; 'doeblin --help' says what there is"),
        (["serve", "--port", "99999"], "0<=x<=65535; 'doeblin serve --help' says what there is"),
        (["verify"], "Missing argument 'FILES...'; 'doeblin verify --help' says"),
        (["certify", "--no-such"], "No such option '--no-such'"),
    ],
)
def test_bad_input_is_one_message_and_status_three(capsys, arguments, message):
    status, out, err = call(capsys, *arguments)
    assert status == 3
    assert message in err
    assert err.startswith("error: ") and err.count("\n") == 1 and not out


def test_certify_starts_without_jax():
    program = (
        "import sys; from doeblin.cli import main\n"
        "try: main(['certify', '--epsilon', '0.1'])\n"
        "finally: assert 'jax' not in sys.modules, 'JAX was imported'"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_closed_pipe_is_no_error():
    done = subprocess.run(
        f"{DOEBLIN} certify --help | head -1", shell=True, capture_output=True, text=True
    )
    assert "Usage" in done.stdout and not done.stderr


def test_missing_extras_are_named(tmp_path):
    """Without JAX, the certificates work and the rest says what to install."""
    (tmp_path / "jax.py").write_text("raise ModuleNotFoundError(name='jax')")
    program = (
        "import doeblin; doeblin.certify\ntry: doeblin.staged\nexcept ImportError as e: print(e)"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment
    )
    assert "pip install 'doeblin[chains]'" in done.stdout, done.stderr


def test_missing_extras_are_named_by_commands(tmp_path):
    (tmp_path / "z3.py").write_text("raise ModuleNotFoundError(name='z3')")
    (tmp_path / "p.c").write_text("int main(void) { assert(1); }")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [DOEBLIN, "verify", tmp_path / "p.c"], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 3
    assert "pip install 'doeblin[verify]'" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.thorough
def test_reproduce_example(capsys, tmp_path):
    status, out, _ = call(capsys, "reproduce", "example", "--out", str(tmp_path))
    assert status == 0
    assert "after a restart: state 1 0.4444 (4/9), state 3 0.5556 (5/9)" in out
    numbers = json.loads((tmp_path / "example.json").read_text())
    curve = numbers["curves"][0]
    assert curve["stationary"] == pytest.approx([1 / 2.3, 0.3 / 2.3, 1 / 2.3])
    assert all(
        d <= b * (1 + 1e-9)
        for d, b in zip(curve["mahalanobis"], curve["mahalanobis_bound"], strict=True)
    )
    assert (tmp_path / "example.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "example.svg").read_text()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete(shell, capsys):
    """The script asks this program in the way that it answers."""
    status, script, _ = call(capsys, "completion", shell)
    assert status == 0 and f"_DOEBLIN_COMPLETE={shell}_complete" in script
    asked = {"_DOEBLIN_COMPLETE": f"{shell}_complete", "COMP_WORDS": "doeblin verify --wit"}
    words = {"COMP_CWORD": "--wit" if shell == "fish" else "2"}
    done = subprocess.run(
        [sys.executable, "-m", "doeblin"],
        env={**os.environ, **asked, **words},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and "--witness" in done.stdout
