"""A graph as instructions over 64-bit registers, for runs of many millions of steps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import _execute as codes
from ._execute import LARGEST
from ._graph import Assign, Assume, Branch, End, Fail, Graph, Havoc, Jump
from .terms import Term

_BINARY = {
    "+": codes.ADD,
    "*": codes.MUL,
    "div": codes.DIV,
    "mod": codes.MOD,
    "tdiv": codes.TDIV,
    "trem": codes.TREM,
    "<=": codes.LE,
    "<": codes.LT,
    "=": codes.EQ,
    "and": codes.AND,
    "or": codes.OR,
}
_TESTS = {"<=": codes.IF_LE, "<": codes.IF_LT, "=": codes.IF_EQ}


_JUMPS = {
    codes.JUMP: (0,),
    codes.IF: (1, 2),
    codes.IF_LE: (2, 3),
    codes.IF_LT: (2, 3),
    codes.IF_EQ: (2, 3),
}
_COPIED = 4
Row = tuple[int, int, int, int, int]


class Bytecode:
    """Rows `op, a, b, c, d`; registers hold the variables first, then constants and scratch.

    The graph must have no procedures and no arrays.
    `starts[block]` is the row at which a block begins, `blocks[row]` the block a row belongs to;
    `marked` blocks count arrivals.
    """

    def __init__(self, graph: Graph, marked: set[int]):
        assert graph.compilable
        self.graph = graph
        self._index = {name: i for i, name in enumerate(graph.variables)}
        self._values = [0] * len(graph.variables)
        self._constants: dict[int, int] = {}
        self.sites: dict[int, Havoc] = {}
        self._rows: list[Row] = []
        pieces = [self._block(number, number in marked) for number in range(len(graph.blocks))]
        starts, owners, rows = self._layout(pieces)
        for number, (op, *operands) in enumerate(rows):
            for position in _JUMPS.get(op, ()):
                operands[position] = starts[operands[position]]
            rows[number] = (op, *operands)  # type: ignore[assignment]
        self.starts = np.array(starts, dtype=np.int64)
        self.blocks = np.array(owners, dtype=np.int64)
        self.code: NDArray[np.uint64] = np.array(rows, dtype=np.uint64).reshape(-1, 5)
        self.registers: NDArray[np.int64] = np.array(self._values, dtype=np.int64)

    def _block(self, number: int, marked: bool) -> list[Row]:
        self._rows = []
        if marked:
            self._emit(codes.MARK)
        for statement in self.graph.blocks[number].statements:
            if isinstance(statement, Assign):
                self._assign(statement)
            elif isinstance(statement, Havoc):
                self.sites[statement.site] = statement
                self._emit(codes.HAVOC, self._index[statement.name], statement.site)
            elif isinstance(statement, Assume):
                self._emit(codes.ASSUME, self._term(statement.condition))
        self._end(number, self.graph.blocks[number].end)
        return self._rows

    def _layout(self, pieces: list[list[Row]]) -> tuple[list[int], list[int], list[Row]]:
        """Blocks in a row, with as few jumps as possible: a block that is only jumped to follows
        at once, and a short one with a test (a loop's head) is copied in place of the jump."""
        starts = [-1] * len(pieces)
        owners: list[int] = []
        rows: list[Row] = []
        for first in range(len(pieces)):
            number: int | None = first
            while number is not None and starts[number] < 0:
                starts[number] = len(rows)
                piece = pieces[number]
                rows += piece
                owners += [number] * len(piece)
                end = self.graph.blocks[number].end
                number = None
                if isinstance(end, Jump):
                    number = end.target
                    if starts[number] < 0 or len(pieces[number]) <= _COPIED:
                        rows.pop()
                        owners.pop()
                    if starts[number] >= 0 and len(pieces[number]) <= _COPIED:
                        rows += pieces[number]
                        owners += [number] * len(pieces[number])
        return starts, owners, rows

    def _emit(self, op: int, a: int = 0, b: int = 0, c: int = 0, d: int = 0) -> None:
        self._rows.append((op, a, b, c, d))

    def _end(self, number: int, end: End) -> None:
        if isinstance(end, Jump):
            self._emit(codes.JUMP, end.target)
        elif isinstance(end, Branch):
            test = end.condition
            if test.op in _TESTS and not test.args[0].boolean:
                left, right = (self._term(arg) for arg in test.args)
                self._emit(_TESTS[test.op], left, right, end.yes, end.no)
            else:
                self._emit(codes.IF, self._term(test), end.yes, end.no)
        else:
            self._emit(codes.FAIL if isinstance(end, Fail) else codes.STOP, number)

    def _assign(self, statement: Assign) -> None:
        target = self._index[statement.name]
        before = len(self._rows)
        value = self._term(statement.value)
        if len(self._rows) > before and self._rows[-1][1] == value and value >= len(self._index):
            op, _, *rest = self._rows[-1]
            self._rows[-1] = (op, target, *rest)  # type: ignore[assignment]
        else:
            self._emit(codes.MOVE, target, value)

    def _scratch(self) -> int:
        self._values.append(0)
        return len(self._values) - 1

    def _constant(self, value: int) -> int:
        if abs(value) > LARGEST:
            self._emit(codes.LEAVE)
            value = 0
        if value not in self._constants:
            self._constants[value] = self._scratch()
            self._values[-1] = value
        return self._constants[value]

    def _term(self, term: Term) -> int:
        """The register that holds the term's value."""
        if term.op == "const":
            return self._constant(int(term.leaf))
        if term.op == "var":
            return self._index[term.leaf]
        args = [self._term(arg) for arg in term.args]
        if term.op == "ite":
            target = self._scratch()
            self._emit(codes.ITE, target, *args)
            return target
        if term.op == "not":
            target = self._scratch()
            self._emit(codes.NOT, target, args[0])
            return target
        if term.op in ("+", "and", "or"):
            total = args[0]
            for arg in args[1:]:
                target = self._scratch()
                self._emit(_BINARY[term.op], target, total, arg)
                total = target
            return total
        target = self._scratch()
        self._emit(_BINARY[term.op], target, *args)
        return target
