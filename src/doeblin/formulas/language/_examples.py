"""Examples: points inside and outside, and implications between points."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..._errors import InputError

if TYPE_CHECKING:
    from ._formula import Formula

LARGEST = 2**53
"""Values beyond ± this are refused: linear forms of them could leave the 64-bit integers."""
MOST_VARIABLES = 30
_MOST_WEIGHT = 1 << 20


class Contradiction(NamedTuple):
    """Examples with the same point but both labels, by row."""

    inside: tuple[int, ...]
    outside: tuple[int, ...]


class Merged(NamedTuple):
    """Distinct labelled points, contradictions cancelled against each other."""

    points: NDArray[np.int64]
    labels: NDArray[np.bool_]
    weights: NDArray[np.int64]
    unavoidable: int
    """The weight of examples that every formula errs on."""


@dataclass(frozen=True, eq=False)
class Examples:
    """What a formula should say.

    `points[k]` is inside if `labels[k]` and outside otherwise; erring there costs `weights[k]`.
    An implication `(s, t)` in `implications` is violated, at cost one, when s is inside and t is
    outside.

    >>> Examples([[1, 2], [0, 5]], [True, False], variables=["x", "y"]).num_variables
    2
    """

    points: NDArray[np.int64]
    labels: NDArray[np.bool_]
    variables: tuple[str, ...]
    weights: NDArray[np.int64]
    implications: NDArray[np.int64]

    def __init__(
        self,
        points: ArrayLike,
        labels: ArrayLike,
        *,
        variables: Sequence[str] | None = None,
        weights: ArrayLike | None = None,
        implications: ArrayLike | None = None,
    ):
        pairs = _integers("implications", implications if implications is not None else [])
        rows = _integers("points", points)
        if not rows.size and pairs.ndim == 3:
            rows = rows.reshape(0, pairs.shape[2])
        if rows.ndim != 2 or not rows.shape[1]:
            raise InputError(f"points must be rows of integers, got shape {rows.shape}")
        d = rows.shape[1]
        pairs = pairs.reshape(0, 2, d) if not pairs.size else pairs
        if pairs.shape[1:] != (2, d):
            raise InputError(
                f"implications must be pairs of points of {d} coordinates, got shape {pairs.shape}"
            )
        if d > MOST_VARIABLES:
            raise InputError(f"{d} variables; at most {MOST_VARIABLES} are supported")
        if not len(rows) and not len(pairs):
            raise InputError("there are no examples")
        flags = np.asarray(labels)
        if flags.shape != (len(rows),) or (len(rows) and flags.dtype != bool):
            raise InputError(
                f"labels must be {len(rows)} truth values, got {flags.dtype} of shape {flags.shape}"
            )
        names = tuple(variables) if variables is not None else _names(d)
        if len(names) != d or len(set(names)) != d:
            raise InputError(f"{d} different variables are needed, got {', '.join(names)}")
        counts = _integers("weights", weights if weights is not None else np.ones(len(rows), int))
        bad = (counts < 1) | (counts > _MOST_WEIGHT)
        if counts.shape != (len(rows),) or bad.any():
            raise InputError(
                f"weights must be {len(rows)} integers from 1 to {_MOST_WEIGHT}"
                + (f"; number {int(np.argmax(bad))} is {counts[bad][0]}" if bad.any() else "")
            )
        for name, value in (
            ("points", rows), ("labels", flags.astype(bool)), ("weights", counts),
            ("implications", pairs),
        ):  # fmt: skip
            value = np.ascontiguousarray(value)
            value.setflags(write=False)
            object.__setattr__(self, name, value)
        object.__setattr__(self, "variables", names)

    @property
    def num_variables(self) -> int:
        return self.points.shape[1]

    @cached_property
    def digest(self) -> bytes:
        """Equal for equal examples."""
        parts = (self.points, self.labels, self.weights, self.implications)
        text = repr((self.variables, [part.shape for part in parts])).encode()
        return hashlib.sha256(text + b"".join(part.tobytes() for part in parts)).digest()

    def contradictions(self) -> list[Contradiction]:
        """Every point that is given with both labels, in the order of first rows."""
        rows: dict[bytes, tuple[list[int], list[int]]] = {}
        for k, point in enumerate(self.points):
            rows.setdefault(point.tobytes(), ([], []))[0 if self.labels[k] else 1].append(k)
        return [
            Contradiction(tuple(inside), tuple(outside))
            for inside, outside in rows.values()
            if inside and outside
        ]

    def errors(self, formula: Formula) -> int:
        """How many labelled examples and implications the formula errs on."""
        wrong = np.count_nonzero(formula(self.points) != self.labels) if len(self.points) else 0
        return int(wrong + self._violated(formula))

    def cost(self, formula: Formula) -> int:
        """As `errors`, every labelled example counted with its weight."""
        wrong = self.weights[formula(self.points) != self.labels].sum() if len(self.points) else 0
        return int(wrong + self._violated(formula))

    def wrong_rows(self, formula: Formula) -> list[int]:
        """The rows of the labelled examples that the formula errs on."""
        return [int(k) for k in np.flatnonzero(formula(self.points) != self.labels)]

    def _violated(self, formula: Formula) -> int:
        if not len(self.implications):
            return 0
        inside = formula(self.implications)
        return int(np.count_nonzero(inside[:, 0] & ~inside[:, 1]))

    def merged(self) -> Merged:
        """Equal points become one; of contradictory labels the heavier remains, by the excess."""
        if not len(self.points):
            return Merged(self.points, self.labels, self.weights, 0)
        distinct, index = np.unique(self.points, axis=0, return_inverse=True)
        inside = np.bincount(index, self.weights * self.labels, len(distinct)).astype(np.int64)
        outside = np.bincount(index, self.weights * ~self.labels, len(distinct)).astype(np.int64)
        kept = inside != outside
        return Merged(
            distinct[kept],
            (inside > outside)[kept],
            np.abs(inside - outside)[kept],
            int(np.minimum(inside, outside).sum()),
        )


def _names(d: int) -> tuple[str, ...]:
    return tuple(f"x{k + 1}" for k in range(d))


def _integers(what: str, values: ArrayLike) -> NDArray[np.int64]:
    try:
        array: NDArray[Any] = np.asarray(values)
    except ValueError as error:
        raise InputError(f"{what} must have rows of equal length: {error}") from None
    if not array.size:
        return array.astype(np.int64)
    if array.dtype.kind not in "iuO" or not _all_integers(array):
        raise InputError(f"{what} must be integers, got {array.dtype}")
    if int(array.max()) > LARGEST or int(array.min()) < -LARGEST:
        raise InputError(f"{what} must lie within ±2^53, got {int(np.abs(array).max())}")
    return array.astype(np.int64)


def _all_integers(array: NDArray[Any]) -> bool:
    return array.dtype != object or all(
        isinstance(value, int) and not isinstance(value, bool) for value in array.flat
    )
