"""The lexicon as a trie over words with doubled letters merged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

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
        spelt = WordKeys.by(layout, lexicon.words)
        if not len(spelt.ranks):
            raise InputError(f"layout {layout.name!r} can spell no word of the lexicon")
        doubles = np.zeros(len(lexicon))
        doubles[spelt.ranks] = spelt.lengths - spelt.sizes
        # Words in the order of their letters: those that begin alike are neighbours.
        rows = spelt.padded()
        order = spelt.sorted()
        rows, sizes = rows[order], spelt.sizes[order]
        shared = np.zeros(len(rows), np.int64)
        same = np.cumprod(rows[1:] == rows[:-1], axis=1).sum(axis=1)
        shared[1:] = np.minimum(same, np.minimum(sizes[1:], sizes[:-1]))
        # Beginnings by length, then letters: each node's children come out side by side.
        parents, letters, levels = [np.array([-1])], [np.array([-1])], [0, 1]
        node, ends = np.zeros(len(rows), np.int64), np.empty(len(rows), np.int64)
        for depth in range(1, rows.shape[1] + 1):
            new = (sizes >= depth) & ((shared < depth) | (np.arange(len(rows)) == 0))
            parents.append(node[new])
            letters.append(rows[new, depth - 1])
            node = np.where(sizes >= depth, levels[-1] - 1 + np.cumsum(new), node)
            ends[sizes == depth] = node[sizes == depth]
            levels.append(levels[-1] + len(parents[-1]))
        parent, letter = (np.concatenate(one).astype(np.int32) for one in (parents, letters))
        count = len(parent)
        children = np.bincount(parent[1:], minlength=count)
        first_child = np.concatenate([[1], 1 + np.cumsum(children)]).astype(np.int32)
        ends[order] = ends.copy()
        by_node = np.argsort(ends, kind="stable")
        words = spelt.ranks[by_node].astype(np.int32)
        held = np.bincount(ends, minlength=count)
        first_word = np.concatenate([[0], np.cumsum(held)]).astype(np.int32)
        best = np.full(count, -np.inf)
        np.maximum.at(best, ends[by_node], lexicon.log_frequencies[words])
        for depth in range(len(levels) - 2, 0, -1):
            below = slice(levels[depth], levels[depth + 1])
            np.maximum.at(best, parent[below], best[below])
        levels = np.array(levels, np.int32)
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


class WordKeys(NamedTuple):
    """The words that a layout can spell, by number, and their keys: each run of a key is one."""

    ranks: NDArray[np.int64]
    keys: NDArray[np.int64]
    """Of all words, one after the other."""
    runs: NDArray[np.int64]
    """How often a word has each of them in a row."""
    sizes: NDArray[np.int64]
    lengths: NDArray[np.int64]
    """How many keys a word has, and how many letters."""

    @classmethod
    def by(cls, layout: Layout, words: Sequence[str]) -> WordKeys:
        lengths = np.fromiter(map(len, words), np.int64, len(words))
        letters = np.frombuffer("".join(words).encode("utf-32-le"), np.uint32)
        named = np.array([ord(letter) for letter in layout.letters], np.uint32)
        beyond = int(named.max()) + 1
        key_of = np.full(beyond + 1, -1)
        key_of[named] = np.arange(len(named))
        keys = key_of[np.minimum(letters, beyond)]
        owner = np.repeat(np.arange(len(words)), lengths)
        spelt = lengths > 0
        spelt[owner[keys < 0]] = False
        ranks, there = np.flatnonzero(spelt), spelt[owner]
        keys, owner = keys[there], owner[there]
        first = np.ones(len(keys), bool)
        first[1:] = (keys[1:] != keys[:-1]) | (owner[1:] != owner[:-1])
        begin = np.flatnonzero(first)
        runs = np.diff(begin, append=len(keys))
        sizes = np.bincount(owner[begin], minlength=len(words))[ranks]
        return cls(ranks, keys[begin].astype(np.int64), runs, sizes, lengths[ranks])

    @property
    def owner(self) -> NDArray[np.int64]:
        """Which of the words each key is of."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def sorted(self) -> NDArray[np.int64]:
        """The words' order by their keys, a beginning before what goes on."""
        # Bytes are in the order of the numbers, their high ones first; nothing comes before a key.
        rows = (self.padded() + 1).astype(">u2")
        return np.argsort(rows.view(f"S{rows.itemsize * rows.shape[1]}")[:, 0], kind="stable")

    def padded(self) -> NDArray[np.int64]:
        """The keys in rows, filled up with -1."""
        rows = np.full((len(self.sizes), int(self.sizes.max())), -1, np.int64)
        rows[np.arange(rows.shape[1]) < self.sizes[:, None]] = self.keys
        return rows


def merged_keys(layout: Layout, word: str) -> NDArray[np.int64]:
    """The keys of a word, each run of a key merged into one."""
    keys = layout.encode(word)
    return keys[np.diff(keys, prepend=-1) != 0]
