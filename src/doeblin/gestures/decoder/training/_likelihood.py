"""The likelihood of u, normalised over the trie, and its gradients."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from ...data import Gesture, Layout, Lexicon
from .._settings import Settings
from ..restart import (
    Extra,
    Letters,
    Packed,
    Rows,
    Slopes,
    Spelling,
    Targets,
    Trie,
    gradients,
    merged_keys,
    network_rows,
    no_extra,
    pack,
)


def targets(gestures: Sequence[Gesture], lexicon: Lexicon, layout: Layout) -> Targets:
    """True words; those out of the lexicon get half its least frequency."""
    keys = [merged_keys(layout, gesture.word) for gesture in gestures]
    words = np.array([lexicon.index.get(gesture.word, -1) for gesture in gestures], np.int64)
    log_frequency = lexicon.log_frequencies[words]
    return Targets(
        np.concatenate(keys),
        np.concatenate([[0], np.cumsum([len(one) for one in keys])]).astype(np.int64),
        words,
        np.where(words >= 0, log_frequency, lexicon.log_frequencies.min() - np.log(2)),
        np.array([len(g.word) - len(k) for g, k in zip(gestures, keys, strict=True)], float),
    )


class Likelihood:
    """The trie-normalised log-likelihood of gestures and its gradients, one for each of a batch."""

    def __init__(
        self,
        gestures: Sequence[Gesture],
        lexicon: Lexicon,
        layout: Layout,
        settings: Settings,
        outliers: float,
    ):
        trie = Trie.build(lexicon, layout)
        letters = Letters.count(trie).weights(Spelling())
        self._packed = pack(gestures, layout)
        self._targets = targets(gestures, lexicon, layout)
        self._restart = settings.restart(layout, np.empty(0), letters)
        self._tree, self._outliers = settings.tree(trie), outliers

    def __call__(
        self, weights: NDArray[np.float64], batch: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Log-likelihoods of the gestures of a batch, and their gradients."""
        slopes = self.with_extra(weights, batch, no_extra(len(batch)))
        return slopes.values, slopes.weights

    def with_extra(
        self, weights: NDArray[np.float64], batch: NDArray[np.int64], extra: Extra
    ) -> Slopes:
        """The same with additions to the potentials, and the gradient by those additions."""
        slopes = Slopes(
            np.empty(len(batch)), np.empty((len(batch), len(weights))), np.empty_like(extra.values)
        )
        restart = self._restart._replace(weights=weights)

        def part(some: NDArray[np.int64]) -> None:
            first, end = some[0], some[-1] + 1
            gradients(
                self._packed, self._targets, batch[first:end], restart,
                extra._replace(starts=extra.starts[first : end + 1]), self._tree, self._outliers,
                Slopes(slopes.values[first:end], slopes.weights[first:end], slopes.extra),
            )  # fmt: skip

        # Compiled code lets go of Python's lock, so that threads share the work.
        threads = min(os.cpu_count() or 1, len(batch))
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(part, np.array_split(np.arange(len(batch)), threads)))
        return slopes

    def rows(self, batch: NDArray[np.int64]) -> Rows:
        """The network's inputs for a batch."""
        x, y, t, starts = self._packed
        points = np.concatenate([np.arange(*starts[one : one + 2]) for one in batch.tolist()])
        sizes = np.diff(starts)[batch]
        ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return network_rows(Packed(x[points], y[points], t[points], ends), self._restart)
