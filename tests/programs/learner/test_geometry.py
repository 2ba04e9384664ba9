"""What clouds of points suggest, held against slow enumeration."""

from fractions import Fraction
from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from doeblin.programs.learner._geometry import congruences, distinct, equations, facets, two_valued


def clouds(width, *, least=1):
    point = st.tuples(*[st.integers(-6, 6)] * width)
    return st.lists(point, min_size=least, max_size=14, unique=True)


def rank(rows):
    rows, found = [[Fraction(v) for v in row] for row in rows], 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((r for r in rows[found:] if r[column]), None)
        if pivot is None:
            continue
        rows.remove(pivot)
        rows.insert(found, pivot)
        for i, row in enumerate(rows):
            if i != found and row[column]:
                factor = row[column] / pivot[column]
                rows[i] = [a - factor * b for a, b in zip(row, pivot, strict=True)]
        found += 1
    return found


def spans(points):
    return rank([[a - b for a, b in zip(p, points[0], strict=True)] for p in points[1:]])


@given(clouds(3, least=3))
def test_facets_are_all_bounds_that_a_full_face_attains(cloud):
    found = facets(np.array(cloud), [0, 1, 2], [2], most=10_000)
    # Columns that repeat another, up to sign and a constant, are left out.
    columns = []
    by_values = sorted(range(3), key=lambda i: (-len({p[i] for p in cloud}), i))
    for i in by_values:
        repeats = any(len({p[i] - s * p[j] for p in cloud}) == 1 for j in columns for s in (1, -1))
        if len({p[i] for p in cloud}) > 1 and not repeats:
            columns.append(i)
    expected = set()
    for vector in product((-2, -1, 0, 1, 2), repeat=3):
        used = [i for i, c in enumerate(vector) if c]
        if len(used) < 2 or not set(used) <= set(columns) or np.gcd.reduce(vector) != 1:
            continue
        shown = {tuple(p[i] for i in used) for p in cloud}
        values = {p: sum(vector[i] * v for i, v in zip(used, p, strict=True)) for p in shown}
        highest = max(values.values())
        face = [p for p, value in values.items() if value == highest]
        if spans(list(shown)) == len(used) and spans(face) == len(used) - 1:
            expected.add((vector, highest))
    assert set(found) == expected


@given(clouds(3), st.sampled_from([2, 3, 5]))
def test_congruences_span_all_that_hold(cloud, prime):
    def remainders(vector):
        return {sum(c * x for c, x in zip(vector, p, strict=True)) % prime for p in cloud}

    found = congruences(np.array(cloud), [0, 1, 2], prime)
    assert all(remainders(vector) == {rest} for vector, rest in found)
    spanned = {
        tuple(sum(k * v[i] for k, (v, _) in zip(ks, found, strict=True)) % prime for i in range(3))
        for ks in product(range(prime), repeat=len(found))
    }
    same = {v for v in product(range(prime), repeat=3) if len(remainders(v)) == 1}
    assert spanned == same and len(spanned) == prime ** len(found)


@given(clouds(3))
def test_equations_span_all_that_hold(cloud):
    found = equations(np.array(cloud), [0, 1, 2])
    for vector, value in found:
        assert {sum(c * x for c, x in zip(vector, p, strict=True)) for p in cloud} == {value}
    assert rank([vector for vector, _ in found]) == 3 - spans(cloud)


@given(clouds(3, least=4))
def test_two_values_are_all_the_values(cloud):
    for vector, (low, high) in two_valued(np.array(cloud), [0, 1, 2]):
        values = {sum(c * x for c, x in zip(vector, p, strict=True)) for p in cloud}
        assert values == {low, high} and high > low + 1


def test_a_ring_has_two_values():
    cloud = [((t + n) % 5, t, n) for t in range(5) for n in range(6)]
    assert ((1, -1, -1), (-5, 0)) in two_valued(np.array(cloud), [0, 1, 2])


def test_distinct_rows_are_those_of_numpy():
    rng = np.random.default_rng(5)
    for columns in (1, 2, 4):
        for count in (0, 1, 2, 50):
            rows = rng.integers(-2, 3, (count, columns))
            np.testing.assert_array_equal(distinct(rows), np.unique(rows, axis=0))
    assert len(distinct(np.zeros((3, 0), dtype=np.int64))) == 1
