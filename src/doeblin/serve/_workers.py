"""Pools of killable worker processes with bounded queues."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import time
from collections import deque
from typing import Any

from ._jobs import Job

# A cancelled or late worker may end by itself within this time; then it is killed.
_GRACE = 0.5
_LONGEST_LINE = 32 * 1024 * 1024
_LONGEST_PAUSE = 30.0
# A job's time stands still while its worker prepares what serves all jobs, but not for ever.
_PREPARING = 300.0


class Busy(Exception):
    """The queue is full: come back after `seconds`."""

    def __init__(self, seconds: int):
        super().__init__(f"the server is busy; try again in {seconds} s")
        self.seconds = seconds


class Unavailable(Exception):
    """This kind of work cannot be done here; the message says why."""


class _Worker:
    def __init__(self, process: asyncio.subprocess.Process):
        self.process = process
        self.ready = False
        self.killed = False
        self.job: Job | None = None
        self.since = 0.0
        self.left = 0.0
        """Seconds that the job had left when its clock stopped."""
        self.timer: asyncio.TimerHandle | None = None

    def send(self, **message: Any) -> None:
        assert self.process.stdin is not None
        # Messages are far below the pipe's patience: bodies are bounded, the worker is reading.
        with contextlib.suppress(OSError, RuntimeError):
            self.process.stdin.write(json.dumps(message).encode() + b"\n")

    @property
    def free(self) -> bool:
        """May it be given a job? A killed one's last answer may still be on its way."""
        return self.ready and not self.killed and self.job is None

    def kill(self) -> None:
        self.killed = True
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()


class Pool:
    """`size` worker processes of one kind.

    A worker that dies, or works past its job's time, is replaced, and its job ends as failed with a
    reason. Open and close it in one event loop; after `close` no process is left.
    """

    def __init__(self, kind: str, size: int, *, queue: int, memory_mb: int, patience: float):
        self.kind = kind
        self.size = size
        self.unavailable: str | None = None
        self.doing: str | None = None
        """What a worker does before it is ready, in its own words."""
        self._queue_limit = queue
        self._memory_mb = memory_mb
        self._patience = patience
        self._waiting: deque[Job] = deque()
        self._workers: list[_Worker] = []
        self._slots: list[asyncio.Task[None]] = []
        self._mean_seconds = 0.05
        self._first = asyncio.Event()

    # ---- for the server

    def open(self) -> None:
        self._slots = [asyncio.create_task(self._slot(number)) for number in range(self.size)]

    async def close(self) -> None:
        for job in [*self._waiting, *(w.job for w in self._workers if w.job)]:
            job.end("failed", error={"message": "the server is shutting down"})
        for slot in self._slots:
            slot.cancel()
        await asyncio.gather(*self._slots, return_exceptions=True)

    def submit(self, payload: dict[str, Any], seconds: float) -> Job:
        """Queue a job; it may run for `seconds` once it has a worker."""
        if self.unavailable is not None:
            raise Unavailable(self.unavailable)
        if len(self._waiting) >= self._queue_limit:
            now = time.monotonic()
            longest = max((now - one.since for one in self._workers if one.job), default=0.0)
            wait = len(self._waiting) * max(self._mean_seconds, longest) / self.size
            raise Busy(max(1, min(60, round(wait))))
        job = Job(payload, seconds)
        job.on_cancel = lambda: self._cancelled(job)
        self._waiting.append(job)
        self._dispatch()
        if job.state == "queued":
            # Nobody is turned away for what is compiled once: the first worker may take long.
            seconds = self._patience if self._first.is_set() else _PREPARING
            loop = asyncio.get_running_loop()
            job.patience = loop.call_later(seconds, self._gave_up_waiting, job, seconds)
        return job

    @property
    def processes(self) -> list[int]:
        """Process ids of the workers that are ready."""
        return [worker.process.pid for worker in self._workers if worker.ready]

    @property
    def ready(self) -> bool:
        """Would a job that comes now be worked on?"""
        return any(worker.ready for worker in self._workers)

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    # ---- jobs to workers

    def _dispatch(self) -> None:
        for worker in self._workers:
            if not self._waiting:
                return
            if worker.free:
                self._give(worker, self._waiting.popleft())

    def _give(self, worker: _Worker, job: Job) -> None:
        worker.job, worker.since = job, time.monotonic()
        self._set_timer(worker, job, job.seconds)
        worker.send(job=job.id, payload=job.payload)
        job.started()

    def _set_timer(self, worker: _Worker, job: Job, seconds: float) -> None:
        if worker.timer is not None:
            worker.timer.cancel()
        loop = asyncio.get_running_loop()
        worker.timer = loop.call_later(seconds, self._late, worker, job)

    def _late(self, worker: _Worker, job: Job) -> None:
        if worker.job is job:
            reason = f"stopped after {job.seconds:g} s, the time limit"
            job.end("late", error={"message": reason})
            worker.kill()

    def _gave_up_waiting(self, job: Job, seconds: float) -> None:
        self._waiting.remove(job)
        job.end("late", error={"message": f"no worker was free within {seconds:g} s"})

    def _cancelled(self, job: Job) -> None:
        if job in self._waiting:
            self._waiting.remove(job)
        for worker in self._workers:
            if worker.job is job:
                worker.send(cancel=job.id)
                asyncio.get_running_loop().call_later(_GRACE, self._insist, worker, job)

    def _insist(self, worker: _Worker, job: Job) -> None:
        if worker.job is job:
            worker.kill()

    # ---- the life of a worker

    async def _slot(self, number: int) -> None:
        """Keeps one worker alive, again and again; pauses grow while none comes up."""
        pause = 0.1
        if number:
            await self._first.wait()  # one that is ready soon is better than many that start
        while self.unavailable is None:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", f"{__package__}._worker", self.kind, str(self._memory_mb),
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=_LONGEST_LINE,
                # A terminal's Ctrl-C is for the server: one that imports yet would complain of it.
                process_group=0,
                # Small matrices: a second thread would only wait for the first, and hold a core.
                env={"OPENBLAS_NUM_THREADS": "1", **os.environ},
            )  # fmt: skip
            worker = _Worker(process)
            self._workers.append(worker)
            try:
                await self._hear(worker)
            finally:
                self._workers.remove(worker)
                worker.kill()
                await asyncio.shield(process.wait())
                self._lost(worker)
            if worker.ready:
                pause = 0.1
            else:
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)

    async def _hear(self, worker: _Worker) -> None:
        """Take a worker's messages until it ends."""
        assert worker.process.stdout is not None
        while True:
            try:
                line = await worker.process.stdout.readline()
            except ValueError:  # longer than any honest answer
                return
            if not line.endswith(b"\n"):
                return
            message = json.loads(line)
            if "ready" in message:
                worker.ready = True
                self.doing = None
                self._first.set()
                self._dispatch()
            elif "doing" in message:
                self.doing = message["doing"]
            elif "unavailable" in message:
                self.unavailable = message["unavailable"]
                for job in self._waiting:
                    job.end("failed", error={"message": self.unavailable})
                self._waiting.clear()
            elif worker.job is not None and message["job"] == worker.job.id:
                self._answer(worker, worker.job, message)

    def _answer(self, worker: _Worker, job: Job, message: dict[str, Any]) -> None:
        if "event" in message:
            if message["event"] == "preparing":
                assert worker.timer is not None
                worker.left = worker.timer.when() - asyncio.get_running_loop().time()
                self._set_timer(worker, job, _PREPARING)
            elif message["event"] == "prepared":
                self._set_timer(worker, job, worker.left)
            job.tell(message["event"], message["data"])
            return
        if "result" in message:
            job.end("done", result=message["result"])
        elif "refused" in message:
            job.end("refused", error=message["refused"])
        else:
            job.end("failed", error={"message": message["failed"]})
        self._mean_seconds += 0.1 * (time.monotonic() - worker.since - self._mean_seconds)
        self._release(worker)
        self._dispatch()

    def _release(self, worker: _Worker) -> None:
        worker.job = None
        if worker.timer is not None:
            worker.timer.cancel()
            worker.timer = None

    def _lost(self, worker: _Worker) -> None:
        if worker.job is not None:
            reason = "the worker process died and was replaced; nothing else is known"
            worker.job.end("failed", error={"message": reason})
            self._release(worker)
