"""Inputs that take a run into the first loop, where assumptions would end most random ones."""

from __future__ import annotations

import random
from collections.abc import Sequence

from ..solve import Model
from ..system import System
from ..system.terms import Term, negate, postorder

Range = tuple[int | None, int | None]
_FAR = (1 << 31) - 1  # the limits of a type are no demands


def _sites(system: System) -> dict[str, int]:
    """The sites of all inputs, by name."""
    return {
        item.name: item.site
        for clause in system.clauses
        for item in clause.inputs
        if item.site is not None
    }


def _ranges(system: System) -> dict[int, Range]:
    """What the way to the first loop demands of single inputs: ranges by the input's site."""
    found: dict[int, Range] = {}
    sites = _sites(system)
    for clause in system.clauses:
        if clause.source is None and clause.target is not None:
            for name, relation, bound in _bounds(clause.constraint):
                if name in sites and abs(bound) < _FAR:
                    before = found.get(sites[name], (None, None))
                    found[sites[name]] = _narrowed(before, relation, bound)
    return found


def _narrowed(ends: Range, relation: str, bound: int) -> Range:
    """A range of which one more thing is demanded."""
    low, high = ends
    if relation != "<=":
        low = bound if low is None else max(low, bound)
    if relation != ">=":
        high = bound if high is None else min(high, bound)
    return low, high


def demanded(system: System) -> dict[int, Range]:
    """What every way that goes on demands of single inputs, as a loop does that reads and checks
    them: ranges by the input's site."""
    found: dict[int, Range] = {}
    for clause in system.clauses:
        sites = {item.name: item.site for item in clause.inputs if item.site is not None}
        if clause.target is None or not sites:
            continue
        asked: dict[str, Range] = dict.fromkeys(sites, (None, None))
        for name, relation, bound in _bounds(clause.constraint):
            if name in asked and abs(bound) < _FAR:
                asked[name] = _narrowed(asked[name], relation, bound)
        for name, (low, high) in asked.items():
            lowest, highest = found.get(sites[name], (low, high))
            low = None if low is None or lowest is None else min(low, lowest)
            high = None if high is None or highest is None else max(high, highest)
            found[sites[name]] = low, high
    return {site: ends for site, ends in found.items() if ends != (None, None)}


def _bounds(term: Term) -> list[tuple[str, str, int]]:
    """Comparisons of single variables with constants that a conjunction demands."""
    if term.op == "and":
        return [bound for arg in term.args for bound in _bounds(arg)]
    if term.op == "not" and term.args[0].op == "or":
        return [bound for arg in term.args[0].args for bound in _bounds(negate(arg))]
    if term.op not in ("<=", "<", "="):
        return []
    left, right = term.args
    strict = int(term.op == "<")
    if left.op == "var" and right.constant and not right.boolean:
        return [(left.leaf, "=" if term.op == "=" else "<=", right.leaf - strict)]
    if right.op == "var" and left.constant and not left.boolean:
        return [(right.leaf, "=" if term.op == "=" else ">=", left.leaf + strict)]
    return []


def _compared(system: System) -> dict[int, list[int]]:
    """What the program compares its inputs with: constants by the input's site."""
    found: dict[int, set[int]] = {}
    sites = _sites(system)
    roots = [clause.constraint for clause in system.clauses]
    roots += [arg for clause in system.clauses for arg in clause.args]
    for node in postorder(*roots):
        for name, _, bound in _bounds(node) if node.op in ("<=", "<", "=") else ():
            if name in sites and abs(bound) < _FAR:
                found.setdefault(sites[name], set()).add(bound)
    return {site: sorted(bounds) for site, bounds in found.items()}


class Starts:
    """First values of input sites: from models of the start, or within the ranges it demands.

    `compared` are the constants that the program compares each input with.
    """

    def __init__(self, system: System, models: Sequence[Model] = ()):
        self._ranges = _ranges(system)
        self.compared = _compared(system)
        self._models = [system.clauses[model.clause].sites(model.values) for model in models]

    def draw(self, rng: random.Random, *, anywhere: float = 0.1) -> dict[int, int]:
        """Values by site: small numbers most often, with the given probability any in range."""
        if self._models and rng.random() < 0.3:
            return rng.choice(self._models)
        found = {}
        near = rng.choice((0, 1, 3, 10, 40))
        for site, (low, high) in self._ranges.items():
            lowest = -_FAR if low is None else low
            highest = max(lowest, _FAR if high is None else high)
            if low is not None and high is not None and rng.random() < anywhere:
                found[site] = rng.randint(lowest, highest)
            else:
                value = min(max(0, lowest), highest) + rng.randint(-near, near)
                found[site] = min(max(value, lowest), highest)
        return found
