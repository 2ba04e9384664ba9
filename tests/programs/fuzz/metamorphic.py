"""Programs rewritten to mean the same: a verdict may become UNKNOWN, never the opposite."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from doeblin.programs import parse_program, verify

from .campaign import own_files
from .grammar import Generator
from .referee import FAILS, OVERFLOWS, Bench
from .render import PLAIN, STYLES, Style, render

APART = 10_000_000  # between the numbers of two renderings, whose names must not clash


def applies(style: Style, text: str) -> bool:
    """`long` for `int` means the same only among types that both contain."""
    narrow = re.search(r"unsigned|enum|long|sizeof|\d[uUlL]|#if|0x", text)
    return not style.widen or narrow is None


def measured(seeds: range, folder: Path) -> dict[int, dict[int, tuple[int, int]]]:
    """The ranges of the programs' holes. Unordered programs are left out."""
    programs = {seed: Generator(seed).program() for seed in seeds}
    ordered = {seed: made for seed, made in programs.items() if not made.unordered}
    probes = [render(made) for made in ordered.values()]
    files = own_files(ordered.values())
    ranges = Bench(probes, folder, names=["gcc"], levels=[], files=files).ranges()
    return dict(zip(ordered, ranges, strict=True))


def rewritings(
    seed: int,
    ranges: dict[int, tuple[int, int]],
    folder: Path,
    names=tuple(STYLES),
    referee: bool = False,
) -> dict[str, str]:
    """The program and its rewritings, by the style's name; file-scope names are all different.

    Their own headers are written into the folder."""
    texts: dict[str, str] = {}
    for k, name in enumerate(("plain", *names)):
        style = STYLES.get(name, PLAIN)
        if not texts or applies(style, texts["plain"]):
            made = Generator(seed, seed + k * APART).program()
            texts[name] = render(made, style, ranges, referee=referee)
            for file, text in made.files.items():
                (folder / file).write_text(text)
    return texts


def same_truth(seeds: range, folder: Path) -> list[str]:
    """Rewritings that compilers do not judge like the program: faults of ours, not doeblin's."""
    texts = [
        (seed, name, text)
        for seed, ranges in measured(seeds, folder / "probe").items()
        for name, text in rewritings(seed, ranges, folder, referee=True).items()
    ]
    truths = Bench([text for *_, text in texts], folder, names=["gcc"], levels=[]).truths()
    plain: dict[int, str] = {}
    faults = []
    for (seed, name, _), truth in zip(texts, truths, strict=True):
        ends = "".join(run.outcome for run in sorted(truth.runs, key=lambda run: run.inputs))
        if name == "plain":
            plain[seed] = ends
        elif not _alike(plain[seed], ends):
            faults.append(f"seed {seed}, {name}: {plain[seed]} became {ends}")
    return faults


def _alike(before: str, after: str) -> bool:
    """The same failures. A run that overflows may be any other in a rewriting."""
    if any(c in before for c in OVERFLOWS + "LUX"):
        return True
    return any(c in before for c in FAILS) == any(c in after for c in FAILS)


def opposite(seeds: range, *, timeout: float, names=tuple(STYLES)) -> tuple[list[str], int]:
    """Verdicts turned into their opposite by a rewriting, and how many pairs were both decided."""
    wrong, pairs = [], 0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for seed, ranges in measured(seeds, folder / "probe").items():
            said = {}
            for name, text in rewritings(seed, ranges, folder, names).items():
                program = parse_program(text, file=f"{name}{seed}.c", folder=folder)
                said[name] = verify(program, timeout=timeout, seed=seed).outcome.value
                pair = {said["plain"], said[name]}
                if name != "plain" and "UNKNOWN" not in pair:
                    pairs += 1
                    if len(pair) == 2:
                        wrong.append(f"seed {seed}, {name}: {said['plain']} became {said[name]}")
    return wrong, pairs
