"""`doeblin demo`: a tour of what doeblin does, ending with a report to open."""

from __future__ import annotations

import click


@click.command()
def demo() -> None:
    """A tour."""
