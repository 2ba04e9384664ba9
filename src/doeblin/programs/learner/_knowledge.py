"""What is known of a system so far: example states, proved lemmas, and atoms worth trying."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from ...linear import Dnf
from .._tunables import Tunables
from ..solve import Budget, Conditions, Path, all_term
from ..system import Graph, Interpreter, System
from ..system.terms import Term
from ._cloud import Cloud
from ._data import Data, Point
from ._first import FirstExamples
from ._harvest import dnf_of, harvest
from ._powers import without_products
from ._runs import Runs
from ._space import Space
from ._teacher import Teacher


@dataclass(frozen=True)
class Subject:
    """A system to learn about, the program that it is of, and what people suggest of its cuts."""

    system: System
    graph: Graph | None = None
    interpreter: Interpreter | None = None
    hints: Sequence[Sequence[Dnf]] = ()


class Knowledge:
    """Grows with every question that the solver answers and every run of the program."""

    def __init__(self, subject: Subject, budget: Budget, seed: int, tunables: Tunables):
        system = self.system = subject.system
        self.graph = subject.graph
        self.budget = budget
        self.tunables = tunables
        self.rng = random.Random(seed)
        limits = tunables.examples
        products = any(cut.products for cut in system.cuts)
        self.conditions = Conditions(
            system,
            budget,
            patience=limits.patience_with_products if products else limits.patience,
        )
        found = harvest(system, subject.graph)
        self.spaces = [
            Space(cut, relevant, found, self.rng)
            for cut, relevant in zip(system.cuts, found.relevant, strict=True)
        ]
        self.hints = list(subject.hints) or [[] for _ in system.cuts]
        for space, hints in zip(self.spaces, self.hints, strict=True):
            # The chains of every method see the atoms of the hints in their pool.
            space.suggested += [(atom, 6.0) for dnf in hints for cube in dnf for atom in cube]
        self.scale = max([space.scale for space in self.spaces], default=10)
        self.data = Data()
        self.origins: list[dict[Dnf, str]] = [{} for _ in system.cuts]
        self.teacher = Teacher(self.conditions, self.data, self.rng, self.scale, tunables)
        self.constants = [c for c in found.constants if abs(c) < 1 << 20]
        self.runs: Runs | None = None
        self.cloud: Cloud | None = None
        if subject.interpreter is not None:
            self.runs = Runs(subject.interpreter, system, self.rng, self.constants)
            self.cloud = Cloud(self.runs, limits)

    @property
    def failure(self) -> Path | None:
        """A way to a failure, if the examples show one."""
        return self.data.failure

    def gather(self, *, quick: bool = False) -> None:
        """The first examples."""
        limits = self.tunables.examples
        first = FirstExamples(self.conditions, self.data, self.rng, self.runs, self.scale, limits)
        first.gather(quick=quick)
        self.teacher.gave_up = first.gave_up

    def look_around(self, near: float, far: float) -> None:
        """More reachable states, for candidates to be held against; by so much work on runs."""
        if self.cloud is not None and near:
            self.data.failure = self.data.failure or self.cloud.grow(self.budget, near)
            graph = self.graph
            if graph is not None and graph.compilable and far and self.data.failure is None:
                self.cloud.reach_far(graph, self.budget, far)

    def reachable(self, cut: int) -> list[tuple[int, ...]]:
        """The reachable states of a cut point that are known."""
        seen = self.data.good_at(cut)
        return [*seen, *self.cloud.points[cut]] if self.cloud else seen

    def follow(self, cut: int, point: tuple[int, ...]) -> list[Point]:
        """States that the program comes to from one, where it can be run."""
        return self.runs.follow(cut, point) if self.runs is not None else []

    def assertion(self) -> list[Dnf] | None:
        """The weakest candidate: at each cut point, what excludes an immediate failure."""
        found: list[Dnf] = []
        for number, cut in enumerate(self.system.cuts):
            dnf: Dnf | None = ((),)
            for clause in self.system.clauses:
                alone = len(clause.premises) == 1 and clause.source == number
                if clause.target is None and alone:
                    dnf = dnf_of(clause.constraint, cut.variables, positive=False)
            if dnf is None or not 0 < len(dnf) <= 6 or any(len(cube) > 14 for cube in dnf):
                return None
            found.append(dnf)
        return found

    def terms(self, formulas: Sequence[Sequence[Dnf]]) -> list[Term]:
        """Invariants for the program's own variables."""
        return [
            without_products(all_term(found, cut.variables), cut)
            for found, cut in zip(formulas, self.system.cuts, strict=True)
        ]
