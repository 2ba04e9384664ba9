"""How training goes, told: a bar on stderr, JSON lines that any reader takes, a table."""

from __future__ import annotations

import json
import math
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from doeblin.learning import PathEstimate, fit
from doeblin.learning._metrics import Metrics, Progress


def told(key: jax.Array, parameters: jax.Array, example: jax.Array) -> PathEstimate:
    return PathEstimate(example + 0 * parameters, jnp.zeros(3), example, jnp.zeros((1, 1)))


@pytest.mark.parametrize("wanted", [True, False, None])
def test_the_bar_is_on_stderr_if_wanted_or_a_terminal(
    wanted: bool | None, capsys: pytest.CaptureFixture[str]
):
    fit(told, jnp.array(1.0), np.array([1.0, 2, 6]), batch_size=2, epochs=2, progress=wanted)
    said = capsys.readouterr()
    assert not said.out
    if wanted:
        assert "training" in said.err and "4/4" in said.err
        assert "log-likelihood 3.0000" in said.err and "effective walks 3.0" in said.err
    else:
        assert not said.err


def test_folders_of_files_are_made(tmp_path: Path):
    files = {"checkpoint": tmp_path / "a" / "b" / "run", "metrics": tmp_path / "c" / "d" / "rows"}
    fit(told, jnp.array(1.0), np.array([1.0, 2]), batch_size=2, epochs=1, **files)
    assert all(path.is_file() for path in files.values())


def test_a_terminal_has_a_bar_without_being_asked(monkeypatch: pytest.MonkeyPatch):
    assert Progress(2, 3, None).bar is None
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    progress = Progress(2, 3, None)
    progress.show(1, 2, {"log_likelihood": -6.0, "examples": 4.0, "effective_walks": 10.0})
    task = progress.bar.tasks[0]
    assert (task.completed, task.total) == (5, 6)
    assert task.fields == {"objective": -1.5, "walks": 2.5}


def test_numbers_that_are_none_are_null_in_files(tmp_path: Path):
    path = tmp_path / "metrics.jsonl"
    log = Metrics([], path)
    log.add({"epoch": 0, "a": math.nan, "b": math.inf, "c": -math.inf, "d": 2.5})
    log.add({"epoch": 1, "a": 0.0, "b": 0.0, "c": 0.0, "d": 0.0})
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert rows[0] == {"epoch": 0, "a": None, "b": None, "c": None, "d": 2.5}
    assert rows[1]["epoch"] == 1 and len(rows) == 2
    table = log.table()
    assert table.row_count == 2 and len(table.columns) == 5
