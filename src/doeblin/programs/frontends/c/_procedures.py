"""Recursive functions: not inlined, but read once, as procedures of the graph."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from pycparser import c_ast

from ...system import Call, Procedure, Return, with_old_values
from ...system.terms import ONE, ZERO, compare, var
from ._arguments import Given
from ._emitter import Slot, Value
from ._statements import Statements
from .tree import parts
from .types import BOOL, Address, CType


def recursive_groups(functions: dict[str, Any]) -> dict[str, frozenset[str]]:
    """The functions that may call themselves, each with those that it calls itself through."""
    calls = {name: called_in(functions[name].body) & functions.keys() for name in functions}
    reach: dict[str, set[str]] = {}
    for name in functions:
        seen: set[str] = set()
        todo = [name]
        while todo:
            new = calls[todo.pop()] - seen
            seen |= new
            todo += new
        reach[name] = seen
    return {
        name: frozenset(other for other in reach[name] if name in reach[other])
        for name in functions
        if name in reach[name]
    }


def called_in(node: Any) -> set[str]:
    """The names of the functions that are called there."""
    calls = (part for part in parts(node) if isinstance(part, c_ast.FuncCall))
    return {call.name.name for call in calls if isinstance(call.name, c_ast.ID)}


@dataclass(frozen=True)
class _Declared:
    """A procedure whose body may not be read yet, the scope of its parameters, and the type of what
    it returns."""

    function: str
    procedure: Procedure
    frame: dict[str, Slot]
    kind: CType | None
    returned: str | None = None
    """A variable that is 0 where the end of the body is reached without a value, if it can be."""


_Bound = tuple[str, tuple[str | None, ...]]  # a function, and the arrays that its parameters are


class Procedures(Statements):
    """Calls of recursive functions, whose bodies are read after that of `main`: one that is given
    arrays once for all calls with the same ones."""

    def __init__(self, *args: Any, **options: Any):
        super().__init__(*args, **options)
        self._declared: dict[_Bound, _Declared] = {}
        self._unread: list[_Declared] = []
        self._reading: _Declared | None = None
        self._outer: set[str] = set()  # arrays that no call has of its own

    def call(
        self, name: str, values: list[Value | None], given: dict[int, Given], node: Any
    ) -> Value | None:
        """A call that stays one."""
        if name == "main":
            raise self.unsupported("recursion of 'main'", node)
        found = self._bound(name, given, node)
        self.returned = None  # by what was inlined for the arguments
        args = []
        for slot, value in zip(found.frame.values(), values, strict=False):
            if isinstance(slot.kind, CType) and value is not None:
                args.append(self.convert(value, slot.kind).integer())
        results = [self.fresh("", found.kind)] if found.kind is not None else []
        if found.returned is not None:
            results.append(self.fresh("", BOOL))
        place = self.place(node)
        called = found.procedure.name
        call = Call(called, name, tuple(args), tuple(results), self.site(), place)
        self.graph.blocks[self.current].statements.append(call)
        if found.returned is not None and id(node) in self.used:
            said = f"undefined behaviour: the value of '{name}' is used, but it returned none"
            self.require(compare("!=", var(results[1]), ZERO), said, place)
        return Value.of(results[0], found.kind) if found.kind is not None else None

    def _bound(self, name: str, given: dict[int, Given], node: Any) -> _Declared:
        """The procedure that a function is with these arrays."""
        arrays: dict[int, Slot] = {}
        for number, slot in given.items():
            if not isinstance(slot, Slot) or slot.cells is None or slot.cells.scalars is not None:
                what = "pointers" if isinstance(slot, Address) else "structures"
                raise self.unsupported(f"{what} given to recursive functions", node)
            lasting = self.lasting_variables() | self._outer
            if self.in_procedure and slot.cells.name not in lasting:
                what = "an array of a recursive function, given to one,"
                raise self.unsupported(what, node)
            arrays[number] = slot
        parameters = range(len(self.parameters(name)))
        cells = (arrays[number].cells if number in arrays else None for number in parameters)
        bound = (name, tuple(found.name if found is not None else None for found in cells))
        return self._declared.get(bound) or self._declare(bound, arrays)

    def _declare(self, bound: _Bound, arrays: dict[int, Slot]) -> _Declared:
        name = bound[0]
        definition = self.functions[name]
        frame: dict[str, Slot] = {}
        for number, parameter in enumerate(self.parameters(name)):
            own = self.in_global_scope(parameter)
            frame[parameter.name] = arrays.get(number, Slot(own))
            if isinstance(own, CType):
                inner = self.fresh(parameter.name, own, self.place(parameter))
                frame[parameter.name] = Slot(own, inner, const=self.is_const(parameter))
        kind = self.in_global_scope(definition.decl.type.type)
        results, returned = [], None
        if isinstance(kind, CType):
            results.append(self.fresh("", kind))
            if not _returns(definition.body) or _returns_nothing(definition.body):
                returned = self.fresh("", BOOL)
                results.append(returned)
            for result, shown in zip(results, ("\\result", "\\returned"), strict=False):
                named = replace(self.graph.variables[result], shown=shown)
                self.graph.variables[result] = named
        names = tuple(slot.name for slot in frame.values() if slot.name is not None)
        entry, last = self.graph.block(), self.graph.block()
        place = self.place(definition.decl)
        others = sum(one.function == name for one in self._declared.values())
        called = f"{name}#{others + 1}" if others else name
        self.graph.blocks[last].end = Return(called, name, place)
        made = Procedure(called, name, entry, last, names, tuple(results), place)
        found = _Declared(name, made, frame, kind if isinstance(kind, CType) else None, returned)
        self._declared[bound] = found
        self._unread.append(found)
        return found

    def without_value(self, name: str) -> None:
        found = self._reading
        if found is not None and found.function == name and found.returned is not None:
            self.assign(found.returned, ZERO)

    def read_procedures(self) -> None:
        """The bodies of all functions that are called so, and of those that they call so."""
        self.in_procedure = True
        self._outer = set(self.graph.arrays)
        while self._unread:
            found = self._reading = self._unread.pop()
            made = found.procedure
            before = {*self.graph.variables, *self.graph.arrays}
            self.start(made.entry)
            if found.returned is not None:
                self.assign(found.returned, ONE)
            name = found.function
            value = self.body(name, dict(found.frame), self.functions[name])
            if value is not None:
                self.assign(made.results[0], value.term)
            self.jump(made.exit)
            inner = {*self.graph.variables, *self.graph.arrays} - before
            inner -= set(self.statics.values())
            inner -= self.lasting_variables()
            for other in self._declared.values():
                inner -= {*other.procedure.parameters, *other.procedure.results}
            own = frozenset({*made.parameters, *made.results, *inner})
            self.graph.procedures[made.name] = replace(made, locals=own)
        with_old_values(self.graph)


def _returns(node: Any) -> bool:
    """Does the statement surely not come to its end? What has labels might."""
    if isinstance(node, c_ast.Compound):
        items = node.block_items or ()
        return any(map(_returns, items)) and not any(map(_labelled, items))
    if isinstance(node, c_ast.If):
        return node.iffalse is not None and _returns(node.iftrue) and _returns(node.iffalse)
    return isinstance(node, c_ast.Return)


def _returns_nothing(node: Any) -> bool:
    """Is there a `return` without a value?"""
    return any(isinstance(part, c_ast.Return) and part.expr is None for part in parts(node))


def _labelled(node: Any) -> bool:
    return any(isinstance(part, c_ast.Label | c_ast.Case | c_ast.Default) for part in parts(node))
