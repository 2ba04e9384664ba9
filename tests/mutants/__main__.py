"""`python -m tests.mutants`: run the campaign where the last one stopped, write the report."""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue

from .faults import FAULTS
from .mutants import PACKAGES, Mutant, mutants_of
from .order import Record, read_records
from .report import read_reasons, write_report
from .trial import ROOT, Outcome, Workshop


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--packages", nargs="+", choices=PACKAGES, default=PACKAGES)
    parser.add_argument("--sample", type=int, metavar="N", help="N mutants by lot (default: all)")
    parser.add_argument("--seed", type=int, default=0, help="of the lot")
    parser.add_argument("--again", action="store_true", help="those that lived in earlier lots")
    parser.add_argument("--jobs", type=int, default=2, help="trials at a time")
    parser.add_argument("--minutes", type=float, default=1e9, help="begin no trial after that")
    parser.add_argument("--no-faults", action="store_true", help="only the mutants")
    parser.add_argument("--faults-only", action="store_true", help="only the experts' faults")
    parser.add_argument(
        "--record", action="store_true", help="look anew at what each test does (it is kept)"
    )
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks/results/mutants.jsonl")
    options = parser.parse_args()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    done = _read(options.out)
    kills = Counter(record["by"] for record in done.values())
    equivalent = read_reasons()

    everyone = [m for package in PACKAGES for m in mutants_of(package, ROOT, options.out.parent)]
    mutants = [m for m in everyone if m.package in options.packages]
    total = len(mutants)
    if not options.faults_only:
        # One order for one seed: a larger sample contains the smaller ones.
        random.Random(options.seed).shuffle(mutants)
        mutants = mutants[: options.sample]
    if options.again:
        mutants = [m for m in everyone if m.name in done and m.name not in equivalent]
        done = {name: record for name, record in done.items() if record["killed"]}
    todo = [] if options.faults_only else [m for m in mutants if m.name not in done]
    print(f"{total} mutants, {len(mutants)} chosen, {len(mutants) - len(todo)} tried before")

    with _workshops(options.jobs) as workshops, options.out.open("a") as log:
        faults = () if options.no_faults else FAULTS
        packages = {m.package for m in todo} | {f.package for f in faults}
        records = _records(workshops, packages, options)
        for fault in faults:
            workshop = workshops.get()
            outcome = workshop.try_change(fault.file, fault.apply, records[fault.package], kills)
            workshops.put(workshop)
            print(
                f"fault: {fault.name}: {'caught by ' + outcome.by if outcome.killed else 'LIVES'}"
            )
            print(json.dumps({"fault": fault.name, **vars(outcome)}), file=log, flush=True)

        end = time.monotonic() + 60 * options.minutes

        def trial(mutant: Mutant) -> tuple[Mutant, Outcome | None]:
            if time.monotonic() > end:
                return mutant, None
            if mutant.name in equivalent:
                return mutant, Outcome(killed=False, by="", seconds=0.0)
            workshop = workshops.get()
            try:
                text, tests = mutant.source(ROOT), records[mutant.package]
                return mutant, workshop.try_change(mutant.file, lambda _: text, tests, kills)
            finally:
                workshops.put(workshop)

        with ThreadPoolExecutor(options.jobs) as pool:
            futures = [pool.submit(trial, mutant) for mutant in todo]
            lived = 0
            for number, future in enumerate(as_completed(futures), 1):
                mutant, outcome = future.result()
                if outcome is None:
                    continue
                lived += not outcome.killed
                kills[outcome.by] += 1
                record = {"mutant": mutant.name, "package": mutant.package, "line": mutant.line}
                record |= {"lot": options.seed} | vars(outcome)
                print(json.dumps(record), file=log, flush=True)
                word = "killed" if outcome.killed else "LIVED "
                print(f"{number}/{len(todo)} ({lived} lived) {word} {mutant.name}", flush=True)
    if not options.faults_only:
        write_report(_read(options.out), everyone)


def _read(path: Path) -> dict[str, dict]:
    """The last record of every mutant and fault, with its first lot and if it was killed then."""
    found: dict[str, dict] = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        record = json.loads(line)
        name = record.get("mutant") or f"fault: {record['fault']}"
        first = found.get(name, record | {"at_first": record["killed"]})
        found[name] = record | {"at_first": first["at_first"], "lot": first.get("lot", 0)}
    return found


@contextmanager
def _workshops(count: int) -> Iterator[SimpleQueue[Workshop]]:
    with tempfile.TemporaryDirectory() as folder:
        queue: SimpleQueue[Workshop] = SimpleQueue()
        for number in range(count):
            queue.put(Workshop(Path(folder) / str(number), Path(folder) / "compiled"))
        yield queue
        for _ in range(count):
            queue.get().close()


def _records(
    workshops: SimpleQueue[Workshop], packages: set[str], options: argparse.Namespace
) -> dict[str, list[Record]]:
    """What the tests do on sound code, package by package."""

    def record(package: str) -> list[Record]:
        path = options.out.with_name(f"mutants-{package}.jsonl")
        if path.exists() and not options.record:
            return read_records(path)
        workshop = workshops.get()
        try:
            return workshop.record(package, path)
        finally:
            workshops.put(workshop)

    with ThreadPoolExecutor(workshops.qsize()) as pool:
        records = dict(zip(packages, pool.map(record, packages), strict=True))
    for package, tests in records.items():
        seconds = sum(test.seconds for test in tests)
        print(f"{len(tests)} tests of {package}: {seconds:.0f} s", flush=True)
    return records


if __name__ == "__main__":
    main()
