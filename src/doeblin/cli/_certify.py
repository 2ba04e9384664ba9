"""`doeblin certify`: what a schedule of stages proves about every chain that it drives."""

from __future__ import annotations

import json

import click

from .._errors import InputError
from .._numbers import at_least, at_most
from ..schedules import Certificate, Schedule
from ..schedules import certify as certify_schedule
from . import _console


@click.command()
@click.option(
    "--exits", help="Exit rates δ_0,…,δ_{k-1} of a cycle of stages, the restart stage first."
)
@click.option(
    "--epsilon", type=float, help="Restart probability ε of a plain strong Doeblin chain."
)
@click.option(
    "--matrix", help="Any stage matrix as JSON rows, such as '[[0,1],[0.1,0.9]]'; rows sum to one."
)
@click.option(
    "--restart", type=int, default=0, show_default=True, help="The restart stage of --matrix."
)
@click.option(
    "--tv",
    default="0.25,0.1,0.01",
    show_default=True,
    help="Total variations for which to bound the mixing time.",
)
@_console.json_option
def certify(
    exits: str | None,
    epsilon: float | None,
    matrix: str | None,
    restart: int,
    tv: str,
    as_json: bool,
) -> None:
    """Certify a schedule: spectral gap, mixing time, and the cost of an exact draw.

    The guarantee holds for every state space, every restart and all kernels, because it follows
    from the stages alone. Give exactly one of --exits, --epsilon and --matrix.

    \b
    Examples:
      doeblin certify --epsilon 0.05
      doeblin certify --exits 1,0.04,0.0002 --json
      doeblin certify --matrix '[[0,0.5,0.5],[0.1,0.9,0],[0.2,0,0.8]]'
    """
    given = sum(value is not None for value in (exits, epsilon, matrix))
    if given != 1:
        raise InputError(
            f"give exactly one of --exits, --epsilon and --matrix (got {given}); "
            "for example: doeblin certify --exits 1,0.04,0.0002"
        )
    if epsilon is not None:
        schedule = Schedule.doeblin(epsilon)
    elif exits is not None:
        schedule = Schedule.cycle(_console.numbers("--exits", exits))
    else:
        schedule = Schedule(_json_rows(matrix or ""), restart=restart)
    certificate = certify_schedule(schedule)
    mixing = {
        f"{level:g}": certificate.mixing_time(level) for level in _console.numbers("--tv", tv)
    }
    if as_json:
        _console.print_json(
            {
                "gap": certificate.gap,
                "doeblin_parameter": certificate.doeblin_parameter,
                "steps": certificate.steps,
                "mixing_time": mixing,
                "expected_draw_cost": certificate.expected_draw_cost,
                "theorem": certificate.theorem,
                "corollary_gap": certificate.corollary_gap,
                "stages": schedule.matrix.tolist(),
                "restart_stage": schedule.restart,
            }
        )
    else:
        _show(certificate, mixing)


def _show(certificate: Certificate, mixing: dict[str, float]) -> None:
    rows = {
        "spectral gap ≥": at_least(certificate.gap, 4),
        "strong Doeblin parameter ≥": (
            f"{at_least(certificate.doeblin_parameter, 10)} for {certificate.steps:,} steps at once"
        ),
        **{
            f"within TV {level} after": f"{at_most(steps)} steps" for level, steps in mixing.items()
        },
        "an exact draw costs": f"{certificate.expected_draw_cost:,.4g} steps on average",
        "by the": certificate.theorem,
    }
    if certificate.corollary_gap is not None:
        rows["the paper's corollary has"] = f"gap ≥ {at_least(certificate.corollary_gap, 4)}"
    for label, value in rows.items():
        _console.echo(f"{label:<28}{value}")


def _json_rows(text: str) -> list[list[float]]:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"--matrix is not JSON (column {error.colno}: {error.msg}); "
            "for example: --matrix '[[0,1],[0.1,0.9]]'"
        ) from None
    except (RecursionError, ValueError) as error:  # nested too deeply, or numbers too long
        raise InputError(f"--matrix cannot be read: {error}") from None
