"""Growing templates: the one loop in which chains try them, whatever their task is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..linear import TEMPLATES
from ._record import Limits, Outcome, Reason
from .engine import Chain


class Rung(NamedTuple):
    """A template to try. Rungs are numbered without end; effort doubles with every round."""

    number: int
    level: int
    template: tuple[int, int]
    effort: int


class Ladder:
    """Templates from the smallest on, over and over, each time with twice the effort.

    >>> Ladder(((1, 1), (2, 3))).rung(3)
    Rung(number=3, level=1, template=(2, 3), effort=2)
    """

    def __init__(self, templates: Sequence[tuple[int, int]] = TEMPLATES):
        self.templates = tuple(templates)

    def rung(self, number: int) -> Rung:
        round_, level = divmod(number, len(self.templates))
        return Rung(number, level, self.templates[level], 1 << round_)


class Attempt(NamedTuple):
    """A chain to run on a rung, and for how many steps."""

    chain: Chain
    steps: int


class Mark(NamedTuple):
    """How far a chain had come when it was last reported on."""

    steps: int = 0
    tours: int = 0
    cost: int | None = None
    traced: int = 0

    @classmethod
    def of(cls, chain: Chain) -> Mark:
        return cls(chain.steps, chain.tours, chain.cost, len(chain.trace))

    def outcome(self, chain: Chain) -> Outcome:
        """What a chain did since."""
        improved = self.cost is None or chain.cost < self.cost
        return Outcome(
            solved=chain.solved,
            cost=chain.cost,
            codes=tuple(map(tuple, chain.best.tolist())) if improved else None,
            template=chain.template,
            steps=chain.steps - self.steps,
            tours=chain.tours - self.tours,
            trace=[
                (step - self.steps, found, tour - self.tours)
                for step, found, tour in chain.trace[self.traced :]
            ],
        )


class Climbed(NamedTuple):
    """Why chains no longer climb, the rung they came to, and the last of them, if any ran."""

    reason: Reason
    rung: Rung
    chain: Chain | None


def climb(
    ladder: Ladder,
    number: int,
    attempt: Callable[[Rung], Attempt | None],
    limits: Limits,
    tell: Callable[[Outcome], object],
    piece: float | None = None,
) -> Climbed:
    """Runs a chain on each rung from a number on, until one solves its task or a limit is reached.

    `attempt` makes the chain of a rung, or None to stop there. `tell` hears what a chain did: at
    its end, or every `piece` seconds.
    """
    steps, chain = 0, None
    while True:
        rung = ladder.rung(number)
        made = attempt(rung)
        if made is None:
            return Climbed("stopped", rung, chain)
        chain, mark = made.chain, Mark()
        while True:
            left = made.steps - mark.steps
            allowed = limits.steps_left(steps)
            chain.run(
                max_steps=left if allowed is None else min(left, allowed),
                seconds=limits.piece(piece),
                should_stop=limits.should_stop,
            )
            outcome, mark = mark.outcome(chain), Mark.of(chain)
            steps += outcome.steps
            tell(outcome)
            if chain.solved:
                return Climbed("solved", rung, chain)
            reason = limits.reached(steps)
            if reason is not None:
                return Climbed(reason, rung, chain)
            if mark.steps >= made.steps:
                break
        number += 1
