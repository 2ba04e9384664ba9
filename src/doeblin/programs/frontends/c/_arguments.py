"""Arguments that are no integers: arrays, pointers, structures, and floating point."""

from __future__ import annotations

from typing import Any

from pycparser import c_ast

from ...._errors import InputError
from ...system.terms import ZERO, compare, conj, floating, ite, neg, negate
from ._emitter import Slot, Value
from ._expressions import Expressions
from ._library import ABSOLUTE, ENDINGS, FINITE, FORMATS, SILENT, SIZES
from ._unsupported import Unsupported
from .tree import parts
from .types import DOUBLE, FLOAT, INT, Address, CType, Key, Opaque, Struct

Given = Slot | Address | list[Value]
"""What a parameter is given that is no integer: an array under another name, a pointer, or the
leaves of a structure."""


class Arguments(Expressions):
    """What parameters are given, and what they are in the function."""

    def given_to(
        self, parameter: Any, argument: Any, fixed: bool, later: list[Any]
    ) -> Given | None:
        """What a parameter is given that is no integer; None if it is nothing that is modelled."""
        kind = self.in_global_scope(parameter)
        if isinstance(kind, Struct):
            return self.structure_value(argument, kind, later)
        slot = self.parameter(parameter, argument) if fixed else None
        if slot is not None or self.parameter_type(parameter) is None:
            return slot
        self.expect(argument, self.parameter_type(parameter) or kind)
        if self.element_of(argument) is None and not self.is_null(argument):
            return None
        return self._kept_address(argument, later)

    def pointer_parameter(
        self, parameter: Any, found: Address, key: Key, frame: dict[str, Slot]
    ) -> Slot:
        element = self.parameter_type(parameter)
        assert element is not None
        scopes = (*self.chain(), self.scope_id(frame))
        slot = self.pointer(parameter, element, key, scopes)
        self.set_pointer(slot, found, parameter)
        return slot

    def structure_parameter(
        self, parameter: Any, kind: Struct, values: list[Value], key: Key, frame: dict[str, Slot]
    ) -> Slot:
        place = self.place(parameter)
        slot = self.structure(parameter.name, kind, (), place, const_=self.is_const(parameter))
        slot = self.living(slot._replace(key=key), parameter, frame)
        self.set_structure(self.entire(slot), kind, values, parameter)
        return slot

    # ---- floating point

    def is_float(self, node: Any) -> bool:
        """Is an expression floating point?"""
        if not self.floats:
            return False
        try:
            kind = self.kind_of(node)
        except (Unsupported, InputError):
            return False
        return isinstance(kind, CType) and kind.floating

    def about_floats(self, kind: CType, arguments: list[Any]) -> bool:
        """Is a function's result, or one of its arguments, floating point? It may be one of the
        mathematical functions."""
        return kind.floating or any(map(self.is_float, arguments))

    def taken_by(self, name: str, number: int) -> CType | None:
        """The integer type that a function without a body takes there; None if it takes none, or
        whatever is given."""
        declared = self.prototypes.get(name)
        if declared is None or declared.args is None:
            return INT if name in (ENDINGS | SILENT) - FORMATS.keys() else None
        listed = declared.args.params
        if number >= len(listed) or isinstance(listed[number], c_ast.EllipsisParam):
            return None
        kind = self.in_global_scope(listed[number])
        return None if isinstance(kind, Opaque) or kind.floating else kind

    def check_listed(
        self, name: str, parameters: list[Any], arguments: list[Any], node: Any
    ) -> None:
        """Where no parameters are declared, nothing is converted, which matters here."""
        if name not in self.unlisted or not self.floats or not parameters:
            return
        kinds = map(self.in_global_scope, parameters)
        if any(map(self.is_float, arguments)) or any(k in (DOUBLE, FLOAT) for k in kinds):
            raise self.unsupported("floating point given to a function without a prototype", node)

    def computed_constant(self, init: Any, kind: CType) -> int:
        """A constant that is computed in floating point."""
        before = len(self.graph.blocks), len(self.graph.blocks[self.current].statements)
        found = self.convert(self.rvalue(init), kind).number()
        after = len(self.graph.blocks), len(self.graph.blocks[self.current].statements)
        if not found.constant or _has_comma(init):
            raise InputError("a constant is needed here", place=self.place(init))
        if before != after:
            raise self.unsupported("a constant that its type does not hold", init)
        return int(found.leaf)

    def computed(self, name: str, arguments: list[Any], node: Any) -> Value:
        """A function of the library's that is known entirely: of one number."""
        if len(arguments) != 1:
            raise InputError(f"'{name}' takes one argument", place=self.place(node))
        if name in SIZES:
            value = self.convert(self.rvalue(arguments[0]), SIZES[name])
            return Value(floating("fabs", value.kind.bits, value.term), value.kind)
        if name not in ABSOLUTE:
            if not self.is_float(arguments[0]):
                raise self.unsupported(f"'{name}' of what is no floating point", node)
            value = self.rvalue(arguments[0])
            odd = floating("fnan", value.kind.bits, value.term)
            if name in FINITE:
                infinite = floating("finf", value.kind.bits, value.term)
                return Value(conj([negate(odd), negate(infinite)]), INT)
            return Value(odd, INT)
        kind = ABSOLUTE[name]
        value = self.snapshot(self.convert(self.rvalue(arguments[0]), kind))
        below = compare("<", value.integer(), ZERO)
        size = ite(below, neg(value.integer()), value.integer())
        return self.arithmetic(size, kind, self.place(node), op="+")


def _has_comma(node: Any) -> bool:
    return any(isinstance(part, c_ast.ExprList) for part in parts(node))
