"""The loop: examples, candidate, counterexamples, until a candidate is inductive."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice, zip_longest
from typing import TYPE_CHECKING

from ..flow import Graph, Interpreter, System
from ..proof import SECOND, Atom, Clock, Conditions, Cube, Dnf
from ._cloud import Cloud
from ._compiling import load
from ._data import Data
from ._deep import DeepRuns
from ._first import FirstExamples
from ._harvest import dnf_of, harvest
from ._houdini import prove
from ._lemmas import candidates, faces, good_points, guarded, new_formulas, phases, signs
from ._modes import modes, sizes
from ._news import Asked, Listener, Note, Progress
from ._seed import chooser, visited
from ._space import Space
from ._starts import Starts
from ._teacher import Teacher

if TYPE_CHECKING:
    from ...formulas import Method

TEMPLATES = (
    (1, 1), (1, 2), (2, 1), (1, 3), (2, 2), (1, 5), (2, 3), (3, 2), (1, 8), (3, 3), (2, 5), (4, 3),
    (4, 5), (6, 4),
)  # fmt: skip
_SLICE = 0.02 * SECOND
_SHARING = 1.0 * SECOND  # of work, before others get a turn in the midst of lemmas
_PARITY = 2.5 * SECOND  # of work, before parity is tried though the program does not speak of it
Found = list[list[Dnf]] | None


@dataclass
class Learner:
    """Everything that one attempt at a proof needs."""

    system: System
    clock: Clock
    method: Callable[[], Method]
    """Made when first needed: many programs are decided without loading the search."""
    rng: random.Random
    graph: Graph | None = None
    interpreter: Interpreter | None = None
    lemmas: bool = True
    hints: list[list[Dnf]] = field(default_factory=list)
    progress: Progress = field(default_factory=Progress)
    notify: Listener = lambda news: None
    aside: Callable[[], None] = lambda: None
    """Called now and then, for work that shares the time."""

    def __post_init__(self) -> None:
        products = any(cut.products for cut in self.system.cuts)
        # Products are hard for the solver: better to give up soon and ask for something else.
        self.conditions = Conditions(
            self.system, self.clock, patience=(0.6 if products else 3.0) * SECOND
        )
        found = harvest(self.system, self.graph)
        self.spaces = [
            Space(cut, relevant, found, self.rng)
            for cut, relevant in zip(self.system.cuts, found.relevant, strict=True)
        ]
        for space, hints in zip(self.spaces, self.hints, strict=False):
            # The chains of every method see the atoms of the hints in their pool.
            space.suggested += [(atom, 6.0) for dnf in hints for cube in dnf for atom in cube]
        self.scale = max([space.scale for space in self.spaces], default=10)
        self.data = Data()
        self.teacher = Teacher(self.conditions, self.data, self.rng, scale=self.scale)
        self._constants = [c for c in found.constants if abs(c) < 1 << 20]
        self._guards = self._find_guards()
        self._deep: DeepRuns | None = None
        self.cloud: Cloud | None = None
        self._plain: list[list[Dnf]] = []
        self._starts = Starts(self.system)

    # ---- the parts

    def run(self) -> list[list[Dnf]] | None:
        """Invariants, a list of formulas for each cut point. Raises when time is up, and Conflict
        or FailedRun when the program turns out to be unsafe."""
        examples = self._examples()
        self._starts = examples.gather()
        self.teacher.gave_up = examples.gave_up
        first = self._from_failures()
        if first is not None and self._accepts(first):
            self.progress.by = "the assertion itself"
            return [[dnf] for dnf in self.teacher.simplified(first)]
        if not self.lemmas:
            return self._search(first)
        for stage in self._stages(first):
            found = stage()
            if found is not None:
                return found
            self._share()
        return self._search(first)

    def quick(self) -> Found:
        """Invariants, if the cheapest lemmas suffice."""
        self._starts = self._examples(runs=15).gather()
        for stage in islice(self._stages(None), 2 if len(self.spaces) == 1 else 1):
            if (found := stage()) is not None:
                return found
        return None

    def _examples(self, runs: int = 40) -> FirstExamples:
        return FirstExamples(
            self.conditions,
            self.data,
            self.rng,
            scale=self.scale,
            constants=self._constants,
            interpreter=self.interpreter,
            runs=runs,
        )

    def _stages(self, first: list[Dnf] | None) -> Iterator[Callable[[], Found]]:
        """What is tried before the open-ended search, the cheapest and most likely first."""

        def lemmas(what: str, wanted: Callable[[], list[list[Dnf]]]) -> Callable[[], Found]:
            return lambda: self._prove(wanted(), what)

        alone = len(self.spaces) == 1
        if alone:
            yield lemmas("likely bounds", lambda: self._conjunctions(0.5))
        self._look_around(0.06 * SECOND)
        yield lemmas("facets", self._faces)
        self._aside()
        self._look_around(0.25 * SECOND)
        if self.cloud is not None and self.graph is not None:
            self.cloud.reach_far(self.graph, self.clock, 0.1 * SECOND)
        yield lemmas("more facets", self._faces)
        yield lemmas("modes", self._modes)
        if alone:
            yield lambda: self._search(first, units=0.5 * SECOND)
        yield lemmas("implications", self._implications)
        yield lemmas("sizes of steps", self._sizes)
        self._aside()
        yield lemmas("bounds", lambda: self._conjunctions(0.0))
        self._aside()
        yield lemmas("wider bounds", self._wide)
        yield lemmas("wider implications", self._wide_implications)

    def _accepts(self, candidate: list[Dnf]) -> bool:
        """Ask the teacher, and tell what it said."""
        accepted = self.teacher.accepts(candidate)
        data, progress = self.data, self.progress
        self.notify(
            Asked(
                round=progress.rounds,
                candidate=tuple(zip(self.system.cuts, candidate, strict=True)),
                accepted=accepted,
                reachable=len(data.good),
                failing=len(data.bad),
                between=len(data.free_pairs()),
                steps=progress.steps,
                restarts=progress.restarts,
                seconds=self.clock.seconds,
            )
        )
        return accepted

    def _load(self) -> Method:
        """The search's method; compiling its engine the first time is not the program's fault."""
        with self.clock.excused(1.0):
            return load(self.method, self.clock.tick)

    def _share(self) -> None:
        """Others may work in the midst of the lemmas, too, where these take long."""
        if self.clock.work > _SHARING:
            self.aside()

    def _aside(self) -> None:
        """What shares the time with the search: whatever the caller wants, and longer runs."""
        self.aside()
        if self.graph is not None:
            if self._deep is None:
                self._load()
                self._deep = DeepRuns(
                    self.graph, self.clock, self.rng, self._constants, self._starts
                )
            self._deep.advance()

    def _from_failures(self) -> list[Dnf] | None:
        """The weakest candidate: at each cut point, what excludes an immediate failure."""
        found: list[Dnf] = []
        for number, cut in enumerate(self.system.cuts):
            dnf: Dnf | None = ((),)
            for clause in self.system.clauses:
                if clause.target is None and clause.source == number:
                    dnf = dnf_of(clause.constraint, cut.variables, positive=False)
            if dnf is None or not 0 < len(dnf) <= 6 or any(len(cube) > 14 for cube in dnf):
                return None
            found.append(dnf)
        return found

    def _find_guards(self) -> list[list[Cube]]:
        """Conditions of the program that split a cut point's states: those between variables and
        those on single ones in turn, each simplest first."""
        found = []
        for space in self.spaces:
            atoms = dict.fromkeys(atom for atom, _ in space.suggested)
            simple = sorted(atoms, key=lambda a: (sum(map(abs, a.vector)), abs(a.constant)))
            single = [a for a in simple if sum(map(bool, a.vector)) == 1]
            between = [a for a in simple if sum(map(bool, a.vector)) > 1]
            mixed = chain.from_iterable(zip_longest(between[:20], single[:24]))
            found.append([(atom,) for atom in mixed if atom is not None])
        return found

    def _conjunctions(self, least_weight: float) -> list[list[Dnf]]:
        hints = self.hints or [[] for _ in self.spaces]
        return [
            [*hints[cut], *candidates(space, self._good(cut), least_weight=least_weight)]
            for cut, space in enumerate(self.spaces)
        ]

    def _look_around(self, units: float) -> None:
        """More reachable states, for candidates to be held against."""
        if self.interpreter is not None:
            self.cloud = self.cloud or Cloud(
                self.interpreter, self.system, self.rng, self._constants, self._starts
            )
            self.cloud.grow(self.clock, units)

    def _faces(self) -> list[list[Dnf]]:
        hints = self.hints or [[] for _ in self.spaces]
        self._plain = [
            [*hints[cut], *faces(space, self._good(cut), self.clock.tick)]
            for cut, space in enumerate(self.spaces)
        ]
        return self._plain

    # What is true in one case only, and what is always true elsewhere, may need each other.

    def _modes(self) -> list[list[Dnf]]:
        return [
            [*self._plain[cut], *modes(space, self._good(cut), self.clock.tick)]
            for cut, space in enumerate(self.spaces)
        ]

    def _sizes(self) -> list[list[Dnf]]:
        found = [
            sizes(space, self._good(cut), self.teacher.lemmas[cut], space.cut.ranges)
            for cut, space in enumerate(self.spaces)
        ]
        return [[*plain, *new] for plain, new in zip(self._plain, found, strict=True)]

    def _implications(self) -> list[list[Dnf]]:
        return [
            [
                *self._plain[cut],
                *guarded(
                    space,
                    [*phases(space), *self._guards[cut]],
                    self._good(cut),
                    self.teacher.lemmas[cut],
                    self.clock.tick,
                ),
            ]
            for cut, space in enumerate(self.spaces)
        ]

    def _wide(self) -> list[list[Dnf]]:
        return [
            candidates(space, self._good(cut), vectors=space.wide_vectors(self.teacher.lemmas[cut]))
            for cut, space in enumerate(self.spaces)
        ]

    def _wide_implications(self) -> list[list[Dnf]]:
        """Under guards of the program's, and under signs of variables."""
        found = []
        for cut, space in enumerate(self.spaces):
            known = self.teacher.lemmas[cut]
            guards = [*signs(space), *self._guards[cut]]
            vectors = space.wide_vectors(known)[:160]
            found.append(guarded(space, guards, self._good(cut), known, self.clock.tick, vectors))
        return found

    def _good(self, cut: int) -> list[tuple[int, ...]]:
        seen = good_points(self.data, cut)
        return [*seen, *self.cloud.points[cut]] if self.cloud else seen

    def _prove(self, wanted: list[list[Dnf]], what: str) -> list[list[Dnf]] | None:
        """Add the provable ones of these formulas to the lemmas; returned when they suffice."""
        wanted = [
            new_formulas(formulas, known, cut.ranges)
            for formulas, known, cut in zip(
                wanted, self.teacher.lemmas, self.system.cuts, strict=True
            )
        ]
        if not any(wanted):
            return None
        proved = prove(self.conditions, wanted, self._follow)
        self.teacher.add_lemmas(proved)
        self.notify(Note("lemmas", f"{sum(map(len, proved))} new {what}"))
        if any(proved) and self.teacher.sufficient():
            self.progress.by = "lemmas"
            return self.teacher.essential(self.teacher.lemmas)
        return None

    def _follow(self, cut: int, point: tuple[int, ...]) -> list[tuple[int, tuple[int, ...]]]:
        """States at cut points that the program comes to from one, on some inputs."""
        self._share()
        names = self.system.cuts[cut].variables
        if self.interpreter is None or self.system.cuts[cut].products:
            return []
        run = self.interpreter.run(
            chooser(self.rng, self._constants, compared=self._starts.compared),
            watch=[c.block for c in self.system.cuts],
            limit=400,
            initial=dict(zip(names, point, strict=True)),
            block=self.system.cuts[cut].block,
            visit_limit=24,
        )
        return visited(self.interpreter, self.system, run)[1:]

    def _search(
        self, first: list[Dnf] | None, *, units: float = math.inf
    ) -> list[list[Dnf]] | None:
        """The randomised search over growing templates; None when so much work is done."""
        method = self._load()
        from ._search import Round

        rng, clock, data = self.rng, self.clock, self.data
        until = clock.work + units
        templates = list(TEMPLATES)
        if first is not None:
            widest = max(len(cube) for dnf in first for cube in dnf)
            templates.insert(7, (max(len(dnf) for dnf in first), widest + 2))
        level, slice_, failures, same, previous = 0, _SLICE, 0, 0, 0
        last: list[Dnf] | None = None
        metropolis = any(stage.move == "metropolis" for stage in method.stages)
        while clock.work < until:
            clock.tick()
            self._aside()
            self.progress.rounds += 1
            keep: list[list[Atom]] = [[] for _ in self.spaces]
            for formulas in (last, first):
                for cut, dnf in enumerate(formulas or ()):
                    keep[cut] += [atom for cube in dnf for atom in cube]

            def prepare(keep: list[list[Atom]] = keep) -> Round:
                return Round(
                    self.spaces,
                    data,
                    rng,
                    keep=keep,
                    from_data=rng.random() < 0.5,
                    parity=clock.work > _PARITY,
                    neighbours=metropolis,
                )

            round_ = prepare()
            if level > 0 and rng.random() < 0.15:
                level -= 1
            candidate = None
            while candidate is None:
                clock.tick()
                if clock.work > until:
                    return None
                n, m = templates[level]
                shape = (n * len(self.spaces), m)
                start = None
                if first and ((level == 7 and failures < 8) or rng.random() < 0.1):
                    start = round_.start_from(first, shape)
                elif last and rng.random() < 0.7:
                    start = round_.start_from(last, shape)
                before = clock.seconds
                candidate, chain = round_.learn(
                    method, (n, m), slice_ * (1 + 0.3 * level), clock, start
                )
                self.progress.steps += chain.steps
                self.progress.restarts += chain.tours
                self.progress.search_seconds += clock.seconds - before
                if candidate is None:
                    level += 1
                    failures += 1
                    if level == len(templates):
                        level, slice_ = 0, 2 * slice_
                    if failures % 2 == 0:
                        round_ = prepare()
            last = candidate.formulas
            same = same + 1 if level == previous else 0
            previous = level
            if same > 30 and level < len(templates) - 1:
                level, same = level + 1, 0
            if self._accepts(last):
                self.progress.by = method.name
                found = [
                    [*lemmas, dnf] for lemmas, dnf in zip(self.teacher.lemmas, last, strict=True)
                ]
                return self.teacher.essential(found) if self.lemmas else found
        return None
