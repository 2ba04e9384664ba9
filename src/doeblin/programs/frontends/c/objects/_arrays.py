"""Arrays of C: objects with lengths, whose cells are read and written within bounds.

An array that the whole file indexes by constants only is as many variables. All others are arrays
of the graph; several dimensions are laid out in a row, and each index is held against its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pycparser import c_ast

from ....._errors import InputError, Place
from ....system import Array, Fill, Load, Statement, Store
from ....system.terms import ZERO, Term, compare, conj, const, mul, var
from ....system.terms import add as plus
from .._emitter import Cells, Slot, Value
from .._order import Order
from .._static import ARRAY, POINTER
from ..tree import brackets, flat, is_text, nested, pointed
from ..types import INT, CType, string_values

_LONGEST = (1 << 63) - 1  # bytes of an object, at most


class Arrays(Order):
    """Declarations of arrays, and their cells."""

    def __init__(self, *args: Any, **options: Any):
        super().__init__(*args, **options)
        self.by_constants: dict[str, set[tuple[int, ...]]] = {}  # arrays, and their indices
        self.only_assigned: set[str] = set()  # names that nobody reads
        self.mentioned: set[str] = set()  # names that stand in expressions
        self.in_procedure = False
        self.taken: list[str] = []  # variables that keep a length as it was

    def rvalue(self, node: Any) -> Value:
        raise AssertionError("given by Expressions")

    def plain(self, node: Any) -> bool:
        raise AssertionError("given by Expressions")

    def binary(self, op: str, left: Value, right: Value, node: Any) -> Value:
        raise AssertionError("given by Expressions")

    def emit(self, statement: Statement) -> None:
        self.graph.blocks[self.current].statements.append(statement)

    # ---- objects

    def element(self, node: Any) -> CType | None:
        """The type of the cells that a declaration is of; None if it is of no array of integers."""
        if not isinstance(node, c_ast.ArrayDecl):
            return None
        while isinstance(node, c_ast.ArrayDecl):
            node = node.type
        kind = self.type(node) if isinstance(node, c_ast.TypeDecl) else None
        return kind if isinstance(kind, CType) and not kind.floating else None

    def object(
        self,
        shown: str,
        element: CType,
        lengths: Sequence[Term | None],
        place: Place,
        *,
        const: bool,
    ) -> Cells:
        """A new array, or a variable for each cell that is used."""
        size = tuple(lengths)
        used = self.by_constants.get(shown)
        fixed = [int(length.leaf) for length in size if length is not None and length.constant]
        if used is not None and len(fixed) == len(size):
            inside_ = {flat(fixed, index) for index in used if len(index) == len(size)}
            inside = sorted(at for at in inside_ if at is not None)
            scalars = {
                at: self.fresh(f"{shown}{brackets(fixed, at)}", element, place) for at in inside
            }
            return Cells(shown, element, size, f"{shown}[]", scalars, const)
        name = self.fresh_name(shown)
        low, high = self.range_of(element)
        bounds = (element.low, element.high)
        self.graph.arrays[name] = Array(name, shown, low, high, bounds, element.name, place)
        return Cells(shown, element, size, name, None, const)

    def blank(
        self, cells: Cells, place: Place, value: int | None = None, origin: str = "cell"
    ) -> list[Statement]:
        """What gives every cell a value, or leaves it open which."""
        kind = cells.element
        if cells.scalars is not None:
            return [
                self.blank_variable(name, kind, place, value, origin)
                for name in cells.scalars.values()
            ]
        return [Fill(cells.name, value, self.site(), kind.low, kind.high, place, origin)]

    def forget(self, cells: Cells, place: Place, origin: str = "cell") -> None:
        """From now on the cells may be anything."""
        for statement in self.blank(cells, place, origin=origin):
            self.emit(statement)

    def lengths(self, node: Any, length: int | None, *, variable: bool) -> list[Term]:
        """The lengths in a declaration, evaluated now; `length` is that of the initialiser."""
        found: list[Term] = []
        inner = node.type
        while isinstance(inner, c_ast.ArrayDecl):
            if inner.dim is None:
                if found or length is None:
                    raise self.unsupported("an array without a length", node)
                found.append(const(length))
            elif self.is_constant(inner.dim):
                value = self.constant(inner.dim)[0]
                if value < 0:
                    raise InputError(
                        f"the length of '{node.name}' is negative", place=self.place(node)
                    )
                if value == 0:
                    raise self.unsupported("an array of length 0", node)
                found.append(const(value))
            elif not variable:
                raise self.unsupported("variable length arrays outside of functions", node)
            else:
                found.append(self._variable_length(inner.dim, node))
            inner = inner.type
        kinds = self.element(node.type)
        assert kinds is not None
        size = max(1, kinds.bits // 8)
        total: Term = const(size)
        for length_ in found:
            total = mul(total, length_)
        said = f"undefined behaviour: the array '{node.name}' is too large"
        if total.constant:
            if total.leaf > _LONGEST:
                raise InputError(f"the array '{node.name}' is too large", place=self.place(node))
        elif len(found) > 1 or self._longest * size > _LONGEST:
            self.require(compare("<=", total, const(_LONGEST)), said, self.place(node))
        return found

    def _variable_length(self, dim: Any, node: Any) -> Term:
        value = self.snapshot(self.rvalue(dim))
        if value.term.op == "var":
            self.taken.append(value.term.leaf)
        said = f"undefined behaviour: the length of '{node.name}' is not positive"
        self.require(compare("<", ZERO, value.integer()), said, self.place(node))
        self._longest = value.kind.high
        return value.integer()

    _longest = 0

    def initial(self, node: Any) -> tuple[list[Any] | None, int | None]:
        """The cells that an initialiser gives in order (nodes or numbers), and the length that it
        gives the array; None where there is none."""
        init: Any = node.init
        if init is None:
            return None, None
        if isinstance(init, c_ast.InitList) and len(init.exprs) == 1 and is_text(init.exprs[0]):
            init = init.exprs[0]
        if is_text(init):
            kind = self.element(node.type)
            if kind is None or kind.bits != 8 or isinstance(node.type.type, c_ast.ArrayDecl):
                raise self.unsupported("this initialiser", node)
            text: Any = init
            values = string_values(text.value, self.place(text), kind)
            return values, len(values)
        if not isinstance(init, c_ast.InitList):
            raise self.unsupported("this initialiser of an array", node)
        if any(isinstance(item, c_ast.NamedInitializer) for item in nested(init)):
            raise self.unsupported("initialisers that name their cells", node)
        counted = node.type.dim is not None or not isinstance(node.type.type, c_ast.ArrayDecl)
        if not counted and not all(isinstance(item, c_ast.InitList) for item in init.exprs):
            raise self.unsupported("rows without brackets in an array without a length", node)
        return list(init.exprs), len(init.exprs)

    def spread(self, items: list[Any], lengths: Sequence[Term], node: Any) -> dict[int, Any]:
        """The cells that an initialiser gives, by their place in the row."""
        first, rest = int(lengths[0].leaf), lengths[1:]
        if rest:
            return self._spread_rows(items, first, rest, node)
        # The zero that ends a text may be left out (C11 6.7.9p14).
        if len(items) == first + 1 and isinstance(items[-1], int):
            items = items[:-1]
        if len(items) > first:
            raise self.unsupported("more initialisers than cells", node)
        for item in items:
            if isinstance(item, c_ast.InitList) or is_text(item):
                raise self.unsupported("this initialiser of a cell", node)
        return dict(enumerate(items))

    def _spread_rows(
        self, items: list[Any], rows: int, lengths: Sequence[Term], node: Any
    ) -> dict[int, Any]:
        """A row without brackets of its own takes as many initialisers as it has cells."""
        width = 1
        for length in lengths:
            width *= int(length.leaf)
        found: dict[int, Any] = {}
        row = 0
        while items:
            if row == rows:
                raise self.unsupported("more initialisers than cells", node)
            if isinstance(items[0], c_ast.InitList):
                inner = self.spread(list(items[0].exprs), lengths, node)
                items = items[1:]
            else:
                inner = dict(enumerate(items[:width]))
                if any(isinstance(item, c_ast.InitList) or is_text(item) for item in items[:width]):
                    raise self.unsupported("texts or brackets amid the cells of a row", node)
                items = items[width:]
            found |= {row * width + at: value for at, value in inner.items()}
            row += 1
        return found

    # ---- cells

    def within(self, cells: Cells, values: list[Value], node: Any) -> Term:
        """The place of a cell in its row; an index out of bounds is a failure."""
        at: Term = ZERO
        for value, length in zip(values, cells.lengths, strict=True):
            index = value.integer()
            if length is None:  # a row by itself, of which the verdict says what it assumes
                return index
            inside = conj((compare("<=", ZERO, index), compare("<", index, length)))
            said = f"undefined behaviour: the index of '{cells.shown}' is out of bounds"
            self.require(inside, said, self.place(node))
            at = plus(mul(at, length), index)
        return at

    def load(self, cells: Cells, at: Term, place: Place) -> Value:
        if cells.scalars is not None:
            name = cells.scalars.get(int(at.leaf))
            return Value(ZERO, cells.element) if name is None else Value.of(name, cells.element)
        name = self.fresh("", cells.element)
        self.emit(Load(name, cells.name, at, place))
        return Value.of(name, cells.element)

    def store(self, cells: Cells, at: Term, value: Value, place: Place) -> None:
        term = self.convert(value, cells.element).integer()
        if cells.scalars is None:
            self.emit(Store(cells.name, at, term, place))
        elif (name := cells.scalars.get(int(at.leaf))) is not None:
            self.assign(name, term, place)

    def never_read(self, node: Any) -> bool:
        """Is it a pointer of a function of ours that nobody reads?"""
        if not isinstance(node, c_ast.ID) or node.name not in self.only_assigned:
            return False
        slot = self.lookup(node.name)
        pointer = slot is not None and slot.kind == POINTER
        return pointer and any(node.name in scope for scope in self.scopes[1:])

    # ---- arrays as parameters

    def parameter(self, parameter: Any, argument: Any) -> Slot | None:
        """What a parameter that points to cells stands for, if the argument is an array; the same
        array under another name."""
        target = pointed(parameter.type)
        slot = self.lookup(argument.name) if isinstance(argument, c_ast.ID) else None
        if target is None or slot is None or slot.cells is None:
            return None
        dims, inner = target
        kind = self.in_global_scope(inner)
        cells = slot.cells
        if kind != cells.element or len(dims) + 1 != len(cells.lengths):
            raise self.unsupported("an array of another type than the parameter's", argument)
        for dim, length in zip(dims, cells.lengths[1:], strict=True):
            if dim is None or length is None or not (self.is_constant(dim) and length.constant):
                raise self.unsupported("rows of variable length in a parameter", argument)
            if self.constant(dim)[0] != length.leaf:
                raise self.unsupported("rows of another length than the parameter's", argument)
        const = cells.const or "const" in (inner.quals or ()) or self.is_const(inner)
        return Slot(ARRAY, cells=cells._replace(const=const, pointer=True), key=slot.key)

    def points(self, parameter: Any) -> bool:
        """Is a parameter a pointer to integers?"""
        target = pointed(getattr(parameter, "type", None))
        if target is None or target[0]:
            return False
        kind = self.in_global_scope(target[1])
        return isinstance(kind, CType) and not kind.floating

    def given(self, parameter: Any, length: Term | None) -> Slot:
        """An array that the program is given when it starts."""
        target = pointed(parameter.type)
        assert target is not None
        kind = self.in_global_scope(target[1])
        assert isinstance(kind, CType)
        place = self.place(parameter)
        size = None
        if length is not None:
            size = self.fresh("", INT)
            self.assign(size, length, place)
            self.taken.append(size)
        self.graph.remarks.given[parameter.name] = size is not None
        self.by_constants.pop(parameter.name, None)
        lengths = (var(size) if size is not None else None,)
        const = "const" in (target[1].quals or ())
        cells = self.object(parameter.name, kind, lengths, place, const=const)
        self.forget(cells, place)
        return Slot(ARRAY, cells=cells._replace(pointer=True))
