"""The paper's gesture experiment: accuracy against passes, with the controls a reader asks for."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._errors import InputError, MissingExtraError
from ..gestures.paper import METHODS, best_step, make_task, paired, run_method, without_chains

MEASURES = ("word", "character", "commonest", "final")
_COMPARED = ("doeblin", "u-gibbs", "basic-gibbs")
_CONTROLS = (
    "doeblin, baseline",
    "doeblin, frozen u",
    "doeblin, run for a fixed T",
    "u by reward, then gibbs",
    "doeblin, block kernel",
)


@dataclass(frozen=True)
class Size:
    """How large the experiment is. `many` words are for the runs that need more data, or 0."""

    budgets: tuple[int, ...] = (20, 50, 100)
    words: int = 2000
    many: int = 8000
    dev: int = 300
    test: int = 500
    seeds: int = 5
    passes: int = 5
    steps: tuple[float, ...] = (0.03, 0.1, 0.3)
    """Step sizes to choose from, by word accuracy on development gestures."""
    noise: float = 0.7

    def __post_init__(self):
        numbers = (*self.budgets, self.words, self.dev, self.test, self.seeds, self.passes)
        if min(numbers) < 1:
            raise InputError(f"every size of the experiment must be at least 1, got {self}")


QUICK = Size(
    budgets=(20, 50), words=400, many=0, dev=100, test=200, seeds=2, passes=2, steps=(0.05, 0.2)
)

Job = tuple[str, int, int, bool]
"""A run: method, mean transitions, training words, and whether labels may go on."""


def jobs(size: Size) -> list[Job]:
    """All runs for one seed."""
    least = size.budgets[0]
    runs: list[Job] = [(name, t, size.words, True) for name in _COMPARED for t in size.budgets]
    runs += [(name, least, size.words, True) for name in _CONTROLS]
    runs += [(name, least, size.words, False) for name in ("doeblin", "u-gibbs")]
    if size.many:
        runs += [
            ("doeblin", least, size.many, True),
            ("u-gibbs", least, size.many, True),
            ("u-gibbs", size.budgets[-1], size.many, True),
            ("doeblin, block kernel", least, size.many, True),
        ]
    return runs


def run_seed(size: Size, seed: int, steps: dict[str, float]) -> dict[str, Any]:
    """Everything for one data seed: accuracies after each pass for each run, and the controls."""
    found: dict[Job, Any] = {}
    plain: dict[str, NDArray[np.float64]] = {}
    groups = sorted({(words, hard) for _, _, words, hard in jobs(size)}, reverse=True)
    for words, hard in groups:
        task = make_task(
            num_train=words,
            num_dev=size.dev,
            num_test=size.test,
            seed=seed,
            hard=hard,
            noise=size.noise,
        )
        if words == size.words and hard:
            plain = without_chains(task, 16 * size.budgets[0])
        for job in jobs(size):
            name, transitions = job[:2]
            if job[2:] == (words, hard):
                start = time.process_time()
                curve = run_method(
                    task, METHODS[name], transitions, passes=size.passes, step=steps[name]
                )
                seconds = time.process_time() - start
                found[job] = (curve.values, curve.transitions, seconds)
    return {"runs": found, "plain": plain}


def gesture_experiment(
    size: Size, *, workers: int | None = None, progress: Callable[[str], None] | None = None
) -> dict[str, Any]:
    """The whole experiment, ready for JSON. Data seeds are 0, 1, …; results repeat exactly."""
    say = progress or (lambda text: None)
    steps = dict.fromkeys(METHODS, size.steps[0])
    if len(size.steps) > 1:
        # A data set of its own, so that no step size has seen a test gesture.
        task = make_task(
            num_train=size.words, num_dev=size.dev, num_test=1, seed=10_000, noise=size.noise
        )
        for name, method in METHODS.items():
            steps[name] = best_step(task, method, size.budgets[0], size.steps, passes=2)
            say(f"step size of {name}: {steps[name]}")
    workers = min(workers or os.cpu_count() or 1, size.seeds)
    results: list[dict[str, Any]] = []
    if workers == 1:
        for seed in range(size.seeds):
            results.append(run_seed(size, seed, steps))
            say(f"data seed {seed} done")
    else:
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            waiting = [pool.submit(run_seed, size, seed, steps) for seed in range(size.seeds)]
            for seed, future in enumerate(waiting):
                results.append(future.result())
                say(f"data seed {seed} done")
    return _report(size, steps, results)


def _report(size: Size, steps: dict[str, float], results: list[dict[str, Any]]) -> dict[str, Any]:
    rows = []
    for job in jobs(size):
        name, transitions, words, hard = job
        values = np.array([one["runs"][job][0] for one in results])
        rows.append(
            {
                "method": name,
                "transitions": transitions,
                "words": words,
                "labels": 53 if hard else 27,
                "step": steps[name],
                "curve": {
                    measure: values[..., k].mean(axis=(0, 2)).tolist()
                    for k, measure in enumerate(MEASURES)
                },
                **{
                    measure: float(values[:, -1, :, k].mean()) for k, measure in enumerate(MEASURES)
                },
                "taken": float(np.mean([one["runs"][job][1] for one in results])),
                "seconds": float(np.mean([one["runs"][job][2] for one in results])),
            }
        )
    plain = [
        {"method": name, "word": float(np.mean([one["plain"][name] for one in results]))}
        for name in results[0]["plain"]
    ]

    def difference(first: Job, second: Job, measure: int) -> dict[str, Any]:
        ends = [
            np.array([one["runs"][job][0][-1, :, measure] for one in results])
            for job in (first, second)
        ]
        return {
            "first": list(first),
            "second": list(second),
            "measure": MEASURES[measure],
            **paired(*ends),
        }

    pairs: list[tuple[Job, Job]] = []
    for t in size.budgets:
        at = (t, size.words, True)
        pairs += [(("doeblin", *at), ("u-gibbs", *at)), (("u-gibbs", *at), ("basic-gibbs", *at))]
    least, most = size.budgets[0], size.budgets[-1]
    if size.many:
        many = (size.many, True)
        pairs.append((("doeblin", least, *many), ("u-gibbs", most, *many)))
    other = (least, size.words, False)
    pairs.append((("doeblin", *other), ("u-gibbs", *other)))
    reward = ("u by reward, then gibbs", least, size.words, True)
    pairs.append((("doeblin", least, size.words, True), reward))
    differences = [difference(*pair, measure) for pair in pairs for measure in range(3)]
    return {
        "size": asdict(size),
        "runs": rows,
        "without_chains": plain,
        "differences": differences,
        "claims": [
            {
                "claim": f"{row['first'][0]} (T = {row['first'][1]}, {row['first'][2]} words, "
                f"{53 if row['first'][3] else 27} labels) above {row['second'][0]} "
                f"(T = {row['second'][1]}), {row['measure']}",
                "holds": bool(row["interval"][0] > 0),
                "reversed": bool(row["interval"][1] < 0),
            }
            for row in differences
        ],
    }


def table(report: dict[str, Any]) -> Iterable[str]:
    """The report as lines of text."""
    yield (
        f"{'method':<28}{'T':>5}{'words':>7}{'labels':>8}"
        + "".join(f"{measure:>11}" for measure in MEASURES)
        + f"{'s':>8}"
    )
    for row in report["runs"]:
        yield (
            f"{row['method']:<28}{row['transitions']:>5}{row['words']:>7}{row['labels']:>8}"
            + "".join(f"{row[measure]:>11.3f}" for measure in MEASURES)
            + f"{row['seconds']:>8.0f}"
        )
    for row in report["without_chains"]:
        yield f"{row['method']:<28}{'':>20}{row['word']:>11.3f}"
    yield ""
    for claim, row in zip(report["claims"], report["differences"], strict=True):
        low, high = row["interval"]
        verdict = "holds" if claim["holds"] else "reversed" if claim["reversed"] else "undecided"
        yield f"{claim['claim']}: {row['difference']:+.3f} [{low:+.3f}, {high:+.3f}] {verdict}"


def plot(report: dict[str, Any], path: Path) -> list[Path]:
    """The paper's figure: all methods at the least budget, then two methods at all budgets."""
    try:
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator
    except ImportError:
        raise MissingExtraError("matplotlib", "plots") from None

    size = report["size"]
    runs = {
        (row["method"], row["transitions"]): row["curve"]
        for row in report["runs"]
        if row["words"] == size["words"] and row["labels"] == 53
    }
    least = size["budgets"][0]
    panels = [
        (f"T = {least}", [(name, (name, least)) for name in _COMPARED]),
        ("doeblin", [(f"T = {t}", ("doeblin", t)) for t in size["budgets"]]),
        ("u-gibbs", [(f"T = {t}", ("u-gibbs", t)) for t in size["budgets"]]),
    ]
    figure = Figure(figsize=(11, 6), layout="constrained")
    axes = figure.subplots(2, 3, sharex=True, sharey="row")
    for row, measure in enumerate(("word", "character")):
        for column, (title, lines) in enumerate(panels):
            axis = axes[row, column]
            for label, key in lines:
                values = runs[key][measure]
                axis.plot(range(1, len(values) + 1), values, marker="o", label=label)
            axis.set_title(title if row == 0 else "")
            axis.grid(alpha=0.3)
            axis.xaxis.set_major_locator(MaxNLocator(integer=True))
            axis.legend(fontsize=8)
            if row == 1:
                axis.set_xlabel("passes over the training words")
        axes[row, 0].set_ylabel(f"{measure} accuracy")
    paths = [path.with_suffix(suffix) for suffix in (".png", ".svg")]
    path.parent.mkdir(parents=True, exist_ok=True)
    for one in paths:
        figure.savefig(one, dpi=150)
    return paths
