"""Procedures of a graph: which blocks and variables are theirs, and what a call may change.

A call is known by two invariants: what holds where the procedure is entered, and how the state
where it returns depends on that of its entry. The second needs the values at the entry once more,
where the procedure changes them.
"""

from __future__ import annotations

from dataclasses import replace

from ._graph import (
    Assign,
    Assume,
    Branch,
    Call,
    Copy,
    Fill,
    Graph,
    Havoc,
    Load,
    Procedure,
    Store,
    read_by,
)
from .terms import variables


def blocks_of(graph: Graph, procedure: Procedure) -> list[int]:
    """The blocks that a procedure leads to without calls."""
    seen, todo = {procedure.entry: None}, [procedure.entry]
    while todo:
        for target in graph.successors(todo.pop()):
            if target not in seen:
                seen[target] = None
                todo.append(target)
    return list(seen)


def with_old_values(graph: Graph) -> None:
    """Complete the procedures: variables and arrays of others that each uses and changes, itself or
    in calls, and copies at the entry of what it changes and started with."""
    changed: dict[str, set[str]] = {}
    used: dict[str, set[str]] = {}
    calls: dict[str, set[str]] = {}
    assigned: dict[str, set[str]] = {}
    for name, procedure in graph.procedures.items():
        blocks = [graph.blocks[index] for index in blocks_of(graph, procedure)]
        statements = [statement for block in blocks for statement in block.statements]
        writes, reads, calls[name] = set[str](), set[str](), set[str]()
        for statement in statements:
            reads |= variables(*read_by(statement))
            if isinstance(statement, Call):
                calls[name].add(statement.procedure)
                writes.update(statement.results)
            elif isinstance(statement, Assign | Havoc):
                writes.add(statement.name)
            elif isinstance(statement, Load):
                writes.add(statement.name)
                reads.add(statement.array)
            elif isinstance(statement, Store | Fill):
                writes.add(statement.array)
            else:
                assert isinstance(statement, Assume), "no reader copies arrays"
        for block in blocks:
            reads |= variables(block.end.condition) if isinstance(block.end, Branch) else set()
        assigned[name] = writes
        changed[name] = writes - procedure.locals
        used[name] = (reads | writes) - procedure.locals
    grown = True
    while grown:
        grown = False
        for name, called in calls.items():
            for sets in (changed, used):
                new = set[str]().union(*(sets[other] for other in called)) - sets[name]
                sets[name] |= new
                grown = grown or bool(new)
    for name, procedure in list(graph.procedures.items()):
        lost = [p for p in procedure.parameters if p in assigned[name]]
        lost += [other for other in graph.variables if other in changed[name]]
        old = {}
        begin: list[Assign | Copy] = []
        for other in lost:
            copy = old[other] = f"{other}#old{len(graph.variables)}"
            shown = f"\\old({graph.variables[other].shown})"
            graph.variables[copy] = replace(graph.variables[other], name=copy, shown=shown)
            begin.append(Assign(copy, graph.term(other)))
        for other in [other for other in graph.arrays if other in changed[name]]:
            copy = old[other] = f"{other}#old{len(graph.arrays)}"
            shown = f"\\old({graph.arrays[other].shown})"
            graph.arrays[copy] = replace(graph.arrays[other], name=copy, shown=shown)
            begin.append(Copy(copy, other))
        graph.blocks[procedure.entry].statements[:0] = begin
        known = (*graph.variables, *graph.arrays)
        graph.procedures[name] = replace(
            procedure,
            locals=procedure.locals | frozenset(old.values()),
            shared=tuple(other for other in known if other in used[name]),
            changed=tuple(other for other in known if other in changed[name]),
            old=old,
        )
