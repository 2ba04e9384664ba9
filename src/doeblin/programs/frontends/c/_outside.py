"""What functions without a body see of a file, and what they may change in it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pycparser import c_ast

from ...system.terms import ZERO, compare, var
from ._arguments import Arguments
from ._emitter import Slot
from .tree import assigned, names_in, reached_from_outside
from .types import INT, CType


class Outside(Arguments):
    """The walls between a file and others."""

    def __init__(self, *args: Any, **options: Any):
        super().__init__(*args, **options)
        self.sealed: set[str] = set()  # globals that no other file can change
        self.inner: set[str] = set()  # those that no other file can see

    def seal(self, declared: Mapping[str, Any], hidden: Collection[str]) -> None:
        """Constants, and static variables that only `main` writes, or what only that calls, are out
        of the reach of other files; arrays and structures that are `hidden`, if others do not even
        name them."""
        outside = [self.functions[name] for name in reached_from_outside(self.functions)]
        written = {name for body in outside for name in assigned(body, steps=True)}
        mentioned = {name for body in outside for name in names_in(body)}
        static = [shown for shown, node in declared.items() if "static" in node.storage]
        const = [shown for shown, node in declared.items() if self.is_const(node)]
        self.inner = self._names((*hidden, *static))
        unseen = [shown for shown in hidden if shown not in mentioned]
        unseen += [shown for shown in static if shown not in written]
        self.sealed |= self._names((*const, *unseen))

    def _names(self, shown: Sequence[str]) -> set[str]:
        return {name for one in shown for name in self.scopes[0][one].names()}

    def keep_from(self, argument: Any) -> None:
        """Nothing is pointed out to a function of which nothing is known: it might keep it."""
        if self.is_array(argument):
            raise self.unsupported("an array given to a function without a body", argument)
        if self.element_of(argument) is not None:
            raise self.unsupported("a pointer given to a function without a body", argument)

    def no_global_pointers(self, node: Any) -> None:
        """A function without a body might change what they point to."""
        if any(slot.pointer is not None for slot in self.scopes[0].values()):
            raise self.unsupported("a function without a body, beside global pointers", node)

    def forget_exposed(self, name: str, node: Any) -> None:
        """A function without a body may change what it sees. What it does not see, functions of
        this file might change that it calls: it is taken to call none, but no proof relies on
        that."""
        exposed = self.exposed()
        self.forget_all([slot for slot in exposed if not slot.names() <= self.inner], name, node)
        inner = [slot for slot in exposed if slot.names() <= self.inner]
        if inner:
            kept = self.fresh("", INT)
            self.havoc(kept, INT, self.place(node), call=name, origin="hidden", within=(0, 1))
            change, after = self.graph.block(), self.graph.block()
            self.branch(compare("=", var(kept), ZERO), change, after, self.place(node))
            self.start(change)
            self.forget_all(inner, name, node, inner=True)
            self.jump(after)
            self.start(after)

    def forget_all(
        self, slots: Sequence[Slot], name: str, node: Any, *, inner: bool = False
    ) -> None:
        """A function without a body changes these."""
        for slot in slots:
            if slot.cells is not None:
                self.forget(slot.cells, self.place(node), "inner" if inner else "cell")
            elif slot.fields is not None:
                self.forget_all(list(slot.fields.values()), name, node, inner=inner)
            elif slot.name is not None and isinstance(slot.kind, CType):
                origin = "inner" if inner else "hidden"
                self.havoc(slot.name, slot.kind, self.place(node), call=name, origin=origin)

    def exposed(self) -> list[Slot]:
        """The globals that a function without a body may change."""
        known = [s for s in self.scopes[0].values() if not s.names() <= self.sealed]
        arrays = [slot for slot in known if slot.cells and not slot.cells.const]
        others = [s for s in known if not s.cells]
        return [*arrays, *(s for s in others if not (s.fields and s.const))]

    def is_array(self, node: Any) -> bool:
        slot = self.lookup(node.name) if isinstance(node, c_ast.ID) else None
        return slot is not None and bool(slot.cells or slot.lengths)
