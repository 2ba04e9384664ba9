"""Words and how often people use them."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._errors import InputError, Place
from ..._files import gunzip, read_bytes
from ..._json import Written, shown
from ..._numbers import whole
from ._fields import number
from ._layout import Layout

_EMBEDDED = "lexicon_en.tsv.gz"
_BLOCK = 1 << 18  # bytes that are unpacked at a time
EMBEDDED_SIZE = 288_999
"""How many words the embedded list has."""


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Words with frequencies, the commonest first.

    Words are lower-case and without spaces, each there once; frequencies are positive and finite.
    One that was cut from a `longer` list remembers it: an open vocabulary has the rest, too.

    >>> Lexicon.embedded(3).words
    ('the', 'to', 'and')
    """

    words: tuple[str, ...]
    frequencies: NDArray[np.float64]
    longer: Lexicon | None = None

    @classmethod
    def from_pairs(cls, pairs: Iterable[tuple[str, float]], *, file: str | None = None) -> Lexicon:
        """From (word, frequency) pairs in any order. Errors name `file` and the pair's number."""
        seen: dict[str, float] = {}
        for line, pair in enumerate(pairs, start=1):
            try:
                word, frequency = _checked(pair)
                if word in seen:
                    raise InputError(f"{word!r} is there twice")
            except InputError as error:
                place = Place(file, line) if file else None
                raise InputError(error.message, place=place) from None
            seen[word] = frequency
        if not seen:
            raise InputError("the lexicon has no words", place=Place(file) if file else None)
        words = sorted(seen, key=lambda word: -seen[word])
        return cls(tuple(words), np.array([seen[word] for word in words]))

    @classmethod
    def read(cls, path: str | Path) -> Lexicon:
        """From a TSV file (or .tsv.gz) with a word and its frequency in each line."""
        data = read_bytes(path, pipes=True)
        if data[:2] == b"\x1f\x8b":
            data = gunzip(data, Place(str(path)))
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise InputError("the lexicon is not UTF-8 text", place=Place(str(path))) from None
        return cls.from_pairs(_pairs(text, str(path)), file=str(path))

    @classmethod
    def embedded(cls, size: int = 50_000) -> Lexicon:
        """The commonest English words of the embedded list (see LEXICON-LICENSE.md)."""
        size = whole("the embedded lexicon's size", size)
        if not 1 <= size <= EMBEDDED_SIZE:
            raise InputError(f"the embedded lexicon has 1 to {EMBEDDED_SIZE} words, not {size}")
        # It is in order and without a fault, as a test knows: no line is looked at, and none is
        # unpacked that comes after the last.
        packed = resources.files("doeblin.gestures.data").joinpath(_EMBEDDED)
        blocks, seen = [], 0
        with packed.open("rb") as file, gzip.open(file) as lines:
            while seen < size:
                blocks.append(lines.read(_BLOCK))
                seen += blocks[-1].count(b"\n")
        text = b"".join(blocks).decode("ascii")
        fields = text.replace("\n", "\t").split("\t", 2 * size)
        return _Embedded(tuple(fields[: 2 * size : 2]), np.array(fields[1 : 2 * size : 2], float))

    def top(self, size: int, *, layout: Layout | None = None) -> Lexicon:
        """The `size` commonest words (all, if there are fewer).

        With a `layout`, words that it cannot spell do not count: they stay where they are between
        the others, as no candidates.
        """
        if whole("a lexicon's size", size) < 1:
            raise InputError(f"a lexicon of {size} words is empty")
        if layout is not None:
            most = min(size, len(self) + 1)
            size = next(islice(self._spelt(layout), most - 1, None), len(self))
        return Lexicon(self.words[:size], self.frequencies[:size], self)

    def _spelt(self, layout: Layout) -> Iterator[int]:
        """The places, from 1, of the words that a layout can spell."""
        return (at for at, word in enumerate(self.words, start=1) if layout.spells(word))

    @cached_property
    def whole(self) -> Lexicon:
        """The list that this was cut from; these words are its first."""
        return self if self.longer is None else self.longer.whole

    @cached_property
    def index(self) -> dict[str, int]:
        """Each word's rank, from 0."""
        return {word: rank for rank, word in enumerate(self.words)}

    @cached_property
    def log_frequencies(self) -> NDArray[np.float64]:
        """Log-frequencies, normalised over the lexicon; finite however far apart they are."""
        with np.errstate(over="ignore"):
            total = self.frequencies.sum()
        if np.isfinite(total) and self.frequencies.min() >= total * np.finfo(float).tiny:
            return np.log(self.frequencies / total)
        logs = np.log(self.frequencies)
        return logs - np.logaddexp.reduce(logs)

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: str) -> bool:
        return word in self.index


class _Embedded(Lexicon):
    """Words of the embedded list, of which the rest is read when it is asked for."""

    @cached_property
    def whole(self) -> Lexicon:
        return self if len(self) == EMBEDDED_SIZE else Lexicon.embedded(EMBEDDED_SIZE)


def _checked(pair: Any) -> tuple[str, float]:
    try:
        word, frequency = pair
    except (TypeError, ValueError):
        raise InputError(f"{shown(pair)} is not a word and its frequency") from None
    if (
        not isinstance(word, str)
        or not word
        or word != word.lower()
        or any(letter.isspace() for letter in word)
    ):
        raise InputError(f"{shown(word)} is not a word; words are lower-case and without spaces")
    found = number(f"the frequency of {shown(word)}", frequency)
    if not found > 0:
        raise InputError(
            f"the frequency of {shown(word)} is {shown(frequency)}; it must be positive"
        )
    return word, found


def _pairs(text: str, file: str) -> Iterator[tuple[str, float]]:
    for line, row in enumerate(text.splitlines(), start=1):
        fields = row.split("\t")
        try:
            if len(fields) != 2:
                raise ValueError
            yield fields[0], Written(fields[1])
        except ValueError:
            raise InputError(
                f"expected a word, a tab and a frequency, got {row[:60]!r}", place=Place(file, line)
            ) from None
