"""Legs: the pieces in which chains run, so that any process can take up any of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..linear import TEMPLATES
from ._problem import Prepared, Problem, prepared
from .engine import Chain, Method, Snapshot
from .language import Formula

# Whole-atom moves for each atom of a template, at the first wrap; Metropolis steps are cheaper and
# do less.
_MOVES, _METROPOLIS_STEPS = 100, 20_000
_ENDLESS = 1 << 60
# A leg waits for a restart for at most this many times its own length.
_PATIENCE = 4


@dataclass(frozen=True)
class Leg:
    """A piece of a chain to run: attempt number, template, seed, and where the chain stands."""

    attempt: int
    template: tuple[int, int]
    seed: int
    budget: int
    warm: bool
    snapshot: Snapshot | None = None


@dataclass(frozen=True)
class Outcome:
    """What a leg found. Costs leave out the contradictions that nothing can mend."""

    solved: bool
    cost: int
    codes: tuple[tuple[int, ...], ...] | None
    """The atoms of the attempt's best formula, when this leg improved it."""
    template: tuple[int, int]
    steps: int
    tours: int
    trace: list[tuple[int, int, int]]
    left: int
    snapshot: Snapshot | None


class Plan:
    """Which attempts a search makes: one without end for a given template, else growing ones."""

    def __init__(
        self, template: tuple[int, int] | None, method: Method, seed: int, start: Formula | None
    ):
        self._template, self._seed, self._start = template, seed, start
        gibbs = all(stage.move == "gibbs" for stage in method.stages)
        self._steps_per_atom = _MOVES if gibbs else _METROPOLIS_STEPS

    def first(self, chain: int) -> Leg:
        """The first leg of one of several chains; attempts are dealt out among them."""
        return self._attempt(chain)

    def next(self, leg: Leg, outcome: Outcome, chains: int) -> Leg:
        """The leg after one: the same chain carried on, or the next attempt."""
        if outcome.snapshot is not None:
            return replace(leg, snapshot=outcome.snapshot, budget=outcome.left)
        return self._attempt(leg.attempt + chains)

    def _attempt(self, k: int) -> Leg:
        # SeedSequence spreads (seed, k) over 64 bits: neighbouring attempts share nothing.
        seed = int(np.random.SeedSequence([self._seed, k]).generate_state(1, np.uint64)[0])
        warm = self._start is not None and k == 0
        if self._template is not None:
            return Leg(k, self._template, seed, _ENDLESS, warm)
        templates = TEMPLATES
        if self._start is not None:
            n, m = self._start.shape
            larger = [(max(n, a), max(m, b)) for a, b in TEMPLATES]
            templates = tuple(dict.fromkeys(larger))
        wrap, index = divmod(k, len(templates))
        n, m = templates[index]
        return Leg(k, (n, m), seed, self._steps_per_atom * n * m << wrap, warm)


def run_leg(
    problem: Problem,
    leg: Leg,
    *,
    max_steps: int | None = None,
    seconds: float | None = None,
    should_stop: Callable[[], bool] | None = None,
    to_restart: bool = False,
) -> Outcome:
    """Runs a leg for at most so many steps or seconds, whichever ends it first.

    With `to_restart` it goes on to the next restart if one comes before long.
    """
    ready = prepared(problem)
    chain = _chain(ready, leg)
    before, tours, cost = chain.steps, chain.tours, chain.cost
    traced = len(chain.trace) if leg.snapshot is not None else 0
    steps = leg.budget if max_steps is None else min(leg.budget, max_steps)
    overtime = min(leg.budget - steps, _PATIENCE * steps) if to_restart else 0
    chain.run(max_steps=steps, seconds=seconds, should_stop=should_stop, overtime=overtime)
    taken = chain.steps - before
    left = max(0, leg.budget - taken)
    improved = chain.cost < cost or leg.snapshot is None
    return Outcome(
        solved=chain.solved,
        cost=chain.cost,
        codes=tuple(map(tuple, chain.best.tolist())) if improved else None,
        template=leg.template,
        steps=taken,
        tours=chain.tours - (tours if leg.snapshot is not None else 0),
        trace=[
            (step - before, found, tour - (tours if leg.snapshot is not None else 0))
            for step, found, tour in chain.trace[traced:]
        ],
        left=left,
        snapshot=chain.snapshot() if left and not chain.solved else None,
    )


def steps_per_leg(ready: Prepared) -> int:
    """Steps that take very roughly a tenth of a second; a function of the problem only."""
    if any(stage.move == "gibbs" for stage in ready.problem.method.stages):
        return max(20, int(0.1 / ready.task.move_seconds))
    return 2_000_000


def _chain(ready: Prepared, leg: Leg) -> Chain:
    start = None
    formula = ready.problem.start
    if leg.warm and leg.snapshot is None and formula is not None:
        start = ready.codes(formula, leg.template)
    chain = Chain(ready.task, ready.problem.method, leg.template, seed=leg.seed, start=start)
    if leg.snapshot is not None:
        chain.resume(leg.snapshot)
    return chain
