"""How much words out of the lexicon count, by the likelihood of what people wrote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...data import Gesture
from .._decoder import Decoder
from .._found import Candidates
from .._scores import log_normalised
from ..restart import PRIOR
from ..words import FEATURES
from ._copies import meant

_CHUNK = 500
_FREQUENCY = FEATURES.index("log_frequency")
# What is added to the openness that the decoder has.
_GRID = np.arange(-8.0, 8.25, 0.25)


class Seen(NamedTuple):
    """Candidates of some gestures, which of them are out of the lexicon, and which is meant."""

    found: Candidates
    outside: NDArray[np.bool_]
    hits: NDArray[np.bool_]


def fit_openness(decoder: Decoder, gestures: Sequence[Gesture]) -> float:
    """The openness under which the words are likeliest, known and unknown ones.

    Gestures whose word is not among the candidates say nothing about it. Where nobody wrote a word
    out of the lexicon that was found, it stays as it is.
    """
    parts = []
    for at in range(0, len(gestures), _CHUNK):
        some = gestures[at : at + _CHUNK]
        found = decoder.candidates(some, open_vocabulary=True)
        hits = meant(decoder, some, found)
        parts.append(Seen(found, found.ids >= len(decoder.lexicon), hits))
    if not any((seen.hits & seen.outside).any() for seen in parts):
        return decoder.model.openness
    values = [sum(_likelihood(decoder, seen, change) for seen in parts) for change in _GRID]
    return float(decoder.model.openness + _GRID[int(np.argmax(values))])


def _likelihood(decoder: Decoder, seen: Seen, change: float) -> float:
    """Summed log π̃ of the words that were meant, were the openness changed by so much."""
    found, outside, hits = seen
    features = found.features.copy()
    features[..., _FREQUENCY] += change * outside
    raised = found.log_u + decoder.restart.weights[PRIOR] * change * outside
    changed = found._replace(features=features, log_u=log_normalised(raised))
    chances = (decoder.posterior(changed) * hits).sum(axis=1)[hits.any(axis=1)]
    return float(np.log(np.maximum(chances, 1e-300)).sum())
