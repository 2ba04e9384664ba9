"""What C forbids of declarations, wherever they stand: a text that breaks these rules is no C.

Scopes hold tags and names (C11 6.2.1, 6.2.3, 6.7p3); objects and members have complete types
(6.7p7, 6.7.2.1p3); what is `register` has no address (6.5.3.2); specifiers go together (6.7.1p2,
6.7.2p2), and not everywhere (6.7.6.3p2, 6.8.5p3, 6.9p2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pycparser import c_ast

from ....._errors import InputError, Place
from .._unsupported import Unsupported
from ..types import type_of
from ._tree import parts

_SIGNS = ("signed", "unsigned")
_INTEGERS = frozenset({
    "", "char", "int", "short", "int short", "long", "int long", "long long", "int long long",
})  # fmt: skip
_OTHERS = frozenset({
    "void", "_Bool", "float", "double", "double long", "_Complex double", "_Complex float",
    "_Complex double long",
})  # fmt: skip
_WORDS = frozenset(" ".join((*_SIGNS, *_INTEGERS, *_OTHERS)).split())
_Tag = c_ast.Struct | c_ast.Union | c_ast.Enum


@dataclass
class _Scope:
    tags: dict[str, Any] = field(default_factory=dict)  # the node that defines it, or declares it
    names: dict[str, Any] = field(default_factory=dict)


def check_rules(tree: Any, place: Callable[[Any], Place]) -> None:
    """Raise an InputError at the first declaration that C forbids; scopes that begin in the midst
    of a declaration or an expression are not read."""
    _Rules(place).visit(tree)


class _Rules(c_ast.NodeVisitor):
    def __init__(self, place: Callable[[Any], Place]):
        self._place = place
        self._scopes = [_Scope()]
        self._seen: set[int] = set()  # one node may belong to several declarations
        self._open: list[Any] = []  # whose members are being read

    def _bad(self, said: str, node: Any) -> InputError:
        return InputError(said, place=self._place(node))

    @contextmanager
    def _scope(self) -> Iterator[None]:
        self._scopes.append(_Scope())
        yield
        self._scopes.pop()

    # ---- scopes

    def visit_FileAST(self, node: Any) -> None:
        self.generic_visit(node)
        for declared in self._scopes[0].names.values():
            # A tentative definition may be completed by the end of the file.
            if isinstance(declared, c_ast.Decl) and "extern" not in declared.storage:
                self._complete(declared.type, declared)

    def visit_FuncDef(self, node: Any) -> None:
        self._declare(node.decl)
        with self._scope():
            function = node.decl.type
            for part in (function.type, *(node.param_decls or ())):
                self.visit(part)
            for parameter in function.args.params if function.args else ():
                self._parameter(parameter)
                if isinstance(parameter, c_ast.Decl):
                    self._complete(parameter.type, parameter)
            for item in node.body.block_items or ():  # the body's scope is the parameters'
                self.visit(item)

    def visit_FuncDecl(self, node: Any) -> None:
        with self._scope():
            for parameter in node.args.params if node.args else ():
                self._parameter(parameter)
        self.visit(node.type)
        if isinstance(node.type, c_ast.ArrayDecl | c_ast.FuncDecl):
            raise self._bad("a function returns no array and no function", node.type)

    def _parameter(self, node: Any) -> None:
        if (made := _defined(node)) is not None:
            raise Unsupported("a type that is defined in a list of parameters", self._place(made))
        if isinstance(node, c_ast.Decl):
            if {*node.storage} - {"register"}:
                raise self._bad(f"'{node.storage[0]}' of a parameter", node)
            self.visit(node.type)
            if node.name is not None:
                self._declare(node)
        else:
            self.visit(node)

    def visit_ArrayDecl(self, node: Any) -> None:
        if isinstance(node.type, c_ast.FuncDecl):
            raise self._bad("an array has no functions in it", node)
        self.generic_visit(node)

    def _block(self, node: Any) -> None:
        with self._scope():
            self.generic_visit(node)

    visit_Compound = _block

    def visit_For(self, node: Any) -> None:
        for item in node.init.decls if isinstance(node.init, c_ast.DeclList) else ():
            other = not isinstance(item, c_ast.Decl) or isinstance(item.type, c_ast.FuncDecl)
            if other or {*item.storage} - {"auto", "register"} or _defined(item.type):
                raise self._bad("a loop declares only variables that are automatic", item)
        self._block(node)

    # ---- names

    def visit_Decl(self, node: Any) -> None:
        self.generic_visit(node)
        if node.name is None:
            bare = isinstance(node.type, _Tag) and _inside(node.type) is None
            if bare and node.type.name is not None:  # a new one, whatever is outside
                self._scopes[-1].tags.setdefault(node.type.name, node.type)
            return
        self._stored(node)
        self._declare(node)
        if len(self._scopes) > 1 and "extern" not in node.storage:
            self._complete(node.type, node)

    def _stored(self, node: Any) -> None:
        """How long it lives, and who sees it."""
        given, outside = {*node.storage} - {"_Thread_local"}, len(self._scopes) == 1
        function = isinstance(node.type, c_ast.FuncDecl)
        within = function and not outside and given - {"extern"}
        if len(given) > 1 or within or ((outside or function) and given & {"auto", "register"}):
            raise self._bad(f"'{node.name}' cannot be {' '.join(node.storage)} here", node)

    def _declare(self, node: Any) -> None:
        names = self._scopes[-1].names
        before = names.get(node.name)
        if before is not None:
            self._twice(before, node)
        # What is static stays so, and what is initialised is.
        kept = isinstance(before, c_ast.Decl) and (
            (before.init is not None and node.init is None) or "static" in before.storage
        )
        names[node.name] = before if kept else node

    def _twice(self, before: Any, node: Any) -> None:
        if not isinstance(before, c_ast.Decl):
            raise self._bad(f"'{node.name}' is declared twice in a scope", node)
        was, now = "static" in before.storage, "static" in node.storage
        function = isinstance(node.type, c_ast.FuncDecl)
        if function != isinstance(before.type, c_ast.FuncDecl):
            raise self._bad(f"'{node.name}' is declared as a function, and as none", node)
        inherits = "extern" in node.storage or function
        if (now and not was) or (was and not now and not inherits):
            raise self._bad(f"'{node.name}' is declared as static, and as not", node)
        linked = "extern" in node.storage and "extern" in before.storage
        if not (len(self._scopes) == 1 or function or linked):
            raise self._bad(f"'{node.name}' is declared twice in a scope", node)

    def visit_Typedef(self, node: Any) -> None:
        self.generic_visit(node)
        names = self._scopes[-1].names
        before = names.get(node.name)
        if before is not None:
            other = not isinstance(before, c_ast.Typedef)
            if other or _plain(before.type) != _plain(node.type):
                raise self._bad(f"the type '{node.name}' is defined as two", node)
        names[node.name] = node

    def visit_Enumerator(self, node: Any) -> None:
        self.generic_visit(node)
        names = self._scopes[-1].names
        if node.name in names:
            raise self._bad(f"'{node.name}' is declared twice in a scope", node)
        names[node.name] = node

    def visit_UnaryOp(self, node: Any) -> None:
        self.generic_visit(node)
        if node.op == "&" and isinstance(node.expr, c_ast.ID):
            found = self._named(node.expr.name)
            if isinstance(found, c_ast.Decl) and "register" in found.storage:
                raise self._bad(f"'{node.expr.name}' is register, and has no address", node)

    def _named(self, name: str) -> Any:
        return next((s.names[name] for s in reversed(self._scopes) if name in s.names), None)

    def visit_Typename(self, node: Any) -> None:
        if (made := _defined(node)) is not None:
            raise Unsupported("a type that is defined within an expression", self._place(made))
        self.generic_visit(node)

    def visit_IdentifierType(self, node: Any) -> None:
        words = [word for word in node.names if word in _WORDS]
        signs = sum(word in _SIGNS for word in words)
        base = " ".join(sorted(word for word in words if word not in _SIGNS))
        known = base in _INTEGERS if signs else base in _INTEGERS | _OTHERS
        if words and (signs > 1 or not known or len(words) < len(node.names)):
            raise self._bad(f"'{' '.join(node.names)}' is no type", node)

    # ---- tags

    def visit_Struct(self, node: Any) -> None:
        self._tag(node, node.decls)

    visit_Union = visit_Struct

    def visit_Enum(self, node: Any) -> None:
        self._tag(node, node.values)

    def _tag(self, node: Any, inside: Any) -> None:
        if id(node) in self._seen:
            return
        self._seen.add(id(node))
        if node.name is not None:
            self._new_tag(node, inside is not None)
        if inside is not None:
            self._open.append(node)
            for member in inside if isinstance(inside, list) else inside.enumerators:
                if isinstance(member, c_ast.Decl):  # its name is the structure's alone
                    self.visit(member.type)
                    self._complete(member.type, member)
                    if isinstance(member.type, c_ast.FuncDecl) or _is_void(member.type):
                        raise self._bad(f"the member '{member.name}' is no object", member)
                else:
                    self.visit(member)
            self._open.pop()

    def _new_tag(self, node: Any, defines: bool) -> None:
        before = self._scopes[-1].tags.get(node.name) if defines else self._tagged(node.name)
        if before is not None and type(before) is not type(node):
            raise self._bad(f"the tag '{node.name}' is of two kinds", node)
        if defines and before is not None and _inside(before) is not None:
            raise self._bad(f"the tag '{node.name}' is defined twice in a scope", node)
        if defines or before is None:
            self._scopes[-1].tags[node.name] = node

    def _tagged(self, name: str) -> Any:
        return next((s.tags[name] for s in reversed(self._scopes) if name in s.tags), None)

    def _complete(self, kind: Any, declared: Any) -> None:
        """An object, or a member, has a size."""
        while isinstance(kind, c_ast.TypeDecl | c_ast.ArrayDecl):
            kind = kind.type
            if isinstance(kind, c_ast.IdentifierType) and len(kind.names) == 1:
                known = self._named(kind.names[0])
                kind = known.type if isinstance(known, c_ast.Typedef) else kind
        if isinstance(kind, _Tag) and kind.name is not None and _inside(kind) is None:
            found = self._tagged(kind.name)
            if found is None or _inside(found) is None or found in self._open:
                raise self._bad(
                    f"'{declared.name}' has the type '{kind.name}', which is not complete", declared
                )


def _defined(node: Any) -> Any:
    """A tag that is defined in there."""
    tags = (part for part in parts(node) if isinstance(part, _Tag))
    return next((tag for tag in tags if _inside(tag) is not None), None)


def _inside(tag: Any) -> Any:
    return tag.values if isinstance(tag, c_ast.Enum) else tag.decls


def _plain(kind: Any) -> object:
    """What tells simple types apart; all others are taken as alike."""
    named = isinstance(kind, c_ast.TypeDecl) and isinstance(kind.type, c_ast.IdentifierType)
    return type_of(kind.type.names) if named else None


def _is_void(kind: Any) -> bool:
    named = isinstance(kind, c_ast.TypeDecl) and isinstance(kind.type, c_ast.IdentifierType)
    return named and kind.type.names == ["void"]
