"""The intermediate language: a control-flow graph of assignments, inputs, assumptions and failures.

Every front end that has statements lowers to this; it knows nothing of C.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ..._errors import Place
from ._remarks import Remarks
from .terms import Term, array, var


@dataclass(frozen=True, slots=True)
class Variable:
    """A program variable: unique name, name in the source, and the range its type gives it, or the
    width of its format, if it is floating point."""

    name: str
    shown: str
    low: int | None = None
    high: int | None = None
    kind: str = "int"
    place: Place | None = None
    bits: int | None = None


@dataclass(frozen=True, slots=True)
class Array:
    """An array of the program: unique name, name in the source, the range of its cells, and that of
    their type, which they have unless sums are unbounded. It has a cell for every integer; that
    a program stays within bounds is for the program to check."""

    name: str
    shown: str
    low: int | None
    high: int | None
    bounds: tuple[int, int]
    kind: str = "int"
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Assign:
    name: str
    value: Term
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Havoc:
    """An arbitrary value in the range: an input, or a variable that has no value yet."""

    name: str
    site: int
    low: int | None
    high: int | None
    place: Place | None = None
    call: str | None = None
    origin: str = "declaration"
    """`call`, `declaration`, `parameter`, `global` (defined elsewhere), `hidden` (not an input
    that a caller could give, such as the result of a function that does not return one), `rough`
    (the result of a function that may be unable to return just any value), `inner` (what a function
    of another file leaves in a variable that it cannot see), or `cell` (what an array has in it
    before anything is stored there)."""
    cell: int | None = None

    def within(self, value: int) -> int:
        """The nearest value that the input can have, whoever proposes one."""
        if self.low is not None:
            value = max(value, self.low)
        return value if self.high is None else min(value, self.high)


@dataclass(frozen=True, slots=True)
class Assume:
    """Runs in which the condition is false do not count."""

    condition: Term
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a procedure: values of its parameters, and the variables that take its results. The
    function that is called has the name `shown`."""

    procedure: str
    shown: str
    args: tuple[Term, ...]
    results: tuple[str, ...]
    site: int
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Load:
    """A variable takes the value of a cell."""

    name: str
    array: str
    index: Term
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Store:
    array: str
    index: Term
    value: Term
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Fill:
    """All cells take one value or, where it is None, an arbitrary one each, within the range."""

    array: str
    value: int | None
    site: int
    low: int | None
    high: int | None
    place: Place | None = None
    origin: str = "cell"

    def cell(self, index: int) -> Havoc:
        """A cell that nothing was stored in, as an input."""
        return Havoc(
            self.array, self.site, self.low, self.high, self.place, origin=self.origin, cell=index
        )


@dataclass(frozen=True, slots=True)
class Copy:
    """An array becomes what another is."""

    array: str
    source: str
    place: Place | None = None


Statement = Assign | Havoc | Assume | Call | Load | Store | Fill | Copy


@dataclass(frozen=True, slots=True)
class Jump:
    target: int


@dataclass(frozen=True, slots=True)
class Branch:
    condition: Term
    yes: int
    no: int
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Stop:
    """The run ends, or is no longer of interest."""


@dataclass(frozen=True, slots=True)
class Fail:
    """The property is violated here; `what` says how.

    Of an assertion that is a function of the program's, `place` is the call that a person looks
    for, and `at` the place within where it fails.
    """

    what: str
    place: Place | None = None
    at: Place | None = None


@dataclass(frozen=True, slots=True)
class Return:
    """The end of a procedure: the run goes on after the call."""

    procedure: str
    shown: str
    place: Place | None = None


def read_by(statement: Statement) -> tuple[Term, ...]:
    """The terms that a statement evaluates."""
    if isinstance(statement, Assign):
        return (statement.value,)
    if isinstance(statement, Assume):
        return (statement.condition,)
    if isinstance(statement, Call):
        return statement.args
    if isinstance(statement, Load):
        return (statement.index,)
    return (statement.index, statement.value) if isinstance(statement, Store) else ()


def with_terms(statement: Statement, change: Callable[[Term], Term]) -> Statement:
    """The statement with other terms in place of those that it evaluates."""
    if isinstance(statement, Assign):
        return replace(statement, value=change(statement.value))
    if isinstance(statement, Assume):
        return replace(statement, condition=change(statement.condition))
    if isinstance(statement, Call):
        return replace(statement, args=tuple(map(change, statement.args)))
    if isinstance(statement, Load):
        return replace(statement, index=change(statement.index))
    if isinstance(statement, Store):
        return replace(statement, index=change(statement.index), value=change(statement.value))
    return statement


End = Jump | Branch | Stop | Fail | Return


@dataclass(slots=True)
class Block:
    statements: list[Statement] = field(default_factory=list)
    end: End = field(default_factory=Stop)


@dataclass(frozen=True, slots=True)
class Loop:
    """What a writer needs to know of a loop head: keyword, place, and the names in scope."""

    keyword: str
    place: Place
    function: str
    scope: dict[str, str]
    body: Place | None = None
    hints: tuple[Term, ...] = ()  # invariants that the program itself suggests
    parts: dict[str, str] = field(default_factory=dict)  # variables that are a part of one in scope


@dataclass(frozen=True, slots=True)
class Procedure:
    """A recursive function, which may be one of several with other arrays, and then has a `name`
    of its own: its first and last block, its parameters, and what it gives back.

    Every call has `locals` of its own; `shared` are the other variables that it uses, and of these
    it may change some. `old` are copies at the entry of what it started with and changes.
    """

    name: str
    shown: str
    entry: int
    exit: int
    parameters: tuple[str, ...]
    results: tuple[str, ...]
    place: Place
    locals: frozenset[str] = frozenset()
    shared: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    old: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Graph:
    """Blocks, entry first; the variables in order of declaration; loops by their head block.

    `modular`: there is a sum or product of unsigned numbers, which may wrap around at the top.
    `floating` is the first place where something is computed in floating point.
    """

    blocks: list[Block] = field(default_factory=list)
    variables: dict[str, Variable] = field(default_factory=dict)
    loops: dict[int, Loop] = field(default_factory=dict)
    modular: bool = False
    procedures: dict[str, Procedure] = field(default_factory=dict)
    arrays: dict[str, Array] = field(default_factory=dict)
    remarks: Remarks = field(default_factory=Remarks)
    floating: Place | None = None

    @property
    def compilable(self) -> bool:
        """Can long runs be compiled? Not of calls, arrays, nor floating point."""
        return not self.procedures and not self.arrays and self.floating is None

    def shown(self, name: str) -> str:
        """A variable or an array, as the source calls it."""
        return (self.arrays[name] if name in self.arrays else self.variables[name]).shown

    def bits(self, name: str) -> int | None:
        """The width of a variable's format; None of integers, and of arrays, which are of these."""
        return None if name in self.arrays else self.variables[name].bits

    def term(self, name: str) -> Term:
        """A variable or an array."""
        return array(name) if name in self.arrays else var(name, self.variables[name].bits)

    def block(self) -> int:
        self.blocks.append(Block())
        return len(self.blocks) - 1

    def successors(self, index: int) -> tuple[int, ...]:
        end = self.blocks[index].end
        if isinstance(end, Jump):
            return (end.target,)
        if isinstance(end, Branch):
            return (end.yes, end.no)
        return ()

    def predecessors(self) -> dict[int, list[int]]:
        """For each block that the entry leads to, those that come before it."""
        found: dict[int, list[int]] = {0: []}
        todo = [0]
        while todo:
            index = todo.pop()
            for target in self.successors(index):
                if target not in found:
                    todo.append(target)
                found.setdefault(target, []).append(index)
        return found
