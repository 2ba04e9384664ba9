"""How hands differ, and what confirmed words tell of one: parameters of a person, by likelihood.

Some quantities of a word and its trace (`OBSERVED`: pace, size, shift, stretch, slant, care) differ
between people. With μ the mean of all people, σ² the variance and ρ the share of it that lies
between them, N confirmed words with mean z̄ leave a person's mean at m = μ + s·(z̄ - μ), where
s = Nρ / (Nρ + 1 - ρ). A word's score in the full model then gets

    Σ_k v_k · s_k · ((z_k - m_k)² - (z_k - μ_k)²) / σ_k²,

a log-likelihood ratio of normals but for the weights v, which are fitted on people. Nothing is
added where nothing is known, and nothing confirmed can add much: every term is bounded.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._errors import InputError, Place
from ..._files import read_text, write_text
from ..._text import shortened
from ..data import Lexicon
from .restart import Floats
from .words import FEATURES, NUM_SHIFTS, SHIFTS

_FORMAT = "doeblin-hand-1"
_FIELDS = ("format", "weight", "sums", "counts")
# Distances are seen on a log scale, from about this size on.
_PLAIN = ("time_ratio", "length_ratio")
_LOGS = {"distance": 0.05, "shape_distance": 0.02, "elastic": 0.05, "greatest_elastic": 0.1}
OBSERVED = (*_PLAIN, *_LOGS, *SHIFTS)
# Bounds, in standard deviations of all people: of what is learned from a word, and what is judged.
_LEARNED, _JUDGED = 3.0, 4.0
# How far a person's mean may be from that of all, in standard deviations between people.
_FARTHEST = 2.5
# However odd a hand, it makes no word likelier or less likely than by this much, in nats.
_MOST_SAID = 3.0
# A word as unlikely as this is as likely to be confirmed by mistake.
_MISTAKE = 0.01
# How much is kept: older words fade then.
_MOST_WEIGHT, MOST_COUNTED = 500.0, 500
_MOST_TIMES = 1_000_000
# The lexicon's frequencies count as much as so many confirmed words; no word gains more than that.
_PRIOR_WORDS, _MOST_GAIN = 10_000.0, 3.0
_LARGEST_FILE = 1 << 20


def observed(features: Floats, shifts: Floats) -> Floats:
    """`OBSERVED` of words, from their features and shifts."""
    columns = [features[..., FEATURES.index(name)] for name in _PLAIN]
    for name, least in _LOGS.items():
        columns.append(np.log(np.maximum(features[..., FEATURES.index(name)], 0.0) + least))
    return np.concatenate([np.stack(columns, axis=-1), shifts[..., :NUM_SHIFTS]], axis=-1)


@dataclass(frozen=True, eq=False)
class Hands:
    """How people differ: of each of `OBSERVED` the mean, the spread, the share of its variance
    that lies between people, and its weight."""

    mean: Floats
    spread: Floats
    share: Floats
    weights: Floats

    def __post_init__(self):
        for name in ("mean", "spread", "share", "weights"):
            values = getattr(self, name)
            if values.shape != (len(OBSERVED),) or not np.isfinite(values).all():
                raise InputError(f"hands have {len(OBSERVED)} finite numbers as their {name}")
        if not (self.spread > 0).all() or not ((self.share >= 0) & (self.share < 1)).all():
            raise InputError("the spread of hands must be positive, the share in [0, 1)")

    def standard(self, values: Floats) -> Floats:
        """Observed values in standard deviations from the mean."""
        return (values - self.mean) / self.spread

    def scores(self, hand: Hand, features: Floats, shifts: Floats) -> Floats:
        """What knowing the hand adds to the log-scores of words."""
        terms = self.terms(*self.posterior(hand), observed(features, shifts))
        return np.clip(terms @ self.weights, -_MOST_SAID, _MOST_SAID)

    def posterior(self, hand: Hand) -> tuple[Floats, Floats]:
        """s and m of a hand, m in standard deviations."""
        known = hand.weight * self.share
        s = known / (known + 1 - self.share)
        # Nobody is much farther from the others than people are from each other.
        most = _FARTHEST * np.sqrt(self.share)
        return s, np.clip(s * np.asarray(hand.sums) / max(hand.weight, 1e-12), -most, most)

    def terms(self, s: Floats, m: Floats, values: Floats) -> Floats:
        """s·((z - m)² - z²) of observed values."""
        z = np.clip(self.standard(values), -_JUDGED, _JUDGED)
        return s * (m * m - 2 * z * m)


@dataclass(frozen=True)
class Hand:
    """What confirmed words told of a person; nothing, to begin with.

    `weight` is how many words counted, `sums` adds up what was observed of them, in standard
    deviations of all people; `counts` says how often each word was confirmed.

    >>> Hand().after([0.5], [[1.0] * len(OBSERVED)], ["hello"]).counts
    {'hello': 1}
    """

    weight: float = 0.0
    sums: tuple[float, ...] = (0.0,) * len(OBSERVED)
    counts: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self):
        if not 0 <= self.weight <= _MOST_WEIGHT:
            raise InputError(f"weight = {self.weight} of a hand must be in [0, {_MOST_WEIGHT:g}]")
        if len(self.sums) != len(OBSERVED):
            raise InputError(f"a hand has {len(OBSERVED)} sums, got {len(self.sums)}")
        most = _LEARNED * self.weight * (1 + 1e-9) + 1e-9
        for name, value in zip(OBSERVED, self.sums, strict=True):
            if not abs(value) <= most:
                raise InputError(
                    f"the sum of {name} is {value}; {self.weight:g} words have at most {most:.3g}"
                )
        if len(self.counts) > MOST_COUNTED:
            raise InputError(f"a hand counts at most {MOST_COUNTED} words, got {len(self.counts)}")
        for word, times in self.counts.items():
            if not isinstance(word, str) or not word or len(word) > 60:
                raise InputError(f"{str(word)[:80]!r} is not a word that can be counted")
            if type(times) is not int or not 1 <= times <= _MOST_TIMES:
                raise InputError(
                    f"{word!r} was confirmed {shortened(repr(times))} times: not a count"
                )

    def after(
        self, weights: Sequence[float], values: Sequence[Sequence[float]], words: Sequence[str]
    ) -> Hand:
        """With more words: how much each counts, what was observed, and what it was.

        Where there is no room for all, the older ones fade word by word, so that it does not
        matter how many come at a time.
        """
        seen = np.clip(np.asarray(values, float).reshape(len(words), -1), -_LEARNED, _LEARNED)
        weight = self.weight + float(np.sum(weights))
        sums = np.asarray(self.sums) + np.asarray(weights, float) @ seen
        if weight > _MOST_WEIGHT:
            weight, sums = self.weight, np.array(self.sums)
            for more, row in zip(weights, seen, strict=True):
                weight, sums = weight + more, sums + more * row
                if weight > _MOST_WEIGHT:
                    weight, sums = _MOST_WEIGHT, sums * (_MOST_WEIGHT / weight)
        counts = dict(self.counts)
        for word in words:
            # Put last: of equally common words, those not met for long are dropped first.
            counts[word] = min(counts.pop(word, 0) + 1, _MOST_TIMES)
            if len(counts) > MOST_COUNTED:
                del counts[min(counts, key=counts.__getitem__)]
        return Hand(weight, tuple(sums.tolist()), counts)

    def gains(self, lexicon: Lexicon) -> dict[int, float]:
        """What the counts add to the log-frequencies of words, by their numbers.

        Frequencies p are a Dirichlet prior worth `_PRIOR_WORDS` words, so that n more of a word
        give log(1 + n / (prior · p)); what all words lose is the same for all, and left out.
        """
        found = {}
        for word, times in self.counts.items():
            number = lexicon.index.get(word)
            if number is not None:
                expected = _PRIOR_WORDS * math.exp(lexicon.log_frequencies[number])
                # A frequency may be less than any number but zero.
                expected = max(expected, sys.float_info.min)
                found[number] = min(math.log1p(times / expected), _MOST_GAIN)
        return found

    def to_json(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {
            "format": _FORMAT,
            "weight": self.weight,
            "sums": dict(zip(OBSERVED, self.sums, strict=True)),
            "counts": dict(self.counts),
        }

    @classmethod
    def from_json(cls, value: Any, *, place: Place | None = None) -> Hand:
        """A hand from JSON, everything about it checked."""
        try:
            if not isinstance(value, dict) or value.get("format") != _FORMAT:
                raise InputError(f"not a hand: no field format with value {_FORMAT!r}")
            if others := [name for name in value if name not in _FIELDS]:
                raise InputError(
                    f"a hand has no field {shortened(repr(others[0]))}, it has "
                    f"{', '.join(_FIELDS)}: leave it out, or use the version that wrote it"
                )
            if missing := [name for name in _FIELDS if name not in value]:
                raise InputError(f"a damaged hand: there is no field {missing[0]!r}")
            sums, counts = value["sums"], value["counts"]
            if not isinstance(sums, dict) or set(sums) != set(OBSERVED):
                raise InputError(f"the sums of a hand are those of {', '.join(OBSERVED)}")
            if not isinstance(counts, dict):
                raise InputError("the counts of a hand are numbers by words")
            weight, *numbers = (
                _number(name, one) for name, one in [("weight", value["weight"]), *sums.items()]
            )
            by_name = dict(zip(sums, numbers, strict=True))
            return cls(weight, tuple(by_name[name] for name in OBSERVED), counts)
        except InputError as error:
            raise InputError(error.message, place=place) from None

    def save(self, path: str | Path) -> None:
        """Write it as JSON."""
        write_text(path, json.dumps(self.to_json(), ensure_ascii=False, indent=1) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> Hand:
        """Read what `save` wrote; loading runs no code."""
        place = Place(str(path))
        try:
            value = json.loads(read_text(path, most=_LARGEST_FILE))
        except (ValueError, RecursionError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError("a hand is a JSON file, and this is none", place=place) from None
        return cls.from_json(value, place=place)


def _number(name: str, value: Any) -> float:
    if type(value) not in (int, float):
        raise InputError(
            f"{name} of a hand = {shortened(repr(value))}: weight and sums must be numbers"
        )
    try:
        return float(value)
    except OverflowError:
        raise InputError(f"{name} of a hand = {shortened(str(value))} is too large") from None


def trust(chance: NDArray[np.float64]) -> NDArray[np.float64]:
    """How much a confirmed word counts, by the probability that it had: less if it looks like a
    mistake."""
    return chance / (chance + _MISTAKE)
