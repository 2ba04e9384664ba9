"""Loops that are too long to run: the same program with small numbers in place of large limits.

Its states are like those of the program but for these numbers, and what is proposed of them is said
with the large ones again. Nothing is proved by it, and where it fails, the program need not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from ...linear import Atom, Dnf
from ..system import Block, Branch, Graph, with_terms
from ..system.terms import Term, const, fold, rebuild

_LARGE = 60
_FIRST, _STEP = 23, 8  # small numbers that few programs have


class Small(NamedTuple):
    """A program with small limits, and what they stand for; so do the numbers beside them."""

    graph: Graph
    limits: tuple[int, ...]
    large: dict[int, int]  # by the small numbers
    small: dict[int, int]  # by the large ones

    def enlarged(self, dnf: Dnf) -> Dnf:
        """A formula with the large numbers."""
        return tuple(tuple(map(self._enlarged, cube)) for cube in dnf)

    def _enlarged(self, atom: Atom) -> Atom:
        size = abs(atom.constant)
        if atom.modulus or size not in self.large:
            return atom
        sign = 1 if atom.constant > 0 else -1
        return atom._replace(constant=sign * self.large[size])


def with_small_limits(graph: Graph, limits: Iterable[int]) -> Small | None:
    """The program, if there are large limits."""
    large = sorted(limit for limit in limits if limit > _LARGE)
    beside: dict[int, int] = {}
    for number, limit in enumerate(large):
        new = beside.get(limit, _FIRST + _STEP * number)
        for i in (-1, 0, 1):
            beside.setdefault(limit + i, new + i)

    def combine(node: Term, args: list[Term]) -> Term:
        if node.op == "const" and not node.boolean:
            value = int(node.leaf)
            return const(beside.get(value, value))
        if all(new is old for new, old in zip(args, node.args, strict=True)):
            return node
        return rebuild(node, args)

    def change(term: Term) -> Term:
        return fold(term, combine)

    blocks = []
    for block in graph.blocks:
        end = block.end
        if isinstance(end, Branch):
            end = replace(end, condition=change(end.condition))
        blocks.append(Block([with_terms(s, change) for s in block.statements], end))
    changed = replace(graph, blocks=blocks)
    kept = tuple(beside.get(limit, limit) for limit in limits)
    back = {new: old for old, new in beside.items()}
    return Small(changed, kept, back, beside) if large else None
