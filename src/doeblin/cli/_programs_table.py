"""Shows `doeblin reproduce programs`."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from . import _console
from ._verify import progress


def run_programs(
    trials: int, timeout: float, peers: bool, jobs: int, out: Path, seed: int, as_json: bool
) -> None:
    from ..programs._peers import PEERS
    from ..programs.examples import PAPER
    from ..reproduce._programs import METHODS, peer_table, program_table

    out.mkdir(parents=True, exist_ok=True)
    log = out / f"programs-{timeout:g}s.jsonl"
    total = trials * len(PAPER) * len(METHODS) + len(PAPER) * len(PEERS) * peers
    with progress(total) as step, _workers(jobs) as executor:
        cells = program_table(
            trials, timeout=timeout, seed=seed, executor=executor, log=log, step=step
        )
        others = peer_table(timeout=timeout, step=step) if peers else []
    result = {
        "trials": trials,
        "timeout": timeout,
        "seed": seed,
        "note": "'growth' is our substitute for the paper's 'hard', which is not public",
        "methods": [cell.as_dict() for cell in cells],
        "peers": others,
    }
    path = out / "programs.json"
    path.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    if as_json:
        _console.print_json(result)
        return
    _show(result, trials)
    click.echo(f"wrote {path}")


@contextmanager
def _workers(jobs: int) -> Iterator[Executor | None]:
    """So many processes; none but this one for a single job."""
    if jobs == 1:
        yield None
        return
    executor = ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"))
    try:
        yield executor
    finally:
        executor.shutdown(cancel_futures=True)


def _show(result: dict[str, Any], trials: int) -> None:
    click.echo(
        f"seconds to a proof, mean ± standard error of {trials} trials; wall [processor, search]"
    )
    methods = list(dict.fromkeys(row["method"] for row in result["methods"]))
    click.echo(f"{'program':<10}" + "".join(f"{name:>32}" for name in methods))
    for program in dict.fromkeys(row["program"] for row in result["methods"]):
        line = f"{program:<10}"
        for row in result["methods"]:
            if row["program"] == program:
                line += f"{_cell(row):>32}"
        click.echo(line)
    click.echo("≥: some trials reached the limit and count with it")
    for row in result["peers"]:
        click.echo(
            f"{row['program']:<10} {row['tool']:<14} {row['result']:<8} {row['seconds']:.3f} s"
        )
    click.echo(result["note"])


def _cell(row: dict[str, Any]) -> str:
    error = row["wall_standard_error"]
    spread = f" ± {error:.3f}" if error is not None else ""
    bound = "≥ " if row["unsolved"] else ""
    rest = f"[{row['cpu_mean']:.3f}, {row['search_mean']:.3f}]"
    return f"{bound}{row['wall_mean']:.3f}{spread} {rest}"
