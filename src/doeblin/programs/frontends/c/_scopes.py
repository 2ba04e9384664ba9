"""How what is in scope is written in annotations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ...system import Graph
from ._emitter import Cells, Slot
from .types import Pointer


def written(
    scopes: Sequence[Mapping[str, Slot]],
    graph: Graph,
    targets: Callable[[Pointer], set[str]],
) -> tuple[dict[str, str], dict[str, str]]:
    """The variables and arrays of the graph by their names in the text; and of those that have no
    name there but are a part of something that has (where a pointer points to, what it points to,
    members of arrays of structures), what that is."""
    scope: dict[str, str] = {}
    parts: dict[str, str] = {}
    pointing: dict[str, str] = {}
    alone: dict[str, str] = {}
    for frame in scopes:
        scope |= {shown: slot.name for shown, slot in frame.items() if slot.name is not None}
    for frame in scopes:
        for shown, slot in frame.items():
            if slot.fields is not None:
                scope |= _members(shown, slot)
                parts |= dict.fromkeys(slot.names(), f"{shown}[..]" if slot.lengths else shown)
            elif slot.cells is not None:
                scope |= _named(shown, slot.cells)
            elif slot.pointer is not None:
                found = targets(slot.pointer)
                parts |= dict.fromkeys(found, f"{shown}[..]")
                if slot.pointer.at is None and len(found) == 1 and found <= graph.arrays.keys():
                    alone[shown] = min(found)
                pointing |= {part: shown for part in (slot.pointer.to, slot.pointer.at) if part}
    # Memory has no name but that of a pointer which never points elsewhere.
    scope |= {shown: name for shown, name in alone.items() if name not in scope.values()}
    named = set(scope.values())
    for part, shown in pointing.items():
        # `p - a`, where it is this array that is called so.
        wanted = graph.variables[part].shown
        if any(
            wanted == f"({shown} - {name})" for name in scope if scope[name] in named & parts.keys()
        ):
            scope[wanted] = part
    return scope, {n: whole for n, whole in parts.items() if n not in named} | pointing


def _members(shown: str, slot: Slot) -> dict[str, str]:
    """How the members of a structure are written; those of an array of them are not."""
    if slot.cells is not None:
        return _named(shown, slot.cells)
    found: dict[str, str] = {shown: slot.name} if slot.name is not None else {}
    if not slot.lengths:
        for name, member in (slot.fields or {}).items():
            found |= _members(f"{shown}.{name}", member)
    return found


def _named(shown: str, cells: Cells) -> dict[str, str]:
    """How cells that are variables, or a whole array in one row, are written."""
    if cells.scalars is None:
        return {shown: cells.name} if len(cells.lengths) == 1 else {}
    if len(cells.lengths) > 1:
        return {}
    return {f"{shown}[{at}]": name for at, name in cells.scalars.items()}
