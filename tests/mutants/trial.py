"""One trial: a changed copy of the source, and what the tests say of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .order import ORDER, RECORD, Record, chosen, read_records

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Outcome:
    killed: bool
    by: str
    """The test that failed first, or how else the tests ended."""
    seconds: float


class Workshop:
    """A copy of the source and the tests, in which one thing at a time is changed."""

    def __init__(self, folder: Path, cache: Path):
        self.folder = folder
        # What was compiled before is looked up, so that a trial compiles what its change touches.
        self.environment = os.environ | {
            "PYTHONPATH": f"{folder / 'src'}{os.pathsep}{folder}",
            "PYTHONDONTWRITEBYTECODE": "1",
            "JAX_COMPILATION_CACHE_DIR": str(cache),
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.2",
        }
        ignore = shutil.ignore_patterns("__pycache__", ".*")
        for part in ("src", "tests"):
            shutil.copytree(ROOT / part, folder / part, ignore=ignore)
        shutil.copy(ROOT / "pyproject.toml", folder)

    def record(self, package: str) -> list[Record]:
        """What each test of a package does on sound code; they must all pass."""
        path = self.folder / "record.jsonl"
        path.unlink(missing_ok=True)
        outcome = self._tests(package, {RECORD: str(path)}, timeout=3600)
        if outcome.killed:
            raise SystemExit(f"the tests of {package} fail without any change: {outcome.by}")
        return read_records(path)

    def try_change(
        self, file: str, change: Callable[[str], str], package: str, records: list[Record]
    ) -> Outcome:
        """Run the tests of a package on a changed file until the first failure."""
        path, order = self.folder / file, self.folder / "order.json"
        original = path.read_text()
        changed = change(original)
        order.write_text(json.dumps(chosen(records, file, original, _line(original, changed))))
        try:
            path.write_text(changed)
            total = sum(record.seconds for record in records)
            return self._tests(package, {ORDER: str(order)}, timeout=300 + 5 * total)
        finally:
            path.write_text(original)

    def _tests(self, package: str, settings: dict[str, str], timeout: float) -> Outcome:
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        start = time.monotonic()
        try:
            run = subprocess.run(
                [*command, "-p", "no:xdist", "-p", "tests.mutants.order", f"tests/{package}"],
                cwd=self.folder,
                env=self.environment | settings,
                capture_output=True,
                text=True,
                timeout=timeout,
            )
            failed = [line for line in run.stdout.splitlines() if line.startswith(("FAILED", "ER"))]
            by = failed[0].split(" - ")[0].split(" ", 1)[-1] if failed else f"exit {run.returncode}"
            if run.stderr.startswith("Timeout ("):  # by the plugin: one test took far too long
                by = "out of time"
            killed = run.returncode != 0
        except subprocess.TimeoutExpired:
            killed, by = True, "out of time"
        return Outcome(killed, by if killed else "", time.monotonic() - start)


def _line(before: str, after: str) -> int:
    """The first line that differs, counted from 1."""
    lines = zip(before.splitlines(), after.splitlines(), strict=False)
    return next((n for n, (one, other) in enumerate(lines, 1) if one != other), 1)
