"""Shows `doeblin reproduce programs`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._files import write_text
from . import _console
from ._progress import progress

if TYPE_CHECKING:
    from .._fleet import Fleet


def run_programs(
    trials: int,
    timeout: float,
    peers: bool,
    fleet: Fleet | None,
    out: Path,
    seed: int,
    as_json: bool,
) -> None:
    from ..programs.examples import PAPER
    from ..programs.peers import PEERS
    from ..reproduce.programs import METHODS, peer_table, program_table

    log = out / f"programs-{timeout:g}s.jsonl"
    total = trials * len(PAPER) * len(METHODS) + len(PAPER) * len(PEERS) * peers
    with progress(total) as bar:
        cells = program_table(
            trials, timeout=timeout, seed=seed, fleet=fleet, log=log, step=bar.add
        )
        others = peer_table(timeout=timeout, step=bar.add) if peers else []
    result = {
        "trials": trials,
        "timeout": timeout,
        "seed": seed,
        "note": "'growth' is our substitute for the paper's 'hard', which is not public",
        "methods": [cell.as_dict() for cell in cells],
        "peers": others,
    }
    path = out / "programs.json"
    write_text(path, json.dumps(result, indent=2) + "\n")
    if as_json:
        _console.print_json(result)
        return
    _show(result, trials)
    _console.echo(f"wrote {path}")


def _show(result: dict[str, Any], trials: int) -> None:
    _console.echo(
        f"seconds to a proof, mean ± standard error of {trials} trials; wall [processor, search], "
        "and steps of the search"
    )
    methods = list(dict.fromkeys(row["method"] for row in result["methods"]))
    _console.echo(f"{'program':<10}" + "".join(f"{name:>42}" for name in methods))
    for program in dict.fromkeys(row["program"] for row in result["methods"]):
        line = f"{program:<10}"
        for row in result["methods"]:
            if row["program"] == program:
                line += f"{_cell(row):>42}"
        _console.echo(line)
    _console.echo("≥: some trials reached the limit and count with it")
    for row in result["peers"]:
        _console.echo(
            f"{row['program']:<10} {row['tool']:<14} {row['result']:<8} {row['seconds']:.3f} s"
        )
    _console.echo(result["note"])


def _cell(row: dict[str, Any]) -> str:
    error = row["wall_standard_error"]
    spread = f" ± {error:.3f}" if error is not None else ""
    bound = "≥ " if row["unsolved"] else ""
    rest = f"[{row['cpu_mean']:.3f}, {row['search_mean']:.3f}] {row['steps_mean']:,.0f}"
    return f"{bound}{row['wall_mean']:.3f}{spread} {rest}"
