"""Assembles the commands and turns errors into one clear line."""

from __future__ import annotations

import importlib
import os
import sys
from typing import ClassVar

import click

from .._errors import InputError, MissingExtraError
from .._version import __version__

INPUT_ERROR = 3
INTERRUPTED = 130


class _Commands(click.Group):
    """Loads a command's module only when asked for, so that none pays for another's imports."""

    modules: ClassVar[dict[str, str]] = {
        "bench": "_bench",
        "certify": "_certify",
        "check": "_check",
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
        return getattr(module, cmd_name)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="doeblin %(version)s")
def _root() -> None:
    """Markov chains with guarantees: certificates, exact samples, learning and proofs."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; never a traceback for bad input."""
    try:
        status = _root(args=arguments, prog_name="doeblin", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show(sys.stdout)
        status = 0
    except click.ClickException as error:
        error.show()
        status = INPUT_ERROR
    except (InputError, MissingExtraError) as error:
        status = _refuse(error)
    except ModuleNotFoundError as error:
        explained = MissingExtraError.explaining(error)
        if explained is None:
            raise
        status = _refuse(explained)
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        status = INTERRUPTED
    except BrokenPipeError:
        # The reader (`| head`) went away: stop quietly, without a last failing flush.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 0
    sys.exit(status if isinstance(status, int) else 0)


def _refuse(error: Exception) -> int:
    click.echo(f"{click.style('error:', fg='red', bold=True)} {error}", err=True)
    return INPUT_ERROR
