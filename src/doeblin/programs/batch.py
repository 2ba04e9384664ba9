"""Many files over worker processes, here or on a cluster; results as they come."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .._fleet import Fleet, Lost, completed, dask_cluster
from .child import Children, Request, verify_in_child


@dataclass
class Batch:
    """Verifies files in parallel; a context manager that leaves no process behind.

    On `jobs` processes of this machine, or on the Dask cluster whose scheduler has the address
    `cluster`. Wherever it is, each file is in a process of its own that can be stopped.
    """

    paths: list[Path]
    options: dict[str, Any]
    ints: str = "c"
    jobs: int = 1
    cluster: str | None = None
    _stack: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def __enter__(self) -> Batch:
        self._stack.__enter__()
        if self.cluster is not None:
            found = dask_cluster(self.cluster, seen=os.getcwd())
            self._fleet, self._work = self._stack.enter_context(found), verify_in_child
        else:
            threads = self._stack.enter_context(ThreadPoolExecutor(self.jobs))
            children = self._stack.enter_context(contextlib.closing(Children()))
            self._fleet, self._work = Fleet(threads, lambda: self.jobs), children.verify
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)

    def results(
        self, watch: Callable[[int], None] = lambda in_flight: None
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """`(position, result as for JSON)` of every file, in the order in which they finish.

        A file whose process died is tried once more. `watch` hears how many are in flight.
        """
        requests = [Request(str(path), self.options, self.ints) for path in self.paths]
        for index, answer in completed(self._fleet, self._work, requests, watch):
            if isinstance(answer, Lost):
                answer = requests[index].unknown(answer.reason) | {"lost": True}
            yield index, answer
