"""Pointers: to one of the objects that are known, so many cells from its beginning.

To follow one that points to nothing, or beyond, is a failure; so is arithmetic that leaves its
object, but for one cell past the end. What may point to something that ends before is refused.
"""

from __future__ import annotations

from typing import Any

from pycparser import c_ast

from ....system.terms import ONE, ZERO, Term, add, compare, conj, const, implies, var
from .._emitter import Slot
from .._order import Inner
from .._static import POINTER, STEPS
from ..types import (
    INT,
    LONG,
    NOWHERE,
    NUMBERS,
    Address,
    CType,
    Key,
    Life,
    Opaque,
    Pointer,
    Points,
    Struct,
)
from ._lvalues import Lvalues

_ADDING = frozenset({"+", "-"})


class Pointers(Lvalues):
    """Expressions that point."""

    def __init__(self, *args: Any, **options: Any):
        super().__init__(*args, **options)
        self.targets = Points()
        self.path: tuple[int, ...] = ()  # the calls that are being inlined
        self.around: list[list[dict[str, Slot]]] = []  # the scopes of their callers
        self.lives: dict[Key, Life] = {}
        self._scopes: dict[int, dict[str, Slot]] = {}  # that none is taken for another
        self._births = 0
        self.whole: set[int] = set()  # scopes that last to the end
        self.pointing_at: list[str] = []  # variables that say to which object
        self.returned: Slot | None = None  # by the call that was inlined last

    # ---- objects and their lives

    def key(self, node: Any) -> Key:
        return (id(node), self.path)

    def _birth(self) -> int:
        self._births += 1
        return self._births

    def scope_id(self, scope: dict[str, Slot]) -> int:
        self._scopes[id(scope)] = scope
        return id(scope)

    def chain(self) -> tuple[int, ...]:
        """The scopes that this one ends before."""
        everywhere = [*(scope for scopes in self.around for scope in scopes), *self.scopes]
        return tuple(map(self.scope_id, everywhere))

    def living(self, slot: Slot, node: Any, scope: dict[str, Slot] | None = None) -> Slot:
        """The same, as an object that may be pointed to; it lives as long as the scope."""
        key = slot.key or self.key(node)
        slot = slot._replace(key=key)
        fixed = slot.cells is None or all(n is None or n.constant for n in slot.cells.lengths)
        where = self.scope_id(self.scopes[-1] if scope is None else scope)
        self.objects[key], self.lives[key] = slot, Life(where, self._birth(), not fixed)
        self.number(key)
        return slot

    def names_of(self, keys: set[Key] | frozenset[Key]) -> set[str]:
        """What the graph knows these objects by."""
        found = (self.objects.get(key) for key in keys)
        return {name for slot in found if slot is not None for name in slot.names()}

    def pointer(
        self, node: Any, element: CType | Opaque, key: Key, scopes: tuple[int, ...]
    ) -> Slot:
        """A new pointer variable, of a declaration or for an expression."""
        shown = getattr(node, "name", None) if isinstance(node, c_ast.Decl) else None
        declared = node.type if isinstance(node, c_ast.Decl) else None
        const = declared is not None and self._to_const(declared)
        fixed = isinstance(declared, c_ast.PtrDecl) and "const" in (declared.quals or ())
        if isinstance(declared, c_ast.PtrDecl) and "volatile" in (declared.quals or ()):
            raise self.unsupported("volatile variables", node)
        place = self.place(node)
        targets = self.targets.of(key)
        to = self.fresh(f"target of {shown}", INT, place) if len(targets) > 1 else None
        self.pointing_at += [to] if to is not None else []
        at = None
        if key in self.targets.moving:
            real = [self.objects[t] for t in targets - NUMBERS.keys() if t in self.objects]
            cells = real[0].cells if len(real) == 1 else None
            text = f"({shown} - {cells.shown})" if shown and cells is not None else ""
            at = self.fresh(text, LONG, place)
        born = self._birth()
        name = f"{shown or 'pointer'}#{born} pointer"
        made = Pointer(name, shown or "", element, key, to, at, const, fixed, scopes, born)
        return Slot(POINTER, pointer=made, key=key)

    def _to_const(self, declared: Any) -> bool:
        return self.is_const(declared.type)

    def pointed_type(self, node: Any) -> CType | Opaque | None:
        """What a declaration declares a pointer to, if pointers to that are modelled."""
        declared = node.type if isinstance(node, c_ast.Decl | c_ast.Typename) else node
        if not isinstance(declared, c_ast.PtrDecl | c_ast.ArrayDecl):
            return None
        if not isinstance(declared.type, c_ast.TypeDecl):
            return None
        kind = self.type(declared.type)
        if isinstance(kind, CType) and kind.floating:
            return None
        return kind if isinstance(kind, CType | Struct) else None

    def parameter_type(self, parameter: Any) -> CType | Opaque | None:
        """The same of a parameter or a result, which sees the global names only."""
        scopes, self.scopes = self.scopes, self.scopes[:1]
        try:
            return self.pointed_type(parameter)
        finally:
            self.scopes = scopes

    # ---- what is known without running it

    def element_of(self, node: Any) -> CType | Opaque | None:
        """What an expression points to; None if it is no pointer, or not one that is modelled."""
        if isinstance(node, c_ast.ID) or self.designates(node):
            found = self.shape_of(node)
            if found is None or found.dims > 1:
                return None
            return found.kind if found.dims else found.element
        if isinstance(node, c_ast.UnaryOp):
            if node.op == "&":
                found = self.shape_of(node.expr)
                if found is not None and isinstance(found.kind, CType) and found.kind.floating:
                    raise self.unsupported("pointers to floating point", node)
                return None if found is None or found.dims or found.element else found.kind
            return self.element_of(node.expr) if node.op in STEPS else None
        if isinstance(node, c_ast.BinaryOp) and node.op in _ADDING:
            left, right = self.element_of(node.left), self.element_of(node.right)
            if left is not None:
                return left if right is None else None
            return right if node.op == "+" else None
        if isinstance(node, c_ast.TernaryOp):
            return self.element_of(node.iftrue) or self.element_of(node.iffalse)
        if isinstance(node, c_ast.Assignment):
            return self.element_of(node.lvalue)
        if isinstance(node, c_ast.ExprList):
            return self.element_of(node.exprs[-1])
        if isinstance(node, c_ast.Cast):
            return self.pointed_type(node.to_type)
        if isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID):
            called = self.functions.get(node.name.name)
            if called is None or node.name.name in self.recursive:
                return None
            return self.parameter_type(called.decl.type.type)
        return None

    def is_null(self, node: Any) -> bool:
        """Is it a null pointer constant?"""
        if isinstance(node, c_ast.Cast) and isinstance(node.to_type.type, c_ast.PtrDecl):
            return self.is_null(node.expr)
        return self.is_constant(node) and self.constant(node)[0] == 0

    def pointees(self, node: Any) -> set[str]:
        return self.names_of(self._pointed_objects(node))

    def _pointed_objects(self, node: Any) -> set[Key]:
        """The objects that an expression may point to, or have as its array."""
        found = self.shape_of(node)
        if self.element_of(node) is None and not (found is not None and found.dims):
            return set()
        if isinstance(node, c_ast.ID):
            slot = self.lookup(node.name)
            if slot is not None and slot.pointer is not None:
                return set(self.targets.of(slot.pointer.key)) - NUMBERS.keys()
        if isinstance(node, c_ast.UnaryOp) and node.op in STEPS:
            return self._pointed_objects(node.expr)
        if isinstance(node, c_ast.UnaryOp) and node.op == "&":
            return self._designated_objects(node.expr)
        if isinstance(node, c_ast.ID) or self.designates(node):
            return self._designated_objects(node)
        parts: tuple[Any, ...] = ()
        if isinstance(node, c_ast.BinaryOp):
            parts = (node.left, node.right)
        elif isinstance(node, c_ast.TernaryOp):
            parts = (node.iftrue, node.iffalse)
        elif isinstance(node, c_ast.Assignment):
            parts = (node.lvalue, node.rvalue)
        elif isinstance(node, c_ast.ExprList):
            parts = (node.exprs[-1],)
        elif isinstance(node, c_ast.Cast):
            parts = (node.expr,)
        elif isinstance(node, c_ast.FuncCall):
            return self.targets.everything()
        return {key for part in parts for key in self._pointed_objects(part)}

    def _designated_objects(self, node: Any) -> set[Key]:
        """The objects, or members of objects, that a designator may stand for."""
        if isinstance(node, c_ast.ID):
            slot = self.lookup(node.name)
            return {slot.key} if slot is not None and slot.key is not None else set()
        if isinstance(node, c_ast.ArrayRef):
            return self._pointed_objects(node.name)
        if isinstance(node, c_ast.UnaryOp):
            return self._pointed_objects(node.expr)
        if isinstance(node, c_ast.StructRef):
            arrow = node.type == "->"
            base = self._pointed_objects(node.name) if arrow else None
            base = self._designated_objects(node.name) if base is None else base
            return {(*key, node.field.name) for key in base}
        return set()

    def designated(self, node: Any, inner: Inner | None = None) -> set[str]:
        if inner or isinstance(node, c_ast.ID):
            return super().designated(node, inner)
        return self.names_of(self._designated_objects(node))

    def pointing(self, node: Any) -> bool:
        sides = (node.left, node.right) if isinstance(node, c_ast.BinaryOp) else (node,)
        return any(self.element_of(side) is not None for side in sides)

    def all_pointees(self) -> set[str]:
        return self.names_of(self.targets.everything())

    def value_of(self, pointer: Pointer) -> Address:
        targets = self.targets.of(pointer.key) or frozenset({NOWHERE})
        only = const(self.number(next(iter(targets))))
        to = only if pointer.to is None else var(pointer.to)
        at = ZERO if pointer.at is None else var(pointer.at)
        return Address(pointer.element, targets, to, at, pointer.const)

    # ---- assignments

    def set_pointer(self, slot: Slot, found: Address, node: Any) -> None:
        """Let a pointer point there."""
        pointer = slot.pointer
        assert pointer is not None
        if found.element is not None and found.element != pointer.element:
            raise self.unsupported("a pointer to another type", node)
        if found.const and not pointer.const and pointer.shown:
            raise self.unsupported("a pointer that forgets that something is const", node)
        for key in self.objects_in(found):
            self._outlives(key, pointer, node)
        moved = not (found.at.constant and found.at.leaf == 0)
        self.targets.add(pointer.key, found.targets, moved=moved)
        if pointer.to is not None:
            self.assign(pointer.to, found.to, self.place(node))
        if pointer.at is not None:
            self.assign(pointer.at, found.at, self.place(node))

    def _outlives(self, key: Key, pointer: Pointer, node: Any) -> None:
        life = self.lives.get(key)
        early = life is not None and life.variable_length and life.born > pointer.born
        if life is None or early or life.scope not in {*pointer.scopes, *self.whole}:
            slot = self.objects.get(key)
            if slot is not None and slot.names() and slot.names() <= self.static_names():
                what = "a pointer to a static variable of a function, kept after it returns,"
                raise self.unsupported(what, node)
            raise self.unsupported("a pointer to what may end before it", node)

    def static_names(self) -> set[str]:
        raise AssertionError("given by Declarations")

    def moving(self, array: Slot, parameter: Any, frame: dict[str, Slot]) -> Slot:
        """A parameter that is given an array, and moves on within it."""
        assert array.key is not None and array.cells is not None
        key = (id(parameter), "moving")
        scopes = (*self.chain(), self.scope_id(frame))
        slot = self.pointer(parameter, array.cells.element, key, scopes)
        start = frozenset({array.key})
        number = const(self.number(array.key))
        self.set_pointer(
            slot, Address(array.cells.element, start, number, ZERO, array.cells.const), parameter
        )
        return slot

    def unset(self, slot: Slot, node: Any) -> None:
        """A pointer without a value."""
        nowhere = const(NUMBERS[NOWHERE])
        self.set_pointer(slot, Address(None, frozenset({NOWHERE}), nowhere, ZERO), node)

    # ---- arithmetic

    def extent(self, key: Key, node: Any) -> Term | None:
        """How many cells an object has; None if that is unknown."""
        slot = self._object(key, node)
        lengths = slot.lengths if slot.cells is None else slot.cells.lengths
        return lengths[0] if lengths else ONE

    def moved(self, found: Address, by: Term, node: Any) -> Address:
        """So many cells further on, within the object or one past its end."""
        self.real(found, node, "moved")
        at = add(found.at, by)
        for key in self.objects_in(found):
            length = self.extent(key, node)
            if length is None:
                continue
            inside = conj((compare("<=", ZERO, at), compare("<=", at, length)))
            if len(self.objects_in(found)) > 1:
                inside = implies(compare("=", found.to, const(self.number(key))), inside)
            said = "undefined behaviour: a pointer leaves its object"
            self.require(inside, said, self.place(node))
        return found._replace(at=at)
