"""Random recursive functions, what gcc says that they return, and assertions made of it.

`python -m tests.programs.fuzz.recursion FIRST LAST` holds so many of them against `verify`; every
verdict that differs is printed, and the exit status is 1.
"""

from __future__ import annotations

import random
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

from doeblin.programs import Outcome, parse_program, verify

from .seeds import by_seeds

TYPES = ("int", "int", "unsigned", "unsigned char", "signed char", "short")
DEPTHS, STARTS = range(4), range(-2, 3)
FLAGS = ["-std=gnu11", "-O1", "-fsigned-char", "-w"]


class Functions:
    """One to three functions that call themselves or each other; the first is to be called."""

    def __init__(self, seed: int):
        self.rng = random.Random(seed)
        self.seed = seed
        self.names = [f"f{seed}_{i}" for i in range(self.rng.choice((1, 1, 2, 3)))]
        self.kinds = [(self.rng.choice(TYPES), self.rng.choice(TYPES)) for _ in self.names]
        self.counter = f"g{seed}"
        self.helper = f"h{seed}"
        self.early, self.twice = (self.rng.random() < 0.4 for _ in range(2))
        start = self.rng.randint(0, 2)
        parts = [
            f"int {self.counter};",
            f"static int {self.helper}(void) {{ static int t = {start}; return t++; }}",
        ]
        parts += [
            f"{r} {n}(int n, {p} a);" for n, (r, p) in zip(self.names, self.kinds, strict=True)
        ]
        parts += [self.function(number) for number in range(len(self.names))]
        self.text = "\n".join(parts)

    def function(self, number: int) -> str:
        rng = self.rng
        result, parameter = self.kinds[number]
        lines = [f"{result} {self.names[number]}(int n, {parameter} a) {{"]
        known = ["n", "a", self.counter]
        if rng.random() < 0.4:
            lines.append(f"  static {rng.choice(TYPES)} s{rng.choice(('', ' = 1', ' = 3'))};")
            known.append("s")
        if rng.random() < 0.5:
            lines.append(f"  if (n <= 0) return {self.value(known)};")
        else:
            lines.append(f"  if (n <= 0) {{ {self.effect(known)} return {self.value(known)}; }}")
        if rng.random() < 0.5:
            lines.append(f"  {self.effect(known)}")
        if rng.random() < 0.3:
            lines.append(f"  a = {self.value(known)};")
        if rng.random() < 0.3:
            lines.append("  int i; for (i = 0; i < 2; i++) a += i;")
        for call in range(rng.choice((1, 1, 2))):
            callee = rng.choice(self.names)
            made = f"{callee}({'n - 1' if rng.random() < 0.8 else 'n - 2'}, {self.value(known)})"
            lines.append(f"  int x{call} = 0;")
            if rng.random() < 0.3:
                lines.append(f"  if ({self.test(known)})")
            lines.append(f"  x{call} = {made};")
            known.append(f"x{call}")
        if rng.random() < 0.3:
            lines.append(f"  if ({self.test(known)}) return {self.value(known)};")
        return "\n".join([*lines, f"  return {self.value(known)};", "}"])

    def effect(self, known: list[str]) -> str:
        target = self.rng.choice([name for name in known if name not in "na"])
        changes = ("+= 1", "+= n", "= a", "-= 2", "= 3", f"+= {self.helper}()")
        return f"{target} {self.rng.choice(changes)};"

    def first(self) -> str:
        """What happens before anything else."""
        return f"int e = {self.names[0]}(1, 1);" if self.early else ""

    def calls(self) -> str:
        """What is asked of the functions: a result `r`, and the counter `g` after it."""
        call = f"int r = {self.names[0]}(k, b){' + e' if self.early else ''};"
        if self.twice:
            call += f" if (r > 1) {self.counter} += 1; r += {self.names[0]}(1, b);"
        return f"{call} int g = {self.counter};"

    def value(self, known: list[str]) -> str:
        rng = self.rng
        first, second = rng.choice(known), rng.choice((*known, str(rng.randint(-3, 3))))
        shape = rng.choice(("{0}", "{0} + {1}", "{0} - {1}", "{1}", "({2}) ? {0} : {1}"))
        return shape.format(first, second, self.test(known))

    def test(self, known: list[str]) -> str:
        rng = self.rng
        return f"{rng.choice(known)} {rng.choice(('<', '<=', '==', '!='))} {rng.randint(-2, 3)}"

    def program(self, condition: str) -> str:
        """A program that asserts something of the result `r` and the counter `g`."""
        return f"""{self.text}
int main() {{
  {self.first()}
  int k = unknown(), b = unknown();
  if (k < {DEPTHS[0]} || k > {DEPTHS[-1]} || b < {STARTS[0]} || b > {STARTS[-1]}) return 0;
  {self.calls()}
  assert({condition});
}}"""


def results(all_: list[Functions]) -> list[list[tuple[int, int, int, int]]]:
    """What the compiled functions return, and leave in their counters: k, b, r, g. Each time in a
    process of its own, where static variables begin anew."""
    lines = [f"#include <{name}.h>" for name in ("stdio", "unistd", "sys/wait")]
    lines += [*(functions.text for functions in all_), "int main() {"]
    for functions in all_:
        lines.append(
            f"  for (int k = {DEPTHS[0]}; k <= {DEPTHS[-1]}; k++)"
            f" for (int b = {STARTS[0]}; b <= {STARTS[-1]}; b++) {{"
            f" if (fork()) {{ wait(0); continue; }} {functions.first()} {functions.calls()}"
            f' printf("{functions.seed} %d %d %d %d\\n", k, b, r, g); fflush(stdout); _exit(0); }}'
        )
    with tempfile.TemporaryDirectory() as folder:
        source, binary = Path(folder, "all.c"), Path(folder, "all")
        source.write_text("\n".join([*lines, "}"]))
        subprocess.run(["gcc", *FLAGS, "-o", binary, source], check=True)
        said = subprocess.run([binary], capture_output=True, text=True, check=True).stdout
    found: dict[int, list[tuple[int, int, int, int]]] = {}
    for line in said.splitlines():
        seed, k, b, r, g = map(int, line.split())
        found.setdefault(seed, []).append((k, b, r, g))
    return [found[functions.seed] for functions in all_]


def assertions(rows: list[tuple[int, int, int, int]], rng: random.Random) -> list[tuple[str, bool]]:
    """Some that hold on all rows, and some that do not."""
    of = rng.choice("rg")
    values = [row["kbrg".index(of)] for row in rows]
    top, low = max(values), min(values)
    gap = next(v for v in range(low, top + 2) if v not in values)
    found = [(f"{of} <= {top}", True), (f"{of} < {top}", False)]
    found += [(f"{of} != {gap}", True), (f"{of} != {rng.choice(values)}", False)]
    k, b, r, g = rng.choice(rows)
    found.append((f"k != {k} || b != {b} || (r == {r} && g == {g})", True))
    found.append((f"k != {k} || b != {b} || r != {r} || g != {g}", False))
    return rng.sample(found, 2)


def disagreements(seeds: range, timeout: float = 5.0) -> tuple[list[str], Counter]:
    """Programs on which `verify` and gcc differ, and how many verdicts there were of each kind."""
    wrong: list[str] = []
    counts: Counter = Counter()
    drawn = [Functions(seed) for seed in seeds]
    for functions, rows in zip(drawn, results(drawn), strict=True):
        for condition, holds in assertions(rows, functions.rng):
            text = functions.program(condition)
            verdict = verify(parse_program(text, file=f"{functions.seed}.c"), timeout=timeout)
            counts[verdict.outcome.value] += 1
            if verdict.outcome is (Outcome.UNSAFE if holds else Outcome.SAFE):
                wrong.append(f"// {verdict.outcome.value}, but gcc differs\n{text}")
    return wrong, counts


if __name__ == "__main__":
    by_seeds(disagreements)
