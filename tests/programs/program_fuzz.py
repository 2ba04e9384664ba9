"""Random small C programs, and a direct executor for them that shares no code with doeblin.

`python tests/programs/program_fuzz.py --count 2000` verifies that many and compares every verdict
with brute force: SAFE must survive all short runs, UNSAFE must fail when its inputs are run.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
from dataclasses import dataclass, field

TYPES = {
    "int": (-(2**31), 2**31 - 1),
    "unsigned int": (0, 2**32 - 1),
    "unsigned char": (0, 255),
    "short": (-(2**15), 2**15 - 1),
    "_Bool": (0, 1),
}
BITS = {"int": 32, "unsigned int": 32, "unsigned char": 8, "short": 16, "_Bool": 1}


class OutOfModel(Exception):
    """The run left the mathematical integers' common ground with C (an overflow)."""


class Failed(Exception):
    pass


class Stopped(Exception):
    """An assumption was false, or the inputs or steps ran out."""


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


@dataclass
class FuzzProgram:
    types: dict[str, str]
    initial: dict[str, int | None]
    body: list[tuple]
    helper: bool = False
    text: str = field(default="", repr=False)


class Generator:
    """Grammar-based: each method makes one kind of thing."""

    def __init__(self, seed: int):
        self.rng = random.Random(seed)
        self.loops = 0

    def program(self) -> FuzzProgram:
        rng = self.rng
        names = ["a", "b", "c", "d"][: rng.randint(2, 4)]
        types = {
            n: rng.choice(["int"] * 6 + ["unsigned int", "unsigned char", "short", "_Bool"])
            for n in names
        }
        initial = {n: None if rng.random() < 0.35 else rng.randint(0, 3) for n in names}
        self.types = types
        self.names = names
        self.helper = rng.random() < 0.5
        body: list[tuple] = []
        if rng.random() < 0.4:
            body.append(("assume", self.condition(1)))
        body += self.block(2, rng.randint(2, 4))
        if self.loops == 0:
            body.append(self.loop(1))
        body.append(("assert", self.condition(2)))
        made = FuzzProgram(types, initial, body, helper=self.helper)
        made.text = render(made)
        return made

    def block(self, depth: int, count: int, inside: bool = False) -> list[tuple]:
        return [self.statement(depth, inside) for _ in range(count)]

    def statement(self, depth: int, inside: bool) -> tuple:
        rng = self.rng
        kinds = ["assign"] * 5 + ["step"] * 3 + ["input"]
        if depth > 0:
            kinds += ["if"] * 3 + ["switch"]
            if self.loops < 2:
                kinds += ["loop"] * 2
        if inside:
            kinds += ["break", "continue", "assert"]
        kind = rng.choice(kinds)
        name = rng.choice(self.names)
        if kind == "assign":
            op = rng.choice(["=", "=", "=", "+=", "-=", "*="])
            value = ("const", rng.randint(0, 3)) if op == "*=" else self.expression(2)
            return ("assign", name, op, value)
        if kind == "step":
            return ("step", name, rng.choice(["++", "--"]), rng.random() < 0.5)
        if kind == "input":
            return ("input", name)
        if kind == "if":
            other = self.block(depth - 1, 1, inside) if rng.random() < 0.5 else []
            return (
                "if",
                self.condition(1),
                self.block(depth - 1, rng.randint(1, 2), inside),
                other,
            )
        if kind == "switch":
            cases = [
                (value, self.block(0, 1), rng.random() < 0.7)
                for value in rng.sample(range(4), rng.randint(1, 3))
            ]
            return ("switch", self.expression(1), cases)
        if kind == "loop":
            return self.loop(depth)
        if kind in ("break", "continue"):
            return ("if", self.condition(1), [(kind,)], [])
        return ("assert", self.condition(1))

    def loop(self, depth: int) -> tuple:
        self.loops += 1
        rng = self.rng
        name = rng.choice(self.names)
        kind = rng.choice(["while", "while", "for", "do"])
        bound = rng.randint(1, 5)
        up = rng.random() < 0.7
        condition: tuple = ("cmp", "<" if up else ">", ("var", name), ("const", bound * up))
        if rng.random() < 0.25:
            condition = ("and", condition, ("nondet",))
        step = ("step", name, "++" if up else "--", True)
        body = self.block(depth - 1, rng.randint(1, 2), inside=True)
        return (kind, condition, body, step)

    def condition(self, depth: int) -> tuple:
        rng = self.rng
        draw = rng.random()
        if depth > 0 and draw < 0.25:
            return (rng.choice(["and", "or"]), self.condition(depth - 1), self.condition(depth - 1))
        if depth > 0 and draw < 0.35:
            return ("not", self.condition(depth - 1))
        if draw < 0.45:
            return ("nondet",) if rng.random() < 0.4 else ("var", rng.choice(self.names))
        op = rng.choice(["<", "<=", ">", ">=", "==", "!="])
        return ("cmp", op, self.expression(1), self.expression(1))

    def expression(self, depth: int) -> tuple:
        rng = self.rng
        draw = rng.random()
        if depth == 0 or draw < 0.3:
            if rng.random() < 0.35:
                return ("const", rng.randint(0, 4))
            return ("var", rng.choice(self.names))
        if draw < 0.8:
            return ("bin", rng.choice("+-"), self.expression(depth - 1), self.expression(depth - 1))
        if draw < 0.86:
            return ("bin", "*", ("const", rng.randint(2, 3)), self.expression(depth - 1))
        if draw < 0.93:
            op = rng.choice("/%")
            return ("bin", op, self.expression(depth - 1), ("const", rng.randint(2, 3)))
        if draw < 0.96:
            return ("pick", self.condition(0), self.expression(0), self.expression(0))
        if self.helper and rng.random() < 0.5:
            return ("twice", self.expression(depth - 1))
        return ("post", rng.choice(self.names), rng.choice(["++", "--"]))


def render(program: FuzzProgram) -> str:
    lines = ["int __VERIFIER_nondet_int(void);", "void __VERIFIER_assert(int);"]
    if program.helper:
        lines.append("int twice(int v) { int r = v; if (v != 0) { r = r + v; } return r; }")
    lines.append("int main(void) {")
    for name, kind in program.types.items():
        value = program.initial[name]
        lines.append(f"  {kind} {name}" + ("" if value is None else f" = {value}") + ";")
    lines += _lines(program.body, 1)
    lines += ["  return 0;", "}"]
    return "\n".join(lines) + "\n"


def _lines(body: list[tuple], depth: int) -> list[str]:
    pad = "  " * depth
    out = []
    for item in body:
        kind = item[0]
        if kind == "assign":
            out.append(f"{pad}{item[1]} {item[2]} {_text(item[3])};")
        elif kind == "step":
            out.append(f"{pad}{item[1]}{item[2]};" if item[3] else f"{pad}{item[2]}{item[1]};")
        elif kind == "input":
            out.append(f"{pad}{item[1]} = __VERIFIER_nondet_int();")
        elif kind == "if":
            out += [f"{pad}if ({_text(item[1])}) {{", *_lines(item[2], depth + 1)]
            if item[3]:
                out += [f"{pad}}} else {{", *_lines(item[3], depth + 1)]
            out.append(f"{pad}}}")
        elif kind == "switch":
            out.append(f"{pad}switch ({_text(item[1])}) {{")
            for value, inner, leaves in item[2]:
                out += [f"{pad}case {value}:", *_lines(inner, depth + 1)]
                if leaves:
                    out.append(f"{pad}  break;")
            out.append(f"{pad}}}")
        elif kind in ("break", "continue"):
            out.append(f"{pad}{kind};")
        elif kind == "assert":
            out.append(f"{pad}__VERIFIER_assert({_text(item[1])});")
        elif kind == "assume":
            out.append(f"{pad}__VERIFIER_assume({_text(item[1])});")
        elif kind == "while":
            step = _lines([item[3]], depth + 1)
            out += [f"{pad}while ({_text(item[1])}) {{", *step, *_lines(item[2], depth + 1)]
            out.append(f"{pad}}}")
        elif kind == "for":
            step = _lines([item[3]], 0)[0].rstrip(";")
            out.append(f"{pad}for (; {_text(item[1])}; {step}) {{")
            out += [*_lines(item[2], depth + 1), f"{pad}}}"]
        elif kind == "do":
            step = _lines([item[3]], depth + 1)
            out += [f"{pad}do {{", *step, *_lines(item[2], depth + 1)]
            out.append(f"{pad}}} while ({_text(item[1])});")
    return out


def _text(e: tuple) -> str:
    kind = e[0]
    if kind == "const":
        return str(e[1])
    if kind == "var":
        return e[1]
    if kind == "nondet":
        return "__VERIFIER_nondet_int()"
    if kind == "not":
        return f"!({_text(e[1])})"
    if kind in ("and", "or"):
        return f"({_text(e[1])} {'&&' if kind == 'and' else '||'} {_text(e[2])})"
    if kind == "pick":
        return f"({_text(e[1])} ? {_text(e[2])} : {_text(e[3])})"
    if kind == "post":
        return f"{e[1]}{e[2]}"
    if kind == "twice":
        return f"twice({_text(e[1])})"
    return f"({_text(e[2])} {e[1]} {_text(e[3])})"


class Executor:
    """Runs a program on given inputs with C's rules, type by type."""

    def __init__(self, program: FuzzProgram, inputs, limit: int = 400, wrap: bool = False):
        self.wrap = wrap
        self.program = program
        self.inputs = inputs
        self.left = limit
        self.state: dict[str, int] = {}

    def run(self) -> None:
        for name, value in self.program.initial.items():
            kind = self.program.types[name]
            self.state[name] = self.convert(self.read() if value is None else value, kind)
        self.block(self.program.body)

    def read(self) -> int:
        try:
            return next(self.inputs)
        except StopIteration:
            raise Stopped from None

    def convert(self, value: int, kind: str) -> int:
        if kind == "_Bool":
            return int(value != 0)
        low, high = TYPES[kind]
        return value if low <= value <= high else (value - low) % (1 << BITS[kind]) + low

    def block(self, body: list[tuple]) -> None:
        for item in body:
            self.statement(item)

    def statement(self, item: tuple) -> None:
        self.left -= 1
        if self.left < 0:
            raise Stopped
        kind = item[0]
        if kind == "assign":
            name, op = item[1], item[2]
            value, type_ = self.value(item[3])
            if op != "=":
                value, type_ = self.binary(
                    op[0], (self.state[name], self.program.types[name]), (value, type_)
                )
            self.state[name] = self.convert(value, self.program.types[name])
        elif kind == "step":
            self.step(item[1], item[2])
        elif kind == "input":
            self.state[item[1]] = self.convert(self.read(), self.program.types[item[1]])
        elif kind == "if":
            self.block(item[2] if self.value(item[1])[0] else item[3])
        elif kind == "switch":
            value, matched = self.value(item[1])[0], False
            for wanted, inner, leaves in item[2]:
                matched = matched or value == wanted
                if matched:
                    self.block(inner)
                    if leaves:
                        break
        elif kind == "break":
            raise _Break
        elif kind == "continue":
            raise _Continue
        elif kind == "assert":
            if not self.value(item[1])[0]:
                raise Failed
        elif kind == "assume":
            if not self.value(item[1])[0]:
                raise Stopped
        else:
            self.loop(kind, *item[1:])

    def loop(self, kind: str, condition: tuple, body: list[tuple], step: tuple) -> None:
        first = kind == "do"
        inside = [step, *body] if kind != "for" else body
        while first or self.value(condition)[0]:
            first = False
            try:
                self.block(inside)
            except _Break:
                return
            except _Continue:
                pass
            if kind == "for":
                self.statement(step)
            self.left -= 1
            if self.left < 0:
                raise Stopped

    def step(self, name: str, op: str) -> int:
        kind = self.program.types[name]
        old = self.state[name]
        value, _ = self.binary(op[0], (old, kind), (1, "int"))
        self.state[name] = self.convert(value, kind)
        return old

    def value(self, e: tuple) -> tuple[int, str]:
        kind = e[0]
        if kind == "const":
            return e[1], "int"
        if kind == "var":
            return self.state[e[1]], self.program.types[e[1]]
        if kind == "nondet":
            return self.read(), "int"
        if kind == "not":
            return int(not self.value(e[1])[0]), "int"
        if kind == "and":
            return int(bool(self.value(e[1])[0]) and bool(self.value(e[2])[0])), "int"
        if kind == "or":
            return int(bool(self.value(e[1])[0]) or bool(self.value(e[2])[0])), "int"
        if kind == "pick":
            chosen = e[2] if self.value(e[1])[0] else e[3]
            both = [self.static_type(part) for part in e[2:]]
            common = "unsigned int" if "unsigned int" in both else "int"
            return self.convert(self.value(chosen)[0], common), common
        if kind == "post":
            return self.step(e[1], e[2]), self.program.types[e[1]]
        if kind == "twice":
            value = self.convert(self.value(e[1])[0], "int")
            return self.binary("+", (value, "int"), (value, "int"))
        left = self.value(e[2])
        right = self.value(e[3])
        return self.binary(e[1], left, right)

    def static_type(self, e: tuple) -> str:
        return self.program.types[e[1]] if e[0] == "var" else "int"

    def binary(self, op: str, left: tuple[int, str], right: tuple[int, str]) -> tuple[int, str]:
        unsigned = "unsigned int" in (left[1], right[1])
        kind = "unsigned int" if unsigned else "int"
        a, b = self.convert(left[0], kind), self.convert(right[0], kind)
        if op in ("<", "<=", ">", ">=", "==", "!="):
            answers = {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b}
            return int(answers.get(op, a != b)), "int"
        if op == "+":
            value = a + b
        elif op == "-":
            value = a - b
        elif op == "*":
            value = a * b
        else:
            quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            return (quotient if op == "/" else a - b * quotient), kind
        low, high = TYPES[kind]
        if self.wrap:
            if not unsigned and not low <= value <= high:
                raise Failed  # undefined behaviour
        elif value > high or (value < low and not unsigned):
            raise OutOfModel
        return self.convert(value, kind), kind


def brute_force(
    program: FuzzProgram, rng: random.Random, runs: int = 300, wrap: bool = False
) -> list[int] | None:
    """Inputs that make the program fail, if any short run does."""
    small = [-2, -1, 0, 1, 2, 3, *([2**31 - 1, -(2**31)] if wrap else [])]
    tries = itertools.chain(
        itertools.product([0, 1, -1], repeat=4),
        ([rng.choice(small) for _ in range(12)] for _ in range(runs)),
    )
    for chosen in tries:
        values = list(chosen)
        used: list[int] = []

        def inputs(values: list[int] = values, used: list[int] = used):
            for value in itertools.chain(values, itertools.repeat(values[0])):
                used.append(value)
                yield value

        try:
            Executor(program, inputs(), wrap=wrap).run()
        except Failed:
            return used
        except (OutOfModel, Stopped):
            continue
    return None


def disagreement(seed: int, *, timeout: float, ints: str = "math") -> tuple[str | None, str]:
    """What is wrong with the verdict on a random program (None: nothing), and the verdict."""
    from doeblin.programs import Outcome, parse_program, verify

    program = Generator(seed).program()
    wrap = ints == "wrap32"
    parsed = parse_program(program.text, file=f"fuzz{seed}.c", ints=ints)  # type: ignore[arg-type]
    verdict = verify(parsed, timeout=timeout, seed=seed)
    if verdict.outcome is Outcome.SAFE:
        failing = brute_force(program, random.Random(seed), wrap=wrap)
        if failing is not None:
            return f"SAFE, but inputs {failing} fail", verdict.outcome.value
    if verdict.outcome is Outcome.UNSAFE:
        try:
            values = iter([value for _, value in verdict.inputs])
            Executor(program, values, limit=1_000_000, wrap=wrap).run()
        except Failed:
            return None, verdict.outcome.value
        except OutOfModel:
            return None, verdict.outcome.value + " (with an overflow)"
        except Stopped:
            return "UNSAFE, but the run stops early", verdict.outcome.value
        return "UNSAFE, but the run does not fail", verdict.outcome.value
    return None, verdict.outcome.value


def main() -> int:
    parser = argparse.ArgumentParser(description="Verify random programs against brute force.")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--timeout", type=float, default=2.0)
    parser.add_argument("--ints", choices=["math", "wrap32"], default="math")
    options = parser.parse_args()
    wrong = 0
    verdicts: dict[str, int] = {}
    for seed in range(options.first, options.first + options.count):
        problem, verdict = disagreement(seed, timeout=options.timeout, ints=options.ints)
        verdicts[verdict] = verdicts.get(verdict, 0) + 1
        if problem:
            wrong += 1
            print(f"seed {seed}: {problem}", flush=True)
    print(f"{options.count} programs: {verdicts}; wrong: {wrong}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
