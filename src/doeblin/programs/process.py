"""A process that verifies files: its limits."""

from __future__ import annotations

import contextlib
import os
import sys

import z3

GRACE = 0.8
"""Seconds after its limit until a solver that does not heed it is stopped."""
MEMORY_MB = 1500
_DEEP = 20_000


def prepare_process() -> None:
    """Limits for a process that verifies files: the solver's memory, and deep recursion.

    What the solver prints past Python (it does when it runs into a bug of its own) goes nowhere.
    """
    z3.set_param("memory_max_size", MEMORY_MB)
    sys.setrecursionlimit(_DEEP)
    with contextlib.suppress(OSError, ValueError):  # no such stream, e.g. in a test
        if sys.stderr is not None and sys.stderr.fileno() == 2:
            sys.stderr.flush()
            sys.stderr = os.fdopen(os.dup(2), "w", buffering=1, errors="backslashreplace")
            with open(os.devnull, "wb") as nowhere:
                os.dup2(nowhere.fileno(), 2)
