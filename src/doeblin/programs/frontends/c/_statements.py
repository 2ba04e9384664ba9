"""C statements to blocks."""

from __future__ import annotations

from typing import Any

from pycparser import c_ast

from ...._errors import InputError
from ...system import Jump, Loop
from ...system.terms import ZERO, compare, const, truth
from ._declarations import Declarations
from ._emitter import Slot, Value
from ._library import ASSERTIONS
from ._scopes import written
from ._static import POINTER
from .tree import collect_cases, failing
from .types import CType, Opaque, Struct, promote

# What may stand between the annotations of a loop and the loop.
_BEFORE_LOOPS = (
    c_ast.Pragma, c_ast.While, c_ast.DoWhile, c_ast.For, c_ast.Label, c_ast.Decl, c_ast.DeclList,
)  # fmt: skip


class _Frame:
    """Where the statements of one inlined function body jump to."""

    def __init__(self, after: int, result: tuple[str, CType] | Slot | None, opaque: bool):
        self.after = after
        self.result = result
        self.opaque = opaque
        self.labels: dict[str, int] = {}
        self.defined: dict[
            str, dict[str, CType | Opaque]
        ] = {}  # and the variables that are in scope there
        self.wanted: list[tuple[str, Any, int, dict[str, CType | Opaque]]] = []
        self.breaks: list[int] = []
        self.continues: list[int] = []
        self.called: tuple[Any, Any, int] = (None, None, 0)  # which function, from where


class Statements(Declarations):
    """Everything that does something."""

    def __init__(self, *args: Any, **options: Any):
        super().__init__(*args, **options)
        self.frames: list[_Frame] = []
        self.entered: set[str] = set()  # functions that are called
        self._cases: dict[int, tuple[int, int, dict[str, CType | Opaque]]] = {}

    # ---- functions

    def body(self, name: str, frame: dict[str, Slot], node: Any) -> Value | None:
        """Inline a function body whose parameters are in `frame`."""
        definition = self.functions[name]
        self.entered.add(name)
        kind = self.in_global_scope(definition.decl.type.type)
        result, pointer = None, None
        outer = self.scopes, self.function, self.path
        self.path = (*self.path, id(node)) if node is not None else self.path
        if isinstance(kind, CType):
            result = (self.fresh("", kind), kind)
        elif isinstance(kind, Struct):
            pointer = self.structure("", kind, (), self.place(definition), const_=False)
            for statement in self.blanked(pointer, self.place(definition), None):
                self.emit(statement)
        elif (element := self.parameter_type(definition.decl.type.type)) is not None:
            pointer = self.pointer(definition, element, self.key(definition), self.chain())
            self.unset(pointer, definition)
        after = self.graph.block()
        self.around.append(self.scopes)
        self.scopes = [self.scopes[0], frame]
        self.function = name
        self.stack.append(name)
        blamed = name in ASSERTIONS or "assert" in name.lower()
        if blamed and node is not None:
            self.blame.append(self.place(node))
        self.asserting += name in ASSERTIONS
        opaque = isinstance(kind, Opaque) and kind.name != "void"
        self.frames.append(_Frame(after, pointer or result, opaque))
        old = self.enter(name, node)
        entered = self.current
        self.frames[-1].called = (definition, node, entered)
        self.statement(definition.body)
        self.end_of_loop_clauses()
        self._without_return(*self.frames[-1].called)
        self.jump(after)
        self._land(self.frames.pop())
        self.asserting -= name in ASSERTIONS
        if blamed and node is not None:
            self.blame.pop()
        self.stack.pop()
        self.start(after)
        value = Value.of(result[0], result[1]) if result else None
        self.leave(name, value, old)
        self.scopes, self.function, self.path = outer
        self.around.pop()
        self.returned = pointer
        if name in self.noreturn:
            said = f"undefined behaviour: '{name}', which must not return, returns"
            self.require(truth(False), said, self.place(node or definition))
        return value

    def _without_return(self, definition: Any, node: Any, entered: int) -> None:
        """The end of a body that may have to return a value: to use that is undefined (C11
        6.9.1p12)."""
        result = self.frames[-1].result
        if result is None:
            return
        whole = isinstance(result, Slot)  # a structure or a pointer, which has no value yet
        if definition.decl.name == "main" and not whole:  # it returns 0 (5.1.2.2.3)
            self.assign(result[0], ZERO, self.place(definition))
            return
        used = node is not None and id(node) in self.used
        if used and self._reaches(entered, self.current):
            name = definition.decl.name
            said = f"undefined behaviour: the value of '{name}' is used, but it returned none"
            self.require(truth(False), said, self.place(node))
        if not whole:
            self.havoc(*result, self.place(definition), origin="hidden")
        self.without_value(definition.decl.name)

    def without_value(self, name: str) -> None:
        """A function that is not inlined ends without a value."""

    def _reaches(self, start: int, end: int) -> bool:
        seen, todo = {start}, [start]
        while todo:
            block = todo.pop()
            if block == end:
                return True
            new = [target for target in self.graph.successors(block) if target not in seen]
            seen.update(new)
            todo += new
        return False

    def _land(self, frame: _Frame) -> None:
        """Check the jumps of a function; a variable whose declaration one skips has any value."""
        for label, node, block, here in frame.wanted:
            if label not in frame.defined:
                raise InputError(f"there is no label '{label}'", place=self.place(node))
            self._skipped(frame.defined[label], here, node, block)

    def _skipped(
        self,
        there: dict[str, CType | Opaque],
        here: dict[str, CType | Opaque],
        node: Any,
        block: int,
    ) -> None:
        for name, kind in there.items():
            if name not in here:
                if isinstance(kind, Opaque):
                    what = "a pointer" if kind == POINTER else "an array or structure"
                    raise self.unsupported(f"a jump past the declaration of {what}", node)
                self.havoc(name, kind, self.place(node), origin="hidden", block=block)

    def _visible(self) -> dict[str, CType | Opaque]:
        """The automatic variables and arrays in scope."""
        found: dict[str, CType | Opaque] = {}
        lasting = {name for slot in self._lasting.values() for name in slot.names()}
        for depth, scope in enumerate(self.scopes[1:]):
            for shown, slot in scope.items():
                if slot.cells or slot.pointer or (slot.fields and slot.names()):
                    own = slot.names()
                    if not own & lasting:
                        found[f"{shown}#{depth} {min(own)}"] = slot.kind
                elif slot.name is not None and slot.name not in self.statics.values():
                    found[slot.name] = slot.kind
        return found

    # ---- statements

    def statement(self, node: Any) -> None:
        if node is None:
            return
        if not isinstance(node, _BEFORE_LOOPS):
            self.end_of_loop_clauses()
        method = getattr(self, f"_{type(node).__name__.lower()}_statement", None)
        if method is not None:
            method(node)
        else:
            self.effects(node)

    def _compound_statement(self, node: Any) -> None:
        self.scopes.append({})
        if len(self.frames) == 1 and len(self.scopes) == 3 and not self.in_procedure:
            self.whole.add(self.scope_id(self.scopes[-1]))  # what `main` has lasts to the end
        for item in node.block_items or ():
            self.statement(item)
        self.scopes.pop()

    def _emptystatement_statement(self, node: Any) -> None:
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
        scope, parts = written(
            self.scopes, self.graph, lambda p: self.names_of(self.targets.of(p.key))
        )
        inner = None
        if isinstance(body, c_ast.Compound):
            inner = self.place(body.block_items[0]) if body.block_items else None
        elif body is not None:
            inner = self.place(body)
        hints = self.loop_hints()
        place = self.place(node)
        self.graph.loops[head] = Loop(keyword, place, self.function, scope, inner, hints, parts)
        if keyword != "goto":
            self.turns.append(len(self.chain()))  # up to where the loop is left

    def _while_statement(self, node: Any) -> None:
        head, body, after = (self.graph.block() for _ in range(3))
        self.jump(head)
        self._loop(head, node, "while")
        self.start(head)
        self.condition(node.cond, body, after)
        self._looped(body, node.stmt, head, after)
        self.jump(head)
        self.turns.pop()
        self.start(after)

    def _dowhile_statement(self, node: Any) -> None:
        head, test, after = (self.graph.block() for _ in range(3))
        self.jump(head)
        self._loop(head, node, "do", node.stmt)
        self._looped(head, node.stmt, test, after)
        self.jump(test)
        self.start(test)
        self.condition(node.cond, head, after)
        self.turns.pop()
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
        self.turns.pop()
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
            if isinstance(frame.result, Slot) and isinstance(frame.result.kind, Struct):
                kind = frame.result.kind
                values = self.structure_value(node.expr, kind)
                self.set_structure(self.entire(frame.result), kind, values, node)
            elif isinstance(frame.result, Slot):
                if frame.result.pointer is not None:
                    self.expect(node.expr, frame.result.pointer.element)
                self.set_pointer(frame.result, self.returned_address(node.expr), node)
            elif frame.result is not None:
                value = self.convert(self.rvalue(node.expr), frame.result[1])
                self.assign(frame.result[0], value.term, self.place(node))
            elif not frame.opaque:
                self.effects(node.expr)
            elif not self.harmless(node.expr):
                raise self.unsupported("pointers", node)
        else:
            self._without_return(*frame.called)
        self.jump(frame.after)
        self.start(self.graph.block())

    def _goto_statement(self, node: Any) -> None:
        self.frames[-1].wanted.append((node.name, node, self.current, self._visible()))
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
                self.fail("label ERROR reached", self.place(failing(node.stmt) or node))
        else:
            if node.name in frame.defined:
                raise InputError(f"the label '{node.name}' is doubled", place=self.place(node))
            self._loop(block, node, "goto")
            self.start(block)
        frame.defined.setdefault(node.name, self._visible())
        if node.name == "ERROR":
            self.start(self.graph.block())
        self.statement(node.stmt)

    def _switch_statement(self, node: Any) -> None:
        value = self.rvalue(node.cond)
        value = self.snapshot(self.convert(value, promote(value.kind)))
        after = self.graph.block()
        cases: list[Any] = []
        collect_cases(node.stmt, cases)
        seen: dict[int | None, Any] = {}
        default = after
        for case in cases:
            # From `entry` control goes on to `block`, unless it skips declarations on its way.
            entry, block = self.graph.block(), self.graph.block()
            self._cases[id(case)] = (entry, block, self._visible())
            self.graph.blocks[entry].end = Jump(block)
            wanted = None
            if isinstance(case, c_ast.Default):
                default = entry
            else:
                number = Value(const(self.constant(case.expr)[0]), self.constant(case.expr)[1])
                wanted = self.constant_value(self.convert(number, value.kind), case)
                following = self.graph.block()
                test = compare("=", value.integer(), const(wanted))
                self.branch(test, entry, following, self.place(case))
                self.start(following)
            if wanted in seen:
                raise InputError("this case is doubled", place=self.place(case))
            seen[wanted] = case
        self.jump(default)
        frame = self.frames[-1]
        frame.breaks.append(after)
        self.start(self.graph.block())
        self.statement(node.stmt)
        self.jump(after)
        frame.breaks.pop()
        self.start(after)

    def _case_statement(self, node: Any) -> None:
        if id(node) not in self._cases:
            raise InputError("'case' outside of a switch", place=self.place(node))
        entry, block, outside = self._cases[id(node)]
        self._skipped(self._visible(), outside, node, entry)
        self.jump(block)
        self.start(block)
        for item in node.stmts or ():
            self.statement(item)

    _default_statement = _case_statement

    def _staticassert_statement(self, node: Any) -> None:
        try:
            holds = self.constant(node.cond)[0]
        except InputError:
            if len(self.scopes) == 1:
                raise
            self._assertion("static_assert", [node.cond], node)
            return
        if not holds:
            raise InputError("this static assertion is false", place=self.place(node))
