"""`doeblin completion`: the script that makes a shell complete doeblin's commands."""

from __future__ import annotations

import click


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script that lets SHELL complete commands and options.

    \b
    Examples:
      doeblin completion bash >> ~/.bashrc
      doeblin completion zsh >> ~/.zshrc
      doeblin completion fish > ~/.config/fish/completions/doeblin.fish
    """
    from click.shell_completion import get_completion_class

    from ._main import COMPLETE

    found = get_completion_class(shell)
    root = click.get_current_context().find_root().command
    assert found is not None
    click.echo(found(root, {}, "doeblin", COMPLETE).source())
