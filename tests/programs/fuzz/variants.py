"""False variants of a suite's programs: what is no longer true must not be proved.

`python -m tests.programs.fuzz.variants SUITE --every 4` changes what each program claims by one and
its loops' ends by one, and leaves initialisations out. gcc with sanitizers runs every variant on
many small inputs; one that fails there is false. The exit status is 1 if such a variant is said to
be SAFE. Of variants that are proved though no run failed, the names are printed: they may be true.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from doeblin._errors import InputError
from doeblin.programs import parse_program, verify

FLAGS = ["-std=gnu11", "-w", "-g0", "-O1", "-fno-builtin", "-fno-sanitize-recover=all"]
SANITIZE = ["-fsanitize=address,undefined"]
ASSERT = """#undef assert
#define assert(c) ((c) ? (void)0 : _exit(42))
#define sassert assert
void _exit(int);
"""
RUNS = 120
DRIVER = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
/* Looking for leaks, which are no failures, at the end of each process takes most of the time. */
const char *__asan_default_options(void) {{ return "detect_leaks=0"; }}
static unsigned long state; static long scale;
static long draw(void) {{
  state = state * 6364136223846793005UL + 1442695040888963407UL;
  return (long)((state >> 33) % (2 * scale + 1)) - scale / (1 + (state >> 60) % 4);
}}
__attribute__((weak)) void assume(int holds) {{ if (!holds) _exit(0); }}
__attribute__((weak)) void __VERIFIER_assume(int holds) {{ if (!holds) _exit(0); }}
__attribute__((weak)) void __VERIFIER_error(void) {{ _exit(42); }}
{inputs}
{prototype}
int main(void) {{
  int failed = 0, ended = 0, late = 0;
  for (int run = 0; run < {runs} && failed < 3 && late < 4; run++) {{
    int ends[2]; char text[4096] = {{0}};
    if (pipe(ends)) return 3;
    if (!fork()) {{
      dup2(ends[1], 2); close(ends[0]);
      setitimer(ITIMER_PROF, &(struct itimerval){{{{0, 0}}, {{1, 0}}}}, 0);
      state = 77 * run + 5; scale = 1 + run % 9;
      for (int i = 0; i < 5; i++) draw();
      {call}
      _exit(0);
    }}
    close(ends[1]);
    for (int at = 0, got; at < 4000 && (got = read(ends[0], text + at, 4000 - at)) > 0;) at += got;
    close(ends[0]);
    int status; wait(&status);
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    /* After a signed overflow, or without memory, nothing counts. */
    if (strstr(text, "signed integer overflow") || strstr(text, "stack-overflow")) continue;
    ended += code == 0;
    late += code == -1;
    failed += code == 42 || strstr(text, "out of bounds") || strstr(text, "buffer-overflow")
      || strstr(text, "buffer-underflow") || strstr(text, "division by zero")
      || strstr(text, "evaluates to non-positive");
  }}
  printf("%d %d\\n", failed, ended);
}}
"""
OPERATOR = r"(<=|>=|==|!=|(?<![<>-])<(?![<=])|(?<![<>-])>(?![>=]))"
COMPARED = re.compile(
    OPERATOR + r"\s*([\w\[\]*+\-/%() ]*?[\w\])])\s*(?=\)\s*;|\)\s*\{|&&|\|\||\)\s*$)"
)
END = re.compile(r"(for\s*\([^;]*;[^;]*?)(<=?)(?!=)([^;]*;)")
START = re.compile(r"(?<=[;{}\n])(\s*)(\w+(?:\[\w+\])?\s*=\s*-?\d+\s*;)")
CALLED = re.compile(r"\b(\w*(?:unknown|nondet)\w*)\s*\(\s*\)")
INPUT = re.compile(
    r"\b((?:(?:unsigned|int|long|short|char|_Bool)\s+)+)(\w*(?:unknown|nondet)\w*)"
    r"\s*\((?:void|\s)*\)\s*;"
)


def variants(text: str) -> Iterator[tuple[str, str]]:
    """Changed programs, each under the name of the change."""
    claim = [found for found in COMPARED.finditer(text) if found.end() <= _claimed(text)]
    for step in ("+ 1", "- 1") if claim else ():
        last = claim[-1]
        yield f"claim {step}", f"{text[: last.end(2)]} {step}{text[last.end(2) :]}"
    for number, found in enumerate(END.finditer(text)):
        other = "<=" if found[2] == "<" else "<"
        changed = f"{found[1]}{other}{found[3]}"
        yield f"end of loop {number}", text[: found.start()] + changed + text[found.end() :]
    for number, found in enumerate(START.finditer(text)):
        yield f"start {number}", f"{text[: found.start(2)]};{text[found.end() :]}"


def _claimed(text: str) -> int:
    """Where the last assertion ends; what `assert(0)` depends on stands before it."""
    found = [m.end() for m in re.finditer(r"assert\s*\([^;]*\)\s*;", text)]
    return found[-1] if found else 0


@cache
def _filled() -> list[str]:
    """From gcc 12 on, what has no value gets one that is not zero; before, whatever was there."""
    option = "-ftrivial-auto-var-init=pattern"
    asked = ["gcc", option, "-fsyntax-only", "-x", "c", "/dev/null"]
    return [] if subprocess.run(asked, capture_output=True).returncode else [option]


class Referee:
    """Says whether a program fails on small inputs; None if it cannot be compiled."""

    def __init__(self, folder: Path):
        self._folder = folder

    def failing_runs(self, text: str) -> int | None:
        driver, program = self._folder / "driver.c", self._folder / "program.c"
        body = re.sub(r"\bmain\b", "program_main", text)
        program.write_text(re.sub(r'#include\s*(<assert.h>|".*")', "", ASSERT + body))
        driver.write_text(self._driver(text))
        built = self._folder / "run"
        sources = [str(program), str(driver), "-o", str(built), "-lm"]
        command = ["gcc", *FLAGS, *_filled(), *SANITIZE, *sources]
        if subprocess.run(command, capture_output=True).returncode:
            return None
        done = subprocess.run([built], capture_output=True, text=True, timeout=300)
        return int(done.stdout.split()[0]) if done.returncode == 0 and done.stdout else None

    def _driver(self, text: str) -> str:
        external = dict.fromkeys(CALLED.findall(text), "int")
        external |= {name: kind for kind, name in INPUT.findall(text)}
        inputs = [f"{kind} {name}(void) {{ return draw(); }}" for name, kind in external.items()]
        listed = re.search(r"(?:int|void)\s+main\s*\(([^)]*)\)", text)
        given = [p.strip() for p in listed[1].split(",")] if listed else []
        given = [p for p in given if p and p != "void" and "arg" not in p]
        numbers = [p.split()[-1] for p in given if "*" not in p]
        call = [f"int {name} = 1 + abs((int)draw());" for name in numbers]
        for condition in re.findall(r"requires\s+([^\\;]*);", text):
            call.append(f"if (!({condition})) _exit(0);")
        length = numbers[-1] if numbers else "8"
        for name in (p.split("*")[-1].strip() for p in given if "*" in p):
            call.append(f"int *{name} = malloc({length} * sizeof(int));")
            call.append(f"for (int q = 0; q < {length}; q++) {name}[q] = draw();")
        names = ", ".join(p.split("*")[-1].split()[-1] for p in given)
        prototype = f"int program_main({', '.join(given)});"
        return DRIVER.format(
            inputs="\n".join(inputs),
            prototype=prototype,
            runs=RUNS,
            call=" ".join([*call, f"program_main({names});"]),
        )


def campaign(
    files: list[Path], *, timeout: float, most: int
) -> tuple[list[str], Counter[str], list[str]]:
    """Wrong verdicts, counts, and what was proved though it is a variant."""
    wrong, proved, counts = [], [], Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        referee = Referee(Path(folder))
        for file in files:
            for name, text in list(variants(file.read_text()))[:most]:
                failing = referee.failing_runs(text)
                if failing is None:
                    counts["not compiled"] += 1
                    continue
                truth = "false" if failing else "no failing run"
                try:
                    verdict = verify(parse_program(text, file=file.name), timeout=timeout)
                except InputError:
                    counts[f"{truth}: refused"] += 1
                    continue
                counts[f"{truth}: {verdict.outcome.value}"] += 1
                if verdict.outcome.value == "SAFE":
                    (wrong if failing else proved).append(f"{file.name}: {name}")
    return wrong, counts, proved


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suite", type=Path)
    parser.add_argument("--every", type=int, default=1, help="take only every so many programs")
    parser.add_argument("--most", type=int, default=6, help="variants of a program")
    parser.add_argument("--timeout", type=float, default=10.0)
    options = parser.parse_args()
    files = sorted(options.suite.glob("*.c"))[:: options.every]
    wrong, counts, proved = campaign(files, timeout=options.timeout, most=options.most)
    print(json.dumps({"wrong": wrong, "counts": counts, "proved": proved}, indent=1))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
