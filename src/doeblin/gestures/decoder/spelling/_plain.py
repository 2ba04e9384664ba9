"""The beam search over strings of letters in numpy: as `_engine.py`, for few traces."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..restart import (
    TINY,
    Extra,
    Floats,
    Packed,
    Plain,
    Restart,
    Tree,
    plain_arrivals,
    plain_extra,
    plain_look_ahead,
    plain_masses,
    plain_trace,
)
from ..words import Words

if TYPE_CHECKING:
    from ._spelling import Spelt


class _Best:
    """The best strings of a trace that the lexicon does not have, best first."""

    def __init__(self, tree: Tree, words: Words, twice: Floats, room: int):
        self._tree, self._words, self._twice, self._room = tree, words, twice, room
        self.strings: list[tuple[float, list[int], int]] = []

    @property
    def floor(self) -> float:
        """What a string's weight must exceed."""
        return self.strings[-1][0] if len(self.strings) == self._room else -math.inf

    def add(self, value: float, keys: list[int]) -> None:
        """The string itself and with one letter doubled, where the lexicon does not have it."""
        before = [len(self._twice) - 1, *keys[:-1]]
        chances = self._twice[before, keys].tolist()
        single = value
        for chance in chances:
            single += math.log(1 - chance)
        self._keep(single, keys, -1)
        for j, chance in enumerate(chances):
            self._keep(single + math.log(chance) - math.log(1 - chance), keys, j)

    def _keep(self, value: float, keys: list[int], doubled: int) -> None:
        if value <= self.floor or self._known(keys, doubled):
            return
        at = len(self.strings)
        while at > 0 and self.strings[at - 1][0] < value:
            at -= 1
        self.strings.insert(at, (value, keys, doubled))
        del self.strings[self._room :]

    def _known(self, keys: list[int], doubled: int) -> bool:
        tree, node = self._tree, 0
        for key in keys:
            first, last = int(tree.first_child[node]), int(tree.first_child[node + 1])
            among = tree.letter[first:last].tolist()
            if key not in among:
                return False
            node = first + among.index(key)
        words = tree.words[tree.first_word[node] : tree.first_word[node + 1]]
        if doubled < 0:
            return bool((tree.doubles[words] == 0).any())
        same = self._words.doubled[words] == keys[doubled]
        return bool((same & (tree.doubles[words] == 1)).any())


def _spell(plain: Plain, letters: Floats, beam: int, longest: int, best: _Best) -> None:
    """Finds the best strings of a trace, length by length; see the compiled `spell`."""
    num_keys, count = plain.hit.shape[1], plain.count
    worth = plain.hit * plain_look_ahead(letters, plain)[1:, :num_keys]
    with np.errstate(divide="ignore"):
        log_letters = np.log(letters)
    prefixes: list[list[int]] = [[]]
    weight, mass = np.zeros(1), np.zeros((count + 1, 1))
    mass[0] = 1.0
    for _ in range(longest):
        previous = np.array([prefix[-1] if prefix else num_keys for prefix in prefixes])
        k, c = np.nonzero(letters[previous, :num_keys] > 0.0)
        k, c = k[c != previous[k]], c[c != previous[k]]
        arriving = plain_arrivals(mass[:, k], plain.transit[:, previous[k], c])
        value = np.einsum("in,in->n", arriving, worth[:, c])
        there = np.flatnonzero(value > TINY)
        own = weight[k] + log_letters[previous[k], c]
        promise = np.log(value[there]) + own[there]
        # Where every string kept so far beats all that a prefix may become, it ends.
        hopeful = promise > best.floor
        there, promise = there[hopeful], promise[hopeful]
        if not len(there):
            return
        there = there[np.argsort(-promise, kind="stable")[:beam]]
        k, c, weight = k[there], c[there], own[there]
        mass = plain_masses(arriving[:, there], plain.hit[:, c], plain.dwell[:, c])
        prefixes = [[*prefixes[i], j] for i, j in zip(k.tolist(), c.tolist(), strict=True)]
        ends = log_letters[c, num_keys] + weight
        for n in np.flatnonzero((mass[count] > TINY) & np.isfinite(ends)):
            best.add(math.log(mass[count, n]) + float(ends[n]), prefixes[n])


def spell(
    packed: Packed,
    restart: Restart,
    extra: Extra,
    tree: Tree,
    words: Words,
    twice: Floats,
    beam: int,
    found: Spelt,
) -> None:
    """As the compiled `spell`."""
    _, room, longest = found.keys.shape
    for e in range(len(packed.starts) - 1):
        plain = Plain(plain_trace(packed, e), restart, plain_extra(extra, e))
        best = _Best(tree, words, twice, room)
        _spell(plain, restart.letters, beam, longest, best)
        for at, (value, keys, doubled) in enumerate(best.strings):
            found.keys[e, at, : len(keys)] = keys
            found.sizes[e, at], found.doubled[e, at] = len(keys), doubled
            found.weights[e, at] = value
