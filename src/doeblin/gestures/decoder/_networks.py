"""What A's networks say of candidates: the sums over strokes, and the reader's score."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ._model import Model
from ._scores import letter_sums
from .reading import Reader
from .restart import Floats, Ints, Network, Packed, Restart
from .words import Words, plain_stroke_rows


class Networks:
    """The networks of a model that see some traces; without a model, there are none."""

    def __init__(self, model: Model | None, restart: Restart, packed: Packed, *, plain: bool):
        self._strokes: Network | None = model and model.stroke_network
        self._reader: Reader | None = model and model.reader
        self._restart, self._packed, self._plain = restart, packed, plain

    def say(self, words: Words, ids: Ints, hits: Ints) -> tuple[Floats, Floats]:
        """Of each candidate: numbers about its strokes, and one about how the trace is read."""
        return self._sums(words, ids, hits), self._reading(words, ids)

    def _sums(self, words: Words, ids: Ints, hits: Ints) -> Floats:
        if self._strokes is None:
            return np.zeros((*ids.shape, 0))
        given = self._packed, self._restart, words, ids, hits
        if self._plain:
            rows, owners = plain_stroke_rows(*given)
        else:
            from .words import stroke_rows

            rows, owners = stroke_rows(*given)
        return letter_sums(self._strokes, rows, owners, ids.shape)

    def _reading(self, words: Words, ids: Ints) -> Floats:
        if self._reader is None:
            return np.zeros((*ids.shape, 0))
        return self._reader.said(self._letters, words, ids)[..., None]

    @cached_property
    def _letters(self) -> NDArray[np.floating]:
        assert self._reader is not None
        return self._reader.read(self._packed, self._restart.plane)
