"""`python -m tests.programs.fuzz.KIND FIRST LAST [LIMIT]`: many programs of one kind, by seeds."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from collections.abc import Callable


def by_seeds(disagreements: Callable[[range, float], tuple[list[str], Counter]]) -> None:
    if shutil.which("gcc") is None:
        sys.exit("there is no gcc here")
    total: Counter = Counter()
    differing: list[str] = []
    first, last = int(sys.argv[1]), int(sys.argv[2])
    limit = float(sys.argv[3]) if len(sys.argv) > 3 else 2.0
    for begin in range(first, last, 25):
        found, counted = disagreements(range(begin, min(begin + 25, last)), limit)
        print(*found, sep="\n", flush=True)
        differing += found
        total += counted
        print(f"up to {min(begin + 25, last)}: {dict(total)}; wrong: {len(differing)}", flush=True)
    sys.exit(bool(differing))
