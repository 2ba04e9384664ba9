"""Builds the graph while C is walked: blocks, scopes, fresh names, obligations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ...._errors import InputError, Place
from ...system import Assign, Assume, Branch, Fail, Graph, Havoc, Jump, Stop, Variable
from ...system.terms import (
    WORDS,
    Term,
    add,
    as_bool,
    as_int,
    compare,
    conj,
    const,
    divide,
    ite,
    sub,
    var,
)
from ._unsupported import Unsupported
from .types import (
    BOOL,
    OUT_OF_RANGE,
    CType,
    Key,
    Opaque,
    Pointer,
    Wraps,
    compared,
    held,
    to_floating,
    truncated,
)

SIGNED_OVERFLOW = "undefined behaviour: signed overflow"


class NoInteger(Exception):
    """Floating point where only an integer is understood."""


class Value(NamedTuple):
    """A value: its term (of sort Bool for comparisons, to keep conditions simple; the key of one of
    floating point) and type."""

    term: Term
    kind: CType

    @classmethod
    def of(cls, name: str, kind: CType) -> Value:
        """A variable of the graph."""
        return cls(var(name, kind.format), kind)

    def integer(self) -> Term:
        if self.kind.floating:
            raise NoInteger
        return as_int(self.term)

    def number(self) -> Term:
        """The integer, or the key."""
        return as_int(self.term)

    def truth(self) -> Term:
        if self.kind.floating:
            return compared("!=", self.term, const(0), self.kind)
        return as_bool(self.term)


class Cells(NamedTuple):
    """What the name of an array stands for: the graph's array `name` or, where it is only indexed
    by constants, a variable for each cell (`scalars`; the name is then for itself only). `lengths`
    are those at the declaration, None where it is unknown; a `pointer` is a parameter, by another
    array's name."""

    shown: str
    element: CType
    lengths: tuple[Term | None, ...]
    name: str
    scalars: dict[int, str] | None = None
    const: bool = False
    pointer: bool = False


class Slot(NamedTuple):
    """What a name in scope stands for."""

    kind: CType | Opaque
    name: str | None = None  # the graph's variable
    constant: int | None = None  # an enumerator
    const: bool = False
    cells: Cells | None = None  # of an array
    pointer: Pointer | None = None
    key: Key | None = None  # by which pointers know it
    fields: dict[str, Slot] | None = None  # of a structure
    lengths: tuple[Term, ...] = ()  # of an array of structures

    def names(self) -> set[str]:
        """What the graph knows it by, or what it is for itself."""
        found = (self.name, self.cells and self.cells.name, self.pointer and self.pointer.name)
        inner = (name for slot in (self.fields or {}).values() for name in slot.names())
        return {name for name in (*found, *inner) if name}


class Emitter:
    """The graph under construction and the current block."""

    def __init__(self, places: list[Place], file: str, *, wraps: Wraps):
        self.graph = Graph()
        self.places = places
        self.file = file
        self.wrap = wraps == "all"
        self.wrap_unsigned = wraps != "none"
        self.current = self.graph.block()
        self.scopes: list[dict[str, Slot]] = [{}]
        self.function = ""
        self.blame: list[Place] = []
        self.from_header: Callable[[str], str | None] = lambda name: None
        self._sites = 0
        self.floats = False  # is there floating point anywhere in the text?
        self.spot = Place(file)  # of the value that was computed last
        self.addressed: set[str] = set()  # names that pointers to floating point may be of
        self.unlisted: set[str] = set()  # functions that are declared without their parameters

    # ---- places and names

    def place(self, node: Any) -> Place:
        coord = getattr(node, "coord", None)
        if coord is None or not 1 <= coord.line <= len(self.places):
            return Place(self.file)
        return self.places[coord.line - 1]

    def unsupported(self, what: str, node: Any) -> Unsupported:
        return Unsupported(what, self.place(node))

    def integral(self, kind: CType | Opaque, node: Any) -> CType:
        """The type, which is refused unless it is one of integers."""
        if isinstance(kind, Opaque) or kind.floating:
            raise self.unsupported(getattr(kind, "what", "floating point"), node)
        return kind

    def fresh(self, shown: str, kind: CType, place: Place | None = None) -> str:
        """A new variable; its name is the source's unless that is taken, or a word of solvers."""
        name = self.fresh_name(shown or f"tmp#{len(self.graph.variables)}")
        low, high = self.range_of(kind)
        made = Variable(name, shown, low, high, kind.name, place, kind.format)
        self.graph.variables[name] = made
        if kind.floating:
            self.graph.floating = self.graph.floating or place or self.spot
        return name

    def fresh_name(self, name: str) -> str:
        """The name, changed where it is taken or a word of solvers."""
        known = (self.graph.variables, self.graph.arrays)
        if name not in WORDS and not name.startswith("bv") and not any(name in k for k in known):
            return name
        number = 2
        while any(f"{name}#{number}" in names for names in known):
            number += 1
        return f"{name}#{number}"

    def range_of(self, kind: CType) -> tuple[int | None, int | None]:
        """Mathematical integers have no bounds, but unsigned and narrow types keep theirs."""
        if kind.floating:
            return None, None
        low = kind.low if self.wrap or not kind.signed or kind.bits < 32 else None
        high = kind.high if self._wraps(kind) or kind.bits < 32 else None
        return low, high

    def lookup(self, name: str) -> Slot | None:
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return None

    def undeclared(self, node: Any) -> Exception:
        """What is wrong with a name that is not declared: the program, or our headers."""
        header = self.from_header(node.name)
        if header is not None:
            return self.unsupported(f"'{node.name}', which {header} may declare,", node)
        return InputError(
            f"'{node.name}' is not declared; declare it, e.g. 'int {node.name};'",
            place=self.place(node),
        )

    # ---- control flow

    def start(self, block: int) -> None:
        self.current = block

    def jump(self, target: int) -> None:
        self.graph.blocks[self.current].end = Jump(target)

    def branch(self, condition: Term, yes: int, no: int, place: Place | None = None) -> None:
        if condition.constant:
            self.jump(yes if condition.leaf else no)
        else:
            self.graph.blocks[self.current].end = Branch(condition, yes, no, place)

    def stop(self) -> None:
        """End this path; what follows in the text is unreachable unless a label is there."""
        self.graph.blocks[self.current].end = Stop()
        self.current = self.graph.block()

    def fail(self, what: str, place: Place) -> None:
        blamed = self.blame[0] if self.blame else place
        remarks = self.graph.remarks
        kind = remarks.undefined if what.startswith("undefined") else remarks.properties
        kind[blamed] = what
        self.graph.blocks[self.current].end = Fail(what, blamed, place)
        self.current = self.graph.block()

    def require(self, condition: Term, what: str, place: Place) -> None:
        """An obligation: where the condition is false, the program fails."""
        if condition.constant and condition.leaf:
            return
        bad, good = self.graph.block(), self.graph.block()
        self.branch(condition, good, bad, place)
        self.start(bad)
        self.fail(what, place)
        self.start(good)

    # ---- statements

    def assign(self, name: str, value: Term, place: Place | None = None) -> None:
        self.graph.blocks[self.current].statements.append(Assign(name, as_int(value), place))

    def assume(self, condition: Term, place: Place | None = None) -> None:
        if not (condition.constant and condition.leaf):
            self.graph.blocks[self.current].statements.append(Assume(condition, place))

    def site(self) -> int:
        """A new number for a place where something is read or called."""
        self._sites += 1
        return self._sites

    def havoc(
        self,
        name: str,
        kind: CType,
        place: Place,
        *,
        call: str | None = None,
        origin: str = "declaration",
        block: int | None = None,
        within: tuple[int, int] | None = None,
    ) -> None:
        """Any value of the type, or of those `within`."""
        low, high = within or (kind.low, kind.high)
        statement = Havoc(name, self.site(), low, high, place, call, origin)
        where = self.current if block is None else block
        self.graph.blocks[where].statements.append(statement)

    def blank_variable(
        self, name: str, kind: CType, place: Place, value: int | None, origin: str = "cell"
    ) -> Assign | Havoc:
        """What gives a variable that is a cell its first value, or leaves that open."""
        if value is not None:
            return Assign(name, const(value), place)
        return Havoc(name, self.site(), kind.low, kind.high, place, origin=origin)

    def snapshot(self, value: Value) -> Value:
        """The value as it is now, whatever is assigned later."""
        if value.term.constant:
            return value
        name = self.fresh("", value.kind)
        self.assign(name, value.term)
        return Value.of(name, value.kind)

    # ---- arithmetic

    def convert(self, value: Value, kind: CType) -> Value:
        """C's conversion; values that the target type holds are untouched."""
        if kind == BOOL:
            return Value(value.truth(), BOOL)
        if kind.floating or value.kind.floating:
            return self._convert_floating(value, kind)
        if value.term.boolean or kind.holds(value.kind):
            return Value(value.term, kind)
        term = value.integer()
        wide = kind.bits >= value.kind.bits
        if wide and not kind.signed and not self.wrap_unsigned:
            # Mathematical integers: only the negative values leave the unsigned type.
            modulus = const(1 << kind.bits)
            return Value(
                ite(compare("<", term, const(0)), divide("mod", term, modulus), term), kind
            )
        return Value(wrapped(term, kind), kind)

    def _convert_floating(self, value: Value, kind: CType) -> Value:
        """From or to floating point: rounded to nearest, or towards zero, where it must fit."""
        self.graph.floating = self.graph.floating or self.spot
        if kind.floating:
            return Value(to_floating(value.number(), value.kind, kind), kind)
        self.require(held(value.term, value.kind, kind), OUT_OF_RANGE, self.spot)
        return Value(truncated(value.term, value.kind), kind)

    def arithmetic(self, term: Term, kind: CType, place: Place, *, op: str) -> Value:
        """The result of `+ - *` in its type: exact, wrapped, or an overflow to be excluded."""
        if term.constant and kind.low <= term.leaf <= kind.high:
            return Value(term, kind)
        if kind.signed:
            if self.wrap:
                inside = conj(
                    (compare("<=", const(kind.low), term), compare("<=", term, const(kind.high)))
                )
                self.require(inside, SIGNED_OVERFLOW, place)
            return Value(term, kind)
        modulus = const(1 << kind.bits)
        sunk = compare("<", term, const(0))
        if op != "-":
            self.graph.modular = True
        if not self.wrap_unsigned:
            return Value(ite(sunk, divide("mod", term, modulus), term) if op == "-" else term, kind)
        # Of two values of the type, sums and differences are off by less than the modulus.
        if op == "-":
            return Value(ite(sunk, add(term, modulus), term), kind)
        if op == "+":
            above = compare("<", const(kind.high), term)
            return Value(ite(above, sub(term, modulus), term), kind)
        return Value(divide("mod", term, modulus), kind)

    def _wraps(self, kind: CType) -> bool:
        return self.wrap or (self.wrap_unsigned and not kind.signed)

    def constant_value(self, value: Value, node: Any) -> int:
        term = value.integer()
        if not term.constant:
            raise InputError("a constant is needed here", place=self.place(node))
        return int(term.leaf)


def wrapped(term: Term, kind: CType) -> Term:
    """The value of the type that is congruent to the term."""
    if term.constant and kind.low <= term.leaf <= kind.high:
        return term
    modulus = const(1 << kind.bits)
    if not kind.signed:
        inside, outside = compare("<=", const(0), term), divide("mod", term, modulus)
    else:
        half = const(1 << (kind.bits - 1))
        shifted = divide("mod", sub(term, const(kind.low)), modulus)
        inside, outside = compare("<=", const(kind.low), term), sub(shifted, half)
    inside = conj((inside, compare("<=", term, const(kind.high))))
    return outside if inside.constant else ite(inside, term, outside)
