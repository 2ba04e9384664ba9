"""What a contender needs when it runs by itself."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable
from multiprocessing import Pipe
from typing import Any


def measured(case: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The result of a case that runs in a child process, with its peak memory in GB (`peak_gb`).

    The child starts with what the parent has in memory, which counts.
    """
    receiving, sending = Pipe(duplex=False)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            found = case()
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            sending.send({**found, "peak_gb": peak * 1024 / 1e9})
            status = 0
        finally:
            os._exit(status)
    sending.close()
    try:
        return receiving.recv()
    finally:
        os.waitpid(child, 0)
