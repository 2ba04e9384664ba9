"""The raw logs of "How We Swipe": a touch event a line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ..._errors import InputError
from ..._json import shown
from ._gesture import Gesture
from ._layout import Layout
from ._reading import Reading

LOG_HEADER = ("sentence", "timestamp", "keyb_width", "keyb_height", "event", "x_pos", "y_pos")
# A finger that never leaves the screen would fill the memory.
_MOST_EVENTS = 100_000

Event = tuple[int, list[str]]
"""The line of an event, and its fields."""


def is_header(text: str) -> bool:
    """Whether a line names the columns of a log."""
    return text.split()[: len(LOG_HEADER)] == list(LOG_HEADER)


def read_log(
    lines: Iterable[tuple[int, str]], layout: Layout, spelling: Callable[[str], str], user: str
) -> Reading:
    """Events from touchstart to touchend make a gesture; those marked as errors are left out."""
    reading = Reading(format="log")
    columns: list[str] = []
    events: list[Event] = []
    for line, text in lines:
        fields = text.split()
        if not fields:
            continue
        if is_header(text):
            columns = fields
            continue
        if not columns or len(fields) != len(columns):
            reading.leave_out(line, f"{len(fields)} fields, not {len(columns)}")
            continue
        event = fields[columns.index("event")]
        if event == "touchstart":
            if events:
                reading.leave_out(events[0][0], "no touchend")
            events = [(line, fields)]
        elif not events:
            reading.leave_out(line, f"{shown(event)[1:-1]} without touchstart")
        else:
            events.append((line, fields))
            if event == "touchend":
                _close(events, columns, layout, spelling, user, reading)
                events = []
            elif len(events) > _MOST_EVENTS:
                reading.leave_out(events[0][0], f"more than {_MOST_EVENTS:,} events, no touchend")
                events = []
    if events:
        reading.leave_out(events[0][0], "no touchend")
    return reading


def _close(
    events: list[Event],
    columns: list[str],
    layout: Layout,
    spelling: Callable[[str], str],
    user: str,
    reading: Reading,
) -> None:
    line = events[0][0]
    try:
        if "is_err" in columns and "1" in _column(events, columns, "is_err"):
            raise InputError("marked as an error")
        words = set(_column(events, columns, "word"))
        if len(words) != 1:
            raise InputError(f"events of several words {shown(sorted(words))}")
        gesture = Gesture.from_frame(
            list(_numbers(events, columns, "x_pos")),
            list(_numbers(events, columns, "y_pos")),
            list(_numbers(events, columns, "timestamp")),
            size=(
                next(_numbers(events, columns, "keyb_width")),
                next(_numbers(events, columns, "keyb_height")),
            ),
            layout=layout,
            word=spelling(words.pop()),
            user=user,
            id=f"{user}:{line}",
        )
    except InputError as error:
        reading.leave_out(line, error.message)
    else:
        reading.add(line, gesture)


def _column(events: list[Event], columns: list[str], name: str) -> list[str]:
    if name not in columns:
        raise InputError(f"the log has no column {name!r}")
    place = columns.index(name)
    return [fields[place] for _, fields in events]


def _numbers(events: list[Event], columns: list[str], name: str) -> Iterator[float]:
    for point, value in enumerate(_column(events, columns, name)):
        try:
            yield float(value)
        except ValueError:
            raise InputError(
                f"{name} is {shown(value)} at point {point}; it must be a number"
            ) from None
