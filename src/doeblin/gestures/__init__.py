"""From the keys a finger crossed to the word that was meant.

`data` holds layouts, gestures, lexicons, readers and the generator; `decoder` the decoder, its
training and its evaluation. What needs numba loads on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .data import Generator as Generator
from .data import Gesture as Gesture
from .data import Layout as Layout
from .data import Lexicon as Lexicon
from .data import read_gestures as read_gestures

if TYPE_CHECKING:
    from .decoder import Decoder as Decoder
    from .decoder import Hand as Hand
    from .decoder import Model as Model
    from .decoder import evaluate as evaluate
    from .decoder import train as train

_DECODER = ("Decoder", "Hand", "Model", "evaluate", "train")
__all__ = ["Generator", "Gesture", "Layout", "Lexicon", "read_gestures"]
__all__ += [*_DECODER]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name in _DECODER:
        return getattr(importlib.import_module(f"{__name__}.decoder"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
