"""The truth about C programs: compiled, and run on every input of a small domain.

Shares no code with doeblin. A `Bench` compiles a batch of programs once per compiler and level of
optimisation, with `driver.c`, which runs each on many inputs in one process. The builds with
the undefined-behaviour sanitizer decide which runs count; the others must end these runs alike.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from . import units

DRIVER = Path(__file__).with_name("driver.c")
PRELUDE = """
int unknown(void); void assume(int); int nondet_int(void);
extern void abort(void);
extern void __assert_fail(const char *, const char *, unsigned, const char *);
#define assert(c) ((c) ? (void)0 : __assert_fail(#c, "", 0, ""))
"""
FLAGS = ["-std=gnu11", "-w", "-fsigned-char", "-fno-common", "-fno-builtin"]
SANITIZE = ["-O0", "-fsanitize=undefined", "-fsanitize-coverage=trace-pc"]
STEPS = 4000

FAILS = "FDSU"  # assertion, division by zero, shift by an amount out of range, other undefined
OVERFLOWS = "O"  # signed overflow: outside the assumption by default, a failure with --overflow
ENDS = "PA"  # passed, or an assumption was false


def compilers() -> list[str]:
    return [name for name in ("gcc", "clang") if shutil.which(name)]


@dataclass(frozen=True)
class Run:
    outcome: str  # a letter as in driver.c
    inputs: tuple[int, ...]


@dataclass
class Truth:
    """How a program's runs end. `complete`: no run was left out or cut short."""

    runs: list[Run] = field(default_factory=list)
    complete: bool = True
    split: list[Run] = field(default_factory=list)  # runs that compilers end differently

    def first(self, outcomes: str) -> Run | None:
        return next((run for run in self.runs if run.outcome in outcomes), None)


class Bench:
    """A batch of programs, built in every way asked for."""

    def __init__(
        self,
        texts: Sequence[str],
        folder: Path,
        *,
        names: Sequence[str] | None = None,
        levels: Sequence[str] = ("-O0", "-O2"),
        separate: bool = False,
        files: Mapping[str, str] | None = None,
    ):
        """`separate`: each program's names are its own, since they may clash; `files`: headers of
        the programs' own."""
        self.folder = folder
        self.names = compilers() if names is None else names
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in {"prelude.h": PRELUDE, **(files or {})}.items():
            (folder / name).write_text(text)
        self.texts, self.separate = texts, separate
        every = range(len(texts))
        (folder / "all.c").write_text(
            "".join(f"#define main main_{i}\n{texts[i]}\n#undef main\n" for i in every)
        )
        table = ", ".join(f"main_{i}" for i in every)
        (folder / "table.c").write_text(
            "".join(f"int main_{i}();\n" for i in every)
            + f"int (*const programs[])() = {{{table}}};\nconst long step_limit = {STEPS};\n"
        )
        self.count = len(texts)
        self.sanitized = [self._build(name, SANITIZE, "ub") for name in self.names]
        self.plain = [
            self._build(name, [level], level[1:]) for name in self.names for level in levels
        ]

    def _build(self, compiler: str, flags: Sequence[str], tag: str) -> Path:
        binary = self.folder / f"{compiler}-{tag}"
        options = [*FLAGS, *flags, "-include", "prelude.h", "-I", "."]

        def compile_(source: Path, target: Path) -> str:
            return self._call(compiler, *options, "-c", str(source), "-o", str(target))

        if self.separate:
            objects = units.build(self.texts, self.folder, compile_, PRELUDE)
        else:
            objects = [f"{compiler}.{tag}.o"]
            self._must(compile_(self.folder / "all.c", self.folder / objects[0]))
        linked = [str(DRIVER), "table.c", *objects, "-o", binary.name]
        self._must(self._call(compiler, *FLAGS, "-O1", *linked))
        return binary

    def _call(self, *command: str) -> str:
        """What it says if it fails."""
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        return f"{' '.join(command)}\n{done.stderr}" if done.returncode else ""

    def _must(self, said: str) -> None:
        if said:
            raise RuntimeError(said)

    def _ask(self, binary: Path, questions: str) -> list[list[Run]]:
        answer = subprocess.run([binary], input=questions, capture_output=True, text=True)
        if answer.returncode:
            raise RuntimeError(f"{binary} ended with status {answer.returncode}")
        groups: list[list[Run]] = [[]]
        for line in answer.stdout.splitlines():
            if line == ".":
                groups.append([])
            else:
                outcome, *values = line.split()
                groups[-1].append(Run(outcome, tuple(map(int, values))))
        return groups[:-1]

    def ranges(self, runs: int = 3000) -> list[dict[int, tuple[int, int]]]:
        """Of every program, what its probes saw in the runs that are defined."""
        questions = "".join(f"e {i} {runs}\n" for i in range(self.count))
        return [
            {run.inputs[0]: run.inputs[1:] for run in group if run.outcome == "B"}  # type: ignore[misc]
            for group in self._ask(self.sanitized[0], questions)
        ]

    def replay(self, program: int, inputs: Sequence[int]) -> set[str]:
        """How the run with these inputs ends, in the sanitized builds. What is undefined may be
        overlooked by one of them (in constants, mostly), so that the other's word counts."""
        question = f"r {program} {len(inputs)} {' '.join(map(str, inputs))}\n"
        ends = {self._ask(binary, question)[0][0].outcome for binary in self.sanitized}
        undefined = ends & set("DSOU")
        if len(undefined) > 1:
            # After an overlooked shift or division there is garbage, and what overflows is that.
            undefined -= set(OVERFLOWS)
        return undefined or ends

    def truths(self, runs: int = 3000) -> list[Truth]:
        """The truth about every program of the batch."""
        questions = "".join(f"e {i} {runs}\n" for i in range(self.count))
        first, *others = [self._ask(binary, questions) for binary in self.sanitized]
        truths = []
        for i, group in enumerate(first):
            truth = Truth(complete=all(run.outcome != "C" for run in group))
            ends = {run.inputs: run.outcome for run in group if run.outcome != "C"}
            for run in (run for other in others for run in other[i] if run.outcome != "C"):
                known = ends.setdefault(run.inputs, run.outcome)
                if known == run.outcome or (known in "DSOU" and run.outcome != OVERFLOWS):
                    continue
                if run.outcome in "DSOU":
                    # One sanitizer sees what the other overlooks; and of two operands, each of
                    # them undefined, one compiler meets the overflow first, which is assumed away.
                    ends[run.inputs] = run.outcome
                else:
                    truth.split.append(run)
            # A run that goes on where the other sanitizer had ended it does not count.
            early = {inputs for inputs, outcome in ends.items() if outcome in "DSOU"}
            truth.runs = [
                Run(outcome, inputs)
                for inputs, outcome in ends.items()
                if not any(inputs[:n] in early for n in range(len(inputs)))
            ]
            truth.complete &= all(run.outcome not in "LX" for run in truth.runs)
            truths.append(truth)
        self._compare(truths)
        return truths

    def _compare(self, truths: list[Truth]) -> None:
        """The other builds must end every run that counts alike."""
        chosen = [
            (i, run) for i, truth in enumerate(truths) for run in truth.runs if run.outcome in "PFA"
        ]
        questions = "".join(
            f"r {i} {len(run.inputs)} {' '.join(map(str, run.inputs))}\n" for i, run in chosen
        )
        for binary in self.plain:
            for (i, run), group in zip(chosen, self._ask(binary, questions), strict=True):
                if group[0].outcome != run.outcome:
                    truths[i].split.append(group[0])
