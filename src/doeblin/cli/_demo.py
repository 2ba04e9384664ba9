"""`doeblin demo`: a tour of what doeblin does, ending with a report to open."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .._errors import require
from .._files import write_text
from . import _console

if TYPE_CHECKING:
    from ..report import Section


@click.command()
@_console.out_option("report", "the report")
@_console.seed_option
def demo(out: Path, seed: int) -> None:
    """Show what doeblin does, on embedded data, and write it up as one page.

    Takes a few minutes on two cores and ends with a report to open in a browser.
    """
    from concurrent.futures import as_completed

    from rich.console import Console

    from .._children import process_pool
    from ..report import SECTIONS, render

    require("all", "jax", "equinox", "optax", "numba", "pycparser", "z3", "safetensors")
    workers = min(len(SECTIONS), os.cpu_count() or 1)
    with (
        process_pool(workers) as pool,
        Console(stderr=True).status("") as status,
    ):
        running = {pool.submit(_make, name, seed): name for name in SECTIONS}
        done: dict[str, Section] = {}
        status.update(f"working on {len(SECTIONS)} sections …")
        for future in as_completed(running):
            section, seconds = future.result()
            done[running[future]] = section
            _console.echo(f"[{len(done)}/{len(SECTIONS)}] {running[future]}: {seconds:.1f} s")
    page = out / "index.html"
    write_text(page, render([done[name] for name in SECTIONS]))
    _console.echo()
    _console.echo(f"The report is ready. Open it in a browser: {page.resolve().as_uri()}")
    _console.echo(f"To swipe, prove and play with chains yourself: {_command()} serve")


def _make(name: str, seed: int) -> tuple[Section, float]:
    from ..report import SECTIONS

    start = time.perf_counter()
    return SECTIONS[name](seed), time.perf_counter() - start


def _command() -> str:
    """How this program was called, as a path from here where there is one."""
    command = Path(sys.argv[0])
    return os.path.relpath(command) if command.is_relative_to(Path.cwd()) else str(command)
