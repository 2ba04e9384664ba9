"""`doeblin check`: confirm a proof without searching for it."""

from __future__ import annotations

import click

from .._files import read_text
from . import _console
from ._status import Status


@click.command()
@click.argument("file", type=click.Path(dir_okay=False))
@click.argument("certificate", type=click.Path(dir_okay=False))
@click.option(
    "--timeout", type=_console.SECONDS, default=60.0, show_default=True, help="Seconds in all."
)
@click.option(
    "--ints",
    type=click.Choice(["c", "math"]),
    default="c",
    show_default=True,
    help="Whether a proof for mathematical integers counts for a C program.",
)
@_console.json_option
def check(file: str, certificate: str, timeout: float, ints: str, as_json: bool) -> int:
    """Re-check a certificate against the program, without searching.

    Only the invariants are taken from CERTIFICATE; all conditions are made anew from FILE, so that
    no certificate can confirm what does not hold. Exit status: 0 confirmed, 2 not confirmed,
    3 input error.

    \b
    Example:
      doeblin verify program.c --certificate proof.smt2
      doeblin check program.c proof.smt2
    """
    import re

    from ..programs import read_program
    from ..programs.output import check_certificate, count_conditions, decided
    from ..programs.process import prepare_process
    from ..programs.strategies import assumptions

    text = read_text(certificate)
    prepare_process()
    stated = re.search(r'set-info :source "doeblin (c|math|overflow|bounded)"', text)
    program = whole = read_program(file)
    if stated:
        program = program.under(stated.group(1))  # type: ignore[arg-type]
    remarks = (whole if program.ints == "bounded" else program).remarks
    model = "c" if program.ints == "bounded" else program.ints
    assuming = assumptions(program) + (remarks.assumed() if remarks else ())
    if program.language == "c" and program.ints == "math" and ints != "math":
        problem = "this is a proof for mathematical integers; --ints math lets it count"
    elif remarks is not None and remarks.empty:
        problem = remarks.warnings()[0]
    else:
        problem = check_certificate(program, text, file=certificate, timeout=timeout)
    if as_json:
        _console.print_json(
            {
                "file": file,
                "confirmed": problem is None,
                "reason": problem,
                "ints": model,
                "assumptions": list(assuming),
                "conditions": count_conditions(program, text) if problem is None else None,
                "remark": " ".join(decided(whole, program)) if problem is None else "",
            }
        )
    elif problem is None:
        conditions = count_conditions(program, text)
        known = f", assuming {' and '.join(assuming)}" if assuming else ""
        _console.echo(
            f"confirmed: {file} cannot fail{known} ({conditions} conditions, integers: {model})"
        )
        for line in decided(whole, program)[:1]:
            _console.echo(f"  {line}")
    else:
        _console.echo(f"not confirmed: {problem}")
    return Status.DONE if problem is None else Status.UNKNOWN
