"""Readers of gesture files. A row that cannot be used is counted and reported, never fatal."""

from __future__ import annotations

import io
import string
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from ..._errors import InputError, Place
from ..._files import gunzip, read_bytes
from ..._json import as_written, parsed, shown
from ._fields import label, number, numbers, text
from ._gesture import Gesture
from ._layout import Layout
from ._logs import is_header, read_log
from ._reading import Reading

Format = Literal["auto", "jsonl", "futo", "log"]
"""How gestures are written in a file; `auto` looks at its beginning."""
_AROUND = string.whitespace + string.punctuation
# No file of gestures that can be read has so many lines, nor so many bad ones at its beginning.
_MOST_LINES, _MOST_GUESSED = 10_000_000, 10_000


def read_gestures(
    path: str | Path,
    layout: Layout | None = None,
    *,
    format: Format = "auto",
    any_word: bool = False,
) -> Reading:
    """Read gestures from a file (also gzipped).

    Formats, told apart by their first line unless named:

    - `jsonl`: an object a line with `word`, `x`, `y`, `t` (ms) and the keyboard's size `kw`, `kh`
      in the units of x and y; `id` and `user` may be there. `doeblin gestures generate` writes it;
    - `futo`: FUTO's JSONL, `word` and `data` with points `{"x", "y", "t"}` in [0, 1];
    - `log`: the raw logs of "How We Swipe", a touch event a line.

    A word that the layout cannot spell is a reason to leave a row out, unless `any_word` will do:
    decoding does not look at it.
    """
    layout = layout or Layout.qwerty()
    place = Place(str(path))
    data = _content(path)
    if format == "auto":
        format = _guess(data, place)
    if format not in ("jsonl", "futo", "log"):
        raise InputError(f"format = {format!r} must be 'auto', 'jsonl', 'futo' or 'log'")
    spelling = _lowered if any_word else layout.spelling
    try:
        if format == "log":
            return read_log(_lines(data), layout, spelling, Path(path).stem)
        convert = _from_futo if format == "futo" else partial(_from_row, spelling)
        return _read_rows(data, partial(convert, layout), format)
    except InputError as error:
        raise InputError(error.message, place=place) from None


def gesture_row(gesture: Gesture, layout: Layout, *, key_pixels: float = 36.0) -> dict[str, Any]:
    """A gesture as a `jsonl` row, in pixels with one decimal."""
    scale = key_pixels * layout.aspect
    return {
        "id": gesture.id,
        "user": gesture.user,
        "word": gesture.word,
        "kw": round(layout.width * key_pixels, 3),
        "kh": round(layout.height * scale, 3),
        "x": [round(float(value) * key_pixels, 1) for value in gesture.x],
        "y": [round(float(value) * scale, 1) for value in gesture.y],
        "t": [round(float(value), 1) for value in gesture.t],
    }


def _content(path: str | Path) -> bytes:
    data = read_bytes(path, pipes=True)
    if data[:2] == b"\x1f\x8b":
        data = gunzip(data, Place(str(path)))
    if max(data.count(end) for end in (b"\n", b"\r")) > _MOST_LINES:
        raise InputError(f"it has more than {_MOST_LINES:,} lines", place=Place(str(path)))
    return data.removeprefix(b"\xef\xbb\xbf")


def _lines(data: bytes) -> Iterator[tuple[int, str]]:
    # Lines may end in CR, as in lexicons. A byte that is not UTF-8 spoils its own line only.
    return enumerate(io.TextIOWrapper(io.BytesIO(data), "utf-8", errors="replace"), start=1)


def _guess(data: bytes, place: Place) -> Literal["jsonl", "futo", "log"]:
    written = (row for _, row in _lines(data) if not row.isspace())
    for row in islice(written, _MOST_GUESSED):
        if is_header(row):
            return "log"
        try:
            value = parsed(row)
        except InputError:
            continue
        if isinstance(value, dict):
            return "futo" if "data" in value else "jsonl"
    raise InputError(
        "no gestures here: neither JSON lines nor a How We Swipe log; name the format if its first "
        "rows are damaged",
        place=place,
    )


def _read_rows(
    data: bytes, convert: Callable[[dict[str, Any]], Gesture], format: Literal["jsonl", "futo"]
) -> Reading:
    reading = Reading(format=format)
    for line, row in _lines(data):
        if row.isspace():
            continue
        try:
            gesture = _made(row, convert)
        except InputError as error:
            reading.leave_out(line, error.message)
        else:
            reading.add(line, gesture)
    return reading


def _made(row: str, convert: Callable[[dict[str, Any]], Gesture]) -> Gesture:
    """The gesture of a row, or an error that shows its values as they are written."""
    try:
        return convert(_object(parsed(row)))
    except InputError:
        with as_written():
            return convert(_object(parsed(row)))


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"a row is an object with fields, not {shown(value)}")
    return value


def _from_row(spelling: Callable[[str], str], layout: Layout, row: dict[str, Any]) -> Gesture:
    x, y, t, kw, kh = (_field(row, name) for name in ("x", "y", "t", "kw", "kh"))
    return Gesture.from_frame(
        x,
        y,
        t,
        size=(number("kw", kw), number("kh", kh)),
        layout=layout,
        word=spelling(text("word", row.get("word"))),
        user=label("user", row.get("user")),
        id=label("id", row.get("id")),
    )


def _from_futo(layout: Layout, row: dict[str, Any]) -> Gesture:
    points = _field(row, "data")
    if not isinstance(points, list):
        raise InputError(f"data is {shown(points)}; it must be a list of points")
    # FUTO's frame is the letters' area, without what lies below the last row of letters.
    rows = float(layout.centres[:, 1].max()) + 0.5
    return Gesture.checked(
        _column(points, "x") * layout.width,
        _column(points, "y") * rows,
        _column(points, "t"),
        # People were shown texts: commas are no part of a swipe, and a word with a letter that has
        # no key here was swiped all the same.
        word=text("word", row.get("word")).strip(_AROUND).lower(),
        user=label("session", row.get("session")),
        id=label("id", row.get("id")),
    )


def _lowered(word: str) -> str:
    return word.strip().lower()


def _field(row: dict[str, Any], name: str) -> Any:
    if name not in row:
        raise InputError(f"no field {name!r}")
    return row[name]


def _column(points: list[Any], name: str) -> Any:
    for at, point in enumerate(points):
        if not isinstance(point, dict) or name not in point:
            raise InputError(f"data has no field {name!r} at point {at}, but {shown(point)}")
    return numbers(name, [point[name] for point in points])
