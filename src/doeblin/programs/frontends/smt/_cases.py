"""A clause's constraint taken apart into cases that read like the steps of a program.

In each case the variables that are neither a premise's nor needed any more are replaced by what
they are equal to, flags have a value, and what is left is a conjunction of comparisons. Nothing is
lost: variables that stand in no premise are `for some value`, and the cases together are the
constraint.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import NamedTuple

from ...system.terms import (
    FALSE,
    TRUE,
    ZERO,
    Term,
    add,
    alike,
    compare,
    const,
    disj,
    fold,
    holds_cells,
    ite,
    mul,
    negate,
    rebuild,
    select,
    substitute,
    truth,
    var,
    variables,
)

_MOST = 200
_COMPARED = ("<=", "<", "=")


class TooMany(Exception):
    """There are more cases than one should look at."""


class Case(NamedTuple):
    """A conjunction, and what some terms come to where it holds."""

    constraint: tuple[Term, ...]
    terms: tuple[Term, ...]


def cases(
    constraint: Term, terms: Sequence[Term], kept: set[str], flags: set[str]
) -> Iterator[Case]:
    """The cases of a constraint, with `terms` in each; `kept` are variables that stay, and `flags`
    those that are 0 or 1."""
    todo = [_Work((constraint,), tuple(terms), kept, flags, _Shared())]
    found = 0
    while todo:
        work = todo.pop()
        if not work.simplify():
            continue
        sides = work.split()
        if sides is not None:
            todo += reversed(sides)
            continue
        found += 1
        if found > _MOST:
            raise TooMany
        yield work.case()


class _Shared:
    """Equal terms made one, so that a fact is recognised wherever it stands."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], Term] = {}
        self._done: dict[int, Term] = {}

    def __call__(self, term: Term) -> Term:
        found = self._done.get(id(term))
        if found is None:
            args = tuple(map(self, term.args))
            key = (term.op, term.boolean, term.leaf, term.bits, *map(id, args))
            if any(new is not old for new, old in zip(args, term.args, strict=True)):
                term = Term(term.op, args, term.leaf, term.boolean, term.bits)
            found = self._known.setdefault(key, term)
            self._done[id(term)] = self._done[id(found)] = found
            self._known[("kept", id(term))] = term  # its identity stays in use
        return found


class _Work:
    def __init__(
        self,
        parts: Iterable[Term],
        terms: tuple[Term, ...],
        kept: set[str],
        flags: set[str],
        shared: _Shared,
    ):
        self._kept = kept
        self._flags = flags
        self._shared = shared
        self._parts = list(parts)
        self._terms = terms

    def case(self) -> Case:
        """What is left once nothing can be simplified."""
        parts = []
        used = variables(*self._parts, *self._terms)
        taken = used | self._kept
        for part in self._parts:
            differ = part.op == "not" and part.args[0].op == "="
            if differ and holds_cells(part.args[0].args[0]):
                # Arrays that differ do so in some place.
                name = next(n for n in map("place{}".format, count()) if n not in taken)
                taken.add(name)
                one, other = part.args[0].args
                part = compare("!=", select(one, var(name)), select(other, var(name)))
            parts.append(part)
        ranges = [
            compare("<=", a, b)
            for name in sorted(self._flags & used)
            for a, b in ((ZERO, var(name)), (var(name), const(1)))
        ]
        return Case((*ranges, *parts), self._terms)

    def simplify(self) -> bool:
        """Put in what variables are equal to; is the case possible?"""
        while True:
            flat = dict.fromkeys(map(self._shared, map(self._tidy, _flat(self._parts))))
            if any(part.constant and not part.leaf for part in flat):
                return False
            self._parts = [part for part in flat if not part.constant]
            names = self._definitions() or self._careless()
            truths = self._truths()
            before = self._parts
            made = [self._replace(part, names, truths, part) for part in before]
            self._terms = tuple(self._replace(term, names, truths) for term in self._terms)
            self._parts = made
            if all(new is old for new, old in zip(made, before, strict=True)):
                return True

    def _tidy(self, part: Term) -> Term:
        """What holds anyway, or never, is said to: that flags are 0 or 1, sides that are equal."""
        if not _literal(part) or holds_cells(part.args[0]):
            return part
        if part.op == "=":
            same = alike(*part.args)
            return part if same is None else truth(same)
        names = variables(part)
        if part.op in ("<=", "<") and len(names) == 1 and names <= self._flags:
            down, up = (substitute(part, dict.fromkeys(names, const(v))) for v in (0, 1))
            return down if down.leaf == up.leaf else part
        return part

    def _replace(
        self,
        term: Term,
        names: dict[str, Term],
        truths: dict[int, Term] | None = None,
        fact: Term | None = None,
    ) -> Term:
        """With values for some variables and conditions; a `fact` is not true by itself."""
        shared, known = self._shared, truths or {}
        if fact is not None and _literal(fact):
            own = (id(fact), id(shared(negate(fact))))
            known = {key: value for key, value in known.items() if key not in own}

        def combine(node: Term, args: list[Term]) -> Term:
            if node.op in ("var", "array"):
                return shared(names.get(node.leaf, node))
            if any(new is not old for new, old in zip(args, node.args, strict=True)):
                node = shared(rebuild(node, args))
            return known.get(id(node), node)

        return shared(fold(shared(term), combine))

    def _truths(self) -> dict[int, Term]:
        """What is true or false wherever it stands: parts that are comparisons."""
        found: dict[int, Term] = {}
        for part in self._parts:
            if _literal(part):
                found[id(part)] = TRUE
                found[id(self._shared(negate(part)))] = FALSE
        return found

    # ---- variables that are defined

    def _definitions(self) -> dict[str, Term]:
        found: dict[str, Term] = {}
        for part in self._parts:
            for name, value in self._defined(part):
                value = self._replace(value, found) if found else value
                if name in found or name in variables(value):
                    continue
                single = {name: value}
                for other, old in found.items():
                    found[other] = self._replace(old, single)
                found[name] = value
                break
        return found

    def _defined(self, part: Term) -> Iterator[tuple[str, Term]]:
        """The ways to read a part as the definition of a variable."""
        flag, value = self._flag(part)
        if flag is not None:
            if flag not in self._kept:
                yield flag, const(value)
            return
        if part.op != "=":
            return
        for one, other in (part.args, part.args[::-1]):
            if one.boolean:
                flag, value = self._flag(one)
                if flag is not None and flag not in self._kept:
                    yes = other if value else negate(other)
                    yield flag, ite(yes, const(1), ZERO)
            elif one.op in ("var", "array") and one.leaf not in self._kept | self._flags:
                yield one.leaf, other
        if not part.args[0].boolean and not holds_cells(part.args[0]):
            yield from self._solved(*part.args)

    def _solved(self, left: Term, right: Term) -> Iterator[tuple[str, Term]]:
        """A variable that is once in a sum is the rest of it."""
        terms = [
            (item, sign)
            for side, sign in ((left, 1), (right, -1))
            for item in (side.args if side.op == "+" else (side,))
        ]
        if len(terms) < 3:
            return
        for number, (item, sign) in enumerate(terms):
            factor, inner = sign, item
            if item.op == "*" and item.args[0].constant:
                factor, inner = sign * item.args[0].leaf, item.args[1]
            free = inner.op == "var" and inner.leaf not in self._kept | self._flags
            if free and abs(factor) == 1:
                rest = [mul(const(-factor * s), t) for t, s in terms[:number]]
                rest += [mul(const(-factor * s), t) for t, s in terms[number + 1 :]]
                yield inner.leaf, add(*rest)

    def _flag(self, part: Term) -> tuple[str | None, int]:
        """The flag that a part says is up or down."""
        if part.op == "not":
            name, value = self._flag(part.args[0])
            return name, 1 - value
        if part.op != "=" or part.args[0].op != "var" or part.args[0].leaf not in self._flags:
            return None, 0
        value = part.args[1]
        return (part.args[0].leaf, value.leaf) if value.constant else (None, 0)

    def _careless(self) -> dict[str, Term]:
        """Flags that only ever stand on one side of a condition can as well be on the other."""
        signs: dict[str, set[bool]] = {}
        for part in self._parts:
            for name, sign in self._signs(part):
                signs.setdefault(name, set()).add(sign)
        free = self._flags - self._kept - variables(*self._terms)
        return {n: const(int(True in s)) for n, s in signs.items() if n in free and len(s) == 1}

    def _signs(self, part: Term) -> Iterator[tuple[str, bool]]:
        """The flags in a part, and whether it rather holds with them up."""
        todo, seen = [(part, True)], set[tuple[int, bool]]()
        while todo:
            node, sign = todo.pop()
            if (id(node), sign) in seen:
                continue
            seen.add((id(node), sign))
            name, value = self._flag(node) if node.op != "not" else (None, 0)
            if name is not None and value in (0, 1):
                yield name, sign == bool(value)
            elif node.op in ("and", "or"):
                todo += [(arg, sign) for arg in node.args]
            elif node.op == "not":
                todo.append((node.args[0], not sign))
            elif node.boolean and node.op == "ite":
                todo += [(node.args[0], True), (node.args[0], False)]
                todo += [(arg, sign) for arg in node.args[1:]]
            else:
                both = variables(node) & self._flags
                yield from ((name, up) for name in both for up in (True, False))

    # ---- cases

    def split(self) -> list[_Work] | None:
        """Two cases in place of this one, where it is not yet a conjunction that one can follow."""
        best: tuple[int, Term] | None = None
        for part in self._parts:
            if not _literal(part) and self._open(part):
                size = len(part.args) if part.op == "or" else 2
                if best is None or size < best[0]:
                    best = size, part
        if best is not None:
            return self._sides(best[1])
        condition = _choice((*self._terms, *self._parts))
        if condition is None:
            return None
        return [self._with(condition), self._with(negate(condition))]

    def _open(self, part: Term) -> bool:
        """Does it say what a variable is, or which arrays are equal, on some condition?"""
        names: Counter[str] = Counter()
        for node in _nodes(part):
            if node.op == "=" and not node.args[0].boolean:
                if holds_cells(node.args[0]):
                    return True
                names.update(variables(node))
        return any(name not in self._kept for name in names)

    def _sides(self, part: Term) -> list[_Work]:
        rest = [other for other in self._parts if other is not part]
        if part.op == "or":
            simple = sorted(part.args, key=lambda arg: not _literal(arg))
            first, others = simple[0], disj(simple[1:])
            beside = [negate(first)] if _literal(first) else []
            return [self._having([first, *rest]), self._having([others, *beside, *rest])]
        if part.op == "ite":
            test, yes, no = part.args
            return [self._having([test, yes, *rest]), self._having([negate(test), no, *rest])]
        same = part.op == "="
        one, other = part.args if same else part.args[0].args
        no = negate(other)
        return [
            self._having([one, other if same else no, *rest]),
            self._having([negate(one), no if same else other, *rest]),
        ]

    def _with(self, condition: Term) -> _Work:
        return self._having([condition, *self._parts])

    def _having(self, parts: list[Term]) -> _Work:
        return _Work(parts, self._terms, self._kept, self._flags, self._shared)


def _literal(part: Term) -> bool:
    inner = part.args[0] if part.op == "not" else part
    return inner.op in _COMPARED and not inner.args[0].boolean


def _nodes(term: Term) -> Iterator[Term]:
    seen: set[int] = set()
    todo = [term]
    while todo:
        node = todo.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            todo += node.args


def _choice(terms: Iterable[Term]) -> Term | None:
    """A condition on which it depends what an array is, or that arrays are equal in a value."""
    for term in terms:
        stated = term.args[0] if term.op == "not" else term
        for node in _nodes(term):
            if node.op == "ite" and holds_cells(node):
                return node.args[0]
            if node is not stated and node.op == "=" and holds_cells(node.args[0]):
                return node
    return None


def _flat(parts: Iterable[Term]) -> Iterator[Term]:
    """The parts of a conjunction, with negations inside."""
    todo = list(parts)[::-1]
    while todo:
        part = todo.pop()
        inner = part.args[0] if part.op == "not" else part
        if part.op == "and":
            todo += reversed(part.args)
        elif inner is part:
            yield part
        elif inner.op == "or":
            todo += [negate(arg) for arg in reversed(inner.args)]
        elif inner.op == "and":
            yield disj(negate(arg) for arg in inner.args)
        elif inner.op == "ite":
            test, yes, no = inner.args
            yield ite(test, negate(yes), negate(no))
        else:
            yield part
