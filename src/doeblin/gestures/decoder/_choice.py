"""Which engine decodes: the plain one is there at once, the compiled one is faster."""

from __future__ import annotations

MOST_PLAIN = 64
"""So many gestures of a process are decoded in numpy before the compiled engine is loaded: that
takes as long, where it has been compiled before, and much longer where it has not."""

_decoded = 0


def use_plain(count: int, compiled: bool | None) -> bool:
    """Whether the next `count` gestures are for the plain engine; None leaves it to their number.

    It depends on nothing but the numbers of gestures, so that results can be repeated.
    """
    global _decoded
    if compiled is not None:
        return not compiled
    _decoded += count
    return _decoded <= MOST_PLAIN
