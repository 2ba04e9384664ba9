"""Shows `doeblin reproduce programs`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from . import _console
from ._verify import progress


def run_programs(
    trials: int, timeout: float, peers: bool, out: Path, seed: int, as_json: bool
) -> None:
    from ..programs._peers import PEERS
    from ..programs.examples import PAPER
    from ..reproduce._programs import METHODS, peer_table, program_table

    total = trials * len(PAPER) * len(METHODS) + len(PAPER) * len(PEERS) * peers
    with progress(total) as step:
        cells = program_table(trials, timeout=timeout, seed=seed, step=step)
        others = peer_table(timeout=timeout, step=step) if peers else []
    result = {
        "trials": trials,
        "timeout": timeout,
        "seed": seed,
        "note": "'growth' is our substitute for the paper's 'hard', which is not public",
        "methods": [cell.as_dict() for cell in cells],
        "peers": others,
    }
    out.mkdir(parents=True, exist_ok=True)
    path = out / "programs.json"
    path.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    if as_json:
        _console.print_json(result)
        return
    _show(result, trials)
    click.echo(f"wrote {path}")


def _show(result: dict[str, Any], trials: int) -> None:
    click.echo(f"seconds to a proof, mean ± standard error of {trials} trials; wall (search)")
    methods = list(dict.fromkeys(row["method"] for row in result["methods"]))
    click.echo(f"{'program':<10}" + "".join(f"{name:>28}" for name in methods))
    for program in dict.fromkeys(row["program"] for row in result["methods"]):
        line = f"{program:<10}"
        for row in result["methods"]:
            if row["program"] == program:
                line += f"{_cell(row):>28}"
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
    return f"{bound}{row['wall_mean']:.3f}{spread} ({row['search_mean']:.3f})"
