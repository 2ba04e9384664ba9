"""Random programs with pointers and structures, and what gcc says of them.

`python -m tests.programs.fuzz.pointers FIRST LAST` holds so many of them against `verify`; every
verdict that differs is printed, and the exit status is 1. The referee compiles them with sanitizers
for addresses and undefined behaviour, runs them on every input, and checks each use of a pointer by
functions of its own (`pointed.h`), since what merely points beyond an object goes unnoticed. What a
value is in all runs makes an assertion that is as tight as can be, or too tight by one.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from doeblin._errors import InputError
from doeblin.programs import parse_program, verify

from .seeds import by_seeds

HERE = Path(__file__).parent
FLAGS = ["-std=gnu17", "-w", "-O0", "-fno-strict-aliasing", "-fsanitize=address,undefined"]
DRIVER = """
#include "pointed.h"
#include <stdio.h>
#include <stdlib.h>
jmp_buf failed; struct object objects[64]; int object_count, nowhere[4]; long ticks;
int failing, allocations;
static int inputs[2], next; static long long low, high; static int seen;
int unknown(void) { return next < 2 ? inputs[next++] : 0; }
void probe(int number, long long value) {
  if (!seen || value < low) low = value;
  if (!seen || value > high) high = value;
  seen = 1;
}
int main(void) {
  for (int i = 0; i < COUNT; i++) {
    int fails = 0, late = 0; seen = 0; low = high = 0;
    for (int n = LEAST; n <= MOST; n++) for (int x = LEAST; x <= MOST; x++)
    for (failing = 0; failing < WAYS; failing++) {
      inputs[0] = n, inputs[1] = x, next = 0, object_count = 0, ticks = 0, allocations = 0;
      int how = setjmp(failed);
      if (how == 0) programs[i]();
      fails += how == 1, late += how == 2;
    }
    printf("%d %d %d %lld %lld\\n", fails, late, seen, low, high);
  }
}
"""
LEAST, MOST = -1, 3


class Found(NamedTuple):
    """Of all runs: how many fail and how many go on, and the range of the claim in the others."""

    fails: int
    late: int
    seen: int
    low: int
    high: int


class Drawn:
    """A program in the words of `pointed.h` and `plain.h`."""

    ways = 1  # in how many ways allocations may fail

    def __init__(self, seed: int):
        self.seed = seed
        self.rng = rng = random.Random(seed)
        self.kind = rng.choice(("int", "int", "int", "long", "short", "unsigned char"))
        self.structs = seed % 2 == 1
        self.numbers = ["x", "y", "n"]
        self.scalars = ["y", "z"]
        self.arrays: dict[str, str] = {}
        self.pointers: list[str] = []
        self.top = self.helpers()
        lines = ["int n = unknown(); if (n < 1 || n > 3) return 0;"]
        lines.append("int x = unknown(); if (x < -1 || x > 2) return 0;")
        lines.append(f"{self.kind} y = x + 1, z = 4; REG(&y, 1) REG(&z, 1)")
        lines += self.objects()
        lines += [self.pointer(name) for name in ("p", "q", "r")[: rng.choice((1, 2, 2, 3))]]
        lines.append("int i = 0, s = 0;")
        self.numbers += ["s", "z"]
        for _ in range(rng.choice((2, 3, 4, 5))):
            lines.append(self.statement(2))
        self.claim = rng.choice(
            ("s", "s + y", "y - z", *(f"{a}[0] + s" for a in self.arrays), "y + z", *self.fields())
        )
        self.body = "\n  ".join(lines)
        self.tight = rng.random() < 0.5
        self.low = rng.random() < 0.4

    # ---- declarations

    def helpers(self) -> list[str]:
        t, k = self.kind, self.seed
        const = self.rng.choice(("", "const "))
        made = [
            f"static void swap{k}({t} *a, {t} *b) {{ {t} t = D(a); D(a) = D(b); D(b) = t; }}",
            f"static int inc{k}({t} *a) {{ D(a) += 1; return D(a); }}",
            f"static {t} *pick{k}({t} *a, {t} *b, int c) {{ return c ? a : b; }}",
            f"static {t} *later{k}({t} *a) {{ return ADD(a, 1); }}",
            f"static int sum{k}({const}{t} *a, int m) {{ int v = 0;"
            " while (m-- > 0) { TICK v += DPI(a); } return v; }",
            f"static void fill{k}({t} *a, {t} *e, int v) {{"
            " for (; !EQ(a, e); PI(a)) { TICK D(a) = v; } }",
            f"static void copy{k}({t} *d, {const}{t} *o, int m) {{"
            " while (m-- > 0) { TICK DPI(d) = DPI(o); } }",
        ]
        self.rest = f"pick{k} later{k} inc{k} sum{k} fill{k} copy{k} swap{k}".split()
        if self.structs:
            made.insert(0, f"struct s{k} {{ {t} f; int g; struct {{ short u; int w[2]; }} in; }};")
            made += [
                f"static struct s{k} made{k}(int v) {{ struct s{k} m; m.f = v; m.g = v + 1;"
                " m.in.u = v; m.in.w[0] = v; m.in.w[1] = 2; return m; }",
                f"static void set{k}(struct s{k} *a, int v) {{ F(a, g) = v; F(a, in.w[0]) += 1; }}",
                f"static int read{k}(struct s{k} a) {{ a.g += a.in.u; return a.g + a.f; }}",
            ]
        self.outer = self.rng.random() < 0.4
        if self.outer:
            made.append(f"{t} g{k} = 2; {t} *gp{k} = &g{k};")
            made.append(f"static void bump{k}(void) {{ D(gp{k}) += 1; }}")
        return made

    def objects(self) -> list[str]:
        rng, t, k = self.rng, self.kind, self.seed
        self.arrays["a"] = "3"
        found = [f"{t} a[3] = {{1, 2, 3}}; REG(a, 3)"]
        if rng.random() < 0.6:
            self.arrays["b"] = "n"
            found.append(f"{t} b[n]; for (int j = 0; j < n; j++) b[j] = j; REG(b, n)")
        if self.outer:
            found.append(f"g{k} = 2; gp{k} = &g{k}; REG(&g{k}, 1)")
        if self.structs:
            start = rng.choice((" = {1, 2}", " = {.g = 5, .f = x}", " = {3, 4, {5, {6, 7}}}"))
            found.append(f"struct s{k} v{start}, w = v; REG(&v, 1) REG(&w, 1)")
            found.append(f"struct s{k} c[2] = {{{{1}}, {{.g = 3}}}}; REG(c, 2)")
            aim = rng.choice(("&v", "&w", "c", "&c[1]", "0", "x > 0 ? &v : &w"))
            found.append(f"struct s{k} *o = {aim};")
            if t == "int" and rng.random() < 0.5:
                self.scalars.append("v.g")
                found.append("REG(&v.g, 1)")
        return found

    def pointer(self, name: str) -> str:
        first = self.rng.random()
        start = " UNSET" if first < 0.06 else " = 0" if first < 0.1 else f" = {self.address(0)}"
        self.pointers.append(name)
        return f"{self.kind} *{name}{start};"

    # ---- expressions

    def address(self, depth: int) -> str:
        rng, k = self.rng, self.seed
        pick = rng.random()
        if pick < 0.25:
            return f"&{rng.choice(self.scalars)}"
        if pick < 0.5:
            return rng.choice(list(self.arrays))
        if pick < 0.62:
            return f"AD({rng.choice(list(self.arrays))}, {rng.choice(('0', '0', '1', 'x > 0'))})"
        if pick < 0.75 and self.pointers:
            return rng.choice(self.pointers)
        if pick < 0.85 and depth:
            return f"ADD({self.address(depth - 1)}, {rng.choice(('1', '-1', '0', '0', 'x > 0'))})"
        if pick < 0.92:
            return f"(x > 0 ? {self.address(0)} : {self.address(0)})"
        if depth and pick < 0.96:
            return f"pick{k}({self.address(0)}, {self.address(0)}, x)"
        return f"later{k}({rng.choice(list(self.arrays))})" if depth else "&y"

    def target(self) -> str:
        rng = self.rng
        if self.structs and rng.random() < 0.45:
            return rng.choice(self.fields())
        if not self.pointers:
            return "y"
        p = rng.choice(self.pointers)
        k = rng.choice(("0", "0", "0", "1", "-1", "x > 0"))
        return rng.choice((f"D({p})", f"D({p})", f"IX({p}, {k})", f"DX({p}, {k})", "y"))

    def fields(self) -> list[str]:
        if not self.structs:
            return []
        return [
            "v.f", "v.g", "w.g", "v.in.u", "w.in.w[1]", "c[0].g", "c[1].f", "c[x > 0].g",
            "v.in.w[x > 0]", "F(o, g)", "F(o, f)", "F(o, in.w[0])", "c[1].in.w[0]",
        ]  # fmt: skip

    def value(self) -> str:
        rng = self.rng
        left = rng.choice((self.target(), rng.choice(self.numbers), str(rng.randint(-2, 4))))
        if rng.random() < 0.5:
            return left
        return f"{left} {rng.choice('+-')} {rng.choice((self.target(), *self.numbers))}"

    # ---- statements

    def statement(self, depth: int) -> str:
        rng = self.rng
        pick = rng.random()
        p, q = (rng.choice(self.pointers) for _ in range(2))
        if pick < 0.12 and depth:
            test = rng.choice((f"OK({p})", f"!OK({p})", f"EQ({p}, {q})", "x > 0", "n == 1"))
            return f"if ({test}) {{ {self.statement(depth - 1)} }}"
        if pick < 0.27 and depth:
            name, size = rng.choice(list(self.arrays.items()))
            end = rng.choice((size,) * 5 + ("n",))
            loops = (
                f"for ({p} = {name}; LT({p}, ADD({name}, {end})); PI({p}))",
                f"for (i = 0; i < {end}; i++)",
                f"for ({p} = {name}, i = 0; i < {end}; i++, PI({p}))",
            )
            return f"{rng.choice(loops)} {{ TICK {self.statement(depth - 1)} }}"
        if pick < 0.42:
            return f"{p} = {self.address(1)};"
        if pick < 0.5:
            if rng.random() < 0.6:
                name, size = rng.choice(list(self.arrays.items()))
                return f"{p} = {name}; if ({size} > 1) {{ PI({p}); s += D({p}); }}"
            return f"{rng.choice((f'PI({p})', f'PD({p})', f'MV({p}, x)', f'MV({p}, 1)'))};"
        if pick < 0.58:
            moves = (f"DPI({p}) = {self.value()}", f"s += DPI({p})", f"s = DMD({p})")
            return f"{rng.choice(moves)};"
        if pick < 0.63:
            other = rng.choice(list(self.arrays))
            return rng.choice(
                (
                    f"{p} = {other}; {q} = ADD({p}, 1); s = DF({q}, {p});",
                    f"s += DF({p}, {other});",
                    f"DPI({p}) = DPI({q});",
                )
            )
        if pick < 0.76:
            return self.call(p, q)
        if self.structs and pick < 0.86:
            return self.whole()
        op = rng.choice(("=", "=", "+=", "-="))
        if rng.random() < 0.15:
            return f"({self.target()}){rng.choice(('++', '--'))};"
        return f"{rng.choice((self.target(), 's', 's'))} {op} {self.value()};"

    def call(self, p: str, q: str) -> str:
        rng, k = self.rng, self.seed
        name, size = rng.choice(list(self.arrays.items()))
        if self.outer and rng.random() < 0.3:
            return rng.choice((f"bump{k}();", f"gp{k} = &g{k};", f"s += g{k};", f"{p} = gp{k};"))
        return rng.choice((
            f"swap{k}({p}, {q});", f"swap{k}(&y, &z);", f"s += inc{k}(&y) + inc{k}(&z);",
            f"s += inc{k}({p});", f"s += sum{k}({name}, {size});", f"s += sum{k}({p}, 1);",
            f"fill{k}({name}, ADD({name}, {size}), x);", f"copy{k}(a, {name}, {size});",
            f"D(pick{k}(&y, {p}, x > 0)) = 3;",
        ))  # fmt: skip

    def whole(self) -> str:
        """Structures as values."""
        k = self.seed
        return self.rng.choice((
            "v = w;", "w = v;", "c[0] = v;", "v = c[x > 0];", f"v = made{k}(x);", "c[1] = c[0];",
            f"set{k}(&v, x);", f"set{k}(o, 2);", f"s += read{k}(v);", f"s += read{k}(c[1]);",
            "o = &w;", "D(o) = v;", "w = D(o);", "o = c; PI(o);", "MV(o, x);",
            f"s += made{k}(3).g;", f"{{ struct s{k} t = D(o); t.g++; v = t; }}", "v.f = v.g = 2;",
        ))  # fmt: skip

    # ---- texts

    def text(self, claim: str, header: str) -> str:
        main = f"int main{self.seed}() {{\n  {self.body}\n  {claim}\n  return 0;\n}}"
        if header == "plain.h":
            words = (HERE / header).read_text()
            return words + "\n".join([*self.top, main.replace(f"main{self.seed}", "main")])
        return f'#include "{header}"\n' + "\n".join([*self.top, main])


def truths(drawn: list[Drawn], folder: Path) -> list[Found]:
    """What all runs of each program do."""
    for name in ("pointed.h",):
        shutil.copy(HERE / name, folder / name)
    parts = [d.text(f"probe(0, {d.claim});", "pointed.h") for d in drawn]
    heads = "".join(f"int main{d.seed}();\n" for d in drawn)
    table = ", ".join(f"main{d.seed}" for d in drawn)
    head = f"#define COUNT {len(drawn)}\n#define LEAST {LEAST}\n#define MOST {MOST}\n"
    head += f"#define WAYS {drawn[0].ways}\n"
    (folder / "driver.c").write_text(f"{heads}int (*programs[])() = {{{table}}};\n{head}{DRIVER}")
    (folder / "all.c").write_text("\n".join(parts))
    for source in ("driver.c", "all.c"):
        command = ["gcc", *FLAGS, "-fno-sanitize-recover=all", "-c", source]
        subprocess.run(command, cwd=folder, check=True)
    subprocess.run(["gcc", *FLAGS, "driver.o", "all.o", "-o", "all"], cwd=folder, check=True)
    leaking = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run([folder / "all"], capture_output=True, text=True, env=leaking)
    if done.returncode:
        raise RuntimeError(f"the sanitizers saw what the checks overlooked:\n{done.stderr}")
    return [Found(*map(int, line.split())) for line in done.stdout.splitlines()]


def disagreements(
    seeds: Iterable[int], timeout: float = 2.0, draw: Callable[[int], Drawn] = Drawn
) -> tuple[list[str], Counter]:
    """Programs on which `verify` and gcc differ, and how many verdicts there were of each kind."""
    wrong: list[str] = []
    counts: Counter = Counter()
    drawn = [draw(seed) for seed in seeds]
    with tempfile.TemporaryDirectory() as folder:
        known = truths(drawn, Path(folder))
    for d, found in zip(drawn, known, strict=True):
        if found.late:
            counts["never ends"] += 1
            continue
        end, side = (found.low, ">=") if d.low else (found.high, "<=")
        end += 0 if d.tight else (1 if d.low else -1)
        fails = found.fails > 0 or (bool(found.seen) and not d.tight)
        text = d.text(f"assert({d.claim} {side} {end});", "plain.h")
        counts["fails" if fails else "holds"] += 1
        problem = None
        try:
            program = parse_program(text, file=f"{d.seed}.c")
            verdict = verify(program, timeout=timeout, seed=d.seed)
            counts[verdict.outcome.value] += 1
            if verdict.outcome.value == "UNKNOWN":
                why = re.sub(r"\d+|'[^']*'", "_", verdict.reason.partition(" at ")[0])
                counts[why[:60]] += 1
            elif verdict.outcome.value != ("UNSAFE" if fails else "SAFE"):
                problem = f"{verdict.outcome.value}, but {found}: {verdict.reason} {verdict.inputs}"
        except InputError as error:
            problem = f"legal, but refused: {error}"
        except Exception as error:  # a crash is a finding like any other
            problem = f"crash: {error!r}"
        if problem:
            wrong.append(f"// seed {d.seed}: {problem}\n{text}")
    return wrong, counts


if __name__ == "__main__":
    by_seeds(disagreements)
