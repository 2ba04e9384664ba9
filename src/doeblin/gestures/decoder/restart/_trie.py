"""The lexicon as a trie over words with doubled letters merged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...._errors import InputError
from ...data import Layout, Lexicon

Ints = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Trie:
    """Nodes in breadth-first order, so that a node's children and a level's nodes are neighbours.

    A doubled letter leaves no mark on a trace, so words that differ in nothing else (`god`, `good`)
    share a node; `doubles` counts what was merged away. Node 0 is the root, with letter -1.
    """

    layout: Layout
    lexicon: Lexicon
    parent: Ints
    letter: Ints
    first_child: Ints
    """`first_child[n] : first_child[n + 1]` are the children of n."""
    first_word: Ints
    """`words[first_word[n] : first_word[n + 1]]` are the words that end at n."""
    words: Ints
    levels: Ints
    """`levels[d] : levels[d + 1]` are the nodes of depth d."""
    doubles: NDArray[np.float64]
    best: NDArray[np.float64]
    """The greatest log-frequency of a word at or below each node."""

    @classmethod
    def build(cls, lexicon: Lexicon, layout: Layout) -> Trie:
        """The trie of the words that the layout can spell; the others are left out."""
        spelt = [
            (tuple(merged_keys(layout, word)), rank)
            for rank, word in enumerate(lexicon.words)
            if layout.spells(word)
        ]
        if not spelt:
            raise InputError(f"layout {layout.name!r} can spell no word of the lexicon")
        doubles = np.zeros(len(lexicon))
        for keys, rank in spelt:
            doubles[rank] = len(lexicon.words[rank]) - len(keys)
        # Prefixes by length, then letters: each node's children come out side by side.
        prefixes = sorted(
            {keys[:length] for keys, _ in spelt for length in range(len(keys) + 1)},
            key=lambda prefix: (len(prefix), prefix),
        )
        number = {prefix: node for node, prefix in enumerate(prefixes)}
        count = len(prefixes)
        parent = np.array([number[prefix[:-1]] if prefix else -1 for prefix in prefixes], np.int32)
        letter = np.array([prefix[-1] if prefix else -1 for prefix in prefixes], np.int32)
        depth = np.array([len(prefix) for prefix in prefixes])
        children = np.bincount(parent[1:], minlength=count)
        first_child = np.concatenate([[1], 1 + np.cumsum(children)]).astype(np.int32)
        ends = np.array([number[keys] for keys, _ in spelt])
        order = np.argsort(ends, kind="stable")
        words = np.array([rank for _, rank in spelt], np.int32)[order]
        held = np.bincount(ends, minlength=count)
        first_word = np.concatenate([[0], np.cumsum(held)]).astype(np.int32)
        best = np.full(count, -np.inf)
        np.maximum.at(best, ends[order], lexicon.log_frequencies[words])
        for node in range(count - 1, 0, -1):
            best[parent[node]] = max(best[parent[node]], best[node])
        levels = np.searchsorted(depth, np.arange(depth[-1] + 2)).astype(np.int32)
        return cls(
            layout, lexicon, parent, letter, first_child, first_word, words, levels, doubles, best
        )

    def best_with(self, raised: Mapping[int, float]) -> NDArray[np.float64]:
        """`best` where some words, by number, have greater log-frequencies than in the lexicon."""
        best = self.best.copy()
        for word, value in raised.items():
            # A node's words are neighbours, so its place in `words` tells a word's node.
            for at in np.flatnonzero(self.words == word):
                node = int(np.searchsorted(self.first_word, at, side="right")) - 1
                while node >= 0 and best[node] < value:
                    best[node] = value
                    node = int(self.parent[node])
        return best

    @property
    def num_nodes(self) -> int:
        return len(self.parent)


def merged_keys(layout: Layout, word: str) -> NDArray[np.int64]:
    """The keys of a word, each run of a key merged into one."""
    keys = layout.encode(word)
    return keys[np.diff(keys, prepend=-1) != 0]
