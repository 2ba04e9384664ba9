"""Readers of gesture files. A row that cannot be used is counted and reported, never fatal."""

from __future__ import annotations

import io
import json
import string
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ..._errors import InputError, Place
from ..._files import gunzip, read_bytes
from ._gesture import Gesture
from ._layout import Layout

Format = Literal["auto", "jsonl", "futo", "log"]
"""How gestures are written in a file; `auto` looks at its beginning."""
_AROUND = string.whitespace + string.punctuation
_LOG_HEADER = ("sentence", "timestamp", "keyb_width", "keyb_height", "event", "x_pos", "y_pos")


class Problem(NamedTuple):
    """A row that could not be used."""

    line: int
    reason: str


@dataclass
class Reading:
    """What a file held: its usable gestures, and the rows that were left out, by line."""

    gestures: list[Gesture] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    format: str = "jsonl"

    def report(self, most: int = 3) -> str:
        """One line about what was left out; empty if nothing was."""
        if not self.problems:
            return ""
        shown = "; ".join(f"line {line}: {reason}" for line, reason in self.problems[:most])
        more = len(self.problems) - most
        tail = f"; and {more} more" if more > 0 else ""
        return f"left out {len(self.problems)} malformed rows ({shown}{tail})"


def read_gestures(
    path: str | Path, layout: Layout | None = None, *, format: Format = "auto"
) -> Reading:
    """Read gestures from a file (also gzipped).

    Formats, told apart by their first line unless named:

    - `jsonl`: an object a line with `word`, `x`, `y`, `t` (ms) and the keyboard's size `kw`, `kh`
      in the units of x and y; `id` and `user` may be there. `doeblin gestures generate` writes it;
    - `futo`: FUTO's JSONL, `word` and `data` with points `{"x", "y", "t"}` in [0, 1];
    - `log`: the raw logs of "How We Swipe", a touch event a line.
    """
    layout = layout or Layout.qwerty()
    lines = list(enumerate(_lines(Path(path)), start=1))
    if format == "auto":
        format = _guess(lines, str(path))
    if format == "log":
        return _read_log(lines, layout, Path(path).stem)
    if format not in ("jsonl", "futo"):
        raise InputError(f"format = {format!r} must be 'auto', 'jsonl', 'futo' or 'log'")
    reading = Reading(format=format)
    convert = _from_futo if format == "futo" else _from_row
    for line, text in lines:
        if not text.strip():
            continue
        try:
            reading.gestures.append(convert(json.loads(text), layout))
        except json.JSONDecodeError as error:
            reading.problems.append(Problem(line, f"not JSON ({error.msg})"))
        except RecursionError:
            reading.problems.append(Problem(line, "not JSON (nested too deeply)"))
        except InputError as error:
            reading.problems.append(Problem(line, error.message))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            reason = f"no field {error}" if isinstance(error, KeyError) else str(error)
            reading.problems.append(Problem(line, reason))
    return reading


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


def _lines(path: Path) -> Iterator[str]:
    data = read_bytes(path, pipes=True)
    if data[:2] == b"\x1f\x8b":
        data = gunzip(data, Place(str(path)))
    # A byte that is not UTF-8 spoils its own line only.
    yield from io.StringIO(data.decode("utf-8-sig", errors="replace"))


def _guess(lines: list[tuple[int, str]], file: str) -> Literal["jsonl", "futo", "log"]:
    for _, text in lines:
        if text.split()[: len(_LOG_HEADER)] == list(_LOG_HEADER):
            return "log"
        try:
            row = json.loads(text)
        except (json.JSONDecodeError, RecursionError):
            continue
        if isinstance(row, dict):
            return "futo" if "data" in row else "jsonl"
    raise InputError(
        "no gestures here: neither JSON lines nor a How We Swipe log; name the format if its first "
        "rows are damaged",
        place=Place(file),
    )


def _from_row(row: dict[str, Any], layout: Layout) -> Gesture:
    return Gesture.from_frame(
        row["x"],
        row["y"],
        row["t"],
        size=(float(row["kw"]), float(row["kh"])),
        layout=layout,
        word=_word(row.get("word", ""), layout),
        user=str(row.get("user", "")),
        id=str(row.get("id", "")),
    )


def _from_futo(row: dict[str, Any], layout: Layout) -> Gesture:
    points = row["data"]
    # FUTO's frame is the letters' area, without what lies below the last row of letters.
    rows = float(layout.centres[:, 1].max()) + 0.5
    return Gesture.checked(
        [float(point["x"]) * layout.width for point in points],
        [float(point["y"]) * rows for point in points],
        [float(point["t"]) for point in points],
        # People were shown texts: commas are no part of a swipe, and a word with a letter that has
        # no key here was swiped all the same.
        word=str(row.get("word", "")).strip(_AROUND).lower(),
        user=str(row.get("session", "")),
        id=str(row.get("id", "")),
    )


def _word(word: Any, layout: Layout) -> str:
    word = str(word).strip().lower()
    if word and not layout.spells(word):
        odd = next(letter for letter in word if letter not in layout.index)
        raise InputError(f"layout {layout.name!r} has no key for {odd!r} in {word!r}")
    return word


def _read_log(lines: list[tuple[int, str]], layout: Layout, user: str) -> Reading:
    """Events from touchstart to touchend make a gesture; those marked as errors are left out."""
    reading = Reading(format="log")
    events: list[tuple[int, list[str]]] = []
    columns: list[str] = []
    for line, text in lines:
        fields = text.split()
        if not fields:
            continue
        if fields[: len(_LOG_HEADER)] == list(_LOG_HEADER):
            columns = fields
            continue
        if not columns or len(fields) != len(columns):
            reading.problems.append(Problem(line, f"{len(fields)} fields, not {len(columns)}"))
            continue
        event = fields[columns.index("event")]
        if event == "touchstart":
            if events:
                reading.problems.append(Problem(events[0][0], "no touchend"))
            events = [(line, fields)]
        elif not events:
            reading.problems.append(Problem(line, f"{event} without touchstart"))
        else:
            events.append((line, fields))
            if event == "touchend":
                _close(events, columns, layout, user, reading)
                events = []
    if events:
        reading.problems.append(Problem(events[0][0], "no touchend"))
    return reading


def _close(
    events: list[tuple[int, list[str]]],
    columns: list[str],
    layout: Layout,
    user: str,
    reading: Reading,
) -> None:
    line = events[0][0]

    def column(name: str) -> Iterable[str]:
        place = columns.index(name)
        return [fields[place] for _, fields in events]

    try:
        if "is_err" in columns and "1" in column("is_err"):
            raise InputError("marked as an error")
        words = set(column("word"))
        if len(words) != 1:
            raise InputError(f"events of several words {sorted(words)}")
        gesture = Gesture.from_frame(
            [float(value) for value in column("x_pos")],
            [float(value) for value in column("y_pos")],
            [float(value) for value in column("timestamp")],
            size=(
                float(next(iter(column("keyb_width")))),
                float(next(iter(column("keyb_height")))),
            ),
            layout=layout,
            word=_word(words.pop(), layout),
            user=user,
            id=f"{user}:{line}",
        )
    except InputError as error:
        reading.problems.append(Problem(line, error.message))
    except ValueError as error:
        reading.problems.append(Problem(line, str(error)))
    else:
        reading.gestures.append(gesture)
