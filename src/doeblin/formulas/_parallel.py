"""Many chains at once on any executor: the first to solve wins."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from typing import Any

from .._compiling import not_counted
from .._errors import InputError
from .._fleet import TRIES, workers_lost_by
from ._legs import Leg, Plan, run_leg, steps_per_leg
from ._problem import Problem, prepared
from ._record import Limits, Reason, Record
from .engine import Chain

_DEFAULT_CHAINS = 2


def race(
    problem: Problem,
    plan: Plan,
    executor: Executor,
    chains: int | None,
    record: Record,
    limits: Limits,
) -> Reason:
    """Runs chains leg by leg on the executor until one solves the problem or a limit is reached.

    A leg ends at a restart, where nothing is lost by stopping, unless none comes for long; a chain
    that has lost is simply not sent on. So no shared memory is needed, and the executor may be on
    other machines.
    """
    chains = chains if chains is not None else _workers(executor)
    if chains < 1:
        raise InputError(f"chains = {chains}: at least one is needed")
    with not_counted():
        _load(problem)  # once, before all workers do it at the same time
        wait([executor.submit(_load, problem) for _ in range(chains)])
    steps = steps_per_leg(prepared(problem))
    restarts = problem.method.schedule is not None

    def send(leg: Leg) -> Future[Any]:
        left = limits.steps_left(record.steps)
        share = steps if left is None else min(steps, left)
        return executor.submit(run_leg, problem, leg, max_steps=share, to_restart=restarts)

    # Attempts are dealt out among the chains.
    running = {send(leg): leg for leg in map(plan.numbered, range(chains))}
    losses: Counter[int] = Counter()
    try:
        while True:
            seconds = limits.seconds_left()
            timeout = min(0.1, seconds)
            done, _ = wait(running, timeout=timeout, return_when=FIRST_COMPLETED)
            # In the order they were sent, so that one worker gives one answer.
            for future in [future for future in running if future in done]:
                leg = running.pop(future)
                try:
                    outcome, rest = future.result()
                except Exception as error:
                    losses[leg.attempt] += workers_lost_by(error)
                    if losses[leg.attempt] >= TRIES:
                        raise InputError(f"a chain lost its worker twice: {error}") from None
                    running[send(leg)] = leg  # from where it began
                    continue
                losses.pop(leg.attempt, None)
                record.add(outcome)
                if outcome.solved:
                    return "solved"
                if limits.reached(record.steps) is None:
                    following = rest or plan.numbered(leg.attempt + chains)
                    running[send(following)] = following
            reason = limits.reached(record.steps)
            if reason is not None:
                return reason
    finally:
        for future in running:
            future.cancel()


def _load(problem: Problem) -> None:
    """Compile the engine, or load it from the disk."""
    Chain(prepared(problem).task, problem.method, (1, 1), seed=0).compile()


def _workers(executor: Executor) -> int:
    """How many workers an executor says it has."""
    return int(getattr(executor, "_max_workers", None) or _DEFAULT_CHAINS)
