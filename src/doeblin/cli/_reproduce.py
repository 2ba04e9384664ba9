"""`doeblin reproduce`: one command per table or figure of the paper."""

from __future__ import annotations

import click


@click.group()
def reproduce() -> None:
    """Redo the paper's tables and figures, with their numbers as JSON."""
