"""Text that others wrote, made safe to show: nothing in it moves the cursor or hides a line."""

from __future__ import annotations

import json
from typing import Any


def visible(text: str) -> str:
    """The text on one line, with escapes for what is not printable.

    Terminal escapes, line breaks, marks that reverse the direction of writing and bytes that were
    not UTF-8 all come from file names and sources that nobody has vetted.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\t" else _escape(c) for c in text)


def shortened(text: str, most: int = 60) -> str:
    """The text, or its two ends: what is written in a file may be long, and messages are not."""
    if len(text) <= most:
        return text
    return f"{text[: most // 2]}…{text[-(most // 4) :]} ({len(text)} characters)"


def _escape(character: str) -> str:
    return ascii(character)[1:-1]


def json_text(value: Any) -> str:
    """JSON that is readable and safe on a terminal: what is not printable is escaped."""
    text = json.dumps(value, ensure_ascii=False)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)
