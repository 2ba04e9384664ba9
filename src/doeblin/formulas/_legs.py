"""Legs: the pieces in which chains run, so that any process can take up any of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..linear import TEMPLATES
from ._climb import Ladder, Mark, Rung
from ._problem import Prepared, Problem, prepared
from ._record import Outcome
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


class Plan:
    """Which attempts a search makes: one without end for a given template, else growing ones."""

    def __init__(
        self, template: tuple[int, int] | None, method: Method, seed: int, start: Formula | None
    ):
        self._seed, self._warm = seed, start is not None
        templates = TEMPLATES
        if template is not None:
            templates = (template,)
        elif start is not None:
            n, m = start.shape
            templates = tuple(dict.fromkeys((max(n, a), max(m, b)) for a, b in TEMPLATES))
        self.ladder = Ladder(templates)
        gibbs = all(stage.move == "gibbs" for stage in method.stages)
        steps_per_atom = _MOVES if gibbs else _METROPOLIS_STEPS
        self._steps_per_atom = None if template is not None else steps_per_atom

    def leg(self, rung: Rung) -> Leg:
        """The first leg of the attempt at a rung."""
        # SeedSequence spreads (seed, number) over 64 bits: neighbouring attempts share nothing.
        mixed = np.random.SeedSequence([self._seed, rung.number])
        seed = int(mixed.generate_state(1, np.uint64)[0])
        n, m = rung.template
        per_atom = self._steps_per_atom
        steps = _ENDLESS if per_atom is None else per_atom * n * m * rung.effort
        return Leg(rung.number, rung.template, seed, steps, self._warm and rung.number == 0)

    def numbered(self, number: int) -> Leg:
        return self.leg(self.ladder.rung(number))


def run_leg(
    problem: Problem, leg: Leg, *, max_steps: int, to_restart: bool = False
) -> tuple[Outcome, Leg | None]:
    """Runs a leg for at most so many steps; what it did, and the chain's next leg if any is left.

    With `to_restart` it goes on to the next restart if one comes before long.
    """
    chain = chain_of(prepared(problem), leg)
    mark = Mark() if leg.snapshot is None else Mark.of(chain)
    steps = min(leg.budget, max_steps)
    overtime = min(leg.budget - steps, _PATIENCE * steps) if to_restart else 0
    chain.run(max_steps=steps, overtime=overtime)
    outcome = mark.outcome(chain)
    left = leg.budget - outcome.steps
    if chain.solved or left <= 0:
        return outcome, None
    return outcome, replace(leg, snapshot=chain.snapshot(), budget=left)


def steps_per_leg(ready: Prepared) -> int:
    """Steps that take very roughly a tenth of a second; a function of the problem only."""
    if any(stage.move == "gibbs" for stage in ready.problem.method.stages):
        return max(20, int(0.1 / ready.task.move_seconds))
    return 2_000_000


def chain_of(ready: Prepared, leg: Leg) -> Chain:
    """The chain of a leg, where it stands."""
    start = None
    formula = ready.problem.start
    if leg.warm and leg.snapshot is None and formula is not None:
        start = ready.codes(formula, leg.template)
    chain = Chain(ready.task, ready.problem.method, leg.template, seed=leg.seed, start=start)
    if leg.snapshot is not None:
        chain.resume(leg.snapshot)
    return chain
