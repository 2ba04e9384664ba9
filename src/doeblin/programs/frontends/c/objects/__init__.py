"""C's objects, and how they are read, changed and pointed to: arrays, structures, memory."""

from ._heap import Heap

__all__ = [
    "Heap",
]
