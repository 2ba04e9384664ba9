"""Structures: a variable for every member, and an array for every member of an array of them.

A structure as a value is the list of its leaves, the integers in it, in the order of its members.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pycparser import c_ast

from ....._errors import Place
from ....system import Statement
from ....system.terms import Term, const
from .._emitter import Slot, Value
from .._static import ARRAY
from ..types import INT, CType, Key, Opaque, Struct
from ._addresses import Addresses
from ._designators import Shape
from ._lvalues import Choice, Located

Path = tuple[str | int, ...]
_MOST_LEAVES = 64


class Structs(Addresses):
    """Structures as objects and as values."""

    # ---- objects

    def structure(
        self, shown: str, kind: Struct, lengths: tuple[Term, ...], place: Place, *, const_: bool
    ) -> Slot:
        """A new structure, or array of them."""
        fields: dict[str, Slot] = {}
        for name, inner, own in kind.fields:
            text = f"{shown}.{name}" if shown else ""
            every = (*lengths, *(const(length) for length in own))
            if isinstance(inner, Struct):
                fields[name] = self.structure(text, inner, every, place, const_=const_)
            elif isinstance(inner, Opaque):
                fields[name] = Slot(inner)
            elif every:
                cells = self.object(text or "a member", inner, every, place, const=const_)
                fields[name] = Slot(ARRAY, cells=cells, const=const_)
            else:
                fields[name] = Slot(inner, self.fresh(text, inner, place), const=const_)
        return Slot(kind, fields=fields, lengths=lengths, const=const_)

    def living(self, slot: Slot, node: Any, scope: dict[str, Slot] | None = None) -> Slot:
        slot = super().living(slot, node, scope)
        if slot.fields is None:
            return slot
        key: Key = slot.key or ()
        fields = {
            name: self.living(field._replace(key=(*key, name)), node, scope)
            for name, field in slot.fields.items()
        }
        slot = slot._replace(fields=fields)
        self.objects[key] = slot
        return slot

    def blanked(self, slot: Slot, place: Place, value: int | None) -> list[Statement]:
        """What gives all members a value, or leaves open which."""
        if slot.fields is not None:
            inner = slot.fields.values()
            return [one for field in inner for one in self.blanked(field, place, value)]
        if slot.cells is not None:
            return self.blank(slot.cells, place, value)
        if slot.name is None or not isinstance(slot.kind, CType):
            return []
        return [self.blank_variable(slot.name, slot.kind, place, value)]

    # ---- leaves

    def leaves(self, kind: CType | Opaque, lengths: tuple[int, ...], node: Any) -> list[Path]:
        """The integers in a structure."""
        if lengths:
            inner = self.leaves(kind, lengths[1:], node)
            if lengths[0] * len(inner) > _MOST_LEAVES:
                raise self.unsupported("a copy of a structure this large", node)
            return [(number, *path) for number in range(lengths[0]) for path in inner]
        if isinstance(kind, Struct):
            return [
                (name, *path)
                for name, inner, own in kind.fields
                for path in self.leaves(inner, own, node)
            ]
        return [()] if isinstance(kind, CType) else []

    def leaf(self, found: Located, path: Path) -> Located:
        """One of the integers in what is designated."""
        for step in path:
            if isinstance(step, str):
                found = self.member_of(found, step)
            else:
                index = Value(const(step), INT)
                choices = tuple(c._replace(indices=(*c.indices, index)) for c in found.choices)
                inner = found.shape._replace(dims=found.shape.dims - 1)
                found = found._replace(choices=choices, shape=inner)
        return found

    def structure_of(self, node: Any) -> Struct | None:
        """The type of an expression, if it is a structure."""
        found = self.shape_of(node)
        plain = found is not None and not found.dims
        return found.kind if plain and found and isinstance(found.kind, Struct) else None

    def structure_value(self, node: Any, kind: Struct, later: Sequence[Any] = ()) -> list[Value]:
        """The leaves of an expression, as they are now."""
        if self.structure_of(node) != kind:
            raise self.unsupported("structures", node)
        self.check_operands(self.operands(node), node)
        found = self.locate(node, later)
        return [
            self.snapshot(self.fetch(self.leaf(found, path), node))
            for path in self.leaves(kind, (), node)
        ]

    def set_structure(self, found: Located, kind: Struct, values: list[Value], node: Any) -> None:
        for path, value in zip(self.leaves(kind, (), node), values, strict=True):
            self.put(self.leaf(found, path), value, node)

    def entire(self, slot: Slot) -> Located:
        """A structure as a place."""
        return Located((Choice(None, slot),), Shape(slot.kind, len(slot.lengths)))

    def assign_structure(self, node: Any, kind: Struct) -> None:
        """`s = t`, where t may be a part of what s is."""
        if node.op != "=":
            raise self.unsupported("structures", node)
        self.check_operands([*self.operands(node.lvalue), node.rvalue], node)
        self.check_assignment(node)
        found = self.locate(node.lvalue, [node.rvalue])
        if found.const:
            raise self.unsupported("a structure that is const, and is changed", node)
        values = self.structure_value(node.rvalue, kind)
        self.set_structure(found, kind, values, node)

    # ---- initialisers

    def begin(self, slot: Slot, kind: Struct, lengths: tuple[int, ...], node: Any) -> None:
        """The initial values of an automatic structure."""
        place = self.place(node)
        found = self.entire(slot)
        if node.init is None:
            for statement in self.blanked(slot, place, None):
                self.emit(statement)
            return
        if not isinstance(node.init, c_ast.InitList):
            if lengths:
                raise self.unsupported("this initialiser of an array", node)
            values = self.structure_value(node.init, kind)
            self.set_structure(found, kind, values, node)
            return
        given: dict[Path, Any] = {}
        self._spread(kind, lengths, list(node.init.exprs), (), given, node)
        self.check_operands(list(given.values()), node)
        begun: list[tuple[Path, list[Path], list[Value]]] = []
        for path, item in given.items():
            inner = self.structure_of(item)
            if inner is not None:
                values = self.structure_value(item, inner)
                begun.append((path, self.leaves(inner, (), node), values))
            else:
                begun.append((path, [()], [self.snapshot(self.rvalue(item))]))
        for statement in self.blanked(slot, place, 0):
            self.emit(statement)
        for path, leaves, values in begun:
            for leaf, value in zip(leaves, values, strict=True):
                self.put(self.leaf(found, (*path, *leaf)), value, node)

    def begin_lasting(
        self, slot: Slot, kind: Struct, lengths: tuple[int, ...], node: Any
    ) -> list[Statement]:
        """What a global or static structure is before the program starts."""
        place = self.place(node)
        begun = self.blanked(slot, place, 0)
        if node.init is None:
            return begun
        given: dict[Path, Any] = {}
        if not isinstance(node.init, c_ast.InitList):
            raise self.unsupported("this initialiser", node)
        self._spread(kind, lengths, list(node.init.exprs), (), given, node)
        where, before = self.current, len(self.graph.blocks[self.current].statements)
        for path, item in given.items():
            number, own = self.constant(item)
            self.put(self.leaf(self.entire(slot), path), Value(const(number), own), node)
        assert where == self.current  # constants are within bounds
        block = self.graph.blocks[where]
        begun += block.statements[before:]
        block.statements = block.statements[:before]
        return begun

    def _spread(
        self,
        kind: CType | Opaque,
        lengths: tuple[int, ...],
        items: list[Any],
        path: Path,
        given: dict[Path, Any],
        node: Any,
        *,
        elided: bool = False,
    ) -> None:
        """What each leaf is given; where brackets are left out, members take what they need."""
        members: list[tuple[str | int, CType | Opaque, tuple[int, ...]]]
        if lengths:
            members = [(number, kind, lengths[1:]) for number in range(lengths[0])]
        else:
            assert isinstance(kind, Struct)
            members = list(kind.fields)
        at = 0
        while items:
            item = items[0]
            if isinstance(item, c_ast.NamedInitializer):
                if elided:
                    return
                at = self._named_member(item, members, node)
                item = items[0] = item.expr
            if at == len(members):
                if elided:
                    return
                raise self.unsupported("more initialisers than members", node)
            name, inner, own = members[at]
            here = (*path, name)
            if any(known[: len(here)] == here for known in given):
                raise self.unsupported("a member that is initialised twice", node)
            at += 1
            if isinstance(inner, Opaque) and not isinstance(inner, Struct):
                raise self.unsupported(inner.what, node)
            single = not own and isinstance(inner, CType)
            if isinstance(item, c_ast.InitList):
                if single:
                    raise self.unsupported("this initialiser of a member", node)
                self._spread(inner, own, list(item.exprs), here, given, node)
            elif single or (not own and self.structure_of(item) == inner):
                given[here] = item
            elif isinstance(item, c_ast.Constant) and item.type == "string":
                raise self.unsupported("a text in the initialiser of a structure", node)
            else:
                self._spread(inner, own, items, here, given, node, elided=True)
                continue
            items.pop(0)

    def _named_member(self, item: Any, members: list[Any], node: Any) -> int:
        name = item.name[0] if len(item.name) == 1 else None
        if isinstance(name, c_ast.ID):
            wanted: str | int = name.name
        elif isinstance(name, c_ast.ArrayDesignator) and self.is_constant(name.expr):
            wanted = self.constant(name.expr)[0]
        else:
            raise self.unsupported("initialisers that name their cells", node)
        for number, member in enumerate(members):
            if member[0] == wanted:
                return number
        raise self.unsupported("an initialiser of another member", node)
