"""Arrays whose cells are counted from where a variable points.

Compilers make one memory of a program's arrays: what was `a[i]` is the cell `p + i`, with a pointer
p that never changes. Where every index is a sum with such a variable, the array of that memory from
p on has the program's own indices again: from a state (p, a) to (p, a') with a'[t] = a[p + t]. This
is one to one, so the new clauses have a model just where the old ones have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from ._system import Clause, Cut, System
from .terms import (
    Term,
    collected,
    compare,
    fill,
    holds_cells,
    ite,
    postorder,
    rebuild,
    select,
    store,
    sub,
    var,
)

_Key = tuple[str, int, str]  # of a cut or a clause, its number, and an array
_Bases = dict[int, str]  # by cut


def from_bases(system: System) -> System:
    """The system with arrays counted from such variables, where there are some; only for clauses
    with one premise at most."""
    if any(len(clause.premises) > 1 for clause in system.clauses):
        return system
    groups = _Groups(system)
    chosen: dict[_Key, str] = {}
    for group in groups:
        bases = _base(system, group, groups)
        if bases is not None:
            chosen |= {key: bases[key[1]] for key in group if key[0] == "cut"}
    if not chosen:
        return system
    cuts = tuple(_moved(cut, number, chosen) for number, cut in enumerate(system.cuts))
    clauses = tuple(
        _Change(system, number, chosen, groups).clause() for number in range(len(system.clauses))
    )
    return replace(system, cuts=cuts, clauses=clauses)


def _moved(cut: Cut, number: int, chosen: dict[_Key, str]) -> Cut:
    banks = [b._replace(base=chosen.get(("cut", number, b.name))) for b in cut.arrays]
    return replace(cut, arrays=tuple(banks))


class _Groups:
    """Arrays that become one another, or are compared."""

    def __init__(self, system: System):
        self._system = system
        self._parent: dict[_Key, _Key] = {}
        for number, cut in enumerate(system.cuts):
            for bank in cut.arrays:
                self.find(("cut", number, bank.name))
        for number, clause in enumerate(system.clauses):
            for key, term in self.arriving(clause):
                self._join([key, *self.leaves(number, term)])
            for node in postorder(clause.constraint):
                if node.op == "=" and holds_cells(node.args[0]):
                    self._join([leaf for arg in node.args for leaf in self.leaves(number, arg)])
            for held, _ in accesses(clause):
                self._join(self.leaves(number, held))

    def __iter__(self) -> Iterator[list[_Key]]:
        found: dict[_Key, list[_Key]] = {}
        for key in list(self._parent):
            found.setdefault(self.find(key), []).append(key)
        return iter(found.values())

    def key(self, number: int, name: str) -> _Key:
        """An array in a clause: its source's, or one of its own."""
        clause = self._system.clauses[number]
        source = clause.source
        if source is not None and any(b.name == name for b in self._system.cuts[source].arrays):
            return ("cut", source, name)
        return ("clause", number, name)

    def leaves(self, number: int, term: Term) -> list[_Key]:
        found, todo = [], [term]
        while todo:
            node = todo.pop()
            if node.op == "array":
                found.append(self.key(number, node.leaf))
            elif node.op == "store":
                todo.append(node.args[0])
            elif node.op == "ite":
                todo += node.args[1:]
        return found

    def arriving(self, clause: Clause) -> list[tuple[_Key, Term]]:
        """The target's arrays, and what they are."""
        if clause.target is None:
            return []
        banks = self._system.cuts[clause.target].arrays
        pairs = zip(banks, clause.arrays, strict=True)
        return [(("cut", clause.target, bank.name), term) for bank, term in pairs]

    def find(self, key: _Key) -> _Key:
        found = self._parent.setdefault(key, key)
        while found != self._parent[found]:
            found = self._parent[found]
        return found

    def _join(self, keys: list[_Key]) -> None:
        for key in keys:
            self._parent[self.find(key)] = self.find(keys[0])


def _base(system: System, group: list[_Key], groups: _Groups) -> _Bases | None:
    """For each cut with arrays of a group a variable that they are counted from."""
    mine = set(group)
    counts: Counter[tuple[int, str]] = Counter()
    every = 0
    for number, clause in enumerate(system.clauses):
        for held, index in accesses(clause):
            if not mine & set(groups.leaves(number, held)):
                continue
            every += 1
            if clause.source is not None:
                for part in index.args if index.op == "+" else (index,):
                    if part.op == "var":
                        counts[clause.source, part.leaf] += 1
    for (cut, name), _ in counts.most_common():
        bases = _spread(system, mine, cut, name) if name in system.cuts[cut].variables else None
        if bases and sum(counts[pair] for pair in bases.items()) == every:
            return bases
    return None


def accesses(clause: Clause) -> Iterator[tuple[Term, Term]]:
    """Every array that is looked into or changed, and where."""
    for node in postorder(clause.constraint, *clause.args, *clause.arrays):
        if node.op in ("select", "store"):
            yield node.args[0], node.args[1]


def _spread(system: System, group: set[_Key], cut: int, name: str) -> _Bases | None:
    """The variable, and what it is at the other cuts that have arrays of a group; None where some
    step does not keep it."""
    holding = {number for kind, number, _ in group if kind == "cut"}
    found = {cut: name}
    steps = [c for c in system.clauses if c.target in holding and c.source in holding]
    todo = True
    while todo:
        todo = False
        for clause in steps:
            source, target = clause.source, clause.target
            assert source is not None and target is not None
            names = system.cuts[target].variables
            args = dict(zip(names, clause.args, strict=True))
            if source in found and target not in found:
                same = [n for n, arg in args.items() if _is(arg, found[source])]
                if not same:
                    return None
                found[target], todo = same[0], True
            elif target in found and source not in found:
                arg = args[found[target]]
                if arg.op != "var" or arg.leaf not in system.cuts[source].variables:
                    return None
                found[source], todo = arg.leaf, True
            elif source in found and not _is(args[found[target]], found[source]):
                return None
    return found if found.keys() == holding else None


def _is(term: Term, name: str) -> bool:
    return term.op == "var" and term.leaf == name


class _Change:
    """A clause, with indices counted from the bases of arrays."""

    def __init__(self, system: System, number: int, chosen: dict[_Key, str], groups: _Groups):
        clause = system.clauses[number]
        self._clause = clause
        self._bases: dict[str, Term] = {}
        self._arrived: list[Term | None] = []
        ends: dict[_Key, Term] = {}  # by group, what its arrays are counted from in this clause
        if clause.target is not None:
            args = dict(zip(system.cuts[clause.target].variables, clause.args, strict=True))
            for key, _ in groups.arriving(clause):
                base = args[chosen[key]] if key in chosen else None
                self._arrived.append(base)
                if base is not None:
                    ends[groups.find(key)] = base
        if clause.source is not None:
            for bank in system.cuts[clause.source].arrays:
                key = ("cut", clause.source, bank.name)
                if key in chosen:
                    ends[groups.find(key)] = var(chosen[key])
        for node in postorder(clause.constraint, *clause.args, *clause.arrays):
            if node.op == "array":
                base = ends.get(groups.find(groups.key(number, node.leaf)))
                if base is not None:
                    self._bases[node.leaf] = base
        self._done: dict[int, Term] = {}

    def clause(self) -> Clause:
        clause = self._clause
        pairs = zip(clause.arrays, self._arrived, strict=True)
        return replace(
            clause,
            constraint=self._value(clause.constraint),
            args=tuple(map(self._value, clause.args)),
            arrays=tuple(self._array(term, base) for term, base in pairs),
        )

    def _value(self, term: Term) -> Term:
        """A term that is no array."""
        if id(term) not in self._done:
            self._done[id(term)] = self._new(term)
        return self._done[id(term)]

    def _new(self, term: Term) -> Term:
        if not term.args:
            return term
        if term.op == "select":
            held, index = term.args
            base = self._base(held)
            return select(self._array(held, base), self._index(index, base))
        if holds_cells(term.args[0]):  # a comparison
            one, other = term.args
            base = self._base(one) or self._base(other)
            return compare(term.op, self._array(one, base), self._array(other, base))
        return rebuild(term, [self._value(arg) for arg in term.args])

    def _array(self, term: Term, base: Term | None) -> Term:
        """An array, counted from a base."""
        if term.op == "store":
            held, index, value = term.args
            return store(self._array(held, base), self._index(index, base), self._value(value))
        if term.op == "ite":
            test, yes, no = term.args
            return ite(self._value(test), self._array(yes, base), self._array(no, base))
        return fill(self._value(term.args[0])) if term.op == "fill" else term

    def _index(self, index: Term, base: Term | None) -> Term:
        found = self._value(index)
        return found if base is None else collected(sub(found, base))

    def _base(self, term: Term) -> Term | None:
        """What an array is counted from; any place does for one with the same in all cells."""
        todo = [term]
        while todo:
            node = todo.pop()
            if node.op == "array":
                return self._bases.get(node.leaf)
            if node.op == "store":
                todo.append(node.args[0])
            elif node.op == "ite":
                todo += node.args[1:]
        return None
