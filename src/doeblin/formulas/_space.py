"""The space of atoms that a search draws from."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._errors import InputError
from ..linear import LE, RELATIONS, Atom, Relation
from .engine import MOST_ATOMS, AtomArrays

_LE = RELATIONS.index(LE)
# Unless told otherwise, atoms get as many terms as keep the directions below this number.
_DIRECTIONS = 2500
# Constants taken from the data are thinned out so that there are about this many atoms.
_DATA_ATOMS = 40_000
_EQUALITIES = 6


@dataclass(frozen=True, kw_only=True)
class Space:
    """Which atoms `a·x REL b` a search may use.

    `coefficients` are the candidates for every entry of `a`, `constants` those for `b`; None takes
    the constants from the data: the values at which an atom changes what it says about the
    examples. `max_terms` bounds how many entries of `a` differ from zero (None: as many as keep
    the space small; sparse atoms make 30 variables possible). `uniform` weighs all atoms equally;
    otherwise few variables, small numbers and inequalities are preferred.

    >>> Space(coefficients=range(-2, 3), constants=[-1, 0, 1]).constants
    (-1, 0, 1)
    """

    coefficients: Sequence[int] = (-1, 0, 1)
    constants: Sequence[int] | None = None
    max_terms: int | None = None
    relations: Sequence[Relation] = ("<=", "==", "!=")
    uniform: bool = False

    def __post_init__(self):
        for name in ("coefficients", "constants", "relations"):
            values = getattr(self, name)
            if values is not None:
                distinct = tuple(dict.fromkeys(values))
                if not distinct:
                    raise InputError(f"a space needs at least one of {name}")
                object.__setattr__(self, name, distinct)
        if not any(self.coefficients):
            raise InputError("a space needs a coefficient other than 0")
        unknown = [relation for relation in self.relations if relation not in RELATIONS]
        if unknown:
            raise InputError(f"unknown relation {unknown[0]!r}: use {', '.join(RELATIONS)}")
        if self.max_terms is not None and self.max_terms < 1:
            raise InputError(f"max_terms = {self.max_terms} leaves no variable in an atom")

    @classmethod
    def grid(
        cls, coefficients: Sequence[int] = (-1, 0, 1), constants: Sequence[int] = (-1, 0, 1)
    ) -> Space:
        """The paper's space: every `a` over the coefficients and every `b`, all equally likely."""
        return cls(
            coefficients=coefficients, constants=constants, max_terms=1 << 30, relations=("<=",),
            uniform=True,
        )  # fmt: skip

    def terms(self, d: int) -> int:
        """How many variables an atom over d variables may have."""
        nonzero = sum(a != 0 for a in self.coefficients)
        if self.max_terms is not None:
            terms = min(self.max_terms, d)
            most = MOST_ATOMS // len(self.constants or (0,))
            count = _num_directions(d, terms, nonzero)
            if count > most:
                raise InputError(
                    f"{count:,} linear forms with up to {terms} of {d} variables are too many; "
                    f"use max_terms = {self._fitting(d, nonzero, most)} or fewer coefficients"
                )
            return terms
        return self._fitting(d, nonzero, _DIRECTIONS)

    @staticmethod
    def _fitting(d: int, nonzero: int, most: int) -> int:
        terms = 1
        while terms < d and _num_directions(d, terms + 1, nonzero) <= most:
            terms += 1
        return terms

    def directions(self, d: int) -> NDArray[np.int64]:
        """Every `a` as a row, few terms first; the zero vector begins if zero is a coefficient."""
        nonzero = [a for a in self.coefficients if a]
        blocks = []
        for count in range(self.terms(d) + 1) if 0 in self.coefficients else [d]:
            places = np.array(list(itertools.combinations(range(d), count)), dtype=np.int64)
            values = np.array(list(itertools.product(nonzero, repeat=count)), dtype=np.int64)
            block = np.zeros((len(places), len(values), d), dtype=np.int64)
            np.put_along_axis(block, places[:, None], values[None], axis=2)
            blocks.append(block.reshape(-1, d))
        return np.concatenate(blocks)


@dataclass(frozen=True)
class Pool:
    """Atoms of a space for given data, with prior weights."""

    atoms: AtomArrays
    prior: NDArray[np.float64]

    def atom(self, k: int) -> Atom:
        direction = self.atoms.directions[self.atoms.direction[k]]
        return Atom(
            tuple(int(a) for a in direction),
            RELATIONS[self.atoms.relation[k]],
            int(self.atoms.constant[k]),
            int(self.atoms.modulus[k]),
        )


def build_pool(
    space: Space,
    points: NDArray[np.int64],
    sides: NDArray[np.int8],
    extra: Sequence[Atom] = (),
) -> Pool:
    """The atoms of `space`, with True, False and the `extra` atoms unless the space is uniform.

    `sides[k]` is 1 for points that should be inside, 0 for outside and -1 where nobody knows.
    """
    d = points.shape[1]
    directions = space.directions(d)
    codes = np.array([RELATIONS.index(relation) for relation in space.relations])
    which, kind = np.nonzero(_useful(directions, codes, space))
    if space.constants is not None:
        counts = np.full(len(which), len(space.constants))
        constants = np.tile(np.array(space.constants, dtype=np.int64), len(which))
    else:
        limit = max(4, min(64, _DATA_ATOMS // max(1, len(directions))))
        projections = directions @ points.T
        lists = [
            []
            if not directions[k].any()
            else _thresholds(projections[k], sides, limit)
            if code == _LE
            else _values(projections[k], min(limit, _EQUALITIES))
            for k, code in zip(which, codes[kind], strict=True)
        ]
        counts = np.array([len(each) for each in lists], dtype=np.int64)
        constants = np.array([b for each in lists for b in each], dtype=np.int64)
    rows = np.column_stack([np.repeat(which, counts), np.repeat(codes[kind], counts), constants])
    modulus = np.zeros(len(rows), dtype=np.int64)
    if not space.uniform or extra:
        always = [Atom((0,) * d, "<=", 0), Atom((0,) * d, "<=", -1)]
        more = [*always, *extra]
        first = len(directions)
        tail = [
            (first + k, RELATIONS.index(atom.relation), atom.constant)
            for k, atom in enumerate(more)
        ]
        rows = np.concatenate([rows, np.array(tail, dtype=np.int64)])
        modulus = np.append(modulus, [atom.modulus for atom in more])
        directions = np.concatenate([directions, [atom.coefficients for atom in more]])
    direction, relation, constant = (np.ascontiguousarray(column) for column in rows.T)
    atoms = AtomArrays(directions, direction, relation, constant, modulus)
    if len(atoms) > MOST_ATOMS:
        raise InputError(f"the space has {len(atoms):,} atoms; at most {MOST_ATOMS:,} fit")
    return Pool(atoms, np.ones(len(atoms)) if space.uniform else simplicity(atoms))


def simplicity(atoms: AtomArrays) -> NDArray[np.float64]:
    """Positive weights: larger for few variables, small numbers, and inequalities."""
    directions = np.abs(atoms.directions)
    terms = np.count_nonzero(directions, axis=1)
    by_direction = 0.4 ** np.maximum(terms - 1, 0) / np.maximum(1, directions.max(axis=1)) ** 2
    by_constant = 1 / (1 + np.log2(1 + np.maximum(0, np.abs(atoms.constant) - 1)))
    by_relation = np.array([1.0, 0.5, 0.3])
    return by_direction[atoms.direction] * by_constant * by_relation[atoms.relation]


def neighbours(atoms: AtomArrays) -> NDArray[np.int32]:
    """`result[k]`: the atoms that differ from atom k in one entry of `[a b]`, padded with k.

    Padding makes proposals symmetric: every pair of neighbours is proposed with the same chance.
    """
    count = len(atoms)
    rows = np.column_stack(
        [atoms.directions[atoms.direction], atoms.constant, atoms.relation, atoms.modulus]
    )
    multipliers = np.random.default_rng(0).integers(1, 2**63, rows.shape[1]).astype(np.uint64)
    hashed = rows.astype(np.uint64) * multipliers
    keys = hashed.sum(axis=1, dtype=np.uint64)
    pairs: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    for entry in range(rows.shape[1] - 2):
        # Sorting by a hash of the other entries brings atoms that share them together; whether
        # they do is then checked entry by entry.
        order = np.argsort(keys - hashed[:, entry], kind="stable")
        others = np.delete(rows, entry, axis=1)[order]
        begins = np.append(True, (others[1:] != others[:-1]).any(axis=1))
        starts = np.flatnonzero(begins)
        group = np.cumsum(begins) - 1
        start, size = starts[group], np.diff(np.append(starts, count))[group]
        place = np.arange(count) - start
        for shift in range(1, int(size.max())):
            many = size > shift
            other = order[(start + (place + shift) % size)[many]]
            pairs.append((order[many], other))
    atom = np.concatenate([k for k, _ in pairs]) if pairs else np.empty(0, dtype=np.int64)
    other = np.concatenate([o for _, o in pairs]) if pairs else atom
    degrees = np.bincount(atom, minlength=count)
    table = np.repeat(np.arange(count, dtype=np.int32)[:, None], max(1, degrees.max()), axis=1)
    order = np.argsort(atom, kind="stable")
    column = np.arange(len(atom)) - np.repeat(np.cumsum(degrees) - degrees, degrees)
    table[atom[order], column] = other[order]
    return table


def _num_directions(d: int, terms: int, nonzero: int) -> int:
    return sum(math.comb(d, t) * nonzero**t for t in range(terms + 1))


def _useful(
    directions: NDArray[np.int64], codes: NDArray[np.int64], space: Space
) -> NDArray[np.bool_]:
    """`[k, r]`: whether to have relation r for direction k.

    Equalities are symmetric, so one of `a` and `-a` is enough for them.
    """
    first = np.take_along_axis(directions, (directions != 0).argmax(axis=1)[:, None], axis=1)
    opposite = np.asarray(np.isin(-directions, space.coefficients).all(axis=1))
    return (codes == _LE) | (first > 0) | ~opposite[:, None]


def _thresholds(projection: NDArray[np.int64], sides: NDArray[np.int8], limit: int) -> list[int]:
    """Constants between neighbouring values, where what lies on either side differs.

    When there are too many, half of them are those that best tell inside from outside (by the
    distance of the two distribution functions), the rest are spread evenly.
    """
    values, index = np.unique(projection, return_inverse=True)
    if len(values) < 2:
        return []
    counts = np.zeros((3, len(values)))
    np.add.at(counts, (sides, index), 1)
    has = counts > 0
    # A gap is of no use if both neighbours hold the same one side and nothing unknown.
    same = (has[:, :-1] == has[:, 1:]).all(axis=0) & (has[0] != has[1])[:-1] & ~has[2, :-1]
    gaps = np.flatnonzero(~same)
    if len(gaps) > limit:
        below = np.cumsum(counts[:2], axis=1) / np.maximum(1, counts[:2].sum(axis=1))[:, None]
        distance = np.abs(below[0] - below[1])[gaps]
        telling = gaps[np.argsort(-distance, kind="stable")[: limit // 2]]
        spread = gaps[np.linspace(0, len(gaps) - 1, limit - len(telling)).astype(int)]
        gaps = np.unique(np.concatenate([telling, spread]))
    return [_simplest(int(values[g]), int(values[g + 1]) - 1) for g in gaps]


def _values(projection: NDArray[np.int64], limit: int) -> list[int]:
    """Zero, one and minus one where they occur, then the most frequent values."""
    values, counts = np.unique(projection, return_counts=True)
    small = [int(v) for v in values[np.abs(values) <= 1]]
    frequent = [int(v) for v in values[np.argsort(-counts, kind="stable")][:limit]]
    return list(dict.fromkeys([*small, *frequent]))


def _simplest(low: int, high: int) -> int:
    """The number in [low, high] that is nearest to zero."""
    return 0 if low <= 0 <= high else (low if low > 0 else high)
