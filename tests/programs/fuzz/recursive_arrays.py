"""Random recursive functions that read and write arrays, and what the compiled program does.

`python -m tests.programs.fuzz.recursive_arrays FIRST LAST` holds so many of them against `verify`;
every verdict that differs is printed, and the exit status is 1. In the referee's text every index
is held against the length; verify's has none of that.
"""

from __future__ import annotations

import random
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

from doeblin.programs import Outcome, parse_program, verify

from .seeds import by_seeds

DEPTHS, STARTS = range(4), range(-1, 3)
FLAGS = ["-std=gnu11", "-O1", "-w", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
HEAD = """#include <stdio.h>
#include <unistd.h>
#include <sys/wait.h>
/* Looking for leaks at the end of each process takes most of the time. */
const char *__asan_default_options(void) { return "detect_leaks=0"; }
static int ck(int i, int n) { if (i < 0 || i >= n) _exit(1); return i; }
"""


class Drawn:
    """One or two functions over two arrays, which are given or global, and a main."""

    def __init__(self, seed: int):
        self.rng = rng = random.Random(seed)
        self.seed = seed
        self.length = rng.choice((3, 4))
        self.given = rng.random() < 0.7
        self.names = [f"f{seed}_{i}" for i in range(rng.choice((1, 1, 2)))]
        self.arrays = (f"a{seed}", f"b{seed}")
        self.own = ("p", "q") if self.given else self.arrays
        declared = "int *p, int *q, " if self.given else ""
        heads = [f"int {name}({declared}int n, int x)" for name in self.names]
        parts = [f"static int {one}[{self.length}];" for one in self.arrays]
        parts += [f"{head};" for head in heads]
        self.text = "\n".join([*parts, *map(self.function, heads)])
        self.observed = rng.choice(("r", "r", self.cell(self.arrays[0], "c"), "s"))

    def cell(self, one: str, index: str, length: int | None = None) -> str:
        return f"{one}[\x01{index}\x02{length or self.length}\x03]"

    def index(self) -> str:
        return self.rng.choice(("n - 1",) * 14 + ("n", "n - 2", "0", "0", "1"))

    def value(self, known: list[str]) -> str:
        rng = self.rng
        first, second = rng.choice(known), rng.choice((*known, str(rng.randint(-2, 3))))
        shapes = ("{0}", "{0} + 1", "{0} - {1}", "{1}", "({0} < {1} ? {0} : {1})", "{0} > {1}")
        return rng.choice(shapes).format(first, second)

    def cells(self) -> list[str]:
        return [self.cell(self.rng.choice(self.own), self.index()) for _ in range(2)]

    def effect(self, known: list[str]) -> str:
        rng, one = self.rng, self.rng.choice(self.own)
        mine = self.cell(one, self.index())
        value = self.value([*known, *self.cells()])
        loop = f"for (int j = 0; j < {rng.choice((self.length, 2))}; j++) {self.cell(one, 'j')}"
        return rng.choice(
            (
                f"{mine} = {value};",
                f"{mine} = {value};",
                f"{mine} += {value};",
                f"if ({self.value(known)} > 0) {mine} = {value};",
                f"{loop} = x;",
                f"{loop}++;",
            )
        )

    def function(self, head: str) -> str:
        rng, known = self.rng, ["n", "x"]
        lines = [head + " {"]
        if rng.random() < 0.2:
            lines += ["  int t[2];", f"  {self.cell('t', '0', 2)} = n;"]
            lines.append(f"  for (int j = 1; j < 2; j++) {self.cell('t', 'j', 2)} = x;")
            known.append(self.cell("t", "x > 0", 2))
        lines.append(f"  if (n <= 0) return {self.value(['n', 'x', self.cell(self.own[0], '0')])};")
        if rng.random() < 0.6:
            lines.append(f"  {self.effect(known)}")
        given = "p, q, " if self.given else ""
        if self.given:
            given = rng.choice((given, given, given, "q, p, ", "p, p, "))
        call = f"{rng.choice(self.names)}({given}n - {rng.choice('1112')}, {self.value(known)})"
        if rng.random() < 0.3:
            sides = [call, rng.choice(self.cells())]
            rng.shuffle(sides)
            return "\n".join([*lines, f"  return {' + '.join(sides)};", "}"])
        lines.append(f"  int y = {call};")
        known.append("y")
        if rng.random() < 0.5:
            lines.append(f"  {self.effect(known)}")
        return "\n".join([*lines, f"  return {self.value([*known, *self.cells()])};", "}"])

    def body(self) -> str:
        """What is asked of the functions: some value `o`."""
        one, two = self.arrays
        given = f"{one}, {two}, " if self.given else ""
        return (
            f"for (int j = 0; j < {self.length}; j++) {{ {self.cell(one, 'j')} = j + b;"
            f" {self.cell(two, 'j')} = {self.rng.randint(-1, 2)}; }}\n"
            f"  int r = {self.names[0]}({given}k, b);\n"
            f"  int s = 0, c = 1; for (int j = 0; j < {self.length}; j++)"
            f" s += {self.cell(two, 'j')};\n  int o = {self.observed};"
        )


def for_verify(text: str) -> str:
    while "\x01" in text:
        start = text.rindex("\x01")
        middle, end = text.index("\x02", start), text.index("\x03", start)
        text = f"{text[:start]}{text[start + 1 : middle]}{text[end + 1 :]}"
    return text


def for_referee(text: str) -> str:
    return text.replace("\x01", "ck(").replace("\x02", ", ").replace("\x03", ")")


def results(drawn: list[tuple[Drawn, str]]) -> list[list[tuple[int, int, int | None]]]:
    """k, b and what is observed then; None where an index is out of bounds."""
    lines = [HEAD, *(for_referee(one.text) for one, _ in drawn), "int main() {"]
    for one, body in drawn:
        lines.append(
            f"  for (int k = {DEPTHS[0]}; k <= {DEPTHS[-1]}; k++)"
            f" for (int b = {STARTS[0]}; b <= {STARTS[-1]}; b++) {{ int e;"
            f' if (fork()) {{ wait(&e); if (e) printf("{one.seed} %d %d -\\n", k, b);'
            f" fflush(stdout); continue; }} {for_referee(body)}"
            f' printf("{one.seed} %d %d %d\\n", k, b, o); fflush(stdout); _exit(0); }}'
        )
    with tempfile.TemporaryDirectory() as folder:
        source, binary = Path(folder, "all.c"), Path(folder, "all")
        source.write_text("\n".join([*lines, "}"]))
        subprocess.run(["gcc", *FLAGS, "-o", binary, source], check=True)
        said = subprocess.run([binary], capture_output=True, text=True, check=True)
    assert "runtime error" not in said.stderr and "Sanitizer" not in said.stderr, said.stderr
    found: dict[int, list[tuple[int, int, int | None]]] = {}
    for line in said.stdout.splitlines():
        seed, k, b, o = line.split()
        found.setdefault(int(seed), []).append((int(k), int(b), None if o == "-" else int(o)))
    return [found[one.seed] for one, _ in drawn]


def claim(rows: list[tuple[int, int, int | None]], rng: random.Random) -> tuple[str, bool]:
    """An assertion, and whether the program cannot fail with it."""
    values = [o for _, _, o in rows if o is not None]
    inside = len(values) == len(rows)
    if not values:
        return "1", False
    top, low = max(values), min(values)
    return rng.choice(
        (
            (f"o <= {top}", inside),
            (f"o >= {low}", inside),
            (f"o < {top}", False),
            (f"o != {rng.choice(values)}", False),
            (f"o != {top + 1}", inside),
        )
    )


def disagreements(seeds: range, timeout: float = 3.0) -> tuple[list[str], Counter]:
    """Programs on which `verify` and gcc differ, and how many verdicts there were of each kind."""
    wrong: list[str] = []
    counts: Counter = Counter()
    drawn = [(one, one.body()) for one in map(Drawn, seeds)]
    for (one, body), rows in zip(drawn, results(drawn), strict=True):
        condition, holds = claim(rows, one.rng)
        text = for_verify(f"""{one.text}
int main() {{
  int k = unknown(), b = unknown();
  if (k < {DEPTHS[0]} || k > {DEPTHS[-1]} || b < {STARTS[0]} || b > {STARTS[-1]}) return 0;
  {body}
  assert({condition});
}}""")
        program = parse_program(text, file=f"{one.seed}.c")
        if program.unsupported is not None:
            counts["refused"] += 1
            continue
        verdict = verify(program, timeout=timeout)
        counts[verdict.outcome.value] += 1
        if verdict.outcome is (Outcome.UNSAFE if holds else Outcome.SAFE):
            wrong.append(f"// {verdict.outcome.value}, but gcc differs\n{text}")
    return wrong, counts


if __name__ == "__main__":
    by_seeds(disagreements)
