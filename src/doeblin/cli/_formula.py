"""`doeblin formula`: a formula that explains labelled examples."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from .._errors import InputError
from . import _console
from ._status import Status

if TYPE_CHECKING:
    from ..formulas import Examples, Formula, Method, SearchResult


@click.command()
@click.argument("examples", type=click.Path(allow_dash=True))
@click.option("--label", help="The column of True and False; found by itself when only one can be.")
@click.option(
    "--as",
    "language",
    type=click.Choice(["people", "python", "smtlib", "latex", "json"]),
    default="people",
    show_default=True,
    help="How to print the formula.",
)
@click.option("--check", is_flag=True, help="Read the answer back and evaluate it on the data.")
@click.option(
    "--method",
    type=click.Choice(["gibbs", "0-stage", "1-stage", "2-stage"]),
    default="gibbs",
    show_default=True,
    help="Whole-atom Gibbs with focus, or one of the paper's three chains.",
)
@click.option("--beta", type=click.FloatRange(min=0), help="Inverse temperature.")
@click.option("--exits", help="Exit rates of the stages after the restart, such as 0.04,0.0002.")
@click.option("--template", help="Disjuncts × atoms, such as 3x2; by default templates grow.")
@click.option("--coefficients", default="-1..1", show_default=True, help="A range or a list.")
@click.option("--constants", default="data", show_default=True, help="A range, a list, or data.")
@click.option("--max-terms", type=click.IntRange(min=1), help="Most variables in an atom.")
@click.option("--start", help="A formula to begin from.")
@click.option(
    "--time-limit", type=click.FloatRange(min=0), default=60, show_default=True, help="Seconds."
)
@click.option("--max-steps", type=click.IntRange(min=1), help="Most steps of the chain.")
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Processes that search at once; with one, same seed, same answer.",
)
@_console.cluster_option
@_console.seed_option
@_console.json_option
def formula(
    examples: str,
    *,
    label: str | None,
    language: str,
    check: bool,
    method: str,
    beta: float | None,
    exits: str | None,
    template: str | None,
    coefficients: str,
    constants: str,
    max_terms: int | None,
    start: str | None,
    time_limit: float,
    max_steps: int | None,
    workers: int,
    cluster: str | None,
    seed: int,
    as_json: bool,
) -> int:
    """Find a formula that agrees with EXAMPLES, a .csv or .json file or - for standard input.

    The file has integer columns and one column of True and False; a column `weight` counts rows
    several times. JSON may also hold implications: {"examples": [{"x": 1, "f": true}, …],
    "implications": [{"if": {"x": 1}, "then": {"x": 2}}, …]}.

    The exit status is 0 if the formula errs on no example, 2 if it errs on some.

    \b
    Examples:
      doeblin formula examples.csv
      doeblin formula examples.csv --as smtlib --check
      doeblin formula examples.csv --coefficients -2..2 --constants -10..10 --template 2x2
      doeblin formula examples.csv --method 2-stage --beta 3 --exits 0.04,0.0002 --json
    """
    from ..formulas import Formula, Space, search

    data = _read(examples, label)
    contradictions = data.contradictions()
    for inside, outside in contradictions:
        values = zip(data.variables, data.points[inside[0]], strict=True)
        point = ", ".join(f"{name} = {value}" for name, value in values)
        _console.echo(
            f"contradiction at {point}: True in {_rows(inside)}, False in {_rows(outside)}; every "
            "formula errs on one side",
            err=True,
        )
    space = Space(
        coefficients=_integers("--coefficients", coefficients),
        constants=None if constants == "data" else _integers("--constants", constants),
        max_terms=max_terms,
    )
    chosen = _method(method, beta, exits)
    with _console.fleet(workers, cluster) as fleet, _meter() as progress:
        result = search(
            data,
            method=chosen,
            template=_template(template),
            space=space,
            start=None if start is None else Formula.parse(start, data.variables),
            seed=seed,
            max_steps=max_steps,
            seconds=time_limit,
            progress=progress,
            executor=fleet and fleet.executor,
            chains=fleet and fleet.width(),
        )
    checked = _checked(result.formula, data) if check else None
    if as_json:
        _console.print_json(
            {
                **_as_json(result, data),
                "contradictions": [
                    {"true": [k + 1 for k in inside], "false": [k + 1 for k in outside]}
                    for inside, outside in contradictions
                ],
                **({} if checked is None else {"checked_errors": checked}),
            }
        )
    else:
        _console.echo_lines(_written(result.formula, language))
        _remark(result, data, checked)
    return Status.UNKNOWN if result.errors else Status.DONE


def _read(source: str, label: str | None) -> Examples:
    from ..formulas.language import read_examples, read_stream

    if source == "-":
        return read_stream(sys.stdin, "standard input", label=label)
    return read_examples(source, label=label)


def _method(name: str, beta: float | None, exits: str | None) -> Method:
    from ..formulas import focused_gibbs, one_stage, two_stage, zero_stage

    options: dict[str, Any] = {} if beta is None else {"beta": beta}
    wanted = {"gibbs": 1, "0-stage": 0, "1-stage": 1, "2-stage": 2}[name]
    if exits is not None:
        rates = _console.numbers("--exits", exits)
        if len(rates) != wanted:
            raise InputError(
                f"--method {name} takes {wanted} exit rate{'s' * (wanted != 1)}, got {exits!r}"
            )
        options |= {"exits": tuple(rates)} if wanted == 2 else {"epsilon": rates[0]}
    makers = {
        "gibbs": focused_gibbs, "0-stage": zero_stage, "1-stage": one_stage, "2-stage": two_stage,
    }  # fmt: skip
    return makers[name](**options)


def _template(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    parts = text.lower().replace("×", "x").split("x")
    if len(parts) != 2 or not all(part.strip().isdecimal() and int(part) for part in parts):
        raise InputError(f"--template needs disjuncts x atoms, such as 3x2, got {text!r}")
    return int(parts[0]), int(parts[1])


def _integers(option: str, text: str) -> list[int]:
    """`-2..2`, or integers separated by commas."""
    try:
        if ".." in text:
            low, high = (int(part) for part in text.split(".."))
            if high - low > 10_000:
                raise InputError(f"{option} {text!r} spans over 10,000 integers")
            values = list(range(low, high + 1))
        else:
            values = [int(part) for part in text.split(",")]
    except ValueError:
        values = []
    if not values:
        raise InputError(f"{option} needs a range such as -2..2 or a list such as -1,0,1: {text!r}")
    return values


def _written(found: Formula, language: str) -> str:
    if language == "json":
        return json.dumps(found.to_json())
    if language == "people":
        return str(found)
    return getattr(found, language)().rstrip()


def _as_json(result: SearchResult, data: Examples) -> dict[str, Any]:
    found, schedule = result.formula, result.method.schedule
    return {
        "formula": str(found),
        "errors": result.errors,
        "cost": result.cost,
        "solved": result.solved,
        "reason": result.reason,
        "steps": result.steps,
        "tours": result.tours,
        "seconds": result.seconds,
        "seed": result.seed,
        "template": list(result.template),
        "method": result.method.name,
        "schedule": None if schedule is None else schedule.matrix.tolist(),
        "examples": len(data.points),
        "implications": len(data.implications),
        "wrong_rows": [k + 1 for k in data.wrong_rows(found)] if len(data.points) else [],
        "python": found.python(),
        "smtlib": found.smtlib(),
        "latex": found.latex(),
        "structure": found.to_json(),
        "trace": [point._asdict() for point in result.trace],
    }


def _checked(found: Formula, data: Examples) -> int:
    """The errors of the printed formula, read back from its text."""
    return data.errors(type(found).parse(str(found), data.variables))


def _remark(result: SearchResult, data: Examples, checked: int | None) -> None:
    total = len(data.points) + len(data.implications)
    effort = f"{result.steps:,} steps, {result.seconds:.2f} s, seed {result.seed}"
    if not result.errors:
        _console.echo(f"agrees with all {total:,} examples ({effort})", err=True)
    else:
        why = {
            "solved": "no formula can do better",
            "time": "the time was up; try --time-limit",
            "steps": "the steps were up; try --max-steps",
            "stopped": "it was stopped",
        }[result.reason]
        wrong = data.wrong_rows(result.formula) if len(data.points) else []
        rows = f": {_rows(wrong)}" if wrong else ""
        _console.echo(
            f"errs on {result.errors:,} of {total:,} examples{rows} ({why}; {effort})", err=True
        )
    if checked is not None:
        _console.echo(f"checked on the data: {checked:,} errors", err=True)


def _rows(rows: Any) -> str:
    shown = ", ".join(str(k + 1) for k in rows[:8])
    more = f" and {len(rows) - 8:,} more" if len(rows) > 8 else ""
    return f"row{'s' * (len(rows) != 1)} {shown}{more}"


class _meter:
    """A line on the terminal that says how the search is doing; silent elsewhere."""

    def __enter__(self) -> Any:
        self._status = None
        if not sys.stderr.isatty():
            return None
        from rich.console import Console
        from rich.status import Status

        self._status = Status("searching", console=Console(stderr=True))
        self._status.start()
        return self._show

    def _show(self, now: Any) -> None:
        if self._status is not None and now.seconds > 0.5:
            n, m = now.template
            self._status.update(
                f"{n} × {m} atoms, {now.cost:,} errors so far, {now.steps:,} steps, "
                f"{now.seconds:.0f} s"
            )

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()
