"""The gesture experiment's table, its claims, and the paper's figure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._errors import MissingExtraError
from ..gestures.paper import paired

if TYPE_CHECKING:
    from .gestures import Cell, Job, Size

MEASURES = ("word", "character", "commonest", "final")
"""Accuracy of words and characters over samples, of the commonest sample, of the last one."""
_ESTIMATORS = (
    "doeblin",
    "doeblin, baseline",
    "reversal",
    "bidirectional",
    "block kernel",
    "block kernel, reversal",
    "block kernel, bidirectional",
)


def report(
    size: Size,
    jobs: Sequence[Job],
    steps: Mapping[tuple[str, int], float],
    found: Mapping[Cell, Mapping[str, Any]],
) -> dict[str, Any]:
    """Means over the seeds, paired differences, and the estimators side by side."""
    results = {
        job: [value for cell, value in found.items() if cell.kind == "run" and cell.job == job]
        for job in jobs
    }
    plain = [value for cell, value in found.items() if cell.kind == "plain"]
    rows = {job: _row(job, steps[job.method, job.transitions], results[job]) for job in jobs}
    differences = [
        _difference(first, second, results, k)
        for first, second in _pairs(size, jobs)
        for k in range(len(MEASURES))
    ]
    return {
        "size": asdict(size),
        "runs": list(rows.values()),
        "without_chains": [
            {"method": name, "word": float(np.mean([one[name] for one in plain]))}
            for name in plain[0]
            if name not in ("cell", "seconds")
        ],
        "differences": differences,
        "estimators": _estimators(
            [
                row
                for job, row in rows.items()
                if (job.transitions, job.words, job.labels) == (size.budgets[0], size.words, 53)
            ]
        ),
    }


def _row(job: Job, step: float, results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    curves = np.array([one["curve"] for one in results]).mean(axis=0)
    return {
        **asdict(job),
        "step": step,
        **{measure: float(curves[-1, k]) for k, measure in enumerate(MEASURES)},
        "curve": {measure: curves[:, k].tolist() for k, measure in enumerate(MEASURES)},
        "taken": float(np.mean([one["transitions"] for one in results])),
        "train_seconds": np.mean([one["train_seconds"] for one in results], axis=0).tolist(),
        "test_ms": float(np.mean([one["test_ms"] for one in results])),
    }


def _difference(
    first: Job, second: Job, results: Mapping[Job, Sequence[Mapping[str, Any]]], k: int
) -> dict[str, Any]:
    ends = [np.array([one["final"] for one in results[job]])[..., k] for job in (first, second)]
    found = paired(*ends)
    low, high = found["interval"]
    verdict = "holds" if low > 0 else "reversed" if high < 0 else "undecided"
    return {
        "first": asdict(first),
        "second": asdict(second),
        "measure": MEASURES[k],
        **found,
        "verdict": verdict,
    }


def _pairs(size: Size, jobs: Sequence[Job]) -> list[tuple[Job, Job]]:
    """The claims: the first of each pair should be above the second."""

    def job(method: str, transitions: int, words: int, labels: int = 53) -> Job:
        return next(
            one
            for one in jobs
            if (one.method, one.transitions, one.words, one.labels)
            == (method, transitions, words, labels)
        )

    least, most = size.budgets[0], size.budgets[-1]
    pairs = []
    for t in size.budgets:
        ours, theirs = job("doeblin", t, size.words), job("u-gibbs", t, size.words)
        pairs += [(ours, theirs), (theirs, job("basic-gibbs", t, size.words))]
    pairs.append((job("doeblin", least, size.words, 27), job("u-gibbs", least, size.words, 27)))
    ours = job("doeblin", least, size.words)
    others = ("doeblin, run for a fixed T", "doeblin, frozen u", "u by reward, then gibbs")
    pairs += [(ours, job(name, least, size.words)) for name in others]
    pairs += [
        (job(name, least, size.words), ours)
        for name in ("doeblin, baseline", "reversal", "bidirectional", "block kernel")
    ]
    if size.many:
        many = job("doeblin", least, size.many)
        pairs += [
            (many, job("u-gibbs", least, size.many)),
            (many, job("u-gibbs", most, size.many)),
            (job("block kernel", least, size.many), many),
        ]
    return pairs


def _estimators(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Estimators at equal transitions, and at the training time of the quickest of them.

    In between two passes, accuracies are interpolated.
    """
    rows = [row for row in rows if row["method"] in _ESTIMATORS]
    budget = min(row["train_seconds"][-1] for row in rows)
    table = []
    for row in rows:
        seconds = np.array(row["train_seconds"])
        entry: dict[str, Any] = {
            "method": row["method"],
            "equal_transitions": {name: row[name] for name in MEASURES},
            "train_seconds": float(seconds[-1]),
            "equal_time": None,
        }
        if budget >= seconds[0]:
            entry["equal_time"] = {
                name: float(np.interp(budget, seconds, row["curve"][name])) for name in MEASURES
            }
        table.append(entry)
    return {"seconds": budget, "rows": table}


def _label(job: Mapping[str, Any]) -> str:
    words = f"{job['method']}, T = {job['transitions']}, {job['words']} words"
    return words + (", 27 labels" if job["labels"] == 27 else "")


def table(report: Mapping[str, Any]) -> Iterable[str]:
    """The report as lines of text."""
    yield (
        f"{'method':<28}{'T':>5}{'words':>7}{'labels':>8}{'step':>7}"
        + "".join(f"{measure:>11}" for measure in MEASURES)
        + f"{'train s':>9}{'test ms':>9}"
    )
    for row in report["runs"]:
        yield (
            f"{row['method']:<28}{row['transitions']:>5}{row['words']:>7}{row['labels']:>8}"
            f"{row['step']:>7g}"
            + "".join(f"{row[measure]:>11.3f}" for measure in MEASURES)
            + f"{row['train_seconds'][-1]:>9.1f}{row['test_ms']:>9.2f}"
        )
    for row in report["without_chains"]:
        yield f"{row['method']:<28}{'':>27}{row['word']:>11.3f}"
    yield ""
    yield "first above second, with 95 % intervals over the data seeds:"
    for row in report["differences"]:
        low, high = row["interval"]
        yield (
            f"{_label(row['first'])} - {_label(row['second'])}: {row['measure']} "
            f"{row['difference']:+.3f} [{low:+.3f}, {high:+.3f}] {row['verdict']}"
        )
    yield ""
    seconds = report["estimators"]["seconds"]
    yield (
        f"{'estimator':<28}{'equal transitions: word':>24}{'commonest':>11}{'s':>7}"
        f"{f'equal time ({seconds:.0f} s): word':>28}{'commonest':>11}"
    )
    for row in report["estimators"]["rows"]:
        equal, timed = row["equal_transitions"], row["equal_time"]
        shown = f"{timed['word']:>28.3f}{timed['commonest']:>11.3f}" if timed else f"{'-':>28}"
        yield (
            f"{row['method']:<28}{equal['word']:>24.3f}{equal['commonest']:>11.3f}"
            f"{row['train_seconds']:>7.0f}{shown}"
        )
    yield ""
    yield (
        f"{report['cpu_seconds']:.0f} processor seconds in all; this run took "
        f"{report['wall_seconds']:.0f} s on {report['processes']} processes "
        f"({report['size']['engine']} engine)"
    )


def plot(report: Mapping[str, Any], path: Path) -> list[Path]:
    """The paper's figure: all methods at the least budget, then two methods at all budgets."""
    try:
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator
    except ImportError:
        raise MissingExtraError("matplotlib", "plots") from None

    size = report["size"]
    runs: dict[tuple[str, int], Mapping[str, Sequence[float]]] = {
        (row["method"], row["transitions"]): row["curve"]
        for row in report["runs"]
        if row["words"] == size["words"] and row["labels"] == 53
    }
    budgets = size["budgets"]
    least = budgets[0]
    panels = [
        (f"T = {least}", [(n, (n, least)) for n in ("doeblin", "u-gibbs", "basic-gibbs")]),
        ("doeblin", [(f"T = {t}", ("doeblin", t)) for t in budgets]),
        ("u-gibbs", [(f"T = {t}", ("u-gibbs", t)) for t in budgets]),
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
    for one in paths:
        figure.savefig(one, dpi=150)
    return paths
