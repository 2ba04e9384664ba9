"""Random expressions of C as tuples, and the scopes that their names come from.

("num", text), ("var", name), ("un", op, e), ("bin", op, a, b), ("cond", c, a, b),
("cast", type, e), ("comma", a, b), ("set", op, name, e), ("step", op, prefix, name),
("call", name, args), ("sizeof", e), ("sizetype", type), ("input", kind), ("either", op, name, e).
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Literal

SIGNED = ("char", "signed char", "short", "int", "long", "long long")
UNSIGNED = ("unsigned char", "unsigned short", "unsigned int", "unsigned long")
INPUTS = {"_Bool": "bool", "unsigned char": "uchar", "char": "char", "int": "int"}
COMPOUND = ["+=", "+=", "+=", "-=", "-=", "*=", "/=", "%=", "<<=", ">>="]
MASKS = ("1", "3", "7", "2", "5", "10", "-1", "-4", "-7", "200", "0xffu", "0x80000000", "~3")
COMPARE = ("<", "<=", ">", ">=", "==", "!=")
EDGES = (
    "127 128 255 256 32767 65535 2147483647 4294967295u 4294967296L 'A' '\\n' 010 0x7f 3u 5L 1ul"
)
SPELLINGS = (
    "assert",
    "verifier",
    "reach",
    "error",
    "fail",
    "check",
    "label",
    "text",
    "acsl",
    "acsl",
    "expanded",
    "gnu",
    "unreachable",
)
SAYS = (
    'printf("%ld %s\\n", (long)({}), "so");',
    '(void)printf("%d", ({}) ? 1 : 2);',
    'puts("x"), srand(({}) != 0), fflush(stdout);',
    'fprintf(stderr, "%d", (int)({}));',
    '_Static_assert(sizeof({}) > 0, "a size");',
)
"""Statements that change nothing, with an expression inside that is evaluated, or not."""
HOLDS = (
    "int *{0} = malloc(3 * sizeof(int));",
    "char *{0} = (char *)calloc(2, 1);",
    'const char *{0} = "text";',
    "double {0} = 0.5; float {0}q, *{0}p = &{0}q; (void){0}p;",
    "int {0}[2] = {{1, 2}};",
)
"""Objects that are not modelled, and that nothing else looks at."""


@dataclass
class Contract:
    """ACSL: the ranges of parameters (required) and of the result (ensured), as holes; of a
    function without a body, the range that its result has, if anything is said of it."""

    requires: list[tuple[int, str, bool]]  # a hole's number, the parameter, whether it is signed
    ensures: tuple[int, bool] | None = None
    wrong: bool = False  # the ensured range is too small by one
    outside: tuple[int, int] | Literal["any"] | None = None


@dataclass
class Function:
    result: str
    name: str
    params: list[tuple[str, str]]
    body: list[tuple]
    effects: bool = False  # writes something that outlives a call
    leaf: bool = False  # reads and writes nothing but its parameters
    value: tuple | None = None  # of a function that is one return
    contract: Contract | None = None


@dataclass
class Program:
    number: int
    head: list[str] = field(default_factory=list)  # macros, enums, typedefs, in order
    globals: list[tuple[str, str, tuple | None]] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    body: list[tuple] = field(default_factory=list)
    holes: int = 0
    unordered: bool = False
    counted: bool = False  # `main` looks at the number of its arguments
    types: dict[str, str] = field(default_factory=dict)  # typedef and enum names to what they are
    files: dict[str, str] = field(default_factory=dict)  # beside the program, by name

    @property
    def defines(self) -> bool:
        """Are there functions in its head?"""
        return any(line.startswith(("static", "__attribute__")) for line in self.head)


class Expressions:
    """Draws expressions. One never has two unsequenced effects on one variable."""

    def __init__(self, seed: int, number: int | None = None):
        number = seed if number is None else number
        self.rng = random.Random(seed)
        self.made = Program(number)
        self.tag = f"_{number}"
        self.scopes: list[dict[str, tuple[str, bool]]] = [{}]
        self.constants: list[str] = []
        self.types = ["int"] * 6 + ["_Bool", *SIGNED, *UNSIGNED]
        self.fresh = 0
        self.loops = 0
        self.inside: list[str] = []  # enclosing loops and switches
        self.effects = False
        self.globals_used = False
        self.result: str | None = None
        self.bits = self.rng.random() < 0.25  # bit operations of all kinds
        self.wrong = self.rng.random() < 0.3  # one assertion is to fail
        self.ends: list[str] = []  # calls that end the program
        self.says = list(SAYS)
        self.hidden: str | None = None  # being declared: its initialiser may not read it

    def touch(self, name: str, write: bool = False) -> None:
        if name.endswith(self.tag) or name == "s":
            self.globals_used = True
            self.effects |= write

    def step(self, name: str) -> tuple:
        return ("step", self.rng.choice(["++", "--"]), self.rng.random() < 0.5, name)

    def type(self) -> str:
        return self.rng.choice(self.types)

    def visible(self) -> dict[str, tuple[str, bool]]:
        out: dict[str, tuple[str, bool]] = {}
        for scope in self.scopes:
            out.update(scope)
        out.pop(self.hidden or "", None)
        return out

    def is_signed(self, e: tuple) -> bool:
        if e[0] != "var":
            return False
        return self.signed(self.visible()[e[1]][0])

    def signed(self, kind: str) -> bool:
        return self.made.types.get(kind, kind) in SIGNED

    def valued(self) -> list[Function]:
        return [f for f in self.made.functions if f.result != "void"]

    def hole(self) -> int:
        self.made.holes += 1
        return self.made.holes - 1

    def number(self) -> tuple:
        rng = self.rng
        draw = rng.random()
        if draw < 0.15 and self.constants:
            return ("num", rng.choice(self.constants))
        if draw < 0.25:
            return ("num", rng.choice(EDGES.split()))
        return ("num", str(rng.choice([0, 1, 1, 2, 3, 4, 5, 7, 10, -1, -2])))

    def pure(self, depth: int, avoid: frozenset[str] | set[str] = frozenset()) -> tuple:
        """No effects, and nothing in `avoid` is read."""
        rng = self.rng
        draw = rng.random()
        if depth == 0 or draw < 0.2:
            names = [n for n in self.visible() if n not in avoid]
            if not names or rng.random() < 0.3:
                return self.number()
            name = rng.choice(names)
            self.touch(name)
            return ("var", name)
        more = lambda: self.pure(depth - 1, avoid)  # noqa: E731
        if draw < 0.55:
            left, right = more(), more()
            if _constant(left) and _constant(right) and _large((left, right)):
                return left  # where constants overflow, gcc's sanitizer does not see it
            return ("bin", rng.choice("+-+-*"), left, right)
        if draw < 0.63:
            divisor = (
                more() if rng.random() < 0.1 else ("num", rng.choice(["2", "3", "4", "-2", "7u"]))
            )
            return ("bin", rng.choice("/%"), more(), divisor)
        if draw < 0.68:
            op = rng.choice(["<<", ">>", ">>", "&", "&", *("|^" * self.bits)])
            value = more()
            if op not in ("<<", ">>"):
                mask = ("num", rng.choice(MASKS if self.bits else ["1", "3", "7"]))
                other = more() if self.bits and rng.random() < 0.4 else mask
                return ("bin", op, *rng.sample([value, other], 2))
            if self.bits and rng.random() < 0.3:  # by a variable amount, in range most often
                amount = more()
                if rng.random() < 0.8:
                    amount = ("bin", "&", amount, ("num", rng.choice("137")))
                return ("bin", op, value, amount)
            far = not _constant(value) and rng.random() < 0.06
            amounts = ["31", "32", "33", "63", "-1"] if far else ["1", "2", "3"]
            return ("bin", op, value, ("num", rng.choice(amounts)))
        if draw < 0.74:
            return ("bin", rng.choice(COMPARE), more(), more())
        if draw < 0.79:
            return ("un", rng.choice("-+~!"), more())
        if draw < 0.86:
            return ("cast", self.type(), more())
        if draw < 0.91:
            return ("cond", self.pure(depth - 1, avoid), more(), more())
        if draw < 0.93:
            inner = more()
            if rng.random() < 0.3:  # an effect that never happens
                inner = self.expression(1)
            return rng.choice([("sizeof", inner), ("sizetype", self.type())])
        if draw < 0.95:
            return ("bin", rng.choice(["&&", "||"]), more(), more())
        if draw < 0.965 and any("MAX" in line for line in self.made.head):
            return ("call", rng.choice(["MAX", "SUM"]) + self.tag, [more(), more()])
        if draw < 0.98:
            value = ("cast", "short", more())
            return rng.choice(
                [("call", "abs", [value]), ("call", "__builtin_expect", [value, ("num", "1")])]
            )
        leaves = [f for f in self.made.functions if f.leaf]
        if leaves:
            chosen = rng.choice(leaves)
            return ("call", chosen.name, [more() for _ in chosen.params])
        return more()

    def call(self, chosen: Function) -> tuple:
        if chosen.effects:
            self.effects = True
        self.globals_used |= not chosen.leaf
        return ("call", chosen.name, [self.pure(1) for _ in chosen.params])

    def expression(self, depth: int, avoid: set[str] | frozenset[str] = frozenset()) -> tuple:
        """With an effect now and then, sequenced before everything that could see it."""
        rng = self.rng
        draw = rng.random()
        free = [n for n, (_, free) in self.visible().items() if free and n not in avoid]
        locals_ = {n for n in self.visible() if n.endswith(self.tag) or n == "s"}
        if draw > 0.3 or not free:
            return self.pure(depth)
        silent = [f for f in self.made.functions if f.result == "void"]
        if draw < 0.03 and silent:
            return ("comma", self.call(rng.choice(silent)), self.pure(1))
        if draw < 0.1 and self.valued():
            call = self.call(rng.choice(self.valued()))
            if rng.random() < 0.4:
                return call
            return ("bin", rng.choice("+-*"), *rng.sample([call, self.pure(1, locals_)], 2))
        name = rng.choice(free)
        self.touch(name, write=True)
        effect = self.step(name)
        if rng.random() < 0.3:
            effect = ("set", rng.choice(["=", "+=", "-="]), name, self.pure(1, {name}))
        if draw < 0.17:
            return ("bin", rng.choice("+-*"), *rng.sample([effect, self.pure(1, {name})], 2))
        if draw < 0.22:
            return ("comma", effect, self.pure(depth - 1))
        if draw < 0.27:
            return ("bin", rng.choice(["&&", "||"]), self.condition(0), effect)
        return ("cond", self.condition(1), effect, self.pure(depth - 1))

    def condition(self, depth: int) -> tuple:
        rng = self.rng
        draw = rng.random()
        if depth > 0 and draw < 0.2:
            return (
                "bin",
                rng.choice(["&&", "||"]),
                self.condition(depth - 1),
                self.condition(depth - 1),
            )
        if depth > 0 and draw < 0.28:
            return ("un", "!", self.condition(depth - 1))
        if draw < 0.36:
            return self.pure(0)
        if draw < 0.4 and self.result is None:
            return ("input", "bool")
        return ("bin", rng.choice(COMPARE), self.pure(1), self.pure(1))


def _constant(e: tuple) -> bool:
    return e[0] not in ("var", "call", "input") and all(
        _constant(part) for part in e[1:] if isinstance(part, tuple)
    )


def _large(e: tuple) -> bool:
    if e[0] == "num":
        return e[1] in EDGES.split()
    return any(_large(part) for part in e if isinstance(part, tuple))
