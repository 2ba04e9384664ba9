"""The conditions of a system in a solver: one incremental solver per clause."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any, NamedTuple

import z3

from ...linear import EQ, LE, Atom, Dnf
from ..system import Clause, System
from ..system.terms import Translator, said, symbol
from ._atoms import dnf_text
from ._budget import SECOND, Budget

Premises = Sequence[Sequence[Dnf]]
"""Formulas for each premise of a clause; none at all: nothing is assumed."""


class Model(NamedTuple):
    """A counterexample to a clause: the state of each premise, the inputs, and where it leads."""

    clause: int
    sources: tuple[tuple[int, ...], ...]
    target: tuple[int, ...]
    values: dict[str, int]


class GaveUp(Exception):
    """The solver answered neither sat nor unsat; the message is its reason."""


class Conditions:
    """Asks whether invariants satisfy the clauses, and for models where they do not."""

    def __init__(
        self,
        system: System,
        budget: Budget,
        *,
        patience: float = 3 * SECOND,
        translate: Translator | None = None,
    ):
        self.system = system
        self.budget = budget
        self.patience = patience
        self._translate = translate or Translator(budget.context())
        self.context = self._translate.context
        self.build = self._translate.build
        self._solvers: list[Any] = []
        self._names: list[list[str]] = []
        self._args: list[list[Any]] = []
        self._atoms: dict[tuple[tuple[str, ...], Atom], Any] = {}
        for clause in system.clauses:
            budget.tick()
            solver = budget.solver(self.context)
            self.build.hold(solver, self._translate(clause.constraint))
            for premise in clause.premises:
                facts = system.at(premise, system.cuts[premise.cut].facts())
                self.build.hold(solver, self._translate(facts))
            self._solvers.append(solver)
            states = [name for premise in clause.premises for name in premise.names]
            self._names.append([*states, *clause.names()])
            targets = []
            for name, arg in zip(self._target_names(clause), clause.args, strict=True):
                targets.append(self._translate.constant(name))
                self.build.hold(solver, self.build.equal(targets[-1], self._translate(arg)))
            self._args.append(targets)

    def afresh(self) -> Conditions:
        """The same in new solvers, which assume nothing."""
        return Conditions(self.system, self.budget, translate=self._translate)

    def _target_names(self, clause: Clause) -> tuple[str, ...]:
        """Names for the state a clause leads to; clauses with the same target share them."""
        if clause.target is None:
            return ()
        cut = self.system.cuts[clause.target]
        return tuple(f"{name}'{clause.target}" for name in cut.variables)

    def target_names(self, clause: int) -> tuple[str, ...]:
        """The solver's names of the state that a clause leads to."""
        return self._target_names(self.system.clauses[clause])

    # ---- formulas

    def _atom(self, atom: Atom, names: tuple[str, ...]) -> Any:
        found = self._atoms.get((names, atom))
        if found is None:
            build = self.build
            variables = [self._translate.constant(name) for name in names]
            parts = [
                (x if c == 1 else build.product(build.integer(c), x))
                for c, x in zip(atom.coefficients, variables, strict=True)
                if c
            ]
            total: Any = build.total(*parts) if len(parts) > 1 else parts[0]
            if atom.modulus:
                total = build.remainder(total, build.integer(atom.modulus))
            constant = build.integer(atom.constant)
            if atom.relation == LE:
                found = build.at_most(total, constant)
            elif atom.relation == EQ:
                found = build.equal(total, constant)
            else:
                found = build.different(total, constant)
            self._atoms[(names, atom)] = found
        return found

    def formula(self, dnf: Dnf, names: tuple[str, ...]) -> Any:
        cubes = []
        for cube in dnf:
            parts = [self._atom(atom, names) for atom in cube]
            if not parts:
                return z3.BoolVal(True, self.context)
            cubes.append(parts[0] if len(parts) == 1 else self.build.conjunction(*parts))
        if len(cubes) == 1:
            return cubes[0]
        return self.build.disjunction(*cubes) if cubes else z3.BoolVal(False, self.context)

    def add_text(self, solver: Any, names: Sequence[str], lines: Sequence[str]) -> None:
        """Assert SMT-LIB text about integers of these names."""
        declared = [f"(declare-const {symbol(name)} Int)" for name in dict.fromkeys(names)]
        self.build.hold_text(solver, "\n".join([*declared, *lines]))

    def assume(self, cut: int, lemmas: Sequence[Dnf]) -> None:
        """From now on these hold at a cut point; they must have been proved."""
        for solver, clause in zip(self._solvers, self.system.clauses, strict=True):
            for premise in clause.premises:
                if premise.cut == cut and lemmas:
                    names = premise.names
                    lines = [f"(assert {dnf_text(dnf, names)})" for dnf in lemmas]
                    self.add_text(solver, names, lines)

    # ---- queries

    def check(self, solver: Any, *assumptions: Any, patience: float = math.inf) -> str:
        """`sat` or `unsat`; anything else raises."""
        try:
            answer = self.budget.ask(solver, min(patience, self.patience), *assumptions)
        except z3.Z3Exception as error:
            self.budget.tick()
            raise GaveUp(said(error)) from None
        if answer == "unknown":
            raise GaveUp(solver.reason_unknown())
        return answer

    def model(self, solver: Any, clause: int) -> Model:
        """The model of a satisfied query on a clause."""
        model, names = solver.model(), self._names[clause]
        shown = self.build.numbers(model, map(self._translate.constant, names))
        values = dict(zip(names, shown, strict=True))
        target = self.build.numbers(model, self._args[clause])
        sources = tuple(
            tuple(values[name] for name in premise.names)
            for premise in self.system.clauses[clause].premises
        )
        return Model(clause, sources, tuple(target), values)

    def open(self, clause: int, premises: Premises, conclusions: Sequence[Dnf]) -> Any:
        """The clause's solver, pushed, holding the premises and the negated conclusions."""
        solver = self._solvers[clause]
        solver.push()
        for premise, formulas in zip(self.system.clauses[clause].premises, premises, strict=False):
            for dnf in formulas:
                self.build.hold(solver, self.formula(dnf, premise.names))
        if conclusions:
            names = self.target_names(clause)
            parts = [self.formula(dnf, names) for dnf in conclusions]
            whole = parts[0] if len(parts) == 1 else self.build.conjunction(*parts)
            self.build.hold(solver, self.build.negation(whole))
        return solver

    def violation(
        self, clause: int, premises: Premises, conclusions: Sequence[Dnf]
    ) -> Model | None:
        """A model that the premises and the clause allow and the conclusions exclude."""
        if self.system.clauses[clause].target is not None and not conclusions:
            return None
        solver = self.open(clause, premises, conclusions)
        try:
            if self.check(solver) == "unsat":
                return None
            return self.model(solver, clause)
        finally:
            solver.pop()

    def violations(
        self,
        clause: int,
        premises: Premises,
        conclusions: Sequence[Dnf],
        rng: random.Random,
        *,
        count: int,
        scale: int,
    ) -> list[Model]:
        """Up to `count` diverse models, small ones first; empty when there is none."""
        if self.system.clauses[clause].target is not None and not conclusions:
            return []
        solver = self.open(clause, premises, conclusions)
        try:
            if self.check(solver) == "unsat":
                return []
            first = self.model(solver, clause)
            found = self._small(solver, clause, rng, count, scale)
            if not found or (count > 2 and rng.random() < 0.2):
                found.append(first)
            unique = {(m.sources, m.target): m for m in found}
            return list(unique.values())
        finally:
            solver.pop()

    def _small(
        self, solver: Any, clause: int, rng: random.Random, count: int, scale: int
    ) -> list[Model]:
        """Models inside a box about the origin, then in random half-spaces of it."""
        names = self._names[clause]
        shown = [self._translate.constant(n) for n in names[:40]]
        found: list[Model] = []
        if not shown:
            return found
        for bound in (rng.choice((4, 8, 16)), 2 * scale + 8):
            solver.push()
            try:
                for x in shown:
                    self._bound(solver, x, bound, above=True)
                    self._bound(solver, x, -bound, above=False)
                if self._satisfied(solver):
                    found.append(self.model(solver, clause))
                    for _ in range(count - 1):
                        self._half_space(solver, shown, rng, bound, clause, found)
                    return found
            finally:
                solver.pop()
        return found

    def _half_space(
        self,
        solver: Any,
        shown: list[Any],
        rng: random.Random,
        bound: int,
        clause: int,
        found: list[Model],
    ) -> None:
        solver.push()
        try:
            for x in rng.sample(shown, min(len(shown), rng.choice((1, 2, 2)))):
                value = rng.randint(-3, 3) if rng.random() < 0.3 else rng.randint(-bound, bound)
                self._bound(solver, x, value, above=rng.random() < 0.5)
            if self._satisfied(solver):
                found.append(self.model(solver, clause))
        finally:
            solver.pop()

    def at_states(self, clause: int, states: Sequence[Sequence[int]]) -> Any:
        """The clause's solver, pushed, with a given state for each premise."""
        solver = self._solvers[clause]
        solver.push()
        for premise, state in zip(self.system.clauses[clause].premises, states, strict=True):
            for name, value in zip(premise.names, state, strict=True):
                self._equate(solver, self._translate.constant(name), value)
        return solver

    def to_state(self, clause: int, state: Sequence[int]) -> Any:
        """The clause's solver, pushed, ending in a given state."""
        solver = self._solvers[clause]
        solver.push()
        for arg, value in zip(self._args[clause], state, strict=True):
            self._equate(solver, arg, value)
        return solver

    def vary(self, solver: Any, clause: int, rng: random.Random, scale: int) -> Model | None:
        """Another model of an open query: a random half-space of one of the targets."""
        if not self._args[clause]:
            return None
        solver.push()
        try:
            bound = scale + 5 if rng.random() < 0.5 else 5
            x, value = rng.choice(self._args[clause]), rng.randint(-bound, bound)
            self._bound(solver, x, value, above=rng.random() < 0.5)
            return self.model(solver, clause) if self._satisfied(solver) else None
        finally:
            solver.pop()

    def _equate(self, solver: Any, x: Any, value: int) -> None:
        self.build.hold(solver, self.build.equal(x, self.build.integer(value)))

    def _bound(self, solver: Any, x: Any, value: int, *, above: bool) -> None:
        relate = self.build.at_most if above else self.build.at_least
        self.build.hold(solver, relate(x, self.build.integer(value)))

    def _satisfied(self, solver: Any) -> bool:
        try:
            return self.check(solver) == "sat"
        except GaveUp:
            return False
