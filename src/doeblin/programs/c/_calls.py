"""Calls: inlined functions, inputs, assumptions, assertions."""

from __future__ import annotations

import re
from typing import Any

from pycparser import c_ast

from ..._errors import InputError
from ..terms import var
from ._clean import ASSERT_MACRO
from ._emitter import Slot, Value
from ._expressions import Expressions
from ._types import (
    BOOL,
    CHAR,
    INT,
    LLONG,
    LONG,
    SHORT,
    UCHAR,
    UINT,
    ULLONG,
    ULONG,
    USHORT,
    CType,
    Opaque,
)  # fmt: skip

ASSERTIONS = frozenset(
    {"assert", "sassert", "static_assert", "__VERIFIER_assert", "__CPROVER_assert", ASSERT_MACRO}
)
ASSUMPTIONS = frozenset({"assume", "__VERIFIER_assume", "__CPROVER_assume", "sassume"})
FAILURES = frozenset({"__VERIFIER_error", "reach_error", "__assert_fail", "__assert_rtn"})
ENDINGS = frozenset(
    {"exit", "abort", "_exit", "_Exit", "quick_exit", "__builtin_unreachable", "__builtin_abort"}
)
SILENT = frozenset({"printf", "fprintf", "puts", "putchar", "fflush", "srand", "perror"})
_INPUT = re.compile(r"nondet|unknown|havoc|^rand$|^random$|^any$", re.IGNORECASE)
_INPUT_TYPES: dict[str, CType] = {
    "bool": BOOL, "_Bool": BOOL, "char": CHAR, "uchar": UCHAR, "short": SHORT, "ushort": USHORT,
    "int": INT, "uint": UINT, "unsigned": UINT, "long": LONG, "ulong": ULONG, "size_t": ULONG,
    "longlong": LLONG, "ulonglong": ULLONG, "u8": UCHAR, "u16": USHORT, "u32": UINT,
    "uint8_t": UCHAR, "uint16_t": USHORT, "uint32_t": UINT, "uint64_t": ULONG, "loff_t": LONG,
}  # fmt: skip


class Calls(Expressions):
    """Functions by name; bodies are inlined at every call."""

    functions: dict[str, Any]
    prototypes: dict[str, Any]

    def __init__(self, *args: Any, **options: Any):
        super().__init__(*args, **options)
        self.functions = {}
        self.prototypes = {}
        self.stack: list[str] = []

    def _funccall(self, node: Any) -> Value | None:
        if not isinstance(node.name, c_ast.ID):
            raise self.unsupported("function pointers", node)
        name = node.name.name
        arguments = list(node.args.exprs) if node.args else []
        place = self.place(node)
        if name in FAILURES:
            self.fail(f"call of {name}", place)
            return Value(var(self._zero()), INT)
        if name in self.functions:
            return self._inline(name, arguments, node)
        if name in ASSERTIONS:
            self._assertion(name, arguments, node)
            return Value(var(self._zero()), INT)
        if name in ASSUMPTIONS:
            if len(arguments) != 1:
                raise InputError(f"'{name}' takes one condition", place=place)
            self.assume(self.rvalue(arguments[0]).truth(), place)
            return Value(var(self._zero()), INT)
        if name in ENDINGS:
            for argument in arguments:
                self.effects(argument)
            self.stop()
            return Value(var(self._zero()), INT)
        if name in SILENT:
            for argument in arguments:
                if not (isinstance(argument, c_ast.Constant) or self._opaque(argument)):
                    self.effects(argument)
            return Value(self._input(name, INT, node), INT)
        if self.lookup(name) is not None:
            raise self.unsupported("function pointers", node)
        return self._external(name, arguments, node)

    def _external(self, name: str, arguments: list[Any], node: Any) -> Value | None:
        """A function without a body: any result, and unless it is an input, any global effect."""
        for argument in arguments:
            self.effects(argument)
        kind = self._input_type(name)
        if isinstance(kind, Opaque) and kind.name != "void":
            raise self.unsupported(kind.what, node)
        if not _INPUT.search(name):
            for slot in self.scopes[0].values():
                if slot.name is not None and isinstance(slot.kind, CType):
                    self.havoc(slot.name, slot.kind, self.place(node), call=name, origin="hidden")
        if isinstance(kind, Opaque):
            return None
        return Value(self._input(name, kind, node), kind)

    def _zero(self) -> str:
        return self.fresh("", INT)

    def _opaque(self, node: Any) -> bool:
        slot = self.lookup(node.name) if isinstance(node, c_ast.ID) else None
        return slot is not None and isinstance(slot.kind, Opaque)

    def _assertion(self, name: str, arguments: list[Any], node: Any) -> None:
        if not arguments:
            raise InputError(f"'{name}' needs a condition", place=self.place(node))
        bad, good = self.graph.block(), self.graph.block()
        self.condition(arguments[0], good, bad)
        self.start(bad)
        self.fail("assertion", self.place(node))
        self.start(good)

    def _input_type(self, name: str) -> CType | Opaque:
        declared = self.prototypes.get(name)
        if declared is not None:
            return self.type(declared.type)
        return _INPUT_TYPES.get(re.sub(r"^_*(VERIFIER_|CPROVER_|SMACK_)?nondet_", "", name), INT)

    def _input(self, call: str, kind: CType, node: Any) -> Any:
        name = self.fresh("", kind)
        self.havoc(name, kind, self.place(node), call=call, origin="call")
        return var(name)

    def _inline(self, name: str, arguments: list[Any], node: Any) -> Value | None:
        if name in self.stack:
            raise self.unsupported(f"recursion (the function '{name}')", node)
        if len(self.stack) > 100 or len(self.graph.blocks) > 200_000:
            raise self.unsupported("calls nested this deeply", node)
        definition = self.functions[name]
        declared = definition.decl.type
        parameters = [
            p for p in (declared.args.params if declared.args else []) if getattr(p, "name", None)
        ]
        if len(arguments) < len(parameters):
            raise InputError(
                f"'{name}' takes {len(parameters)} arguments, got {len(arguments)}",
                place=self.place(node),
            )
        values: list[Value | None] = []
        for number, argument in enumerate(arguments):
            if number < len(parameters):
                kind = self._in_global_scope(parameters[number])
                if isinstance(kind, Opaque):
                    if not self.harmless(argument):
                        raise self.unsupported(kind.what, argument)
                    values.append(None)
                    continue
            value = self.rvalue(argument)
            if any(not self.plain(later) for later in arguments[number + 1 :]):
                value = self.snapshot(value)
            values.append(value)
        frame: dict[str, Slot] = {}
        for parameter, value in zip(parameters, values, strict=False):
            kind = self._in_global_scope(parameter)
            if isinstance(kind, Opaque) or value is None:
                frame[parameter.name] = Slot(kind)
                continue
            place = self.place(parameter)
            inner = self.fresh(parameter.name, kind, place)
            self.assign(inner, self.convert(value, kind).term, place)
            frame[parameter.name] = Slot(kind, inner)
        return self.body(name, frame, node)

    def _in_global_scope(self, parameter: Any) -> CType | Opaque:
        scopes, self.scopes = self.scopes, self.scopes[:1]
        try:
            kind = self.type(parameter)
        finally:
            self.scopes = scopes
        # An array parameter is a pointer; both are opaque.
        return kind

    def body(self, name: str, frame: dict[str, Slot], node: Any) -> Value | None:
        raise AssertionError("given by Statements")
