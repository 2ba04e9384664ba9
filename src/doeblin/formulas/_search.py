"""Searching a formula: one chain after another, or many at once on any executor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

from .._compiling import clock
from .._errors import InputError
from ..schedules import Schedule
from ._climb import Attempt, Rung, climb
from ._legs import Plan, chain_of
from ._parallel import race
from ._problem import Prepared, Problem, prepared
from ._record import Limits, Progress, Reason, Record, TracePoint
from ._space import Space
from .engine import Method, Stage, focused_gibbs
from .language import Examples, Formula

_PIECE = 0.1  # seconds between two reports of progress


@dataclass(frozen=True)
class SearchResult:
    """What a search found. `formula` errs on `errors` examples; `solved` if none can do better."""

    formula: Formula
    errors: int
    cost: int
    solved: bool
    reason: Reason
    steps: int
    tours: int
    seconds: float
    template: tuple[int, int]
    trace: tuple[TracePoint, ...]
    method: Method
    seed: int


def search(
    examples: Examples,
    *,
    method: Method | None = None,
    stages: Sequence[Stage] | None = None,
    schedule: Schedule | None = None,
    template: tuple[int, int] | None = None,
    space: Space | None = None,
    start: Formula | None = None,
    seed: int = 0,
    max_steps: int | None = None,
    seconds: float | None = 60.0,
    progress: Callable[[Progress], object] | None = None,
    should_stop: Callable[[], bool] | None = None,
    executor: Executor | None = None,
    chains: int | None = None,
) -> SearchResult:
    """Searches a formula that agrees with the examples; the best one found is simplified.

    The chain is `method`, or `stages` driven by `schedule` (None: never restarted), by default
    `focused_gibbs()`. `template=(n, m)` fixes the number of disjuncts and of atoms in each; without
    it, templates grow until one fits. `space` says which atoms there are. `start` is a formula to
    begin from. The search ends when no example is erred on but those that contradict each other,
    or after `max_steps` transitions or `seconds`, which leave out compiling. Same seed, same
    answer, as long as the clock does not end the search.

    With an `executor`, `chains` run at once on it (any `concurrent.futures.Executor`; as many as it
    has workers unless told): the first to solve wins, the others stop at their next restart.

    >>> found = search(Examples([[1, 2], [2, 2], [3, 2], [5, 9]], [True, True, False, False]))
    >>> found.errors
    0
    """
    method = _method(method, stages, schedule)
    problem = Problem(examples, space or Space(), method, start)
    began = clock()
    ready = prepared(problem)
    if template is not None and start is not None and not _fits(start.shape, template):
        raise InputError(
            f"the start has {start.shape[0]} × {start.shape[1]} atoms and does not fit the "
            f"template {template[0]} × {template[1]}"
        )
    plan = Plan(template, method, seed, start)
    record = Record(examples, ready.unavoidable, began, progress)
    limits = Limits(max_steps, None if seconds is None else began + seconds, should_stop)
    if executor is None:
        if chains not in (None, 1):
            raise InputError(f"chains = {chains} needs an executor to run on")
        reason = _serial(ready, plan, record, limits)
    else:
        reason = race(problem, plan, executor, chains, record, limits)
    formula = ready.tidied(record.codes)
    return SearchResult(
        formula=formula,
        errors=examples.errors(formula),
        cost=examples.cost(formula),
        solved=reason == "solved",
        reason=reason,
        steps=record.steps,
        tours=record.tours,
        seconds=clock() - began,
        template=record.template,
        trace=tuple(record.trace),
        method=method,
        seed=seed,
    )


def _serial(ready: Prepared, plan: Plan, record: Record, limits: Limits) -> Reason:
    def attempt(rung: Rung) -> Attempt:
        leg = plan.leg(rung)
        return Attempt(chain_of(ready, leg), leg.budget)

    return climb(plan.ladder, 0, attempt, limits, record.add, piece=_PIECE).reason


def _fits(shape: tuple[int, int], template: tuple[int, int]) -> bool:
    return shape[0] <= template[0] and shape[1] <= template[1]


def _method(
    method: Method | None, stages: Sequence[Stage] | None, schedule: Schedule | None
) -> Method:
    if stages is not None:
        if method is not None:
            raise InputError("give method or stages, not both")
        return Method("custom", tuple(stages), schedule)
    if schedule is not None:
        raise InputError("a schedule needs its stages: give stages=[Stage(...), …] as well")
    return method if method is not None else focused_gibbs()
