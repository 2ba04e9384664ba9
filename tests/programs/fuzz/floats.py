"""Random programs in floating point, what gcc says that they compute, and assertions made of it.

`python -m tests.programs.fuzz.floats FIRST LAST` holds so many of them against `verify`; every
verdict that differs is printed, and the exit status is 1.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from doeblin.programs import Outcome, parse_program, verify

TYPES = ("float", "double", "double", "float", "int", "unsigned", "long", "unsigned char", "short")
FLOATS = ("float", "double")
CONSTANTS = (
    "0.1", "0.5f", "1.5", "3", "-2", "1e10", "1e-3f", "0.3f", "7", "16777217", "100u", "2.5f",
    "1e38f", "1e300", "-0.0", "0x1.8p1", "4294967295u", "9007199254740993", "1.1", "1e-45f", "0",
)  # fmt: skip
FLAGS = ["-std=gnu17", "-fsigned-char", "-ffp-contract=off"]  # as on x86-64, on any machine
FOLDED = "integer overflow in expression"  # of constants: gcc warns, and no run finds it
LEVELS = ("-O0", "-O2")
_PRINT = {"float": "%a", "double": "%a", "unsigned": "%uu", "long": "%ldl"}


class Text:
    """A program over a few variables: statements, and loops that end."""

    def __init__(self, seed: int):
        self.rng = random.Random(seed)
        count = self.rng.randint(2, 4)
        self.names = {f"v{i}": self.rng.choice(TYPES) for i in range(count)}
        self.names["v0"] = self.rng.choice(FLOATS)
        helper = self.rng.choice(TYPES), self.rng.choice(TYPES)
        self.helper = f"static {helper[0]} h({helper[1]} a) {{ return {self.value(['a'])}; }}"
        lines = [f"  {kind} {name} = {self.atom([])};" for name, kind in self.names.items()]
        for _ in range(self.rng.randint(1, 5)):
            lines.append("  " + self.statement(2))
        self.body = "\n".join(lines)

    def atom(self, names: list[str]) -> str:
        if names and self.rng.random() < 0.7:
            return self.rng.choice(names)
        return self.rng.choice(CONSTANTS)

    def value(self, names: list[str], depth: int = 2, *, calls: bool = False) -> str:
        draw = self.rng.random()
        if depth == 0 or draw < 0.25:
            return self.atom(names)
        inner = [self.value(names, depth - 1, calls=calls) for _ in range(2)]
        if draw < 0.75:
            return f"({inner[0]} {self.rng.choice('+-*/+-*')} {inner[1]})".replace("/ 0)", "/ 0.0)")
        if draw < 0.8:
            return f"(-({inner[0]}))"
        if draw < 0.87:
            return f"({self.test(names, depth - 1)} ? {inner[0]} : {inner[1]})"
        if draw < 0.95:
            return f"({self.rng.choice(FLOATS)})({inner[0]})"
        return f"h({inner[0]})" if calls else inner[0]

    def test(self, names: list[str], depth: int = 1) -> str:
        if self.rng.random() < 0.15:
            return f"{self.rng.choice(('', '!'))}{self.atom(names)}"
        op = self.rng.choice(("<", "<=", ">", ">=", "==", "!="))
        return f"{self.value(names, depth)} {op} {self.value(names, depth)}"

    def statement(self, depth: int) -> str:
        names, rng = list(self.names), self.rng
        name, draw = rng.choice(names), rng.random()
        if depth and draw < 0.2:
            yes, no = self.statement(depth - 1), self.statement(0)
            return f"if ({self.test(names)}) {{ {yes} }} else {{ {no} }}"
        if depth and draw < 0.4:
            turns = rng.randint(1, 6)
            body = f"{self.statement(depth - 1)} {self.statement(0)}"
            return f"for (int i = 0; i < {turns}; i++) {{ {body} }}"
        if draw < 0.5:
            return f"{name}{rng.choice(('++', '--'))};"
        if draw < 0.7:
            return f"{name} {rng.choice('+-*')}= {self.value(names, 1)};"
        return f"{name} = {self.value(names, calls=True)};"

    def probe(self) -> str:
        """Prints every variable in the end."""
        shown = "".join(
            f'  printf("{name} {_PRINT.get(kind, "%d")}\\n", {name});\n'
            for name, kind in self.names.items()
        )
        return "#include <stdio.h>\n" + self._program(shown)

    def claiming(self, claim: str) -> str:
        return self._program(f"  assert({claim});\n")

    def _program(self, end: str) -> str:
        return f"{self.helper}\nint main(void) {{\n{self.body}\n{end}  return 0;\n}}\n"


def computed(text: str, folder: Path) -> dict[str, str] | None:
    """What the variables have in the end; None where that is undefined. All builds must agree."""
    source, binary = folder / "probe.c", folder / "probe"
    source.write_text(text)
    checks = "undefined,float-cast-overflow,signed-integer-overflow"
    checked = [
        f"-fsanitize={checks}",
        "-fno-sanitize-recover=all",
        "-fno-sanitize=float-divide-by-zero",
    ]
    results = []
    for flags in (["-O0", *checked], *([level] for level in LEVELS)):
        command = ["gcc", *FLAGS, *flags, "-o", str(binary), str(source)]
        built = subprocess.run(command, check=True, capture_output=True, text=True)
        if FOLDED in built.stderr:
            return None
        run = subprocess.run([str(binary)], capture_output=True, text=True, timeout=10)
        if run.returncode:
            return None  # only the first build can find that
        results.append(dict(line.split() for line in run.stdout.splitlines()))
    first = {name: value.replace("-nan", "nan") for name, value in results[0].items()}
    for other in results[1:]:
        assert {n: v.replace("-nan", "nan") for n, v in other.items()} == first, text
    return first


def claims(values: dict[str, str], rng: random.Random) -> tuple[str, str]:
    """One that is true, and one that is false."""
    name, value = rng.choice(sorted(values.items()))
    if value == "nan":
        return f"{name} != {name}", f"{name} == {name}"
    value = value.replace("inf", "(1 / 0.0)")
    return f"{name} == {value}", f"{name} != {value}"


def judge(seeds: range, *, timeout: float) -> tuple[list[str], Counter[str]]:
    """Verdicts that differ from the compiled program, and how many of each there were."""
    wrong, counts = [], Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            text = Text(seed)
            values = computed(text.probe(), Path(folder))
            if values is None:
                # Undefined somewhere: nothing may be proved, whatever is claimed.
                cases = [("UNSAFE", "1")]
            else:
                cases = list(zip(("SAFE", "UNSAFE"), claims(values, text.rng), strict=True))
            for truth, claim in cases:
                source = text.claiming(claim)
                found = verify(parse_program(source, file="f.c"), timeout=timeout)
                counts[f"{truth}: {found.outcome.value}"] += 1
                if found.outcome is Outcome.UNKNOWN:
                    continue
                assumed = values is None and found.assumptions  # what is undefined may be that
                if found.outcome.value != truth and not assumed:
                    wrong.append(f"seed {seed}: {found.outcome.value}, not {truth}\n{source}")
    return wrong, counts


def main() -> int:
    first, last = map(int, sys.argv[1:3])
    wrong, counts = judge(range(first, last), timeout=float((sys.argv[3:] or ["5"])[0]))
    print("\n".join(wrong))
    print(dict(counts), f"wrong: {len(wrong)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
