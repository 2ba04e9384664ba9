"""One trial: a changed copy of the source, and what the tests say of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

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

    def tests(self, package: str, timeout: float) -> Outcome:
        """Run the tests of a package until the first failure."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        start = time.monotonic()
        try:
            run = subprocess.run(
                [*command, "-p", "no:xdist", f"tests/{package}"],
                cwd=self.folder,
                env=self.environment,
                capture_output=True,
                text=True,
                timeout=timeout,
            )
            failed = [line for line in run.stdout.splitlines() if line.startswith(("FAILED", "ER"))]
            by = failed[0].split(" - ")[0].split(" ", 1)[-1] if failed else f"exit {run.returncode}"
            killed = run.returncode != 0
        except subprocess.TimeoutExpired:
            killed, by = True, "out of time"
        return Outcome(killed, by if killed else "", time.monotonic() - start)

    def try_change(
        self, file: str, change: Callable[[str], str], package: str, timeout: float
    ) -> Outcome:
        path = self.folder / file
        original = path.read_text()
        try:
            path.write_text(change(original))
            return self.tests(package, timeout)
        finally:
            path.write_text(original)
