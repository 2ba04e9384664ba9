"""Proofs: the bundled programs with every method, beside Spacer and cvc5 in the same run."""

from __future__ import annotations

import os
import statistics
import time
from pathlib import Path
from typing import Any

TRIALS = 5
TIMEOUT = 10.0


def run() -> dict[str, Any]:
    """Seconds to a proof by method and program; suites named in DOEBLIN_SUITES as well."""
    from doeblin.programs import parse_program, read_program, verify
    from doeblin.programs.examples import example
    from doeblin.reproduce.programs import peer_table, program_table

    cells = program_table(TRIALS, timeout=TIMEOUT)
    peers = peer_table(timeout=TIMEOUT)
    trivial = parse_program("int main() { int x = 0; while (x < 9) x++; assert(x == 9); }")
    verify(trivial)
    before = time.perf_counter()
    verify(trivial)
    result: dict[str, Any] = {
        "trials": TRIALS,
        "methods": [cell.as_dict() for cell in cells],
        "peers": peers,
        "trivial_seconds": time.perf_counter() - before,
        "refutation_seconds": verify(parse_program(example("off_by_one"))).seconds,
    }
    for name in filter(None, os.environ.get("DOEBLIN_SUITES", "").split(os.pathsep)):
        verdicts = [
            verify(read_program(path), timeout=TIMEOUT)
            for path in sorted(Path(name).iterdir())
            if path.suffix in (".c", ".sl", ".smt2")
        ]
        result.setdefault("suites", {})[Path(name).name] = {
            "files": len(verdicts),
            "verdicts": {
                outcome: sum(v.outcome.value == outcome for v in verdicts)
                for outcome in ("SAFE", "UNSAFE", "UNKNOWN")
            },
            "median_seconds": statistics.median(v.seconds for v in verdicts),
        }
    return result
