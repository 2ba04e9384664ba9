"""Fair timing on a noisy machine: contenders take turns, and the median of each is reported."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import jax


def compare(contenders: dict[str, Callable[[Any], Any]], *, rounds: int = 7) -> dict[str, float]:
    """Median seconds of each contender, called with a fresh random key in each round.

    One call of each beforehand compiles and is not counted.
    """
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for round_number in range(rounds + 1):
        for name, run in contenders.items():
            key = jax.random.key(round_number)
            start = time.perf_counter()
            jax.block_until_ready(run(key))
            if round_number:
                seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(times) for name, times in seconds.items()}
