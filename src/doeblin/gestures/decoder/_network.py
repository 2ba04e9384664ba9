"""Neural potentials: a small network, the same for every key, that adds to u's hits and dwells.

It looks at one key over a window of frames: where the finger was relative to the key, how near it
came, and how fast it was. Since it knows keys by geometry only, it works on every layout.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._errors import InputError
from . import _spelling_engine
from ._packed import Packed
from ._rows import NUM_INPUTS

Layer = tuple[NDArray[np.float64], NDArray[np.float64]]


class Rows(NamedTuple):
    """The network's inputs: one row for each frame and key that came near each other."""

    inputs: NDArray[np.float64]
    keys: NDArray[np.int64]
    frames: NDArray[np.int64]
    starts: NDArray[np.int64]
    """`starts[e] : starts[e + 1]` are the rows of gesture e."""


def rows_of(packed: Packed, plane: NDArray[np.float64], settings: Any) -> Rows:
    """The rows of some gestures."""
    frames = (settings.rate, settings.least_frames, settings.most_frames)
    return Rows(*_spelling_engine.network_rows(*packed, plane, *frames))


def no_rows(count: int) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """What the engine is given where there is no network."""
    nothing = np.zeros(0, np.int64)
    return np.zeros((0, 2)), nothing, nothing, np.zeros(count + 1, np.int64)


@dataclass(frozen=True, eq=False)
class Network:
    """Layers of weights and biases, with tanh between them; two outputs, for hits and dwells."""

    layers: tuple[Layer, ...]

    def __post_init__(self):
        size = NUM_INPUTS
        for weight, bias in self.layers:
            if weight.shape != (len(bias), size) or not np.isfinite(weight).all():
                raise InputError(f"a layer of {size} inputs has weights of shape {weight.shape}")
            size = len(bias)
        if size != 2:
            raise InputError(f"the network has {size} outputs, not 2")

    def __call__(self, inputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """What the network adds to the log-potentials of each row."""
        values = inputs
        for number, (weight, bias) in enumerate(self.layers):
            values = values @ weight.T + bias
            if number < len(self.layers) - 1:
                values = np.tanh(values)
        return values

    def tensors(self) -> dict[str, NDArray[np.float32]]:
        """The layers by name, for a file."""
        named = {}
        for number, (weight, bias) in enumerate(self.layers):
            named[f"network.{number}.weight"] = weight.astype(np.float32)
            named[f"network.{number}.bias"] = bias.astype(np.float32)
        return named

    @classmethod
    def from_tensors(cls, tensors: dict[str, NDArray]) -> Network | None:
        """The network of a file, or None if there is none in it."""
        layers = []
        while f"network.{len(layers)}.weight" in tensors:
            name = f"network.{len(layers)}"
            layers.append(
                (tensors[f"{name}.weight"].astype(float), tensors[f"{name}.bias"].astype(float))
            )
        return cls(tuple(layers)) if layers else None
