"""The long campaign: `python -m tests.programs.fuzz c --count 10000`, or clauses, or rewritings."""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from .campaign import Tally, judge
from .clauses import judge_clauses
from .metamorphic import opposite
from .premises import judge_premises

BATCH = 50


def rewritings(seeds: range, *, timeout: float) -> Tally:
    wrong, pairs = opposite(seeds, timeout=timeout)
    tally = Tally(wrong=wrong)
    tally.outcomes["pairs decided"] += pairs
    return tally


KINDS = {
    "c": judge,
    "clauses": partial(judge_clauses, cross_check=True),
    "premises": judge_premises,
    "rewritings": rewritings,
}


def main() -> int:
    parser = argparse.ArgumentParser(description="Random programs against independent referees.")
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=1000)
    parser.add_argument("--timeout", type=float, default=1.0)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    last = options.first + options.count
    batches = [range(n, min(n + BATCH, last)) for n in range(options.first, last, BATCH)]
    work = partial(KINDS[options.kind], timeout=options.timeout)
    total, done, started = Tally(), 0, time.monotonic()
    with ProcessPoolExecutor(options.jobs) as pool:
        for seeds, tally in zip(batches, pool.map(work, batches), strict=True):
            for line in tally.wrong + tally.late:
                print(line, flush=True)
            total.add(tally)
            done += len(seeds)
            seconds = time.monotonic() - started
            print(f"{done} programs, {seconds:.0f} s: {dict(total.outcomes)}", flush=True)
    for reason, count in total.reasons.most_common(20):
        print(f"{count:6} {reason}")
    print(f"{options.count} programs; wrong: {len(total.wrong)}, late: {len(total.late)}")
    return 1 if total.wrong or total.late else 0


if __name__ == "__main__":
    sys.exit(main())
