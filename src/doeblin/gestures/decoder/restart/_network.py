"""Small networks, evaluated in numpy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...._errors import InputError
from .._tensors import Tensors, check

Layer = tuple[NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class Network:
    """Layers of weights and biases, with tanh between them, or max(0, ·) if `rectified`.

    u's network has two outputs, for hits and dwells; A's network of words one, a word's score.
    """

    layers: tuple[Layer, ...]
    rectified: bool = False

    def __post_init__(self):
        size = self.layers[0][0].shape[-1:]
        for number, (weight, bias) in enumerate(self.layers):
            if bias.ndim != 1 or not bias.size or weight.shape != (*bias.shape, *size):
                raise InputError(
                    f"layer {number} of a network has weights of shape {weight.shape}, biases of "
                    f"shape {bias.shape}, and {size} inputs: train the model again"
                )
            check(f"{number}.weight", weight)
            check(f"{number}.bias", bias)
            size = bias.shape

    @property
    def num_inputs(self) -> int:
        return self.layers[0][0].shape[-1]

    @property
    def num_outputs(self) -> int:
        return len(self.layers[-1][1])

    def checked(self, num_inputs: int, num_outputs: int) -> None:
        """An error unless the network has so many inputs and outputs."""
        if (self.num_inputs, self.num_outputs) != (num_inputs, num_outputs):
            raise InputError(
                f"a network of {self.num_inputs} inputs and {self.num_outputs} outputs where "
                f"{num_inputs} and {num_outputs} are needed: train the model again"
            )

    def __call__(self, inputs: NDArray) -> NDArray:
        """The outputs for each row of inputs, in the precision of the inputs."""
        values = inputs
        for number, (weight, bias) in enumerate(self.layers):
            values = values @ weight.T.astype(inputs.dtype, copy=False)
            values += bias.astype(inputs.dtype, copy=False)
            if number < len(self.layers) - 1:
                values = np.maximum(values, 0) if self.rectified else np.tanh(values)
        return values

    def tensors(self, name: str) -> dict[str, NDArray[np.float32]]:
        """The layers by name, for a file."""
        named = {}
        for number, (weight, bias) in enumerate(self.layers):
            named[f"{name}.{number}.weight"] = weight.astype(np.float32)
            named[f"{name}.{number}.bias"] = bias.astype(np.float32)
        return named

    @classmethod
    def from_tensors(cls, tensors: Tensors, name: str, rectified: bool = False) -> Network | None:
        """The network of a file, or None if there is none of this name in it."""
        layers = []
        while tensors.some(start := f"{name}.{len(layers)}."):
            weight, bias = (tensors[start + part].astype(float) for part in ("weight", "bias"))
            layers.append((weight, bias))
        return cls(tuple(layers), rectified) if layers else None
