"""Whether the search engine is being compiled, for those who watch a time limit."""

from __future__ import annotations

import threading

COMPILING = threading.Event()


def compiling() -> bool:
    """Is the engine being compiled right now? That happens once, on the first use ever."""
    return COMPILING.is_set()
