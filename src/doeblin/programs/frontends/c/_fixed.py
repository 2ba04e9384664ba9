"""Pointers that point to one object wherever they are used, though they had no value before."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ...system import Assign, Branch, Graph, Jump, Statement, with_terms
from ...system.terms import Term, const, substitute

_Known = dict[str, int | None]  # None where it may be one of several


def settle(graph: Graph, names: Iterable[str]) -> None:
    """Put constants in place of those variables that have one, wherever they are read."""
    wanted = set(names)
    if not wanted or graph.procedures:
        return
    entry = _entries(graph, wanted)
    for index, known in entry.items():
        block, kept = graph.blocks[index], []
        for statement in block.statements:
            kept.append(with_terms(statement, lambda term, known=known: _folded(term, known)))
            _after(statement, known, wanted)
        block.statements = kept
        if isinstance(block.end, Branch):
            condition = _folded(block.end.condition, known)
            if condition.constant:
                block.end = Jump(block.end.yes if condition.leaf else block.end.no)
            else:
                block.end = replace(block.end, condition=condition)


def _folded(term: Term, known: _Known) -> Term:
    return substitute(term, {n: const(v) for n, v in known.items() if v is not None})


def _after(statement: Statement, known: _Known, wanted: set[str]) -> None:
    if isinstance(statement, Assign) and statement.name in wanted:
        value = _folded(statement.value, known)
        known[statement.name] = int(value.leaf) if value.constant else None


def _entries(graph: Graph, wanted: set[str]) -> dict[int, _Known]:
    """What is known where a block begins, of all that are reached."""
    entry: dict[int, _Known] = {0: {}}
    todo = [0]
    while todo:
        index = todo.pop()
        known = dict(entry[index])
        for statement in graph.blocks[index].statements:
            _after(statement, known, wanted)
        for target in graph.successors(index):
            before = entry.get(target)
            if before is None:
                entry[target] = dict(known)
                todo.append(target)
                continue
            # What one of the ways has not met yet is not read before it is assigned again.
            met = dict(before)
            for name, value in known.items():
                met[name] = value if before.get(name, value) == value else None
            if met != before:
                entry[target] = met
                todo.append(target)
    return entry
