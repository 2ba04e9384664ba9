"""The randomised search: examples, candidate, counterexamples, until a candidate is inductive."""

from __future__ import annotations

import math

from ...linear import Atom, Dnf
from ..learner import Knowledge, engine
from ..solve import Pause, Turns
from ..verdict import Verdict
from ._judge import Judge
from ._questions import accepts


class Search:
    """Chains over growing templates, for so much work at most."""

    def __init__(self, knowledge: Knowledge, judge: Judge, units: float = math.inf):
        self._knowledge = knowledge
        self._judge = judge
        self._units = units

    def run(self) -> Turns[Verdict | None]:
        knowledge, judge = self._knowledge, self._judge
        method = engine(judge.request.method, knowledge.budget)
        from ..learner.search import Round

        rng, budget, data = knowledge.rng, knowledge.budget, knowledge.data
        tunables, progress = knowledge.tunables.search, judge.progress
        until = budget.work + self._units
        templates = list(tunables.templates)
        first = knowledge.assertion()
        if first is not None:
            widest = max(len(cube) for dnf in first for cube in dnf)
            templates.insert(7, (max(len(dnf) for dnf in first), widest + 2))
        level, slice_, failures, same, previous = 0, tunables.slice, 0, 0, 0
        last: list[Dnf] | None = None
        metropolis = any(stage.move == "metropolis" for stage in method.stages)
        while budget.work < until:
            budget.tick()
            yield Pause.NOTHING
            progress.rounds += 1
            keep: list[list[Atom]] = [[] for _ in knowledge.spaces]
            for formulas in (last, first):
                for cut, dnf in enumerate(formulas or ()):
                    keep[cut] += [atom for cube in dnf for atom in cube]

            def prepare(keep: list[list[Atom]] = keep) -> Round:
                return Round(
                    knowledge.spaces,
                    data,
                    rng,
                    keep=keep,
                    from_data=rng.random() < tunables.from_data,
                    parity=budget.work > tunables.parity,
                    neighbours=metropolis,
                )

            round_ = prepare()
            if level > 0 and rng.random() < tunables.step_back:
                level -= 1
            candidate = None
            while candidate is None:
                budget.tick()
                if budget.work > until:
                    return None
                n, m = templates[level]
                shape = (n * len(knowledge.spaces), m)
                start = None
                early = level == 7 and failures < 8
                if first and (early or rng.random() < tunables.from_assertion):
                    start = round_.start_from(first, shape)
                elif last and rng.random() < tunables.warm:
                    start = round_.start_from(last, shape)
                before = budget.seconds
                candidate, chain = round_.learn(
                    method, (n, m), slice_ * (1 + tunables.growth * level), budget, start
                )
                progress.steps += chain.steps
                progress.restarts += chain.tours
                progress.search_seconds += budget.seconds - before
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
            if same > tunables.creep and level < len(templates) - 1:
                level, same = level + 1, 0
            if accepts(knowledge, judge, last):
                lemmas = knowledge.teacher.lemmas
                found = [[*proved, dnf] for proved, dnf in zip(lemmas, last, strict=True)]
                if judge.request.lemmas:
                    found = judge.essential(knowledge, found)
                return judge.safe(knowledge.terms(found), method.name)
            if knowledge.failure is not None:
                return judge.unsafe(knowledge.failure)
        return None
