"""Training and measuring: the paper's methods, on either engine."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..._errors import InputError
from ..data import Layout
from ._compiled import doeblin_pass, exact, gibbs_pass, measure, rerank, seed
from ._task import DELTA, Curve, Gestures, Method, Task

Engine = Literal["compiled", "library"]
"""What runs the chains: code for this model alone, or the library's general one."""
_POWERS = np.array([0.0, 0.25, 0.5, 0.75, 1.0, 1.25])


def run_method(
    task: Task,
    method: Method,
    transitions: int,
    *,
    passes: int,
    step: float,
    chains: int = 16,
    on_dev: bool = False,
    only_last: bool = False,
    progress: Callable[[], None] | None = None,
    engine: Engine = "compiled",
    batch: int = 32,
) -> Curve:
    """Train with a method and measure after each pass.

    Both engines have the same model over the same weights. "compiled" follows the paper, with a
    step of AdaGrad after each gesture, on the processor. "library" is doeblin's own chains and
    estimators in JAX, with a step after each `batch` of gestures, wherever JAX runs.
    """
    if engine not in get_args(Engine):
        raise InputError(f"engine = {engine!r} must be 'compiled' or 'library'")
    if engine == "library":
        from .library_run import run_on_library

        return run_on_library(
            task, method, transitions, passes=passes, step=step, chains=chains, batch=batch,
            on_dev=on_dev, only_last=only_last, progress=progress,
        )  # fmt: skip
    restart, full = task.restart.copy(), task.restart.copy()
    squares, full_squares = np.zeros_like(full), np.zeros_like(full)
    rng = np.random.default_rng([task.seed, 2])
    seed(task.seed + 1)
    count = len(task.train.x_sizes)
    held_out = task.dev if on_dev else task.test
    started, elapsed = time.process_time(), 0.0
    data = (task.num_keys, *task.train)
    if method.reward_first:
        # The same reward and data, but without any transition: only u learns.
        for _ in range(passes):
            doeblin_pass(
                *data, rng.permutation(count), task.hard, *task.trie, restart, full, squares,
                full_squares, task.restart, 0, chains, 0, 0, True, False, step, DELTA,
            )  # fmt: skip
        full = restart.copy()
        full_squares[:] = 0.0
    values, seconds, total, testing = [], [], 0, 0.0
    for number in range(passes):
        order = rng.permutation(count)
        if method.learning == "doeblin":
            result = doeblin_pass(
                *data, order, task.hard, *task.trie, restart, full, squares, full_squares,
                task.restart, transitions, chains, round(method.backward * chains),
                method.proposals, method.train_restart, method.baseline, step, DELTA,
            )  # fmt: skip
        else:
            result = gibbs_pass(
                *data, order, task.hard, *task.trie, restart, full, full_squares,
                method.from_restart, transitions, chains, step, DELTA,
            )  # fmt: skip
        total += int(result[1])
        if not only_last or number == passes - 1:
            measured = time.process_time()
            elapsed += measured - started
            seconds.append(elapsed)
            found = measure(
                task.num_keys, *held_out, task.hard, *task.trie, restart, full, task.restart,
                int(method.from_restart), transitions, method.geometric, chains, method.proposals,
            )  # fmt: skip
            values.append(found)
            started = time.process_time()
            testing = (started - measured) / len(found)
        if progress is not None:
            progress()
    return Curve(np.array(values), total, np.array(seconds), testing)


def without_chains(task: Task, draws: int) -> dict[str, NDArray[np.float64]]:
    """The controls that take no transition: draws from u reranked, and the exact trie decoder.

    The power of the frequencies is chosen on the development gestures.
    """
    words = {word: rank for rank, word in enumerate(task.dictionary.words)}
    letters = Layout.qwerty().letters

    def targets(part: Gestures) -> NDArray[np.int64]:
        texts = (
            "".join(letters[k] for k in y[:n]) for y, n in zip(part.ys, part.y_sizes, strict=True)
        )
        return np.array([words[text] for text in texts])

    def decode(part: Gestures) -> NDArray[np.float64]:
        return exact(
            task.num_keys, part.xs, part.x_sizes, targets(part), task.hard, task.dictionary.child,
            task.dictionary.word, task.dictionary.letter, task.dictionary.log_frequency,
            task.restart, _POWERS,
        )  # fmt: skip

    chosen = int(decode(task.dev).mean(axis=0).argmax())
    seed(task.seed + 2)
    reranked = rerank(
        task.num_keys, *task.test, task.hard, task.dictionary.child, task.dictionary.word,
        task.dictionary.log_frequency, task.restart, draws, _POWERS[chosen],
    )  # fmt: skip
    return {"draws from u, reranked": reranked, "trie decoder": decode(task.test)[:, chosen]}


# Student's t at 97.5 %, for 1, 2, … degrees of freedom.
_STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)


def paired(first: NDArray[np.float64], second: NDArray[np.float64]) -> dict[str, Any]:
    """The mean difference of paired accuracies (seeds × gestures), with a 95 % interval.

    Gestures of a seed share their training, so the seeds are the units: Student's interval over
    their means. A single seed's interval is over its gestures.
    """
    differences = np.atleast_2d(first - second)
    units = differences.mean(axis=1) if len(differences) > 1 else differences[0]
    free = len(units) - 1
    times = _STUDENT[free - 1] if free <= len(_STUDENT) else 1.96 + 2.37 / free + 2.8 / free**2
    mean = float(differences.mean())
    half = times * float(units.std(ddof=1)) / np.sqrt(len(units))
    return {"difference": mean, "interval": [mean - half, mean + half]}
