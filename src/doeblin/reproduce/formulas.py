"""The paper's comparison of chains that infer formulas: no, uniform and staged restarts.

The paper measured them inside the verification of C programs; here they run on families of formula
instances, at several temperatures, beside whole-atom Gibbs with focus.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._errors import InputError
from .._fleet import Fleet, finished
from ..formulas import (
    Chain,
    Method,
    Problem,
    Task,
    focused_gibbs,
    one_stage,
    prepared,
    two_stage,
    zero_stage,
)
from ..schedules import Schedule
from ._formula_instances import FAMILIES, Family, Instance

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BETAS = (2.0, 3.0, 100.0)
"""Inverse temperatures of the paper's chains; at 100 no worse formula is ever accepted."""
_PAPER: dict[str, Callable[..., Method]] = {
    "0-stage": zero_stage, "1-stage": one_stage, "2-stage": two_stage,
}  # fmt: skip
_CURVE_BETA = 3.0


@dataclass(frozen=True)
class Row:
    """One chain on one family. Runs that hit the limit count with the limit: means are then low."""

    family: str
    method: str
    beta: float
    runs: int
    solved: float
    mean_seconds: float
    standard_error: float
    median_seconds: float
    mean_steps: float
    median_steps: float
    setup_seconds: float
    """Mean time to build the pool, its table and the chain, which is not part of the others."""


@dataclass(frozen=True)
class Curve:
    """Mean steps of the restarted chain for restart rates ε: predicted and measured.

    Each list has an entry for each ε. Where `solved` is below one, `measured` is too low.
    """

    family: str
    beta: float
    runs: int
    epsilon: list[float]
    predicted: list[float]
    predicted_error: list[float]
    measured: list[float]
    standard_error: list[float]
    solved: list[float]


@dataclass(frozen=True)
class Comparison:
    rows: list[Row]
    curve: Curve

    def better(self, family: str, method: str) -> Row:
        """The method's row at its better temperature: most solved, then least mean time."""
        rows = [row for row in self.rows if (row.family, row.method) == (family, method)]
        return min(rows, key=lambda row: (-row.solved, row.mean_seconds))

    def speedup(self, family: str, method: str = "2-stage", *, setup: bool = False) -> float:
        """How many times faster the default is than a chain at its better temperature.

        With `setup` the time to build pool and chain is part of both.
        """
        default, other = self.better(family, focused_gibbs().name), self.better(family, method)
        if setup:
            return _whole(other) / _whole(default)
        return other.mean_seconds / default.mean_seconds

    @property
    def families(self) -> list[str]:
        return list(dict.fromkeys(row.family for row in self.rows))

    def to_dict(self) -> dict[str, Any]:
        return {
            "families": {family.name: family.about for family in FAMILIES},
            # JSON has no infinity: a chain that only ever takes the best has beta null.
            "rows": [
                asdict(row) | {"beta": row.beta if math.isfinite(row.beta) else None}
                for row in self.rows
            ],
            "speedup_of_default": {
                f"over_{method}{'_with_setup' * setup}": {
                    family: self.speedup(family, method, setup=setup) for family in self.families
                }
                for method in _PAPER
                for setup in (False, True)
            },
            "restart_curve": asdict(self.curve),
        }


def compare_formulas(
    *,
    families: Sequence[str] | None = None,
    runs: int = 120,
    max_steps: int = 10_000_000,
    betas: Sequence[float] = BETAS,
    curve_runs: int = 400,
    seed: int = 0,
    fleet: Fleet | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Comparison:
    """Runs every chain `runs` times on each family; `max_steps` ends a Metropolis run.

    A run of whole-atom Gibbs, whose steps take longer and do more, ends after a fiftieth.
    """
    chosen = [family_named(name) for name in families] if families is not None else list(FAMILIES)
    if runs < 1:
        raise InputError(f"runs = {runs}: at least one is needed")
    methods = [(make(beta=beta), beta, max_steps) for make in _PAPER.values() for beta in betas]
    default = focused_gibbs()
    methods.append((default, default.stages[0].beta, max(1, max_steps // 50)))
    calls: list[Callable[[], Any]] = [
        partial(_row_of, family, method, beta, runs, limit, seed)
        for family in chosen
        for method, beta, limit in methods
    ]
    # On instances much easier than the paper's no restart ever comes and the curve is flat.
    hard_enough = [family for family in chosen if family.name == "paper"] or chosen
    calls.append(partial(restart_curve, hard_enough[0], curve_runs, max_steps, seed))
    found: dict[int, Any] = {}
    for index, answer in finished(fleet, _called, calls):
        found[index] = answer
        if progress is not None:
            progress(len(found), len(calls))
    *rows, curve = (found[index] for index in range(len(calls)))
    return Comparison(rows, curve)


def _called(call: Callable[[], Any]) -> Any:
    return call()


def family_named(name: str) -> Family:
    for family in FAMILIES:
        if family.name == name:
            return family
    names = ", ".join(family.name for family in FAMILIES)
    raise InputError(f"there is no family {name!r}; the families are {names}")


def _row_of(family: Family, method: Method, beta: float, runs: int, limit: int, seed: int) -> Row:
    instances = family.instances(min(runs, 24), seed)
    return measured_row(family, instances, method, beta, runs, limit, seed)


def measured_row(
    family: Family,
    instances: list[Instance],
    method: Method,
    beta: float,
    runs: int,
    limit: int,
    seed: int,
) -> Row:
    tasks, setup = _tasks(instances, method)
    seconds, steps, solved = np.empty(runs), np.empty(runs), 0
    for k in range(runs):
        chain = Chain(tasks[k % len(tasks)], method, family.template, seed=_seed(seed, k))
        began = time.process_time()
        solved += chain.run(max_steps=limit)
        seconds[k] = time.process_time() - began
        steps[k] = chain.steps
    return Row(
        family=family.name,
        method=method.name,
        beta=beta,
        runs=runs,
        solved=solved / runs,
        mean_seconds=float(seconds.mean()),
        standard_error=_standard_error(seconds),
        median_seconds=float(np.median(seconds)),
        mean_steps=float(steps.mean()),
        median_steps=float(np.median(steps)),
        setup_seconds=setup,
    )


def _tasks(instances: Sequence[Instance], method: Method) -> tuple[list[Task], float]:
    """The instances' tasks, and the mean CPU seconds that it took to build one and a chain."""
    tasks, seconds = [], []
    for instance in instances:
        began = time.process_time()
        task = prepared(Problem(instance.examples, instance.space, method)).task
        chain = Chain(task, method, instance.template, seed=0)
        seconds.append(time.process_time() - began)
        # Compiling and loading are paid once in a process's life and are no part of a run; the
        # first instance's set-up holds some of it.
        chain.run(max_steps=2)
        tasks.append(task)
    return tasks, float(np.mean(seconds[1:] or seconds))


def _whole(row: Row) -> float:
    return row.setup_seconds + row.mean_seconds


def _seed(*parts: int) -> int:
    return int(np.random.SeedSequence(parts).generate_state(1, np.uint64)[0])


def predicted_steps(steps: ArrayLike, epsilon: float) -> tuple[float, float]:
    """E[steps](ε) of a chain restarted at rate ε, from runs without restarts, and its error.

    `steps` counts each run's first state as a step. With T = steps - 1 the moves of a run and
    φ = E[(1-ε)^T] the chance that no restart interrupts it, a tour takes one restart and
    (1-ε)(1-φ)/ε moves on average, and 1/φ tours are needed:

        E[steps](ε) = (1 + (1-ε)(1-φ)/ε) / φ = 1/(εφ) - (1-ε)/ε.

    The standard error is that of φ, by the delta method.
    """
    chances = (1 - epsilon) ** (np.asarray(steps, dtype=np.float64) - 1)
    phi, error = float(chances.mean()), _standard_error(chances)
    if phi == 0:
        return float("inf"), float("inf")
    return 1 / (epsilon * phi) - (1 - epsilon) / epsilon, error / (epsilon * phi**2)


def restart_curve(family: Family, runs: int, max_steps: int, seed: int) -> Curve:
    """One batch without restarts predicts the mean steps at every ε; the same ε are measured."""
    instance = family.instances(1, seed)[0]
    base = zero_stage(beta=_CURVE_BETA)
    # A run that is cut off counts as if it ended there; (1-ε)^T is then next to nothing for any ε
    # well above 1/max_steps, as it should be.
    free, _ = _all_steps(instance, base, runs, max_steps, seed)
    epsilon = [float(e) for e in 10.0 ** np.arange(-6.0, -3.4, 0.5)]
    predicted = [predicted_steps(free, e) for e in epsilon]
    measured = [
        _all_steps(
            instance, replace(base, schedule=Schedule.doeblin(e)), runs, max_steps, seed + 1 + k
        )
        for k, e in enumerate(epsilon)
    ]
    return Curve(
        family=family.name,
        beta=_CURVE_BETA,
        runs=runs,
        epsilon=epsilon,
        predicted=[mean for mean, _ in predicted],
        predicted_error=[error for _, error in predicted],
        measured=[float(steps.mean()) for steps, _ in measured],
        standard_error=[_standard_error(steps) for steps, _ in measured],
        solved=[share for _, share in measured],
    )


def _all_steps(
    instance: Instance, method: Method, runs: int, max_steps: int, seed: int
) -> tuple[NDArray[np.float64], float]:
    """The steps of every run, and the share of runs that were solved."""
    [task], _ = _tasks([instance], method)
    steps, solved = np.empty(runs), 0
    for k in range(runs):
        chain = Chain(task, method, instance.template, seed=_seed(seed, k))
        solved += chain.run(max_steps=max_steps)
        steps[k] = chain.steps
    return steps, solved / runs


def _standard_error(values: NDArray[np.float64]) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def plot_formulas(comparison: Comparison, path: Path) -> list[Path]:
    """The comparison and the restart curve as `path`.png and .svg."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        from .._errors import MissingExtraError

        raise MissingExtraError("matplotlib", "plots") from None
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(13, 5), width_ratios=(3, 2))
    _plot_times(comparison, left)
    curve = comparison.curve
    predicted, error = np.array(curve.predicted), np.array(curve.predicted_error)
    right.plot(curve.epsilon, predicted, label="predicted from runs without restarts")
    low = np.maximum(predicted - error, predicted / 10)
    right.fill_between(curve.epsilon, low, predicted + error, alpha=0.2)
    right.errorbar(
        curve.epsilon, curve.measured, curve.standard_error, fmt="o", label="measured", capsize=3
    )
    right.set(
        xscale="log", yscale="log", xlabel="restart rate ε", ylabel="mean steps",
        title=f"restart curve: {curve.family}, β = {curve.beta:g}",
    )  # fmt: skip
    right.legend()
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    paths = [path.with_suffix(suffix) for suffix in (".png", ".svg")]
    for each in paths:
        figure.savefig(each, dpi=150)
    pyplot.close(figure)
    return paths


def _plot_times(comparison: Comparison, axes: Axes) -> None:
    labels = list(dict.fromkeys((row.method, row.beta) for row in comparison.rows))
    width = 0.8 / len(labels)
    for k, (method, beta) in enumerate(labels):
        rows = [row for row in comparison.rows if (row.method, row.beta) == (method, beta)]
        axes.bar(
            [i + k * width - 0.4 + width / 2 for i in range(len(rows))],
            [row.mean_seconds for row in rows],
            width,
            yerr=[row.standard_error for row in rows],
            label=f"{method}, β = {beta:g}",
            # Hatched where some runs did not finish: the bar is only a lower bound.
            hatch=["" if row.solved == 1 else "//" for row in rows],
        )
    axes.set(
        yscale="log", ylabel="mean CPU seconds to a solution",
        title="formula inference (hatched: some runs were given up, the mean is too low)",
    )  # fmt: skip
    axes.set_xticks(range(len(comparison.families)), comparison.families)
    axes.legend(fontsize="small", ncols=4, loc="upper center", bbox_to_anchor=(0.5, -0.08))
