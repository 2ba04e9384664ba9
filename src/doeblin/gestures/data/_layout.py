"""Keyboard layouts: where the letters are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..._errors import InputError, Place
from ..._files import read_text
from ..._json import as_written, parsed, shown
from ._fields import number, text

Points = NDArray[np.float64]

# Height of a key in its widths, on the phones of the How We Swipe study.
_ASPECT = 1.65
# In keys: no keyboard is as large, and nearer keys are at one place (ways between them have no
# direction that could be computed).
_FARTHEST, _NEAR = 1e3, 1e-6


@dataclass(frozen=True, eq=False)
class Layout:
    """Letters and their keys' centres: x in key widths, y in key heights, from the top left.

    `width` and `height` are the size of the whole keyboard in the same units: they turn pixels (or
    fractions of the keyboard) into key units. `aspect` is a key's height in key widths.

    >>> Layout.qwerty().centre("q").tolist()
    [0.5, 0.5]
    """

    name: str
    letters: str
    centres: Points
    width: float
    height: float
    aspect: float = _ASPECT

    def __post_init__(self):
        for field in ("width", "height", "aspect"):
            value = number(f"layout {self.name!r}: {field}", getattr(self, field))
            object.__setattr__(self, field, value)
        centres = _places(self.name, self.letters, self.centres)
        object.__setattr__(self, "centres", centres)
        centres.flags.writeable = False
        _check(self)

    @classmethod
    def from_rows(
        cls,
        rows: Sequence[str],
        offsets: Sequence[float],
        *,
        name: str = "rows",
        bottom: float = 0.5,
        aspect: float = _ASPECT,
    ) -> Layout:
        """Rows of letters, each moved right by its offset (in keys), and `bottom` rows below."""
        if len(rows) != len(offsets) or not rows:
            raise InputError(f"{len(rows)} rows of keys need as many offsets, got {len(offsets)}")
        centres = [
            (offset + column + 0.5, row + 0.5)
            for row, (keys, offset) in enumerate(zip(rows, offsets, strict=True))
            for column in range(len(keys))
        ]
        width = max(len(keys) + offset for keys, offset in zip(rows, offsets, strict=True))
        height = len(rows) + bottom
        return cls(name, "".join(rows), np.array(centres), float(width), float(height), aspect)

    @classmethod
    def qwerty(cls) -> Layout:
        """The layout of phones in English, with half a row of other keys below the letters."""
        return cls.from_rows(["qwertyuiop", "asdfghjkl", "zxcvbnm"], [0, 0.5, 1.5], name="qwerty")

    @classmethod
    def from_json(cls, value: Any, *, place: Place | None = None) -> Layout:
        """A layout from JSON in one of three forms.

        - keys in key units:
          `{"name", "width", "height", "aspect", "keys": [{"letter", "x", "y"}, …]}`;
        - rows: `{"rows": ["qwertyuiop", …], "row_left_offset_keys": [0, …]}`;
        - keys in fractions of the letters' area, with half sizes:
          `{"keys": [{"letter", "cx", "cy", "rx", "ry"}, …]}`.
        """
        try:
            return _from_json(value)
        except InputError as error:
            raise InputError(error.message, place=place) from None

    @classmethod
    def read(cls, path: str | Path) -> Layout:
        """A layout from a JSON file."""
        place = Place(str(path))
        source = read_text(path, pipes=True)
        with as_written():
            try:
                value = parsed(source)
            except InputError as error:
                raise InputError(f"the layout is {error.message}", place=place) from None
            return cls.from_json(value, place=place)

    def to_json(self) -> dict[str, Any]:
        """The first form of `from_json`."""
        keys = [
            {"letter": letter, "x": float(x), "y": float(y)}
            for letter, (x, y) in zip(self.letters, self.centres, strict=True)
        ]
        return {
            "name": self.name,
            "width": self.width,
            "height": self.height,
            "aspect": self.aspect,
            "keys": keys,
        }

    @cached_property
    def index(self) -> dict[str, int]:
        """The number of each letter's key."""
        return {letter: number for number, letter in enumerate(self.letters)}

    @cached_property
    def plane(self) -> Points:
        """The keys' centres in key widths both ways, so that distances are distances."""
        return self.centres * [1.0, self.aspect]

    def centre(self, letter: str) -> Points:
        """Where a letter's key is."""
        return self.centres[self.encode(letter)[0]]

    def encode(self, word: str) -> NDArray[np.int64]:
        """The keys of a word."""
        try:
            return np.array([self.index[letter] for letter in word], dtype=np.int64)
        except KeyError as error:
            raise InputError(
                f"layout {self.name!r} has no key for {error.args[0]!r} in {shown(word)}"
            ) from None

    def spells(self, word: str) -> bool:
        """Whether every letter of a word has a key."""
        return bool(word) and all(letter in self.index for letter in word)

    def spelling(self, word: str) -> str:
        """A word as its keys spell it, in lower case; empty if there is none."""
        word = word.strip().lower()
        if word:
            self.encode(word)
        return word

    def nearest(self, x: ArrayLike, y: ArrayLike) -> NDArray[np.int64]:
        """The key under each point: the one that holds it, or else the nearest of its row."""
        points = np.stack([np.asarray(x, float), np.asarray(y, float)], axis=-1)
        gaps = np.abs(points[..., None, :] - self.centres)
        # The row comes first: beside the last key of a row, that key counts.
        return np.argmin(1e3 * np.maximum(gaps[..., 1] - 0.5, 0) + gaps[..., 0], axis=-1)


def _from_json(value: Any) -> Layout:
    if not isinstance(value, dict) or not ("rows" in value or "keys" in value):
        raise InputError(
            f"not a layout: {shown(value)}; a layout has `keys` with a `letter`, `x` and `y` each, "
            "or `rows` with `row_left_offset_keys`"
        )
    name = str(value.get("name", "rows" if "rows" in value else "layout"))
    if "rows" in value:
        rows, offsets = (_list(name, value, field) for field in ("rows", "row_left_offset_keys"))
        return Layout.from_rows(
            [text(f"layout {name!r}: a row", row) for row in rows],
            [number(f"layout {name!r}: row_left_offset_keys", offset) for offset in offsets],
            name=name,
        )
    keys = _list(name, value, "keys")
    for key in keys:
        letter = _field(f"layout {name!r}: a key", key, "letter")
        if not isinstance(letter, str) or len(letter) != 1:
            raise InputError(f"layout {name!r}: each key needs one letter, got {shown(letter)}")
    letters = "".join(key["letter"] for key in keys)
    if keys and "cx" in keys[0]:
        rx, ry = (_halves(name, keys, field) for field in ("rx", "ry"))
        width, height = 0.5 / float(np.median(rx)), 0.5 / float(np.median(ry))
        centres = [(_of(name, key, "cx") * width, _of(name, key, "cy") * height) for key in keys]
        return Layout(name, letters, np.array(centres, float), width, height)
    width, height = (_field(f"layout {name!r}", value, field) for field in ("width", "height"))
    centres = np.array([(_of(name, key, "x"), _of(name, key, "y")) for key in keys], float)
    return Layout(name, letters, centres, width, height, value.get("aspect", _ASPECT))


def _field(what: str, value: Any, field: str) -> Any:
    if not isinstance(value, dict) or field not in value:
        raise InputError(f"{what} needs the field {field!r}, got {shown(value)}")
    return value[field]


def _list(name: str, value: Any, field: str) -> list[Any]:
    found = _field(f"layout {name!r}", value, field)
    if not isinstance(found, list):
        raise InputError(f"layout {name!r}: {field} is {shown(found)}; it must be a list")
    return found


def _of(name: str, key: Any, field: str) -> float:
    what = f"the key {key['letter']!r}"
    found = _field(f"layout {name!r}: {what}", key, field)
    return number(f"layout {name!r}: {field} of {what}", found)


def _halves(name: str, keys: Any, field: str) -> list[float]:
    """Half the sizes of keys, in fractions of the letters' area."""
    halves = [_of(name, key, field) for key in keys]
    for key, half in zip(keys, halves, strict=True):
        if not half > 0:
            raise InputError(
                f"layout {name!r}: {field} = {half:g} of the key {key['letter']!r} must be positive"
            )
    return halves


def _places(name: str, letters: str, centres: ArrayLike) -> Points:
    try:
        places = np.array(centres, dtype=float)
    except (TypeError, ValueError, OverflowError):
        places = np.full(2, np.nan)
    if not letters:
        raise InputError(f"layout {name!r} has no keys")
    if places.shape != (len(letters), 2) or not np.isfinite(places).all():
        raise InputError(
            f"layout {name!r}: each of its {len(letters)} letters needs a finite x and y"
        )
    return places


def _check(layout: Layout) -> None:
    """What every layout must be, wherever it comes from, so that traces can be told apart on it."""
    name, letters = f"layout {layout.name!r}", layout.letters
    twice = sorted(letter for letter, times in Counter(letters).items() if times > 1)
    if twice:
        raise InputError(f"{name} has more than one key for {twice}")
    odd = [letter for letter in letters if letter != letter.lower() or letter.isspace()]
    if odd:
        raise InputError(f"{name}: keys are named by lower-case letters, got {odd[0]!r}")
    for field, unit in (("width", "key widths"), ("height", "key heights"), ("aspect", "widths")):
        value = getattr(layout, field)
        if not value > 0:
            raise InputError(f"{name}: {field} = {value:g} must be positive")
        if not 1 / _FARTHEST <= value <= _FARTHEST:
            raise InputError(
                f"{name}: {field} = {value:g} must be between {1 / _FARTHEST:g} and "
                f"{_FARTHEST:g} {unit}"
            )
    for letter, (x, y) in zip(letters, layout.centres, strict=True):
        if not max(abs(x), abs(y)) <= _FARTHEST:
            raise InputError(
                f"{name}: the key {letter!r} is at ({x:g}, {y:g}); places are in key widths and "
                f"key heights, at most {_FARTHEST:g} away"
            )
    for at, letter in enumerate(letters):
        near = np.abs(layout.plane[at + 1 :] - layout.plane[at]).max(axis=1, initial=0) < _NEAR
        if near.any():
            x, y = layout.centres[at]
            other = letters[at + 1 + int(np.argmax(near))]
            raise InputError(
                f"{name}: the keys {letter!r} and {other!r} are at one place ({x:g}, {y:g}), and "
                "no trace can tell them apart; move one of them, or leave it out"
            )
