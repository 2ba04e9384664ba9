"""What makes questions about floating point easier: facts that are true of every value.

Rounding is monotone, so where operands are bounded by constants, results are, too. Solvers work on
bits and take long to find that out. What is stated here are such facts at the constants of the
question itself, and at those which the operations make of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..system.terms import (
    INFINITE,
    LOWEST,
    OPERATIONS,
    Term,
    conj,
    const,
    float_value,
    floating,
    implies,
    postorder,
    result_format,
)

_MOST = 24  # constants at which an operation is looked at
_FEW = 9  # of each of two operands


def eased(*terms: Term) -> list[Term]:
    """Facts about all operations on floating point in the terms."""
    nodes = [node for node in postorder(*terms) if node.op in OPERATIONS]
    pools = {bits: _constants(nodes, bits) for bits in (32, 64)} if nodes else {}
    known: dict[int, list[int]] = {}
    found: list[Term] = []

    def pool(term: Term, bits: int) -> list[int]:
        return [int(term.leaf)] if term.constant else known.get(id(term), pools[bits])

    for node in nodes:
        bits, own = node.leaf, result_format(node.op, node.leaf)
        if own is None or node.op == "fof":
            continue
        if len(node.args) == 1:
            keys = pool(node.args[0], bits)
            images = [_value(node.op, bits, key) for key in keys]
            if node.op in ("fwiden", "fnarrow"):
                found += _rising(node, own, bits, zip(keys, images, strict=True))
        else:
            left, right = (pool(arg, bits)[:_MOST] for arg in node.args)
            if any(arg.constant for arg in node.args):
                images = [_value(node.op, bits, a, b) for a in left for b in right]
                found += _with_constant(node, left, right)
            else:
                left, right = left[:_FEW], right[:_FEW]
                images = [_value(node.op, bits, a, b) for a in left for b in right]
                found += _with_two(node, left, right)
        finite = [key for key in images if LOWEST[own] < key < INFINITE[own]]
        known[id(node)] = list(dict.fromkeys((*finite, *pools[own])))[:_MOST]
    return found


def _constants(nodes: Iterable[Term], bits: int) -> list[int]:
    """The finite numbers of a format that operations have as arguments, and their negatives."""
    found = {0: None}
    for node in nodes:
        for arg in node.args:
            if arg.constant and node.leaf == bits and node.op != "fof":
                found |= dict.fromkeys((arg.leaf, -1 - arg.leaf))
    found.pop(-1, None)
    return [key for key in found if LOWEST[bits] < key < INFINITE[bits]][:_MOST]


def _value(op: str, bits: int, *keys: int) -> int:
    return int(float_value(op, bits, list(keys)))


def _at_most(bits: int, left: Term | int, right: Term | int) -> Term:
    a, b = (const(side) if isinstance(side, int) else side for side in (left, right))
    return floating("f<=", bits, a, b)


def _rising(
    node: Term, own: int, bits: int, pairs: Iterable[tuple[int, int]], place: int = 0
) -> Iterator[Term]:
    """The result is at most, or at least, what it is at a constant, if the argument is."""
    arg = node.args[place]
    for key, image in pairs:
        yield implies(_at_most(bits, arg, key), _at_most(own, node, image))
        yield implies(_at_most(bits, key, arg), _at_most(own, image, node))


def _falling(node: Term, bits: int, pairs: Iterable[tuple[int, int]], place: int) -> Iterator[Term]:
    arg = node.args[place]
    for key, image in pairs:
        yield implies(_at_most(bits, arg, key), _at_most(bits, image, node))
        yield implies(_at_most(bits, key, arg), _at_most(bits, node, image))


def _with_constant(node: Term, left: list[int], right: list[int]) -> Iterator[Term]:
    """One operand is a constant: the result rises or falls with the other."""
    op, bits = node.op, node.leaf
    place = 1 if node.args[0].constant else 0
    (fixed,), keys = (left, right) if place else (right, left)
    if not LOWEST[bits] < fixed < INFINITE[bits]:
        return
    if op in ("f*", "f/") and (fixed in (0, -1) or (op == "f/" and place == 1)):
        return
    pairs = [
        (key, _value(op, bits, fixed, key) if place else _value(op, bits, key, fixed))
        for key in keys
    ]
    if (op == "f-" and place == 1) or (op in ("f*", "f/") and fixed < 0):
        yield from _falling(node, bits, pairs, place)
    else:
        yield from _rising(node, bits, bits, pairs, place)


def _with_two(node: Term, left: list[int], right: list[int]) -> Iterator[Term]:
    op, bits = node.op, node.leaf
    a, b = node.args
    if op in ("f+", "f-"):
        for k in left:
            for m in right:
                image = _value(op, bits, k, m)
                low, high = _at_most(bits, m, b), _at_most(bits, b, m)
                if op == "f-":
                    low, high = high, low
                yield implies(conj((_at_most(bits, a, k), high)), _at_most(bits, node, image))
                yield implies(conj((_at_most(bits, k, a), low)), _at_most(bits, image, node))
        yield from _drifting(node)
        return
    sizes = [
        sorted({abs_ for key in keys if (abs_ := _value("fabs", bits, key))})
        for keys in (left, right)
    ]
    for k in sizes[0]:
        inside = conj((_at_most(bits, -1 - k, a), _at_most(bits, a, k)))
        for m in sizes[1]:
            if op == "f*":
                beside = conj((_at_most(bits, -1 - m, b), _at_most(bits, b, m)))
            else:
                beside = _at_most(bits, m, b)
            image = _value(op, bits, k, m)
            said = conj((_at_most(bits, -1 - image, node), _at_most(bits, node, image)))
            yield implies(conj((inside, beside)), said)
    largest = INFINITE[bits] - 1
    if op == "f*":
        if a is b or repr(a) == repr(b):
            yield implies(floating("f=", bits, a, a), _at_most(bits, 0, node))
        else:
            whole = (_at_most(bits, 0, a), _at_most(bits, a, largest))
            beside = (_at_most(bits, 0, b), _at_most(bits, b, largest))
            yield implies(conj((*whole, *beside)), _at_most(bits, 0, node))


def _drifting(node: Term) -> Iterator[Term]:
    """A sum is on that side of an operand on which the other operand is of zero."""
    bits, (a, b) = node.leaf, node.args
    largest = INFINITE[bits] - 1
    sides = ((a, b), (b, a)) if node.op == "f+" else ((a, b),)
    for one, other in sides:
        number = floating("f=", bits, one, one)
        above = conj((number, _at_most(bits, 0, other), _at_most(bits, other, largest)))
        below = conj((number, _at_most(bits, other, 0), _at_most(bits, -1 - largest, other)))
        if node.op == "f-":
            above, below = below, above
        yield implies(above, _at_most(bits, one, node))
        yield implies(below, _at_most(bits, node, one))
