"""Processes that verify one file after another, and can be stopped at any moment.

A solver that runs foreign code heeds no limit, and may take its process with it. So files are not
verified by the worker of an executor itself, but by a child of it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import doeblin

from .._children import end_with_parent
from .._errors import InputError
from .._fleet import WorkerLostError
from ._program import read_program
from .process import GRACE, prepare_process
from .verdict import Outcome, Verdict

_IDLE = 60.0
"""Seconds after which a child that nobody asks ends itself: workers of clusters live on."""
_CODE = "from doeblin.programs.child import serve; serve({})"


def verify_file(path: Path, options: dict[str, Any], ints: Any, **more: Any) -> Verdict:
    """Read and verify one file."""
    from ._verify import verify

    before = time.monotonic()
    program = read_program(path, ints=ints)
    return verify(program, spent=time.monotonic() - before, **options, **more)


@dataclass(frozen=True)
class Request:
    """One file to verify, as the folder `cwd` sees it."""

    path: str
    options: dict[str, Any]
    ints: str
    cwd: str = field(default_factory=os.getcwd)

    @property
    def limit(self) -> float:
        return float(self.options["timeout"])

    def unknown(self, reason: str, seconds: float = 0.0) -> dict[str, Any]:
        """The result where nothing was found out."""
        verdict = Verdict(
            Outcome.UNKNOWN,
            self.path,
            reason,
            seconds=seconds,
            method=self.options["method"],
            seed=self.options["seed"],
            ints=self.ints,
        )
        return verdict.as_dict()


class Children:
    """As many children as are asked at once; between two files they are kept."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[_Child] = []
        self._all: set[_Child] = set()
        self._closed = False

    def verify(self, request: Request) -> dict[str, Any]:
        """The result of one file. Raises WorkerLostError if its process died."""
        child = self._take()
        try:
            answer = child.ask(request)
        finally:
            with self._lock:
                if child.lives() and not self._closed:
                    self._idle.append(child)
                else:
                    child.end()
                    self._all.discard(child)
        return answer

    def _take(self) -> _Child:
        with self._lock:
            if self._closed:
                raise WorkerLostError("nobody waits for the result any more")
            while self._idle:
                child = self._idle.pop()
                if child.lives():
                    return child
                child.end()
                self._all.discard(child)
            child = _Child()
            self._all.add(child)
            return child

    def close(self) -> None:
        """End them, whatever they are doing."""
        with self._lock:
            self._closed = True
            for child in self._all:
                child.process.kill()
            for child in self._idle:
                child.end()


_HERE = Children()


def verify_in_child(request: Request) -> dict[str, Any]:
    """The task of an executor's worker, wherever that is."""
    return _HERE.verify(request)


class _Child:
    def __init__(self) -> None:
        here, there = Pipe()
        # The doeblin of this process, wherever it came from. Not by `multiprocessing`: workers of
        # clusters are daemons to it, which may have no children.
        home = str(Path(doeblin.__file__).parents[1])
        path = os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH")]))
        with there:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", _CODE.format(there.fileno())],
                pass_fds=[there.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": path},
                start_new_session=True,  # Ctrl-C is for us
            )
        self.pipe = here
        self._up = False

    def lives(self) -> bool:
        return self.process.poll() is None

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self.pipe.close()

    def ask(self, request: Request) -> dict[str, Any]:
        try:
            self.pipe.send(request)
            self.pipe.recv_bytes()  # It is ready: imported and compiled.
            self._up = True
            started = time.monotonic()
            if self.pipe.poll(request.limit + GRACE):
                return json.loads(self.pipe.recv_bytes())
        except (EOFError, OSError):
            code = self.process.wait()
            if code > 0 and not self._up:
                raise RuntimeError(
                    f"a worker process could not be started (status {code})"
                ) from None
            raise WorkerLostError(_ended(code)) from None
        self.process.kill()
        self.process.wait()
        reason = f"time limit of {request.limit:g} s reached; the solver had to be stopped"
        return request.unknown(reason, min(time.monotonic() - started, request.limit))


def _ended(code: int) -> str:
    if code >= 0:
        return f"it ended with status {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"


def serve(handle: int) -> None:
    """The whole life of a child."""
    end_with_parent()
    prepare_process()
    pipe = Connection(handle)
    try:
        while pipe.poll(_IDLE):
            request = pipe.recv()  # from the process that started this one
            _warm(request.options["method"])  # before the clock starts
            pipe.send_bytes(b"ready")
            pipe.send_bytes(json.dumps(_answer(request)).encode())
    except (EOFError, OSError):
        return


def _warm(method: str) -> None:
    from .learner import search_method
    from .learner.search import compiled

    if method != "spacer":
        compiled(search_method(method))


def _answer(request: Request) -> dict[str, Any]:
    path = Path(request.path)
    try:
        try:
            os.chdir(request.cwd)
        except OSError as error:
            raise InputError(f"the folder '{request.cwd}' is not here: {error.strerror}") from None
        return verify_file(path, request.options, request.ints).as_dict()
    except InputError as error:
        return _error(path, str(error))
    except Exception as error:  # told, and the process lives on
        reason = f"a fault of doeblin itself: {type(error).__name__}: {error}"
        return _error(path, reason) | {"internal": True}


def _error(path: Path, reason: str) -> dict[str, Any]:
    return {"file": str(path), "verdict": "ERROR", "reason": reason, "seconds": 0.0}
