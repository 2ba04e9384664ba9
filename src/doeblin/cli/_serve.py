"""`doeblin serve`: the page and its API."""

from __future__ import annotations

import click

from . import _console


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="Port to listen on; 0 takes any that is free.",
)
@click.option(
    "--jobs",
    type=click.IntRange(1, 64),
    default=2,
    show_default=True,
    help="Programs verified at a time.",
)
@click.option(
    "--timeout",
    type=_console.SECONDS,
    default=20.0,
    show_default=True,
    help="Most seconds for a proof, whatever a request asks for.",
)
@click.option(
    "--name",
    "names",
    multiple=True,
    help="A name of this machine to answer to, beside localhost and plain addresses.",
)
@click.option("--open", "open_page", is_flag=True, help="Open the page in a browser.")
def serve(
    host: str, port: int, jobs: int, timeout: float, names: tuple[str, ...], open_page: bool
) -> None:
    """Swipe words, prove programs and play with chains in a browser.

    Listens on this machine only, unless told otherwise. Work runs in processes of its own, with
    limits on time and memory. Ctrl-C stops everything.

    \b
    Examples:
      doeblin serve --open
      doeblin serve --port 0 --jobs 4 --timeout 30
      doeblin serve --host 0.0.0.0 --name mybox.local
    """
    from ..serve import LOOPBACK, Limits
    from ..serve import serve as run

    limits = Limits(jobs=jobs, verify_seconds=timeout)

    def started(address: str) -> None:
        if host not in LOOPBACK:
            _console.echo(
                f"{host} is open to the network: everybody who reaches this port can use this "
                "machine's processors, without a password",
                lead="warning:",
                colour="yellow",
                err=True,
            )
        _console.echo(f"doeblin is at {address} (the API at {address}/api); Ctrl-C stops it")
        if open_page:
            click.launch(address)

    run(host, port, limits, names=names, on_start=started)
