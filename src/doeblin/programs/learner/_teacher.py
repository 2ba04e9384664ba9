"""Puts candidates to the solver and turns its counterexamples into examples."""

from __future__ import annotations

import random

from ..proof import Conditions, Dnf, GaveUp
from ._data import Data
from ._seed import add_models


class Teacher:
    """Asks all conditions of a candidate; learns from what fails."""

    def __init__(
        self, conditions: Conditions, data: Data, rng: random.Random, *, scale: int, count: int = 6
    ):
        self.conditions = conditions
        self.data = data
        self.lemmas: list[list[Dnf]] = [[] for _ in conditions.system.cuts]
        self.gave_up: str | None = None
        self._rng = rng
        self._scale = scale
        self._count = count

    def accepts(self, candidate: list[Dnf]) -> bool:
        """Do the candidate and the lemmas satisfy every clause? If not, examples are added."""
        system = self.conditions.system
        holds = True
        order = sorted(
            range(len(system.clauses)),
            key=lambda i: (
                system.clauses[i].source is not None,
                system.clauses[i].target is not None,
            ),
        )
        for index in order:
            clause = system.clauses[index]
            premises = []
            if clause.source is not None:
                premises = [*self.lemmas[clause.source], candidate[clause.source]]
            conclusions = [] if clause.target is None else [candidate[clause.target]]
            try:
                models = self.conditions.violations(
                    index, premises, conclusions, self._rng, count=self._count, scale=self._scale
                )
            except GaveUp as reason:
                self.gave_up = str(reason)
                holds = False
                continue
            if models:
                holds = False
                add_models(self.data, system, models)
        return holds

    def sufficient(self) -> bool:
        """Do the lemmas alone exclude every failure?"""
        system = self.conditions.system
        for index, clause in enumerate(system.clauses):
            if clause.target is not None:
                continue
            premises = self.lemmas[clause.source] if clause.source is not None else []
            try:
                if self.conditions.violation(index, premises, []) is not None:
                    return False
            except GaveUp as reason:
                self.gave_up = str(reason)
                return False
        return True

    def essential(self, formulas: list[list[Dnf]]) -> list[list[Dnf]]:
        """A part of proved, sufficient formulas that is still inductive and sufficient.

        Solver cores: what excludes the failures, what preserves that, and so on.
        """
        system = self.conditions.system
        needed: list[dict[int, None]] = [{} for _ in system.cuts]
        todo: list[tuple[int, Dnf | None]] = [
            (i, None) for i, c in enumerate(system.clauses) if c.target is None
        ]
        try:
            while todo:
                index, conclusion = todo.pop()
                source = system.clauses[index].source
                if source is None:
                    continue
                for number in self.conditions.core(index, formulas[source], conclusion):
                    if number not in needed[source]:
                        needed[source][number] = None
                        todo += [
                            (i, formulas[source][number])
                            for i, c in enumerate(system.clauses)
                            if c.target == source
                        ]
        except GaveUp:
            return formulas
        chosen = [[formulas[c][n] for n in sorted(keep)] for c, keep in enumerate(needed)]
        return self._shorter(chosen)

    def _shorter(self, formulas: list[list[Dnf]]) -> list[list[Dnf]]:
        """Without formulas that turn out not to be needed, tried one by one."""
        if sum(map(len, formulas)) > 16:
            return formulas
        for cut in range(len(formulas)):
            for dnf in sorted(formulas[cut], key=_size, reverse=True):
                rest = list(formulas)
                rest[cut] = [other for other in formulas[cut] if other is not dnf]
                if self.inductive(rest):
                    formulas = rest
        return formulas

    def inductive(self, formulas: list[list[Dnf]]) -> bool:
        system = self.conditions.system
        try:
            for index, clause in enumerate(system.clauses):
                premises = formulas[clause.source] if clause.source is not None else []
                conclusions = formulas[clause.target] if clause.target is not None else []
                if self.conditions.violation(index, premises, conclusions) is not None:
                    return False
        except GaveUp:
            return False
        return True


def _size(dnf: Dnf) -> tuple[int, int, int]:
    atoms = [atom for cube in dnf for atom in cube]
    return (
        len(atoms),
        sum(sum(map(abs, a.vector)) + 2 * bool(a.modulus) for a in atoms),
        sum(abs(a.constant) for a in atoms),
    )
