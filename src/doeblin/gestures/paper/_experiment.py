"""Training and measuring: the paper's methods, on either engine."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..._errors import InputError
from ..data import Layout
from ._features import Rate
from ._kernels import Weights
from ._measure import exact, measure, rerank
from ._passes import Plan, doeblin_pass, gibbs_pass, seed
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
        from .library_run import Setting, run_on_library

        setting = Setting(task, method, transitions, chains, batch, on_dev)
        return run_on_library(
            setting, passes=passes, step=step, only_last=only_last, progress=progress
        )
    weights = Weights(task.restart.copy(), task.restart.copy(), task.restart)
    squares = np.zeros_like(weights.full), np.zeros_like(weights.full)
    plan, rate, model = method.plan(transitions, chains), Rate(step, DELTA), task.model
    rng = np.random.default_rng([task.seed, 2])
    seed(task.seed + 1)
    count = len(task.train.x_sizes)
    held_out = task.dev if on_dev else task.test
    started, elapsed = time.process_time(), 0.0
    if method.reward_first:
        # The same reward and data, but without any transition: only u learns.
        for _ in range(passes):
            order = rng.permutation(count)
            doeblin_pass(model, task.train, order, weights, squares, Plan(0, chains), rate)
        weights.full[:] = weights.restart
        squares[1][:] = 0.0
    values, seconds, total, testing = [], [], 0, 0.0
    learn = doeblin_pass if method.learning == "doeblin" else gibbs_pass
    for number in range(passes):
        order = rng.permutation(count)
        result = learn(model, task.train, order, weights, squares, plan, rate)
        total += int(result[1])
        if not only_last or number == passes - 1:
            measured = time.process_time()
            elapsed += measured - started
            seconds.append(elapsed)
            found = measure(model, held_out, weights, plan)
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
        return exact(task.model, part, targets(part), task.restart, _POWERS)

    chosen = int(decode(task.dev).mean(axis=0).argmax())
    seed(task.seed + 2)
    reranked = rerank(task.model, task.test, task.restart, draws, _POWERS[chosen])
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
