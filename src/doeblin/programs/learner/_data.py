"""Example states: reachable ones, failing ones, and steps between states of neither kind."""

from __future__ import annotations

from collections.abc import Iterable
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
class Origin:
    """How a state was reached: by a concrete run's first inputs, or by a step from another."""

    prefix: tuple[int, ...] | None
    arrivals: int = 0
    before: int | None = None
    model: Model | None = None


@dataclass
class Data:
    """Points by number; labels spread along the recorded steps.

    Once a reachable state is known to fail, the way there is the `failure`, and nothing else
    matters any more.
    """

    failure: Path | None = None

    points: list[Point] = field(default_factory=list)
    numbers: dict[Point, int] = field(default_factory=dict)
    good: dict[int, Origin] = field(default_factory=dict)
    bad: dict[int, tuple[Model, int | None]] = field(default_factory=dict)  # step, next point
    pairs: dict[tuple[int, int], Model] = field(default_factory=dict)
    _after: dict[int, list[int]] = field(default_factory=dict)
    _before: dict[int, list[int]] = field(default_factory=dict)

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
        if point is not None:
            self._spread_good(point, Origin(prefix, n))

    def add(self, model: Model, source: int | None, target: int | None) -> bool:
        """Record a model of a clause between these cuts; False if its values are too large."""
        before = self.number(source, model.source) if source is not None else None
        after = self.number(target, model.target) if target is not None else None
        if (source is not None and before is None) or (target is not None and after is None):
            return False
        if before is None:
            if after is None:
                self.failure = self.failure or Path(((model.clause, model.values),))
                return True
            self._spread_good(after, Origin(None, model=model))
        elif after is None:
            self._spread_bad(before, model, None)
        elif before != after and (before, after) not in self.pairs:
            self.pairs[before, after] = model
            self._after.setdefault(before, []).append(after)
            self._before.setdefault(after, []).append(before)
            if before in self.good:
                self._spread_good(after, Origin(None, before=before, model=model))
            if after in self.bad:
                self._spread_bad(before, model, after)
        return True

    def add_models(self, system: System, models: Iterable[Model]) -> None:
        """Record models of clauses, as long as there is no failure."""
        for model in models:
            if self.failure is None:
                clause = system.clauses[model.clause]
                self.add(model, clause.source, clause.target)

    def good_at(self, cut: int) -> list[tuple[int, ...]]:
        """The reachable states of a cut point."""
        return [self.points[i][1] for i in self.good if self.points[i][0] == cut]

    def _spread_good(self, point: int, origin: Origin) -> None:
        stack = [(point, origin)]
        while stack:
            point, origin = stack.pop()
            if point in self.good:
                continue
            self.good[point] = origin
            if point in self.bad:
                self.failure = self.failure or self._path(point)
                return
            for after in self._after.get(point, ()):
                model = self.pairs[point, after]
                stack.append((after, Origin(None, before=point, model=model)))

    def _spread_bad(self, point: int, model: Model, following: int | None) -> None:
        stack = [(point, model, following)]
        while stack:
            point, model, following = stack.pop()
            if point in self.bad:
                continue
            self.bad[point] = (model, following)
            if point in self.good:
                self.failure = self.failure or self._path(point)
                return
            for before in self._before.get(point, ()):
                stack.append((before, self.pairs[before, point], point))

    def _path(self, point: int) -> Path:
        """From the start through `point` to the failure."""
        steps: list[tuple[int, dict[str, int]]] = []
        prefix: tuple[int, ...] = ()
        arrivals = 0
        at: int | None = point
        while at is not None:
            origin = self.good[at]
            if origin.prefix is not None:
                prefix, arrivals = origin.prefix, origin.arrivals
            elif origin.model is not None:
                steps.append((origin.model.clause, origin.model.values))
            at = origin.before
        steps.reverse()
        at = point
        while at is not None:
            model, at = self.bad[at]
            steps.append((model.clause, model.values))
        return Path(tuple(steps), prefix, arrivals)

    def free_pairs(self) -> list[tuple[int, int]]:
        """Steps whose ends have no label: they constrain the formula as implications."""
        labelled = self.good.keys() | self.bad.keys()
        return [p for p in self.pairs if p[0] not in labelled and p[1] not in labelled]
