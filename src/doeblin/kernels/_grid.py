"""A ready-made grid model (Ising, Potts) with everything its Gibbs kernels can use."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Bool, Float, Int, Integer

from .._custom_types import Count, Flag, Input, Scalar
from .._errors import InputError
from ._coloured import AbstractParts, ColouredGibbs
from ._gibbs import Gibbs

# Where rows are shorter, the grid as it is is quicker: for two values, and for more. Measured, see
# docs/how-to/gpu.md.
_LEAST_COLUMNS = {"cpu": (32, 64)}


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
        known = not isinstance(self.coupling, Tracer)
        if self.coupling.shape != () or (known and not np.isfinite(self.coupling)):
            raise InputError(
                f"coupling = {coupling!r} must be one finite number, the same for all neighbours"
            )
        self.field = jnp.zeros(num_values) if field is None else jnp.asarray(field, dtype=float)
        if self.field.shape != (num_values,):
            raise InputError(
                f"field has shape {self.field.shape}; it needs one number for each of the "
                f"{num_values} values"
            )
        self.periodic = periodic

    def __call__(self, state: Int[Array, "..."], x: Input = None) -> Scalar:
        if jnp.shape(state) != self.shape:
            raise InputError(
                f"a state of shape {jnp.shape(state)} does not fit a grid of {self.shape}"
            )
        agreements = jnp.array(0)
        for axis in range(len(self.shape)):
            agreements += (state == shifted(state, axis, 1, self.periodic)).sum()
        return self.coupling * agreements.astype(self.coupling.dtype) + self.field[state].sum()

    def conditionals(self, state: Int[Array, "..."], x: Input = None) -> Float[Array, "..."]:
        """Logits of all values of every site given its neighbours."""
        neighbours = [
            shifted(state, axis, step, self.periodic)
            for axis in range(len(self.shape))
            for step in (1, -1)
        ]
        return jnp.stack(self.logits_given(neighbours), axis=-1)

    def logits_given(self, neighbours: list[Int[Array, "..."]]) -> list[Float[Array, "..."]]:
        """For each value, its logits at many sites, from an array for each of their neighbours."""
        # Counting in bytes, value by value, keeps the vector units full.
        agreeing = [
            sum((neighbour == value).astype(jnp.int8) for neighbour in neighbours)
            for value in range(self.field.shape[0])
        ]
        return [
            self.field[value] + self.coupling * jnp.asarray(count, self.coupling.dtype)
            for value, count in enumerate(agreeing)
        ]

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
                logits += jnp.where((neighbour == values) & inside, self.coupling, 0)
        return logits

    def gibbs(self) -> Gibbs:
        """Random-scan single-site Gibbs with local scoring."""
        return Gibbs(self, self.field.shape[0], conditional=self.conditional)

    def checkerboard(self, *, halves: bool | None = None) -> ColouredGibbs:
        """Gibbs that redraws all even or all odd sites at once.

        A sweep keeps the two as arrays of their own (`halves`), or the grid as it is, or, unless
        told, whichever is quicker on JAX's default device. The draws are the same.
        """
        if self.periodic and any(side % 2 and side > 1 for side in self.shape):
            raise InputError(
                f"shape {self.shape}: a periodic grid has a checkerboard only if its sides are "
                "even; set periodic=False or use gibbs()"
            )
        colours = np.indices(self.shape).sum(axis=0) % 2
        columns = self.shape[-1]
        if halves is None:
            two, more = _LEAST_COLUMNS.get(jax.default_backend(), (4, 4))
            halves = columns >= (two if self.field.shape[0] == 2 else more)
        # Without two columns in each half there is nothing to gain.
        parts = None if columns % 2 or columns < 4 else Halves(model=self, pays=halves)
        return ColouredGibbs(self, self.conditionals, colours, self.field.shape[0], parts=parts)


class Halves(AbstractParts):
    """The even and the odd sites of a grid, each pushed together along the last axis.

    With p the parity of its row (of all indices but the last), the even site of column c is at
    2c + p of the grid and the odd one at 2c + 1 - p. So a site's neighbours in other rows have its
    own place in the other half; of the two in its row one has, too, and the other is next to it, on
    the side that p and the colour tell.
    """

    model: Potts
    pays: bool = eqx.field(static=True)

    def split(self, state: Int[Array, "..."]) -> tuple[Int[Array, "..."], ...]:
        if jnp.shape(state) != self.model.shape:
            raise InputError(
                f"a state of shape {jnp.shape(state)} does not fit a grid of {self.model.shape}"
            )
        return self._swapped(state[..., 0::2], state[..., 1::2])

    def join(self, parts: tuple[Integer[Array, "..."], ...]) -> Integer[Array, "..."]:
        return jnp.stack(self._swapped(*parts), axis=-1).reshape(self.model.shape)

    def logits(
        self, parts: tuple[Int[Array, "..."], ...], colour: int, x: Input = None
    ) -> list[Float[Array, "..."]]:
        other = parts[1 - colour]
        neighbours = [
            shifted(other, axis, step, self.model.periodic)
            for axis in range(other.ndim - 1)
            for step in (1, -1)
        ]
        return self.model.logits_given([*neighbours, other, self._beside(other, colour)])

    def _beside(self, other: Int[Array, "..."], colour: int) -> Int[Array, "..."]:
        """The neighbour in the same row that is not at the same place."""
        after = self._odd_rows() ^ (colour == 1)
        nothing = jnp.full_like(other[..., :1], -1)
        first, last = (other[..., :1], other[..., -1:]) if self.model.periodic else (nothing,) * 2
        # The ends apart: a choice between two whole shifted arrays is slow on a CPU.
        columns = [
            jnp.where(after, other[..., 1:2], last),
            jnp.where(after, other[..., 2:], other[..., :-2]),
            jnp.where(after, first, other[..., -2:-1]),
        ]
        return jnp.concatenate(columns, axis=-1)

    def is_choice(self, x: Input = None) -> Flag:
        model = self.model
        counts = jnp.arange(2 * len(model.shape) + 1, dtype=model.coupling.dtype)
        logits = model.field[:, None] + model.coupling * counts[None]
        possible = ~jnp.isneginf(model.field)
        return possible.any() & (jnp.isfinite(logits) | ~possible[:, None]).all()

    def _odd_rows(self) -> Bool[Array, "..."]:
        rows = np.indices((*self.model.shape[:-1], 1)).sum(axis=0)
        return jnp.asarray(rows % 2 == 1)

    def _swapped(self, a: Array, b: Array) -> tuple[Array, Array]:
        """The two arrays with their odd rows exchanged."""
        odd = self._odd_rows()
        return jnp.where(odd, b, a), jnp.where(odd, a, b)


def shifted(sites: Int[Array, "..."], axis: int, step: int, periodic: bool) -> Int[Array, "..."]:
    """What is next to every site in one direction; -1, equal to no value, outside the grid."""
    side = sites.shape[axis]
    if periodic and side > 1:
        return jnp.roll(sites, step, axis)
    edge = jax.lax.slice_in_dim(sites, 0, side - 1, axis=axis)
    if step == -1:
        edge = jax.lax.slice_in_dim(sites, 1, side, axis=axis)
    padding = [(0, 0)] * sites.ndim
    padding[axis] = (1, 0) if step == 1 else (0, 1)
    return jnp.pad(edge, padding, constant_values=-1)
