"""Options that the commands of `doeblin gestures` share, and what they stand for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._errors import InputError, Place
from . import _console
from ._progress import Waiting

if TYPE_CHECKING:
    from ..gestures.data import Layout, Lexicon, Reading
    from ..gestures.decoder import Decoder

layout_option = click.option(
    "--layout",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Keyboard layout as JSON.  [default: qwerty]",
)
lexicon_option = click.option(
    "--lexicon",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Words and frequencies as TSV.  [default: the embedded English list]",
)
size_option = click.option(
    "--lexicon-size",
    type=click.IntRange(min=1),
    default=10_000,
    show_default=True,
    help="Use only so many of the lexicon's commonest words that the layout can spell.",
)
format_option = click.option(
    "--format",
    "file_format",
    type=click.Choice(["auto", "jsonl", "futo", "log"]),
    default="auto",
    show_default=True,
    help="JSONL of this program, FUTO's JSONL, or a raw How We Swipe log.",
)
hand_option = click.option(
    "--hand",
    type=click.Path(dir_okay=False, path_type=Path),
    help="What `adapt` learned of a person.",
)


def make_layout(path: Path | None) -> Layout:
    """The layout of a file, or QWERTY."""
    from ..gestures.data import Layout

    return Layout.read(path) if path else Layout.qwerty()


def make_lexicon(path: Path | None, size: int, layout: Layout) -> Lexicon:
    """The commonest words of a file, or of the embedded list, that the layout can spell."""
    from ..gestures.data import Lexicon

    if path:
        return Lexicon.read(path).top(size, layout=layout)
    common = Lexicon.embedded(size)
    if set("".join(common.words)) <= set(layout.letters):
        return common
    return common.whole.top(size, layout=layout)


def make_decoder(
    model: Path, layout: Path | None, lexicon: Path | None, size: int, hand: Path | None = None
) -> Decoder:
    """The decoder that the options ask for."""
    from ..gestures.data import Layout
    from ..gestures.decoder import Decoder, Hand, Model

    keys = Layout.read(layout) if layout else None
    whose = Hand.load(hand) if hand else None
    named = Model.named(model)
    words = make_lexicon(lexicon, size, keys or named.layout)
    return Decoder(named, words, layout=keys, hand=whose)


def read_data(path: Path, layout: Layout, file_format: Any, **how: bool) -> Reading:
    """The gestures of a file; rows that cannot be used are told on standard error."""
    from ..gestures.data import read_gestures

    with Waiting(f"reading {path.name}"):
        reading = read_gestures(path, layout, format=file_format, **how)
    if reading.problems:
        _console.echo(f"{path}: {reading.report()}", err=True)
    if not reading.gestures:
        raise InputError("no gesture here can be used", place=Place(str(path)))
    return reading
