"""C statements and declarations to blocks."""

from __future__ import annotations

from typing import Any

from pycparser import c_ast

from ..._errors import InputError
from ..flow import Assign, Loop
from ..terms import ZERO, compare, const, var
from ._calls import ASSERTIONS, FAILURES, Calls
from ._emitter import Slot, Value
from ._types import CType, Opaque


class _Frame:
    """Where the statements of one inlined function body jump to."""

    def __init__(self, after: int, result: tuple[str, CType] | None, opaque: bool):
        self.after = after
        self.result = result
        self.opaque = opaque
        self.labels: dict[str, int] = {}
        self.defined: set[str] = set()
        self.wanted: dict[str, Any] = {}
        self.breaks: list[int] = []
        self.continues: list[int] = []


class Statements(Calls):
    """Everything that does something."""

    def __init__(self, *args: Any, **options: Any):
        super().__init__(*args, **options)
        self.frames: list[_Frame] = []
        self._cases: dict[int, int] = {}
        self._statics: dict[int, str] = {}

    # ---- functions

    def body(self, name: str, frame: dict[str, Slot], node: Any) -> Value | None:
        """Inline a function body whose parameters are in `frame`."""
        definition = self.functions[name]
        kind = self._in_global_scope(definition.decl.type.type)
        result = None
        if isinstance(kind, CType):
            result = (self.fresh("", kind), kind)
        after = self.graph.block()
        outer = self.scopes, self.function
        self.scopes = [self.scopes[0], frame]
        self.function = name
        self.stack.append(name)
        blamed = name in ASSERTIONS or "assert" in name.lower()
        if blamed and node is not None:
            self.blame.append(self.place(node))
        opaque = isinstance(kind, Opaque) and kind.name != "void"
        self.frames.append(_Frame(after, result, opaque))
        self.statement(definition.body)
        if result is not None:
            # Falling off the end leaves the result arbitrary.
            self.havoc(*result, self.place(definition), origin="hidden")
        self.jump(after)
        done = self.frames.pop()
        for label, where in done.wanted.items():
            if label not in done.defined:
                raise InputError(f"there is no label '{label}'", place=self.place(where))
        if blamed and node is not None:
            self.blame.pop()
        self.stack.pop()
        self.scopes, self.function = outer
        self.start(after)
        return Value(var(result[0]), result[1]) if result else None

    # ---- statements

    def statement(self, node: Any) -> None:
        if node is None:
            return
        method = getattr(self, f"_{type(node).__name__.lower()}_statement", None)
        if method is not None:
            method(node)
        else:
            self.effects(node)

    def _compound_statement(self, node: Any) -> None:
        self.scopes.append({})
        for item in node.block_items or ():
            self.statement(item)
        self.scopes.pop()

    def _emptystatement_statement(self, node: Any) -> None:
        pass

    def _pragma_statement(self, node: Any) -> None:
        pass

    def _if_statement(self, node: Any) -> None:
        yes, no, after = (self.graph.block() for _ in range(3))
        self.condition(node.cond, yes, no)
        for block, part in ((yes, node.iftrue), (no, node.iffalse)):
            self.start(block)
            self.statement(part)
            self.jump(after)
        self.start(after)

    def _loop(self, head: int, node: Any, keyword: str, body: Any = None) -> None:
        scope = {
            shown: slot.name
            for frame in self.scopes
            for shown, slot in frame.items()
            if slot.name is not None
        }
        inner = None
        if isinstance(body, c_ast.Compound):
            inner = self.place(body.block_items[0]) if body.block_items else None
        elif body is not None:
            inner = self.place(body)
        self.graph.loops[head] = Loop(keyword, self.place(node), self.function, scope, inner)

    def _while_statement(self, node: Any) -> None:
        head, body, after = (self.graph.block() for _ in range(3))
        self.jump(head)
        self._loop(head, node, "while")
        self.start(head)
        self.condition(node.cond, body, after)
        self._looped(body, node.stmt, head, after)
        self.jump(head)
        self.start(after)

    def _dowhile_statement(self, node: Any) -> None:
        head, test, after = (self.graph.block() for _ in range(3))
        self.jump(head)
        self._loop(head, node, "do", node.stmt)
        self._looped(head, node.stmt, test, after)
        self.jump(test)
        self.start(test)
        self.condition(node.cond, head, after)
        self.start(after)

    def _for_statement(self, node: Any) -> None:
        self.scopes.append({})
        if isinstance(node.init, c_ast.DeclList):
            for item in node.init.decls:
                self.statement(item)
        elif node.init is not None:
            self.effects(node.init)
        head, body, step, after = (self.graph.block() for _ in range(4))
        self.jump(head)
        self._loop(head, node, "for")
        self.start(head)
        if node.cond is None:
            self.jump(body)
        else:
            self.condition(node.cond, body, after)
        self._looped(body, node.stmt, step, after)
        self.jump(step)
        self.start(step)
        if node.next is not None:
            self.effects(node.next)
        self.jump(head)
        self.start(after)
        self.scopes.pop()

    def _looped(self, block: int, body: Any, again: int, after: int) -> None:
        frame = self.frames[-1]
        frame.breaks.append(after)
        frame.continues.append(again)
        self.start(block)
        self.statement(body)
        frame.breaks.pop()
        frame.continues.pop()

    def _break_statement(self, node: Any) -> None:
        self._leave(node, self.frames[-1].breaks, "break")

    def _continue_statement(self, node: Any) -> None:
        self._leave(node, self.frames[-1].continues, "continue")

    def _leave(self, node: Any, targets: list[int], what: str) -> None:
        if not targets:
            raise InputError(f"'{what}' outside of a loop", place=self.place(node))
        self.jump(targets[-1])
        self.start(self.graph.block())

    def _return_statement(self, node: Any) -> None:
        frame = self.frames[-1]
        if node.expr is not None:
            if frame.result is not None:
                value = self.convert(self.rvalue(node.expr), frame.result[1])
                self.assign(frame.result[0], value.term, self.place(node))
            elif not frame.opaque:
                self.effects(node.expr)
            elif not self.harmless(node.expr):
                raise self.unsupported("pointers", node)
        self.jump(frame.after)
        self.start(self.graph.block())

    def _goto_statement(self, node: Any) -> None:
        self.frames[-1].wanted.setdefault(node.name, node)
        self.jump(self._label(node.name))
        self.start(self.graph.block())

    def _label(self, name: str) -> int:
        labels = self.frames[-1].labels
        if name not in labels:
            labels[name] = self.graph.block()
        return labels[name]

    def _label_statement(self, node: Any) -> None:
        frame = self.frames[-1]
        block = self._label(node.name)
        self.jump(block)
        if node.name == "ERROR":
            if node.name not in frame.defined:
                self.start(block)
                self.fail("label ERROR reached", self.place(_failing(node.stmt) or node))
        else:
            if node.name in frame.defined:
                raise InputError(f"the label '{node.name}' is doubled", place=self.place(node))
            self._loop(block, node, "goto")
            self.start(block)
        frame.defined.add(node.name)
        if node.name == "ERROR":
            self.start(self.graph.block())
        self.statement(node.stmt)

    def _switch_statement(self, node: Any) -> None:
        value = self.snapshot(self.rvalue(node.cond))
        after = self.graph.block()
        cases: list[Any] = []
        _collect_cases(node.stmt, cases)
        default = after
        for case in cases:
            self._cases[id(case)] = block = self.graph.block()
            if isinstance(case, c_ast.Default):
                default = block
                continue
            wanted = self.convert(self.rvalue(case.expr), value.kind)
            self.constant_value(wanted, case)
            following = self.graph.block()
            test = compare("=", value.integer(), wanted.integer())
            self.branch(test, block, following, self.place(case))
            self.start(following)
        self.jump(default)
        frame = self.frames[-1]
        frame.breaks.append(after)
        self.start(self.graph.block())
        self.statement(node.stmt)
        self.jump(after)
        frame.breaks.pop()
        self.start(after)

    def _case_statement(self, node: Any) -> None:
        block = self._cases.get(id(node))
        if block is None:
            raise InputError("'case' outside of a switch", place=self.place(node))
        self.jump(block)
        self.start(block)
        for item in node.stmts or ():
            self.statement(item)

    _default_statement = _case_statement

    def _staticassert_statement(self, node: Any) -> None:
        self._assertion("static_assert", [node.cond], node)

    # ---- declarations

    def _decllist_statement(self, node: Any) -> None:
        for item in node.decls:
            self.statement(item)

    def _typedef_statement(self, node: Any) -> None:
        self.scopes[-1][f"typedef {node.name}"] = Slot(self.type(node))

    def _decl_statement(self, node: Any) -> None:
        if isinstance(node.type, c_ast.FuncDecl):
            self.prototypes.setdefault(node.name, node.type)
            return
        if isinstance(node.type, c_ast.Enum | c_ast.Struct | c_ast.Union):
            if isinstance(node.type, c_ast.Enum):
                self.enumerators(node.type)
            return
        kind = self.type(node)
        place = self.place(node)
        if isinstance(kind, Opaque):
            if kind.name == "void":
                raise InputError(f"'{node.name}' cannot have type void", place=place)
            if node.init is not None and not self.harmless(node.init):
                raise self.unsupported(kind.what, node)
            self.scopes[-1][node.name] = Slot(kind)
            return
        if "volatile" in node.quals:
            raise self.unsupported("volatile variables", node)
        kept = len(self.scopes) == 1 or "static" in node.storage
        if kept and self._known_already(node, kind):
            return
        name = self.fresh(node.name, kind, place)
        if kept:
            self._statics[id(node)] = name
            self._global(node, name, kind)
        elif node.init is not None:
            if isinstance(node.init, c_ast.InitList):
                raise self.unsupported("initialiser lists", node.init)
            # C puts the name in scope before its initialiser; `int x = x;` is then arbitrary.
            self._before_initialiser(name, kind, node)
            value = self._initial(node, name, kind)
            self.assign(name, self.convert(value, kind).term, place)
        elif "extern" in node.storage:
            raise self.unsupported("a local extern declaration", node)
        else:
            self.havoc(name, kind, place)
        self.scopes[-1][node.name] = Slot(kind, name)

    def _known_already(self, node: Any, kind: CType) -> bool:
        """A static variable of a function inlined before, or a global declared once more."""
        if id(node) in self._statics:
            self.scopes[-1][node.name] = Slot(kind, self._statics[id(node)])
            return True
        known = self.scopes[-1].get(node.name)
        return len(self.scopes) == 1 and known is not None and node.init is None

    def _initial(self, node: Any, name: str, kind: CType) -> Value:
        outer = self.scopes[-1].get(node.name)
        self.scopes[-1][node.name] = Slot(kind, name)
        try:
            return self.rvalue(node.init)
        finally:
            if outer is not None:
                self.scopes[-1][node.name] = outer

    def _before_initialiser(self, name: str, kind: CType, node: Any) -> None:
        """An arbitrary value before the initialiser, only where the initialiser reads it."""
        if _mentions(node.init, node.name):
            self.havoc(name, kind, self.place(node), origin="hidden")

    def _global(self, node: Any, name: str, kind: CType) -> None:
        """Static storage: initialised once, before the program starts; zero by default."""
        start = self.graph.blocks[0].statements
        if node.init is None:
            if "extern" in node.storage:
                self.havoc(name, kind, self.place(node), origin="global", block=0)
            else:
                start.append(Assign(name, ZERO, self.place(node)))
            return
        if not self.plain(node.init) and not self.wrap:
            raise self.unsupported("this initialiser of a static variable", node.init)
        block, self.current = self.current, self.graph.block()
        value = self.convert(self.rvalue(node.init), kind)
        if self.graph.blocks[self.current].statements:
            raise self.unsupported("this initialiser of a static variable", node.init)
        self.current = block
        start.append(Assign(name, const(self.constant_value(value, node.init)), self.place(node)))


def _failing(node: Any) -> Any:
    """The first call of a failure function in a statement, as after `ERROR:`."""
    if isinstance(node, c_ast.FuncCall) and getattr(node.name, "name", None) in FAILURES:
        return node
    for _, child in node.children() if node is not None else ():
        if (found := _failing(child)) is not None:
            return found
    return None


def _collect_cases(node: Any, found: list[Any]) -> None:
    for _, child in node.children() if node is not None else ():
        if isinstance(child, c_ast.Switch):
            continue
        if isinstance(child, c_ast.Case | c_ast.Default):
            found.append(child)
        _collect_cases(child, found)


def _mentions(node: Any, name: str) -> bool:
    if isinstance(node, c_ast.ID) and node.name == name:
        return True
    return any(_mentions(child, name) for _, child in node.children())
