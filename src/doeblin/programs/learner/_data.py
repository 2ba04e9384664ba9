"""Example states: reachable ones, failing ones, and steps between states of neither kind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ...linear import Atom
from ..solve import Model, Path
from ..system import System

Point = tuple[int, tuple[int, ...]]  # cut, values
LIMIT = 1 << 40


def fits(atom: Atom) -> bool:
    """Whether 64 bits hold all that is computed of it at points up to LIMIT."""
    value = sum(map(abs, atom.coefficients)) * LIMIT
    return max(value, abs(atom.constant), atom.modulus) < 1 << 62


@dataclass(frozen=True, slots=True)
class Step:
    """An instance of a clause: the points of its premises, and that which it leads to (None: a
    failure)."""

    model: Model
    before: tuple[int, ...]
    after: int | None


@dataclass(frozen=True, slots=True)
class Seen:
    """How a run arrived at a state: after these inputs, as its n-th arrival at any cut point."""

    prefix: tuple[int, ...]
    arrivals: int


@dataclass
class Data:
    """Points by number; labels spread along the recorded steps.

    A point is good if a step leads there from good points only, and bad if a step leads from it,
    and otherwise from good points only, to a bad one or to a failure. Once a failure follows from
    good points, the way there is the `failure`, and nothing else matters any more.
    """

    failure: Path | None = None

    points: list[Point] = field(default_factory=list)
    numbers: dict[Point, int] = field(default_factory=dict)
    good: dict[int, Seen | Step] = field(default_factory=dict)
    bad: dict[int, Step] = field(default_factory=dict)
    steps: dict[tuple[tuple[int, ...], int | None], Step] = field(default_factory=dict)
    _from: dict[int, list[Step]] = field(default_factory=dict)
    _into: dict[int, list[Step]] = field(default_factory=dict)

    def number(self, cut: int, values: tuple[int, ...]) -> int | None:
        """The point's number; None for values too large to compute with in 64 bits."""
        key = (cut, values)
        found = self.numbers.get(key)
        if found is None:
            if any(abs(v) > LIMIT for v in values):
                return None
            found = self.numbers[key] = len(self.points)
            self.points.append(key)
        return found

    def add_run(self, cut: int, values: tuple[int, ...], prefix: tuple[int, ...], n: int) -> None:
        """A state that a concrete run arrived at after these inputs, as its n-th arrival."""
        point = self.number(cut, values)
        if point is not None and point not in self.good:
            self.good[point] = Seen(prefix, n)
            self._spread(self._from.get(point, ()))

    def add(self, model: Model, sources: Sequence[int], target: int | None) -> bool:
        """Record a model of a clause between these cuts; False if its values are too large."""
        before = [self.number(c, v) for c, v in zip(sources, model.sources, strict=True)]
        after = self.number(target, model.target) if target is not None else None
        if None in before or (target is not None and after is None):
            return False
        found = [point for point in before if point is not None]
        step = Step(model, tuple(found), after)
        key = (tuple(dict.fromkeys(found)), after)
        if after not in found and key not in self.steps:
            self.steps[key] = step
            for point in key[0]:
                self._from.setdefault(point, []).append(step)
            if after is not None:
                self._into.setdefault(after, []).append(step)
            self._spread([step])
        return True

    def add_models(self, system: System, models: Iterable[Model]) -> None:
        """Record models of clauses, as long as there is no failure."""
        for model in models:
            if self.failure is None:
                clause = system.clauses[model.clause]
                self.add(model, [premise.cut for premise in clause.premises], clause.target)

    def good_at(self, cut: int) -> list[tuple[int, ...]]:
        """The reachable states of a cut point."""
        return [self.points[i][1] for i in self.good if self.points[i][0] == cut]

    def _spread(self, steps: Iterable[Step]) -> None:
        """Label what follows from what these steps are about."""
        stack = list(steps)
        while stack and self.failure is None:
            step = stack.pop()
            missing = {point for point in step.before if point not in self.good}
            if not missing and step.after is None:
                self.failure = self._path(step)
            elif not missing and step.after not in self.good:
                assert step.after is not None
                self.good[step.after] = step
                stack += self._from.get(step.after, ())
            elif len(missing) == 1 and (step.after is None or step.after in self.bad):
                (point,) = missing
                if point not in self.bad:
                    self.bad[point] = step
                    stack += self._into.get(point, ())

    def _path(self, last: Step) -> Path:
        """All that leads to the failure, each step after those that it builds on."""
        order: dict[int, int] = {}  # positions of the steps to good points
        steps: list[Step] = []
        prefix: tuple[int, ...] = ()
        arrivals = 0
        stack: list[tuple[Step, bool]] = [(last, False)]
        while stack:
            step, ready = stack.pop()
            if ready:
                if step.after is not None:
                    if step.after in order:
                        continue
                    order[step.after] = len(steps)
                steps.append(step)
                continue
            stack.append((step, True))
            for point in reversed(step.before):
                origin = self.good[point]
                if isinstance(origin, Seen):
                    prefix, arrivals = origin.prefix, origin.arrivals
                elif point not in order:
                    stack.append((origin, False))
        return Path(
            tuple((step.model.clause, step.model.values) for step in steps),
            prefix,
            arrivals,
            premises=tuple(
                tuple(order[point] for point in step.before if point in order) for step in steps
            ),
        )

    def free(self) -> list[tuple[list[int], int | None]]:
        """Steps that no label decides: the premises that may not hold, and where they lead (None:
        where nothing may hold)."""
        found = []
        for (before, after), _ in self.steps.items():
            free = [point for point in before if point not in self.good]
            if after not in self.good and not any(point in self.bad for point in free):
                found.append((free, None if after in self.bad else after))
        return found
