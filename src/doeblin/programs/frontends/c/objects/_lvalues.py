"""What may be assigned to: variables, cells of arrays, and what pointers point to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pycparser import c_ast

from ....._errors import InputError
from ....system.terms import ZERO, Term, add, compare, const, implies
from .._emitter import Cells, Slot, Value
from .._static import STEPS
from ..types import (
    ELSEWHERE,
    INT,
    LONG,
    NOWHERE,
    NULL,
    NUMBERS,
    Address,
    CType,
    Key,
    Opaque,
    Struct,
)
from ._designators import Designators, Shape, shape


class Choice(NamedTuple):
    """An object and indices into it; the number by which pointers know it. Once the indices are
    found to be within bounds, `at` is the place of the cell in its row."""

    number: int | None
    slot: Slot
    indices: tuple[Value, ...] = ()
    at: Term | None = None


class Located(NamedTuple):
    """What an expression designates: one of these, the one whose number is `to`."""

    choices: tuple[Choice, ...]
    shape: Shape
    to: Term = ZERO
    const: bool = False
    shown: str = ""


class Lvalues(Designators):
    """Designators, and what is done with what they designate."""

    def __init__(self, *args: Any, **options: Any):
        super().__init__(*args, **options)
        self.objects: dict[Key, Slot] = {}
        self.numbers: dict[Key, int] = dict(NUMBERS)

    def address(self, node: Any) -> Address:
        raise AssertionError("given by Pointers")

    # ---- places

    def operands(self, node: Any) -> list[Any]:
        """The expressions that are evaluated to find what a designator stands for."""
        if isinstance(node, c_ast.ArrayRef):
            whole = self.shape_of(node.name)
            inner = self.operands(node.name) if whole and whole.dims else [node.name]
            return [*inner, node.subscript]
        if isinstance(node, c_ast.StructRef):
            return [node.name] if node.type == "->" else self.operands(node.name)
        if isinstance(node, c_ast.UnaryOp):
            return [node.expr]
        return [] if isinstance(node, c_ast.ID) else [node]

    def locate(self, node: Any, later: Sequence[Any] = ()) -> Located:
        """What a designator stands for, as it is before what is evaluated `later`."""
        found = self.shape_of(node)
        if isinstance(node, c_ast.ID):
            slot = self.lookup(node.name)
            if slot is None:
                raise self.undeclared(node)
            if found is None:
                what = slot.kind.what if isinstance(slot.kind, Opaque) else "this name"
                raise self.unsupported(what, node)
            const = slot.cells.const if slot.cells else slot.const
            return Located((Choice(None, slot),), found, const=const, shown=node.name)
        if found is not None and isinstance(node, c_ast.FuncCall):
            return self.called(node, found)
        if found is None or not self.designates(node):
            raise self.unsupported(self._refused(node), node)
        self.check_designator(node)
        if isinstance(node, c_ast.StructRef):
            if node.type == "->":
                base = self.through(self._kept_address(node.name, later), node)
            else:
                base = self.locate(node.name, later)
            return self.member_of(base, node.field.name)
        if isinstance(node, c_ast.UnaryOp):
            return self.through(self._kept_address(node.expr, later), node)
        whole = self.shape_of(node.name)
        if whole is not None and whole.dims:
            base = self.locate(node.name, [node.subscript, *later])
            index = self._kept(node.subscript, later)
            choices = tuple(c._replace(indices=(*c.indices, index)) for c in base.choices)
            return base._replace(choices=choices, shape=found)
        start = self._kept_address(node.name, [node.subscript, *later])
        index = self._kept(node.subscript, later)
        return self.through(start._replace(at=add(start.at, index.integer())), node)

    def called(self, node: Any, found: Shape) -> Located:
        """The structure that a function returns."""
        raise AssertionError("given by Addresses")

    def member_of(self, found: Located, name: str) -> Located:
        """A member of a structure."""
        inner = found.shape.kind.member(name) if isinstance(found.shape.kind, Struct) else None
        assert inner is not None
        choices = []
        for choice in found.choices:
            assert choice.slot.fields is not None
            choices.append(choice._replace(slot=choice.slot.fields[name]))
        shown = f"{found.shown}.{name}" if found.shown else name
        shape = Shape(inner[0], len(inner[1]))
        return found._replace(choices=tuple(choices), shape=shape, shown=shown)

    def _refused(self, node: Any) -> str:
        base = node
        while isinstance(base, c_ast.ArrayRef):
            base = base.name
        if isinstance(base, c_ast.StructRef):
            whole = self.shape_of(base.name)
            kind = whole.kind if whole is not None else None
            kind = self.element_of(base.name) if base.type == "->" else kind
            found = kind.member(base.field.name) if isinstance(kind, Struct) else None
            if found is not None and isinstance(found[0], Opaque):
                return found[0].what  # a member that is not modelled
            return self._refused(base.name) if isinstance(base.name, c_ast.ID) else "structures"
        slot = self.lookup(base.name) if isinstance(base, c_ast.ID) else None
        if isinstance(base, c_ast.ID) and slot is None:
            raise self.undeclared(base)
        return slot.kind.what if slot and isinstance(slot.kind, Opaque) else "pointers"

    def _kept(self, node: Any, later: Sequence[Any]) -> Value:
        value = self.rvalue(node)
        return value if all(map(self.plain, later)) else self.snapshot(value)

    def _kept_address(self, node: Any, later: Sequence[Any]) -> Address:
        found = self.address(node)
        return found if all(map(self.plain, later)) else self.kept(found)

    def kept(self, found: Address) -> Address:
        """The pointer as it is now, whatever is assigned later."""
        to = self.snapshot(Value(found.to, INT)).term
        return found._replace(to=to, at=self.snapshot(Value(found.at, LONG)).term)

    def number(self, key: Key) -> int:
        """By which pointers know an object."""
        return self.numbers.setdefault(key, len(self.numbers))

    def objects_in(self, found: Address) -> list[Key]:
        """The objects that a pointer may point to, in the order of their declarations."""
        return sorted(found.targets - NUMBERS.keys(), key=self.number)

    def real(self, found: Address, node: Any, what: str) -> None:
        """It is a failure if a pointer points to nothing."""
        if ELSEWHERE in found.targets:
            raise self.unsupported("pointers", node)
        for key, said in ((NULL, "a null pointer"), (NOWHERE, "a pointer without a value")):
            if key in found.targets:
                test = compare("!=", found.to, const(NUMBERS[key]))
                self.require(test, f"undefined behaviour: {said} is {what}", self.place(node))

    def through(self, found: Address, node: Any) -> Located:
        """What a pointer points to."""
        self.real(found, node, "dereferenced")
        if found.element is None:
            raise self.unsupported("what the null pointer points to", node)
        choices = []
        for key in self.objects_in(found):
            slot, number = self._object(key, node), self.number(key)
            own = shape(slot)
            if own is not None and own.dims:
                choices.append(Choice(number, slot, (Value(found.at, LONG),)))
                continue
            inside = compare("=", found.at, ZERO)
            if len(self.objects_in(found)) > 1:
                inside = implies(compare("=", found.to, const(number)), inside)
            said = "undefined behaviour: a pointer beyond what it points to is dereferenced"
            self.require(inside, said, self.place(node))
            choices.append(Choice(number, slot))
        return Located(tuple(choices), Shape(found.element), found.to, found.const)

    def _object(self, key: Key, node: Any) -> Slot:
        if key not in self.objects:
            raise self.unsupported("a pointer to what is declared later", node)
        return self.objects[key]

    # ---- values

    def each(self, found: Located, act: Callable[[Choice], None]) -> None:
        """Do something with what is designated, whichever it is."""
        if len(found.choices) == 1:
            act(found.choices[0])
            return
        after = self.graph.block()
        for number, choice in enumerate(found.choices):
            assert choice.number is not None
            if number + 1 < len(found.choices):
                yes, no = self.graph.block(), self.graph.block()
                self.branch(compare("=", found.to, const(choice.number)), yes, no)
                self.start(yes)
                act(choice)
                self.jump(after)
                self.start(no)
            else:
                act(choice)
                self.jump(after)
        self.start(after)

    def fetch(self, found: Located, node: Any) -> Value:
        """The value of what is designated."""
        kind = self._integer(found, node)
        if len(found.choices) == 1:
            return self._fetch(found.choices[0], node)
        name = self.fresh("", kind)
        self.assign(name, ZERO)
        self.each(found, lambda choice: self.assign(name, self._fetch(choice, node).term))
        return Value.of(name, kind)

    def put(self, found: Located, value: Value, node: Any) -> None:
        """Give what is designated a value."""
        self.each(found, lambda choice: self._put(choice, value, node))

    def _integer(self, found: Located, node: Any) -> CType:
        if found.shape.dims:
            raise self.unsupported("a row of an array", node)
        if found.shape.element is not None:
            raise self.unsupported("pointers", node)
        if isinstance(found.shape.kind, Opaque):
            raise self.unsupported(found.shape.kind.what, node)
        return found.shape.kind

    def _cell(self, choice: Choice, node: Any) -> tuple[Cells, Term] | None:
        cells = choice.slot.cells
        if cells is None:
            return None
        if self.in_procedure and cells.scalars is None and choice.number is not None:
            raise self.unsupported("pointers to arrays in recursive functions", node)
        at = choice.at
        return cells, self.within(cells, list(choice.indices), node) if at is None else at

    def checked(self, found: Located, node: Any) -> Located:
        """The same, with one look at the indices for all that follows."""
        if len(found.choices) > 1 or not found.choices or found.choices[0].slot.cells is None:
            return found
        choice = found.choices[0]
        cell = self._cell(choice, node)
        assert cell is not None
        return found._replace(choices=(choice._replace(at=cell[1]),))

    def variable(self, found: Located) -> str | None:
        """The name, if it is one variable for certain."""
        single = len(found.choices) == 1 and found.choices[0].slot.cells is None
        return found.choices[0].slot.name if single else None

    def _fetch(self, choice: Choice, node: Any) -> Value:
        cell = self._cell(choice, node)
        if cell is not None:
            return self.load(*cell, self.place(node))
        assert choice.slot.name is not None and isinstance(choice.slot.kind, CType)
        return Value.of(choice.slot.name, choice.slot.kind)

    def _put(self, choice: Choice, value: Value, node: Any) -> None:
        cell = self._cell(choice, node)
        if cell is not None:
            self.store(*cell, value, self.place(node))
            return
        assert choice.slot.name is not None and isinstance(choice.slot.kind, CType)
        term = self.convert(value, choice.slot.kind).term
        self.assign(choice.slot.name, term, self.place(node))

    # ---- expressions

    def _arrayref(self, node: Any) -> Value:
        self.check_operands(self.operands(node), node)
        return self.fetch(self.locate(node), node)

    _structref = _arrayref

    def changed(self, node: Any, later: Sequence[Any] = ()) -> tuple[Located, CType]:
        """What an assignment or a step changes, and its type."""
        found = self.locate(node, later)
        if found.const:
            what = f"'{found.shown}'" if found.shown else "what this points to"
            said = f"{what} is const, and is changed"
            raise InputError(said, place=self.place(node))
        return found, self._integer(found, node)

    def assign_to(self, node: Any) -> Value:
        """`a[i] = e` and `*p += e`; the cell is looked at when the value is there."""
        self.check_operands([*self.operands(node.lvalue), node.rvalue], node)
        self.check_assignment(node)
        found, kind = self.changed(node.lvalue, [node.rvalue])
        value = self.rvalue(node.rvalue)
        found = self.checked(found, node.lvalue)
        if node.op != "=":
            if len(found.choices) > 1:
                value = self.snapshot(value)
            value = self.binary(node.op[:-1], self.fetch(found, node.lvalue), value, node)
        value = self.convert(value, kind)
        if (name := self.variable(found)) is not None:
            self.assign(name, value.term, self.place(node.lvalue))
            return Value.of(name, kind)
        value = self.snapshot(value)
        self.put(found, value, node.lvalue)
        return value

    def step_in(self, node: Any) -> Value:
        """`a[i]++` and the like."""
        self.check_operands(self.operands(node.expr), node)
        found, kind = self.changed(node.expr)
        if (name := self.variable(found)) is not None:
            return self.step_variable(name, kind, node)
        found = self.checked(found, node.expr)
        old = self.snapshot(self.fetch(found, node.expr))
        new = self.snapshot(self.convert(self._stepped(old, node), kind))
        self.put(found, new, node.expr)
        return old if node.op.startswith("p") else new

    def step_variable(self, name: str, kind: CType, node: Any) -> Value:
        old = Value.of(name, kind)
        if node.op.startswith("p"):
            old = self.snapshot(old)
        new = self._stepped(Value.of(name, kind), node)
        self.assign(name, self.convert(new, kind).term, self.place(node))
        return old if node.op.startswith("p") else Value.of(name, kind)

    def _stepped(self, old: Value, node: Any) -> Value:
        one = Value(const(abs(STEPS[node.op])), INT)
        return self.binary("+" if STEPS[node.op] > 0 else "-", old, one, node)
