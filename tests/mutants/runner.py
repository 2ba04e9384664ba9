"""Runs pytest again and again, each time in a fork of one process that has the imports done.

What is imported beforehand starts no threads: JAX's come with its first computation, which happens
in the forks only. Nothing of doeblin is imported before the fork.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import time
import warnings
from pathlib import Path

IMPORTS = (
    "beartype", "equinox", "hypothesis", "jax", "jax.numpy", "jax.scipy.stats", "jaxtyping",
    "numba", "numpyro", "numpyro.distributions", "optax", "pytest", "scipy.stats",
)  # fmt: skip
SAID = "said.txt"


def serve() -> None:
    """A line of JSON a run: [settings, arguments, seconds]; the answer is its status, or null."""
    for name in IMPORTS:
        importlib.import_module(name)
    warnings.filterwarnings("ignore", message="os.fork")
    for line in sys.stdin:
        settings, arguments, seconds = json.loads(line)
        child = os.fork()
        if child == 0:
            _run(settings, arguments)
        print(json.dumps(_status(child, seconds)), flush=True)


def _run(settings: dict[str, str], arguments: list[str]) -> None:
    os.environ.update(settings)
    said = os.open(SAID, os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(said, stream)
    os.setpgid(0, 0)
    import pytest

    status = int(pytest.main(arguments))
    sys.stdout.flush()
    os._exit(status)


def _status(child: int, seconds: float) -> int | None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def said(folder: Path) -> str:
    """What the last run printed."""
    return (folder / SAID).read_text(errors="replace")


if __name__ == "__main__":
    serve()
