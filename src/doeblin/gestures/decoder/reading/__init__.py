"""A network that reads the whole trace, letter by letter, and what it makes of a word."""

from ._chances import LEAST, spread
from ._outputs import FRAMES, letters, seen
from ._reader import Reader, shapes, traced

__all__ = ["FRAMES", "LEAST", "Reader", "letters", "seen", "shapes", "spread", "traced"]
