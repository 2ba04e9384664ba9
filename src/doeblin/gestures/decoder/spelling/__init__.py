"""Words that no lexicon has, spelled letter by letter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._letters import NUM_LETTERS, Trigrams, letter_inputs, lexicon_letters
from ._spelling import spellings

if TYPE_CHECKING:
    from ._engine import spelt

__all__ = ["NUM_LETTERS", "Trigrams", "letter_inputs", "lexicon_letters", "spellings", "spelt"]


def __getattr__(name: str) -> Any:
    if name == "spelt":  # compiled: loads on first use
        from ._engine import spelt

        return spelt
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
