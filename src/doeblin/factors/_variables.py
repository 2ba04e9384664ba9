"""Names for the sites of a graph, and who is beside whom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._errors import InputError


class Variables:
    """Names for the sites of a graph: arrays of variables, each with its number of values.

    `variables[name]` has the numbers of the sites, in the shape that was declared.

    >>> variables = Variables(pixel=((2, 3), 4), mode=((), 2))
    >>> variables["pixel"].tolist(), int(variables["mode"])
    ([[0, 1, 2], [3, 4, 5]], 6)
    """

    def __init__(self, **declared: tuple[Sequence[int], int]):
        self._sites: dict[str, NDArray[np.int32]] = {}
        num_values: list[int] = []
        for name, (shape, values) in declared.items():
            size = int(np.prod(shape, dtype=int))
            if size < 1 or values < 1:
                raise InputError(
                    f"variable {name!r} has shape {tuple(shape)} and {values} values; it needs at "
                    "least one site and one value"
                )
            sites = np.arange(len(num_values), len(num_values) + size, dtype=np.int32)
            self._sites[name] = sites.reshape(shape)
            num_values += [values] * size
        self.num_values = np.array(num_values, np.int32)

    def __getitem__(self, name: str) -> NDArray[np.int32]:
        if name not in self._sites:
            raise InputError(f"there is no variable {name!r}; there are {', '.join(self._sites)}")
        return self._sites[name]

    def state(self, **values: Any) -> NDArray[np.int32]:
        """A state from the values of all variables."""
        if set(values) != set(self._sites):
            raise InputError(
                f"a state needs values of {', '.join(self._sites)}; got {', '.join(values)}"
            )
        state = np.zeros(len(self.num_values), np.int32)
        for name, given in values.items():
            sites, own = self._sites[name], np.asarray(given)
            if own.shape != sites.shape or not np.issubdtype(own.dtype, np.integer):
                raise InputError(
                    f"variable {name!r} has values of shape {own.shape} and type {own.dtype}; it "
                    f"needs whole numbers of shape {sites.shape}"
                )
            state[sites] = own
        if (state < 0).any() or (state >= self.num_values).any():
            raise InputError("a value is out of range; values of k are 0 to k - 1")
        return state

    def values(self, states: Any) -> dict[str, Any]:
        """The values of each variable in a state, or in stacked states."""
        return {name: states[..., sites] for name, sites in self._sites.items()}


def along(sites: Any, axis: int) -> NDArray[np.int32]:
    """Pairs of neighbours along one axis of an array of sites: the scopes of a chain or a grid.

    >>> along(np.arange(6).reshape(2, 3), axis=1).tolist()
    [[0, 1], [1, 2], [3, 4], [4, 5]]
    """
    lined = np.moveaxis(np.asarray(sites, np.int32), axis, -1)
    return np.stack([lined[..., :-1].ravel(), lined[..., 1:].ravel()], axis=1)
