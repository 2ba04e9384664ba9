"""Tensors of model files: what they may hold, and that none is missing or left over."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ..._errors import InputError, MissingExtraError
from ..._json import parsed

try:
    import safetensors
    from safetensors.numpy import load
except ImportError:
    raise MissingExtraError("safetensors", "learning") from None

GREATEST = 1e6
"""No weight that was learned is near this, and with none beyond it does a sum overflow."""
LEAST_SPREAD = 1e-4
"""What spreads less in training is not scaled: weights would come near to `GREATEST`."""
REMEDY = "get the file anew, or train the model again"


class Tensors(dict[str, NDArray]):
    """The tensors of a file by name, each looked at; to ask for one that is missing is an error."""

    def __init__(self, tensors: dict[str, NDArray]):
        for name, values in tensors.items():
            check(name, values)
        super().__init__(tensors)

    def __missing__(self, name: str) -> NDArray:
        raise InputError(f"the tensor {name!r} is missing, the file is damaged: {REMEDY}")

    def some(self, start: str) -> bool:
        """Does the name of any begin like this?"""
        return any(name.startswith(start) for name in self)

    def check_all_known(self, known: Iterable[str]) -> None:
        """An error if there are others than these."""
        if others := sorted(self.keys() - set(known)):
            raise InputError(
                f"the tensor {others[0]!r} is no part of such a model: {REMEDY}, or use the "
                "version of doeblin that wrote it"
            )


def check(name: str, values: NDArray, most: float = GREATEST) -> None:
    """An error unless these are weights: floating-point numbers up to `most`."""
    if not np.issubdtype(values.dtype, np.floating):
        found = f"has the type {values.dtype}"
    elif not (near := np.abs(values.astype(float)) <= most).all():
        found = f"holds {values[~near].flat[0]:g}"
    else:
        return
    raise InputError(
        f"the tensor {name!r} {found}; weights are floating-point numbers up to {most:g}: {REMEDY}"
    )


def read_tensors(data: bytes) -> tuple[dict[str, NDArray], str]:
    """The arrays of a safetensors file, and doeblin's header in it, which is JSON."""
    try:
        tensors = load(data)
    except safetensors.SafetensorError as error:
        raise InputError(f"not a safetensors file: {error}") from None
    # By the version, a type that numpy does not have is one or the other.
    except (TypeError, KeyError):
        raise InputError(f"a tensor is of a type that numpy does not have: {REMEDY}") from None
    size = int.from_bytes(data[:8], "little")
    try:
        names = parsed(data[8 : 8 + size].decode(), once=True)
    except InputError as error:
        raise InputError(f"not a safetensors file: {error.message}") from None
    return tensors, names.get("__metadata__", {}).get("doeblin", "{}")
