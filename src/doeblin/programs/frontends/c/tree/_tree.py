"""Walking over the tree of a C file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def parts(node: Any) -> Iterator[Any]:
    """A node and all that is in it, in the order of the text; nothing of None."""
    todo = [] if node is None else [node]
    while todo:
        part = todo.pop()
        yield part
        todo += [child for _, child in reversed(part.children())]
