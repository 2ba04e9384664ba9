"""Verdicts on random Horn clauses with arrays and several premises.

A proof is right if Z3 confirms every clause under the printed model, a refutation if it confirms
every fact on the text of its clause; and neither may be what Spacer denies.
"""

from __future__ import annotations

import random

import z3

from doeblin._errors import InputError
from doeblin.programs import output, parse_program, verify

from ..test_horn_arrays import A, confirm, modelled
from .campaign import Tally
from .clauses import spacer

_LETTERS = "ABCDEFGH"


class Writer:
    """A file of a few predicates, which all have a number and most an array."""

    def __init__(self, seed: int):
        self.rng = random.Random(seed)
        self.names: dict[str, list[str]] = {}

    def text(self) -> str:
        rng = self.rng
        count = rng.choice((1, 2, 2, 3))
        # No loops in some: a predicate follows from those before it alone.
        self.acyclic = rng.random() < 0.3
        self.sorts = {"PQR"[n]: self.some_sorts() for n in range(count)}
        lines = ["(set-logic HORN)"]
        lines += [f"(declare-fun {p} ({' '.join(s)}) Bool)" for p, s in self.sorts.items()]
        known = list(self.sorts)
        clauses = []
        for number, name in enumerate(known):
            before = known[:number] if self.acyclic else known
            if number == 0 or rng.random() < 0.6 or not before:
                clauses.append(self.clause([], name))
            for _ in range(rng.randint(1, 2) if before else 0):
                chosen = [rng.choice(before) for _ in range(rng.choice((1, 1, 2)))]
                clauses.append(self.clause(chosen, name))
        for _ in range(rng.choice((1, 1, 2))):
            clauses.append(
                self.clause([rng.choice(known) for _ in range(rng.choice((1, 2)))], None)
            )
        return "\n".join([*lines, *clauses, "(check-sat)", ""])

    def some_sorts(self) -> list[str]:
        rng = self.rng
        found = ["Int"] * rng.choice((1, 1, 2)) + [A] * rng.choice((0, 1, 1, 1, 2))
        found += ["Bool"] * (rng.random() < 0.15)
        rng.shuffle(found)
        return found

    # ---- one clause

    def clause(self, premises: list[str], head: str | None) -> str:
        rng = self.rng
        self.names = {"Int": ["x", "y", "z"], A: list(_LETTERS[: rng.choice((1, 2, 2, 3))])}
        self.names["Bool"] = ["isb", "isc"]
        body = [self.applied(name) for name in premises]
        body += [self.test() for _ in range(rng.choice((0, 1, 1, 2)) if head else 2)]
        if rng.random() < 0.25:
            one, other = self.array(), self.array(1)
            body.append(f"(= {one} {other})")
        if not premises:
            body.append(f"(= x {rng.randint(-1, 2)})")
        conclusion = "false"
        if head is not None:
            args = [self.value(sort) for sort in self.sorts[head]]
            conclusion = f"({head} {' '.join(args)})"
        bound = [f"({n} {sort})" for sort, names in self.names.items() for n in names]
        return (
            f"(assert (forall ({' '.join(bound)}) (=> (and true {' '.join(body)}) {conclusion})))"
        )

    def applied(self, name: str) -> str:
        """To variables for the most part, some of which stand in other premises, too."""
        args = []
        for sort in self.sorts[name]:
            plain = self.rng.random() < 0.9
            args.append(self.rng.choice(self.names[sort]) if plain else self.value(sort))
        return f"({name} {' '.join(args)})"

    def value(self, sort: str) -> str:
        return {"Int": self.number, A: self.array, "Bool": self.flag}[sort]()

    def number(self, depth: int = 1) -> str:
        rng = self.rng
        draw = rng.random()
        if draw < 0.45 or depth < 0:
            return rng.choice(self.names["Int"])
        if draw < 0.6:
            return str(rng.randint(0, 3))
        if draw < 0.8:
            return f"(+ {self.number(depth - 1)} {rng.randint(0, 1)})"
        if draw < 0.9:
            return f"(let ((v {self.number(depth - 1)})) (- v 1))"
        return f"(select {self.array(depth - 1)} {self.number(depth - 1)})"

    def array(self, depth: int = 1) -> str:
        rng = self.rng
        if rng.random() < 0.5 or depth < 0:
            return rng.choice(self.names[A])
        inner, index = self.array(depth - 1), self.number(0)
        if rng.random() < 0.1:
            return f"(ite {self.flag()} {inner} {rng.choice(self.names[A])})"
        return f"(store {inner} {index} {self.number(0)})"

    def flag(self) -> str:
        return self.test() if self.rng.random() < 0.4 else self.rng.choice(self.names["Bool"])

    def test(self) -> str:
        rng = self.rng
        relation = rng.choice(("<", "<=", "=", "=", "distinct"))
        left, right = self.number(), self.number()
        if rng.random() < 0.4:
            left = f"(select {self.array(0)} {self.number(0)})"
        return f"({relation} {left} {right})"


def refuted(text: str, milliseconds: int = 1000) -> tuple[int, int]:
    """How many assertions do not hold by Z3, each alone, and how many it cannot decide."""
    head, *assertions = text.replace("(check-sat)", "").split("(assert ")
    wrong = open_ = 0
    for assertion in assertions:
        solver = z3.Solver()
        solver.set("timeout", milliseconds)
        solver.from_string(f"{head}(assert (not {assertion}".rstrip() + ")")
        answer = solver.check()
        wrong += answer == z3.sat
        open_ += answer == z3.unknown
    return wrong, open_


def judged(text: str, name: str, tally: Tally, *, timeout: float, seed: int = 0) -> str:
    """The outcome of a text's verdict; what is wrong with it, if anything, is in the tally."""
    try:
        program = parse_program(text, file=name, language="horn")
        verdict = verify(program, timeout=timeout, seed=seed)
        outcome = verdict.outcome.value
        if outcome == "SAFE":
            wrong, left = refuted(modelled(text, output.model(program, verdict)))
            tally.outcomes["clauses that Z3 leaves open"] += left
            if wrong:
                tally.wrong.append(f"{name}: SAFE, but {wrong} clauses do not hold")
        elif outcome == "UNSAFE":
            confirm(text, program, verdict)
        else:
            tally.reasons[verdict.reason[:60]] += 1
    except (InputError, AssertionError) as error:
        outcome = "wrong"
        tally.wrong.append(f"{name}: {error!r:.200}")
    except Exception as error:  # a crash is a finding like any other
        outcome = "crash"
        tally.wrong.append(f"{name}: {error!r:.200}")
    tally.outcomes[outcome] += 1
    return outcome


def by_spacer(text: str, name: str, outcome: str, tally: Tally, milliseconds: int = 300) -> str:
    """What Spacer says; the tally knows if it denies the outcome."""
    answer = spacer(text, milliseconds)
    tally.outcomes[f"Spacer {answer}"] += 1
    if answer == {"SAFE": "unsat", "UNSAFE": "sat"}.get(outcome) or answer == "malformed":
        tally.wrong.append(f"{name}: {outcome}, but Spacer says {answer}")
    return answer


def judge_premises(seeds: range, *, timeout: float) -> Tally:
    tally = Tally()
    for seed in seeds:
        text, name = Writer(seed).text(), f"seed {seed}"
        outcome = judged(text, name, tally, timeout=timeout, seed=seed)
        if outcome in ("SAFE", "UNSAFE"):
            by_spacer(text, name, outcome, tally)
    return tally
