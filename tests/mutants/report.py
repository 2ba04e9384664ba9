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
ALIVE = Path(__file__).with_name("alive.toml")

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


def write_report(records: dict[str, dict], everyone: list[Mutant]) -> None:
    reasons = read_reasons()
    tried = [mutant for mutant in everyone if mutant.name in records]
    lived = [mutant for mutant in tried if not records[mutant.name]["killed"]]
    equivalent = [mutant for mutant in lived if mutant.name in reasons]
    open_ones = [mutant for mutant in lived if mutant.name not in reasons]
    at_first = [mutant for mutant in tried if records[mutant.name]["at_first"]]
    faults = [(fault, records.get(f"fault: {fault.name}")) for fault in FAULTS]
    lines = [_HEAD]
    lines.append(
        f"Of {len(everyone)} mutants {len(tried)} were tried, in lots. Which of those that lived "
        "are equivalent was judged by people; the others, but for those at the end, have tests "
        "now, written after their lot and before the next one. What was killed at first, of all "
        "that are not equivalent, says how it is with mutants that were not tried; the intervals "
        "are Wilson's, of 95 %.\n"
    )
    lines += ["| lot | tried | equivalent | killed at first | killed now | live |"]
    lines += ["|---|---|---|---|---|---|"]
    for lot in sorted({records[mutant.name]["lot"] for mutant in tried}):

        def drawn(mutants: list[Mutant], lot: int = lot) -> int:
            return sum(records[mutant.name]["lot"] == lot for mutant in mutants)

        lines.append(_row(str(lot), *map(drawn, (tried, equivalent, at_first, open_ones))))
    lines += ["", "| package | tried | equivalent | killed at first | killed now | live |"]
    lines += ["|---|---|---|---|---|---|"]
    for package in PACKAGES:

        def inside(mutants: list[Mutant], package: str = package) -> int:
            return sum(mutant.package == package for mutant in mutants)

        name = f"{package} ({inside(everyone)})"
        lines.append(_row(name, *map(inside, (tried, equivalent, at_first, open_ones))))
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
    why: dict[str, str] = tomllib.loads(ALIVE.read_text())
    lines += [f"- `{m.name}`: {why.get(m.name, 'not yet looked at')}" for m in open_ones] or [
        "None."
    ]
    REPORT.write_text("\n".join(lines) + "\n")
    print(f"wrote {REPORT.relative_to(ROOT)}")


def _row(name: str, tried: int, equivalent: int, at_first: int, live: int) -> str:
    real = tried - equivalent
    share = "not tried"
    if real:
        low, high = _wilson(at_first, real)
        share = f"{at_first}: {at_first / real:.0%} ({low:.0%} to {high:.0%})"
    cells = (name, tried, equivalent, share, real - live, live)
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def _wilson(successes: int, trials: int, z: float = 1.96) -> tuple[float, float]:
    """An interval for a share, also of few trials and near one."""
    share, extra = successes / trials, z**2 / trials
    middle = share + extra / 2
    half = z * math.sqrt(share * (1 - share) / trials + extra / trials / 4)
    return (middle - half) / (1 + extra), (middle + half) / (1 + extra)
