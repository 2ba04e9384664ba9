"""`doeblin demo`: a tour of what doeblin does, ending with a report to open."""

from __future__ import annotations

import time
from pathlib import Path

import click

from . import _console


@click.command()
@_console.out_option("report", "the report")
@_console.seed_option
def demo(out: Path, seed: int) -> None:
    """Show what doeblin does, on embedded data, and write it up as one page.

    Takes a few minutes on two cores and ends with a report to open in a browser.
    """
    from rich.console import Console

    from ..report import SECTIONS, render

    console = Console(stderr=True)
    sections = []
    for number, (name, make) in enumerate(SECTIONS.items(), start=1):
        start = time.perf_counter()
        with console.status(f"[{number}/{len(SECTIONS)}] {name} …"):
            sections.append(make(seed))
        click.echo(f"[{number}/{len(SECTIONS)}] {name}: {time.perf_counter() - start:.1f} s")
    page = out / "index.html"
    out.mkdir(parents=True, exist_ok=True)
    page.write_text(render(sections), encoding="utf-8")
    click.echo(f"\nThe report is ready. Open {page.resolve()} in a browser.")
