"""Random programs with arrays, and what gcc says of them.

`python -m tests.programs.fuzz.arrays FIRST LAST` holds so many of them against `verify`; every
verdict that differs is printed, and the exit status is 1. Each program is drawn with an assertion
that is as tight as its runs allow, and half of the time with one that is too tight by one. What the
referee compiles checks every index by a function of its own, and sets what nothing was stored in
to some numbers.
"""

from __future__ import annotations

import random
import re
import tempfile
from collections import Counter
from pathlib import Path

from doeblin._errors import InputError
from doeblin.programs import Verdict, parse_program, verify
from doeblin.programs._tunables import (
    SECOND,
    ExampleTunables,
    LemmaTunables,
    ShareTunables,
    Tunables,
)

from .referee import FAILS, OVERFLOWS, Bench, Truth
from .seeds import by_seeds

TUNABLES = Tunables(
    lemmas=LemmaTunables(cells=True),
    shares=ShareTunables(first_look=0.05 * SECOND),
    examples=ExampleTunables(run_work=0.05 * SECOND),
)
TYPES = {
    "int": "int", "unsigned": "uint", "signed char": "schar", "unsigned char": "uchar",
    "short": "short", "unsigned short": "ushort", "long": "long", "_Bool": "bool",
}  # fmt: skip
USUAL = ("int", "int", "int", *TYPES)
HEAD = """extern int __VERIFIER_nondet_int(void); extern void __ubsan_handle_out_of_bounds();
extern void __ubsan_handle_vla_bound_not_positive(); extern void probe(int, long long);
static long long CK{0}(long long i, long long n) {{
  if (i < 0 || i >= n) __ubsan_handle_out_of_bounds(0, 0, 0);
  return i;
}}
static long long held{0};  // how many cells an array has that a function is given
"""


class Drawn:
    """A program with marks where cells are used, and where arrays have no values yet."""

    def __init__(self, seed: int):
        self.seed = seed
        self.rng = rng = random.Random(seed)
        self.arrays: dict[str, tuple[str, str]] = {}  # type and length
        self.numbers = ["n", "x"]
        self.count = 0
        self.top: list[str] = []
        self.const: set[str] = set()
        most = rng.choice((2, 3, 4))
        least = rng.choice((1, 1, 1, 1, 1, 1, 0, -1))
        lines = [f"int n = unknown(); if (n < {least} || n > {most}) return 0;"]
        lines.append("int x = unknown(); if (x < -1 || x > 2) return 0;")
        self.helpers()
        for _ in range(rng.choice((1, 1, 2, 2, 3))):
            lines.append(self.declaration())
        lines.append("int i = 0, j = 0, s = 0;")
        self.numbers += ["i", "j", "s"]
        for _ in range(rng.choice((1, 2, 2, 3))):
            lines.append(self.statement(2))
        self.claim = self.value(1)
        self.guard = self.guarded(self.claim) or "1"
        if rng.random() < 0.3:
            test = self.condition()
            self.guard = " && ".join(filter(None, (self.guard, self.guarded(test), test)))
        self.body = "\n  ".join(lines)
        self.tight = rng.random() < 0.5
        self.low = rng.random() < 0.4

    # ---- declarations

    def helpers(self) -> None:
        """Functions that are given arrays."""
        rng, number = self.rng, self.seed
        kind = self.helped = rng.choice(("int", "int", "unsigned char", "short"))
        form = rng.choice(("*p", "p[]", "p[m]", "p[3]"))
        order = f"int m, {kind} {form}"
        cell, last = (self.cell("p", index, f"held{number}") for index in ("t", "m - 1"))
        end = rng.choice(("<",) * 9 + ("<=",))
        self.top.append(
            f"static void fill{number}({order}, int v) {{ int t;"
            f" for (t = 0; t {end} m; t++) {cell} = v{rng.choice(('', ' + t', ' - t'))}; }}"
        )
        self.top.append(
            f"static int sum{number}({order}) {{ int t, r = 0;"
            f" for (t = 0; t < m; t++) r += {cell}; return r; }}"
        )
        self.top.append(f"static int bump{number}({order}) {{ {last} += 1; return {last}; }}")
        if rng.random() < 0.4:
            kind, size = rng.choice(USUAL), rng.randint(2, 4)
            start = rng.choice(("", "", f" = {{{self.constants(rng.randint(1, size))}}}"))
            self.top.append(f"{rng.choice(('', 'static '))}{kind} g{number}[{size}]{start};")
            self.arrays[f"g{number}"] = (kind, str(size))

    def constants(self, count: int) -> str:
        return ", ".join(
            str(self.rng.choice((0, 1, 2, 3, -1, 130, 300, 70000))) for _ in range(count)
        )

    def declaration(self) -> str:
        rng = self.rng
        self.count += 1
        name, kind = f"a{self.count}", rng.choice(USUAL)
        shape = rng.randint(0, 9)
        if shape < 4:
            length, start = "n", ""
        elif shape == 4:
            text = rng.choice(("ab", "a\\0b", "", "\\x41", "z\\n"))
            size = len(text.encode().decode("unicode_escape")) + 1
            kind = rng.choice(("char", "unsigned char"))
            length, start = rng.choice(("", str(size), str(size + 1))), f' = "{text}"'
            real = length or str(size)
            self.arrays[name] = ("signed char" if kind == "char" else kind, real)
            return f"{kind} {name}[{length}]{start};"
        else:
            size = rng.randint(1, 4)
            length = str(size)
            start = rng.choice(("", f" = {{{self.constants(rng.randint(1, size))}}}", " = {0}"))
            if rng.random() < 0.15:
                start = f" = {{{self.constants(1)}, x}}" if size > 1 else start
            if rng.random() < 0.2:
                kind = f"static {kind}" if "x" not in start else kind
        plain = kind.removeprefix("static ")
        self.arrays[name] = (plain, length)
        if length != "n" or start or kind != plain:
            blank = "" if start or kind != plain else f"\x04{name}, {length}\x05"
            return f"{kind} {name}[{length}]{start};{blank}"
        kept = f"n{self.count}"
        self.arrays[name] = (plain, kept)
        check = "\x06if (n <= 0) __ubsan_handle_vla_bound_not_positive(0, 0);\x05"
        later = rng.choice(("",) * 9 + (f" n = n {rng.choice('+-')} 1;",))
        junk = f"\x04{name}, {kept}\x05"
        return f"{check}{kind} {name}[n]; \x06int {kept} = n;\x05{junk}{later}"

    # ---- expressions

    def cell(self, name: str, index: str, length: str) -> str:
        return f"{name}[\x01{index}\x02{length}\x03]"

    def index(self, depth: int) -> str:
        rng = self.rng
        shapes = ("i", "i", "i", "j", "x", "n - 1", "i + 1", "i - 1", "n - 1 - i", "0", "1", "2")
        if depth and rng.random() < 0.1:
            return self.some_cell(0)
        return rng.choice(shapes)

    def some_cell(self, depth: int) -> str:
        name = self.rng.choice(list(self.arrays))
        return self.cell(name, self.index(depth), self.arrays[name][1])

    def value(self, depth: int) -> str:
        rng = self.rng
        pick = rng.random()
        if pick < 0.45 or not depth:
            return self.some_cell(depth) if rng.random() < 0.6 else rng.choice(self.numbers)
        if pick < 0.55:
            return str(rng.choice((0, 1, 2, -1, 5, 127, 200, 255, 256, 40000)))
        if pick < 0.6:
            name = rng.choice(list(self.arrays))
            if self.arrays[name][1].isdigit():
                return f"(int)(sizeof {name} / sizeof {name}[0])"
        op = rng.choice(("+", "+", "-", "-", "*"))
        left = self.value(depth - 1)
        right = self.value(depth - 1) if op != "*" else str(rng.randint(-2, 3))
        return f"({left} {op} {right})"

    def condition(self) -> str:
        rng = self.rng
        test = f"{self.value(0)} {rng.choice(('<', '<=', '==', '!=', '>'))} {self.value(0)}"
        test = " && ".join(filter(None, (self.guarded(test), test)))
        if rng.random() < 0.25:
            test = f"{rng.choice(('i < n', 'i >= 0', 'x > 0'))} {rng.choice(('&&', '||'))} {test}"
        return test

    # ---- statements

    def statement(self, depth: int) -> str:
        rng = self.rng
        pick = rng.random()
        if pick < 0.5 and depth:
            return self.loop(depth)
        if pick < 0.6 and depth:
            inside = self.statement(depth - 1)
            other = f" else {{ {self.change()} }}" if rng.random() < 0.4 else ""
            return f"if ({self.condition()}) {{ {inside} }}{other}"
        if pick < 0.68 and depth:  # an array of its own, also one that hides another
            outer = dict(self.arrays)
            made = self.declaration()
            if rng.random() < 0.4 and len(outer) > 0:
                made, name = self.hiding(made, rng.choice(list(outer)))
            inside = " ".join(self.statement(depth - 1) for _ in range(2))
            self.arrays = outer
            return f"{{ {made} {inside} }}"
        if pick < 0.78:
            kept = [n for n, (k, size) in self.arrays.items() if k == self.helped]
            if kept:
                name = rng.choice(kept)
                call = rng.choice(
                    (f"fill{self.seed}", f"s += sum{self.seed}", f"s = bump{self.seed}")
                )
                more = f", {rng.choice(('x', '3', 's'))}" if "fill" in call else ""
                length = self.arrays[name][1]
                # The function is told n, which may have changed since.
                check = f"\x06held{self.seed} = {length};\x05"
                return f"{{ {check}{call}(\x07{length}\x07, {name}{more}); }}"
        return self.change()

    def hiding(self, made: str, other: str) -> tuple[str, str]:
        """The array that was declared last, under the name of another."""
        name = list(self.arrays)[-1]
        if other.startswith("g") or name == other:
            return made, name
        self.arrays[other] = self.arrays.pop(name)
        return re.sub(rf"\b{name}\b", other, made), other

    def loop(self, depth: int) -> str:
        rng = self.rng
        counter = rng.choice("iij") if depth == 2 else "j"
        end = rng.choice(("n", "n", "n", "2", "3", *(size for _, size in self.arrays.values())))
        end = f"\x07{end}\x07" if end.startswith("n") else end
        start = rng.choice(("0", "0", "0", "1"))
        test = f"{counter} {rng.choice(('<',) * 7 + ('<=',))} {end}"
        head = f"for ({counter} = {start}; {test}; {counter}++)"
        inside = " ".join(self.statement(depth - 1) for _ in range(rng.choice((1, 1, 2))))
        text = inside.replace("[\x01i\x02", f"[\x01{counter}\x02") if rng.random() < 0.8 else inside
        return f"{head} {{ {text} }}"

    def guarded(self, text: str) -> str:
        """That all indices in an expression are within bounds, most often."""
        if self.rng.random() < 0.08:
            return ""
        used = dict.fromkeys(re.findall(r"\x01([^\x01\x02\x03]*)\x02(\w+)\x03", text))
        if "\x01" in re.sub(r"\x01([^\x01\x02\x03]*)\x02(\w+)\x03", "", text):
            return ""
        tests = [f"{at} >= 0 && {at} < \x07{size}\x07" for at, size in used if not at.isdigit()]
        tests += [f"{at} < \x07{size}\x07" for at, size in used if at.isdigit()]
        return " && ".join(tests)

    def change(self) -> str:
        text = self.changed()
        test = self.guarded(text)
        return f"if ({test}) {text}" if test else text

    def changed(self) -> str:
        rng = self.rng
        pick = rng.random()
        if pick < 0.25:
            return f"s {rng.choice(('=', '+=', '-='))} {self.value(1)};"
        target = self.some_cell(0)
        if pick < 0.4:
            return f"{target}{rng.choice(('++', '--'))};"
        if pick < 0.5:
            return f"s = {rng.choice(('++', '--'))}{target};"
        if pick < 0.55:
            return f"{target} = unknown();"
        return f"{target} {rng.choice(('=', '=', '=', '+=', '-='))} {self.value(1)};"

    # ---- texts

    def text(self, claim: str, *, junk: int | None = None) -> str:
        """For `verify`; or for the referee, with some numbers where nothing was stored."""
        main = f"int main() {{\n  {self.body}\n  {claim}\n  return 0;\n}}"
        whole = "\n".join([*self.top, main])
        if junk is None:
            whole = re.sub(r"[\x04\x06][^\x05]*\x05", "", whole)
            whole = re.sub(r"\x02[^\x01\x02\x03]*\x03", "", whole).replace("\x01", "")
            # The length that the referee keeps in a variable is the program's own business.
            return re.sub(r"\x07n\d*\x07", "n", whole).replace("\x07", "")
        whole = re.sub(
            r"\x04(\w+), (\w+)\x05",
            rf"for (int q = 0; q < \2; q++) \1[q] = (q * 5 + {junk}) % 7 - 3;",
            whole,
        )
        whole = re.sub(r"\x07n\d*\x07", "n", whole).replace("\x07", "")
        whole = re.sub("[\x05\x06]", "", whole)
        whole = whole.replace("\x01", f"CK{self.seed}(").replace("\x02", ", ").replace("\x03", ")")
        # All that are compiled together have names of their own.
        own = rf"\b(CK|held|fill|sum|bump|g){self.seed}\b"
        return re.sub(own, rf"\g<1>{self.seed}_{junk}", HEAD.format(self.seed) + whole)


def programs(seeds: range, folder: Path) -> list[tuple[Drawn, str, list[Truth], Bench, int]]:
    """Programs with tight assertions and their truths, the first of which can be replayed."""
    drawn = [Drawn(seed) for seed in seeds]
    probes = [d.text(f"if ({d.guard}) probe(0, {d.claim});", junk=0) for d in drawn]
    known = Bench(probes, folder / "probe", names=["gcc"], levels=[]).ranges()
    texts, claims = [], []
    for d, ranges in zip(drawn, known, strict=True):
        low, high = ranges.get(0, (0, 0))
        end, side = (low, ">=") if d.low else (high, "<=")
        if not d.tight:
            end += 1 if d.low else -1
        claims.append(f"if ({d.guard}) assert({d.claim} {side} {end});")
        texts += [d.text(claims[-1], junk=junk) for junk in (0, 4)]
    bench = Bench(texts, folder, names=["gcc"], levels=[])
    truths = bench.truths()
    return [
        (d, d.text(claim), truths[2 * i : 2 * i + 2], bench, 2 * i)
        for i, (d, claim) in enumerate(zip(drawn, claims, strict=True))
    ]


def objection(
    verdict: Verdict, truths: list[Truth], bench: Bench, place: int, overflow: bool
) -> str | None:
    """What is wrong with a verdict."""
    outcomes = FAILS + OVERFLOWS if overflow else FAILS
    if verdict.outcome.value == "SAFE":
        for truth in truths:
            if run := truth.first(outcomes):
                return f"SAFE, but the run on {list(run.inputs)} ends with {run.outcome}"
            if not verdict.assumptions and (run := truth.first(OVERFLOWS)):
                return f"SAFE without assumptions, but {list(run.inputs)} overflows"
    if verdict.outcome.value == "UNSAFE":
        inputs = [value for name, value in verdict.inputs if "(" in name]
        if any("[" in name.partition(" at ")[0] for name, _ in verdict.inputs):
            return None  # what no array was given has other values here
        ends = bench.replay(place, inputs)
        if not ends <= set(outcomes):
            return f"UNSAFE, but the run on {inputs} ends with {'/'.join(sorted(ends))}"
    return None


def disagreements(seeds: range, timeout: float = 2.0) -> tuple[list[str], Counter]:
    """Programs on which `verify` and gcc differ, and how many verdicts there were of each kind."""
    wrong: list[str] = []
    counts: Counter = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for drawn, text, truths, bench, place in programs(seeds, Path(folder)):
            overflow = drawn.seed % 4 == 3
            ints = "overflow" if overflow else "c"
            try:
                program = parse_program(text, file=f"{drawn.seed}.c", ints=ints)
                verdict = verify(program, timeout=timeout, seed=drawn.seed, tunables=TUNABLES)
                counts[verdict.outcome.value] += 1
                if verdict.outcome.value == "UNKNOWN":
                    why = re.sub(r"\d+|'[^']*'", "_", verdict.reason.partition(" at ")[0])
                    counts[why[:60]] += 1
                problem = objection(verdict, truths, bench, place, overflow)
            except InputError as error:
                problem = f"legal, but refused: {error}"
            except Exception as error:  # a crash is a finding like any other
                problem = f"crash: {error!r}"
            fails = any(truth.first(FAILS) for truth in truths)
            counts["fails" if fails else "holds"] += 1
            if problem:
                wrong.append(f"// seed {drawn.seed}{' --overflow' * overflow}: {problem}\n{text}")
    return wrong, counts


if __name__ == "__main__":
    by_seeds(disagreements)
