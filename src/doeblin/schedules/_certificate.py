"""Certificates: what a schedule proves about every chain that it drives."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._errors import InputError
from .._numbers import whole
from ._schedule import Schedule

# Beyond this many steps the first-restart law is not tabulated; matrix powers take over.
_LONGEST_TABLE = 1 << 18
# One γ alone is summed up to here: the table takes 8 bytes for each stage and step.
_LONGEST_SUM = 1 << 24
# And beyond this many no step is looked at: they are counted in 64 bits.
_LONGEST = 1 << 61
# How many of the stages' own time scales the search for (a, b) looks ahead.
_HORIZON = 16
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Fact:
    """`M^steps` has strong Doeblin parameter at least `parameter`, by the staged theorem."""

    parameter: float
    steps: int
    after: int
    """The theorem's `a`: restarts are looked for from this time on."""

    @property
    def gap(self) -> float:
        """Certified spectral gap of `M`: 1 - (1-γ)^{1/b}, at least γ/b."""
        if self.parameter >= 1:
            return 1.0
        return -math.expm1(math.log1p(-self.parameter) / self.steps)

    def mixing_time(self, tv: float) -> float:
        """Steps after which the total variation to the stationary law is at most `tv`."""
        if self.parameter >= 1:
            return self.steps
        if self.parameter <= 0:
            return math.inf
        rounds = math.log(tv) / math.log1p(-self.parameter)
        # Whole numbers may be larger than any float, which is what callers reckon with.
        return self.steps * math.ceil(rounds) if math.isfinite(self.steps * rounds) else math.inf


@dataclass(frozen=True)
class Certificate:
    """Guarantees that hold for every restart and all kernels, from the schedule alone.

    `gap`, `doeblin_parameter` and `steps` belong together: the chain's `steps`-th power has strong
    Doeblin parameter `doeblin_parameter`, hence the chain has spectral gap at least `gap`.
    All figures are rounded towards the safe side.

    >>> round(certify(Schedule.doeblin(0.1)).gap, 3)
    0.1
    """

    schedule: Schedule
    facts: tuple[Fact, ...]
    """The best parameter found for each of many powers of the chain, by increasing power."""

    @property
    def best(self) -> Fact:
        return max(self.facts, key=lambda fact: (fact.gap, -fact.steps))

    @property
    def gap(self) -> float:
        return self.best.gap

    @property
    def doeblin_parameter(self) -> float:
        return self.best.parameter

    @property
    def steps(self) -> int:
        return self.best.steps

    @property
    def corollary_gap(self) -> float | None:
        """The paper's closed form δ_{k-1}/78 for cycles, where its condition holds."""
        return corollary_gap(self.schedule)

    @property
    def expected_draw_cost(self) -> float:
        return self.schedule.expected_draw_cost()

    @property
    def theorem(self) -> str:
        best = self.best
        if best.parameter <= 0 and _periodic(self.schedule):
            return "none: the stages are periodic, so the chain need not mix"
        if best.parameter <= 0:
            return "none that floats can tell: restarts are too rare"
        if (best.after, best.steps) == (1, 1):
            return "strong Doeblin proposition: every step restarts with probability γ"
        return f"staged theorem at a = {best.after}, b = {best.steps}"

    def mixing_time(self, tv: float = 0.25) -> float:
        """An upper bound on the number of steps until the total variation is at most `tv`.

        Infinite when nothing is certified, and where there are more steps than floats can say.
        """
        if not isinstance(tv, int | float | np.number):
            raise InputError(f"total variation {tv!r} is no number; 0.25 is usual")
        if not 0 < tv < 1:
            raise InputError(f"total variation {tv:g} is outside (0, 1); 0.25 is usual")
        return min(fact.mixing_time(tv) for fact in self.facts)


def certify(schedule: Schedule) -> Certificate:
    """The best guarantee that the paper's staged theorem gives for this schedule.

    With τ_a the first restart at or after time a, `M^b` has strong Doeblin parameter

        γ_{a,b} = Σ_{s=a..b} min_z P[τ_a = s | z_0 = z].

    γ is computed by dynamic programming over the stage matrix and maximised over (a, b), first on a
    coarse grid of a (for each, over all b at once), then around the best.
    """
    scale = _HORIZON * _time_scale(schedule) + 1
    longest = math.ceil(scale) if scale < _LONGEST else _LONGEST  # also where it is no number
    search = (
        _Tabulated(schedule, longest) if longest <= _LONGEST_TABLE else _Powers(schedule, longest)
    )
    grid = _log_grid(1, longest, 48)
    while True:
        for a in grid:
            search.look(int(a))
        best = search.best_after()
        width = int(np.max(np.diff(grid))) if len(grid) > 1 else 1
        position = int(np.searchsorted(grid, best))
        low = int(grid[max(position - 1, 0)])
        high = int(grid[min(position + 1, len(grid) - 1)])
        if high - low <= 2 or width <= 1:
            break
        grid = np.unique(np.linspace(low, high, 17).astype(int))
    return Certificate(schedule, search.facts())


def gamma(schedule: Schedule, a: int, b: int) -> float:
    """γ_{a,b} of the staged theorem for one pair 1 ≤ a ≤ b, rounded down.

    >>> round(gamma(Schedule.doeblin(0.1), 1, 1), 6)
    0.1
    """
    a, b = whole("a", a, least=1), whole("b", b, least=1)
    if a > b:
        raise InputError(f"γ needs 1 ≤ a ≤ b, got a = {a}, b = {b}")
    if b - a >= _LONGEST_SUM:
        raise InputError(
            f"γ for a = {a}, b = {b} is a sum of {b - a + 1:,} numbers, {_LONGEST_SUM:,} at most; "
            "`certify` looks further, by powers of the stage matrix"
        )
    table = _first_restart_law(schedule, b - a + 1)
    return float(_gammas(schedule, table, a)[-1])


def corollary_gap(schedule: Schedule) -> float | None:
    """The paper's corollary: δ_{k-1}/78 for a cycle whose last exit is rare enough, else None.

    Its condition is δ_{k-1} ≤ min(δ_0..δ_{k-2}) / max(2, k-1).
    """
    exits = schedule.exits
    if exits is None or exits[-1] > exits[:-1].min() / max(2, len(exits) - 1):
        return None
    return float(exits[-1]) / 78


def _periodic(schedule: Schedule) -> bool:
    """Whether stages can stay apart for ever: after no number of steps do all lead to one."""
    leads, steps = schedule.matrix > 0, np.eye(schedule.num_stages, dtype=bool)
    for _ in range((schedule.num_stages - 1) ** 2 + 1):
        steps = (steps.astype(int) @ leads) > 0
    return not steps.all(axis=0).any()


def _time_scale(schedule: Schedule) -> float:
    """How long the stages take to restart, and to forget where they began."""
    moduli = np.sort(np.abs(np.linalg.eigvals(schedule.matrix)))
    second = moduli[-2] if len(moduli) > 1 else 0.0
    forgetting = 1 / (1 - second) if second < 1 - 1e-9 else 0.0  # 0: periodic stages
    return max(float(schedule.steps_until_restart().max()), float(forgetting))


class _Tabulated:
    """Exact γ_{a,b} for all b at once, from the tabulated law of the first restart."""

    def __init__(self, schedule: Schedule, longest: int):
        self._schedule = schedule
        self._table = _first_restart_law(schedule, longest)
        self._steps = _log_grid(1, longest, 200)
        self._facts = [Fact(0.0, int(b), 0) for b in self._steps]
        self._best = Fact(0.0, 1, 1)

    def look(self, a: int) -> None:
        gammas = _gammas(self._schedule, self._table, a)
        b = a + np.arange(len(gammas))
        with np.errstate(divide="ignore"):
            rates = -np.log1p(-np.minimum(gammas, 1.0)) / b
        i = int(np.argmax(rates))
        candidate = Fact(float(gammas[i]), int(b[i]), a)
        if candidate.gap > self._best.gap:
            self._best = candidate
        for j, steps in enumerate(self._steps):
            if a <= steps and gammas[steps - a] > self._facts[j].parameter:
                self._facts[j] = Fact(float(gammas[steps - a]), int(steps), a)

    def best_after(self) -> int:
        return self._best.after

    def facts(self) -> tuple[Fact, ...]:
        found = {fact for fact in [*self._facts, self._best] if fact.parameter > 0}
        return tuple(sorted(found, key=lambda fact: fact.steps)) or (self._best,)


class _Powers:
    """A lower bound on γ_{a,b} for very slow schedules, in O(log b) by matrix powers.

    The minimum of a sum is at least the sum of minima, so with P = C^a and F_s(z) the probability
    of a restart within s steps of stage z, γ_{a,a+s} ≥ Σ_z min_{z0} P[z0, z] F_s(z).
    """

    def __init__(self, schedule: Schedule, longest: int):
        self._schedule = schedule
        absorbing = schedule.matrix.copy()
        absorbing[schedule.restart] = 0
        absorbing[schedule.restart, schedule.restart] = 1
        self._waits = _log_grid(1, longest, 64)
        self._restarted = [
            np.linalg.matrix_power(absorbing, int(s))[:, schedule.restart] for s in self._waits
        ]
        # γ_{1,1} is known exactly, however rare restarts are.
        at_once = float(schedule.matrix[:, schedule.restart].min())
        self._facts = [Fact(at_once, 1, 1)] if at_once > 0 else []

    def look(self, a: int) -> None:
        overlap = np.linalg.matrix_power(self._schedule.matrix, a).min(axis=0)
        for wait, restarted in zip(self._waits, self._restarted, strict=True):
            b = a + int(wait)
            bound = float(overlap @ restarted) * (1 - _relative_error(self._schedule, b))
            if bound > 0:
                self._facts.append(Fact(min(bound, 1.0), b, a))

    def best_after(self) -> int:
        return max(self._facts, key=lambda fact: fact.gap).after if self._facts else 1

    def facts(self) -> tuple[Fact, ...]:
        useful: list[Fact] = []
        for fact in sorted(self._facts, key=lambda fact: (fact.steps, -fact.parameter)):
            if not useful or fact.parameter > useful[-1].parameter:
                useful.append(fact)
        return tuple(useful) or (Fact(0.0, 1, 1),)


def _first_restart_law(schedule: Schedule, length: int) -> NDArray[np.float64]:
    """`law[z, s]`: probability that stage z first meets z* after s steps (s = 0 counts)."""
    k = schedule.num_stages
    away = schedule.matrix.copy()
    away[schedule.restart] = 0
    law = np.zeros((k, 1))
    law[schedule.restart, 0] = 1
    power = away
    while law.shape[1] < length:
        law = np.hstack([law, power @ law])
        power = power @ power
    return law[:, :length]


def _gammas(schedule: Schedule, table: NDArray[np.float64], a: int) -> NDArray[np.float64]:
    """γ_{a,a}, γ_{a,a+1}, … over the whole table, rounded down."""
    laws = np.linalg.matrix_power(schedule.matrix, a) @ table
    sums = np.cumsum(laws.min(axis=0))
    b = a + np.arange(len(sums))
    return np.minimum(sums * (1 - _relative_error(schedule, b)), 1.0)


def _relative_error(schedule: Schedule, steps):
    """Bound on the relative rounding error of sums of products of about `steps` stage matrices."""
    return 2 * _EPS * schedule.num_stages * (steps + 8.0)


def _log_grid(low: int, high: int, points: int) -> NDArray[np.int64]:
    return np.unique(np.round(np.geomspace(low, max(high, low), points)).astype(np.int64))
