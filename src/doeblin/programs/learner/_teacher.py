"""Puts candidates to the solver and turns its counterexamples into examples."""

from __future__ import annotations

import random

from ...linear import Dnf, dnf_size
from .._tunables import Tunables
from ..solve import Conditions, GaveUp, Selection
from ._data import Data
from ._known import thin


class Teacher:
    """Asks all conditions of a candidate; learns from what fails."""

    def __init__(
        self,
        conditions: Conditions,
        data: Data,
        rng: random.Random,
        scale: int,
        tunables: Tunables,
    ):
        self.conditions = conditions
        self.data = data
        self.lemmas: list[list[Dnf]] = [[] for _ in conditions.system.cuts]
        self.gave_up: str | None = None
        self._rng = rng
        self._scale = scale
        self._count = tunables.examples.models
        self._assumed = tunables.lemmas.assumed

    def accepts(self, candidate: list[Dnf]) -> bool:
        """Do the candidate and the lemmas satisfy every clause? If not, examples are added."""
        system = self.conditions.system
        holds = True
        order = sorted(
            range(len(system.clauses)),
            key=lambda i: (
                bool(system.clauses[i].premises),
                system.clauses[i].target is not None,
            ),
        )
        for index in order:
            clause = system.clauses[index]
            premises = [[dnf] for dnf in clause.at_premises(candidate)]
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
                self.data.add_models(system, models)
                if self.data.failure is not None:
                    return False
        return holds

    def add_lemmas(self, proved: list[list[Dnf]]) -> None:
        """Proved formulas: all serve the final proof, the simplest also the queries from now on."""
        for cut, formulas in enumerate(proved):
            self.lemmas[cut] = thin([*self.lemmas[cut], *formulas])
            known = set(self.lemmas[cut])
            simple = sorted((dnf for dnf in formulas if dnf in known), key=dnf_size)
            self.conditions.assume(cut, simple[: self._assumed])

    def sufficient(self) -> bool:
        """Do the lemmas alone exclude every failure?"""
        system = self.conditions.system
        for index, clause in enumerate(system.clauses):
            if clause.target is not None:
                continue
            premises = clause.at_premises(self.lemmas)
            selection = Selection(self.conditions, index, premises, [])
            try:
                every = [[True] * len(formulas) for formulas in premises]
                if selection.violation(every, []) is not None:
                    return False
            except GaveUp as reason:
                self.gave_up = str(reason)
                return False
            finally:
                selection.close()
        return True

    def essential(self, formulas: list[list[Dnf]]) -> list[list[Dnf]]:
        """A part of proved, sufficient formulas that is still inductive and sufficient.

        Solver cores: what excludes the failures, what preserves that, and so on.
        """
        system = self.conditions.system
        fresh = self.conditions.afresh()
        selections = [
            Selection(
                fresh,
                index,
                clause.at_premises(formulas),
                formulas[clause.target] if clause.target is not None else [],
            )
            for index, clause in enumerate(system.clauses)
        ]
        needed: list[dict[int, None]] = [{} for _ in system.cuts]
        todo: list[tuple[int, int | None]] = [
            (i, None) for i, c in enumerate(system.clauses) if c.target is None
        ]
        try:
            while todo:
                index, conclusion = todo.pop()
                premises = system.clauses[index].premises
                for premise, numbers in zip(
                    premises, selections[index].core(conclusion) if premises else (), strict=True
                ):
                    new = [number for number in numbers if number not in needed[premise.cut]]
                    needed[premise.cut] |= dict.fromkeys(new)
                    into = [i for i, c in enumerate(system.clauses) if c.target == premise.cut]
                    todo += [(i, number) for number in new for i in into]
        except GaveUp:
            return formulas
        chosen = [[formulas[c][n] for n in sorted(keep)] for c, keep in enumerate(needed)]
        for selection in selections:
            selection.close()
        return self._shorter(fresh, chosen)

    def simplified(self, formulas: list[Dnf]) -> list[Dnf]:
        """The same proof with fewer disjuncts and atoms, where leaving them out keeps it one."""
        fresh = self.conditions.afresh()
        for cut in range(len(formulas)):
            for cube in formulas[cut] if len(formulas[cut]) > 1 else ():
                rest = tuple(other for other in formulas[cut] if other is not cube)
                shorter = [*formulas[:cut], rest, *formulas[cut + 1 :]]
                if rest and self.inductive(fresh, [[dnf] for dnf in shorter]):
                    formulas = shorter
            for number in range(len(formulas[cut])):
                formulas = self._fewer_atoms(fresh, formulas, cut, number)
        return formulas

    def _fewer_atoms(
        self, fresh: Conditions, formulas: list[Dnf], cut: int, number: int
    ) -> list[Dnf]:
        for atom in formulas[cut][number]:
            cubes = list(formulas[cut])
            cubes[number] = tuple(other for other in cubes[number] if other != atom)
            shorter = [*formulas[:cut], tuple(cubes), *formulas[cut + 1 :]]
            if cubes[number] and self.inductive(fresh, [[dnf] for dnf in shorter]):
                formulas = shorter
        return formulas

    def _shorter(self, fresh: Conditions, formulas: list[list[Dnf]]) -> list[list[Dnf]]:
        """Without formulas that turn out not to be needed, tried one by one."""
        if sum(map(len, formulas)) > 16:
            return formulas
        for cut in range(len(formulas)):
            for dnf in sorted(formulas[cut], key=dnf_size, reverse=True):
                rest = list(formulas)
                rest[cut] = [other for other in formulas[cut] if other is not dnf]
                if self.inductive(fresh, rest):
                    formulas = rest
        return formulas

    def inductive(self, conditions: Conditions, formulas: list[list[Dnf]]) -> bool:
        """Are the formulas by themselves a proof? `conditions` must not know any lemmas."""
        try:
            for index, clause in enumerate(conditions.system.clauses):
                premises = clause.at_premises(formulas)
                conclusions = formulas[clause.target] if clause.target is not None else []
                if conditions.violation(index, premises, conclusions) is not None:
                    return False
        except GaveUp:
            return False
        return True
