"""The gesture experiment's bookkeeping, on results made up by hand."""

import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from doeblin import InputError
from doeblin.cli._reproduce import reproduce
from doeblin.gestures.paper import library_run as _library_run
from doeblin.gestures.paper import paired
from doeblin.gestures.paper._task import Curve
from doeblin.reproduce import gestures as _gestures
from doeblin.reproduce.gestures import Cell, Job, Size, jobs
from doeblin.reproduce.gestures_report import plot, report, table

SIZE = Size(budgets=(4, 8), words=10, many=30, seeds=3, passes=2, many_passes=2)


@pytest.mark.parametrize(("best", "tries"), [(0.1, 3), (0.001, 6), (0.3, 4), (1.0, 5)])
def test_the_grid_of_step_sizes_grows_where_its_end_is_best(monkeypatch, tmp_path, best, tries):
    asked = set()

    def run_all(size, folder, cells, submit, say):
        asked.update(cells)
        return {cell: {"accuracy": -abs(np.log(cell.step / best))} for cell in cells}

    monkeypatch.setattr(_gestures, "_run_all", run_all)
    steps = _gestures._chosen_steps(SIZE, tmp_path, None, print)
    assert set(steps) == {(job.method, job.transitions) for job in jobs(SIZE)}
    assert all(abs(np.log(step / best)) < 0.2 for step in steps.values())
    assert len({cell.step for cell in asked}) == tries
    # No step size sees the data of a run.
    assert all(cell.kind == "step" and cell.seed >= 1000 for cell in asked)


def made_up(size=SIZE):
    """Every gesture of a run is right with a chance that grows with T, and by seed."""
    found = {}
    for number, job in enumerate(jobs(size)):
        for seed in range(3):
            level = 0.3 + 0.02 * number + 0.01 * seed
            final = np.full((5, 4), level)
            found[Cell("run", job, seed, 0.1)] = {
                "curve": [[level / 2] * 4, [level] * 4],
                "final": final.tolist(),
                "transitions": 100,
                "train_seconds": [1.0 + number, 2.0 + 2 * number],
                "test_ms": 1.0,
            }
    for seed in range(3):
        plain = {"cell": {}, "seconds": 1.0, "trie decoder": [1.0, 0.0]}
        found[Cell("plain", Job("doeblin", 4, 10), seed)] = plain
    steps = {(job.method, job.transitions): 0.1 for job in jobs(size)}
    return report(size, jobs(size), steps, found)


def test_the_report_has_means_differences_and_verdicts():
    made = made_up()
    places = {job: number for number, job in enumerate(jobs(SIZE))}
    for row, number in zip(made["runs"], places.values(), strict=True):
        assert row["word"] == pytest.approx(0.31 + 0.02 * number)
    for row in made["differences"]:
        apart = places[Job(**row["first"])] - places[Job(**row["second"])]
        assert row["difference"] == pytest.approx(0.02 * apart)
        # The seeds agree exactly here, so every interval is a point.
        assert row["verdict"] == ("holds" if apart > 0 else "reversed")
    assert made["without_chains"] == [{"method": "trie decoder", "word": 0.5}]
    text = "\n".join(table({**made, "cpu_seconds": 1, "wall_seconds": 1, "processes": 1}))
    assert "reversed" in text and "27 labels" in text


def test_the_report_needs_no_method_that_the_library_lacks(tmp_path):
    size = replace(SIZE, engine="library", many=0)
    made = {**made_up(size), "cpu_seconds": 1, "wall_seconds": 1, "processes": 1}
    assert len(made["runs"]) == len(jobs(size))
    text = "\n".join(table(made))
    assert "block kernel, reversal" in text and "block kernel, bidirectional" not in text
    assert all(path.stat().st_size > 1000 for path in plot(made, tmp_path / "gestures"))


def test_estimators_are_compared_at_equal_time_too():
    made = made_up()["estimators"]
    quickest = min(row["train_seconds"] for row in made["rows"])
    assert made["seconds"] == quickest and len(made["rows"]) == 7
    for row in made["rows"]:
        whole, half = row["equal_transitions"]["word"], row["train_seconds"] / 2
        if quickest < half:
            assert row["equal_time"] is None
        else:
            share = 0.5 + 0.5 * (quickest - half) / half
            assert row["equal_time"]["word"] == pytest.approx(whole * share)


def test_paired_intervals_are_over_the_seeds():
    rng = np.random.default_rng(0)
    first = rng.random((5, 400)) < 0.6
    second = rng.random((5, 400)) < 0.5
    found = paired(first.astype(float), second.astype(float))
    means = first.mean(axis=1) - second.mean(axis=1)
    half = 2.776 * means.std(ddof=1) / np.sqrt(5)
    assert found["difference"] == pytest.approx(means.mean())
    np.testing.assert_allclose(found["interval"], [means.mean() - half, means.mean() + half])
    alone = paired(first[:1].astype(float), second[:1].astype(float))
    assert alone["interval"][0] < alone["difference"] < alone["interval"][1]


def test_sizes_are_checked():
    with pytest.raises(InputError, match="at least 1"):
        Size(words=0)
    with pytest.raises(InputError, match="0 to 9999"):
        Size(first_seed=9998, seeds=3)
    assert Size().digest != Size(test=400).digest


def test_results_of_one_engine_are_not_taken_for_those_of_the_other():
    library = replace(SIZE, engine="library")
    assert len({SIZE.digest, library.digest, replace(library, batch=8).digest}) == 3
    # Cells have their seed in their names, and compiled code knows no batches.
    assert SIZE.digest == replace(SIZE, first_seed=7, batch=8).digest
    left_out = set(jobs(SIZE)) - set(jobs(library))
    assert {job.method for job in left_out} == {"block kernel, bidirectional"}


def test_cells_are_run_by_the_engine_that_is_asked_for(monkeypatch, tmp_path):
    asked = []

    def run_method(task, method, transitions, *, engine, batch, **options):
        asked.append((engine, batch, method.name))
        return Curve(np.full((1, 5, 4), 0.5), 10, np.ones(1), 1.0)

    monkeypatch.setattr(_gestures, "run_method", run_method)
    monkeypatch.setattr(_gestures, "_compile", lambda: None)
    monkeypatch.setattr(_gestures, "_task", lambda *arguments: None)
    size = replace(SIZE, engine="library", batch=8)
    cell = Cell("run", Job("reversal", 4, 10), 3, 0.1)
    _gestures.run_cell(size, tmp_path, cell)
    assert asked == [("library", 8, "reversal")]
    found = json.loads((tmp_path / cell.name).read_text())
    assert found["curve"] == [[0.5] * 4] and found["cell"]["seed"] == 3


def test_the_library_compiles_each_program_once_before_the_first_cell(monkeypatch, tmp_path):
    events = []

    class Setting:
        def __init__(self, task, method, transitions, chains, batch, on_dev):
            self.asked = (method.name, transitions, chains, batch, on_dev)

        def compile(self):
            events.append(self.asked)

    def run_cell(size, folder, cell):
        events.append(cell)
        (folder / cell.name).write_text("{}")

    monkeypatch.setattr(_library_run, "Setting", Setting)
    monkeypatch.setattr(_gestures, "run_cell", run_cell)
    monkeypatch.setattr(_gestures, "_task", lambda *arguments: None)
    size = replace(SIZE, engine="library", batch=8)
    tried = [
        (job, step) for job in (Job("reversal", 4, 10), Job("u-gibbs", 8, 10)) for step in (1, 2)
    ]
    cells = [Cell("step", job, 3, step) for job, step in tried]
    _gestures._run_all(size, tmp_path, [*cells, Cell("plain", cells[0].job, 3)], None, print)
    assert sorted(events[:2]) == [("reversal", 4, 16, 8, True), ("u-gibbs", 8, 16, 8, True)]
    assert set(cells) < set(events[2:]) and len(events) == 2 + 5
    _gestures._run_all(size, tmp_path, cells, None, print)  # all done: nothing to compile
    assert len(events) == 2 + 5


@pytest.mark.parametrize(("asked", "found"), [("auto", "library"), ("compiled", "compiled")])
def test_the_command_hands_on_engine_batch_and_seed(monkeypatch, tmp_path, asked, found):
    sizes = []

    def experiment(size, folder, **options):
        sizes.append(size)
        raise InputError("that is all")

    monkeypatch.setattr(_gestures, "gesture_experiment", experiment)
    monkeypatch.setattr(_gestures, "fitting_engine", lambda: "library")
    options = f"--quick --engine {asked} --batch 4 --seed 3 --seeds 1 --out {tmp_path}"
    result = CliRunner().invoke(reproduce, ["gestures", *options.split()])
    assert isinstance(result.exception, InputError)
    (size,) = sizes
    assert size == replace(_gestures.QUICK, engine=found, batch=4, first_seed=3, seeds=1)
    assert list(size.data_seeds) == [3]
