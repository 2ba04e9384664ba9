"""Random transition systems with finitely many states, and the truth about them by enumeration.

A system has predicates over integers and truth values, facts, rules from one predicate to another,
and queries. Terms are tuples: ("int", n), ("bool", b), ("v", i) for the i-th argument of the body's
predicate, ("e",) for a value from a small range, or (operator, term, ...).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

BOUND = 6
RANGE = range(-2, 3)  # of ("e",)


def _divide(a: int, b: int) -> int:
    """SMT-LIB's div: the remainder is never negative."""
    return (a - a % abs(b)) // b


MEANING: dict[str, Callable] = {
    "+": lambda *a: sum(a), "-": lambda a, *b: a - sum(b) if b else -a, "*": lambda a, b: a * b,
    "div": _divide, "mod": lambda a, b: a % abs(b), "abs": abs,
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b, "=": lambda a, b: a == b, "distinct": lambda a, b: a != b,
    "and": lambda *a: all(a), "or": lambda *a: any(a), "not": lambda a: not a,
    "xor": lambda a, b: a != b, "=>": lambda a, b: not a or b, "ite": lambda c, a, b: a if c else b,
}  # fmt: skip


def value(term: tuple, args: tuple, choice: int):
    kind = term[0]
    if kind in ("int", "bool"):
        return term[1]
    if kind == "v":
        return args[term[1]]
    if kind == "e":
        return choice
    return MEANING[kind](*(value(part, args, choice) for part in term[1:]))


@dataclass
class Rule:
    """guard(args of `source`, choice) => `target`(heads); no source: a fact; no target: a query."""

    source: int | None
    target: int | None
    guard: tuple
    heads: list[tuple] = field(default_factory=list)


@dataclass
class System:
    sorts: list[list[str]]  # of each predicate
    rules: list[Rule]

    def unsafe(self) -> bool:
        """Whether a query can be reached: all reachable states, one by one."""
        seen: set[tuple[int, tuple]] = set()
        todo: list[tuple[int | None, tuple]] = [(None, ())]
        while todo:
            place, args = todo.pop()
            for rule in self.rules:
                if rule.source != place:
                    continue
                for choice in RANGE:
                    if not value(rule.guard, args, choice):
                        continue
                    if rule.target is None:
                        return True
                    state = (rule.target, tuple(value(h, args, choice) for h in rule.heads))
                    if state not in seen:
                        seen.add(state)
                        todo.append(state)
        return False


class Maker:
    """Draws a system."""

    def __init__(self, seed: int):
        self.rng = random.Random(seed)

    def system(self, predicates: int | None = None) -> System:
        rng = self.rng
        count = predicates or rng.randint(1, 3)
        self.sorts = [
            [rng.choice(["Int", "Int", "Int", "Bool"]) for _ in range(rng.randint(1, 3))]
            for _ in range(count)
        ]
        rules = [self.rule(None, 0)]
        rules += [self.rule(rng.randrange(count), rng.randrange(count)) for _ in range(count + 1)]
        rules += [self.rule(i, i + 1) for i in range(count - 1)]
        rules += [self.rule(rng.randrange(count), None) for _ in range(rng.randint(1, 2))]
        return System(self.sorts, rules)

    def rule(self, source: int | None, target: int | None) -> Rule:
        """Its guard keeps integers in bounds, so that there are finitely many states."""
        sorts = [] if source is None else self.sorts[source]
        bounds = []
        for i, sort in enumerate(sorts):
            if sort == "Int" and target is not None:
                bounds += [(">=", ("v", i), ("int", -BOUND)), ("<=", ("v", i), ("int", BOUND))]
        guard = ("and", *bounds, self.truth(sorts, 2))
        if target is None:  # mostly rare states, so that systems are safe now and then
            return self.closed(Rule(source, None, ("and", guard, self.truth(sorts, 1))))
        make = {"Int": self.number, "Bool": self.truth}
        heads = [make[sort](sorts, 2) for sort in self.sorts[target]]
        return self.closed(Rule(source, target, guard, heads))

    def closed(self, rule: Rule) -> Rule:
        """The choice is bounded, where there is one."""
        if "('e',)" in repr((rule.guard, rule.heads)):
            low, high = (">=", ("e",), ("int", RANGE[0])), ("<=", ("e",), ("int", RANGE[-1]))
            rule.guard = ("and", low, high, rule.guard)
        return rule

    def leaf(self, sorts: list[str], sort: str) -> tuple:
        places = [("v", i) for i, s in enumerate(sorts) if s == sort]
        if places and self.rng.random() < 0.75:
            return self.rng.choice(places)
        if sort == "Bool":
            return ("bool", self.rng.random() < 0.5)
        return ("e",) if self.rng.random() < 0.2 else ("int", self.rng.randint(-4, 6))

    def number(self, sorts: list[str], depth: int) -> tuple:
        rng = self.rng
        if depth == 0 or rng.random() < 0.3:
            return self.leaf(sorts, "Int")
        op = rng.choice(["+", "+", "-", "*", "div", "mod", "abs", "ite", "neg"])
        inner = self.number(sorts, depth - 1)
        if op == "neg":
            return ("-", inner)
        if op == "abs":
            return ("abs", inner)
        if op in ("*", "div", "mod"):
            factor = ("int", rng.choice([2, 3, -2]))
            return (op, factor, inner) if op == "*" else (op, inner, factor)
        if op == "ite":
            return ("ite", self.truth(sorts, depth - 1), inner, self.number(sorts, depth - 1))
        return (op, inner, self.number(sorts, depth - 1))

    def truth(self, sorts: list[str], depth: int) -> tuple:
        rng = self.rng
        draw = rng.random()
        if depth == 0 or draw < 0.15:
            if "Bool" in sorts and rng.random() < 0.5:
                return self.leaf(sorts, "Bool")
            op = rng.choice(["<", "<=", ">", ">=", "=", "distinct"])
            return (op, self.number(sorts, 0), self.number(sorts, 0))
        if draw < 0.5:
            op = rng.choice(["<", "<=", ">", ">=", "=", "distinct"])
            return (op, self.number(sorts, depth - 1), self.number(sorts, depth - 1))
        if draw < 0.6:
            return ("not", self.truth(sorts, depth - 1))
        op = rng.choice(["and", "or", "xor", "=>", "=", "ite"])
        parts = [self.truth(sorts, depth - 1) for _ in range(3 if op == "ite" else 2)]
        return (op, *parts)
