"""Programs with arrays: runs and unrolled clauses for failures, lemmas about cells for proofs."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from itertools import permutations

import numpy as np
import z3
from numpy.typing import NDArray

from ...linear import LE, Atom, Dnf
from .._hints import parse_hints
from ..learner import (
    Data,
    Derived,
    Note,
    Points,
    Sampling,
    Small,
    Space,
    Teacher,
    harvest,
    linearised,
    monomials,
    new_formulas,
    with_products,
    with_small_limits,
    without_products,
)
from ..lemmas import (
    SOURCES,
    CellStage,
    Context,
    Regions,
    claims,
    claims_of_cells,
    guide,
    holds,
    in_order,
    products_of,
    prove,
)
from ..solve import Conditions, OutOfTime, Pause, Turns, all_term
from ..system import Coordinates, Cut, Interpreter, System, followed, with_cells
from ..system.terms import Term
from ..verdict import Outcome, Verdict
from ._bounded import Bounded, unrolled
from ._judge import Judge

_FACTORS = 8  # by which an index bounds a sum
_LARGEST = 1000
_LONG = 300  # a loop that most runs do not end
_FAR_RUNS, _FAR = 2, 120_000  # and their blocks
_TRIES = 8  # to see every loop of a program with small limits
_NEAR = 60  # by how much, beside that


class CellWise:
    """A verdict on a program with arrays."""

    def __init__(self, judge: Judge):
        self._judge = judge
        program = judge.program
        graph = program.runnable
        assert graph is not None
        self._graph = graph
        self._system = program.system
        self._plainer = with_cells(program.exact, tick=judge.budget.tick)
        self._proved: list[tuple[System, list[list[Dnf]]]] = []
        found = harvest(program.system, graph)
        bases = {bank.base for cut in program.system.cuts for bank in cut.arrays}
        self._guide = guide(graph, found, bases - {None})
        constants = [c for c in found.constants if abs(c) < 1 << 20]
        self._rng = random.Random(judge.request.seed)
        self._alike = program.graph is None
        self._small: Small | None = None
        self._limits = limits = self._guide.limits
        places = {*self._guide.places, *limits, *(limit - 1 for limit in limits)}
        self._sampling: Points
        if program.graph is not None or followed(program.exact):
            runner = program.interpreter or Interpreter(graph)
            self._sampling = Sampling(
                runner, program.system, self._rng, constants, places=places, alike=self._alike
            )
        else:
            self._sampling = Derived(program.exact, judge.budget, self._rng, places=places)
        self._bounded = Bounded(judge, unrolled(program.exact, judge.budget))
        self._hinted(program.system)  # bad hints are refused before anything is tried

    def run(self) -> Turns[Verdict | None]:
        judge = self._judge
        shares, limits = judge.request.tunables.shares, judge.request.tunables.examples
        found = self._sample(limits.run_work)
        if found is not None:
            return found
        if not self._system.cuts:
            found = self._bounded.look(1)
            return found if found is not None else judge.safe([], "no loops")
        found = self._bounded.look(shares.first_depth, shares.first_look)
        if found is not None:
            return found
        found = self._resolved()
        if found is not None:
            return found
        deeper = self._bounded.run(least=shares.first_look)
        real = self._sampling
        self._shrink()
        for number, stage in enumerate(self._stages()):
            found = yield from self._lemmas(stage)
            if found is None and number == 0:
                found = self._far(real)
            if found is None and self._small is None:
                found = self._sample(limits.run_work / 4)
            if found is not None:
                return found
            try:
                next(deeper)
            except StopIteration as end:
                if end.value is not None:
                    return end.value
        while True:
            try:
                next(deeper)
            except StopIteration as end:
                return end.value
            found = self._sample(limits.run_work)
            if found is not None:
                return found
            yield Pause.NOTHING

    def _resolved(self) -> Verdict | None:
        """SAFE, if predicates form no loop, and no way to a failure is possible."""
        judge, reading = self._judge, self._judge.program.resolved
        if reading is None or not judge.request.lemmas:
            return None
        part = judge.budget.part(judge.request.tunables.shares.resolved)
        try:
            found = Judge(reading, part, judge.request, judge.progress).safe([], "no loops")
        except (OutOfTime, z3.Z3Exception):
            judge.budget.tick()
            return None
        return found if found.outcome is Outcome.SAFE else None

    def _sample(self, units: float) -> Verdict | None:
        """UNSAFE, if a run fails, and on C's integers as well."""
        judge = self._judge
        path = self._sampling.grow(judge.budget, units, judge.request.tunables.examples)
        if path is not None and self._alike:
            # A derivation as short as a run that fails; the run itself need not be one.
            return self._bounded.look(path.arrivals, units)
        found = judge.unsafe(path) if path is not None else None
        return found if found is not None and found.outcome is Outcome.UNSAFE else None

    # ---- proofs

    def _far(self, sampling: Points) -> Verdict | None:
        """UNSAFE, if one of some runs through long loops fails."""
        judge, long = self._judge, max(self._limits, default=0) > _LONG
        if not long or not isinstance(sampling, Sampling) or self._alike:
            return None
        for _ in range(_FAR_RUNS):
            path = sampling.far(judge.budget, _FAR)
            found = judge.unsafe(path) if path is not None else None
            if found is not None and found.outcome is Outcome.UNSAFE:
                return found
            judge.budget.tick()
        return None

    def _shrink(self) -> None:
        """Look at a program with small limits instead, where no run comes to the end of a loop."""
        program = self._judge.program
        small = with_small_limits(self._graph, self._limits) if self._sampling.blind else None
        if small is None or not isinstance(self._sampling, Sampling) or self._alike:
            return
        places = {*self._guide.places, *small.limits, *(limit - 1 for limit in small.limits)}
        constants = [*self._guide.constants, *small.limits]
        sampling = Sampling(
            Interpreter(small.graph),
            program.system,
            self._rng,
            constants,
            places=places,
            numbers=small.small,
        )
        examples = self._judge.request.tunables.examples
        for _ in range(_TRIES):
            sampling.grow(self._judge.budget, examples.run_work, examples)
            if not sampling.blind:
                break
        self._small, self._sampling = small, sampling
        self._guide = replace(self._guide, limits=small.limits)

    def _stages(self) -> list[CellStage]:
        judge, tunables = self._judge, self._judge.request.tunables.lemmas
        if not judge.request.lemmas or not tunables.cells:
            return []
        order = in_order(monomials(self._plainer), self._guide.indices)
        return [stage for stage in order if stage.name not in tunables.without]

    def _lemmas(self, stage: CellStage) -> Turns[Verdict | None]:
        """SAFE, if what is provable of a stage's formulas suffices."""
        judge, tunables = self._judge, self._judge.request.tunables
        system = self._looked_at(stage)
        if stage.also and not any(cut.cells and cut.cells.more for cut in system.cuts):
            return None
        if stage.degree:
            system = with_products(system, partial(self._products, stage))
        conditions = Conditions(linearised(system), judge.budget)
        teacher = Teacher(conditions, Data(), self._rng, 10, tunables)
        teacher.add_lemmas(self._known(system))
        wanted = []
        hinted = self._hinted(system)
        for number, cut in enumerate(system.cuts):
            mine = [*hinted[number], *self._propose(system, number, stage, hinted[number])]
            wanted.append(new_formulas(mine, teacher.lemmas[number], cut.ranges))
        proved = yield from prove(conditions, wanted, lambda cut, point: [], tunables.lemmas)
        judge.notify(Note("lemmas", f"{sum(map(len, proved))} new of {stage.name}"))
        teacher.add_lemmas(proved)
        self._proved.append((system, proved))
        if not teacher.sufficient():
            return None
        needed = teacher.essential(teacher.lemmas)
        judge.progress.sources = (stage.name,)
        terms = _terms(system, needed)
        found = judge.safe(terms, "lemmas about cells")
        return found if found.outcome is Outcome.SAFE else None

    def _looked_at(self, stage: CellStage) -> System:
        """The system with the coordinates of a stage; those of the program have all of them."""
        program = self._judge.program
        if not stage.also:
            return self._plainer
        every, near = Coordinates(self._graph), stage.also == "near"
        return with_cells(
            program.exact,
            lambda cut, index: tuple(e for e in every.of(cut, index) if e.near == near),
            self._judge.budget.tick,
        )

    def _hinted(self, system: System) -> list[list[Dnf]]:
        """What people suggest of the variables of a system."""
        if "hints" in self._judge.request.tunables.lemmas.without:
            return [[] for _ in system.cuts]
        return parse_hints(self._judge.program, self._judge.request.hints, system)

    def _products(self, stage: CellStage, cut: Cut) -> list[tuple[str, ...]]:
        return products_of(cut, self._guide.indices, stage.degree, stage.mixed)

    def _known(self, system: System) -> list[list[Dnf]]:
        """What was proved before, as far as it speaks of this system's variables."""
        found: list[list[Dnf]] = [[] for _ in system.cuts]
        for before, proved in self._proved:
            for number, (old, new) in enumerate(zip(before.cuts, system.cuts, strict=True)):
                place = {name: i for i, name in enumerate(new.variables)}
                kept = [place.get(name, -1) for name in old.variables]
                for dnf in proved[number]:
                    used = {
                        i for cube in dnf for a in cube for i, c in enumerate(a.coefficients) if c
                    }
                    if all(kept[i] >= 0 for i in used):
                        found[number].append(_widened(dnf, kept, len(new.variables)))
        return found

    def _propose(
        self, system: System, number: int, stage: CellStage, hinted: list[Dnf]
    ) -> Iterable[Dnf]:
        cut = system.cuts[number]
        points = self._sampling.points(cut, number)
        if not len(points):
            yield ()  # that no state is possible
            return
        enlarged = self._small.enlarged if self._small is not None else _same
        yield from map(enlarged, self._plain(cut, points, stage))
        if stage.claims:
            yield from claims(system, number)
        if cut.cells is not None:
            self._judge.budget.tick()
            # What is suggested of a cell may hold in a part of the array only.
            claimed = [*hinted, *(claims_of_cells(system, cut) if stage.claims else ())]
            regions = Regions(cut, points, self._guide, wide=stage.wide)
            yield from map(enlarged, regions.candidates(either=stage.either, claims=claimed))

    def _plain(self, cut: Cut, points: NDArray[np.int64], stage: CellStage) -> Iterable[Dnf]:
        """What is proposed of the variables that are no cells."""
        about = cut.cells.local if cut.cells is not None else set()
        first = len(cut.plain)
        products = {first + n for n, parts in enumerate(cut.products) if not about & set(parts)}
        kept = [i for i, name in enumerate(cut.plain) if name not in about]
        kept += sorted(products)
        narrow = replace(
            cut,
            variables=tuple(cut.variables[i] for i in kept),
            shown=tuple(cut.shown[i] for i in kept),
            ranges=tuple(cut.ranges[i] for i in kept),
            products=tuple(cut.products[i - first] for i in sorted(products)),
            cells=None,
        )
        table = np.unique(points[:, kept], axis=0)
        if not len(table) or not kept:
            return
        space = Space(narrow, set(range(len(kept))), self._guide.found, self._rng)
        tunables = self._judge.request.tunables.lemmas
        context = Context(space, table, tunables=tunables, tick=self._judge.budget.tick)
        for name in (n for n in stage.sources if n not in tunables.without):
            for dnf in SOURCES[name](context):
                yield _widened(dnf, kept, len(cut.variables))
        for dnf in self._ordered(context):
            yield _widened(dnf, kept, len(cut.variables))
        if "likely-bounds" in stage.sources:
            for dnf in self._paced(context):
                yield _widened(dnf, kept, len(cut.variables))
        for place, name in enumerate(narrow.plain):
            if name in self._guide.indices:
                for dnf in self._begun(context, place, stage):
                    yield _widened(dnf, kept, len(cut.variables))

    def _ordered(self, context: Context) -> Iterable[Dnf]:
        """Which index is never above, or always below, which other."""
        names = context.space.cut.plain
        places = [i for i, name in enumerate(names) if name in self._guide.indices]
        for i, j in permutations(places, 2):
            highest = int((context.points[:, i] - context.points[:, j]).max())
            if highest <= 0:
                vector = [0] * context.space.size
                vector[i], vector[j] = 1, -1
                yield from (((Atom(tuple(vector), LE, end),),) for end in {0, max(highest, -1)})

    def _begun(self, context: Context, place: int, stage: CellStage) -> Iterable[Dnf]:
        """What holds once an index is above zero, as of a sum that begins in the loop."""
        above = context.points[:, place] > 0
        if above.all() or not above.any():
            return
        inside, zero = context.within(above), Atom(context.space.unit(place), LE, 0)
        found = [dnf for name in ("equations", "comparisons") for dnf in SOURCES[name](inside)]
        if "likely-bounds" in stage.sources:
            found += [*SOURCES["likely-bounds"](inside), *self._paced(inside)]
        for dnf in found:
            if not all(holds(atom, context.points) for cube in dnf for atom in cube):
                yield ((zero,), *dnf)

    def _paced(self, context: Context) -> Iterable[Dnf]:
        """How far a variable is from so many times an index: sums of cells are bounded so."""
        names, points = context.space.cut.plain, context.points
        some = {abs(c) for c in self._guide.found.constants if 0 < abs(c) <= _LARGEST} | {1}
        factors = sorted(some)[:_FACTORS]
        for i in range(len(names)):
            for j, other in enumerate(names):
                if other not in self._guide.indices or i == j:
                    continue
                for factor in (*factors, *(-c for c in factors)):
                    for sign in (1, -1):
                        vector = [0] * context.space.size
                        vector[i], vector[j] = sign, -sign * factor
                        highest = int((points @ np.array(vector, dtype=np.int64)).max())
                        if abs(highest) <= _NEAR:
                            yield ((Atom(tuple(vector), LE, highest),),)


def _same(dnf: Dnf) -> Dnf:
    return dnf


def _widened(dnf: Dnf, kept: list[int], size: int) -> Dnf:
    """The formula over more variables."""

    def atom(found: Atom) -> Atom:
        vector = [0] * size
        for place, coefficient in zip(kept, found.coefficients, strict=True):
            if coefficient:
                vector[place] = coefficient
        return found._replace(coefficients=tuple(vector))

    return tuple(tuple(atom(part) for part in cube) for cube in dnf)


def _terms(system: System, formulas: list[list[Dnf]]) -> list[Term]:
    return [
        without_products(all_term(found, cut.variables), cut)
        for found, cut in zip(formulas, system.cuts, strict=True)
    ]
