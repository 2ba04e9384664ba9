"""Programs with floating point: runs and unrolled clauses for failures, bounds for proofs."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from ..learner import Note, Runs, Space, harvest
from ..lemmas import (
    SOURCES,
    Context,
    TermHoudini,
    float_bounds,
    float_constants,
    float_table,
    tightest,
)
from ..solve import Path, Pause, Turns, Unrolling, dnf_term
from ..system import Cut, Havoc
from ..system.terms import INFINITE, LOWEST, NAN, Term, conj, key_of, number_of
from ..verdict import Outcome, Verdict
from ._bounded import Bounded
from ._judge import Judge

_RUN = 60  # units of work for a run, however short
_BLOCK = 8  # and for a block of the graph
_BLOCKS = (100, 1000, 5000)
_STATES = 400  # of a cut point
_LARGEST = 1 << 40  # integers beyond that are no examples
_BESIDE = ("equations", "comparisons", "intervals", "congruences", "likely-bounds")
_CANDIDATES = 120  # about integers
_EDGE = 0.1  # of integers given, so many are where conversions begin to round, or types end
_EDGES = (24, 25, 31, 53, 54, 62, 63, 64)


class Floating:
    """A verdict on a program that computes in floating point."""

    def __init__(self, judge: Judge):
        self._judge = judge
        program = judge.program
        assert program.graph is not None and program.interpreter is not None
        self._system = program.system
        self._interpreter = program.interpreter
        self._rng = random.Random(judge.request.seed)
        self._found = harvest(program.system, program.graph)
        whole = [c for c in self._found.constants if abs(c) < 1 << 20]
        self._runs = Runs(program.interpreter, program.system, self._rng, whole)
        self._constants = {bits: float_constants(program.system, bits) for bits in (32, 64)}
        self._states: list[dict[tuple[int, ...], dict[str, int]]] = [{} for _ in self._system.cuts]
        inputs = (item for clause in self._system.clauses for item in clause.inputs)
        self._inputs = any(item.variable is not None for item in inputs)
        self._bounded = Bounded(judge, Unrolling(program.system, judge.budget))

    def run(self) -> Turns[Verdict | None]:
        judge = self._judge
        shares, limits = judge.request.tunables.shares, judge.request.tunables.examples
        found = self._sample(limits.run_work if self._system.cuts else 3 * limits.run_work)
        if found is not None:
            return found
        if not self._system.cuts:
            found = judge.safe([], "no loops")
            if found.outcome is not Outcome.SAFE:
                found = self._bounded.look(1) or found
            return found
        if judge.request.lemmas:
            for stage in ("few", "many") if self._inputs else ("table", "few", "many"):
                found = yield from self._lemmas(stage)
                if found is not None:
                    return found
        found = self._bounded.look(shares.first_depth, shares.first_look)
        if found is not None:
            return found
        tries = 3 if judge.request.lemmas and self._inputs else 0
        patience = shares.first_look
        while True:
            patience *= 2
            try:
                next(self._bounded.run(least=patience))
            except StopIteration as end:
                return end.value
            seen = sum(map(len, self._states))
            found = self._sample(patience / 2) if self._inputs else None
            if found is None and tries and sum(map(len, self._states)) > seen:
                tries -= 1
                found = yield from self._lemmas("many")
            if found is not None:
                return found
            yield Pause.NOTHING

    # ---- runs

    def _choose(self) -> Callable[[Havoc], int]:
        """Inputs for a run: of floating point, near the program's constants most often."""
        rng, graph = self._rng, self._interpreter.graph
        whole = self._runs.inputs_from_start(0.05)

        def choose(havoc: Havoc) -> int:
            bits = graph.bits(havoc.name)
            if bits is None:
                if rng.random() > _EDGE:
                    return whole(havoc)
                edge = rng.choice((-1, 1)) << rng.choice(_EDGES)
                return havoc.within(edge + rng.randint(-2, 2))
            own, draw = self._constants[bits], rng.random()
            if draw < 0.35:
                a, b = (number_of(rng.choice(own), bits) for _ in range(2))
                return key_of(a + (b - a) * rng.random(), bits)
            if draw < 0.65:
                return havoc.within(rng.choice(own) + rng.choice((0, 0, -1, 1)))
            if draw < 0.85:
                return key_of(rng.choice((rng.randint(-10, 10), rng.uniform(-100, 100))), bits)
            if draw < 0.95:
                far = (0, -1, 1, INFINITE[bits], LOWEST[bits], INFINITE[bits] - 1, NAN[bits])
                return rng.choice(far)
            return rng.randint(LOWEST[bits], INFINITE[bits])

        return choose

    def _sample(self, units: float) -> Verdict | None:
        """UNSAFE, if a run fails, and on C's integers as well."""
        judge, budget = self._judge, self._judge.budget
        until = budget.work + units
        number = {cut.block: i for i, cut in enumerate(self._system.cuts)}
        names = self._interpreter.names
        limits = _BLOCKS if self._inputs else (100_000,)
        while budget.work < until:
            budget.tick()
            run = self._interpreter.run(
                self._choose(),
                watch=list(number),
                limit=self._rng.choice(limits),
                visit_limit=limits[-1],
            )
            budget.spend(_RUN + _BLOCK * run.blocks)
            if run.outcome == "failed":
                found = judge.unsafe(Path.of_run([value for _, value in run.inputs]))
                if found.outcome is Outcome.UNSAFE:
                    return found
            for block, state in run.visits:
                cut = number[block]
                if len(self._states[cut]) < _STATES:
                    known = dict(zip(names, state, strict=True))
                    row = tuple(known[name] for name in self._system.cuts[cut].variables)
                    self._states[cut].setdefault(row, known)
            if not run.inputs:
                break  # every run is the same
        return None

    # ---- proofs

    def _lemmas(self, stage: str) -> Turns[Verdict | None]:
        """SAFE, if bounds, few or many, or a table of all states, can be proved and suffice."""
        judge = self._judge
        wanted = []
        for number, cut in enumerate(self._system.cuts):
            states = list(self._states[number].values())
            mine = list(float_table(cut, states)) if stage == "table" else []
            if stage != "table":
                mine += float_bounds(cut, states, self._constants, few=stage == "few")
                mine += self._whole(cut, states)
            wanted.append(list({repr(term): term for term in mine}.values()))
        houdini = TermHoudini(self._system, wanted, judge.budget)
        yield from houdini.prove()
        judge.notify(Note("lemmas", f"{sum(map(len, houdini.on))} new about floating point"))
        found = houdini.proof()
        if found is None:
            return None
        verdict = judge.safe([conj(tightest(terms)) for terms in found], "bounds of floating point")
        return verdict if verdict.outcome is Outcome.SAFE else None

    def _whole(self, cut: Cut, states: list[dict[str, int]]) -> Iterable[Term]:
        """What the sources for integers propose of the variables that are integers."""
        kept = [i for i, name in enumerate(cut.variables) if name not in cut.formats]
        narrow = replace(
            cut,
            variables=tuple(cut.variables[i] for i in kept),
            shown=tuple(cut.shown[i] for i in kept),
            ranges=tuple(cut.ranges[i] for i in kept),
        )
        rows = {tuple(state[name] for name in narrow.variables) for state in states}
        rows = {row for row in rows if max(map(abs, row), default=0) < _LARGEST}
        if not kept or not rows:
            return
        points = np.array(sorted(rows), dtype=np.int64).reshape(len(rows), len(kept))
        space = Space(narrow, set(range(len(kept))), self._found, self._rng)
        tunables = self._judge.request.tunables.lemmas
        context = Context(space, points, tunables=tunables, tick=self._judge.budget.tick)
        found = {
            dnf: None
            for name in _BESIDE
            if name not in tunables.without
            for dnf in SOURCES[name](context)
        }
        for dnf in list(found)[:_CANDIDATES]:
            yield dnf_term(dnf, narrow.variables)
