"""`doeblin verify`: prove C programs by finding their loop invariants."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, NoReturn

import click

from .._errors import InputError
from . import _console
from ._progress import Waiting, progress, stage_of
from ._status import Status, Terminated
from ._verify_files import OUTPUTS, check_targets, reproduced, write_outputs

_METHODS = ("default", "two-stage", "one-stage", "zero-stage", "spacer", "portfolio")
_STATUS = {
    "SAFE": Status.DONE,
    "UNSAFE": Status.UNSAFE,
    "UNKNOWN": Status.UNKNOWN,
    "ERROR": Status.INPUT_ERROR,
}
_ANSWERS = {"SAFE": "sat", "UNSAFE": "unsat", "UNKNOWN": "unknown"}
_COLOURS = {"SAFE": "green", "UNSAFE": "red", "UNKNOWN": "yellow", "ERROR": "red"}
_CALLS = 10  # that are shown of a stack
_WORST = ("ERROR", "UNSAFE", "UNKNOWN", "SAFE")


@click.command()
@click.argument("files", nargs=-1, required=True)
@click.option(
    "--timeout", type=_console.SECONDS, default=10.0, show_default=True, help="Seconds a file."
)
@_console.seed_option
@click.option(
    "--method", type=click.Choice(_METHODS), default="default", show_default=True, help="Engine."
)
@click.option("--hint", "hints", multiple=True, help="A condition to try, e.g. 'x <= 2*y + 1'.")
@click.option(
    "--ints",
    type=click.Choice(["c", "math"]),
    default="c",
    show_default=True,
    help="C's integers, or mathematical ones (which .sl and .smt2 always mean).",
)
@click.option("--overflow", is_flag=True, help="Signed overflow is a failure, too.")
@_console.json_option
@click.option("--jsonl", is_flag=True, help="Print a line of JSON for each file as it is done.")
@_console.jobs_option
@_console.cluster_option
@_console.resume_option
@click.option("--acsl", type=click.Path(dir_okay=False), help="SAFE: annotated C for Frama-C.")
@click.option("--witness", type=click.Path(dir_okay=False), help="SV-COMP witness 2.0 (YAML).")
@click.option("--certificate", type=click.Path(dir_okay=False), help="SAFE: proof as SMT-LIB.")
@click.option("--model", is_flag=True, help="SAFE Horn clauses: print the model as SMT-LIB.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "chc"]),
    default="text",
    show_default=True,
    help="What is printed; chc: sat, unsat or unknown, as solvers of Horn clauses say.",
)
@click.option("--trace", is_flag=True, help="UNSAFE: print the failing run line by line.")
@click.option("--allow-empty", is_flag=True, help="SAFE where there is nothing to prove.")
@click.option("--test", type=click.Path(dir_okay=False), help="UNSAFE: C that fails when run.")
def verify(files: tuple[str, ...], **options: Any) -> int:
    """Prove programs, or find inputs on which they fail.

    FILES are C (.c, .i), SyGuS invariant problems (.sl), SMT-LIB Horn clauses (.smt2), or folders
    of them. Each gets one verdict: SAFE with an invariant for every loop, UNSAFE with a run that
    fails, or UNKNOWN with the reason. SAFE is said only after a fresh solver re-checked the proof,
    UNSAFE only after the run was replayed.

    Exit status: 0 all SAFE, 1 some UNSAFE, 2 some UNKNOWN, 3 input error; `doeblin --help` has
    them all. Of several files the worst counts, in the order 3, 1, 2, 0.

    \b
    Examples:
      doeblin verify program.c
      doeblin verify program.c --acsl annotated.c --certificate proof.smt2
      doeblin verify bug.c --trace --test reproduce.c
      doeblin verify folder/ --jobs 4 --timeout 5 --jsonl
      doeblin verify folder/ --cluster tcp://10.0.0.1:8786 --resume results.jsonl
      doeblin verify program.c --hint "x <= y" --method portfolio
      doeblin verify clauses.smt2 --format chc --model
    """
    if options["overflow"]:
        if options["ints"] == "math":
            raise InputError("--overflow is for C's integers: mathematical ones do not overflow")
        options["ints"] = "overflow"
    # A proof multiplies no large matrices, and threads for it cost more than all of its numbers.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from ..programs.files import find_files

    paths = find_files(list(files))
    check_targets(paths, options)
    settings = {
        "timeout": options["timeout"],
        "seed": options["seed"],
        "method": options["method"],
        "hints": options["hints"],
        "allow_empty": options["allow_empty"],
    }
    in_process = options["cluster"] is None and options["resume"] is None
    if in_process and len(paths) == 1 and not Path(files[0]).is_dir():
        _check_form(paths[0], options)
        return _one(paths[0], settings, options)
    if options["form"] == "chc":
        raise InputError(f"--format chc is for one file; {len(paths)} were given")
    for name in (*OUTPUTS, "trace", "model"):
        if options[name]:
            raise InputError(f"--{name} is for one file; {len(paths)} were given")
    return _many(paths, settings, options)


# ---- one file, in this process


def _check_form(path: Path, options: dict[str, Any]) -> None:
    """What is for Horn clauses must not be asked of C, and one output is of one form."""
    if options["form"] == "chc" and path.suffix != ".smt2":
        raise InputError(f"--format chc is for Horn clauses (.smt2), not for '{path}'")
    if options["model"] and path.suffix not in (".smt2", ".sl"):
        raise InputError(f"--model is for .smt2 and .sl; for '{path}' use --certificate")
    if (options["form"] == "chc" or options["model"]) and (options["as_json"] or options["jsonl"]):
        raise InputError("--json goes with neither --format chc nor --model")


def _one(path: Path, settings: dict[str, Any], options: dict[str, Any]) -> int:
    from .._compiling import clock
    from ..programs import read_program
    from ..programs import verify as prove
    from ..programs.process import GRACE, prepare_process

    prepare_process()
    cancel, done = threading.Event(), threading.Event()
    box: list[Any] = []
    started, last = time.monotonic(), clock() + settings["timeout"] + GRACE
    waiting = Waiting(f"reading {path.name}", settings["timeout"])

    def hear(news: Any) -> None:
        waiting.what = f"proving {path.name}: {stage_of(news)}"

    def work() -> None:
        try:
            before = time.monotonic()
            program = read_program(path, ints=options["ints"])
            spent = time.monotonic() - before
            waiting.what = f"proving {path.name}"
            more = {"cancel": cancel, "spent": spent, "on_event": hear}
            box.append((program, prove(program, **more, **settings)))
        except BaseException as error:  # handed to the main thread
            box.append(error)
        finally:
            done.set()

    # A thread, so that Ctrl-C and the limit are heard while the solver is busy in foreign code;
    # its stack is large, for programs that nest deeply.
    threading.stack_size(512 * 1024 * 1024)
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        if not waiting.wait_for(done, lambda: clock() > last):
            _give_up(path, settings, options)
    except KeyboardInterrupt as stop:
        cancel.set()
        if not done.wait(1.0):  # the solver does not heed it
            ended = "terminated" if isinstance(stop, Terminated) else "interrupted"
            _say_unknown(path, settings, options, ended, time.monotonic() - started)
            _console.echo(ended, err=True)
            _leave(Status.TERMINATED if isinstance(stop, Terminated) else Status.INTERRUPTED)
        if not isinstance(box[0], BaseException):
            program, verdict = box[0]
            _report(program, verdict, options)  # how far it came
        raise
    if isinstance(box[0], BaseException):
        raise box[0]
    program, verdict = box[0]
    verdict, tested = reproduced(program, verdict, options["test"])
    _report(program, verdict, options)
    as_json = options["as_json"] or options["jsonl"] or options["form"] == "chc"
    for line in (*write_outputs(program, verdict, options), *tested):
        _console.echo(f"  {line}", err=as_json)
    return _STATUS[verdict.outcome.value]


def _report(program: Any, verdict: Any, options: dict[str, Any]) -> None:
    if options["as_json"] or options["jsonl"]:
        _console.print_json(verdict.as_dict())
    elif options["form"] == "chc":
        _answer(verdict)
    else:
        _show(program, verdict, options)
    if options["model"] and verdict.outcome.value == "SAFE":
        from ..programs import output

        for line in output.model(program, verdict).splitlines():
            _console.echo(line)


def _answer(verdict: Any) -> None:
    """As solvers of Horn clauses answer; why it is not known goes to standard error."""
    _console.echo(_ANSWERS[verdict.outcome.value])
    if verdict.outcome.value == "UNKNOWN":
        _console.echo(verdict.reason, err=True)


def _give_up(path: Path, settings: dict[str, Any], options: dict[str, Any]) -> None:
    """The solver does not heed its limit: say UNKNOWN and leave, whatever it is doing."""
    reason = f"time limit of {settings['timeout']:g} s reached; the solver had to be stopped"
    _say_unknown(path, settings, options, reason, settings["timeout"])
    _leave(Status.UNKNOWN)


def _say_unknown(
    path: Path, settings: dict[str, Any], options: dict[str, Any], reason: str, seconds: float
) -> None:
    from ..programs import Outcome, Verdict

    verdict = Verdict(
        Outcome.UNKNOWN,
        str(path),
        reason,
        seconds=seconds,
        method=settings["method"],
        seed=settings["seed"],
        ints=options["ints"],
    )
    if options["as_json"] or options["jsonl"]:
        _console.print_json(verdict.as_dict())
    elif options["form"] == "chc":
        _answer(verdict)
    else:
        _console.echo(f"UNKNOWN  {path}: {reason}")


def _leave(status: int) -> NoReturn:
    """End at once, whatever the solver's thread is doing."""
    os._exit(_console.flushed(status))


def _show(program: Any, verdict: Any, options: dict[str, Any]) -> None:
    from ..programs.verdict import INTS

    name = verdict.outcome.value
    _console.echo(f" {verdict.file}", lead=verdict.shown, colour=_COLOURS[name])
    if verdict.reason:
        _console.echo(f"  {verdict.reason}")
    if verdict.assumptions:
        _console.echo(f"  assuming {' and '.join(verdict.assumptions)}")
    if verdict.remark:
        _console.echo(f"  {verdict.remark}")
    graph = (verdict.proved or program).graph
    called = graph.procedures.values() if graph is not None else ()
    procedures = {block for item in called for block in (item.entry, item.exit)}
    for invariant in verdict.invariants:
        place = invariant.place  # with its file where that is an included one
        where = f"{place.line}:{place.column}" if place.file == verdict.file else str(place)
        if invariant.block in procedures:
            where += f"  {invariant.name}:"
        _console.echo(f"  {where}  {invariant.text}")
    if name == "UNSAFE":
        _show_inputs(verdict)
        _show_calls(program, verdict)
    if options["trace"]:
        from ..programs import output

        for line in output.trace(program, verdict):
            _console.echo(line)
    if verdict.remarks is not None:
        _console.echo(f"  checked: {verdict.remarks.checked()}")
        for warning in verdict.remarks.warnings():
            if warning != verdict.reason:
                _console.echo(f"  {warning}")
    _console.echo(
        f"  {verdict.seconds:.2f} s, {verdict.rounds} rounds, method {verdict.method}, "
        f"seed {verdict.seed}, integers: {INTS[verdict.ints]}"
    )


def _show_calls(program: Any, verdict: Any) -> None:
    from ..programs import output

    calls = output.calls(program, verdict)
    for line in calls[:_CALLS]:
        _console.echo(f"  {line}")
    if len(calls) > _CALLS:
        _console.echo(f"  … and {len(calls) - _CALLS} more calls (--json has them)")


def _show_inputs(verdict: Any) -> None:
    """The first inputs, equal ones in a row together."""
    lines = []
    if verdict.law:
        for part, times in verdict.law:
            often = f"  ({times} times)" if times > 1 else ""
            lines += [f"{what}: {value}{often}" for what, value in part]
    else:
        for (what, value), group in groupby(verdict.inputs):
            times = len(list(group))
            lines.append(f"{what}: {value}" + (f"  ({times} times)" if times > 1 else ""))
    for line in lines[:40]:
        _console.echo(f"  {line}")
    if len(lines) > 40:
        _console.echo(f"  … and {len(lines) - 40} more lines of inputs (--json has them)")


# ---- many files, in worker processes


def _many(paths: list[Path], settings: dict[str, Any], options: dict[str, Any]) -> int:
    results: dict[int, dict[str, Any]] = {}
    plain = not (options["as_json"] or options["jsonl"])
    stopped: KeyboardInterrupt | None = None
    try:
        for index, result in verified(paths, settings, options["ints"], options):
            results[index] = result
            if options["jsonl"]:
                _console.print_json(result)
            elif plain:
                _line(result)
    except KeyboardInterrupt as stop:
        stopped = stop
    ordered = [results[index] for index in sorted(results)]
    summary = _summary(ordered, len(paths))
    if options["as_json"]:
        _console.print_json({"results": ordered, "summary": summary})
    elif plain:
        _print_summary(summary)
    if stopped is not None:
        raise stopped
    if any(result.get("internal") for result in ordered):
        return Status.INTERNAL_ERROR
    return _STATUS[next(name for name in _WORST if summary["verdicts"].get(name, 0))]


def verified(
    paths: list[Path], settings: dict[str, Any], ints: str, options: dict[str, Any]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """`(position, result)` of every file: those of `--resume` first, then as they come from
    `--jobs` or from `--cluster`."""
    from ..programs.batch import Batch
    from ..programs.journal import Journal

    resume = options["resume"]
    journal = None if resume is None else Journal(resume, paths, settings, ints)
    done = {} if journal is None else journal.done
    yield from done.items()
    places = [n for n in range(len(paths)) if n not in done]
    jobs = min(options["jobs"], max(len(places), 1))
    missing = [paths[n] for n in places]
    if not missing:
        return
    with (
        Batch(missing, settings, ints, jobs, options["cluster"]) as batch,
        progress(len(paths), len(done)) as bar,
    ):
        for position, result in batch.results(bar.in_flight):
            bar.add(failed=result["verdict"] == "ERROR" or "lost" in result)
            if journal is not None:
                journal.add(places[position], result)
            yield places[position], result


def _line(result: dict[str, Any]) -> None:
    name = result["verdict"]
    notes = [result["reason"], *(f"assuming {a}" for a in result.get("assumptions", ()))]
    notes = [note for note in (*notes, result.get("remark", "")) if note]
    reason = f"  {'; '.join(notes)}" if notes else ""
    text = f"{result['seconds']:7.2f} s  {result['file']}{reason}"
    _console.echo(text, lead=f"{name:<8}", colour=_COLOURS[name])


def _summary(results: list[dict[str, Any]], total: int) -> dict[str, Any]:
    verdicts: dict[str, int] = {}
    for result in results:
        verdicts[result["verdict"]] = verdicts.get(result["verdict"], 0) + 1
    times = sorted(result["seconds"] for result in results)
    return {
        "files": total,
        "finished": len(results),
        "verdicts": verdicts,
        "median_seconds": times[len(times) // 2] if times else None,
        "total_seconds": round(sum(times), 3),
    }


def _print_summary(summary: dict[str, Any]) -> None:
    counts = ", ".join(f"{count} {name}" for name, count in sorted(summary["verdicts"].items()))
    median = summary["median_seconds"]
    tail = f"; median {median:.2f} s" if median is not None else ""
    _console.echo(f"{summary['finished']} of {summary['files']} files: {counts or 'none'}{tail}")
