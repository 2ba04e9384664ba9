"""Annotated sources: where the annotations stand, and that Frama-C proves them."""

from __future__ import annotations

import itertools
import random
import re
import shutil
import subprocess

import pytest
from pycparser import CParser, c_ast

from doeblin.programs import Outcome, parse_program, verify
from doeblin.programs.examples import PAPER, example
from doeblin.programs.output import acsl


def has_frama_c() -> bool:
    """Is there a Frama-C whose Why3 knows Z3 (after `why3 config detect`)?"""
    if not (shutil.which("frama-c") and shutil.which("why3")):
        return False
    known = subprocess.run(["why3", "config", "list-provers"], capture_output=True, text=True)
    return "Z3" in known.stdout


ASSUMING = """extern int unknown(void); extern void assume(int c);
int main() { int n = unknown(), i = 0;
  assume(n > 0); /* assume( */ if (n < 5) assume(n != 3);
  while (i < n) i++;
  assert(
     i == (n));
  if (i < 4) { assert(i > 0); assert(n != 3); } else assert(i++ > 3);
}
"""

FAILING = """extern void reach_error(void);
void __VERIFIER_assert(int cond) { if (!cond) { ERROR: reach_error(); } }
int main() { int x = 0;
  while (x < 10) { x++; if (x > 10) goto ERROR; }
  __VERIFIER_assert(x == 10);
  if (x != 10) reach_error();
  return 0;
  ERROR: return 1;
}
"""


def annotated(text: str) -> str:
    program = parse_program(text, file="p.c")
    verdict = verify(program, timeout=30)
    assert verdict.outcome is Outcome.SAFE
    return acsl(program, verdict)


def test_assertions_and_assumptions_are_annotated_where_a_statement_begins():
    text = annotated(ASSUMING)
    found = re.findall(r"/\*@ (admit|assert) (.*?); \*/\s*(\w+)", text)
    assert found == [
        ("admit", "n > 0", "assume"),
        ("admit", "n != 3", "assume"),
        ("assert", "i == n", "assert"),
        ("assert", "i > 0", "assert"),
        ("assert", "n != 3", "assert"),  # and none with a side effect
    ]
    head, _, rest = text.partition("*/")
    assert "the assertion at p.c:7:54: it has a side effect" in head
    assert re.sub(r"/\*@.*?\*/\s*", "", rest).split() == ASSUMING.split()


def test_what_must_not_be_reached_is_annotated():
    text = annotated(FAILING)
    found = re.findall(r"(.*)/\*@ assert (.*?); \*/\s*(\w+)", text)
    assert [(before.strip(), claim, word) for before, claim, word in found] == [
        ("", "x == 10", "__VERIFIER_assert"),
        ("if (x != 10)", "\\false", "reach_error"),
        ("ERROR:", "\\false", "return"),
    ]


# Each with the number of its claims that have no ACSL here: C's numbers are not mathematical.
NASTY = {
    "wraps": (
        "unsigned u = nondet_uint(), i = 0; assume(u + 1 > u); while (i < u) i++;"
        " assert(i - u == 0); assert(u - u - 1 > 0); assert(u != 4294967295u); assert(-u <= -1u);",
        0,
    ),
    "converts": (
        "short s = -1; unsigned short us = s; assert(s != us); assert(s < 0u == 0);"
        " assert(!(-1 < 1u)); assert(-1L < 1u); assert((1 ? -1 : 0u) > 0); assert(us + 1 == 65536);"
        " assert(-7 / 2u == 2147483644u); assert((unsigned char)(us + 2) == 1); assert((_Bool)us);",
        0,
    ),
    "wide": (
        "unsigned long a = nondet_ulong(), b = a + 1; assert(b > a || b == 0);"
        " assert((a - b) == -1ul); assert((unsigned)a <= a);",
        0,
    ),
    "bits": ("unsigned n = nondet_uint(), m = n & 7; assert(m == (n & 7)); assert(m < 8);", 1),
    "sizes": ("char c = 1; assert(sizeof(c) == 1); assert((sizeof 1) - 5 > 0); assert(c < 2);", 2),
    "names": ("enum { X = 1 } e = X; assert(X - 2 < 0); assert(e - 2 > 0);", 1),
    "shadows": ("unsigned u = 3; { int u = -1; assert(u < 1); } assert(u - 4 > 0);", 0),
    "hidden": ("unsigned u = 1; { enum { u = -1 }; assert(u - u >= 0u); assert(u + 1u == 0); }", 1),
    "own": ("unsigned u = nondet_uint(); my_assert(u - u < 1); my_assert(u - u - 1 > u - u);", 0),
    "sleeping": ("int c = nondet_uint() % 2; lazy_assert(c); lazy_assert(c - 1);", 2),
    "counting": ("counting_assert(g == 0); counting_assert(g == 1);", 2),
    "macro": ("unsigned u = 7; if (nondet_uint()) u = 0; WHEN(u, u / 7 == 1); NEVER(u == 3);", 2),
    "narrow": ("long l = 4294967297; __VERIFIER_assert(l); __VERIFIER_assert(l - 1 > 0);", 1),
}
NASTY_HEAD = """extern unsigned nondet_uint(void); extern unsigned long nondet_ulong(void);
extern void assume(int), reach_error(void); static int quiet = 1, g = 0;
void my_assert(int cond) { if (!cond) { reach_error(); } }
void lazy_assert(int c) { if (!quiet) { if (!c) reach_error(); } }
void counting_assert(int c) { g++; if (g > 2) reach_error(); }
#define WHEN(c, p) if (c) assert(p)
#define NEVER(c) if (c) reach_error()
int main() { """


@pytest.mark.parametrize("name", NASTY)
def test_what_is_written_is_true_and_read_again(name):
    """The reader of annotations takes numbers as ACSL does: a false one would be UNSAFE."""
    body, left = NASTY[name]
    text = annotated(f"{NASTY_HEAD}{body} }}")
    head = text.partition("*/")[0]
    assert head.count("\n   - ") == left, head
    again = parse_program(text, file="p.c")
    verdict = verify(again, timeout=30)
    assert verdict.outcome is Outcome.SAFE, (verdict.reason, text)
    claims = len(re.findall(r"\b(?:\w*assert|WHEN|NEVER)\(", body))
    written = len(re.findall(r"/\*@ assert", text))
    assert written == claims - left, text


TYPES = {
    "c": ("signed char", (-128, -1, 0, 5)),
    "h": ("unsigned short", (0, 7, 65535)),
    "i": ("int", (-7, -1, 0, 3)),
    "u": ("unsigned int", (0, 1, 6, 2**31, 2**32 - 1)),
    "l": ("long", (-(2**32) - 1, -1, 2, 2**33)),
    "w": ("unsigned long", (0, 5, 2**63, 2**64 - 1)),
    "b": ("_Bool", (0, 1)),
}


def expression(rng, depth):
    if depth == 0:
        return rng.choice([*TYPES, *TYPES, "1", "3u", "-1", "2ul", "0xffu", "'a'", "-2L"])
    kind = rng.choice("++--*/%~n(<<&|?!")
    left, right = expression(rng, depth - 1), expression(rng, rng.randrange(depth))
    if kind in "+-*":
        return f"({left} {kind} {right})"
    if kind in "/%":
        return f"({left} {kind} {rng.choice(['3', '7u', '-2', '5ul'])})"
    if kind in "~!n":
        return f"{'-' if kind == 'n' else kind}({left})"
    if kind == "(":
        return f"({rng.choice([name for name, _ in TYPES.values()])})({left})"
    if kind == "?":
        return f"({left} ? {right} : {expression(rng, 0)})"
    return f"({left} {rng.choice(['<', '<=', '==', '!=', '>', '>=', '&&', '||'])} {right})"


def value(node, of):
    """A formula in mathematical integers, by hand; casts are what ACSL says of them."""
    match node:
        case c_ast.ID():
            return of[node.name]
        case c_ast.Constant():
            digits = node.value.rstrip("uUlL")
            return ord(digits[1]) if digits[0] == "'" else int(digits, 0)
        case c_ast.Cast():
            words = node.to_type.type.type.names
            assert words != ["_Bool"]
            size = {"char": 8, "short": 16, "long": 64}.get(words[-1], 32)
            low = 0 if "unsigned" in words else -(2 ** (size - 1))
            return (value(node.expr, of) - low) % 2**size + low
        case c_ast.UnaryOp():
            inner = value(node.expr, of)
            return {"-": -inner, "~": -1 - inner, "!": not inner, "+": inner}[node.op]
        case c_ast.TernaryOp():
            return value(node.iftrue if value(node.cond, of) else node.iffalse, of)
    a, b = value(node.left, of), value(node.right, of)
    if node.op in "/%":
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return quotient if node.op == "/" else a - b * quotient
    return {
        "+": a + b, "-": a - b, "*": a * b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b,
        "==": a == b, "!=": a != b, "&&": bool(a and b), "||": bool(a or b),
    }[node.op]  # fmt: skip


@pytest.mark.skipif(shutil.which("cc") is None, reason="asks a compiler what the conditions are")
def test_formulas_say_in_mathematical_numbers_what_the_compiler_says(tmp_path):
    rng = random.Random(5)
    wanted = [expression(rng, 2) for _ in range(120)]
    declared = " ".join(f"{kind} {name} = nondet_{name}();" for name, (kind, _) in TYPES.items())
    heads = " ".join(f"extern {kind} nondet_{name}(void);" for name, (kind, _) in TYPES.items())
    assumed = "\n".join(f"assume({condition});" for condition in wanted)
    text = annotated(
        f"{heads} extern void assume();\nint main() {{ {declared}\n{assumed}\nassert(b < 2);}}"
    )
    rows = text.partition("*/")[2].splitlines()
    pairs = [
        (row[len("/*@ admit ") : -len("; */")], after[len("assume(") : -len(");")])
        for row, after in itertools.pairwise(rows)
        if row.startswith("/*@ admit")
    ]
    assert len(pairs) > 100
    grid = [tuple(rng.choice(values) for _, values in TYPES.values()) for _ in range(200)]
    parameters = ", ".join(f"{kind} {name}" for name, (kind, _) in TYPES.items())
    answers = " ".join(f"putchar('0' + !!({condition}));" for _, condition in pairs)
    calls = " ".join(f"f({', '.join(f'{v}ULL' for v in row)});" for row in grid)
    source = tmp_path / "r.c"
    source.write_text(
        f"#include <stdio.h>\nvoid f({parameters}) {{ {answers} putchar(10); }}\n"
        f"int main(void) {{ {calls} return 0; }}\n"
    )
    flags = ["-w", "-std=gnu11", "-fwrapv", "-fsigned-char", "-fno-strict-overflow"]
    subprocess.run(["cc", *flags, "-o", tmp_path / "r", source], check=True)
    said = subprocess.run([tmp_path / "r"], capture_output=True, text=True, check=True).stdout
    for number, (formula, condition) in enumerate(pairs):
        tree = CParser().parse(f"int t = ({formula});").ext[0].init
        for row, line in zip(grid, said.split(), strict=True):
            of = dict(zip(TYPES, row, strict=True))
            assert bool(value(tree, of)) == (line[number] == "1"), (condition, formula, of)


@pytest.mark.skipif(not has_frama_c(), reason="proves our annotations with Frama-C where it is")
@pytest.mark.parametrize(
    "text", [*map(example, PAPER), ASSUMING.replace("i++ > 3", "i > 3"), FAILING]
)
def test_frama_c_proves_the_annotations(tmp_path, text):
    (tmp_path / "p.c").write_text(annotated(text))
    command = ["frama-c", "-wp", "-wp-prover", "z3", "-wp-timeout", "30", tmp_path / "p.c"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    proved = re.search(r"Proved goals:\s+(\d+) / (\d+)", run.stdout)
    assert proved is not None, run.stdout
    assert int(proved[2]) >= 4 and proved[1] == proved[2], run.stdout
