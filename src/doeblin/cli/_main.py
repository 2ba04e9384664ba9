"""Assembles the commands; turns errors into one clear line and an exit status."""

from __future__ import annotations

import errno
import gc
import importlib
import io
import os
import signal
import sys
import threading
import traceback
from typing import ClassVar

import click

from .._compiling import when_compiling
from .._errors import InputError, MissingExtraError, OutputError
from .._version import __version__
from ._console import echo, echo_lines, flushed, say_compiling
from ._status import TABLE, Status, Terminated

COMPLETE = "_DOEBLIN_COMPLETE"
"""What a shell sets to ask for completions; click has named it."""
_CANNOT_WRITE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG, errno.EIO)


class _State:
    """What the whole command line knows: is the traceback wanted?"""

    debug = False


def _debug(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        context.ensure_object(_State).debug = True


def _with_debug(command: click.Command) -> click.Command:
    """The command with `--debug`, which every command takes."""
    if not any(option.name == "debug" for option in command.params):
        option = click.Option(
            ["--debug"],
            is_flag=True,
            expose_value=False,
            callback=_debug,
            is_eager=True,
            help="After an error, show where in doeblin it came from.",
        )
        command.params.append(option)
    for inner in getattr(command, "commands", {}).values():
        _with_debug(inner)
    return command


class _Commands(click.Group):
    """Loads a command's module only when asked for, so that none pays for another's imports."""

    modules: ClassVar[dict[str, str]] = {
        "bench": "_bench",
        "certify": "_certify",
        "check": "_check",
        "completion": "_completion",
        "demo": "_demo",
        "formula": "_formula",
        "gestures": "_gestures",
        "reproduce": "_reproduce",
        "serve": "_serve",
        "verify": "_verify",
    }

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(self.modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.modules:
            return None
        module = importlib.import_module(f"{__package__}.{self.modules[cmd_name]}")
        return _with_debug(getattr(module, cmd_name))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]}, epilog=TABLE)
@click.version_option(__version__, message="doeblin %(version)s")
def _root() -> None:
    """Markov chains with guarantees: certificates, exact samples, learning and proofs."""


_with_debug(_root)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line. Whatever happens, it ends with a status of the table."""
    state = _State()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Some terminals do not have all characters; none is worth a crash.
            stream.reconfigure(errors="backslashreplace")
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _terminate)
    when_compiling(say_compiling)
    if arguments is None:  # modules stay: rubbish is seldom among what they bring
        gc.set_threshold(200_000)
    try:
        status = _run(arguments, state)
    except BaseException as error:  # every way to end is in the table
        status = _explain(error, state)
    status = flushed(status)
    if arguments is None:  # the process ends now, and needs no search for rubbish before
        gc.freeze()
    sys.exit(status)


def _run(arguments: list[str] | None, state: _State) -> int:
    # Not click's own `main`, which has statuses of its own.
    if completing := os.environ.get(COMPLETE):
        from click.shell_completion import shell_complete

        return shell_complete(_root, {}, "doeblin", COMPLETE, completing)
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    try:
        with _root.make_context("doeblin", arguments, obj=state) as context:
            found = _root.invoke(context)
    except click.exceptions.Exit as stop:  # --help and --version
        found = stop.exit_code
    except ModuleNotFoundError as error:
        raise MissingExtraError.explaining(error) or error from None
    return found if isinstance(found, int) else Status.DONE


def _explain(error: BaseException, state: _State) -> int:
    """One line for people, and the status for programs."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        echo_lines(error.format_message())
        return Status.DONE
    status, text = _told(error)
    if text is not None:
        marked = status not in (Status.INTERRUPTED, Status.TERMINATED)
        echo(text, lead="error:" if marked else "", colour="red", err=True)
    if state.debug:
        for line in traceback.format_exception(error):
            echo_lines(line, err=True)
    return status


def _told(error: BaseException) -> tuple[Status, str | None]:
    if isinstance(error, Terminated):
        return Status.TERMINATED, "terminated"
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return Status.INTERRUPTED, "interrupted"
    if isinstance(error, BrokenPipeError):
        return Status.CLOSED_PIPE, None
    if isinstance(error, click.ClickException):
        text = " ".join(error.format_message().split())
        if isinstance(error, click.UsageError) and error.ctx is not None:
            text = f"{text.removesuffix('.')}; '{error.ctx.command_path} --help' says what there is"
        return Status.INPUT_ERROR, text
    if isinstance(error, InputError | MissingExtraError):
        return Status.INPUT_ERROR, str(error)
    if isinstance(error, OutputError):
        return Status.OUTPUT_ERROR, str(error)
    if isinstance(error, OSError) and error.errno in _CANNOT_WRITE:
        return Status.OUTPUT_ERROR, f"cannot write: {error}"
    if isinstance(error, MemoryError):
        return Status.INTERNAL_ERROR, "out of memory"
    return Status.INTERNAL_ERROR, (
        f"a fault of doeblin itself: {type(error).__name__}: {error}; please report it "
        "(--debug shows where)"
    )


def _terminate(*_: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough: the end is on its way
    raise Terminated
