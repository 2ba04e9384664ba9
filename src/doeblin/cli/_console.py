"""What the commands share: common options, JSON for programs, lists of numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from .._errors import InputError

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
seed_option = click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Random seed: same seed, same output.",
)


def out_option(folder: str, what: str) -> Callable[[Any], Any]:
    """`--out`: the folder that `what` goes to."""
    return click.option(
        "--out",
        type=click.Path(file_okay=False, path_type=Path),
        default=Path(folder),
        show_default=True,
        help=f"Folder for {what}.",
    )


def print_json(value: Any) -> None:
    """Strict JSON on standard output: infinities and NaN, which JSON has not, become null."""
    click.echo(json.dumps(_finite(value), ensure_ascii=False))


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def numbers(option: str, text: str) -> list[float]:
    """The numbers in `text`, separated by commas."""
    found = []
    for part in text.split(","):
        try:
            found.append(float(part))
        except ValueError:
            raise InputError(
                f"{option} needs numbers separated by commas, got {part.strip()!r} in {text!r}"
            ) from None
    return found
