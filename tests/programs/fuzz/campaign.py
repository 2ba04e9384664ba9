"""Verdicts on random C programs, judged by compiled runs.

`python -m tests.programs.fuzz --count 10000 --jobs 2` is what `make fuzz` does.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from doeblin._errors import InputError
from doeblin.programs import Verdict, parse_program, verify

from .expressions import Program
from .grammar import Generator
from .referee import FAILS, OVERFLOWS, Bench, Truth
from .render import render

MIRROR = 10_000_000  # the second reading of an unordered program is numbered apart


@dataclass
class Case:
    """A program, and the places in the batch of the texts that say the truth about it."""

    seed: int
    program: Program
    text: str
    places: list[int]
    truths: list[Truth] = field(default_factory=list)

    def fails(self, outcomes: str) -> list[bool]:
        return [truth.first(outcomes) is not None for truth in self.truths]


@dataclass
class Batch:
    cases: list[Case]
    bench: Bench


def own_files(programs: Iterable[Program]) -> dict[str, str]:
    """The headers beside these programs."""
    return {name: text for program in programs for name, text in program.files.items()}


def prepare(seeds: range, folder: Path, levels=("-O0", "-O2")) -> Batch:
    """Programs with tight assertions, and their truths."""
    programs = [Generator(seed).program() for seed in seeds]
    probes = [render(program, order="left") for program in programs]
    files = own_files(programs)
    ranges = Bench(probes, folder / "probe", names=["gcc"], levels=[], files=files).ranges()
    cases, texts = [], []
    for seed, program, known in zip(seeds, programs, ranges, strict=True):
        text = render(program, ranges=known)
        places = [len(texts)]
        if program.unordered:
            mirror = Generator(seed, seed + MIRROR).program()
            files |= mirror.files
            texts.append(render(program, ranges=known, order="left"))
            places.append(len(texts))
            texts.append(render(mirror, ranges=known, order="right"))
        else:
            texts.append(render(program, ranges=known, referee=True))
        cases.append(Case(seed, program, text, places))
    bench = Bench(texts, folder, levels=levels, files=files)
    truths = bench.truths()
    for case in cases:
        case.truths = [truths[place] for place in case.places]
    return Batch(cases, bench)


def objection(batch: Batch, case: Case, verdict: Verdict, overflow: bool) -> str | None:
    """What is wrong with a verdict."""
    outcomes = FAILS + OVERFLOWS if overflow else FAILS
    if verdict.outcome.value == "SAFE":
        for truth in case.truths:
            if run := truth.first(outcomes):
                return f"SAFE, but the run on {list(run.inputs)} ends with {run.outcome}"
            if not verdict.assumptions and (run := truth.first(OVERFLOWS)):
                return f"SAFE without assumptions, but {list(run.inputs)} overflows"
    if verdict.outcome.value == "UNSAFE":
        # Variables without a value have one in the verdict; the compiled program asks for none.
        inputs = [value for name, value in verdict.inputs if "(" in name or "argc" in name]
        for place in case.places:
            ends = batch.bench.replay(place, inputs)
            if not ends <= set(outcomes):
                return f"UNSAFE, but the run on {inputs} ends with {'/'.join(sorted(ends))}"
    return None


@dataclass
class Tally:
    outcomes: Counter = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)  # a fault in a campaign; in a test, the machine's
    reasons: Counter = field(default_factory=Counter)

    def add(self, other: Tally) -> None:
        self.outcomes += other.outcomes
        self.wrong += other.wrong
        self.late += other.late
        self.reasons += other.reasons


def judge(seeds: range, *, timeout: float, levels=("-O0", "-O2"), repeat: bool = True) -> Tally:
    """Prepares and verifies a batch; every fourth program counts signed overflow as a failure.

    `repeat`: every tenth is verified twice, and must be answered alike."""
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        batch = prepare(seeds, Path(folder), levels)
        for case in batch.cases:
            overflow = case.seed % 4 == 3
            if any(truth.split for truth in case.truths):
                tally.outcomes["compilers differ"] += 1
                tally.reasons[f"compilers differ on {case.seed}"] += 1
                continue
            problem, outcome = verdict_on(
                batch, case, timeout, overflow, tally, repeat and case.seed % 10 == 7
            )
            tally.outcomes[outcome] += 1
            if problem:
                tally.wrong.append(f"seed {case.seed}{' --overflow' * overflow}: {problem}")
    return tally


def verdict_on(
    batch: Batch, case: Case, timeout: float, overflow: bool, tally: Tally, repeat: bool
) -> tuple[str | None, str]:
    """(what is wrong, what was said)."""
    started = time.process_time()
    try:
        ints = "overflow" if overflow else "c"
        parsed = parse_program(
            case.text, file=f"fuzz{case.seed}.c", ints=ints, folder=batch.bench.folder
        )
        verdict = verify(parsed, timeout=timeout, seed=case.seed)
    except InputError as error:
        return f"legal, but refused: {error}", "refused"
    except Exception as error:  # a crash is a finding like any other
        return f"crash: {error!r}", "crash"
    spent = time.process_time() - started
    if spent > timeout + 2:
        tally.late.append(f"seed {case.seed}: {spent:.1f} s of processor time, {timeout} s allowed")
    if verdict.outcome.value == "UNKNOWN":
        tally.reasons[verdict.reason.split(" at fuzz")[0][:60]] += 1
    if repeat:
        again = verify(parsed, timeout=timeout, seed=case.seed)
        said = (verdict.outcome, [i.text for i in verdict.invariants], verdict.inputs)
        same = (again.outcome, [i.text for i in again.invariants], again.inputs)
        ended = any(
            v.outcome.value == "UNKNOWN" or v.remark.startswith("stopped") for v in (verdict, again)
        )
        if said != same and not ended:
            return "two runs with one seed differ", verdict.outcome.value
    return objection(batch, case, verdict, overflow), verdict.outcome.value
