"""Strong Doeblin and staged chains: exact draws, runs, and regenerative estimates."""

from .._errors import needs

with needs("chains"):
    from ._arviz import to_arviz
    from ._blackjax import from_blackjax, to_blackjax
    from ._chain import Chain, Draws, Position, doeblin, staged
    from ._regeneration import Estimate

__all__ = [
    "Chain",
    "Draws",
    "Estimate",
    "Position",
    "doeblin",
    "from_blackjax",
    "staged",
    "to_arviz",
    "to_blackjax",
]
