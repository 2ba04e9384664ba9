"""Bounded search for a failure: the clauses unrolled step by step in one solver."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import z3

from ..system import Clause, System
from ..system.terms import (
    Term,
    Translator,
    array,
    cells_read,
    model_value,
    renamed,
    select,
    substitute,
)
from ._budget import SECOND, Budget, heedless
from ._easing import eased
from ._paths import Path

_UNROLLING = 2000  # units of work to write down a clause once more
_SMALL = SECOND  # work to find a failure with small inputs, too
_Choices = list[tuple[int, Any]]  # clauses with the flags that choose them


class Unrolling:
    """Deepens by one step at a time; each state has a location and the values of its cut. For
    clauses with one premise at most; `Trees` are for others.

    `base` says which clauses stand for many turns of another.
    """

    def __init__(self, system: System, budget: Budget, base: dict[int, int] | None = None):
        self.system = system
        self._base = base or {}
        self.budget = budget
        self.depth = 0
        self.exhausted = False
        self.finished = False  # there is always one more step
        context = budget.context()
        self._context = context
        self._translate = Translator(context)
        self._build = self._translate.build
        self._solver = budget.solver(context)
        self._used: list[_Choices] = []
        self._inputs: list[Any] = []
        self._pending: tuple[_Choices, _Choices] | None = None

    def deepen(self, units: float) -> Path | None:
        """Look for a failure one step deeper; a path when there is one.

        `exhausted` is set when the solver did not answer with so much work; the next call tries
        again.
        """
        if self._pending is None:
            self._pending = self._unroll()
        failing, going = self._pending
        path = self._failure(failing, units)
        if path is None and not self.exhausted:
            self._build.hold(self._solver, self._build.disjunction(*(s for _, s in going)))
            self._pending = None
            self.depth += 1
        return path

    def _unroll(self) -> tuple[_Choices, _Choices]:
        """Add a step: the clauses that can fail there, and those that go on."""
        depth, build = self.depth, self._build
        failing: _Choices = []
        going: _Choices = []
        for index, clause in enumerate(self.system.clauses):
            if (clause.source is None) != (depth == 0):
                continue
            self.budget.tick()
            self.budget.spend(_UNROLLING)
            selector = build.flag(f"use{index}@{depth}")
            rename = {t.leaf: renamed(t, f"{t.leaf}@{depth}") for t in clause.free()}
            self._inputs += [self._translate(rename[item.name]) for item in clause.inputs]
            rename |= {bank.name: array(f"{bank.name}@{depth}") for bank in clause.banks}
            if clause.source is not None:
                cut = self.system.cuts[clause.source]
                rename |= {t.leaf: self._at(clause.source, t, depth) for t in cut.state()}
                held = (bank.name for bank in cut.arrays)
                rename |= {n: array(f"{clause.source}:{n}@{depth}") for n in held}
                at = self._location(clause.source, depth)
                build.hold(self._solver, build.implication(selector, at))
            body = [self._translate(substitute(clause.constraint, rename))]
            if self.system.floating:
                body += map(self._translate, self._eased(clause, rename))
            body += self._cells(clause, rename)
            if clause.target is not None:
                cut = self.system.cuts[clause.target]
                for own, arg in zip(cut.state(), clause.args, strict=True):
                    new = self._translate(self._at(clause.target, own, depth + 1))
                    value = self._translate.given(substitute(arg, rename), own.bits)
                    body.append(build.equal(new, value))
                for bank, held in zip(cut.arrays, clause.arrays, strict=True):
                    new = self._translate.array(f"{clause.target}:{bank.name}@{depth + 1}")
                    body.append(build.equal(new, self._translate(substitute(held, rename))))
                body.append(self._location(clause.target, depth + 1))
                going.append((index, selector))
            else:
                failing.append((index, selector))
            build.hold(self._solver, build.implication(selector, build.conjunction(*body)))
        for a in range(len(self.system.cuts)):
            for b in range(a):
                apart = (build.negation(self._location(cut, depth + 1)) for cut in (a, b))
                build.hold(self._solver, build.disjunction(*apart))
        self._used.append([*failing, *going])
        return failing, going

    def _eased(self, clause: Clause, rename: dict[str, Term]) -> list[Term]:
        return eased(*(substitute(term, rename) for term in (clause.constraint, *clause.args)))

    def _cells(self, clause: Clause, rename: dict[str, Term]) -> list[Any]:
        """Cells that are read have values of their type: sums that leave it are no failures."""
        banks = list(clause.banks)
        if clause.source is not None:
            banks += self.system.cuts[clause.source].arrays
        bounds = {bank.name: bank.bounds for bank in banks}
        found = []
        for leaf, index in cells_read(clause.constraint, *clause.args, *clause.arrays):
            cell = self._translate(select(rename[leaf], substitute(index, rename)))
            low, high = bounds[leaf]
            found += [low <= cell] if low is not None else []
            found += [cell <= high] if high is not None else []
            self._inputs.append(cell)
        return found

    @staticmethod
    def _at(cut: int, variable: Term, depth: int) -> Term:
        """A variable of a cut, as it is after so many steps."""
        return renamed(variable, f"{cut}:{variable.leaf}@{depth}")

    def _location(self, cut: int, depth: int) -> Any:
        return self._build.flag(f"at{cut}@{depth}")

    def _failure(self, failing: list[tuple[int, Any]], units: float) -> Path | None:
        self.exhausted = False
        if not failing:
            return None
        if self.system.floating:
            return self._failure_anew(failing, units)
        solver = self._solver
        solver.push()
        try:
            self._build.hold(solver, self._build.disjunction(*(s for _, s in failing)))
            answer = self.budget.ask(solver, units)
            if answer == "unknown":
                self.exhausted = True
            if answer != "sat":
                return None
            path = self._path(solver.model())
            return self._smaller() or path
        except z3.Z3Exception:
            self.budget.tick()
            self.exhausted = True
            return None
        finally:
            solver.pop()

    def _failure_anew(self, failing: _Choices, units: float) -> Path | None:
        """The same with a solver of its own, which sees the whole question before it begins: that
        helps with floating point more than what was learned before."""
        solver = heedless(z3.Solver(ctx=self._context))
        solver.add(*self._solver.assertions(), z3.Or(*(s for _, s in failing), self._context))
        try:
            answer = self.budget.ask(solver, units)
        except z3.Z3Exception:
            self.budget.tick()
            answer = "unknown"
        self.exhausted = answer == "unknown"
        return self._path(solver.model()) if answer == "sat" else None

    def _smaller(self) -> Path | None:
        """The same failure with small inputs, which people and machines prefer."""
        for bound in (9, 1000):
            self._solver.push()
            try:
                for x in self._inputs:
                    self._solver.add(x <= bound, x >= -bound)
                if self.budget.ask(self._solver, _SMALL) == "sat":
                    return self._path(self._solver.model())
            finally:
                self._solver.pop()
        return None

    def _path(self, model: Any) -> Path:
        steps, turns, leaps = [], [], []
        contents: list[dict[int, Callable[[int], int]]] = []
        for depth, used in enumerate(self._used):
            chosen = next(
                index for index, s in used if z3.is_true(model.eval(s, model_completion=True))
            )
            clause = self.system.clauses[chosen]
            named = {t.leaf: renamed(t, f"{t.leaf}@{depth}") for t in clause.free()}
            if clause.source is not None:
                cut = self.system.cuts[clause.source]
                named |= {t.leaf: self._at(clause.source, t, depth) for t in cut.state()}
            values = {}
            for name, term in named.items():
                value = model.eval(self._translate(term), model_completion=True)
                values[name] = model_value(value)
            steps.append((self._base.get(chosen, chosen), values))
            contents.append(
                {
                    bank.site: self._contents(model, f"{bank.name}@{depth}")
                    for bank in clause.banks
                    if bank.site is not None
                }
            )
            turns.append(values[clause.turns] if clause.turns else 1)
            leaps.append(clause if clause.turns else None)
            if clause.target is None:
                break
        return Path(tuple(steps), turns=tuple(turns), leaps=tuple(leaps), contents=tuple(contents))

    def _contents(self, model: Any, name: str) -> Callable[[int], int]:
        """What an array has at each index, as a model says."""
        held = self._translate.array(name)

        def cell(index: int) -> int:
            value = model.eval(z3.Select(held, index), model_completion=True)
            return value.as_long() if z3.is_int_value(value) else 0

        return cell
