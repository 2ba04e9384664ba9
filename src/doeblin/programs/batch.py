"""Many files over worker processes: hard time limits, no orphans, results as they come."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from .._children import end_with_parent
from .._errors import InputError
from ._program import LANGUAGES, read_program
from .verdict import Outcome, Verdict

GRACE = 0.8
MEMORY_MB = 1500
_DEEP = 20_000


def prepare_process() -> None:
    """Limits for a process that verifies files: the solver's memory, and deep recursion.

    What the solver prints past Python (it does when it runs into a bug of its own) goes nowhere.
    """
    import z3

    z3.set_param("memory_max_size", MEMORY_MB)
    sys.setrecursionlimit(_DEEP)
    with contextlib.suppress(OSError, ValueError):  # no such stream, e.g. in a test
        if sys.stderr is not None and sys.stderr.fileno() == 2:
            sys.stderr.flush()
            sys.stderr = os.fdopen(os.dup(2), "w", buffering=1, errors="backslashreplace")
            with open(os.devnull, "wb") as nowhere:
                os.dup2(nowhere.fileno(), 2)


def find_files(paths: list[str]) -> list[Path]:
    """The files that these names mean; folders are searched for programs, recursively."""
    found: list[Path] = []
    for name in paths:
        path = Path(name)
        if not name:
            raise InputError("a file name is empty")
        if os.path.isdir(path):
            inside = sorted(p for p in path.rglob("*") if p.suffix in LANGUAGES and p.is_file())
            if not inside:
                raise InputError(
                    f"there is no program ({', '.join(LANGUAGES)}) in the folder '{path}'"
                )
            found += inside
        elif os.path.exists(path):  # which knows names that are too long
            found.append(path)
        else:
            raise InputError(f"there is no file '{path}'")
    return found


def verify_file(path: Path, options: dict[str, Any], ints: Any, **more: Any) -> Verdict:
    """Read and verify one file."""
    from ._verify import verify

    before = time.monotonic()
    program = read_program(path, ints=ints)
    return verify(program, spent=time.monotonic() - before, **options, **more)


@dataclass
class _Worker:
    process: Any
    pipe: Connection
    ready: bool = False
    index: int | None = None
    started: float = 0.0


def _serve(pipe: Connection, options: dict[str, Any], ints: Any) -> None:
    end_with_parent()
    prepare_process()
    from .learner import search_method
    from .learner.search import compiled

    if options["method"] != "spacer":
        compiled(search_method(options["method"]))  # before the first clock starts
    pipe.send_bytes(b"ready")
    while True:
        try:
            path = Path(os.fsdecode(pipe.recv_bytes()))
        except EOFError:
            return
        try:
            answer = verify_file(path, options, ints).as_dict()
        except InputError as error:
            answer = _error(path, str(error))
        except Exception as error:  # told, and the worker lives on
            answer = _error(path, f"a fault of doeblin itself: {type(error).__name__}: {error}")
            answer["internal"] = True
        pipe.send_bytes(json.dumps(answer).encode())


def _error(path: Path, reason: str) -> dict[str, Any]:
    return {"file": str(path), "verdict": "ERROR", "reason": reason, "seconds": 0.0}


@dataclass
class Batch:
    """Verifies files in parallel; a context manager that leaves no process behind."""

    paths: list[Path]
    options: dict[str, Any]
    ints: str = "c"
    jobs: int = 1
    _workers: list[_Worker] = field(default_factory=list)

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in list(self._workers):
            self._end(worker)

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe()
        process = context.Process(target=_serve, args=(there, self.options, self.ints), daemon=True)
        process.start()
        there.close()
        self._workers.append(_Worker(process, here))

    def _end(self, worker: _Worker) -> None:
        worker.process.kill()
        worker.process.join()
        worker.pipe.close()
        self._workers.remove(worker)

    def results(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """`(position, result as for JSON)` of every file, in the order in which they finish."""
        todo = list(range(len(self.paths)))[::-1]
        for _ in range(min(self.jobs, len(self.paths))):
            self._start()
        while todo or any(worker.index is not None for worker in self._workers):
            for worker in self._workers:
                if worker.ready and worker.index is None and todo:
                    worker.index = todo.pop()
                    worker.started = time.monotonic()
                    worker.pipe.send_bytes(os.fsencode(self.paths[worker.index]))
            wait([worker.pipe for worker in self._workers], timeout=0.05)
            for worker in list(self._workers):
                index = worker.index
                answer = self._listen(worker)
                if answer is not None and index is not None:
                    yield index, answer

    def _listen(self, worker: _Worker) -> dict[str, Any] | None:
        """What a worker has to say; one that is lost or late is replaced."""
        path = self.paths[worker.index] if worker.index is not None else None
        limit = float(self.options["timeout"])
        reason = None
        try:
            if worker.pipe.poll():
                message = worker.pipe.recv_bytes()
                if not worker.ready:
                    worker.ready = True
                    return None
                worker.index = None
                return json.loads(message)
            if not worker.process.is_alive():
                reason = "the process died"
        except (EOFError, OSError):
            reason = "the process died"
        if path is not None and time.monotonic() - worker.started > limit + GRACE:
            reason = f"time limit of {limit:g} s reached; the solver had to be stopped"
        if reason is None:
            return None
        if path is None:
            raise RuntimeError("a worker process could not be started")
        self._end(worker)
        self._start()
        return Verdict(
            Outcome.UNKNOWN,
            str(path),
            reason,
            seconds=limit,
            method=self.options["method"],
            seed=self.options["seed"],
            ints=self.ints,
        ).as_dict()
