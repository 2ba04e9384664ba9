"""What `doeblin reproduce formulas` shows."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from .._files import write_text
from ..reproduce.formulas import BETAS, Comparison, Row, compare_formulas, plot_formulas
from . import _console

if TYPE_CHECKING:
    from .._fleet import Fleet

_QUICK = {"runs": 10, "max_steps": 200_000, "betas": BETAS[1:], "curve_runs": 40}
_QUICK_FAMILIES = ["paper", "invariant"]


def run_formulas(
    families: str | None,
    runs: int,
    max_steps: int,
    quick: bool,
    fleet: Fleet | None,
    out: Path,
    seed: int,
    as_json: bool,
) -> None:
    """Compare, write the files, and print the table or JSON."""
    names = [name.strip() for name in families.split(",")] if families is not None else None
    options = {"runs": runs, "max_steps": max_steps, "families": names}
    if quick:
        options |= {**_QUICK, "families": names or _QUICK_FAMILIES}
    with _bar() as advance:
        comparison = compare_formulas(**options, seed=seed, fleet=fleet, progress=advance)
    paths = plot_formulas(comparison, out / "formulas")
    numbers = out / "formulas.json"
    write_text(numbers, json.dumps(comparison.to_dict(), indent=2) + "\n")
    if as_json:
        _console.print_json(comparison.to_dict())
        return
    _show(comparison)
    _console.echo(f"wrote {', '.join(str(path) for path in [*paths, numbers])}")


def _show(comparison: Comparison) -> None:
    head = f"{'family':<19}{'chain':<15}{'β':>5}{'solved':>8}{'mean ms':>20}{'median ms':>11}"
    _console.echo(f"{head}{'mean steps':>14}")
    for row in comparison.rows:
        _console.echo(
            f"{row.family:<19}{row.method:<15}{row.beta:>5g}{row.solved:>8.0%}"
            f"{_mean(row):>20}{1e3 * row.median_seconds:>11.3g}{row.mean_steps:>14,.0f}"
        )
    for family in comparison.families:
        _console.echo(f"{family}: the default is {'; '.join(_gains(comparison, family))}")
    curve = comparison.curve
    _console.echo(f"restart curve ({curve.family}, β = {curve.beta:g}): mean steps for ε")
    for k, epsilon in enumerate(curve.epsilon):
        _console.echo(
            f"  {epsilon:<9.2g} predicted {curve.predicted[k]:>12,.0f} ± "
            f"{curve.predicted_error[k]:<11,.0f} measured {'≥' * (curve.solved[k] < 1):>1}"
            f"{curve.measured[k]:>12,.0f} ± {curve.standard_error[k]:,.0f}"
        )


def _gains(comparison: Comparison, family: str) -> Iterator[str]:
    """How the default compares in the mean with each of the paper's chains at its better β."""
    for method in ("2-stage", "1-stage", "0-stage"):
        row = comparison.better(family, method)
        least = "≥ " if row.solved < 1 else ""
        alone = comparison.speedup(family, method)
        whole = comparison.speedup(family, method, setup=True)
        yield (
            f"{least}{alone:.1f} times as fast as {method} at β = {row.beta:g} "
            f"({whole:.1f} with set-up)"
        )


def _mean(row: Row) -> str:
    sign = "≥ " if row.solved < 1 else ""
    return f"{sign}{1e3 * row.mean_seconds:.3g} ± {1e3 * row.standard_error:.2g}"


class _bar:
    """A progress bar on a terminal; nothing elsewhere."""

    def __enter__(self):
        self._progress = None
        if not sys.stderr.isatty():
            return None
        from rich.console import Console
        from rich.progress import Progress

        self._progress = Progress(console=Console(stderr=True), transient=True)
        self._task = self._progress.add_task("comparing chains", total=None)
        self._progress.start()
        return self._advance

    def _advance(self, done: int, total: int) -> None:
        if self._progress is not None:
            self._progress.update(self._task, completed=done, total=total)

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()
