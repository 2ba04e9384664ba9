"""How much of the C reader the drawn programs reach: `python -m tests.programs.fuzz.reach 500`.

For every seed one of the general ones, and one with pointers or structures.

They are all legal and modelled, so lines that refuse or report errors count apart."""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

from .grammar import Generator
from .render import render

REFUSES = re.compile(r"\b(raise|InputError|Unsupported|NotUnderstood|unsupported|refuse|except)\b")


def report(seeds: range) -> str:
    """A line for each module: statements, those reached, those not reached that refuse nothing."""
    import coverage

    watch = coverage.Coverage(include=["*/doeblin/programs/frontends/c/*"], data_file=None)
    watch.start()
    from doeblin.programs import parse_program  # so that what runs at import counts, too

    from . import pointers

    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            program = Generator(seed).program()
            for name, text in program.files.items():
                (Path(folder) / name).write_text(text)
            text = render(program, ranges={})
            ints = "overflow" if seed % 4 == 3 else "c"
            parse_program(text, file=f"fuzz{seed}.c", ints=ints, folder=Path(folder))
            drawn = pointers.Drawn(seed)
            text = drawn.text(f"assert({drawn.claim} != 0);", "plain.h")
            parse_program(text, file=f"pointers{seed}.c", ints=ints)
    watch.stop()
    rows, sums = [], [0, 0, 0]
    for file in sorted(watch.get_data().measured_files()):
        _, statements, _, missed, _ = watch.analysis2(file)
        lines = Path(file).read_text().splitlines()
        others = [n for n in missed if not REFUSES.search(lines[n - 1])]
        row = [len(statements), len(statements) - len(missed), len(others)]
        sums = [a + b for a, b in zip(sums, row, strict=True)]
        rows.append(f"{Path(file).name:20} {row[0]:5} {row[1]:5} {row[2]:5}")
    rows.append(f"{'all':20} {sums[0]:5} {sums[1]:5} {sums[2]:5}")
    share = sums[1] / (sums[1] + sums[2])
    return "\n".join(
        [
            f"{'module':20} {'all':>5} {'met':>5} {'left':>5}",
            *rows,
            f"{len(seeds)} programs reach {share:.1%} of the lines that refuse nothing",
        ]
    )


if __name__ == "__main__":
    print(report(range(int(sys.argv[1]))))
