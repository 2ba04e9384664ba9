"""The report: how many mutants were killed, and why the others live."""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from pathlib import Path

from .faults import FAULTS
from .mutants import PACKAGES, Mutant
from .trial import ROOT

REPORT = ROOT / "docs" / "mutants.md"
REASONS = Path(__file__).with_name("equivalent.toml")

_HEAD = """\
# Do the tests see faults?

`make mutants` changes one thing at a time in a copy of the code (a number by one, a sign, a
comparison, a condition) and runs the tests of the package that was changed. A change that makes
some test fail is *killed*. The operators are those of [Cosmic Ray](https://cosmic-ray.readthedocs.io);
annotations and the wording of errors are left alone. This page is written by that command.
"""


def read_reasons() -> dict[str, str]:
    """By name, the mutants that were judged to be equivalent."""
    return tomllib.loads(REASONS.read_text())


def write_report(records: dict[str, dict], chosen: list[Mutant], everyone: list[Mutant]) -> None:
    reasons = read_reasons()
    tried = [mutant for mutant in chosen if mutant.name in records]
    lived = [mutant for mutant in tried if not records[mutant.name]["killed"]]
    equivalent = [mutant for mutant in lived if mutant.name in reasons]
    open_ones = [mutant for mutant in lived if mutant.name not in reasons]
    faults = [(fault, records.get(f"fault: {fault.name}")) for fault in FAULTS]
    lines = [_HEAD]
    whole = len(tried) == len(everyone)
    lines.append(
        f"Of {len(everyone)} mutants {'all' if whole else len(tried)} were tried"
        f"{'' if whole else ', one lot from all packages together'}. "
        "Which of those that lived are equivalent was judged by people afterwards; the others have "
        "tests now. What was killed at first, of all that are not equivalent, says how it is with "
        "mutants that were not tried; the intervals are Wilson's, of 95 %.\n"
    )
    lines += ["| package | mutants | tried | equivalent | killed at first | killed now | live |"]
    lines += ["|---|---|---|---|---|---|---|"]
    at_first = [mutant for mutant in tried if records[mutant.name]["at_first"]]
    for package in (*PACKAGES, "all"):
        lines.append(_row(package, everyone, tried, equivalent, at_first, open_ones))
    lines.append("\n## Faults that experts make\n")
    lines.append("Each is put into the code, and the package's tests must fail.\n")
    lines += ["| fault | caught by |", "|---|---|"]
    for fault, record in faults:
        by = (
            "not tried" if record is None else (record["by"] if record["killed"] else "**nothing**")
        )
        lines.append(f"| {fault.name} | `{by}` |")
    lines.append("\n## Equivalent: the change changes nothing that is promised\n")
    for reason, count in Counter(reasons[m.name] for m in equivalent).most_common():
        lines.append(f"- {reason} ({count})")
        lines += [f"    - `{m.name}`" for m in equivalent if reasons[m.name] == reason]
    lines.append("\n## Alive\n")
    lines += [f"- `{mutant.name}`" for mutant in open_ones] or ["None."]
    REPORT.write_text("\n".join(lines) + "\n")
    print(f"wrote {REPORT.relative_to(ROOT)}")


def _row(
    package: str,
    everyone: list[Mutant],
    tried: list[Mutant],
    equivalent: list[Mutant],
    at_first: list[Mutant],
    live: list[Mutant],
) -> str:
    def count(mutants: list[Mutant]) -> int:
        return sum(package in ("all", mutant.package) for mutant in mutants)

    all_of, same, alive = count(tried), count(equivalent), count(live)
    real = all_of - same
    share = "not tried"
    if real:
        seen = count(at_first)
        low, high = _wilson(seen, real)
        share = f"{seen}: {seen / real:.0%} ({low:.0%} to {high:.0%})"
    cells = (package, count(everyone), all_of, same, share, real - alive, alive)
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def _wilson(successes: int, trials: int, z: float = 1.96) -> tuple[float, float]:
    """An interval for a share, also of few trials and near one."""
    share, extra = successes / trials, z**2 / trials
    middle = share + extra / 2
    half = z * math.sqrt(share * (1 - share) / trials + extra / trials / 4)
    return (middle - half) / (1 + extra), (middle + half) / (1 + extra)
