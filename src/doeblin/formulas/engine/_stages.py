"""Stages of a search as data, and the named methods made of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from ..._errors import InputError
from ...schedules import Schedule


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One kernel of a staged search: how an atom is changed, and under which cost.

    With `move="metropolis"` a step proposes a change of one atom, of a single entry of `[a b]` with
    probability `single` and of all entries otherwise, and accepts it by Metropolis-Hastings at
    inverse temperature `beta`; both proposals are symmetric.

    With `move="gibbs"` a step redraws one whole atom from all atoms of the pool by heat bath:
    weight = prior · exp(-beta · cost); `beta=inf` takes one of the best. A mending step instead
    takes an atom through which a random misclassified example (or violated implication) can be put
    right, and draws only from atoms that do so. Steps mend with probability `focus`. With `sweep`
    no atom is redrawn twice until the cost falls, and when all have been tried in vain the next
    step mends. Without focus and sweep this is a reversible kernel; with either it is a search.

    `cost="full"` counts the examples that the formula errs on. `cost="simplified"` is the paper's
    cost that decomposes over disjuncts: `false_positive` for every negative example inside a
    disjunct, `false_negative` for every positive example outside one.
    """

    move: Literal["metropolis", "gibbs"]
    cost: Literal["full", "simplified"] = "full"
    beta: float = 1.5
    single: float = 0.5
    focus: float = 0.0
    sweep: bool = False
    false_positive: int = 4
    false_negative: int = 1

    def __post_init__(self):
        if self.move not in ("metropolis", "gibbs"):
            raise InputError(f"unknown move {self.move!r}: use 'metropolis' or 'gibbs'")
        if self.cost not in ("full", "simplified"):
            raise InputError(f"unknown cost {self.cost!r}: use 'full' or 'simplified'")
        if not self.beta >= 0:
            raise InputError(f"inverse temperature beta = {self.beta} is negative")
        for name in ("single", "focus"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"{name} = {getattr(self, name)} is not a probability")
        if self.false_positive < 0 or self.false_negative < 0:
            raise InputError(
                f"penalties must not be negative, got false_positive = {self.false_positive} "
                f"and false_negative = {self.false_negative}"
            )
        for name in ("focus", "sweep"):
            if getattr(self, name) and (self.move, self.cost) != ("gibbs", "full"):
                raise InputError(f"{name} needs move='gibbs' and cost='full'")


@dataclass(frozen=True)
class Method:
    """Stages and the schedule that drives them.

    `stages` holds one `Stage` for each stage of `schedule` other than its restart stage, in order.
    `schedule=None` never restarts; it then takes exactly one stage, and nothing is certified.

    >>> from doeblin.schedules import certify
    >>> certify(two_stage().schedule).gap > 0
    True
    """

    name: str
    stages: tuple[Stage, ...]
    schedule: Schedule | None

    def __post_init__(self):
        expected = 1 if self.schedule is None else self.schedule.num_stages - 1
        if len(self.stages) != expected:
            raise InputError(
                f"the schedule has {expected} stage{'s' * (expected != 1)} besides the restart, "
                f"but {len(self.stages)} were given"
            )
        if not self.stages:
            raise InputError("a search needs at least one stage besides the restart")


def zero_stage(*, beta: float = 3.0, single: float = 0.5) -> Method:
    """The paper's 0-stage method: Metropolis-Hastings on the full cost, never restarted."""
    return Method("0-stage", (Stage(move="metropolis", beta=beta, single=single),), None)


def one_stage(*, beta: float = 3.0, epsilon: float = 0.0002, single: float = 0.5) -> Method:
    """The paper's 1-stage method: the same chain with uniform restarts, about one in 1/ε steps."""
    return Method(
        "1-stage",
        (Stage(move="metropolis", beta=beta, single=single),),
        Schedule.doeblin(epsilon),
    )


def two_stage(
    *,
    beta: float = 3.0,
    exits: tuple[float, float] = (0.04, 0.0002),
    simplified_beta: float | None = None,
    single: float = 0.5,
) -> Method:
    """The paper's 2-stage method: a restart, Geometric(0.04) steps under the simplified cost, then
    Geometric(0.0002) steps under the full cost."""
    first = beta if simplified_beta is None else simplified_beta
    return Method(
        "2-stage",
        (
            Stage(move="metropolis", cost="simplified", beta=first, single=single),
            Stage(move="metropolis", beta=beta, single=single),
        ),
        Schedule.cycle([1.0, *exits]),
    )


def focused_gibbs(
    *, beta: float = math.inf, focus: float | None = None, epsilon: float = 0.0003
) -> Method:
    """The default: whole-atom Gibbs with focus, restarted with probability `epsilon` a move.

    Unless told with which probability to focus on a misclassified example, it does so when a sweep
    over all atoms has not helped. These settings did best over the families of `doeblin reproduce
    formulas`; any `beta` from 6 on and any `epsilon` from 0.0001 to 0.001 do nearly as well.
    """
    return Method(
        "focused Gibbs",
        (Stage(move="gibbs", beta=beta, focus=focus or 0.0, sweep=focus is None),),
        Schedule.doeblin(epsilon),
    )


def longest_useful(beta: float, floor: float, largest: int) -> int:
    """How many cost differences have a Boltzmann weight of at least `floor`, up to `largest`."""
    if beta == 0 or -math.log(floor) / beta > largest:
        return largest + 1
    return int(-math.log(floor) / beta) + 1
