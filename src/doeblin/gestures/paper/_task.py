"""Data sets of the paper's experiment, and the ways to train on them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._errors import InputError
from ..data import Generator, Layout, Lexicon, key_string
from ._features import Dictionary, Model, Rate, num_features
from ._passes import Plan
from ._restart import likelihood_pass

Weights = NDArray[np.float64]
DELTA = 1e-2


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
    def model(self) -> Model:
        return self.dictionary.model(hard=self.hard)


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
    rate = Rate(0.5, 1.0)
    for _ in range(restart_passes):
        order = rng.permutation(num_train)
        likelihood_pass(task.num_keys, hard, task.train, order, weights, squares, rate)
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

    def plan(self, transitions: int, chains: int) -> Plan:
        return Plan(
            transitions,
            chains,
            round(self.backward * chains),
            self.proposals,
            self.from_restart,
            self.train_restart,
            self.baseline,
            self.geometric,
        )


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
