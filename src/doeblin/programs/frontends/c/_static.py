"""What is known of an expression without running it: its type, and its value if it is constant."""

from __future__ import annotations

from typing import Any

from pycparser import c_ast

from ...._errors import InputError
from ._emitter import Emitter, Slot
from ._library import ABSOLUTE, EXPECTING, FLOATING, RANGES, SIZES, input_type
from ._unsupported import Unsupported
from .text import binary_constant
from .tree import is_floating
from .types import (
    BOOL,
    INT,
    LONG,
    UINT,
    ULONG,
    CType,
    Opaque,
    Struct,
    common,
    float_literal,
    integer_literal,
    layout,
    promote,
    type_of,
)

STEPS = {"++": 1, "--": -1, "p++": 1, "p--": -1}
COMPARISONS = frozenset({"<", ">", "<=", ">=", "==", "!="})
POINTER = Opaque("pointer", "pointers")
ARRAY = Opaque("array", "arrays")
_STRUCTURE = Opaque("struct", "structures")
UNMODELLED = Opaque("double", "floating point")


class Static(Emitter):
    """Types and constants; nothing here adds to the graph."""

    functions: dict[str, Any]
    prototypes: dict[str, Any]

    def __init__(self, *args: Any, **options: Any):
        super().__init__(*args, **options)
        self.functions = {}
        self.prototypes = {}

    # ---- types

    def type(self, node: Any) -> CType | Opaque:
        """The type a declaration node stands for."""
        if isinstance(node, c_ast.Typename | c_ast.Decl | c_ast.Typedef | c_ast.TypeDecl):
            kind = self.type(node.type)
            if "volatile" in (node.quals or ()) and isinstance(kind, CType):
                raise self.unsupported("volatile variables", node)
            return kind
        if isinstance(node, c_ast.IdentifierType):
            if len(node.names) == 1:
                slot = self.lookup(f"typedef {node.names[0]}")
                if slot is not None:
                    return slot.kind
            known = type_of(node.names)
            if known is None:
                raise self.unsupported(f"the type '{' '.join(node.names)}'", node)
            return known
        if isinstance(node, c_ast.Enum):
            return self._enum(node)
        if isinstance(node, c_ast.PtrDecl):
            self._inner_types(node)
            return POINTER
        if isinstance(node, c_ast.ArrayDecl):
            self._inner_types(node)
            if node.dim is not None:
                self.constant(node.dim, what="variable length arrays")
            return ARRAY
        if isinstance(node, c_ast.FuncDecl):
            return Opaque("function", "function pointers")
        if isinstance(node, c_ast.Struct):
            return self._struct(node)
        if isinstance(node, c_ast.Union):
            for member in node.decls or ():
                self._inner_types(member)
            return Opaque("union", "unions")
        raise self.unsupported("this type", node)

    def _struct(self, node: Any) -> Opaque:
        """A structure by its members, or by its name."""
        if node.decls is None:
            known = self.lookup(f"struct {node.name}")
            whole = known is not None and isinstance(known.kind, Opaque)
            return known.kind if whole and known is not None else _STRUCTURE  # type: ignore[return-value]
        fields = []
        for member in node.decls:
            self._inner_types(member)
            if not isinstance(member, c_ast.Decl) or member.name is None:
                return _STRUCTURE
            if any(name == member.name for name, _, _ in fields):
                said = f"the member '{member.name}' is declared twice"
                raise InputError(said, place=self.place(member))
            fields.append((member.name, *self._member(member)))
        if not fields:
            raise self.unsupported("an empty structure", node)
        found = Struct(f"struct {node.name or id(node)}", "structures", tuple(fields))
        if node.name:
            self.scopes[-1][f"struct {node.name}"] = Slot(found)
        return found

    def _member(self, member: Any) -> tuple[CType | Opaque, tuple[int, ...]]:
        """The type of a member and, if it is an array, its lengths."""
        if self.is_const(member):
            return Opaque("member", "const members"), ()
        if member.bitsize is not None:
            return Opaque("bit-field", "bit-fields"), ()
        lengths, inner = [], member.type
        while isinstance(inner, c_ast.ArrayDecl):
            if inner.dim is None or not self.is_constant(inner.dim):
                return ARRAY, ()
            lengths.append(self.constant(inner.dim)[0])
            inner = inner.type
        try:
            kind = self.type(inner) if isinstance(inner, c_ast.TypeDecl | c_ast.PtrDecl) else ARRAY
        except Unsupported as reason:
            return Opaque("member", reason.what), ()
        if isinstance(kind, CType) and kind.floating:
            return UNMODELLED, ()
        modelled = isinstance(kind, CType | Struct) and all(length > 0 for length in lengths)
        return (
            (kind, tuple(lengths))
            if modelled
            else (kind if isinstance(kind, Opaque) else ARRAY, ())
        )

    def is_const(self, node: Any) -> bool:
        """Does a declaration make a constant, itself or by a name for a type?"""
        while not isinstance(node, c_ast.IdentifierType):
            if "const" in (getattr(node, "quals", None) or ()):
                return True
            node = getattr(node, "type", None)
            if node is None:
                return False
        slot = self.lookup(f"typedef {node.names[0]}") if len(node.names) == 1 else None
        return slot is not None and slot.const

    def _inner_types(self, node: Any) -> None:
        """Enumerators that are declared within another type."""
        for _, child in node.children():
            if isinstance(child, c_ast.Enum):
                self._enum(child)
            elif not isinstance(child, c_ast.FuncDecl):
                self._inner_types(child)

    def _enum(self, node: Any) -> CType | Opaque:
        """As gcc does: unsigned, unless one of the constants is negative."""
        if getattr(node, "underlying_type", None) is not None:
            raise self.unsupported("an enum with a type of its own", node)
        if node.values is None:
            known = self.lookup(f"enum {node.name}")
            if known is None:
                raise self.unsupported("an enum that is not complete", node)
            return known.kind
        following, least = 0, 0
        for item in node.values.enumerators or ():
            if isinstance(item, c_ast.Pragma):
                continue
            if item.value is not None:
                following = self.constant(item.value)[0]
            if not INT.low <= following <= INT.high:
                raise self.unsupported("an enumerator beyond int", item)
            self.scopes[-1][item.name] = Slot(INT, constant=following)
            least = min(least, following)
            following += 1
        kind = INT if least < 0 else UINT
        if node.name:
            self.scopes[-1][f"enum {node.name}"] = Slot(kind)
        return kind

    # ---- types of expressions, which are not evaluated

    def kind_of(self, node: Any) -> CType | Opaque:
        method = getattr(self, f"_kind_of_{type(node).__name__.lower()}", None)
        if method is None:
            raise self.unsupported("the type of this expression", node)
        return method(node)

    def integer_kind(self, node: Any) -> CType:
        kind = self.kind_of(node)
        if isinstance(kind, Opaque):
            raise self.unsupported(kind.what, node)
        return kind

    def _kind_of_constant(self, node: Any) -> CType | Opaque:
        if node.type == "string":
            return Opaque("string", "strings")
        if is_floating(node):
            return float_literal(node.value, self.place(node))[1]
        return integer_literal(node.value, self.place(node))[1]

    def _kind_of_id(self, node: Any) -> CType | Opaque:
        slot = self.lookup(node.name)
        if slot is None:
            raise self.undeclared(node)
        return INT if slot.constant is not None else slot.kind

    def _kind_of_unaryop(self, node: Any) -> CType | Opaque:
        if node.op in ("sizeof", "_Alignof"):
            return ULONG
        if node.op in ("&", "*"):
            raise self.unsupported("pointers", node)
        if node.op == "!":
            return INT
        kind = self.integer_kind(node.expr)
        return kind if node.op in STEPS else promote(kind)

    def _kind_of_binaryop(self, node: Any) -> CType | Opaque:
        if node.op in COMPARISONS or node.op in ("&&", "||"):
            return INT
        left, right = self.integer_kind(node.left), self.integer_kind(node.right)
        return promote(left) if node.op in ("<<", ">>") else common(left, right)

    def _kind_of_assignment(self, node: Any) -> CType | Opaque:
        return self.kind_of(node.lvalue)

    def _kind_of_ternaryop(self, node: Any) -> CType | Opaque:
        yes, no = self.kind_of(node.iftrue), self.kind_of(node.iffalse)
        if isinstance(yes, Opaque) or isinstance(no, Opaque):
            return yes if isinstance(yes, Opaque) else no
        return common(yes, no)

    def _kind_of_cast(self, node: Any) -> CType | Opaque:
        return self.type(node.to_type)

    def _kind_of_exprlist(self, node: Any) -> CType | Opaque:
        return self.kind_of(node.exprs[-1])

    def _kind_of_genericselection(self, node: Any) -> CType | Opaque:
        return self.kind_of(self.chosen(node))

    def _kind_of_funccall(self, node: Any) -> CType | Opaque:
        if not isinstance(node.name, c_ast.ID):
            raise self.unsupported("function pointers", node)
        return self.result_kind(node.name.name)

    def result_kind(self, name: str) -> CType | Opaque:
        """The type of what a function returns; int if it is declared nowhere."""
        declared = self.prototypes.get(name)
        if declared is not None:
            return self.in_global_scope(declared.type)
        if name in FLOATING:
            return UNMODELLED
        if name in RANGES:
            return RANGES[name][0]
        if name in EXPECTING:
            return LONG
        return ABSOLUTE.get(name) or SIZES.get(name) or input_type(name)

    def in_global_scope(self, node: Any) -> CType | Opaque:
        """The type of a parameter or a result; a parameter that is written as an array is a
        pointer (C11 6.7.6.3p7), whose length means nothing."""
        inner = node.type if isinstance(node, c_ast.Decl) else None
        if isinstance(inner, c_ast.ArrayDecl):
            if inner.dim_quals:
                raise self.unsupported("'static' or qualifiers in the length of a parameter", node)
            if inner.dim is not None and not isinstance(inner.dim, c_ast.ID | c_ast.Constant):
                self.constant(inner.dim, what="variable length arrays")
            return POINTER
        scopes, self.scopes = self.scopes, self.scopes[:1]
        try:
            return self.type(node)
        finally:
            self.scopes = scopes

    def measure(self, node: Any) -> int:
        """What `sizeof` or `_Alignof` gives."""
        return self.size(node.expr) if node.op == "sizeof" else self._layout(node.expr)[1]

    def size(self, node: Any) -> int:
        """What `sizeof` gives for a type or an expression."""
        return self._layout(node)[0]

    def _layout(self, node: Any) -> tuple[int, int]:
        kind = self.type(node) if isinstance(node, c_ast.Typename) else self.kind_of(node)
        found = layout(kind)
        if found is None or kind == POINTER:
            what = kind.what if isinstance(kind, Opaque) else kind.name
            raise self.unsupported(f"sizeof of {what}", node)
        return found

    def chosen(self, node: Any) -> Any:
        """The expression that `_Generic` selects by the type of its first operand."""
        kind = self.kind_of(node.expr)
        if isinstance(kind, Opaque):
            raise self.unsupported(f"_Generic on {kind.what}", node)
        default, found = None, []
        for item in node.associations:
            if item.type is None:
                default = item.expr
            elif self.type(item.type) == kind:
                found.append(item.expr)
        if len(found) > 1:
            raise InputError(f"_Generic has two cases for '{kind.name}'", place=self.place(node))
        if default is None and not found:
            raise InputError(f"_Generic has no case for '{kind.name}'", place=self.place(node))
        return found[0] if found else default

    # ---- constants

    def constant(self, node: Any, *, what: str = "") -> tuple[int, CType]:
        """The value and type of a constant expression; `what` it would be if it is not one."""
        try:
            return self._fold(node)
        except _NotConstant as error:
            if what:
                raise self.unsupported(what, node) from None
            place = self.place(error.node)
            raise InputError("a constant is needed here", place=place) from None

    def is_constant(self, node: Any) -> bool:
        """Is it a constant expression that is understood?"""
        try:
            self.constant(node)
        except (InputError, Unsupported):
            return False
        return True

    def _fold(self, node: Any) -> tuple[int, CType]:
        if isinstance(node, c_ast.Constant):
            self.integral(self._kind_of_constant(node), node)
            return integer_literal(node.value, self.place(node))
        if isinstance(node, c_ast.ID):
            slot = self.lookup(node.name)
            if slot is not None and slot.constant is not None:
                return slot.constant, INT
        if isinstance(node, c_ast.GenericSelection):
            return self._fold(self.chosen(node))
        if isinstance(node, c_ast.Cast):
            kind = self.integral(self.type(node.to_type), node)
            return _fit(self._fold(node.expr)[0], kind), kind
        if isinstance(node, c_ast.UnaryOp) and node.op not in STEPS:
            return self._fold_unary(node)
        if isinstance(node, c_ast.BinaryOp):
            return self._fold_binary(node)
        if isinstance(node, c_ast.TernaryOp):
            test = self._fold(node.cond)[0]
            kind = self.integral(self._kind_of_ternaryop(node), node)
            return _fit(self._fold(node.iftrue if test else node.iffalse)[0], kind), kind
        raise _NotConstant(node)

    def _fold_unary(self, node: Any) -> tuple[int, CType]:
        if node.op in ("sizeof", "_Alignof"):
            return self.measure(node), ULONG
        if node.op in ("&", "*"):
            raise self.unsupported("pointers", node)
        value, kind = self._fold(node.expr)
        if node.op == "!":
            return int(not value), INT
        kind = promote(kind)
        return self._within({"-": -value, "+": value, "~": ~value}[node.op], kind, node)

    def _fold_binary(self, node: Any) -> tuple[int, CType]:
        op = node.op
        a, left = self._fold(node.left)
        if op in ("&&", "||"):
            if bool(a) == (op == "||"):
                return int(op == "||"), INT
            return int(bool(self._fold(node.right)[0])), INT
        b, right = self._fold(node.right)
        if op in ("<<", ">>"):
            kind = promote(left)
            if not 0 <= b < kind.bits or (op == "<<" and kind.signed and a < 0):
                raise self.unsupported("a constant shifted out of range", node)
            return self._within(binary_constant(op, a, b), kind, node)
        kind = common(left, right)
        a, b = _fit(a, kind), _fit(b, kind)
        if op in "/%" and b == 0:
            raise InputError("a constant divided by zero", place=self.place(node))
        value = binary_constant(op, a, b)
        return (value, INT) if op in COMPARISONS else self._within(value, kind, node)

    def _within(self, value: int, kind: CType, node: Any) -> tuple[int, CType]:
        if kind.signed and not kind.low <= value <= kind.high:
            raise self.unsupported("overflow in a constant", node)
        return _fit(value, kind), kind


class _NotConstant(Exception):
    def __init__(self, node: Any):
        super().__init__()
        self.node = node


def _fit(value: int, kind: CType) -> int:
    """C's conversion of a value."""
    if kind == BOOL:
        return int(value != 0)
    return (value - kind.low) % (1 << kind.bits) + kind.low
