"""`doeblin gestures`: make gestures up, train a decoder, decode, and measure."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial, wraps
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from .._errors import InputError
from .._files import write
from .._text import json_text
from . import _console
from ._gestures_options import (
    format_option,
    hand_option,
    layout_option,
    lexicon_option,
    make_decoder,
    make_layout,
    make_lexicon,
    read_data,
    size_option,
)
from ._gestures_people import adapt, tune
from ._outputs import check_outputs
from ._progress import Waiting

if TYPE_CHECKING:
    from ..gestures.data import Gesture
    from ..gestures.decoder import Decoder, Guess


@click.group()
def gestures() -> None:
    """From the keys a finger crossed to the word that was meant."""


gestures.add_command(adapt)
gestures.add_command(tune)


@gestures.command()
@click.option("--count", type=click.IntRange(min=1), default=1000, show_default=True)
@click.option(
    "--preset",
    type=click.Choice(["realistic", "paper"]),
    default="realistic",
    show_default=True,
    help="Fitted on people, or the paper's simple walk.",
)
@click.option(
    "--noise", type=float, default=1.0, show_default=True, help="Scale of the spread, up to 10."
)
@click.option(
    "--power", type=float, default=1.0, show_default=True, help="Draw words by frequency^power."
)
@click.option("--rate", type=float, help="Points a second.  [default: 60, or 9 for paper]")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="[default: stdout]")
@layout_option
@lexicon_option
@size_option
@_console.seed_option
def generate(
    *,
    count: int,
    preset: str,
    noise: float,
    power: float,
    rate: float | None,
    out: Path | None,
    layout: Path | None,
    lexicon: Path | None,
    lexicon_size: int,
    seed: int,
) -> None:
    """Make gestures up, one JSON object a line.

    \b
    Examples:
      doeblin gestures generate --count 10000 --out gestures.jsonl
      doeblin gestures generate --preset paper --noise 0.5 --seed 7 | head -1
    """
    from ..gestures.data import Generator, gesture_row

    check_outputs({"--out": out}, {"the layout": layout, "the lexicon": lexicon})
    keys = make_layout(layout)
    maker = Generator(keys, preset, noise, rate)  # pyright: ignore[reportArgumentType]
    words = make_lexicon(lexicon, lexicon_size, keys)
    made = maker.sample(words, count, seed, power=power)
    rows = (gesture_row(gesture, keys) for gesture in made)
    if out is None:
        for row in rows:
            _console.print_json(row)
        return
    with _bar("generating", count) as advance:

        def fill(file: IO[bytes]) -> None:
            for row in rows:
                file.write(json_text(row).encode() + b"\n")
                advance(1)

        write(out, fill)


@gestures.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option(
    "--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The model file."
)
@click.option("--passes", type=click.IntRange(min=1), default=5, show_default=True)
@click.option("--neural", is_flag=True, help="Add small networks to the word-level factors.")
@click.option("--neural-restart", is_flag=True, help="Add a small network to u.")
@click.option(
    "--prune",
    type=click.FloatRange(0, 1, max_open=True),
    default=1e-6,
    show_default=True,
    help="Drop beginnings of words below this share of the best one; more is faster.",
)
@click.option(
    "--checkpoint",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where to keep the state of the training.  [default: OUT.checkpoint]",
)
@layout_option
@lexicon_option
@size_option
@format_option
@_console.seed_option
@_console.json_option
def train(
    data: Path,
    *,
    out: Path,
    passes: int,
    neural: bool,
    neural_restart: bool,
    prune: float,
    checkpoint: Path | None,
    layout: Path | None,
    lexicon: Path | None,
    lexicon_size: int,
    file_format: str,
    seed: int,
    as_json: bool,
) -> None:
    """Train a decoder on the gestures in DATA whose words are known.

    Interrupted, it goes on where it was when the same command is given again.

    \b
    Examples:
      doeblin gestures train swipes.jsonl.gz --out model.safetensors
      doeblin gestures train swipes.jsonl.gz --neural --out neural.safetensors
    """
    import time

    from ..gestures import decoder

    checkpoint = checkpoint or Path(f"{out}.checkpoint")
    second = Path(f"{checkpoint}.network") if neural_restart else None
    check_outputs(
        {"--out": out, "--checkpoint": checkpoint, "--checkpoint (with .network)": second},
        {"DATA": data, "the layout": layout, "the lexicon": lexicon},
    )
    keys = make_layout(layout)
    found = read_data(data, keys, file_format).gestures
    plan = decoder.Plan(passes=passes, seed=seed)
    start = time.perf_counter()
    with _bar("training", max(1, len(found) // plan.batch) * passes) as advance:
        model = decoder.train(
            found,
            make_lexicon(lexicon, lexicon_size, keys),
            layout=keys,
            settings=decoder.Settings(prune=prune, prune_deep=prune / 1000),
            plan=plan,
            neural=neural,
            neural_restart=neural_restart,
            progress=lambda progress: advance(
                1, f"log-likelihood {progress.log_likelihood:.3f}", progress.step, progress.steps
            ),
            checkpoint=checkpoint,
        )
    model.save(out)
    for state in filter(None, (checkpoint, second)):
        state.unlink(missing_ok=True)
    seconds = time.perf_counter() - start
    if neural and model.word_network is None:
        said = "too few gestures whose words are found, to train networks: the model has none"
        _console.echo(said, err=True)
    if as_json:
        _console.print_json({"model": str(out), "seconds": seconds, **model.about})
    else:
        _console.echo(f"trained on {model.about['gestures']} gestures in {seconds:.0f} s: {out}")


def _decoding(command: Callable[..., None], *, any_word: bool = False) -> Callable[..., None]:
    """MODEL, DATA and the options of whatever decodes.

    The command is called with the decoder, the gestures, the options of decoding, and its own.
    With `any_word` it does not mind words that the layout cannot spell.
    """

    @wraps(command)
    def run(
        model: Path,
        data: Path,
        layout: Path | None,
        lexicon: Path | None,
        lexicon_size: int,
        file_format: str,
        hand: Path | None,
        **options: Any,
    ) -> None:
        from ..gestures.decoder import MOST_PLAIN

        decoder = make_decoder(model, layout, lexicon, lexicon_size, hand)
        found = read_data(data, decoder.layout, file_format, any_word=any_word).gestures
        if len(found) > MOST_PLAIN:
            decoder.compiled = True
        how = {name: options.pop(name) for name in ("draws", "open_vocabulary", "seed")}
        command(decoder, found, how, **options)

    parts = (
        click.argument("model", type=click.Path(path_type=Path)),
        click.argument("data", type=click.Path(path_type=Path)),
        click.option(
            "--draws",
            type=click.IntRange(min=1),
            help="Decode by so many exact draws from the Doeblin chain (10 million at most).",
        ),
        click.option(
            "--open-vocabulary",
            is_flag=True,
            help="Also words out of the lexicon: rarer ones of its list, and spelled ones.",
        ),
        layout_option,
        lexicon_option,
        size_option,
        format_option,
        hand_option,
        _console.seed_option,
        _console.json_option,
    )
    for part in reversed(parts):
        run = part(run)
    return run


@gestures.command()
@click.option("--top", type=click.IntRange(min=1), default=4, show_default=True)
@partial(_decoding, any_word=True)
def decode(
    decoder: Decoder, found: list[Gesture], how: dict[str, Any], top: int, as_json: bool
) -> None:
    """The likeliest words of each gesture in DATA, with posterior probabilities.

    MODEL is a file from `train`, or one of those that come with doeblin: `shipped` knows real
    swipes, `generated` only generated ones. With --json, one object a line.

    \b
    Examples:
      doeblin gestures decode shipped swipes.jsonl --top 4
      doeblin gestures decode model.safetensors swipes.jsonl --draws 500 --json
    """
    with Waiting("decoding") as waiting:
        for at in range(0, len(found), 64):
            waiting.what = f"decoded {at:,} of {len(found):,} gestures"
            some = found[at : at + 64]
            answers = decoder.decode(some, top=top, **{**how, "seed": how["seed"] + at})
            for number, (gesture, guesses) in enumerate(zip(some, answers, strict=True), at + 1):
                _show_guesses(number, gesture, guesses, as_json)


def _show_guesses(number: int, gesture: Gesture, guesses: list[Guess], as_json: bool) -> None:
    if as_json:
        words = [guess._asdict() for guess in guesses]
        _console.print_json({"id": gesture.id, "word": gesture.word, "guesses": words})
    else:
        shown = "  ".join(f"{guess.word} {guess.probability:.3f}" for guess in guesses)
        fields = (gesture.id or str(number), gesture.word or "?")
        told = "\t".join(field.replace("\t", "\\t") for field in fields)
        _console.echo(f"{told}\t{shown}")


@gestures.command()
@click.option(
    "--adapt",
    "given",
    type=click.IntRange(min=1),
    help="Instead: the gain on the rest of people's words when so many first ones are confirmed.",
)
@_console.jobs_option
@_console.cluster_option
@_decoding
def evaluate(
    decoder: Decoder,
    found: list[Gesture],
    how: dict[str, Any],
    given: int | None,
    jobs: int,
    cluster: str | None,
    as_json: bool,
) -> None:
    """Accuracy, calibration and cost of MODEL on the gestures in DATA.

    MODEL is a file from `train`, `shipped` or `generated`. Percentages of words whose first guess
    (top1), or one of the first four (top4), is right.

    \b
    Examples:
      doeblin gestures evaluate shipped swipes.jsonl.gz --lexicon-size 10000 --json
      doeblin gestures evaluate shipped swipes.jsonl.gz --draws 500 --jobs 8
      doeblin gestures evaluate shipped swipes.jsonl.gz --adapt 20
    """
    if given is not None:
        _adaptation(decoder, found, given, how, as_json)
        return
    from ..gestures.decoder import evaluate as evaluate_decoder

    told = f"evaluating on {len(found):,} gestures"
    with _console.fleet(jobs, cluster, single=True) as fleet, Waiting(told):
        report = evaluate_decoder(decoder, found, fleet=fleet, **how)
    if as_json:
        _console.print_json(report)
        return
    _console.echo(f"{'':<20}{'words':>8}{'top 1':>8}{'top 4':>8}{'letters':>9}{'calibration':>13}")
    groups = {name.replace("_", " "): report[name] for name in _GROUPS}
    groups |= {f"{length} letters": row for length, row in report["by_length"].items()}
    for name, row in groups.items():
        if row["words"]:
            _console.echo(
                f"{name:<20}{row['words']:>8}{row['top1']:>8.1f}{row['top4']:>8.1f}"
                f"{row['characters']:>9.1f}{row['calibration_error']:>13.3f}"
            )
    if "users" in report:
        values = report["users"]["top1_percentiles"]
        shown = ", ".join(f"{level} %: {value:.1f}" for level, value in values.items())
        _console.echo(f"top 1 of {report['users']['count']} users, percentiles: {shown}")
    _console.echo(f"{report['ms_per_word']:.2f} ms a word, {report['lexicon_size']} words")


def _adaptation(
    decoder: Decoder, found: list[Gesture], given: int, how: dict[str, Any], as_json: bool
) -> None:
    from ..gestures.decoder import evaluate_adaptation

    if how["draws"] is not None or how["open_vocabulary"]:
        raise InputError("--adapt goes with neither --draws nor --open-vocabulary")
    with Waiting(f"evaluating on {len(found):,} gestures"):
        report = evaluate_adaptation(decoder, found, given=given)
    if as_json:
        _console.print_json(report)
        return
    _console.echo(f"{'':<20}{'before':>9}{'after':>9}{'gain':>9}{'± s.e.':>9}")
    for name, digits in (("top1", 2), ("top4", 2), ("log_likelihood", 4)):
        row = report[name]
        shown = (row[k] for k in ("before", "after", "gain", "standard_error"))
        label = name.replace("_", " ").replace("top", "top ")
        _console.echo(f"{label:<20}" + "".join(f"{value:>9.{digits}f}" for value in shown))
    _console.echo(f"{report['users']} users, {report['words']} words after their first {given}")


_GROUPS = ("all", "in_vocabulary", "out_of_vocabulary")


class _bar:
    """A progress bar on standard error, if that is a terminal."""

    def __init__(self, label: str, total: int):
        self._label, self._total = label, total
        self._progress = None

    def __enter__(self):
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import Progress

            self._progress = Progress(console=Console(stderr=True))
            self._progress.start()
            self._task = self._progress.add_task(self._label, total=self._total)
        return self._advance

    def _advance(
        self, amount: int, text: str = "", at: int | None = None, total: int | None = None
    ) -> None:
        if self._progress is not None:
            label = f"{self._label} {text}".strip()
            if at is None:
                self._progress.update(self._task, advance=amount, description=label)
            else:
                self._progress.update(self._task, completed=at, total=total, description=label)

    def __exit__(self, *error: object) -> None:
        if self._progress is not None:
            self._progress.stop()
