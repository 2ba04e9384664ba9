"""Invariants as C expressions: gcc finds them true where exact arithmetic does."""

import random
import shutil
import subprocess

import pytest

from doeblin.programs.system.terms import (
    TooLargeError,
    add,
    c_text,
    compare,
    conj,
    const,
    disj,
    divide,
    mul,
    negate,
    var,
)

TYPES = {
    "c": ("signed char", -128, 127),
    "k": ("unsigned char", 0, 255),
    "i": ("int", -(2**31), 2**31 - 1),
    "u": ("unsigned int", 0, 2**32 - 1),
    "l": ("long", -(2**63), 2**63 - 1),
    "n": ("unsigned long", 0, 2**64 - 1),
}
EDGES = [0, 1, -1, 5, -5, 127, 2**31 - 1, -(2**31), 2**32 - 1, 2**63 - 1, -(2**63), 2**64 - 1]


class Drawn:
    """A random term and, written apart, its value."""

    def __init__(self, seed):
        self.rng = random.Random(seed)

    def number(self, depth):
        rng = self.rng
        kind = rng.choice(["const", "var", "var"] + ["add", "scale", "mod", "div"] * (depth > 0))
        if kind == "const":
            value = rng.choice(EDGES)
            return const(value), lambda _: value
        if kind == "var":
            name = rng.choice(list(TYPES))
            return var(name), lambda at: at[name]
        one, f = self.number(depth - 1)
        if kind == "add":
            other, g = self.number(depth - 1)
            return add(one, other), lambda at: f(at) + g(at)
        by = rng.choice([2, 3, 7] if kind != "scale" else [-3, -1, 2, 5])
        if kind == "scale":
            return mul(const(by), one), lambda at: by * f(at)
        if kind == "mod":
            return divide("mod", one, const(by)), lambda at: f(at) % by
        return divide("div", one, const(by)), lambda at: f(at) // by

    def truth(self, depth):
        rng = self.rng
        if depth and rng.random() < 0.5:
            (one, f), (other, g) = self.truth(depth - 1), self.truth(depth - 1)
            if rng.random() < 0.3:
                return negate(one), lambda at: not f(at)
            if rng.random() < 0.5:
                return conj([one, other]), lambda at: f(at) and g(at)
            return disj([one, other]), lambda at: f(at) or g(at)
        (one, f), (other, g) = self.number(2), self.number(2)
        op = rng.choice(["<=", "<", "="])
        tests = {"<=": int.__le__, "<": int.__lt__, "=": int.__eq__}
        return compare(op, one, other), lambda at: tests[op](f(at), g(at))


def places(rng):
    """Values at the edges of the variables' types."""
    at = {}
    for name, (_, low, high) in TYPES.items():
        fitting = [edge for edge in (*EDGES, low, high) if low <= edge <= high]
        at[name] = rng.choice(fitting)
    return at


def literal(value):
    if value == -(2**63):
        return "(-9223372036854775807L - 1)"
    return f"{value}UL" if value >= 2**63 else f"{value}L"


@pytest.mark.skipif(not shutil.which("gcc"), reason="the referee is gcc")
def test_gcc_finds_the_same_truth(tmp_path):
    rng = random.Random(0)
    functions, calls, wanted = [], [], []
    parameters = ", ".join(f"{kind} {name}" for name, (kind, _, _) in TYPES.items())
    for seed in range(300):
        term, truth = Drawn(seed).truth(2)
        try:
            text = c_text(term, ranges=lambda name: TYPES[name][1:])
        except TooLargeError:
            continue
        functions.append(f"static int f{seed}({parameters}) {{ return {text}; }}")
        for at in [places(rng) for _ in range(12)]:
            given = ", ".join(literal(value) for value in at.values())
            calls.append(f"  putchar('0' + !!f{seed}({given}));")
            wanted.append("1" if truth(at) else "0")
    assert len(wanted) > 3000 and 0.1 < wanted.count("1") / len(wanted) < 0.9
    body = ["#include <stdio.h>", *functions, "int main(void) {", *calls, "}"]
    (tmp_path / "t.c").write_text("\n".join(body) + "\n")
    command = ["gcc", "-w", "-O0", "-fsigned-char", "-fsanitize=undefined", "t.c", "-o", "t"]
    subprocess.run(command, cwd=tmp_path, check=True)
    said = subprocess.run([tmp_path / "t"], capture_output=True, text=True, check=True)
    assert not said.stderr  # nothing undefined on the way
    assert said.stdout == "".join(wanted)
