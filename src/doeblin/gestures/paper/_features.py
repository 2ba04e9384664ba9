"""The paper's features: where each indicator's weight lies in one vector, and sums over them.

Labels of a place: 0 is `#` (unaligned), 1 … K is `c` (a letter starts here), K+1 … 2K is `-c` (it
goes on). The restart u has indicators of (x_i, z_i), (x_i, z_{i-1}, z_i) and (x_i, x_{i-1}, z_i).
The full model adds (x_i, y_j, y_{j-1}) where a letter starts, one indicator for each length up to
which the letters are a prefix of a dictionary word, one for a dictionary word, and its
log-frequency.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._numba import NOUGHT, njit
from .._distance import changes
from ..data import Layout, Lexicon

LONGEST_PREFIX = 26


class Dictionary(NamedTuple):
    """Words as a trie: `child[node, letter]` (or -1), and the word that ends at a node (or -1)."""

    child: NDArray[np.int32]
    word: NDArray[np.int32]
    letter: NDArray[np.int32]
    frequency: NDArray[np.float64]
    """Log-frequencies, standardised over the dictionary."""
    log_frequency: NDArray[np.float64]
    words: tuple[str, ...]

    def model(self, *, hard: bool) -> Model:
        return Model(
            self.child.shape[1], hard, self.child, self.word, self.letter, self.frequency,
            self.log_frequency,
        )  # fmt: skip

    @classmethod
    def build(cls, lexicon: Lexicon, layout: Layout) -> Dictionary:
        """From the words of a lexicon, doubled letters and all."""
        num_keys = len(layout.letters)
        child: list[list[int]] = [[-1] * num_keys]
        ends: list[int] = [-1]
        letter: list[int] = [-1]
        for rank, text in enumerate(lexicon.words):
            node = 0
            for key in layout.encode(text):
                if child[node][key] < 0:
                    child[node][key] = len(child)
                    child.append([-1] * num_keys)
                    ends.append(-1)
                    letter.append(int(key))
                node = child[node][key]
            ends[node] = rank
        logs = lexicon.log_frequencies
        spread = float(logs.std()) or 1.0
        return cls(
            np.array(child, np.int32),
            np.array(ends, np.int32),
            np.array(letter, np.int32),
            (logs - logs.mean()) / spread,
            logs,
            lexicon.words,
        )


class Model(NamedTuple):
    """What compiled code must know of the model besides its weights: labels, and the dictionary.

    `hard` allows a label to go on with a letter.
    """

    num_keys: int
    hard: bool
    child: NDArray[np.int32]
    word: NDArray[np.int32]
    letter: NDArray[np.int32]
    frequency: NDArray[np.float64]
    log_frequency: NDArray[np.float64]


class Slopes(NamedTuple):
    """A sparse gradient: its values, which of them are touched, and (after their count) where."""

    values: NDArray[np.float64]
    flags: NDArray[np.uint8]
    touched: NDArray[np.int64]


class Rate(NamedTuple):
    """AdaGrad's step size, and what it adds to the sums of squares."""

    step: float
    delta: float


def num_features(num_keys: int) -> int:
    """The length of the weight vector."""
    return int(word_index(num_keys)) + 2


@njit(inline="always")
def label_index(num_keys, x, label):
    return x * (2 * num_keys + 1) + label


@njit(inline="always")
def step_index(num_keys, x, before, label):
    """`before` is a label, or 2K + 1 for the first place."""
    labels = 2 * num_keys + 1
    return num_keys * labels + (x * (labels + 1) + before) * labels + label


@njit(inline="always")
def pair_index(num_keys, x, x_before, label):
    """`x_before` is a key, or K for the first place."""
    labels = 2 * num_keys + 1
    start = num_keys * labels + num_keys * (labels + 1) * labels
    return start + (x * (num_keys + 1) + x_before) * labels + label


@njit(inline="always")
def letter_index(num_keys, x, letter, before):
    """`before` is the previous letter of the output, or K for none."""
    labels = 2 * num_keys + 1
    start = num_keys * labels * (labels + num_keys + 3)
    return start + (x * num_keys + letter) * (num_keys + 1) + before


@njit(inline="always")
def prefix_index(num_keys, length):
    labels = 2 * num_keys + 1
    start = num_keys * labels * (labels + num_keys + 3) + num_keys * num_keys * (num_keys + 1)
    return start + min(length, LONGEST_PREFIX)


@njit
def word_index(num_keys):
    """The weight of being a word; that of its frequency follows."""
    return prefix_index(num_keys, LONGEST_PREFIX) + 1


@njit(inline="always")
def starts(num_keys, label):
    """Whether a label starts a letter."""
    return 1 <= label <= num_keys


@njit(inline="always")
def allowed(num_keys, before, label):
    """`-c` may only follow `c` or `-c`."""
    return label <= num_keys or before == label or before == label - num_keys


@njit
def spell(num_keys, z, length, letters):
    """The output of a labelling; returns its length."""
    size = 0
    for i in range(length):
        if starts(num_keys, z[i]):
            letters[size] = z[i] - 1
            size += 1
    return size


@njit
def copy(source, size, target):
    """Its first numbers, one by one: for `target[:size] = source[:size]` numba compiles, for
    seconds, what it would say if the sizes differed."""
    for i in range(size):
        target[i] = source[i]


@njit
def make_slopes(size):
    """A gradient of zeros."""
    return Slopes(np.zeros(size), np.zeros(size, np.uint8), np.zeros(size + 1, np.int64))


@njit
def touch(slopes, at, amount):
    """Adds to a sparse gradient, and notes the place."""
    if slopes.flags[at] == 0:
        slopes.flags[at] = 1
        slopes.touched[slopes.touched[0] + 1] = at
        slopes.touched[0] += 1
    slopes.values[at] += amount


@njit
def add_features(model, x, z, full, amount, slopes):
    """Adds `amount` times the features of a labelling."""
    add_features_of(model, x, (NOUGHT, len(x)), z, full, amount, slopes)


@njit
def add_features_of(model, x, between, z, full, amount, slopes):
    """The same, but u's features of the places from one up to another only."""
    num_keys = model.num_keys
    begin, end = between
    node, size, last = 0, 0, num_keys
    for i in range(len(x)):
        label = z[i]
        if begin <= i < end:
            touch(slopes, label_index(num_keys, x[i], label), amount)
            before = z[i - 1] if i > 0 else 2 * num_keys + 1
            touch(slopes, step_index(num_keys, x[i], before, label), amount)
            x_before = x[i - 1] if i > 0 else num_keys
            touch(slopes, pair_index(num_keys, x[i], x_before, label), amount)
        if full and starts(num_keys, label):
            letter = label - 1
            touch(slopes, letter_index(num_keys, x[i], letter, last), amount)
            last = letter
            if node >= 0:
                node = model.child[node, letter]
                if node >= 0:
                    size += 1
                    touch(slopes, prefix_index(num_keys, size), amount)
    if full and node >= 0 and model.word[node] >= 0:
        frequency = model.frequency[model.word[node]]
        touch(slopes, word_index(num_keys), amount)
        touch(slopes, word_index(num_keys) + 1, amount * frequency)


@njit
def lift(model, x, z, base, full):
    """The full model's log-weight of a labelling less that of u at the weights `base`."""
    num_keys = model.num_keys
    total, node, size, last = 0.0, 0, 0, num_keys
    for i in range(len(x)):
        label = z[i]
        before = z[i - 1] if i > 0 else 2 * num_keys + 1
        x_before = x[i - 1] if i > 0 else num_keys
        at = label_index(num_keys, x[i], label)
        total += full[at] - base[at]
        at = step_index(num_keys, x[i], before, label)
        total += full[at] - base[at]
        at = pair_index(num_keys, x[i], x_before, label)
        total += full[at] - base[at]
        if starts(num_keys, label):
            letter = label - 1
            total += full[letter_index(num_keys, x[i], letter, last)]
            last = letter
            if node >= 0:
                node = model.child[node, letter]
                if node >= 0:
                    size += 1
                    total += full[prefix_index(num_keys, size)]
    if node >= 0 and model.word[node] >= 0:
        at = word_index(num_keys)
        total += full[at] + full[at + 1] * model.frequency[model.word[node]]
    return total


@njit
def adagrad(weights, squares, slopes, rate):
    """One step up the sparse gradient, which is cleared."""
    for k in range(slopes.touched[0]):
        at = slopes.touched[k + 1]
        slope = slopes.values[at]
        squares[at] += slope * slope
        weights[at] += rate.step * slope / np.sqrt(squares[at] + rate.delta)
        slopes.values[at] = 0.0
        slopes.flags[at] = 0
    slopes.touched[0] = 0


_changes = njit(changes)


@njit
def edit_distance(a, b):
    """Insertions, deletions and substitutions."""
    return _changes(a, b, np.arange(len(b) + 1))


@njit
def reward(distance):
    """1 for the right word, exp(-(D + 1)) at edit distance D."""
    return 1.0 if distance == 0 else np.exp(-(distance + 1.0))
