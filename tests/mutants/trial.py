"""One trial: a changed copy of the source, and what the tests say of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .order import ORDER, RECORD, Record, chosen, read_records
from .runner import said

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
        environment = os.environ | {
            "PYTHONPATH": f"{folder / 'src'}{os.pathsep}{folder}",
            "JAX_COMPILATION_CACHE_DIR": str(cache),
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.2",
        }
        ignore = shutil.ignore_patterns("__pycache__", ".*")
        for part in ("src", "tests"):
            shutil.copytree(ROOT / part, folder / part, ignore=ignore)
        shutil.copy(ROOT / "pyproject.toml", folder)
        self.runner = subprocess.Popen(
            [sys.executable, "-m", "tests.mutants.runner"],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def close(self) -> None:
        self.runner.communicate()

    def record(self, package: str, path: Path) -> list[Record]:
        """What each test of a package does on sound code; they must all pass."""
        found = self.folder / "record.jsonl"
        found.unlink(missing_ok=True)
        outcome = self._tests(
            [f"tests/{package}", "tests/test_bounds.py"], {RECORD: str(found)}, timeout=3600
        )
        if outcome.killed:
            raise SystemExit(f"the tests of {package} fail without any change: {outcome.by}")
        shutil.copy(found, path)
        return read_records(path)

    def try_change(
        self,
        file: str,
        change: Callable[[str], str],
        records: list[Record],
        kills: Counter[str],
    ) -> Outcome:
        """Run the tests that a change concerns, until the first failure."""
        path, order = self.folder / file, self.folder / "order.json"
        original = path.read_text()
        changed = change(original)
        tests = chosen(records, kills, file, original, _line(original, changed))
        order.write_text(json.dumps(tests))
        modules = sorted({test.partition("::")[0] for test, _ in tests})
        total = sum(seconds for _, seconds in tests)
        try:
            self._write(path, changed)
            return self._tests(modules, {ORDER: str(order)}, timeout=300 + 5 * total)
        finally:
            self._write(path, original)

    def _write(self, path: Path, text: str) -> None:
        """Never to be taken for what it was: bytecode goes by seconds and sizes."""
        path.write_text(text)
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
            compiled.unlink()

    def _tests(self, modules: list[str], settings: dict[str, str], timeout: float) -> Outcome:
        arguments = ["-x", "-q", "-m", "not thorough", "-p", "no:cacheprovider", "-p", "no:xdist"]
        arguments += ["-W", "ignore:Module already imported"]  # by the runner
        command = [settings, [*arguments, "-p", "tests.mutants.order", *modules], timeout]
        start = time.monotonic()
        assert self.runner.stdin and self.runner.stdout
        print(json.dumps(command), file=self.runner.stdin, flush=True)
        status = json.loads(self.runner.stdout.readline())
        text = said(self.folder)
        failed = [line for line in text.splitlines() if line.startswith(("FAILED", "ERROR "))]
        by = failed[0].split(" - ")[0].split(" ", 1)[-1] if failed else f"exit {status}"
        if status is None or text.startswith("Timeout (") or "\nTimeout (" in text:
            by = "out of time"
        return Outcome(status != 0, by if status != 0 else "", time.monotonic() - start)


def _line(before: str, after: str) -> int:
    """The first line that differs, counted from 1."""
    lines = zip(before.splitlines(), after.splitlines(), strict=False)
    return next((n for n, (one, other) in enumerate(lines, 1) if one != other), 1)
