"""Words that no lexicon has, spelled letter by letter."""

from ._engine import spelt
from ._spelling import spellings

__all__ = ["spellings", "spelt"]
