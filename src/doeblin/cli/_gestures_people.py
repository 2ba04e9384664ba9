"""`doeblin gestures adapt` and `tune`: one person's hand, and what is known of people."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import click

from .._errors import InputError, Place
from . import _console
from ._gestures_options import (
    format_option,
    layout_option,
    lexicon_option,
    make_decoder,
    read_data,
    size_option,
)
from ._outputs import check_outputs
from ._progress import Waiting


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("data", type=click.Path(path_type=Path))
@click.option(
    "--hand",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="What is known of the person, as JSON; made if it is not there.",
)
@layout_option
@lexicon_option
@size_option
@format_option
@_console.json_option
def adapt(
    model: Path,
    data: Path,
    *,
    hand: Path,
    layout: Path | None,
    lexicon: Path | None,
    lexicon_size: int,
    file_format: str,
    as_json: bool,
) -> None:
    """Learn one person's hand and words from the gestures in DATA, whose words they confirmed.

    The file holds 16 numbers and how often each word was used; `decode` and `evaluate` take it by
    --hand. The same command with more gestures adds to it.

    \b
    Examples:
      doeblin gestures adapt shipped confirmed.jsonl --hand me.json
      doeblin gestures decode shipped swipes.jsonl --hand me.json
    """
    check_outputs({"--hand": hand}, {"DATA": data, "the layout": layout, "the lexicon": lexicon})
    decoder = make_decoder(model, layout, lexicon, lexicon_size, hand if hand.exists() else None)
    found = read_data(data, decoder.layout, file_format)
    for line, gesture in zip(found.lines, found.gestures, strict=True):
        if not gesture.word:
            raise InputError(
                "this gesture has no word: only confirmed ones can be learned; give the word, or "
                "leave the row out",
                place=Place(str(data), line),
            )
    with Waiting(f"learning from {len(found.gestures):,} gestures"):
        adapted = decoder.adapt(found.gestures)
    adapted.hand.save(hand)
    if as_json:
        _console.print_json(adapted.hand.to_json())
        return
    told = sum(adapted.hand.counts.values())
    _console.echo(f"{told} words, of which {adapted.hand.weight:.1f} count for the hand: {hand}")


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("data", type=click.Path(path_type=Path))
@click.option(
    "--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The new model."
)
@click.option("--hands", is_flag=True, help="How people differ, by the field `user` of DATA.")
@click.option("--sharpness", is_flag=True, help="How sure it may be, on people it has not seen.")
@click.option("--doubt", is_flag=True, help="How often an open vocabulary lacks their word.")
@layout_option
@lexicon_option
@size_option
@format_option
@_console.json_option
def tune(
    model: Path,
    data: Path,
    *,
    out: Path,
    hands: bool,
    sharpness: bool,
    doubt: bool,
    layout: Path | None,
    lexicon: Path | None,
    lexicon_size: int,
    file_format: str,
    as_json: bool,
) -> None:
    """Fit what is known of people anew, and leave the weights of MODEL as they are.

    \b
    Examples:
      doeblin gestures tune model.safetensors train.jsonl.gz --hands --out tuned.safetensors
      doeblin gestures tune tuned.safetensors others.jsonl.gz --sharpness --out tuned.safetensors
      doeblin gestures tune tuned.safetensors others.jsonl.gz --doubt --out tuned.safetensors
    """
    from ..gestures.decoder import Decoder, fit_doubt, fit_hands, fit_sharpness
    from ..gestures.decoder.training import LEAST_PEOPLE, LEAST_WORDS, well_known

    if not (hands or sharpness or doubt):
        raise InputError("nothing to fit: give --hands, --sharpness, --doubt or more of them")
    check_outputs({"--out": out}, {"DATA": data, "the layout": layout, "the lexicon": lexicon})
    decoder = make_decoder(model, layout, lexicon, lexicon_size)
    found = read_data(data, decoder.layout, file_format).gestures
    new = decoder.model
    if sharpness:
        with Waiting(f"fitting the sharpness to {len(found):,} gestures"):
            new = replace(new, sharpness=fit_sharpness(decoder, found))
    if doubt:
        sharpened = Decoder(new, decoder.lexicon, layout=decoder.layout)
        with Waiting(f"fitting the doubt to {len(found):,} gestures"):
            new = replace(new, doubt=fit_doubt(sharpened, found))
        if new.doubt is None:
            raise InputError(
                f"too few gestures: of {len(found):,}, 20 must have words that an open vocabulary "
                "lacks, and 20 words that it has",
                place=Place(str(data)),
            )
    if hands:
        with Waiting(f"fitting hands to {len(found):,} gestures"):
            fitted = fit_hands(decoder, found)
        if fitted is None:
            raise InputError(
                f"too few people: by the field `user`, {len(well_known(decoder, found))} here have "
                f"{LEAST_WORDS} words of the lexicon or more, and it takes {LEAST_PEOPLE} of them",
                place=Place(str(data)),
            )
        new = replace(new, hands=fitted)
    new.save(out)
    told = {"model": str(out), "sharpness": new.sharpness, "hands": new.hands is not None}
    told["doubt"] = new.doubt and asdict(new.doubt)
    if as_json:
        _console.print_json(told)
    else:
        _console.echo(f"sharpness {new.sharpness:.3f}: {out}")
