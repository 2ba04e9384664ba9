"""Arguments that are no integers: arrays, pointers and structures."""

from __future__ import annotations

from typing import Any

from ._emitter import Slot, Value
from ._expressions import Expressions
from ._points import Address, Key
from ._types import Struct


class Arguments(Expressions):
    """What parameters are given, and what they are in the function."""

    def given_to(
        self, parameter: Any, argument: Any, fixed: bool, later: list[Any]
    ) -> Slot | Address | list[Value] | None:
        """What a parameter is given that is no integer: an array under another name, a pointer, or
        the leaves of a structure."""
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
