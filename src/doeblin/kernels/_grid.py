"""A ready-made grid model (Ising, Potts) with everything its Gibbs kernels can use."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from .._custom_types import Count, Input, Scalar
from .._errors import InputError
from ._coloured import ColouredGibbs
from ._gibbs import Gibbs


class Potts(eqx.Module):
    """log π̂(s) = Σ_{i~j} coupling·[s_i = s_j] + Σ_i field[s_i] on a grid of any dimension.

    With two values and coupling 2J this is the Ising model. States are integer arrays of the
    grid's shape. `gibbs()` updates one site at a time, `checkerboard()` half of the grid at once.

    >>> Potts((4, 4), num_values=2, coupling=0.8).checkerboard().num_colours
    2
    """

    coupling: Float[Array, ""]
    field: Float[Array, " values"]
    shape: tuple[int, ...] = eqx.field(static=True)
    periodic: bool = eqx.field(static=True)

    def __init__(
        self,
        shape: tuple[int, ...],
        *,
        num_values: int,
        coupling: Any,
        field: Any = None,
        periodic: bool = True,
    ):
        self.shape = tuple(int(side) for side in shape)
        if not self.shape or min(self.shape) < 1 or num_values < 2:
            raise InputError(
                f"a grid needs positive sides and at least two values, got shape {shape} and "
                f"num_values = {num_values}"
            )
        if periodic and any(side == 2 for side in self.shape):
            raise InputError(
                f"shape {shape}: around a periodic side of length 2 two sites are neighbours "
                "twice; make it longer or set periodic=False"
            )
        self.coupling = jnp.asarray(coupling, dtype=float)
        self.field = jnp.zeros(num_values) if field is None else jnp.asarray(field, dtype=float)
        if self.field.shape != (num_values,):
            raise InputError(
                f"field has shape {self.field.shape}; it needs one number for each of the "
                f"{num_values} values"
            )
        self.periodic = periodic

    def __call__(self, state: Int[Array, "..."], x: Input = None) -> Scalar:
        agreements = jnp.array(0)
        for axis in range(len(self.shape)):
            agreements += (state == self._shifted(state, axis, 1)).sum()
        return self.coupling * agreements + self.field[state].sum()

    def conditionals(self, state: Int[Array, "..."], x: Input = None) -> Float[Array, "..."]:
        """Logits of all values of every site given its neighbours."""
        neighbours = [
            self._shifted(state, axis, step) for axis in range(len(self.shape)) for step in (1, -1)
        ]
        # Counting in bytes, value by value, keeps the vector units full.
        agreeing = [
            sum((neighbour == value).astype(jnp.int8) for neighbour in neighbours)
            for value in range(self.field.shape[0])
        ]
        return self.field + self.coupling * jnp.stack(agreeing, axis=-1)

    def conditional(
        self, state: Int[Array, "..."], site: Count, x: Input = None
    ) -> Float[Array, " values"]:
        """Logits of the values of one site (numbered row by row)."""
        values = jnp.arange(self.field.shape[0], dtype=state.dtype)
        place = jnp.unravel_index(site, self.shape)
        logits = self.field
        for axis, side in enumerate(self.shape):
            for step in (1, -1):
                if side == 1:
                    continue
                at = place[axis] + step
                inside = self.periodic | ((at >= 0) & (at < side))
                neighbour = state[(*place[:axis], at % side, *place[axis + 1 :])]
                logits += self.coupling * ((neighbour == values) & inside)
        return logits

    def gibbs(self) -> Gibbs:
        """Random-scan single-site Gibbs with local scoring."""
        return Gibbs(self, self.field.shape[0], conditional=self.conditional)

    def checkerboard(self) -> ColouredGibbs:
        """Gibbs that redraws all even or all odd sites at once."""
        if self.periodic and any(side % 2 and side > 1 for side in self.shape):
            raise InputError(
                f"shape {self.shape}: a periodic grid has a checkerboard only if its sides are "
                "even; set periodic=False or use gibbs()"
            )
        colours = np.indices(self.shape).sum(axis=0) % 2
        return ColouredGibbs(self, self.conditionals, colours, self.field.shape[0])

    def _shifted(self, state: Int[Array, "..."], axis: int, step: int) -> Int[Array, "..."]:
        """The neighbour of every site in one direction; -1, equal to no value, outside the grid."""
        side = self.shape[axis]
        if self.periodic and side > 1:
            return jnp.roll(state, step, axis)
        edge = jax.lax.slice_in_dim(state, 0, side - 1, axis=axis)
        if step == -1:
            edge = jax.lax.slice_in_dim(state, 1, side, axis=axis)
        padding = [(0, 0)] * len(self.shape)
        padding[axis] = (1, 0) if step == 1 else (0, 1)
        return jnp.pad(edge, padding, constant_values=-1)
