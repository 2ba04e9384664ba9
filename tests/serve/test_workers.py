"""The clock of a job, and the end of a worker."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

from doeblin.serve._jobs import Job
from doeblin.serve._workers import Pool, _Worker


def test_a_job_has_its_time_though_its_worker_gets_ready_in_the_midst_of_it():
    async def life() -> list[str]:
        pool = Pool("verify", 0, queue=1, memory_mb=1, patience=1)
        stdin = SimpleNamespace(write=lambda data: None)
        worker = _Worker(SimpleNamespace(stdin=stdin, kill=lambda: None))  # type: ignore[arg-type]
        job, states = Job({}, seconds=0.2), []
        pool._give(worker, job)
        for _ in range(2):
            pool._answer(worker, job, {"event": "preparing", "data": {}})
            await asyncio.sleep(0.3)
            states.append(job.state)
            pool._answer(worker, job, {"event": "prepared", "data": {}})
        assert worker.timer is not None
        left = worker.timer.when() - asyncio.get_running_loop().time()
        assert left <= 0.2  # what it had left, and no more for having been interrupted
        await asyncio.wait_for(job.finished(), 60)
        return [*states, job.state]

    with ThreadPoolExecutor(1) as thread:  # a browser's loop may be here
        states = thread.submit(asyncio.run, life()).result()
    assert states == ["running", "running", "late"]


def test_a_killed_worker_is_given_no_other_job_though_its_answer_came_first():
    """The answer to what was cancelled may be in the pipe when patience ends."""

    async def life() -> list[str]:
        pool = Pool("chains", 0, queue=2, memory_mb=1, patience=1)
        stdin = SimpleNamespace(write=lambda data: None)
        worker = _Worker(SimpleNamespace(stdin=stdin, kill=lambda: None))  # type: ignore[arg-type]
        worker.ready = True
        pool._workers.append(worker)
        first = pool.submit({}, 10)
        assert first.state == "running"
        first.cancel()
        pool._insist(worker, first)
        pool._answer(worker, first, {"result": {}})
        second = pool.submit({}, 10)
        states = [second.state]
        pool._workers.remove(worker)
        pool._lost(worker)
        another = _Worker(worker.process)
        another.ready = True
        pool._workers.append(another)
        pool._dispatch()
        return [*states, second.state]

    with ThreadPoolExecutor(1) as thread:  # a browser's loop may be here
        assert thread.submit(asyncio.run, life()).result() == ["queued", "running"]


def test_a_job_is_given_up_only_if_nobody_listens_all_the_time():
    """Each listener that leaves has the whole patience: an earlier one's does not count."""

    async def twice_cut() -> tuple[bool, bool]:
        job = Job({}, 1.0)
        for _ in range(2):
            job.hear()
            job.leave(0.4)
            await asyncio.sleep(0.25)
        early = job.final
        await asyncio.sleep(0.3)
        return early, job.final

    with ThreadPoolExecutor(1) as thread:  # as above
        assert thread.submit(asyncio.run, twice_cut()).result() == (False, True)
