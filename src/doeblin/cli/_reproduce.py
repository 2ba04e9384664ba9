"""`doeblin reproduce`: one command per table or figure of the paper."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Literal

import click

from .._errors import InputError
from .._files import write_text
from . import _console


@click.group()
def reproduce() -> None:
    """Redo the paper's tables and figures, with their numbers as JSON."""


@reproduce.command()
@click.option("--deltas", default="0.1,0.01,0.001", show_default=True, help="Rates δ, with commas.")
@click.option(
    "--epsilons",
    default=None,
    help="Restart rates ε, with commas.  [default: 1e-5 to 1, 61 of them]",
)
@_console.out_option("reproduced", "example.png, example.svg and example.json")
@_console.json_option
def example(deltas: str, epsilons: str | None, out: Path, as_json: bool) -> None:
    """The three-state example: restarts against slow mixing.

    Two sticky states hold almost all of the probability, and the chain needs about 1/δ steps to
    change between them. Restarts (ε ≫ δ) reach both at once, but shift the law from 1/2 and 1/2
    to 4/9 and 5/9; for ε ≪ δ the shift is gone.

    \b
    Example:
      doeblin reproduce example --deltas 0.1,0.001 --out figures
    """
    import numpy as np

    from ..reproduce.example import plot_example, three_state_example

    rates = (
        _console.numbers("--epsilons", epsilons)
        if epsilons is not None
        else np.geomspace(1e-5, 1, 61).tolist()
    )
    result = three_state_example(_console.numbers("--deltas", deltas), rates)
    paths = plot_example(result, out / "example")
    numbers = out / "example.json"
    write_text(numbers, json.dumps(result.to_dict(), indent=2) + "\n")
    if as_json:
        _console.print_json(result.to_dict())
        return
    first, third = result.absorption
    _console.echo(f"after a restart: state 1 {first:.4f} (4/9), state 3 {third:.4f} (5/9)")
    for curve in result.curves:
        law = ", ".join(f"{p:.4f}" for p in curve.stationary)
        _console.echo(f"δ = {curve.delta:g}: stationary law ({law}), spectral gap {curve.gap:.4g}")
        for i in sorted({0, len(rates) // 2, len(rates) - 1}):
            law = ", ".join(f"{p:.4f}" for p in curve.restarted[i])
            _console.echo(
                f"  ε = {curve.epsilon[i]:<9.3g} law ({law})  "
                f"KL(π̃‖π) {curve.kl_restarted_stationary[i]:.3g}"
            )
    _console.echo(f"wrote {', '.join(str(path) for path in [*paths, numbers])}")


@reproduce.command()
@click.option("--families", help="Names with commas.  [default: all]")
@click.option("--runs", type=click.IntRange(min=1), default=120, show_default=True)
@click.option(
    "--max-steps",
    type=click.IntRange(min=100),
    default=10_000_000,
    show_default=True,
    help="Where a run of the paper's chains is given up.",
)
@click.option("--quick", is_flag=True, help="Two families, ten short runs: a look in seconds.")
@_console.jobs_option
@_console.cluster_option
@_console.out_option("reproduced", "formulas.png, formulas.svg and formulas.json")
@_console.seed_option
@_console.json_option
def formulas(
    *,
    families: str | None,
    runs: int,
    max_steps: int,
    quick: bool,
    jobs: int,
    cluster: str | None,
    out: Path,
    seed: int,
    as_json: bool,
) -> None:
    """Inferring DNF formulas: 0-, 1- and 2-stage chains beside the default.

    The table gives CPU seconds to a solution, mean ± standard error and median. Which of the
    paper's chains wins depends on the temperature, so each runs at several; ≥ marks means with
    runs that were given up.

    \b
    Examples:
      doeblin reproduce formulas --quick
      doeblin reproduce formulas --families paper,invariant --runs 200 --out figures
    """
    from ._formulas_table import run_formulas

    with _console.fleet(jobs, cluster, single=True) as fleet:
        run_formulas(families, runs, max_steps, quick, fleet, out, seed, as_json)


@reproduce.command()
@click.option("--quick", is_flag=True, help="A small version, in minutes.")
@click.option("--seeds", type=click.IntRange(min=1), help="Data seeds.  [default: 5, quick 2]")
@click.option("--jobs", type=click.IntRange(min=1), help="Processes.  [default: all cores]")
@_console.cluster_option
@click.option(
    "--engine",
    type=click.Choice(["auto", "compiled", "library"]),
    default="auto",
    show_default=True,
    help="Compiled code on the processor, or doeblin's chains in JAX: auto takes those on a GPU.",
)
@click.option(
    "--batch",
    type=click.IntRange(min=1),
    help="Gestures a step of training, with the library.  [default: 32, quick 8]",
)
@_console.out_option(
    "reproduced", "gestures.png, gestures.svg, gestures.json and the finished runs"
)
@_console.seed_option
@_console.json_option
def gestures(
    *,
    quick: bool,
    seeds: int | None,
    jobs: int | None,
    cluster: str | None,
    engine: Literal["auto", "compiled", "library"],
    batch: int | None,
    out: Path,
    seed: int,
    as_json: bool,
) -> None:
    """Words from gestures: Doeblin chains against Gibbs, with controls.

    Word and character accuracy against passes over the data for several budgets of transitions, a
    table with controls and estimators, and paired differences with 95 % intervals. Where a claim
    of the paper does not hold, the table says so. Stopped, it goes on where it was when the same
    command is given again. --seed is the first of the data seeds. Workers of a cluster must see
    the folder OUT.

    \b
    Examples:
      doeblin reproduce gestures --quick --out figures
      doeblin reproduce gestures --jobs 16 --out figures
      doeblin reproduce gestures --engine library --batch 64 --out figures
    """
    from ..reproduce.gestures import QUICK, Size, fitting_engine, gesture_experiment
    from ..reproduce.gestures_report import plot, table

    if engine == "auto":
        engine = fitting_engine() if cluster is None else "compiled"
    if cluster is not None and engine == "library":
        raise InputError("--engine library is for one process, here: it takes no --cluster")
    size = replace(QUICK if quick else Size(), first_seed=seed, engine=engine)
    size = replace(size, seeds=seeds or size.seeds, batch=batch or size.batch)
    jobs = 1 if engine == "library" else jobs or os.cpu_count() or 1
    with _console.fleet(jobs, cluster, seen=str(out.resolve()), single=True) as fleet:
        report = gesture_experiment(
            size, out, fleet=fleet, progress=lambda text: _console.echo(text, err=True)
        )
    numbers = out / "gestures.json"
    write_text(numbers, json.dumps(report, indent=2) + "\n")
    paths = plot(report, out / "gestures")
    if as_json:
        _console.print_json(report)
        return
    for line in table(report):
        _console.echo(line)
    _console.echo(f"wrote {', '.join(str(path) for path in [*paths, numbers])}")


@reproduce.command()
@click.option("--trials", type=click.IntRange(min=1), default=1000, show_default=True)
@click.option("--quick", is_flag=True, help="20 trials.")
@click.option(
    "--timeout", type=_console.SECONDS, default=10.0, show_default=True, help="Seconds a trial."
)
@click.option("--peers/--no-peers", default=True, help="Also run Spacer and cvc5.")
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Processes. More than one is faster, but their wall times disturb each other.",
)
@_console.cluster_option
@_console.out_option("reproduced", "programs.json")
@_console.seed_option
@_console.json_option
def programs(
    *,
    trials: int,
    quick: bool,
    timeout: float,
    peers: bool,
    jobs: int,
    cluster: str | None,
    out: Path,
    seed: int,
    as_json: bool,
) -> None:
    """Invariants of C programs: 0-, 1- and 2-stage chains, the default, Spacer and cvc5.

    Seconds to a proof, mean ± standard error over the trials, on the paper's programs as far as
    they are public, and `growth`, our substitute for its `hard`: on the clock, of the processor,
    and of the search alone. A thousand trials take an hour or two. Finished ones are kept in
    OUT/programs-*.jsonl, so that an interrupted command goes on; delete that file to begin anew.

    \b
    Examples:
      doeblin reproduce programs --quick
      doeblin reproduce programs --jobs 2
      doeblin reproduce programs --trials 100 --no-peers --json
    """
    from ._programs_table import run_programs

    with _console.fleet(jobs, cluster, single=True) as fleet:
        run_programs(20 if quick else trials, timeout, peers, fleet, out, seed, as_json)
