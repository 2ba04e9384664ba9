"""Bounds of floating point: at constants of the program, what these come to, and what was seen."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import permutations

from ..system import Cut, System
from ..system.terms import (
    FLOATING,
    INFINITE,
    LOWEST,
    NAN,
    Term,
    compare,
    conj,
    const,
    disj,
    float_value,
    floating,
    key_of,
    number_of,
    postorder,
)

_BOUNDS = 6  # on each side of a variable, beside what was seen
_MOST = 24  # constants that are combined with each other
_ROWS = 64  # states of a table
_ROUND = (1.0, 10.0, 100.0, 1e3, 1e6, 1e9, 1e15, 1e100)


def float_constants(system: System, bits: int) -> list[int]:
    """The keys of the numbers that a system computes or compares with, in one format."""
    roots = [term for clause in system.clauses for term in (clause.constraint, *clause.args)]
    found: dict[float, None] = dict.fromkeys((0.0, 1.0))
    for node in postorder(*roots):
        if node.op in FLOATING or node.op in ("f<", "f<=", "f="):
            keys = (arg.leaf for arg in node.args if arg.constant)
            found |= dict.fromkeys(number_of(key, node.leaf) for key in keys)
    for clause in system.clauses:
        if clause.target is not None:
            for own, arg in zip(system.cuts[clause.target].state(), clause.args, strict=True):
                if own.bits is not None and arg.constant:
                    found[number_of(arg.leaf, own.bits)] = None
    return [key_of(value, bits) for value in found if math.isfinite(value)]


def _pool(constants: Sequence[int], bits: int) -> list[int]:
    """Constants, and what two of them come to."""
    few = list(constants)[:_MOST]
    found = dict.fromkeys(few)
    for a in few:
        found[int(float_value("fneg", bits, [a]))] = None
        for b in few:
            for op in ("f+", "f-", "f*"):
                found[int(float_value(op, bits, [a, b]))] = None
    for size in _ROUND:
        found |= dict.fromkeys((key_of(size, bits), key_of(-size, bits)))
    kept = {key if key != -1 else 0 for key in found}
    return sorted(key for key in kept if LOWEST[bits] < key < INFINITE[bits])


def float_bounds(
    cut: Cut, states: Sequence[dict[str, int]], constants: dict[int, list[int]], *, few: bool
) -> Iterable[Term]:
    """What may hold of each variable of floating point in all states; nothing without any. A `few`
    are at constants of the program and their negatives only."""
    floats = [(own, own.bits) for own in cut.state() if own.bits is not None]
    for own, bits in floats:
        seen = {state[own.leaf] for state in states}
        if not seen or NAN[bits] in seen:
            continue
        if len(seen) == 1:
            yield compare("=", own, const(next(iter(seen))))
        low, high = min(seen), max(seen)
        known = constants[bits]
        both = dict.fromkeys((*known, *(-1 - key for key in known)))
        pool = sorted(both) if few else _pool(known, bits)
        above = [*[key for key in pool if key >= high][:_BOUNDS], _far(bits)]
        below = [*[key for key in reversed(pool) if key <= max(low, 0)][:_BOUNDS], -1 - _far(bits)]
        if not few:
            above += [*(key for key in known if key >= high), high]
            below += [*(key for key in known if key <= low), low]
        for key in dict.fromkeys(above):
            yield floating("f<=", bits, own, const(key))
        for key in dict.fromkeys(below):
            if key <= low or (key == 0 and low == -1):
                yield floating("f<=", bits, const(key), own)
        for key in () if few else known:
            if key > high:
                yield floating("f<", bits, own, const(key))
            if key < low:
                yield floating("f<", bits, const(key), own)
    for (one, bits), (other, same) in permutations(floats, 2):
        pairs = [(state[one.leaf], state[other.leaf]) for state in states]
        if bits == same and pairs and all(float_value("f<=", bits, [a, b]) for a, b in pairs):
            yield floating("f<=", bits, one, other)


def tightest(terms: Sequence[Term]) -> list[Term]:
    """The same without bounds that others of them imply."""
    best: dict[tuple[str, str, bool], tuple[int, Term]] = {}
    others = []
    for term in terms:
        sides = [arg.op for arg in term.args]
        if term.op not in ("f<=", "<=") or sides not in (["var", "const"], ["const", "var"]):
            others.append(term)
            continue
        above = sides[0] == "var"
        name, bound = (arg.leaf for arg in (term.args if above else term.args[::-1]))
        if term.op == "f<=" and bound == -1:
            bound = 0
        key = (term.op, name, above)
        known = best.get(key)
        if known is None or (bound < known[0] if above else bound > known[0]):
            best[key] = (bound, term)
    return [*(term for _, term in best.values()), *others]


def _far(bits: int) -> int:
    """The largest number."""
    return INFINITE[bits] - 1


def float_table(cut: Cut, states: Sequence[dict[str, int]]) -> Iterable[Term]:
    """The state is one of those that were seen, where these are few."""
    rows = list(dict.fromkeys(tuple(state[name] for name in cut.variables) for state in states))
    if 0 < len(rows) <= _ROWS:
        yield disj(
            conj(
                compare("=", own, const(value)) for own, value in zip(cut.state(), row, strict=True)
            )
            for row in rows
        )
