"""Clauses with arrays as a program: from state to state, as one can run it.

Its runs are derivations, with clauses that can be followed: what a clause says of variables that
stand in no premise is that they have some value, and a run draws one. Proofs do not depend on it;
it is what states are like, and which comparisons and indices there are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ._graph import (
    Array,
    Assign,
    Branch,
    Copy,
    Fail,
    Fill,
    Graph,
    Havoc,
    Jump,
    Load,
    Store,
    Variable,
)
from ._system import Clause, System
from .terms import (
    ONE,
    Term,
    alike,
    array,
    compare,
    conj,
    fold,
    holds_cells,
    ite,
    negate,
    postorder,
    rebuild,
    substitute,
    var,
    variables,
)

_FREE = (None, None)


def likeness(system: System, tick: Callable[[], None] = lambda: None) -> tuple[Graph, System]:
    """The program, and the system with cuts that know where they are in it. `tick` is called
    often and may raise to stop the work."""
    return _Maker(system, tick).made()


def followed(system: System) -> bool:
    """Are runs of the program that is like the system derivations? Not where clauses have several
    premises, or say that arrays are equal which they do not make so."""
    return system.linear and not any(
        _compares_arrays(part) for clause in system.clauses for part in _parts(clause.constraint)
    )


class _Maker:
    def __init__(self, system: System, tick: Callable[[], None]):
        self._system = system
        self._tick = tick
        self._graph = Graph()
        self._sites = 0
        self._cells: dict[tuple[int, str, str], str] = {}
        for cut in system.cuts:
            for name, shown in zip(cut.variables, cut.shown, strict=True):
                self._variable(name, shown)
            for bank in cut.arrays:
                self._array(bank.name, bank.shown)

    def made(self) -> tuple[Graph, System]:
        graph, system = self._graph, self._system
        useful = self._useful()
        heads = [graph.block() for _ in range(len(system.cuts) + 1)]
        for cut, head in zip((None, *range(len(system.cuts))), heads, strict=True):
            # To go on comes before a failure: a run that can do both is worth more so.
            leaving = [
                number
                for number, clause in enumerate(system.clauses)
                if clause.source == cut and (clause.target is None or clause.target in useful)
            ]
            leaving.sort(key=lambda n: system.clauses[n].target is None)
            block = head
            for place, number in enumerate(leaving):
                later = [system.clauses[n] for n in leaving[place + 1 :]]
                block = self._clause(number, block, heads, later)
        cuts = [replace(cut, block=n + 1) for n, cut in enumerate(system.cuts)]
        return graph, replace(system, cuts=tuple(cuts))

    def _useful(self) -> set[int]:
        """The cuts from which a failure may be reached."""
        found: set[int] = set()
        for _ in self._system.cuts:
            for clause in self._system.clauses:
                if clause.source is not None and (clause.target is None or clause.target in found):
                    found.add(clause.source)
        return found

    # ---- names

    def _variable(self, name: str, shown: str) -> str:
        self._graph.variables.setdefault(name, Variable(name, shown))
        return name

    def _array(self, name: str, shown: str) -> str:
        if name not in self._graph.arrays:
            # Of an array without a type, nothing asks for bounds.
            self._graph.arrays[name] = Array(name, shown, *_FREE, (0, 0))
        return name

    def _site(self) -> int:
        self._sites += 1
        return self._sites

    # ---- clauses

    def _clause(self, number: int, block: int, heads: list[int], later: list[Clause]) -> int:
        """Follow a clause from a block, if that is possible; else go on at the block returned."""
        graph, clause = self._graph, self._system.clauses[number]
        parts = [part for part in _parts(clause.constraint) if not _compares_arrays(part)]
        names: dict[str, Term] = {}
        statements = graph.blocks[block].statements
        free = [item.name for item in clause.inputs]
        banks = {bank.name: bank.variable for bank in clause.banks}
        for premise in clause.premises[1:]:  # of which a run knows nothing
            free += premise.names
            banks |= {name: name for name in premise.arrays}
        for name in free:
            names[name] = var(self._variable(f"{name}?{number}", name))
            low, high = _range(name, parts)
            fresh = str(names[name].leaf)
            statements.append(Havoc(fresh, self._site(), low, high))
        for name, variable in banks.items():
            fresh = self._array(f"{name}?{number}", variable)
            names[name] = array(fresh)
            statements.append(Fill(fresh, None, self._site(), *_FREE))
        self._cells = {}
        self._touch(clause, names, block)
        terms = [
            self._flat(substitute(term, names), block, clause)
            for term in (conj(parts), *clause.args, *clause.arrays)
        ]
        guard, ends, count = terms[0], terms[1:], len(clause.args)
        taken, otherwise = graph.block(), graph.block()
        graph.blocks[block].end = Branch(guard, taken, otherwise)
        if not all(_apart(clause, other) for other in later):
            choice = self._variable("choice?", "choice")
            graph.blocks[taken].statements.append(Havoc(choice, self._site(), 0, 1))
            chosen = graph.block()
            graph.blocks[taken].end = Branch(compare("=", var(choice), ONE), otherwise, chosen)
            taken = chosen
        if clause.target is None:
            graph.blocks[taken].end = Fail("a clause whose conclusion is false", clause.place)
            return otherwise
        target = self._system.cuts[clause.target]
        self._store([bank.name for bank in target.arrays], ends[count:], taken)
        self._assign(list(target.variables), ends[:count], taken)
        graph.blocks[taken].end = Jump(heads[clause.target + 1])
        return otherwise

    def _flat(self, term: Term, block: int, clause: Clause) -> Term:
        """The term, with variables for the cells that it reads. Arrays stay as they are."""

        def combine(node: Term, args: list[Term]) -> Term:
            if node.op == "select":
                return self._read(args[0], args[1], block, clause)
            if all(new is old for new, old in zip(args, node.args, strict=True)):
                return node
            return rebuild(node, args)

        return fold(term, combine)

    def _touch(self, clause: Clause, names: dict[str, Term], block: int) -> None:
        """Look where arrays are changed that the clause only says are equal to others: no run
        follows that, but where it is is worth knowing."""
        for part in filter(_compares_arrays, _parts(clause.constraint)):
            for node in postorder(substitute(part, names)):
                if node.op != "store":
                    continue
                (root, _), index = _chain(node), node.args[1]
                if root.op == "array" and not any(n.op == "select" for n in postorder(index)):
                    self._read(root, index, block, clause)

    def _read(self, held: Term, index: Term, block: int, clause: Clause) -> Term:
        self._tick()
        if held.op == "store":
            before, at, value = held.args
            same = alike(at, index)
            if same:
                return value
            inner = self._read(before, index, block, clause)
            return inner if same is False else ite(compare("=", at, index), value, inner)
        if held.op == "ite":
            test, yes, no = held.args
            sides = [self._read(side, index, block, clause) for side in (yes, no)]
            return ite(test, *sides)
        if held.op == "fill":
            return held.args[0]
        key = (block, held.leaf, repr(index))
        if key not in self._cells:
            name = self._variable(f"cell?{self._site()}", f"{held.leaf}[...]")
            self._cells[key] = name
            self._graph.blocks[block].statements.append(Load(name, held.leaf, index, clause.place))
        return var(self._cells[key])

    # ---- all at once, one after the other

    def _store(self, names: list[str], terms: list[Term], block: int) -> None:
        """Arrays first; what is stored in them is of the state before."""
        statements = self._graph.blocks[block].statements
        chains = [_chain(term) for term in terms]
        roots = [root.leaf if root.op == "array" else None for root, _ in chains]
        kept: dict[str, str] = {}  # what is still needed after it was overwritten
        for place, root in enumerate(roots):
            if root in names and root != names[place] and names.index(root) < place:
                kept[root] = self._array(f"{root}!", root)
        for name, copy in kept.items():
            statements.append(Copy(copy, name))
        for place, (name, (root, changes)) in enumerate(zip(names, chains, strict=True)):
            if root.op == "fill":
                value = root.args[0].leaf if root.args[0].constant else 0
                statements.append(Fill(name, value, self._site(), *_FREE))
            elif root.leaf != name:
                earlier = root.leaf in names[:place]
                statements.append(Copy(name, kept[root.leaf] if earlier else root.leaf))
            statements += [Store(name, index, value) for index, value in changes]

    def _assign(self, names: list[str], terms: list[Term], block: int) -> None:
        statements = self._graph.blocks[block].statements
        todo = {n: t for n, t in zip(names, terms, strict=True) if t.op != "var" or t.leaf != n}
        while todo:
            read = {name: variables(term) for name, term in todo.items()}
            free = [n for n in todo if not any(n in read[o] for o in todo if o != n)]
            if free:
                statements.append(Assign(free[0], todo.pop(free[0])))
                continue
            name = next(iter(todo))
            saved = self._variable(f"{name}!", name)
            statements.append(Assign(saved, var(name)))
            todo = {n: substitute(t, {name: var(saved)}) for n, t in todo.items()}


def _chain(term: Term) -> tuple[Term, list[tuple[Term, Term]]]:
    """An array as another that is changed, place by place."""
    changes: list[tuple[Term, Term]] = []
    while term.op in ("store", "ite"):
        if term.op == "store":
            changes.append((term.args[1], term.args[2]))
        term = term.args[0 if term.op == "store" else 1]
    return term, changes[::-1]


def _parts(term: Term) -> tuple[Term, ...]:
    return term.args if term.op == "and" else (term,)


def _compares_arrays(part: Term) -> bool:
    inner = part.args[0] if part.op == "not" else part
    return inner.op == "=" and holds_cells(inner.args[0])


def _range(name: str, parts: list[Term]) -> tuple[int | None, int | None]:
    """What a clause demands of a value, whatever the others are."""
    low: list[int] = []
    high: list[int] = []
    for part in parts:
        if part.op not in ("<=", "<", "="):
            continue
        left, right = part.args
        strict = int(part.op == "<")
        if left.op == "var" and left.leaf == name and right.constant and not right.boolean:
            high.append(right.leaf - strict)
            low += [right.leaf] if part.op == "=" else []
        elif right.op == "var" and right.leaf == name and left.constant and not left.boolean:
            low.append(left.leaf + strict)
            high += [left.leaf] if part.op == "=" else []
    return max(low, default=None), min(high, default=None)


def _apart(one: Clause, other: Clause) -> bool:
    """Can only one of two clauses be followed? By a condition that they have, and have not."""
    mine = {repr(part) for part in _parts(one.constraint)}
    own = {item.name for item in (*one.inputs, *other.inputs)}
    return any(
        repr(negate(part)) in mine for part in _parts(other.constraint) if not variables(part) & own
    )
