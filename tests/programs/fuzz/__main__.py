"""The long campaign: `python -m tests.programs.fuzz --count 10000`."""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from .campaign import Tally, judge

BATCH = 50


def main() -> int:
    parser = argparse.ArgumentParser(description="Verify random C programs against compilers.")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=1000)
    parser.add_argument("--timeout", type=float, default=1.0)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    last = options.first + options.count
    batches = [range(n, min(n + BATCH, last)) for n in range(options.first, last, BATCH)]
    total, done, started = Tally(), 0, time.monotonic()
    with ProcessPoolExecutor(options.jobs) as pool:
        for seeds, tally in zip(
            batches, pool.map(partial(judge, timeout=options.timeout), batches), strict=True
        ):
            for line in tally.wrong:
                print(line, flush=True)
            total.add(tally)
            done += len(seeds)
            print(
                f"{done} programs, {time.monotonic() - started:.0f} s: {dict(total.outcomes)}",
                flush=True,
            )
    for reason, count in total.reasons.most_common(20):
        print(f"{count:6} {reason}")
    print(f"{options.count} programs; wrong: {len(total.wrong)}")
    return 1 if total.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
