"""The paper's experiment: data, methods, controls, and what is measured."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from ..._errors import InputError
from ..data import Generator, Layout, Lexicon, key_string
from ._compiled import (
    doeblin_pass,
    exact,
    gibbs_pass,
    likelihood_pass,
    measure,
    rerank,
    seed,
)
from ._features import Dictionary, num_features

Weights = NDArray[np.float64]
Engine = Literal["compiled", "library"]
"""What runs the chains: code for this model alone, or the library's general one."""
DELTA = 1e-2
_POWERS = np.array([0.0, 0.25, 0.5, 0.75, 1.0, 1.25])


class Gestures(NamedTuple):
    """Key strings and words, padded."""

    xs: NDArray[np.int64]
    x_sizes: NDArray[np.int64]
    ys: NDArray[np.int64]
    y_sizes: NDArray[np.int64]

    def part(self, start: int, stop: int) -> Gestures:
        return Gestures(*(array[start:stop] for array in self))


def make_gestures(
    generator: Generator, lexicon: Lexicon, count: int, seed: int, *, longest: int = 40
) -> Gestures:
    """Words by frequency, swiped; those with fewer keys than letters or too many are redrawn."""
    layout, kept = generator.layout, []
    drawn = generator.sample(lexicon, 50 * count + 1000, seed)
    for gesture in drawn:
        keys = key_string(gesture, layout, generator.rate or 9.0)
        if len(gesture.word) <= len(keys) <= longest:
            kept.append((layout.encode(keys), layout.encode(gesture.word)))
        if len(kept) == count:
            break
    if len(kept) < count:
        raise InputError("the generator makes hardly any usable gesture; lower its noise")
    xs = np.zeros((count, longest), np.int64)
    ys = np.zeros((count, max(len(y) for _, y in kept)), np.int64)
    for k, (x, y) in enumerate(kept):
        xs[k, : len(x)], ys[k, : len(y)] = x, y
    sizes = np.array([(len(x), len(y)) for x, y in kept])
    return Gestures(xs, sizes[:, 0].copy(), ys, sizes[:, 1].copy())


@dataclass
class Task:
    """One data set: dictionary, training, development and test gestures, and u trained on it.

    `hard` allows a label to go on with a letter, but only after that letter (53 labels); without
    it there are 27.
    """

    dictionary: Dictionary
    train: Gestures
    dev: Gestures
    test: Gestures
    hard: bool
    seed: int
    restart: Weights = field(default_factory=lambda: np.empty(0))

    @property
    def num_keys(self) -> int:
        return self.dictionary.child.shape[1]

    @property
    def trie(self) -> tuple[NDArray, NDArray, Weights]:
        return self.dictionary.child, self.dictionary.word, self.dictionary.frequency


def make_task(
    *,
    num_train: int,
    num_dev: int,
    num_test: int,
    seed: int,
    hard: bool = True,
    dictionary_size: int = 8000,
    noise: float = 1.0,
    restart_passes: int = 5,
    restart: Weights | None = None,
) -> Task:
    """Data from the paper's generator, and u (unless given) trained by its own likelihood."""
    layout = Layout.qwerty()
    wide = Lexicon.embedded()
    pairs = [
        (word, float(frequency))
        for word, frequency in zip(wide.words, wide.frequencies, strict=True)
        if 3 <= len(word) <= 10
    ]
    lexicon = Lexicon.from_pairs(pairs[:dictionary_size])
    generator = Generator(layout, "paper", noise)
    every = make_gestures(generator, lexicon, num_train + num_dev + num_test, seed)
    task = Task(
        Dictionary.build(lexicon, layout),
        every.part(0, num_train),
        every.part(num_train, num_train + num_dev),
        every.part(num_train + num_dev, len(every.x_sizes)),
        hard,
        seed,
    )
    if restart is not None:
        task.restart = restart
        return task
    weights = np.zeros(num_features(task.num_keys))
    squares = np.zeros_like(weights)
    rng = np.random.default_rng([seed, 1])
    for _ in range(restart_passes):
        order = rng.permutation(num_train)
        likelihood_pass(task.num_keys, *task.train, order, hard, weights, squares, 0.5, 1.0)
    task.restart = weights
    return task


@dataclass(frozen=True)
class Method:
    """A way to train and to run chains.

    `learning` is "doeblin" (likelihood under π̃) or "gibbs" (the approximate gradient). Chains start
    from u, or from the keys themselves. `proposals` > 0 is the block kernel. `backward` is the
    share of chains that walk back in time from the true word; without, words are rewarded by edit
    distance.
    """

    name: str
    learning: str
    from_restart: bool = True
    train_restart: bool = True
    proposals: int = 0
    backward: float = 0.0
    baseline: bool = False
    geometric: bool = False
    reward_first: bool = False


METHODS = {
    method.name: method
    for method in (
        Method("doeblin", "doeblin", geometric=True),
        Method("u-gibbs", "gibbs"),
        Method("basic-gibbs", "gibbs", from_restart=False),
        Method("doeblin, baseline", "doeblin", baseline=True, geometric=True),
        Method("doeblin, frozen u", "doeblin", train_restart=False, geometric=True),
        Method("doeblin, run for a fixed T", "doeblin"),
        Method("u by reward, then gibbs", "gibbs", reward_first=True),
        Method("reversal", "doeblin", backward=1.0, baseline=True, geometric=True),
        Method("bidirectional", "doeblin", backward=0.5, baseline=True, geometric=True),
        Method("block kernel", "doeblin", proposals=8, baseline=True, geometric=True),
        Method(
            "block kernel, reversal",
            "doeblin",
            proposals=8,
            backward=1.0,
            baseline=True,
            geometric=True,
        ),
        Method(
            "block kernel, bidirectional",
            "doeblin",
            proposals=8,
            backward=0.5,
            baseline=True,
            geometric=True,
        ),
    )
}
"""The paper's methods and ours, by name."""


class Curve(NamedTuple):
    """Accuracies of each test gesture after each pass: passes × gestures × measures."""

    values: NDArray[np.float64]
    transitions: int
    seconds: NDArray[np.float64]
    """Seconds of training up to the end of each pass that was measured: of the processor, or, on
    the library, of the clock."""
    test_seconds: float
    """Seconds to measure one gesture, likewise."""


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
