"""Polynomial equations that all runs satisfy, with what linear lemmas and the assertion add."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import comb

import numpy as np
import z3

from ...linear import Dnf
from ..learner import Knowledge, Note, Subject
from ..lemmas import SOURCES, Context, prove
from ..polynomials import (
    Branch,
    Prover,
    abstract_system,
    branches_of,
    comparisons,
    equation,
    generators,
    inductive,
    integral,
    monomials,
    reduced,
    value_at,
    vanishing,
)
from ..solve import SECOND, Conditions, OutOfTime, Turns, dnf_term, finish
from ..system.terms import Term, compare, conj, evaluate, negate, variables
from ..verdict import Outcome, Verdict
from ._judge import Judge

POLYNOMIALS = "polynomials"
"""Its name, by which it can be switched off."""

_LINEAR = ("hints", "equations", "comparisons", "intervals", "likely-bounds", "congruences")
_LOOK = 0.3 * SECOND
_HIGHEST = 6  # degree
_MOST_MONOMIALS = 220
_MOST_POINTS = 420
_MOST_GUESSES = 24
_MOST_EQUATIONS = 40
_MOST_LINEAR = 100


class Polynomials:
    """Equations by algebra, degree by degree, until they suffice; a part of the work only."""

    def __init__(self, judge: Judge, subject: Subject, units: float):
        self._judge = judge
        self._subject = subject
        self._system = subject.system
        self._budget = judge.budget.part(units, reals=False)
        self._points: list[list[tuple[int, ...]]] = []

    def run(self) -> Turns[Verdict | None]:
        judge = self._judge
        judge.notify(Note("polynomials", "looking for polynomial equations"))
        try:
            yield from ()
            return finish(self._attempts())  # others would ask what is hard
        except (OutOfTime, z3.Z3Exception):
            judge.budget.tick()
        return None

    def _attempts(self) -> Turns[Verdict | None]:
        judge, system = self._judge, self._system
        tunables = judge.request.tunables
        knowledge = Knowledge(self._subject, self._budget, judge.request.seed, tunables)
        knowledge.look_around(_LOOK, 0)
        if knowledge.cloud is None:
            knowledge.gather(quick=True)
        if knowledge.failure is not None:
            return judge.unsafe(knowledge.failure)
        self._points = [self._sample(knowledge.reachable(c)) for c in range(len(system.cuts))]
        bounds = yield from self._linear(knowledge)
        prover = Prover(system, self._budget)
        ways = [
            branches_of(clause, system.assumed(clause, [conj(b) for b in bounds]), prover.holds)
            for clause in system.clauses
        ]
        guesses = [self._guesses(cut) for cut in range(len(system.cuts))]
        tried: dict[str, list[list[Term]]] = {}
        for degree in range(1, _HIGHEST + 1):
            spaces = [self._space(cut, degree) for cut in range(len(system.cuts))]
            self._budget.spend(sum(len(p) for space in spaces for p in space) * 20)
            found = inductive(system, ways, spaces, self._budget.tick)
            judge.notify(Note("polynomials", f"{sum(map(len, found))} up to degree {degree}"))
            # The fewest equations first; with all of them the solver need not multiply any.
            for chosen in (generators, reduced):
                made = [self._equations(c, chosen(space)) for c, space in enumerate(found)]
                if repr(made) in tried or max(map(len, made), default=0) > _MOST_EQUATIONS:
                    continue
                tried[repr(made)] = made
                verdict = self._verdict(_Proof(prover, ways, made, bounds, guesses))
                if verdict is not None:
                    return verdict
        for made in tried.values():
            verdict = self._verdict(_Proof(prover, ways, made, bounds, guesses, reals=True))
            if verdict is not None:
                return verdict
        return None

    def _verdict(self, proof: _Proof) -> Verdict | None:
        facts = proof.found()
        if facts is None:
            return None
        verdict = self._judge.safe([conj(part) for part in facts], POLYNOMIALS)
        return verdict if verdict.outcome is Outcome.SAFE else None

    def _sample(self, points: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
        unique = sorted(set(points), key=lambda p: (max(map(abs, p), default=0), p))
        if len(unique) <= _MOST_POINTS:
            return unique
        chosen = np.random.default_rng(self._judge.request.seed).permutation(len(unique))
        return [unique[i] for i in sorted(chosen[:_MOST_POINTS])]

    # ---- what is linear

    def _linear(self, knowledge: Knowledge) -> Turns[list[list[Term]]]:
        """Linear lemmas that hold whatever products are."""
        limits = knowledge.tunables.lemmas
        plain = abstract_system(self._system)
        conditions = Conditions(plain, self._budget, patience=limits.patience)
        wanted = []
        for cut, space in enumerate(knowledge.spaces):
            points = knowledge.reachable(cut)
            context = Context(
                space,
                np.array(points, dtype=np.int64).reshape(len(points), space.size),
                (),
                knowledge.hints[cut],
                limits,
                self._budget.tick,
            )
            names = [name for name in _LINEAR if name not in limits.without and space.size]
            found = dict.fromkeys(dnf for name in names for dnf in SOURCES[name](context))
            wanted.append(list(found)[:_MOST_LINEAR])
        proved = yield from prove(conditions, wanted, knowledge.follow, limits)
        return [
            [dnf_term(dnf, cut.variables) for dnf in _single(formulas)]
            for cut, formulas in zip(self._system.cuts, proved, strict=True)
        ]

    # ---- polynomials

    def _space(self, cut: int, degree: int) -> list[dict]:
        """Polynomials that vanish at all points of a cut: of this degree where there are not too
        many monomials, else of the next lower one."""
        points, names = self._points[cut], self._system.cuts[cut].variables
        linear = vanishing(points, names, monomials(names, 1)) if points else None
        if linear is None:
            return []
        given = {max(p, key=lambda m: (len(m), m))[0] for p in linear if any(p)}
        free = [name for name in names if name not in given]
        for d in range(degree, 1, -1):
            if comb(len(free) + d, d) <= _MOST_MONOMIALS:
                found = vanishing(points, names, monomials(free, d))
                if found is not None:
                    return [*linear, *found]
        return linear

    def _equations(self, cut: int, space: Sequence[dict]) -> list[Term]:
        """That polynomials are zero, with integers."""
        names, found = self._system.cuts[cut].variables, []
        for member in space:
            exact = integral(member)
            if exact is not None and not any(
                value_at(exact, dict(zip(names, point, strict=True))) for point in self._points[cut]
            ):
                found.append(equation(exact))
        return found

    def _guesses(self, cut: int) -> list[Term]:
        """What failures compare, as far as it was always so: either way round."""
        names = self._system.cuts[cut].variables
        failing = [
            clause.constraint
            for clause in self._system.clauses
            if clause.target is None
            and [(p.cut, p.names) for p in clause.premises] == [(cut, names)]
        ]
        points = [dict(zip(names, point, strict=True)) for point in self._points[cut]]
        found = []
        for op, left, right in comparisons(failing):
            atom = compare(op, left, right)
            for term in (atom, negate(atom)):
                if term.op == "not" or not points or not variables(term) <= set(names):
                    continue
                if all(evaluate(term, point) for point in points):
                    found.append(term)
        return found[:_MOST_GUESSES]


class _Proof:
    """Facts at each cut, and those of them that a proof needs."""

    def __init__(
        self,
        prover: Prover,
        ways: Sequence[Sequence[Branch] | None],
        equations: Sequence[Sequence[Term]],
        bounds: Sequence[Sequence[Term]],
        guesses: Sequence[Sequence[Term]],
        *,
        reals: bool = False,
    ):
        self._reals = reals
        self._prover = prover
        self._ways = ways
        self._system = prover.system
        self._equal = [len(part) for part in equations]
        self._linear = [len(e) + len(b) for e, b in zip(equations, bounds, strict=True)]
        self._facts = [[*e, *b, *g] for e, b, g in zip(equations, bounds, guesses, strict=True)]
        self._on = [[True] * len(part) for part in self._facts]

    def found(self) -> list[list[Term]] | None:
        """Some facts that are a proof; None if no such are found."""
        system = self._system
        needed: list[dict[int, None]] = [{} for _ in system.cuts]
        todo: list[tuple[int, int, int]] = []  # clause, cut, fact
        known: dict[tuple[int, int, int], list[list[int]]] = {}

        def need(used: list[list[int]]) -> None:
            for cut, numbers in enumerate(used):
                for number in numbers:
                    if number not in needed[cut]:
                        needed[cut][number] = None
                        todo.extend((i, cut, number) for i in self._into(cut))

        self._keep_true_guesses(known)
        for index, clause in enumerate(system.clauses):
            if clause.target is None:
                used = self._ask(index, None)
                if used is None:
                    return None
                need(used)
        while todo:
            index, cut, number = todo.pop()
            used = known.get((index, cut, number)) or self._ask(index, (cut, number))
            if used is None:
                return None
            need(used)
        return [
            [part[n] for n in sorted(numbers)]
            for part, numbers in zip(self._facts, needed, strict=True)
        ]

    def _into(self, cut: int) -> Iterator[int]:
        for index, clause in enumerate(self._system.clauses):
            if clause.target == cut:
                yield index

    def _keep_true_guesses(self, known: dict[tuple[int, int, int], list[list[int]]]) -> None:
        """Switch guesses off until all that are left are preserved."""
        changed = True
        while changed:
            changed = False
            for cut, part in enumerate(self._facts):
                for number in range(self._linear[cut], len(part)):
                    for index in self._into(cut):
                        key = (index, cut, number)
                        if not self._on[cut][number] or self._still(known.get(key)):
                            continue
                        used = self._ask(index, (cut, number))
                        if used is None:
                            self._on[cut][number] = False
                            changed = True
                        else:
                            known[key] = used

    def _still(self, used: list[list[int]] | None) -> bool:
        return used is not None and all(
            self._on[cut][number] for cut, numbers in enumerate(used) for number in numbers
        )

    def _ask(self, index: int, what: tuple[int, int] | None) -> list[list[int]] | None:
        """The facts that a conclusion needs; first with few of them."""
        if what is not None and self._part(*what) == "linear":
            return self._with(index, what, ("linear",))
        for parts in (("equal", "guess"), ("equal", "linear", "guess")):
            found = self._with(index, what, parts)
            if found is not None or not self._system.clauses[index].premises:
                return found
        return None

    def _with(
        self, index: int, what: tuple[int, int] | None, parts: Sequence[str]
    ) -> list[list[int]] | None:
        chosen = [
            [n for n in range(len(part)) if self._on[c][n] and self._part(c, n) in parts]
            for c, part in enumerate(self._facts)
        ]
        facts = [[part[n] for n in some] for part, some in zip(self._facts, chosen, strict=True)]
        fact = None if what is None else self._facts[what[0]][what[1]]
        linear = parts == ("linear",)
        guess = what is not None and self._part(*what) == "guess"
        likely = not linear and not (guess and fact is not None and fact.op == "=")
        used = self._prover.needs(
            self._system.clauses[index],
            self._ways[index],
            facts,
            fact,
            linear=linear,
            likely=likely,
            # What algebra has shown is worth any solver.
            reals=self._reals or (what is not None and self._part(*what) == "equal"),
        )
        if used is None:
            return None
        return [[chosen[c][n] for n in numbers] for c, numbers in enumerate(used)]

    def _part(self, cut: int, number: int) -> str:
        if number < self._equal[cut]:
            return "equal"
        return "linear" if number < self._linear[cut] else "guess"


def _single(formulas: Sequence[Dnf]) -> list[Dnf]:
    """Those that are no disjunctions."""
    return [dnf for dnf in dict.fromkeys(formulas) if len(dnf) == 1]
