"""C declarations: scopes, storage, and initial values."""

from __future__ import annotations

from typing import Any

from pycparser import c_ast

from ...._errors import InputError
from ...system import Assign, Store
from ...system.terms import ZERO, const
from ._emitter import Cells, Slot, Value
from ._library import NEVER_RETURN
from ._static import ARRAY, POINTER, UNMODELLED
from .contracts import Contracts
from .types import CType, Opaque, Struct


class Declarations(Contracts):
    """What a declaration brings into scope."""

    def __init__(self, *args: Any, **options: Any):
        super().__init__(*args, **options)
        self.statics: dict[int, str] = {}  # of functions, by their declarations
        self._initialised = 0
        self._globals: dict[str, Any] = {}  # the declaration that counts, of each
        self._hidden: set[str] = set()  # arrays and structures that other files do not see
        self._lasting: dict[int, Slot] = {}  # arrays that are not automatic, by their declarations

    def statement(self, node: Any) -> None:
        raise AssertionError("given by Statements")

    def _decllist_statement(self, node: Any) -> None:
        for item in node.decls:
            self.statement(item)

    def _typedef_statement(self, node: Any) -> None:
        self.scopes[-1][f"typedef {node.name}"] = Slot(self.type(node), const=self.is_const(node))

    def _decl_statement(self, node: Any) -> None:
        if isinstance(node.type, c_ast.FuncDecl):
            self.declare_function(node)
            return
        if (element := self.element(node.type)) is not None:
            self._check_new(node)
            self._array(node, element)
            return
        if node.name is not None and (found := self._structures(node.type, node)) is not None:
            self._check_new(node)
            self._structure(node, *found)
            return
        kind = self.type(node)
        if node.name is None:  # of a struct, union or enum
            return
        place = self.place(node)
        self._check_new(node)
        if isinstance(node.type, c_ast.PtrDecl) and self._pointer(node):
            return
        if isinstance(kind, CType) and kind.floating and node.name in self.addressed:
            kind = UNMODELLED
        if isinstance(kind, Opaque):
            if kind.name == "void":
                raise InputError(f"'{node.name}' cannot have type void", place=place)
            if node.init is not None and not self.harmless(node.init):
                raise self.unsupported(kind.what, node)
            self.scopes[-1][node.name] = Slot(kind)
        elif len(self.scopes) == 1:
            self._global(node, kind)
        elif "static" in node.storage:
            self._static(node, kind)
        elif "extern" in node.storage:
            known = self.scopes[0].get(node.name)
            if known is None:
                raise self.unsupported("a local extern declaration", node)
            self.scopes[-1][node.name] = known
        else:
            self._automatic(node, kind)

    def _structures(self, declared: Any, node: Any) -> tuple[Struct, tuple[int, ...]] | None:
        """The structure that a declaration is of, and how many in an array; None if of none."""
        lengths = []
        while isinstance(declared, c_ast.ArrayDecl):
            if declared.dim is None or not self.is_constant(declared.dim):
                return None
            lengths.append(self.constant(declared.dim)[0])
            declared = declared.type
        kind = self.type(declared) if isinstance(declared, c_ast.TypeDecl) else None
        if not isinstance(kind, Struct) or "extern" in node.storage:
            return None
        return (kind, tuple(lengths)) if all(length > 0 for length in lengths) else None

    def _structure(self, node: Any, kind: Struct, lengths: tuple[int, ...]) -> None:
        """Brings a structure into scope, or an array of them."""
        scope, place = self.scopes[-1], self.place(node)
        if id(node) in self._lasting:
            scope[node.name] = self.living(
                self._lasting[id(node)]._replace(key=self.key(node)), node
            )
            return
        lasting = len(self.scopes) == 1 or "static" in node.storage
        if lasting and node.name in scope:
            raise self.unsupported("a structure that is declared twice", node)
        if node.init is not None and _mentions(node.init, node.name):
            raise self.unsupported("a structure in its own initialiser", node)
        if self.in_procedure:
            raise self.unsupported("structures in recursive functions", node)
        self._hide(node)
        sizes = tuple(const(length) for length in lengths)
        slot = self.structure(node.name, kind, sizes, place, const_=self.is_const(node))
        slot = self.living(slot, node)
        scope[node.name] = slot
        if not lasting:
            self.begin(slot, kind, lengths, node)
            return
        self._lasting[id(node)] = slot
        for statement in self.begin_lasting(slot, kind, lengths, node):
            self.graph.blocks[0].statements.insert(self._initialised, statement)
            self._initialised += 1

    def _hide(self, node: Any) -> None:
        if len(self.scopes) == 1 and "static" in node.storage:
            self._hidden.add(node.name)

    def _pointer(self, node: Any) -> bool:
        """Brings a pointer into scope, if it is one that is modelled."""
        element, init = self.pointed_type(node), _scalar(node.init)
        known = init is None or self.is_null(init)
        if element is not None and init is not None:
            self.expect(init, element)
        if not known and self.element_of(init) is not None:
            known = self.allocates(init) or not self.harmless(init)
        if element is None or not known or "extern" in node.storage:
            return False
        unread = node.name in self.only_assigned or node.name not in self.mentioned
        empty = init is None or self.is_null(init)
        if unread and (empty or len(self.scopes) > 1):
            if not empty and not self.harmless(init):
                self.address(init)
            self.scopes[-1][node.name] = Slot(POINTER)
            return True
        if init is not None and _mentions(init, node.name, evaluated=True):
            raise self.unsupported("a pointer in its own initialiser", node)
        if len(self.scopes) == 1 or "static" in node.storage:
            self._lasting_pointer(node, element, init)
            return True
        slot = self.pointer(node, element, self.key(node), self.chain())
        if init is None:
            self.unset(slot, node)
        else:
            self.scopes[-1][node.name] = slot  # as in `malloc(sizeof *p)`
            self.expect(init, element, slot.pointer)
            self.set_pointer(slot, self.address(init), node)
        self.scopes[-1][node.name] = slot
        return True

    def _lasting_pointer(self, node: Any, element: CType | Opaque, init: Any) -> None:
        """A global pointer, or a static one of a function; null at first, or an address."""
        scope = self.scopes[-1]
        if id(node) in self._lasting:
            scope[node.name] = self._lasting[id(node)]
            return
        if len(self.scopes) == 1 and node.name in scope:
            raise self.unsupported("a pointer that is declared twice", node)
        if init is not None and (self.allocates(init) or not self._lasts(init)):
            raise InputError("what is static begins with a constant", place=self.place(node))
        where = self.current, len(self.graph.blocks[self.current].statements)
        slot = self.pointer(node, element, (id(node),), (self.scope_id(self.scopes[0]),))
        self.set_pointer(slot, self.address(init or _ZERO), node)
        block = self.graph.blocks[self.current]
        if self.current != where[0]:
            raise self.unsupported("this initialiser", node)
        begun, block.statements = block.statements[where[1] :], block.statements[: where[1]]
        for statement in begun:
            self.graph.blocks[0].statements.insert(self._initialised, statement)
            self._initialised += 1
        self._lasting[id(node)] = scope[node.name] = slot

    def _lasts(self, node: Any) -> bool:
        """Are the objects in an initialiser there from the beginning?"""
        if isinstance(node, c_ast.ID):
            known = (*self.scopes[0].values(), *self._lasting.values())
            lasting = {name for slot in known for name in slot.names()} | {*self.statics.values()}
            slot = self.lookup(node.name)
            return slot is None or slot.names() <= lasting
        return all(self._lasts(child) for _, child in node.children())

    def static_names(self) -> set[str]:
        lasting = {name for slot in self._lasting.values() for name in slot.names()}
        return lasting | set(self.statics.values())

    def lasting_variables(self) -> set[str]:
        """The graph's variables for cells, members and pointers that are not automatic."""
        found: set[str] = set()
        for slot in self._lasting.values():
            found |= slot.names()
            if slot.cells is not None:
                found.update((slot.cells.scalars or {}).values())
            if slot.pointer is not None:
                found |= {part for part in (slot.pointer.to, slot.pointer.at) if part}
        return found

    def _array(self, node: Any, element: CType) -> None:
        """Brings an array into scope: a global, static, extern or automatic one."""
        place, scope = self.place(node), self.scopes[-1]
        lasting = len(self.scopes) == 1 or "static" in node.storage
        if "extern" in node.storage and len(self.scopes) > 1:
            raise self.unsupported("a local extern declaration", node)
        if id(node) in self._lasting:
            slot = self._lasting[id(node)]
            # Pointers to what is static are kept while the function runs, and no longer.
            scope[node.name] = self.living(slot._replace(key=self.key(node)), node)
            return
        items, length = self.initial(node)
        if items is not None and _mentions(node.init, node.name):
            raise self.unsupported("an array in its own initialiser", node)
        lengths = self.lengths(node, length, variable=not lasting)
        if lasting and node.name in scope:
            raise self.unsupported("an array that is declared twice", node)
        cells = self.object(node.name, element, lengths, place, const=self.is_const(node))
        if items is not None and not all(size.constant for size in lengths):
            said = f"'{node.name}' has a variable length and an initialiser"
            raise InputError(said, place=place)
        given = self.spread(items, lengths, node) if items is not None else {}
        if lasting:
            self._hide(node)
            self._array_at_start(node, cells, given)
            slot = self.living(Slot(ARRAY, cells=cells), node)
            self._lasting[id(node)] = scope[node.name] = slot
            return
        self.check_operands([item for item in given.values() if not isinstance(item, int)], node)
        values = {}
        for at, item in given.items():
            value = Value(const(item), element) if isinstance(item, int) else self.rvalue(item)
            values[at] = self.snapshot(self.convert(value, element))
        for statement in self.blank(cells, place, None if items is None else 0):
            self.emit(statement)
        for at, value in values.items():
            self.store(cells, const(at), value, place)
        scope[node.name] = self.living(Slot(ARRAY, cells=cells), node)

    def _array_at_start(self, node: Any, cells: Cells, given: dict[int, Any]) -> None:
        """What lasts is zero, or constants, before the program starts."""
        place = self.place(node)
        outside = "extern" in node.storage and node.init is None
        begun = self.blank(cells, place, None if outside else 0)
        for at, item in given.items():
            value, own = (item, cells.element) if isinstance(item, int) else self.constant(item)
            term = self.convert(Value(const(value), own), cells.element).integer()
            if cells.scalars is None:
                begun.append(Store(cells.name, const(at), term, place))
            elif at in cells.scalars:
                begun.append(Assign(cells.scalars[at], term, place))
        for statement in begun:
            self.graph.blocks[0].statements.insert(self._initialised, statement)
            self._initialised += 1

    def _check_new(self, node: Any) -> None:
        """One scope holds one object of a name (C11 6.7p3); parameters are in the body's scope."""
        if len(self.scopes) == 1 or "extern" in node.storage:
            return
        same = self.scopes[1:] if len(self.scopes) == 3 else self.scopes[-1:]
        if any(node.name in scope for scope in same):
            raise InputError(f"'{node.name}' is declared twice in a scope", place=self.place(node))

    def declare_function(self, node: Any) -> None:
        """All declarations of a function agree (C11 6.7p4)."""
        if node.type.args is None:
            self.unlisted.add(node.name)
        known = self.prototypes.setdefault(node.name, node.type)
        if known is node.type:
            return
        mine, other = self._signature(node.type), self._signature(known)
        parameters = mine[1] is not None and other[1] is not None and mine[1] != other[1]
        if mine[0] != other[0] or parameters:
            raise InputError(
                f"the function '{node.name}' is declared with two types", place=self.place(node)
            )
        if known.args is None:
            self.prototypes[node.name] = node.type

    def define_function(self, node: Any) -> None:
        name = node.decl.name
        if name in self.functions:
            raise InputError(f"the function '{name}' is defined twice", place=self.place(node.decl))
        self.declare_function(node.decl)
        self.functions[name] = node
        self.prototypes[name] = node.decl.type
        if name in NEVER_RETURN and "static" not in node.decl.storage:
            self.noreturn.add(name)

    def _signature(self, declared: Any) -> tuple[CType | Opaque, list[CType | Opaque] | None]:
        """The types of the result and of the parameters, None if those are not listed."""
        result = self.in_global_scope(declared.type)
        if declared.args is None:
            return result, None
        listed = [p for p in declared.args.params if not isinstance(p, c_ast.EllipsisParam)]
        return result, [self.in_global_scope(parameter) for parameter in listed]

    def _automatic(self, node: Any, kind: CType) -> None:
        place = self.place(node)
        name = self.fresh(node.name, kind, place)
        if node.init is not None:
            # C puts the name in scope before its initialiser; `int x = x;` is then arbitrary.
            if _mentions(node.init, node.name):
                self.havoc(name, kind, place, origin="hidden")
            value = self._initial(node, name, kind)
            self.assign(name, self.convert(value, kind).term, place)
        else:
            self.havoc(name, kind, place)
        self.scopes[-1][node.name] = self.living(Slot(kind, name, const=self.is_const(node)), node)

    def _initial(self, node: Any, name: str, kind: CType) -> Value:
        outer = self.scopes[-1].get(node.name)
        self.scopes[-1][node.name] = Slot(kind, name)
        try:
            return self.rvalue(_scalar(node.init))
        finally:
            if outer is not None:
                self.scopes[-1][node.name] = outer

    def _static(self, node: Any, kind: CType) -> None:
        """A static variable of a function: one for all its calls."""
        if id(node) not in self.statics:
            name = self.statics[id(node)] = self.fresh(node.name, kind, self.place(node))
            value = 0 if node.init is None else self._constant_initial(node, kind)
            self.start_with(name, value, node)
        slot = Slot(kind, self.statics[id(node)], const=self.is_const(node))
        self.scopes[-1][node.name] = self.living(slot, node)

    def _global(self, node: Any, kind: CType) -> None:
        """All declarations of a name at file scope are one object (C11 6.9.2)."""
        known = self.scopes[0].get(node.name)
        if known is None or known.name is None:
            name = self.fresh(node.name, kind, self.place(node))
            slot = Slot(kind, name, const=self.is_const(node))
            self.scopes[0][node.name] = self.living(slot, node)
            self._globals[node.name] = node
        elif known.kind != kind:
            raise InputError(f"'{node.name}' is declared with two types", place=self.place(node))
        before = self._globals[node.name]
        if before.init is None and "extern" not in node.storage:
            self._globals[node.name] = node
        if node.init is not None:
            if before.init is not None and before is not node:
                raise InputError(f"'{node.name}' is defined twice", place=self.place(node))
            self._globals[node.name] = node
            name = self.scopes[0][node.name].name or ""
            self.start_with(name, self._constant_initial(node, kind), node)

    def define_globals(self) -> None:
        """Those without an initialiser: zero, or unknown if another file defines them."""
        self.seal(self._globals, self._hidden)
        for shown, node in self._globals.items():
            slot = self.scopes[0][shown]
            if node.init is not None or slot.name is None or isinstance(slot.kind, Opaque):
                continue
            if "extern" in node.storage:
                self.havoc(slot.name, slot.kind, self.place(node), origin="global", block=0)
            else:
                self.start_with(slot.name, 0, node)

    def _constant_initial(self, node: Any, kind: CType) -> int:
        """Static storage is initialised once, before the program starts."""
        init = _scalar(node.init)
        if self.floats and not self.is_constant(init):
            return self.computed_constant(init, kind)
        value, own = self.constant(init)
        found = self.convert(Value(const(value), own), kind)
        return int(found.term.leaf) if kind.floating else self.constant_value(found, node)

    def start_with(self, name: str, value: int, node: Any) -> None:
        """Before all else: a recursive function is read when `main` has been."""
        start = Assign(name, const(value) if value else ZERO, self.place(node))
        self.graph.blocks[0].statements.insert(self._initialised, start)
        self._initialised += 1


_ZERO = c_ast.Constant("int", "0")


def _scalar(node: Any) -> Any:
    """The one value of `{5}`, which may initialise an integer."""
    if isinstance(node, c_ast.InitList) and len(node.exprs) == 1:
        return _scalar(node.exprs[0])
    return node


def _mentions(node: Any, name: str, *, evaluated: bool = False) -> bool:
    """Is the name in an expression, or in what is `evaluated` of it?"""
    if isinstance(node, c_ast.ID) and node.name == name:
        return True
    if evaluated and isinstance(node, c_ast.UnaryOp) and node.op == "sizeof":
        return False
    return any(_mentions(child, name, evaluated=evaluated) for _, child in node.children())
