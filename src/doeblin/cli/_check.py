"""`doeblin check`: confirm a proof without searching for it."""

from __future__ import annotations

import click

from .._files import read_text
from . import _console


@click.command()
@click.argument("file", type=click.Path(dir_okay=False))
@click.argument("certificate", type=click.Path(dir_okay=False))
@click.option("--timeout", type=float, default=60.0, show_default=True, help="Seconds in all.")
@_console.json_option
def check(file: str, certificate: str, timeout: float, as_json: bool) -> int:
    """Re-check a certificate against the program, without searching.

    Only the invariants are taken from CERTIFICATE; all conditions are made anew from FILE.
    Exit status: 0 confirmed, 2 not confirmed, 3 input error.

    \b
    Example:
      doeblin verify program.c --certificate proof.smt2
      doeblin check program.c proof.smt2
    """
    import re

    from ..programs import read_program
    from ..programs._integers import assumptions
    from ..programs.output import check_certificate

    text = read_text(certificate)
    stated = re.search(r'set-info :source "doeblin (c|math|overflow|bounded)"', text)
    program = read_program(file)
    if stated:
        program = program.under(stated.group(1))  # type: ignore[arg-type]
    model = "c" if program.ints == "bounded" else program.ints
    assuming = assumptions(program)
    problem = check_certificate(program, text, file=certificate, timeout=timeout)
    if as_json:
        _console.print_json(
            {
                "file": file,
                "confirmed": problem is None,
                "reason": problem,
                "ints": model,
                "assumptions": list(assuming),
            }
        )
    elif problem is None:
        conditions = len(program.system.clauses)
        known = f", assuming {' and '.join(assuming)}" if assuming else ""
        _console.echo(
            f"confirmed: {file} cannot fail{known} ({conditions} conditions, integers: {model})"
        )
    else:
        _console.echo(f"not confirmed: {problem}")
    return 0 if problem is None else 2
