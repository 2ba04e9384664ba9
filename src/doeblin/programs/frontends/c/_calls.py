"""Calls: inlined functions, inputs, assumptions, assertions; recursion is for `Procedures`."""

from __future__ import annotations

import re
from typing import Any

from pycparser import c_ast

from ...._errors import InputError
from ...system.terms import Term, truth, var
from ._arguments import Given
from ._emitter import Slot, Value
from ._library import (
    ABSOLUTE,
    ALLOCATING,
    ASSERTIONS,
    ASSUMPTIONS,
    BUILT_IN,
    ENDINGS,
    EXPECTING,
    FAILURES,
    FINITE,
    FLOATING,
    FORMATS,
    FREEING,
    MATHEMATICS,
    MODELLED,
    PARTLY_KNOWN,
    RANGES,
    REFUSED,
    SILENT,
    SIZES,
    STREAMS,
    TURNED,
    UNORDERED,
    UNREACHABLE,
    VIOLATION,
    is_input,
)
from ._outside import Outside
from .tree import assigned
from .types import INT, LONG, Address, CType, Opaque, Struct

__all__ = ["ASSERTIONS", "ASSUMPTIONS", "FAILURES", "Calls"]

_STORES = re.compile(r"%[^a-zA-Z%]*(?:hh|h|ll|l|j|z|t|L)?n")  # printf's one way to write


class Calls(Outside):
    """Functions by name; bodies are inlined at every call, unless they may call themselves."""

    def __init__(self, *args: Any, **options: Any):
        super().__init__(*args, **options)
        self.asserting = 0  # within how many assertions that the program defines
        self.renamed: set[str] = set()
        self.promises: dict[str, set[str]] = {}  # of functions, what gcc takes for granted
        self.headers = False  # were any included, so that a function may be declared there?

    def _funccall(self, node: Any) -> Value | None:
        if not isinstance(node.name, c_ast.ID):
            raise self.unsupported("function pointers", node)
        name = node.name.name
        arguments = list(node.args.exprs) if node.args else []
        if self.lookup(name) is not None:
            raise self.unsupported("function pointers", node)
        self.check_operands(arguments, node)
        if name in FAILURES:
            return self._failure(name, arguments, node)
        self._check_built_in(name, node)
        if name in self.functions:
            if name in self.promises:
                what = f"'{min(self.promises[name])}' of a function with a body"
                raise self.unsupported(what, node)
            return self._inline(name, arguments, node)
        if name in self.renamed or name in REFUSED:
            raise self.unsupported(f"the function '{name}'", node)
        return self._modelled(name, arguments, node)

    def _check_built_in(self, name: str, node: Any) -> None:
        """Does gcc call what the program says? It knows some functions better than their bodies."""
        own = self.functions.get(name)
        known = BUILT_IN | TURNED | MATHEMATICS
        if own is not None and "static" not in own.decl.storage and name in known:
            what = f"a body for '{name}', which gcc takes for its built-in function,"
            raise self.unsupported(what, node)
        others = SILENT & self.functions.keys() - {name}
        if own is None and name in TURNED and others:
            what = f"'{name}', which gcc may turn into a call of the program's '{min(others)}',"
            raise self.unsupported(what, node)

    def _modelled(self, name: str, arguments: list[Any], node: Any) -> Value | None:
        """A function of the library's table, or one that nothing is known of."""
        place = self.place(node)
        known = ABSOLUTE.get(name) or SIZES.get(name) or RANGES.get(name, (None,))[0]
        if known is not None and self.result_kind(name) != known:
            raise self.unsupported(f"a declaration of '{name}' that is not the library's", node)
        if name in ASSERTIONS:
            return self._assertion(name, arguments, node)
        if name in ASSUMPTIONS:
            if len(arguments) != 1:
                raise InputError(f"'{name}' takes one condition", place=place)
            narrowed = self._narrowed(name, arguments[0])
            self.assume(self.truth_of(arguments[0]) if narrowed is None else narrowed, place)
            return None
        if name in ENDINGS or name == VIOLATION or name in self.noreturn:
            for number, argument in enumerate(arguments):
                self._hand(name, number, argument)
            return self._end(name, node)
        if name in UNREACHABLE:
            self.require(truth(False), f"undefined behaviour: {name} reached", place)
            return None
        if name in FREEING:
            return self.free(arguments, node)
        if name in ALLOCATING:
            raise self.unsupported(f"what '{name}' returns, used so,", node)
        if name in SILENT:
            return self._printed(name, arguments, node)
        if name in ABSOLUTE or name in SIZES or name in UNORDERED or name in FINITE:
            return self.computed(name, arguments, node)
        if name in RANGES:
            kind, low, high = RANGES[name]
            return Value(self._input(name, kind, node, within=(low, high)), kind)
        if name in EXPECTING and len(arguments) == 2:
            value = self.convert(self.rvalue(arguments[0]), LONG)
            self._given(arguments[1])
            return value
        if name in FLOATING:
            raise self.unsupported("floating point", node)
        if name.startswith(("__builtin_", "__sync_", "__atomic_")):
            raise self.unsupported(f"the function '{name}'", node)
        return self._external(name, arguments, node)

    def _failure(self, name: str, arguments: list[Any], node: Any) -> None:
        for argument in arguments:
            if not self.harmless(argument):
                self._given(argument)
        self.fail(f"call of {name}", self.place(node))

    def _end(self, name: str, node: Any) -> None:
        """The run ends here: a failure within an assertion that the program defines."""
        if self.asserting or name == VIOLATION:
            self.fail("assertion", self.place(node))
        else:
            self.stop()

    def _printed(self, name: str, arguments: list[Any], node: Any) -> Value | None:
        text = arguments[FORMATS.get(name, 0) :][:1]
        literal = bool(text) and isinstance(text[0], c_ast.Constant)
        for number, argument in enumerate(arguments):
            if isinstance(argument, c_ast.Constant):
                if argument.type == "string" and _STORES.search(argument.value):
                    raise self.unsupported("printf's %n", argument)
            elif self._is_stream(argument):
                continue
            elif not self._opaque(argument) and self.element_of(argument) is None:
                self._hand(name, number, argument)
            elif self.is_array(argument):
                raise self.unsupported(f"an array given to '{name}'", argument)
            elif self.element_of(argument) is not None:
                raise self.unsupported(f"a pointer given to '{name}'", argument)
            elif not literal:
                raise self.unsupported("pointers", argument)
        if id(node) not in self.used:
            return None
        return Value(self._input(name, INT, node, origin="rough"), INT)

    def _is_stream(self, node: Any) -> bool:
        """Is it one of stdio.h's, and not a variable of the program's?"""
        if not isinstance(node, c_ast.ID) or node.name not in STREAMS:
            return False
        return self.lookup(node.name) is None and self.from_header(node.name) is not None

    def rounded(self, call: Any, kind: CType) -> Value:
        """A floating-point function's result, cast to an integer."""
        name = call.name.name
        if name in self.functions:
            raise self.unsupported("floating point", call)
        for argument in call.args.exprs if call.args else ():
            self._given(argument)
        return Value(self._input(name, kind, call, origin="rough"), kind)

    def _external(self, name: str, arguments: list[Any], node: Any) -> Value | None:
        """A function without a body: any result, and unless it is an input, any global effect."""
        if steady := self.promises.get(name, set()) & {"const", "pure"}:  # two calls, one result
            raise self.unsupported(f"'{min(steady)}' of a function without a body", node)
        for number, argument in enumerate(arguments):
            self.keep_from(argument)
            self._hand(name, number, argument)
        kind = self.result_kind(name)
        if isinstance(kind, Opaque) and kind.name != "void":
            raise self.unsupported(kind.what, node)
        if not is_input(name):
            self.no_global_pointers(node)
            self.graph.remarks.without_body.setdefault(name, self.place(node))
            self.forget_exposed(name, node)
        if isinstance(kind, Opaque):
            return None
        rough = name in PARTLY_KNOWN or (not is_input(name) and self.about_floats(kind, arguments))
        origin = "rough" if rough else "call"
        return Value(self._input(name, kind, node, origin=origin), kind)

    def _hand(self, name: str, number: int, argument: Any) -> None:
        """Where a function without a body takes an integer, floating point becomes one."""
        kind = self.taken_by(name, number)
        if kind is not None and self.is_float(argument):
            self.convert(self.rvalue(argument), kind)
        else:
            self._given(argument)

    def _given(self, argument: Any) -> None:
        """An argument whose value does not matter, but which has one."""
        self._use(argument)
        self.effects(argument)

    def _use(self, node: Any) -> None:
        """Mark the calls whose value is that of the expression."""
        todo = [node]
        while todo:
            part = todo.pop()
            if isinstance(part, c_ast.ExprList):
                todo.append(part.exprs[-1])
            elif isinstance(part, c_ast.TernaryOp):
                todo += [part.iftrue, part.iffalse]
            elif isinstance(part, c_ast.GenericSelection):
                todo.append(self.chosen(part))
            elif _is_call(part):
                self.used.add(id(part))

    def rvalue(self, node: Any) -> Value:
        self._use(node)
        call = node.name.name if _is_call(node) else ""
        if self.headers and call and not self._known(call):
            raise self.unsupported(f"'{call}', whose type is not known here,", node)
        value = super().rvalue(node)
        self.spot = self.place(node)
        return value

    def _known(self, name: str) -> bool:
        return (
            name in self.functions
            or name in self.prototypes
            or name in MODELLED
            or is_input(name)
            or name.startswith("__builtin_")
        )

    def _opaque(self, node: Any) -> bool:
        slot = self.lookup(node.name) if isinstance(node, c_ast.ID) else None
        return slot is not None and isinstance(slot.kind, Opaque)

    def _assertion(self, name: str, arguments: list[Any], node: Any) -> None:
        if not arguments:
            raise InputError(f"'{name}' needs a condition", place=self.place(node))
        bad, good = self.graph.block(), self.graph.block()
        narrowed = self._narrowed(name, arguments[0])
        if narrowed is None:
            self.condition(arguments[0], good, bad)
        else:
            self.branch(narrowed, good, bad, self.place(node))
        self.start(bad)
        self.fail("assertion", self.place(node))
        self.start(good)

    def _narrowed(self, name: str, argument: Any) -> Term | None:
        """The truth of a condition that the call converts, as to an `int`; None where that changes
        nothing."""
        declared = self.prototypes.get(name)
        kind: CType | Opaque = INT
        if declared is not None:
            if declared.args is None:
                return None
            kind = self.in_global_scope(declared.args.params[0])
        elif not name.startswith("__VERIFIER_"):
            return None
        if isinstance(kind, Opaque) or self._fits(argument, kind):
            return None
        return self.convert(self.rvalue(argument), kind).truth()

    def _fits(self, argument: Any, kind: CType) -> bool:
        own = self.kind_of(argument)
        return isinstance(own, CType) and kind.holds(own)

    def _input(
        self,
        call: str,
        kind: CType,
        node: Any,
        *,
        within: tuple[int, int] | None = None,
        origin: str = "call",
    ) -> Any:
        name = self.fresh("", kind)
        self.havoc(name, kind, self.place(node), call=call, origin=origin, within=within)
        return var(name, kind.format)

    def _inline(self, name: str, arguments: list[Any], node: Any) -> Value | None:
        if len(self.stack) > 100 or len(self.graph.blocks) > 200_000:
            raise self.unsupported("calls nested this deeply", node)
        definition = self.functions[name]
        declared = definition.decl.type
        if definition.param_decls:
            raise self.unsupported("parameters declared in the old style", definition)
        parameters = self.parameters(name)
        listed = declared.args is not None and not any(
            isinstance(p, c_ast.EllipsisParam) for p in declared.args.params
        )
        if len(arguments) < len(parameters) or (listed and len(arguments) > len(parameters)):
            raise InputError(
                f"'{name}' takes {len(parameters)} arguments, got {len(arguments)}",
                place=self.place(node),
            )
        self.check_listed(name, parameters, arguments, node)
        values: list[Value | None] = []
        given: dict[int, Given] = {}
        changed = assigned(definition.body, steps=True)
        for number, argument in enumerate(arguments):
            later = arguments[number + 1 :]
            if number < len(parameters):
                kind = self.in_global_scope(parameters[number])
                if isinstance(kind, Opaque):
                    fixed = parameters[number].name not in changed
                    found = self.given_to(parameters[number], argument, fixed, later)
                    if found is not None:
                        given[number] = found
                    elif not self.harmless(argument):
                        raise self.unsupported(kind.what, argument)
                    values.append(None)
                    continue
            value = self.rvalue(argument)
            values.append(value if all(map(self.plain, later)) else self.snapshot(value))
        if name in self.recursive:
            return self.call(name, values, given, node)
        frame: dict[str, Slot] = {}
        for number, (parameter, value) in enumerate(zip(parameters, values, strict=False)):
            kind = self.in_global_scope(parameter)
            key = (id(parameter), (*self.path, id(node)))
            if isinstance(kind, Opaque) or value is None:
                found = given.get(number, Slot(kind))
                if isinstance(found, Address):
                    found = self.pointer_parameter(parameter, found, key, frame)
                elif isinstance(found, list) and isinstance(kind, Struct):
                    found = self.structure_parameter(parameter, kind, found, key, frame)
                assert isinstance(found, Slot)
                frame[parameter.name] = found
                continue
            place = self.place(parameter)
            inner = self.fresh(parameter.name, kind, place)
            self.assign(inner, self.convert(value, kind).term, place)
            slot = Slot(kind, inner, const=self.is_const(parameter), key=key)
            frame[parameter.name] = self.living(slot, parameter, frame)
        return self.body(name, frame, node)

    def parameters(self, name: str) -> list[Any]:
        """The declarations of a function's parameters."""
        listed = self.functions[name].decl.type.args
        return [p for p in (listed.params if listed else []) if getattr(p, "name", None)]

    def call(
        self, name: str, values: list[Value | None], given: dict[int, Given], node: Any
    ) -> Value | None:
        raise AssertionError("given by Procedures")

    def body(self, name: str, frame: dict[str, Slot], node: Any) -> Value | None:
        raise AssertionError("given by Statements")


def _is_call(node: Any) -> bool:
    return isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID)
