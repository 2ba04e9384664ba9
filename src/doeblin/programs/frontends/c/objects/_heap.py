"""Memory that a program allocates: an object for each place where it is asked for.

`malloc` and `calloc` return null or a new object, which is an input of the run; the type of its
cells is that of the pointer it is given to. A variable says whether the object is there: to use or
free it when it is not is a failure. What a loop allocates is kept for one turn: pointers that live
longer would mix up the objects of several turns, and are refused.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from pycparser import c_ast

from ....system import Havoc, Statement
from ....system.terms import ONE, ZERO, Term, compare, conj, const, divide, implies, ite, mul, var
from .._emitter import Slot, Value
from .._library import ALLOCATING, REALLOCATING
from .._static import ARRAY
from ..tree import leads_back
from ..types import (
    INT,
    LONG,
    NULL,
    NUMBERS,
    ULONG,
    Address,
    CType,
    Key,
    Life,
    Opaque,
    Pointer,
    Struct,
    layout,
)
from ._lvalues import Choice, Located
from ._structs import Structs

_LARGEST = (1 << 63) - 1  # bytes of an object: gcc and its library know none beyond
_WRAP = const(1 << ULONG.bits)


class _Wanted(NamedTuple):
    """What an allocation is for: the type of its cells, and the pointer that it is given to."""

    element: CType | Opaque
    shown: str = ""
    key: Key | None = None


class _Memory(NamedTuple):
    """An object that is allocated: the variable that says whether it is there, the block where it
    comes to be, and where in the text that is; `turn` if that is in a loop."""

    live: str
    block: int
    node: Any
    turn: bool


class _Size(NamedTuple):
    """So many units; where `fits` is false they are more bytes than an object has, or `wraps` is
    true and the product is taken modulo 2^64."""

    number: Term
    unit: int
    fits: Term
    wraps: bool

    def bytes(self) -> Term:
        whole = mul(self.number, const(self.unit))
        return ite(self.fits, whole, divide("mod", whole, _WRAP)) if self.wraps else whole

    def cells(self, size: int) -> Term:
        """How many cells of this size there is room for."""
        whole = mul(self.number, const(self.unit))
        exact = self.unit % size == 0
        fitting = mul(self.number, const(self.unit // size)) if exact else _over(whole, size)
        if not self.wraps:
            return fitting
        return ite(self.fits, fitting, _over(divide("mod", whole, _WRAP), size))


def _over(bytes_: Term, size: int) -> Term:
    return divide("tdiv", bytes_, const(size))


class Heap(Structs):
    """Allocation, and the life of what is allocated."""

    def __init__(self, *args: Any, **options: Any):
        super().__init__(*args, **options)
        self._memories: dict[Key, _Memory] = {}
        self._wanted: dict[int, _Wanted] = {}
        self.later: set[int] = set()  # calls that allocate, where no goto leads back
        self.turns: list[int] = []  # how many scopes there are around the loops that we are in
        self.stack: list[str] = []  # of functions that are being inlined

    def start_with(self, name: str, value: int, node: Any) -> None:
        raise AssertionError("given by Declarations")

    # ---- the types of allocations

    def allocates(self, node: Any) -> bool:
        """Is it a call that allocates, or may its value be that of one?"""
        if isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID):
            name = node.name.name
            known = name in ALLOCATING or name in REALLOCATING
            return known and name not in self.functions and self.lookup(name) is None
        return any(map(self.allocates, _parts(node)))

    def expect(self, node: Any, wanted: CType | Opaque, pointer: Pointer | None = None) -> None:
        """An expression is given to a pointer to this type."""
        if isinstance(node, c_ast.FuncCall):
            if self.allocates(node):
                named = (pointer.shown, pointer.key) if pointer is not None else ("", None)
                self._wanted[id(node)] = _Wanted(wanted, *named)
            return
        if not isinstance(node, c_ast.Cast) or self.pointed_type(node.to_type) == wanted:
            for part in _parts(node):
                self.expect(part, wanted, pointer)

    def element_of(self, node: Any) -> CType | Opaque | None:
        if isinstance(node, c_ast.FuncCall) and self.allocates(node):
            wanted = self._wanted.get(id(node))
            return wanted.element if wanted is not None else None
        found = super().element_of(node)
        if isinstance(node, c_ast.Cast) and found is not None and id(node.expr) not in self._wanted:
            self.expect(node.expr, found)
        elif isinstance(node, c_ast.Assignment) and node.op == "=" and found is not None:
            slot = self.lookup(node.lvalue.name) if isinstance(node.lvalue, c_ast.ID) else None
            self.expect(node.rvalue, found, slot.pointer if slot is not None else None)
        elif isinstance(node, c_ast.TernaryOp) and found is not None:
            for side in (node.iftrue, node.iffalse):
                self.expect(side, found)
        return found

    # ---- allocation

    def _address_of_funccall(self, node: Any) -> Address:
        return self._allocate(node) if self.allocates(node) else super()._address_of_funccall(node)

    def _allocate(self, node: Any) -> Address:
        name, key, place = node.name.name, self.key(node), self.place(node)
        if name in REALLOCATING:
            raise self.unsupported(f"the function '{name}'", node)
        wanted = self._wanted[id(node)]
        found = layout(wanted.element)
        if found is None:
            raise self.unsupported("memory for a type whose size is not known", node)
        if self.in_procedure:
            raise self.unsupported("memory that is allocated in recursive functions", node)
        if key in self._memories:
            raise self.unsupported("an allocation that is evaluated twice", node)
        arguments = list(node.args.exprs) if node.args else []
        self._check_library(name, arguments, node)
        self.check_operands(arguments, node)
        size = self._size(arguments, name == "calloc")
        known = size.bytes()
        parts = (int(known.leaf) if known.constant else size.unit) % found[0]
        if parts and isinstance(wanted.element, Struct):
            raise self.unsupported("memory for a part of a structure", node)
        live = self.fresh("", INT)
        self.start_with(live, 1, node)
        self.assign(live, ONE)  # also if it fails, when nothing points there
        asked, given, failed, after = (self.graph.block() for _ in range(4))
        large = compare("<=", size.bytes(), const(_LARGEST)) if size.wraps else size.fits
        self.branch(large, asked, failed)
        self.start(asked)
        whether = self.fresh("", INT)
        self.havoc(whether, INT, place, call=name, origin="call", within=(0, 1))
        self.branch(compare("!=", var(whether), ZERO), given, failed)
        self.start(given)
        to = self.fresh("", INT)
        slot = self._object_of(wanted, size.cells(found[0]), node)
        self._born(slot, node, _Memory(live, given, node, bool(self.turns)))
        for statement in self.blanked(slot, place, 0 if name == "calloc" else None):
            self.emit(_unseen(statement))
        self.assign(to, const(self.number(key)))
        self.jump(after)
        self.start(failed)
        self.assign(to, ZERO)
        self.jump(after)
        self.start(after)
        self.pointing_at += [to, live]
        return Address(wanted.element, frozenset({key, NULL}), var(to), ZERO)

    def _check_library(self, name: str, arguments: list[Any], node: Any) -> None:
        """Is the function declared as the library has it?"""
        declared = self.prototypes.get(name)
        if len(arguments) != ALLOCATING[name]:
            raise self.unsupported(f"'{name}' with these arguments", node)
        if declared is None:
            return
        listed = [self.in_global_scope(p) for p in (declared.args.params if declared.args else ())]
        result = declared.type.type if isinstance(declared.type, c_ast.PtrDecl) else None
        kind = self.in_global_scope(result) if isinstance(result, c_ast.TypeDecl) else None
        known = isinstance(kind, Opaque) and kind.name == "void"
        if not known or listed != [ULONG] * ALLOCATING[name]:
            raise self.unsupported(f"a declaration of '{name}' that is not the library's", node)

    def _size(self, arguments: list[Any], clear: bool) -> _Size:
        """How much is asked for; `calloc` has the product itself, which never wraps around."""
        parts, node = arguments, arguments[0]
        if not clear:
            product = isinstance(node, c_ast.BinaryOp) and node.op == "*"
            parts = [node.left, node.right] if product else [node]
            units = [p for p in parts if self.is_constant(p) and self.constant(p)[1] == ULONG]
            if len(parts) == 2 and not units:
                parts = [node]
        unit = 1
        if len(parts) == 2:
            fixed = next((p for p in reversed(parts) if self.is_constant(p)), None)
            if fixed is None or (unit := self.constant(fixed)[0]) < 0:
                raise self.unsupported("memory for so many cells of a size that varies", node)
            parts = [part for part in parts if part is not fixed]
        value = self.snapshot(self.rvalue(parts[0]))
        self.taken += [value.term.leaf] if value.term.op == "var" else []
        count = value.integer()
        if unit == 0:
            return _Size(ZERO, 1, compare("<=", ZERO, ZERO), False)
        fits = compare("<=", ZERO, count)
        narrow = value.kind.high * unit <= _LARGEST and -value.kind.low * unit <= _LARGEST
        if not narrow:
            fits = conj((fits, compare("<=", count, const(_LARGEST // unit))))
        modular = not clear and unit > 1 and not narrow
        self.graph.modular |= modular
        return _Size(count, unit, fits, modular and self.wrap_unsigned)

    def _object_of(self, wanted: _Wanted, cells: Term, node: Any) -> Slot:
        """The new object: one of its type, or an array of them."""
        place, shown = self.place(node), self._shown(wanted, node)
        single = cells.constant and cells.leaf == 1
        if not cells.constant:
            length = self.fresh("", LONG)
            self.assign(length, cells, place)
            self.taken.append(length)
            cells = var(length)
        lengths = () if single else (cells,)
        if isinstance(wanted.element, Struct):
            return self.structure(shown, wanted.element, lengths, place, const_=False)
        assert isinstance(wanted.element, CType)
        if single:
            return Slot(wanted.element, self.fresh(f"*{shown}", wanted.element, place))
        self.by_constants.pop(shown, None)
        made = self.object(shown, wanted.element, lengths, place, const=False)
        return Slot(ARRAY, cells=made)

    def _shown(self, wanted: _Wanted, node: Any) -> str:
        """By what name people know it: the pointer's, if that points to nothing else."""
        if not wanted.shown or wanted.key is None:
            return f"what {node.name.name} returned"
        others = self.targets.of(wanted.key) - NUMBERS.keys() - {self.key(node)}
        alone = not others and wanted.key not in self.targets.moving
        return wanted.shown if alone else f"what {wanted.shown} was given"

    def _born(self, slot: Slot, node: Any, memory: _Memory) -> None:
        """From here on the object may be pointed to."""
        key, scope, chain = self.key(node), self.scope_id(self.scopes[0]), self.chain()
        if memory.turn:
            back = any(leads_back(self.functions[name]) for name in self.stack)
            inner = [one for one in chain[self.turns[-1] :] if one != scope]
            if back or not inner:
                raise self.unsupported("memory that is allocated in a loop like this", node)
            scope = inner[0]
        self.living(slot._replace(key=key), node, self.scopes[0])
        for inner, life in self.lives.items():
            if inner[: len(key)] == key:
                self.lives[inner] = Life(scope, life.born, variable_length=False)
        self._memories[key] = memory
        self._summaries.clear()  # of functions that may change it

    def check_allocations(self) -> None:
        """An object is one: none is allocated while there may be pointers to the one before."""
        for memory in self._memories.values():
            seen: set[int] = set()
            todo = [memory.block]
            while todo and not memory.turn:
                new = [b for b in self.graph.successors(todo.pop()) if b not in seen]
                seen.update(new)
                todo += new
            if memory.block in seen:
                raise self.unsupported("memory that is allocated in a loop like this", memory.node)

    # ---- life

    def _memory(self, key: Key | None) -> _Memory | None:
        """The allocated object that this is, or is a part of."""
        return self._memories.get(key[:2]) if key is not None else None

    def _require_life(self, key: Key | None, node: Any, what: str, here: Term | None) -> None:
        memory = self._memory(key)
        if memory is None:
            return
        if self.in_procedure:
            raise self.unsupported("allocated memory in recursive functions", node)
        there = compare("=", var(memory.live), ONE)
        there = there if here is None else implies(here, there)
        self.require(there, f"undefined behaviour: {what}", self.place(node))

    def objects_in(self, found: Address) -> list[Key]:
        """Unless a goto leads back, what is allocated further on in the text is not there yet: if
        this is in a loop with that, it is refused, or the pointer is new in every turn."""
        known = super().objects_in(found)
        return [key for key in known if key in self.objects or key[0] not in self.later]

    def _is(self, found: Address, key: Key) -> Term:
        return compare("=", found.to, const(self.number(key)))

    def real(self, found: Address, node: Any, what: str) -> None:
        super().real(found, node, what)
        if what == "dereferenced":  # what is there is looked at when it is read or written
            return
        for key in self.objects_in(found):
            said = f"a pointer to freed memory is {what}"
            self._require_life(key, node, said, self._is(found, key))

    def _inside(self, designator: Any, node: Any) -> Address:
        found = super()._inside(designator, node)
        self.real(found, node, "used")
        return found

    def _fetch(self, choice: Choice, node: Any) -> Value:
        self._require_life(choice.slot.key, node, "freed memory is read", None)
        return super()._fetch(choice, node)

    def _put(self, choice: Choice, value: Value, node: Any) -> None:
        self._require_life(choice.slot.key, node, "freed memory is written", None)
        super()._put(choice, value, node)

    def variable(self, found: Located) -> str | None:
        allocated = any(self._memory(choice.slot.key) is not None for choice in found.choices)
        return None if allocated else super().variable(found)

    def _outlives(self, key: Key, pointer: Pointer, node: Any) -> None:
        memory, life = self._memory(key), self.lives.get(key)
        if memory is not None and life is not None and life.scope not in pointer.scopes:
            what = "a pointer to memory that is allocated in a loop, kept after its turn,"
            raise self.unsupported(what, node)
        super()._outlives(key, pointer, node)

    def free(self, arguments: list[Any], node: Any) -> None:
        """The end of an object."""
        if len(arguments) != 1:
            raise self.unsupported("'free' with these arguments", node)
        argument = arguments[0]
        while isinstance(argument, c_ast.Cast) and self.pointed_type(argument.to_type) is None:
            argument = argument.expr  # to `void *`
        found = self.address(argument)
        super().real(found._replace(targets=found.targets - {NULL}), node, "freed")
        place = self.place(node)
        ended: list[tuple[_Memory, Key]] = []
        for key in self.objects_in(found):
            memory, here = self._memory(key), self._is(found, key)
            if memory is None:
                said = "undefined behaviour: what was not allocated is freed"
                self.require(implies(here, compare("<", ONE, ZERO)), said, place)
                continue
            if len(key) > 2:
                raise self.unsupported("a pointer to a member given to 'free'", node)
            self._require_life(key, node, "memory is freed twice", here)
            begins = implies(here, compare("=", found.at, ZERO))
            said = "undefined behaviour: a pointer beyond the beginning of memory is freed"
            self.require(begins, said, place)
            ended.append((memory, key))
        for memory, key in ended:
            self.assign(memory.live, ite(self._is(found, key), ZERO, var(memory.live)), place)


def _parts(node: Any) -> list[Any]:
    """The expressions one of which an expression's value is."""
    if isinstance(node, c_ast.TernaryOp):
        return [node.iftrue, node.iffalse]
    if isinstance(node, c_ast.ExprList):
        return [node.exprs[-1]]
    return [node.expr] if isinstance(node, c_ast.Cast) else []


def _unseen(statement: Statement) -> Statement:
    """No declaration shows what a variable has that stands for what is allocated."""
    return replace(statement, origin="hidden") if isinstance(statement, Havoc) else statement
