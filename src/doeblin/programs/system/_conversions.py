"""Conversions between integers and floating point, of which solvers know too little.

In their place clauses have a variable of which some facts are known: a conversion is monotone, of
small integers it is exact, and at the program's own constants it is computed here. Every run of the
program is one of these clauses; a failure of theirs need not be one of the program, which its
interpreter decides.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import count

from ._system import Clause, Input, System
from .terms import (
    DIGITS,
    INFINITE,
    TRUNCATED,
    Term,
    compare,
    conj,
    const,
    float_value,
    floating,
    fold,
    implies,
    key_of,
    negate,
    number_of,
    postorder,
    rebuild,
)

_MOST = 40  # constants at which a conversion is computed
_FEW = 6  # conversions that are compared with each other
_LARGEST = 1 << 64
_CONVERSIONS = ("fof", TRUNCATED)


def is_floating(system: System) -> bool:
    """Is there a condition or a state in floating point, or an integer that is converted for what
    an array holds?"""
    if any(cut.formats for cut in system.cuts):
        return True
    roots = (term for clause in system.clauses for term in (clause.constraint, *clause.args))
    if any(node.bits is not None or node.op == TRUNCATED for node in postorder(*roots)):
        return True
    held = (term for clause in system.clauses for term in clause.arrays)
    return any(node.op in _CONVERSIONS for node in postorder(*held))


class _Constants:
    """The numbers of a program at which conversions are looked at: the simplest first."""

    def __init__(self, roots: Iterable[Term]):
        whole: dict[int, None] = dict.fromkeys((0, 1, -1))
        real: dict[float, None] = {}
        for node in postorder(*roots):
            bits = node.leaf if node.op.startswith("f") and isinstance(node.leaf, int) else None
            for arg in node.args:
                if not arg.constant or arg.boolean:
                    continue
                if bits is not None and node.op != "fof":
                    real[number_of(arg.leaf, bits)] = None
                else:
                    whole |= dict.fromkeys((arg.leaf, arg.leaf + 1, arg.leaf - 1))
        finite = [value for value in real if math.isfinite(value) and abs(value) < _LARGEST]
        whole |= dict.fromkeys(n for v in finite for n in (math.floor(v), math.ceil(v)))
        self.whole = sorted((n for n in whole if abs(n) <= _LARGEST), key=abs)[:_MOST]
        self._real = [*finite, *map(float, self.whole)]

    def keys(self, bits: int) -> list[int]:
        """Those that a format has."""
        found = {}
        for value in self._real:
            key = key_of(value, bits)
            # What is just below an integer leaves another one.
            found |= dict.fromkeys(k for k in (key, key - 1, key + 1) if abs(k) < INFINITE[bits])
        return list(found)[:_MOST]


def without_conversions(system: System) -> System:
    """The clauses, which allow the same and more, without conversions of integers."""
    roots = [term for clause in system.clauses for term in (clause.constraint, *clause.args)]
    if not any(node.op in _CONVERSIONS for node in postorder(*roots)):
        return system
    constants = _Constants(roots)
    numbers = count()
    clauses = tuple(_without(clause, constants, numbers) for clause in system.clauses)
    return replace(system, clauses=clauses)


def _without(clause: Clause, constants: _Constants, numbers: Iterator[int]) -> Clause:
    made: list[Input] = []
    facts: list[Term] = []
    known: dict[int, Term] = {}
    wholes: dict[str, tuple[Term, Term]] = {}  # integers, and what they are converted to

    def combine(node: Term, args: list[Term]) -> Term:
        if id(node) in known:
            return known[id(node)]
        if all(new is old for new, old in zip(args, node.args, strict=True)):
            found = node
        else:
            found = rebuild(node, args)
        if found.op in _CONVERSIONS:
            made.append(Input(f"#converted{next(numbers)}", bits=found.bits))  # no name of C's
            value = made[-1].term
            source, bits = found.args[0], found.leaf
            if found.op == "fof":
                facts.extend(_rounded(source, value, bits, constants))
                facts.extend(_in_order(source, value, bits, wholes))
                wholes[made[-1].name] = source, value
            else:
                facts.extend(_truncated(source, value, bits, constants))
                if source.op == "var" and source.leaf in wholes:  # there and back
                    whole, _ = wholes[source.leaf]
                    facts.append(implies(_exact(whole, bits), compare("=", value, whole)))
            found = value
        known[id(node)] = found
        return found

    constraint = fold(clause.constraint, combine)
    args = tuple(fold(arg, combine) for arg in clause.args)
    return replace(
        clause,
        constraint=conj((*facts, constraint)),
        args=args,
        inputs=(*clause.inputs, *made),
    )


def _rounded(whole: Term, value: Term, bits: int, constants: _Constants) -> Iterable[Term]:
    """What is known of an integer's nearest value in floating point."""
    yield negate(floating("fnan", bits, value))
    yield compare("!=", value, const(-1))  # there is no -0 of integers
    for number in constants.whole:
        here = const(int(float_value("fof", bits, [number])))
        yield implies(compare("<=", whole, const(number)), floating("f<=", bits, value, here))
        yield implies(compare("<=", const(number), whole), floating("f<=", bits, here, value))


def _in_order(
    whole: Term, value: Term, bits: int, others: Mapping[str, tuple[Term, Term]]
) -> Iterable[Term]:
    """Integers and what they are converted to have one order; small ones are told apart, too."""
    for other, converted in list(others.values())[-_FEW:]:
        if converted.bits != bits:
            continue
        pairs = ((whole, value, other, converted), (other, converted, whole, value))
        for a, converted_a, b, converted_b in pairs:
            order, kept = compare("<=", a, b), floating("f<=", bits, converted_a, converted_b)
            yield implies(order, kept)
            yield implies(conj((_exact(a, bits), _exact(b, bits), kept)), order)


def _exact(whole: Term, bits: int) -> Term:
    """Is an integer so small that its format has it?"""
    most = 1 << DIGITS[bits]
    return conj((compare("<=", const(-most), whole), compare("<=", whole, const(most))))


def _truncated(real: Term, value: Term, bits: int, constants: _Constants) -> Iterable[Term]:
    """What is known of the integer that is left of a value in floating point."""
    for key in constants.keys(bits):
        here, number = const(key), const(int(float_value(TRUNCATED, bits, [key])))
        yield implies(floating("f<=", bits, real, here), compare("<=", value, number))
        yield implies(floating("f<=", bits, here, real), compare("<=", number, value))
