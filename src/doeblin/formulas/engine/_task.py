"""A task for the engine: a pool of atoms and the examples, packed in words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..._errors import InputError
from ._bits import Words
from ._control import Room, State
from ._program import Program
from ._rows import BATCH, error_rows, row_width
from ._stages import Method

MOST_ATOMS = 1 << 20
_MOST_WEIGHT = 1 << 29
_PRIOR_SCALE = float(1 << 16)
# Metropolis kernels are compiled for these numbers of label words; beyond, the width stays open.
_WIDTHS = (1, 2, 4, 8, 16)


class Arrays(NamedTuple):
    """A task in the form in which kernels read it."""

    rows: Words | None
    columns: Words | None
    prior: NDArray[np.uint32]
    cumulative: Words
    labels: Words
    shifts: NDArray[np.int64] | None
    width: tuple[int, ...]
    pairs: int

    @property
    def words(self) -> int:
        """The number of words of an atom's truth values."""
        if self.columns is not None:
            return len(self.columns)
        return 0 if self.rows is None else self.rows.shape[1]


@dataclass(frozen=True, eq=False)
class Task:
    """Examples as the engine sees them: the truth of every pool atom in packed words.

    `table[w, k]` holds the truth values of atom k over 64 examples. Its rows are: `len(labels)`
    words of labelled examples, then `pairs` words of the implications' sources, then `pairs` words
    of their targets, aligned bit by bit. A labelled example is violated when the formula differs
    from its bit in `labels`; an implication s → t when s is inside and t is outside.

    Bits that show no example must be zero in `table` and in `labels`; `mask` (a word for each word
    of labels and of pairs) clears examples that should not count. `shifts` gives the examples of
    each such word the weight 2**shift; None means one each. `prior` weighs the atoms in restarts
    and in Gibbs moves. `neighbours[k]` lists atoms that differ from k in a single entry, padded
    with k itself; single-entry Metropolis proposals draw from it.
    """

    table: Words
    labels: Words
    pairs: int = 0
    mask: Words | None = None
    shifts: ArrayLike | None = None
    prior: ArrayLike | None = None
    neighbours: NDArray[np.int32] | None = None
    _arrays: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self):
        table = np.ascontiguousarray(self.table, dtype=np.uint64)
        labels = np.ascontiguousarray(self.labels, dtype=np.uint64)
        num_atoms = table.shape[1] if table.ndim == 2 else 0
        if not 1 <= num_atoms <= MOST_ATOMS:
            raise InputError(f"a pool needs 1 to {MOST_ATOMS} atoms, got {num_atoms}")
        if len(table) != len(labels) + 2 * self.pairs or not len(labels):
            raise InputError(
                f"the table has {len(table)} words, but {len(labels)} of labels and 2 × "
                f"{self.pairs} of implications were announced"
            )
        if self.mask is not None:
            mask = np.asarray(self.mask, dtype=np.uint64)
            table = table & np.concatenate([mask, mask[len(labels) :]])[:, None]
            labels = labels & mask[: len(labels)]
        prior = _quantised(self.prior, num_atoms)
        shifts = None
        if self.shifts is not None and np.any(self.shifts):
            shifts = np.ascontiguousarray(self.shifts, dtype=np.int64)
            if shifts.shape != (len(labels) + self.pairs,) or shifts.min() < 0:
                raise InputError("shifts needs one number, not negative, for each word")
        self._arrays.update(
            table=table,
            labels=labels,
            shifts=shifts,
            prior=prior,
            cumulative=np.cumsum(prior, dtype=np.uint64),
            # One entry stands for all where all are equal.
            gibbs_prior=prior[:1] if prior.min() == prior.max() else prior,
        )
        if self.most_cost >= _MOST_WEIGHT:
            raise InputError(
                f"the examples weigh {self.most_cost:,} in all; at most {_MOST_WEIGHT - 1:,} work"
            )

    @property
    def num_atoms(self) -> int:
        return self._arrays["table"].shape[1]

    @property
    def most_cost(self) -> int:
        """An upper bound on the full cost."""
        return 64 * int(self.word_weights().sum())

    def truth(self) -> Words:
        """The table, masked."""
        return self._arrays["table"]

    def label_words(self) -> Words:
        return self._arrays["labels"]

    def word_weights(self) -> NDArray[np.int64]:
        """What a violated example of each word of labels, then of pairs, costs."""
        shifts = self._arrays["shifts"]
        words = len(self._arrays["labels"]) + self.pairs
        return np.ones(words, dtype=np.int64) if shifts is None else np.int64(1) << shifts

    def prior_weights(self) -> NDArray[np.uint32]:
        return self._arrays["prior"]

    def cost(self, codes: ArrayLike) -> int:
        """The full cost of the formula with these atoms, `codes[i][j]` in disjunct i."""
        table, labels = self._arrays["table"], self._arrays["labels"]
        inside = np.zeros(len(table), dtype=np.uint64)
        for disjunct in codes:  # type: ignore[union-attr]
            inside |= np.bitwise_and.reduce(table[:, np.asarray(disjunct, dtype=np.int64)], axis=1)
        split = len(labels) + self.pairs
        violated = np.concatenate(
            [inside[: len(labels)] ^ labels, inside[len(labels) : split] & ~inside[split:]]
        )
        return int(np.bitwise_count(violated) @ self.word_weights())

    @property
    def move_seconds(self) -> float:
        """What a whole-atom move takes, very roughly."""
        return 2e-7 + 1e-10 * self._arrays["table"].size

    def room(self, program: Program, state: State) -> Room:
        """Room for kernels that carry a chain on."""
        # Gibbs moves keep two sets of atoms, weights of levels, and the digits of all costs; and a
        # list of rows, filled up to a whole batch.
        sets = 2 + program.most_cost.bit_length()
        levels = max(len(heat) for heat in program.heat)
        words = sets * row_width(self.num_atoms) + levels if program.gibbs else 0
        rows = 64 * (len(self._arrays["labels"]) + 3 * self.pairs + 16) + BATCH
        return Room(
            np.zeros_like(state.atoms),
            np.zeros_like(state.disjuncts),
            np.zeros(words, np.uint64),
            np.zeros(max(rows, 2 * len(state.codes)), np.int64),
        )

    def arrays(self, method: Method) -> Arrays:
        """What the kernels of this method read, but for `errors` and `near`; made once and kept.

        What the method does not use is None.
        """
        moves = {stage.move for stage in method.stages}
        a = self._arrays
        if "metropolis" not in moves:
            return Arrays(
                None, a["table"], a["gibbs_prior"], a["cumulative"], a["labels"], a["shifts"], (),
                self.pairs,
            )  # fmt: skip
        if self.neighbours is None and any(
            stage.move == "metropolis" and stage.single > 0 for stage in method.stages
        ):
            raise InputError("single-entry proposals need a table of neighbours")
        if "rows" not in a:
            a.update(self._padded_rows())
        return Arrays(
            a["rows"], a["columns"] if "gibbs" in moves else None, a["gibbs_prior"],
            a["cumulative"], a["padded_labels"], a["padded_shifts"], a["width"], self.pairs,
        )  # fmt: skip

    def near(self, arrays: Arrays) -> NDArray[np.int32] | None:
        """The table of neighbours for single-entry proposals; None without Metropolis steps."""
        if arrays.rows is None:
            return None
        if self.neighbours is None:
            return np.zeros((self.num_atoms, 1), dtype=np.int32)
        return np.ascontiguousarray(self.neighbours, dtype=np.int32)

    def errors(self, arrays: Arrays) -> Words | None:
        """The rows that Gibbs moves add up (see `error_rows`); None where none are made."""
        if arrays.columns is None:
            return None
        key = f"errors of {len(arrays.labels)} words"
        if key not in self._arrays:
            self._arrays[key] = error_rows(arrays.columns, arrays.labels, self.pairs)
        return self._arrays[key]

    def _padded_rows(self) -> dict[str, Any]:
        table, labels, shifts = (self._arrays[name] for name in ("table", "labels", "shifts"))
        wide = next((width for width in _WIDTHS if width >= len(labels)), len(labels))
        extra = wide - len(labels)
        padding = np.zeros((extra, table.shape[1]), dtype=np.uint64)
        columns = np.concatenate([table[: len(labels)], padding, table[len(labels) :]])
        if shifts is not None:
            shifts = np.insert(shifts, len(labels), np.zeros(extra, dtype=np.int64))
        return {
            "columns": columns,
            "rows": np.ascontiguousarray(columns.T),
            "padded_labels": np.append(labels, np.zeros(extra, dtype=np.uint64)),
            "padded_shifts": shifts,
            "width": (0,) * wide if wide <= _WIDTHS[-1] else (),
        }


def _quantised(prior: ArrayLike | None, num_atoms: int) -> NDArray[np.uint32]:
    """Prior weights as integers of at least one, so that sums are exact."""
    if prior is None:
        return np.ones(num_atoms, dtype=np.uint32)
    weights = np.asarray(prior, dtype=np.float64)
    if weights.shape != (num_atoms,) or not (weights > 0).all() or not np.isfinite(weights).all():
        raise InputError(f"prior needs {num_atoms} positive numbers, one for each atom of the pool")
    return np.maximum(1, np.round(weights / weights.max() * _PRIOR_SCALE)).astype(np.uint32)
