"""Verdicts on random small C programs, compared with brute force.

`python -m tests.programs.program_fuzz --count 2000` verifies that many: SAFE must survive all short
runs, UNSAFE must fail when its inputs are run by an executor that shares no code with doeblin.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys

from .program_generator import FuzzProgram, Generator

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
    wrap = ints == "overflow"
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
    parser.add_argument("--ints", choices=["c", "math", "overflow"], default="math")
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
