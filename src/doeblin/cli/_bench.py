"""`doeblin bench`: suites of problems, with peers beside us in the same run."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any

import click

from .._errors import InputError
from .._files import read_text
from . import _console
from ._outputs import check_outputs
from ._progress import progress
from ._status import Status
from ._verify import verified


@click.group()
def bench() -> None:
    """Measure doeblin on suites, beside other tools."""


@bench.command()
@click.argument("folder", metavar="SUITE")
@click.option(
    "--timeout", type=_console.SECONDS, default=10.0, show_default=True, help="Seconds a file."
)
@_console.seed_option
@click.option("--method", default="default", show_default=True, help="As for `doeblin verify`.")
@click.option(
    "--expected",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Expected verdicts: suite, file, safe/unsafe, with tabs.  [default: found near the suite]",
)
@click.option(
    "--without",
    multiple=True,
    metavar="NAME",
    help="Switch off a source of lemmas; may be given several times.",
)
@click.option("--peers/--no-peers", default=True, help="Also run Spacer (twice) and cvc5.")
@click.option("--quantifiers", is_flag=True, help="And Spacer with quantifiers, for arrays.")
@_console.jobs_option
@_console.cluster_option
@_console.resume_option
@_console.json_option
def verify(
    folder: str,
    timeout: float,
    seed: int,
    method: str,
    expected: Path | None,
    without: tuple[str, ...],
    peers: bool,
    quantifiers: bool,
    as_json: bool,
    **where: Any,
) -> int:
    """Verify all programs of the folder SUITE, one process at a time, and compare.

    With --jobs or --cluster several at a time (the peers, here, still one by one): then seconds are
    those of busy machines.

    Prints for every tool how many programs it decided, how many verdicts differ from the expected
    ones, and the median seconds. Exit status 4 if one of our verdicts differs.

    \b
    Examples:
      doeblin bench verify suites/code2inv
      doeblin bench verify suites/hola --timeout 5 --no-peers --json
      doeblin bench verify suites/hola --no-peers --without facets --without modes
    """
    from ..programs import without_sources
    from ..programs.files import find_files
    from ..programs.peers import PEERS, QUANTIFIED, ask_peer

    if not os.path.isdir(folder):
        raise InputError(f"'{folder}' is not a folder of programs")
    suite = Path(folder)
    paths = find_files([folder])
    names = [str(path.relative_to(suite)) for path in paths]
    inputs = {"the file of --expected": expected, **dict(zip(names, paths, strict=True))}
    check_outputs({"--resume": where["resume"]}, inputs)
    wanted = _expected(suite, expected)
    settings = {"timeout": timeout, "seed": seed, "method": method, "hints": ()}
    settings["tunables"] = without_sources(without)
    tools: dict[str, dict[str, tuple[str, float]]] = {f"doeblin ({method})": {}}
    ours = tools[f"doeblin ({method})"]
    sources: dict[str, list[str]] = {}
    for index, result in verified(paths, settings, "c", where):
        name = names[index]
        ours[name] = (result["verdict"].lower(), result["seconds"])
        sources[name] = result.get("sources", [])
    if peers:
        asked = (*PEERS, *([QUANTIFIED] if quantifiers else ()))
        with progress(len(paths) * len(asked)) as bar:
            for peer in asked:
                tools[peer] = {}
                for name, path in zip(names, paths, strict=True):
                    answer = ask_peer(peer, path, timeout)
                    tools[peer][name] = (answer.result, answer.seconds)
                    bar.add()
    rows = [_row(name, answers, wanted) for name, answers in tools.items()]
    if as_json:
        details = {
            name: {file: {"verdict": v, "seconds": s} for file, (v, s) in answers.items()}
            for name, answers in tools.items()
        }
        found = {"suite": str(suite), "without": list(without), "table": rows, "files": details}
        _console.print_json(found | {"sources": sources})
    else:
        _table(suite, len(paths), rows)
        for file, (verdict, _) in sorted(ours.items()):
            if verdict in ("safe", "unsafe") and wanted.get(file) not in (None, verdict):
                _console.echo(f"  {file}: {verdict}, expected {wanted[file]}")
    return Status.DIFFERS if rows[0]["differs"] else Status.DONE


def _expected(suite: Path, given: Path | None) -> dict[str, str]:
    """Verdicts by file name, from a table beside the suite or above it."""
    near = [suite / "expected.tsv", suite.resolve().parent / "expected.tsv"]
    path = given or next((p for p in near if p.is_file()), None)
    if path is None:
        return {}
    rows = list(csv.reader(read_text(path).splitlines(), delimiter="\t"))
    name = suite.resolve().name
    return {
        row[1]: row[2]
        for row in rows
        if len(row) >= 3 and row[0] == name and row[2] in ("safe", "unsafe")
    }


def _row(
    name: str, answers: dict[str, tuple[str, float]], wanted: dict[str, str]
) -> dict[str, Any]:
    decided = {f: v for f, (v, _) in answers.items() if v in ("safe", "unsafe")}
    times = sorted(seconds for _, seconds in answers.values())
    return {
        "tool": name,
        "safe": sum(v == "safe" for v in decided.values()),
        "unsafe": sum(v == "unsafe" for v in decided.values()),
        "undecided": len(answers) - len(decided),
        "differs": sum(wanted.get(f, v) != v for f, v in decided.items()),
        "median_seconds": times[len(times) // 2] if times else None,
    }


def _table(suite: Path, count: int, rows: list[dict[str, Any]]) -> None:
    _console.echo(f"{suite}: {count} programs")
    _console.echo(
        f"{'tool':<24}{'safe':>6}{'unsafe':>8}{'undecided':>11}{'differs':>9}{'median s':>10}"
    )
    for row in rows:
        _console.echo(
            f"{row['tool']:<24}{row['safe']:>6}{row['unsafe']:>8}{row['undecided']:>11}"
            f"{row['differs']:>9}{row['median_seconds']:>10.3f}"
        )
