"""Keyboard layouts: where the letters are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..._errors import InputError, Place
from ..._files import read_text

Points = NDArray[np.float64]

# Height of a key in its widths, on the phones of the How We Swipe study.
_ASPECT = 1.65


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
        centres = np.array(self.centres, dtype=float)
        object.__setattr__(self, "centres", centres)
        centres.flags.writeable = False
        if not self.letters:
            raise InputError(f"layout {self.name!r} has no keys")
        if centres.shape != (len(self.letters), 2) or not np.isfinite(centres).all():
            raise InputError(
                f"layout {self.name!r}: each of its {len(self.letters)} letters needs a finite x "
                "and y"
            )
        twice = {letter for letter in self.letters if self.letters.count(letter) > 1}
        if twice:
            raise InputError(f"layout {self.name!r} has more than one key for {sorted(twice)}")
        odd = [letter for letter in self.letters if letter != letter.lower() or letter.isspace()]
        if odd:
            raise InputError(
                f"layout {self.name!r}: keys are named by lower-case letters, got {odd[0]!r}"
            )
        for field in ("width", "height", "aspect"):
            value = getattr(self, field)
            if not (np.isfinite(value) and value > 0):
                raise InputError(f"layout {self.name!r}: {field} = {value} must be positive")

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
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise InputError(
                f"not a layout: {type(error).__name__}: {error}; a layout has `keys` with a "
                "`letter`, `x` and `y` each, or `rows` with `row_left_offset_keys`",
                place=place,
            ) from None

    @classmethod
    def read(cls, path: str | Path) -> Layout:
        """A layout from a JSON file."""
        place = Place(str(path))
        try:
            value = json.loads(read_text(path, pipes=True))
        except json.JSONDecodeError as error:
            raise InputError(f"the layout is not JSON: {error}", place=place) from None
        except RecursionError:
            raise InputError("the layout is nested too deeply", place=place) from None
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
                f"layout {self.name!r} has no key for {error.args[0]!r} in {word!r}"
            ) from None

    def spells(self, word: str) -> bool:
        """Whether every letter of a word has a key."""
        return bool(word) and all(letter in self.index for letter in word)

    def nearest(self, x: ArrayLike, y: ArrayLike) -> NDArray[np.int64]:
        """The key under each point: the one that holds it, or else the nearest of its row."""
        points = np.stack([np.asarray(x, float), np.asarray(y, float)], axis=-1)
        gaps = np.abs(points[..., None, :] - self.centres)
        # The row comes first: beside the last key of a row, that key counts.
        return np.argmin(1e3 * np.maximum(gaps[..., 1] - 0.5, 0) + gaps[..., 0], axis=-1)


def _from_json(value: Any) -> Layout:
    name = str(value.get("name", "layout"))
    if "rows" in value:
        return Layout.from_rows(
            [str(row) for row in value["rows"]],
            [float(offset) for offset in value["row_left_offset_keys"]],
            name=str(value.get("name", "rows")),
        )
    keys = value["keys"]
    letters = "".join(str(key["letter"]) for key in keys)
    if len(letters) != len(keys):
        raise InputError(f"layout {name!r}: each key needs one letter")
    if "cx" in keys[0]:
        width = 0.5 / float(np.median([key["rx"] for key in keys]))
        height = 0.5 / float(np.median([key["ry"] for key in keys]))
        centres = [(key["cx"] * width, key["cy"] * height) for key in keys]
        return Layout(name, letters, np.array(centres, float), width, height)
    return Layout(
        name,
        letters,
        np.array([(key["x"], key["y"]) for key in keys], float),
        float(value["width"]),
        float(value["height"]),
        float(value.get("aspect", _ASPECT)),
    )
