"""Bounded search for a failure: the clauses unrolled step by step in one solver."""

from __future__ import annotations

from typing import Any

import z3

from ..flow import System
from ..terms import Translator, substitute, var
from ._clock import Clock
from ._replay import Path


class Bounded:
    """Deepens by one step at a time; each state has a location and the values of its cut."""

    def __init__(self, system: System, clock: Clock):
        self.system = system
        self.clock = clock
        self.depth = 0
        self.exhausted = False
        context = clock.context()
        self._context = context
        self._translate = Translator(context)
        self._solver = z3.SimpleSolver(ctx=context)
        self._used: list[list[tuple[int, Any]]] = []  # per step: (clause, its selector)

    def deepen(self, seconds: float) -> Path | None:
        """Add a step and look for a failure; a path when there is one.

        Sets `exhausted` when the solver runs out of its time or no state is reachable any more:
        in the second case the system has no failure at all.
        """
        depth = self.depth
        failing, going = [], []
        for index, clause in enumerate(self.system.clauses):
            if (clause.source is None) != (depth == 0):
                continue
            self.clock.tick()
            selector = z3.Bool(f"use{index}@{depth}", self._context)
            rename = {name: var(f"{name}@{depth}") for name in clause.inputs}
            if clause.source is not None:
                names = self.system.cuts[clause.source].variables
                rename |= {n: var(f"{clause.source}:{n}@{depth}") for n in names}
                at = self._location(clause.source, depth)
                self._solver.add(z3.Implies(selector, at))
            body = [self._translate(substitute(clause.constraint, rename))]
            if clause.target is not None:
                cut = self.system.cuts[clause.target]
                for name, arg in zip(cut.variables, clause.args, strict=True):
                    new = self._translate.constant(f"{clause.target}:{name}@{depth + 1}")
                    body.append(new == self._translate(substitute(arg, rename)))
                body.append(self._location(clause.target, depth + 1))
                going.append((index, selector))
            else:
                failing.append((index, selector))
            self._solver.add(z3.Implies(selector, z3.And(*body, self._context)))
        for a in range(len(self.system.cuts)):
            for b in range(a):
                self._solver.add(
                    z3.Or(
                        z3.Not(self._location(a, depth + 1)), z3.Not(self._location(b, depth + 1))
                    )
                )
        self._used.append([*failing, *going])
        path = self._failure(failing, seconds)
        if path is None and not self.exhausted:
            self._solver.add(z3.Or(*(s for _, s in going), self._context))
            self.depth += 1
        return path

    def _location(self, cut: int, depth: int) -> Any:
        return z3.Bool(f"at{cut}@{depth}", self._context)

    def _failure(self, failing: list[tuple[int, Any]], seconds: float) -> Path | None:
        if not failing:
            return None
        solver = self._solver
        solver.push()
        try:
            solver.add(z3.Or(*(s for _, s in failing), self._context))
            solver.set("timeout", max(1, int(1000 * min(seconds, self.clock.left))))
            answer = str(solver.check())
            self.clock.tick()
            if answer == "unknown":
                self.exhausted = True
            return self._path(solver.model()) if answer == "sat" else None
        except z3.Z3Exception:
            self.clock.tick()
            self.exhausted = True
            return None
        finally:
            solver.pop()

    def _path(self, model: Any) -> Path:
        steps = []
        for depth, used in enumerate(self._used):
            chosen = next(
                index for index, s in used if z3.is_true(model.eval(s, model_completion=True))
            )
            clause = self.system.clauses[chosen]
            names = {name: f"{name}@{depth}" for name in clause.inputs}
            if clause.source is not None:
                cut = self.system.cuts[clause.source]
                names |= {n: f"{clause.source}:{n}@{depth}" for n in cut.variables}
            values = {}
            for name, full in names.items():
                value = model.eval(self._translate.constant(full), model_completion=True)
                values[name] = value.as_long() if z3.is_int_value(value) else 0
            steps.append((chosen, values))
            if clause.target is None:
                break
        return Path(tuple(steps))
