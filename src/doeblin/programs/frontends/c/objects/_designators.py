"""The types of what expressions designate: variables, cells, members, what is pointed to."""

from __future__ import annotations

from typing import Any, NamedTuple

from pycparser import c_ast

from ....system.terms import const, mul
from .._emitter import Slot
from .._static import ARRAY
from ..types import CType, Opaque, Struct, layout
from ._operators import Operators


class Shape(NamedTuple):
    """The type of what an expression designates: its cells' and how many indices lead to one; and
    of a pointer the type that it points to."""

    kind: CType | Opaque
    dims: int = 0
    element: CType | Opaque | None = None


class Designators(Operators):
    """Nothing here adds to the graph."""

    def element_of(self, node: Any) -> CType | Opaque | None:
        raise AssertionError("given by Pointers")

    def shape_of(self, node: Any) -> Shape | None:
        """The type of a designator; None if it is none, or of something that is not modelled."""
        if isinstance(node, c_ast.ID):
            slot = self.lookup(node.name)
            return None if slot is None else shape(slot)
        if isinstance(node, c_ast.ArrayRef):
            whole = self.shape_of(node.name)
            if whole is not None and whole.dims:
                return whole._replace(dims=whole.dims - 1)
            element = self.element_of(node.name)
            return None if element is None else Shape(element)
        if isinstance(node, c_ast.UnaryOp) and node.op == "*":
            element = self.element_of(node.expr)
            return None if element is None else Shape(element)
        if isinstance(node, c_ast.StructRef):
            if node.type == "->":
                return _member(self.element_of(node.name), node)
            whole = self.shape_of(node.name)
            return _member(whole.kind, node) if whole is not None and not whole.dims else None
        if isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID):
            called = self.functions.get(node.name.name)
            if called is None or node.name.name in self.recursive:
                return None
            kind = self.in_global_scope(called.decl.type.type)
            return Shape(kind) if isinstance(kind, Struct) else None
        return None

    def designates(self, node: Any) -> bool:
        """Is it a designator other than a name?"""
        return isinstance(node, c_ast.ArrayRef | c_ast.StructRef) or (
            isinstance(node, c_ast.UnaryOp) and node.op == "*"
        )

    def size(self, node: Any) -> int:
        if not isinstance(node, c_ast.ID) and not self.designates(node):
            return super().size(node)
        found = self.shape_of(node)
        slot, depth = self._array_of(node)
        if found is None:
            return super().size(node)
        if found.element is not None or (slot and slot.cells and slot.cells.pointer and not depth):
            return 8
        own = layout(found.kind)
        if own is None or (found.dims and slot is None):
            what = found.kind.what if isinstance(found.kind, Opaque) else "a member"
            raise self.unsupported(f"sizeof of {what}", node)
        total = const(own[0])
        lengths = (slot.cells.lengths if slot.cells else slot.lengths) if slot else ()
        for length in lengths[depth:] if found.dims else ():
            if length is None or not length.constant:
                raise self.unsupported("sizeof of variable length arrays", node)
            total = mul(total, length)
        return int(total.leaf)

    def _array_of(self, node: Any) -> tuple[Slot | None, int]:
        """The array of a designator, and how many indices there are."""
        depth = 0
        while isinstance(node, c_ast.ArrayRef):
            node, depth = node.name, depth + 1
        return (self.lookup(node.name) if isinstance(node, c_ast.ID) else None), depth

    def _kind_of_arrayref(self, node: Any) -> CType | Opaque:
        found = self.shape_of(node)
        if found is None:
            raise self.unsupported("the type of this expression", node)
        return ARRAY if found.dims else found.kind

    _kind_of_structref = _kind_of_arrayref

    def _kind_of_unaryop(self, node: Any) -> CType | Opaque:
        return self._kind_of_arrayref(node) if node.op == "*" else super()._kind_of_unaryop(node)


def shape(slot: Slot) -> Shape | None:
    """The type of what a name stands for, if that is modelled."""
    if slot.cells is not None:
        return Shape(slot.cells.element, len(slot.cells.lengths))
    if slot.pointer is not None:
        return Shape(slot.kind, 0, slot.pointer.element)
    if slot.fields is not None:
        return Shape(slot.kind, len(slot.lengths))
    if slot.name is None or isinstance(slot.kind, Opaque):
        return None
    return Shape(slot.kind)


def _member(kind: CType | Opaque | None, node: Any) -> Shape | None:
    found = kind.member(node.field.name) if isinstance(kind, Struct) else None
    if found is None or (isinstance(found[0], Opaque) and not isinstance(found[0], Struct)):
        return None
    return Shape(found[0], len(found[1]))
