"""Many tasks on any `concurrent.futures.Executor`: answers as they come, lost ones tried again.

`--jobs` and `--cluster` differ in the executor only.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

from ._children import process_pool
from ._errors import InputError, require
from ._version import __version__

TRIES = 2
_ADDRESS = re.compile(r"inproc://.+|(\w+://)?(\[[^]]+\]|[^:/\[\]]+):\d{1,5}")
PATIENCE = 60.0
"""Seconds to wait for workers where there are none left."""
ANSWER = 10.0
"""Seconds within which a scheduler must answer the first call."""


class WorkerLostError(RuntimeError):
    """The process that was at work on a task died; another one may try."""


@dataclass(frozen=True)
class Lost:
    """What is left of a task that was given up, and why."""

    reason: str


@dataclass(frozen=True)
class Fleet:
    """An executor, and how many tasks it runs at once."""

    executor: Executor
    width: Callable[[], int]
    name: str = "this machine"


def completed(
    fleet: Fleet,
    function: Callable[[Any], Any],
    tasks: Sequence[Any],
    watch: Callable[[int], None] = lambda in_flight: None,
) -> Iterator[tuple[int, Any]]:
    """`(position, function(task))` of every task, in the order of completion.

    A task whose worker died is tried once more; one that lost two workers is `Lost`. `watch` hears
    how many tasks are in flight.
    """
    waiting, losses = deque(range(len(tasks))), Counter[int]()
    running: dict[Future[Any], int] = {}
    alive = time.monotonic()
    try:
        while waiting or running:
            width = fleet.width()
            alive = time.monotonic() if width else alive
            if time.monotonic() - alive > PATIENCE:
                raise InputError(
                    f"{fleet.name} has had no workers for {PATIENCE:g} s; start some, and go on"
                )
            while waiting and len(running) < width:
                index = waiting.popleft()
                running[fleet.executor.submit(function, tasks[index])] = index
            watch(len(running))
            for future in wait(running, timeout=1.0, return_when=FIRST_COMPLETED).done:
                index = running.pop(future)
                try:
                    answer = future.result()
                except CancelledError:
                    raise InputError(f"{fleet.name} is gone; what was done is done") from None
                except BrokenProcessPool:
                    raise  # all of it is gone, and nobody can say which task it was
                except Exception as error:
                    losses[index] += workers_lost_by(error)
                    if losses[index] < TRIES:
                        waiting.appendleft(index)
                        continue
                    answer = Lost(f"its worker died {losses[index]} times; the last time: {error}")
                yield index, answer
    finally:
        for future in running:
            future.cancel()


def finished(
    fleet: Fleet | None,
    function: Callable[[Any], Any],
    tasks: Sequence[Any],
    watch: Callable[[int], None] = lambda in_flight: None,
) -> Iterator[tuple[int, Any]]:
    """As `completed`, where none may be missing; without a fleet, one by one in this thread."""
    for index, answer in completed(fleet or Fleet(_Here(), lambda: 1), function, tasks, watch):
        if isinstance(answer, Lost):
            raise InputError(f"one of {len(tasks)} tasks was given up: {answer.reason}")
        yield index, answer


def workers_lost_by(error: Exception) -> int:
    """How many workers an error stands for; what is none of these is raised."""
    if isinstance(error, WorkerLostError):
        return 1
    if type(error).__name__ == "KilledWorker":  # Dask's own, after as many tries of its own
        return 1 + int(getattr(error, "allowed_failures", TRIES))
    raise error


class _Here(Executor):
    """Each task at once, and then the next."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


@contextlib.contextmanager
def processes(jobs: int) -> Iterator[Fleet]:
    """So many processes of this machine."""
    with ThreadPoolExecutor(jobs) as threads, contextlib.ExitStack() as pools:
        yield Fleet(_Processes(threads, pools), lambda: jobs)


class _Processes(Executor):
    """Processes that are each a pool of their own: when one dies, its task is lost, and no other.

    A pool of all would be broken by that, and could not say whose task it was.
    """

    def __init__(self, threads: ThreadPoolExecutor, pools: contextlib.ExitStack):
        self._threads, self._pools = threads, pools
        self._idle: SimpleQueue[ProcessPoolExecutor] = SimpleQueue()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return self._threads.submit(self._run, fn, *args, **kwargs)

    def _run(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        try:
            pool = self._idle.get_nowait()
        except Empty:  # as many as are asked at once, however many may be
            pool = self._pools.enter_context(process_pool(1))
        try:
            return pool.submit(fn, *args, **kwargs).result()
        except BrokenProcessPool:
            pool = self._pools.enter_context(process_pool(1))
            raise WorkerLostError("its process was killed, or crashed") from None
        finally:
            self._idle.put(pool)


@contextlib.contextmanager
def dask_cluster(address: str, *, seen: str | None = None, single: bool = False) -> Iterator[Fleet]:
    """The workers of a Dask scheduler, if they can be used: all have this version of doeblin, see
    the folder `seen`, and have a `single` thread where tasks cannot share a process."""
    require("cluster", "distributed")
    name = f"the Dask scheduler at {address}"
    try:
        client = _connected(address)
    except (OSError, ValueError, TypeError, ImportError) as error:
        reason = " ".join(str(error).split())
        raise InputError(
            f"there is no Dask scheduler at '{address}' ({reason}); start one with `dask "
            "scheduler`, which says its address, such as tcp://10.0.0.1:8786"
        ) from None
    with contextlib.closing(client):
        _check_workers(client, name, seen)
        if single and max(client.nthreads().values()) > 1:
            raise InputError(
                f"{name} has workers with several threads, but here each task needs a process of "
                "its own: start them with `dask worker --nthreads 1`"
            )
        workers = client.get_executor(pure=False)
        executor = _Checked(workers, Needs(__version__, seen, single))
        try:
            yield Fleet(executor, _now_and_then(lambda: sum(client.nthreads().values())), name)
        finally:
            with contextlib.suppress(Exception):
                workers.shutdown(wait=False)


def _connected(address: str) -> Any:
    """A client of the scheduler. Dask waits for ever for one that takes the call and says nothing,
    so it does so in a thread that is left behind."""
    import distributed

    for logger in list(logging.root.manager.loggerDict):
        if logger.split(".")[0] == "distributed":
            logging.getLogger(logger).setLevel(logging.CRITICAL + 1)  # it is we who speak
    if not _ADDRESS.fullmatch(address):
        raise ValueError("an address is a host and a port")
    found: Future[Any] = Future()

    def connect() -> None:
        try:
            found.set_result(distributed.Client(address, timeout=5, set_as_default=False))
        except Exception as error:
            found.set_exception(error)

    threading.Thread(target=connect, daemon=True).start()
    try:
        return found.result(ANSWER)
    except TimeoutError:
        raise OSError(f"nobody answers within {ANSWER:g} s") from None


@dataclass(frozen=True)
class Needs:
    """What a worker must have. Those that come later are asked by the tasks that they get."""

    version: str
    seen: str | None
    single: bool

    def call(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """The task, on a worker."""
        from distributed import get_worker

        worker = get_worker()
        if self.version != __version__:
            reason = f"has doeblin {__version__}, but this is {self.version}"
        elif self.seen is not None and not os.path.isdir(self.seen):
            reason = f"does not see the folder '{self.seen}'"
        elif self.single and worker.state.nthreads > 1:
            reason = "has several threads"
        else:
            return function(*args, **kwargs)
        raise InputError(f"the worker {worker.address}, which came later, {reason}")


class _Checked(Executor):
    def __init__(self, workers: Executor, needs: Needs):
        self._workers, self._needs = workers, needs

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return self._workers.submit(self._needs.call, fn, *args, **kwargs)


def _now_and_then(ask: Callable[[], int], every: float = 1.0) -> Callable[[], int]:
    """Clusters grow and shrink, but to ask for each task would cost as much as the task."""
    known = [ask(), time.monotonic()]

    def answer() -> int:
        if time.monotonic() - known[1] > every:
            known[:] = [ask(), time.monotonic()]
        return int(known[0])

    return answer


def _check_workers(client: Any, name: str, seen: str | None) -> None:
    try:
        client.wait_for_workers(1, timeout=5)
    except TimeoutError:
        raise InputError(f"{name} has no workers; start some with `dask worker`") from None

    def look() -> tuple[str, bool]:
        # Sent as code, since the worker may have no doeblin, or another one.
        from doeblin import __version__ as version

        return version, seen is None or os.path.isdir(seen)

    for worker, found in sorted(client.run(look, on_error="return").items()):
        if isinstance(found, BaseException):
            raise InputError(f"the worker {worker} has no doeblin it can import ({found})")
        version, sees = found
        if version != __version__:
            raise InputError(
                f"the worker {worker} has doeblin {version}, but this is {__version__}: install "
                "the same version everywhere"
            )
        if not sees:
            raise InputError(
                f"the worker {worker} does not see the folder '{seen}': run from a folder that all "
                "machines share"
            )
