"""Pointers that point to one object wherever they are used, though they had no value before, or
were null and that was looked at; and memory that was not freed yet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import product
from math import prod

from ...system import Assign, Branch, Graph, Jump, Statement, with_terms
from ...system.terms import Term, const, evaluate, substitute, variables

_Known = dict[str, frozenset[int] | None]  # the values that are possible; None for many
_MOST = 8  # values of a variable
_CASES = 64  # that are tried of a condition


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
            ways = list(_ways(block.end, known))
            if len(ways) == 1:
                block.end = Jump(ways[0][0])
            else:
                block.end = replace(block.end, condition=_folded(block.end.condition, known))


def _folded(term: Term, known: _Known) -> Term:
    fixed = {name: const(next(iter(v))) for name, v in known.items() if v and len(v) == 1}
    return substitute(term, fixed)


def _after(statement: Statement, known: _Known, wanted: set[str]) -> None:
    if isinstance(statement, Assign) and statement.name in wanted:
        cases = _cases(statement.value, known)
        found = frozenset(int(value) for _, value in cases) if cases is not None else None
        known[statement.name] = found if found is not None and len(found) <= _MOST else None


def _cases(term: Term, known: _Known) -> list[tuple[dict[str, int], int]] | None:
    """The values of a term, each with those of its variables; None if they are too many."""
    names = sorted(variables(term))
    values = [known.get(name) for name in names]
    given = [sorted(several) for several in values if several is not None]
    if len(given) < len(names) or prod(map(len, given)) > _CASES:
        return None
    points = (dict(zip(names, point, strict=True)) for point in product(*given))
    return [(point, evaluate(term, point)) for point in points]


def _ways(branch: Branch, known: _Known) -> Iterator[tuple[int, _Known]]:
    """Where a branch may lead, and what is known there."""
    for target, truth in ((branch.yes, True), (branch.no, False)):
        there = _where(branch.condition, truth, known)
        if there is not None:
            yield target, there


def _where(condition: Term, truth: bool, known: _Known) -> _Known | None:
    """What is known where the condition is true, or is false; None if that cannot be."""
    if condition.op == ("and" if truth else "or"):
        for part in condition.args:
            found = _where(part, truth, known)
            if found is None:
                return None
            known = found
        return known
    if condition.op == "not":
        return _where(condition.args[0], not truth, known)
    cases = _cases(condition, known)
    if cases is None:
        return known
    points = [point for point, value in cases if bool(value) == truth]
    if not points:
        return None
    return known | {name: frozenset(point[name] for point in points) for name in points[0]}


def _entries(graph: Graph, wanted: set[str]) -> dict[int, _Known]:
    """What is known where a block begins, of all that are reached."""
    entry: dict[int, _Known] = {0: {}}
    todo = [0]
    while todo:
        index = todo.pop()
        block, known = graph.blocks[index], dict(entry[index])
        for statement in block.statements:
            _after(statement, known, wanted)
        if isinstance(block.end, Branch):
            ways = list(_ways(block.end, known))
        else:
            ways = [(target, known) for target in graph.successors(index)]
        for target, there in ways:
            before = entry.get(target)
            if before is None:
                entry[target] = dict(there)
                todo.append(target)
                continue
            # What one of the ways has not met yet is not read before it is assigned again.
            met = dict(before)
            for name, values in there.items():
                met[name] = _either(before.get(name, values), values)
            if met != before:
                entry[target] = met
                todo.append(target)
    return entry


def _either(one: frozenset[int] | None, other: frozenset[int] | None) -> frozenset[int] | None:
    both = one | other if one is not None and other is not None else None
    return both if both is not None and len(both) <= _MOST else None
