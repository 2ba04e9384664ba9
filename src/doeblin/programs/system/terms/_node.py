"""A node of a term, the ways through all of them, and their text in SMT-LIB."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

from ....linear import numeral, symbol

_LONGEST = 2000  # characters of a part as `repr` writes it


class Term:
    """A node: `op`, its arguments, and for a leaf its value (`const`) or name (`var`). What is
    floating point, if it is no constant, has the width of its format as `bits`."""

    __slots__ = ("args", "bits", "boolean", "leaf", "op")

    def __init__(
        self, op: str, args: tuple[Term, ...], leaf: Any, boolean: bool, bits: int | None = None
    ):
        self.op = op
        self.args = args
        self.leaf = leaf
        self.boolean = boolean
        self.bits = bits

    def __repr__(self) -> str:
        return texts(self)[id(self)]

    @property
    def constant(self) -> bool:
        return self.op == "const"


def postorder(*roots: Term) -> Iterator[Term]:
    """Every node once, arguments before users; no recursion."""
    done: set[int] = set()
    stack = [(root, False) for root in reversed(roots)]
    while stack:
        term, ready = stack.pop()
        if ready:
            yield term
        elif id(term) not in done:
            done.add(id(term))
            if not term.args:
                yield term
                continue
            stack.append((term, True))
            stack += [(item, False) for item in reversed(term.args) if id(item) not in done]


def fold(term: Term, combine: Callable[[Term, list[Any]], Any]) -> Any:
    """Bottom-up value of a term: `combine(node, values of its arguments)`, shared nodes once."""
    values: dict[int, Any] = {}
    for node in postorder(term):
        values[id(node)] = combine(node, [values[id(item)] for item in node.args])
    return values[id(term)]


def variables(*terms: Term) -> set[str]:
    """The names in a term, also those of arrays."""
    return {node.leaf for node in postorder(*terms) if node.op in ("var", "array")}


def formats(*terms: Term) -> dict[str, int | None]:
    """The variables in a term, with their formats."""
    return {node.leaf: node.bits for node in postorder(*terms) if node.op == "var"}


def cells_read(*terms: Term) -> list[tuple[str, Term]]:
    """The arrays that cells may be taken of, each with the index."""
    found: dict[tuple[str, int], tuple[str, Term]] = {}
    for node in postorder(*terms):
        if node.op == "select":
            for inner in postorder(node.args[0]):
                if inner.op == "array":
                    found[inner.leaf, id(node.args[1])] = (inner.leaf, node.args[1])
    return list(found.values())


def node_text(node: Term, args: list[str]) -> str:
    if node.op == "const":
        return ("true" if node.leaf else "false") if node.boolean else numeral(node.leaf)
    if node.op in ("var", "array"):
        return symbol(node.leaf)
    if node.op == "fill":
        return f"((as const (Array Int Int)) {args[0]})"
    if node.op in ("tdiv", "trem"):
        op, (a, b) = {"tdiv": "div", "trem": "mod"}[node.op], args
        return f"(ite (>= {a} 0) ({op} {a} {b}) (- ({op} (- {a}) {b})))"
    width = () if node.leaf is None else (str(node.leaf),)  # of floating point, for people
    return f"({' '.join((node.op, *width, *args))})"


def smtlib(term: Term) -> str:
    """One expression; shared parts are written as often as they are used."""
    return fold(term, node_text)


def texts(*roots: Term) -> dict[int, str]:
    """A text for each node, by its identity; the same for the same terms. Long parts of it are
    digests: terms that share their parts may be exponentially long when written out."""
    found: dict[int, str] = {}
    for node in postorder(*roots):
        text = node_text(node, [found[id(item)] for item in node.args])
        if len(text) > _LONGEST:
            text = f"<{hashlib.blake2b(text.encode(), digest_size=16).hexdigest()}>"
        found[id(node)] = text
    return found
