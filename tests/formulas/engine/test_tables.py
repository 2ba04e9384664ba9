"""Truth tables and classes of equal atoms against plain numpy."""

from __future__ import annotations

import numpy as np
import pytest

from doeblin._errors import InputError
from doeblin.formulas import AtomArrays, Space, classes, slots_for, truth_table, unpack
from doeblin.formulas._space import build_pool, neighbours


def random_atoms(rng: np.random.Generator, count: int, d: int) -> AtomArrays:
    relation = rng.integers(0, 3, count)
    modulus = np.where(relation > 0, rng.integers(0, 4, count), 0)
    return AtomArrays(
        rng.integers(-3, 4, (7, d)), np.sort(rng.integers(0, 7, count)), relation,
        rng.integers(-4, 5, count), modulus,
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_every_bit_says_whether_the_atom_holds(seed):
    rng = np.random.default_rng(seed)
    points = rng.integers(-9, 10, (150, 4))
    atoms = random_atoms(rng, 60, 4)
    slots = slots_for(rng.integers(0, 150, 70), rng.integers(0, 150, 5))
    table = truth_table(points, atoms, slots)
    values = atoms.directions[atoms.direction] @ points[slots].T
    reduced = values % np.maximum(1, atoms.modulus)[:, None]
    values = np.where(atoms.modulus[:, None] > 0, reduced, values)
    bound = atoms.constant[:, None]
    expected = np.choose(
        atoms.relation[:, None], [values <= bound, values == bound, values != bound]
    )
    expected &= slots >= 0
    assert table.shape == (3, 60)
    assert np.array_equal(unpack(np.ascontiguousarray(table.T), 192), expected)


def test_atoms_share_a_class_exactly_when_their_truth_values_are_equal():
    rng = np.random.default_rng(1)
    table = rng.integers(0, 3, (2, 400)).astype(np.uint64)
    class_of, count = classes(table)
    columns = [tuple(column) for column in table.T.tolist()]
    assert count == len(set(columns))
    assert {(columns[k], class_of[k]) for k in range(400)} == {
        (columns[list(class_of).index(c)], c) for c in range(count)
    }


def test_without_points_no_bit_is_set():
    atoms = random_atoms(np.random.default_rng(0), 60, 4)
    none = np.empty((0, 4), dtype=np.int64)
    for slots in (None, slots_for([-1], [-1, -1])):
        assert not truth_table(none, atoms, slots).any()


def test_products_that_leave_64_bits_are_refused():
    atoms = AtomArrays(*(np.array(part) for part in ([[2**20]], [0], [0], [0], [0])))
    with pytest.raises(InputError, match="64-bit"):
        truth_table(np.array([[2**45]]), atoms)


def test_the_papers_grid_has_every_atom_once_and_every_single_edit():
    pool = build_pool(Space.grid(), np.zeros((1, 5), np.int64), np.ones(1, np.int8))
    assert len(pool.atoms) == 3**6
    rows = np.column_stack([pool.atoms.directions[pool.atoms.direction], pool.atoms.constant])
    assert len({tuple(row) for row in rows}) == 3**6
    near = neighbours(pool.atoms)
    assert near.shape == (729, 12)
    for k in (0, 100, 728):
        assert {int((rows[k] != rows[other]).sum()) for other in near[k]} == {1}
        assert len(set(near[k])) == 12


def test_neighbours_of_an_irregular_pool_are_proposed_with_equal_chance():
    rng = np.random.default_rng(0)
    points = rng.integers(-9, 10, (40, 3))
    pool = build_pool(Space(), points, rng.integers(0, 2, 40).astype(np.int8))
    near = neighbours(pool.atoms)
    k = np.arange(len(near))
    chance = np.zeros((len(near), len(near)))
    np.add.at(chance, (k[:, None], near), 1 / near.shape[1])
    assert np.allclose(chance, chance.T)


def test_thresholds_of_data_tell_apart_whatever_a_direction_can_tell():
    rng = np.random.default_rng(2)
    points = rng.integers(-100, 101, (30, 2))
    sides = rng.integers(0, 2, 30).astype(np.int8)
    pool = build_pool(Space(relations=["<="]), points, sides)
    table = truth_table(points, pool.atoms)
    seen = {tuple(unpack(column, 30)) for column in np.ascontiguousarray(table.T)}
    for a in ((1, 0), (-1, 0), (1, 1), (1, -1)):
        value = points @ np.array(a)
        for low, high in zip(np.sort(value), np.sort(value)[1:], strict=False):
            beside = {bool(s) for s in sides[(value == low) | (value == high)]}
            if low < high and len(beside) == 2:
                assert tuple(value <= low) in seen


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"coefficients": [0]}, "other than 0"),
        ({"constants": []}, "at least one of constants"),
        ({"relations": ["<"]}, "unknown relation"),
        ({"max_terms": 0}, "no variable"),
    ],
)
def test_a_space_that_makes_no_sense_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        Space(**options)


def test_a_space_that_is_too_large_says_what_would_fit():
    with pytest.raises(InputError, match="max_terms = "):
        list(Space(max_terms=30).directions(30))
