"""Transition systems as Horn clauses and as SyGuS problems, in many spellings."""

from __future__ import annotations

import random

from .systems import Rule, System

NAMES = [
    "x",
    "y",
    "z",
    "x!",
    "x.1",
    "x!0",
    "|5|",
    "|a b|",
    "|x'|",
    "_x",
    "$",
    "x@2",
    "|;|",
    "n-1",
    "A",
    "|(|",
]
PREDICATES = ["p", "inv", "|P 1|", "P!1", "p.q", "main@loop", "|2|", "x1", "_p", "x0"]


class Speller:
    def __init__(self, seed: int):
        self.rng = random.Random(seed + 1)
        self.fresh = 0

    def horn(self, system: System) -> str:
        """Satisfiable if and only if no query can be reached."""
        rng = self.rng
        self.predicates = rng.sample(PREDICATES, len(system.sorts))
        lines = [rng.choice(["(set-logic HORN)", "(set-logic HORN)\n(set-info :status unknown)"])]
        lines += self.helpers()
        for name, sorts in zip(self.predicates, system.sorts, strict=True):
            lines.append(f"(declare-fun {name} ({' '.join(sorts)}) Bool)")
        clauses = [self.clause(system, rule) for rule in system.rules]
        rng.shuffle(clauses)
        lines += [f"(assert {clause})" for clause in clauses]
        return "\n".join([*lines, "(check-sat)", *["(exit)"] * (rng.random() < 0.2)]) + "\n"

    def helpers(self) -> list[str]:
        self.defined = self.rng.random() < 0.5
        if not self.defined:
            return []
        return [
            "(define-fun |my less| ((x Int) (y Int)) Bool (< x y))",
            "(define-fun twice ((y Int)) Int (let ((x y)) (+ x y)))",
        ]

    def clause(self, system: System, rule: Rule) -> str:
        rng = self.rng
        sorts = [] if rule.source is None else system.sorts[rule.source]
        names = rng.sample([n for n in NAMES if n not in self.predicates], len(sorts) + 1)
        choice = names.pop()
        guard = self.term(rule.guard, names, choice)
        body = [guard]
        if rule.source is not None:
            body.insert(rng.randint(0, 1), self.apply(rule.source, names))
        head = "false"
        if rule.target is not None:
            head = self.apply(rule.target, [self.term(h, names, choice) for h in rule.heads])
        bound = [f"({n} {s})" for n, s in zip([*names, choice], [*sorts, "Int"], strict=True)]
        rng.shuffle(bound)
        return self.quantify(bound, body, head, choice, rule)

    def apply(self, predicate: int, args: list[str]) -> str:
        return f"({self.predicates[predicate]} {' '.join(args)})"

    def quantify(
        self, bound: list[str], body: list[str], head: str, choice: str, rule: Rule
    ) -> str:
        rng = self.rng
        every = f"forall ({' '.join(bound)})"
        all_of = f"(and {' '.join(body)})"
        shape = rng.randrange(8)
        if shape == 0:
            return f"({every} (or {' '.join(f'(not {b})' for b in body)} {head}))"
        if shape == 1:
            return f"(not (exists ({' '.join(bound)}) (and {' '.join(body)} (not {head}))))"
        if shape == 2 and len(body) == 2:
            return f"({every} (=> {body[0]} (=> {body[1]} {head})))"
        if shape == 3 and len(bound) > 1:
            return f"(forall ({bound[0]}) (forall ({' '.join(bound[1:])}) (=> {all_of} {head})))"
        if shape == 4:  # predicates inside let
            return f"({every} (let ((|b| {all_of}) (|h| {head})) (=> |b| |h|)))"
        if (
            shape == 5 and rule.target is None
        ):  # the choice is bound in the body, and its name twice
            rest = [b for b in bound if not b.startswith(f"({choice} ")]
            inner = f"(exists (({choice} Int)) {all_of})"
            other = f"(exists (({choice} Int)) (= {choice} 7))"
            text = f"(=> (and {inner} {other}) false)"
            return f"(forall ({' '.join(rest)}) {text})" if rest else text
        if shape == 6:
            return f"({every} (! (=> {all_of} {head}) :weight 1))"
        return f"({every} (=> {all_of} {head}))"

    def term(self, term: tuple, names: list[str], choice: str) -> str:
        rng = self.rng
        kind = term[0]
        if kind == "int":
            return str(term[1]) if term[1] >= 0 else f"(- {-term[1]})"
        if kind == "bool":
            return "true" if term[1] else "false"
        if kind == "v":
            return names[term[1]]
        if kind == "e":
            return choice
        parts = [self.term(part, names, choice) for part in term[1:]]
        if kind == "<" and self.defined and rng.random() < 0.2:
            return f"(|my less| {parts[0]} {parts[1]})"
        if kind == "+" and self.defined and parts[0] == parts[1]:
            return f"(twice {parts[0]})"
        if kind in ("and", "or", "=") and rng.random() < 0.06:
            return f"({kind} {' '.join(parts)} {parts[-1]})"
        draw = rng.random()
        if draw < 0.08:
            self.fresh += 1
            first = parts[0]
            return f"(let ((l{self.fresh} {first})) ({kind} l{self.fresh} {' '.join(parts[1:])}))"
        if draw < 0.12 and len(parts) == 2 and len(names) > 1:  # a parallel let hides both
            bound = f"({names[0]} {parts[0]}) ({names[1]} {parts[1]})"
            return f"(let ({bound}) ({kind} {names[0]} {names[1]}))"
        return f"({kind} {' '.join(parts)})"

    def sygus(self, system: System) -> str:
        """A loop of one predicate: an invariant exists if and only if no query can be reached."""
        rng = self.rng
        self.defined = False
        sorts = system.sorts[0]
        names = rng.sample([n for n in NAMES if "!" not in n], len(sorts))
        primed = [f"{n}!" if not n.startswith("|") else f"|{n[1:-1]}!|" for n in names]
        before = " ".join(f"({n} {s})" for n, s in zip(names, sorts, strict=True))
        after = " ".join(f"({n} {s})" for n, s in zip(primed, sorts, strict=True))

        def any_of(chosen: list[Rule], targets: list[str]) -> str:
            """Of some rule, with some value of the choice: written out."""
            cases = []
            for rule in chosen:
                for n in (-2, -1, 0, 1, 2):
                    number = str(n) if n >= 0 else f"(- {-n})"
                    heads = [self.term(h, names, number) for h in rule.heads]
                    equal = [f"(= {t} {h})" for t, h in zip(targets, heads, strict=False)]
                    cases.append(f"(and {self.term(rule.guard, names, number)} {' '.join(equal)})")
            return f"(or {' '.join(cases)})" if len(cases) > 1 else cases[0] if cases else "false"

        facts = [r for r in system.rules if r.source is None]
        steps = [r for r in system.rules if r.source == 0 and r.target == 0]
        queries = [r for r in system.rules if r.source == 0 and r.target is None]
        lines = ["(set-logic LIA)", f"(synth-inv inv-f ({before}))"]
        lines += [
            f"(define-fun pre-f ({before}) Bool {any_of(facts, names)})",
            f"(define-fun trans-f ({before} {after}) Bool {any_of(steps, primed)})",
            f"(define-fun post-f ({before}) Bool (not {any_of(queries, [])}))",
            "(inv-constraint inv-f pre-f trans-f post-f)",
            "(check-synth)",
        ]
        return "\n".join(lines) + "\n"
