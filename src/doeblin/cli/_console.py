"""What the commands share: output, common options, JSON for programs, lists of numbers."""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._errors import InputError, OutputError
from .._text import json_text, visible
from ._progress import make_way
from ._status import Status

if TYPE_CHECKING:
    from .._fleet import Fleet

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
seed_option = click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Random seed: same seed, same output.",
)


jobs_option = click.option(
    "--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes."
)
cluster_option = click.option(
    "--cluster", metavar="ADDRESS", help="Use the workers of this Dask scheduler instead."
)
resume_option = click.option(
    "--resume",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="RESULTS",
    help="Keep results in this file (JSON lines), and do only what it lacks.",
)


@contextlib.contextmanager
def fleet(
    jobs: int, cluster: str | None, *, seen: str | None = None, single: bool = False
) -> Iterator[Fleet | None]:
    """The workers of `--cluster`, or as many processes as `--jobs`; nothing for one."""
    from .._fleet import dask_cluster, processes

    if cluster is not None:
        with dask_cluster(cluster, seen=seen, single=single) as found:
            yield found
    elif jobs > 1:
        with processes(jobs) as found:
            yield found
    else:
        yield None


_MOST_SECONDS = 999_999_999


class _Seconds(click.ParamType):
    """A time limit: positive, and no more than anybody waits."""

    name = "seconds"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        try:
            found = float(value)
        except ValueError:
            raise InputError(f"{_option(param)} needs a number of seconds, got {value!r}") from None
        if not 0 < found <= _MOST_SECONDS:
            raise InputError(
                f"{_option(param)} must be more than 0 and at most {_MOST_SECONDS:,} seconds, "
                f"got {value}"
            )
        return found


def _option(param: click.Parameter | None) -> str:
    return param.opts[0] if param is not None else "the time limit"


SECONDS = _Seconds()


def out_option(folder: str, what: str) -> Callable[[Any], Any]:
    """`--out`: the folder that `what` goes to."""
    return click.option(
        "--out",
        type=click.Path(path_type=Path),
        callback=_made,
        default=Path(folder),
        show_default=True,
        help=f"Folder for {what}.",
    )


def _made(_: click.Context, __: click.Parameter, folder: Path) -> Path:
    """The folder, which is there from the start: a failure to make it must not cost an hour."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise OutputError(folder, reason) from None
    return folder


def echo(
    text: object = "", *, lead: str = "", colour: str | None = None, err: bool = False
) -> None:
    """Print one line, `lead` in colour. Whatever it quotes cannot do anything to a terminal.

    All output goes through here. Raises OutputError where it cannot be written, and
    BrokenPipeError when nobody reads it any more; what is said to standard error may get lost.
    """
    line = visible(str(text))
    if lead:
        line = f"{click.style(visible(lead), fg=colour, bold=True)} {line}"
    make_way(err=err)
    try:
        click.echo(line, err=err)
    except BrokenPipeError:
        if not err:
            raise
    except OSError as error:
        if not err:
            raise OutputError("standard output", error.strerror or str(error)) from None


def flushed(status: int) -> int:
    """The status when all output is out; what failed is not tried again when Python ends."""
    for stream in (sys.stdout, sys.stderr):
        if stream is None:
            continue
        try:
            stream.flush()
        except (OSError, ValueError) as error:
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            if stream is sys.stdout and status in (Status.DONE, Status.UNSAFE, Status.UNKNOWN):
                closed = isinstance(error, BrokenPipeError)
                status = Status.CLOSED_PIPE if closed else Status.OUTPUT_ERROR
                if not closed:
                    echo(OutputError("standard output", str(error)), lead="error:", err=True)
    return status


def echo_lines(text: str, *, err: bool = False) -> None:
    """Print a text of our own that has several lines."""
    for line in text.splitlines():
        echo(line, err=err)


_compiled = itertools.count()


def say_compiling(about: float) -> None:
    """People wait, once on a machine, and should know why; and why again, where there is more."""
    more = " more" if next(_compiled) else ""
    echo(f"compiling once, about {about:.0f} s{more}", err=True)


def print_json(value: Any) -> None:
    """Strict JSON on standard output: infinities and NaN, which JSON has not, become null."""
    echo(json_text(_finite(value)))


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
