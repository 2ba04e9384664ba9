"""Draws by inversion, word by word: every value has as many words as its probability says."""

from __future__ import annotations

import ast
import itertools
import math
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import doeblin
from doeblin import InputError
from doeblin._inversion import invert, uniform
from doeblin._plain import plain_errors
from doeblin.kernels import FiniteKernel, FiniteRestart, IndependentSites, Potts
from doeblin.kernels._sites import checked_logits

ALL, LAST = 2**32, 2**15

_drawn = jax.jit(jax.vmap(lambda logits, word: invert(logits, word)[0], in_axes=(None, 0)))


def words_of_values(logits: Any) -> np.ndarray:
    """How many of all 2³² words give each value: by bisection, since values go up with words (of
    two, the rarer comes first); among the last words they need not, and these are counted."""
    logits = np.asarray(logits, np.float32)
    size, rest = len(logits), ALL - LAST
    order = np.argsort(logits, kind="stable") if size == 2 else np.arange(size)

    def places(words: np.ndarray) -> np.ndarray:
        return np.argsort(order)[_drawn(logits, words.astype(np.uint32))]

    assert (np.diff(places(np.sort(np.random.default_rng(0).integers(0, rest, 2000)))) >= 0).all()
    low, high = np.zeros(size - 1, np.int64), np.full(size - 1, rest)
    while (low < high).any():
        middle = (low + high) // 2
        above = (middle == rest) | (places(np.minimum(middle, rest - 1)) > np.arange(size - 1))
        low, high = np.where(above, low, middle + 1), np.where(above, middle, high)
    counts = np.diff(np.concatenate([[0], low, [rest]]))
    return (counts + np.bincount(places(np.arange(rest, ALL)), minlength=size))[np.argsort(order)]


def right_counts(logits: Any) -> np.ndarray:
    """What the probabilities ask for, in double precision."""
    weights = np.exp(np.asarray(np.float32(logits), float) - np.max(np.float32(logits)))
    return ALL * weights / weights.sum()


RARE = [2.0**-k for k in (1, 2, 12, 20, 23, 24, 25, 28, 31, 33.5, 60, 140)] + [0.0]


def log(number: float) -> float:
    return math.log(number) if number else -math.inf


@pytest.mark.parametrize("rare", RARE)
def test_of_two_values_each_has_its_words(rare: float):
    logits = [log(1 - rare), log(rare)]
    first = words_of_values(logits)
    if rare < 0.5:
        assert first.tolist() == words_of_values(logits[::-1])[::-1].tolist()
    right = right_counts(logits)
    assert first.sum() == ALL
    assert abs(first[1] - right[1]) <= 0.5 + 1e-6 * right[1]
    if rare < 2**-33:
        assert first.tolist() == [ALL, 0]


@pytest.mark.parametrize("size", [3, 5])
@pytest.mark.parametrize("rare", [2.0**-20, 2.0**-25, 2.0**-30, 2.0**-60, 0.0])
def test_rare_values_have_their_words_wherever_they_stand(size: int, rare: float):
    common = np.log(np.linspace(1, 2, size - 1))
    for place in (0, 1, size // 2, size - 1):
        logits = np.insert(common, place, common[0] + log(rare))
        counts, right = words_of_values(logits), right_counts(logits)
        assert counts.sum() == ALL
        # In proportion, and what is left over; the rarest to a word.
        spare = size * 2**-23
        assert (
            np.abs(counts - right)
            <= 0.5 + (spare + 1e-6) * right + spare * ALL * (right == right.max())
        ).all()
        if rare < 2**-40:
            assert counts[place] == 0


@pytest.mark.parametrize(
    ("size", "rare"),
    [
        pytest.param(1500, 2.0**-27, marks=pytest.mark.thorough),
        (1025, 2.0**-20),
        pytest.param(40, 0.0, marks=pytest.mark.thorough),
        pytest.param(1500, 2.0**-20, marks=pytest.mark.thorough),
        pytest.param(1500, 0.0, marks=pytest.mark.thorough),
        pytest.param(40, 2.0**-27, marks=pytest.mark.thorough),
    ],
)
def test_rare_values_have_their_words_among_many(size: int, rare: float):
    """Counted near where a sum in double precision says that they are."""
    common = np.log(np.linspace(1, 2, size - 1))
    for place in (0, 33, size - 1):
        logits = np.insert(common, place, common[0] + log(rare))
        right = right_counts(logits)
        start, reach = right[:place].sum(), 2**15
        near = np.arange(max(0, start - reach), min(ALL, start + right[place] + reach))
        count = (_drawn(logits, near.astype(np.uint32)) == place).sum()
        # Rounded in two groups, each in proportion.
        assert abs(count - right[place]) <= 1 + 1e-5 * right[place]
        assert rare or count == 0


@pytest.mark.parametrize(
    "size",
    [
        pytest.param(33, marks=pytest.mark.thorough),
        1100,
        pytest.param(6000, marks=pytest.mark.thorough),
    ],
)
def test_none_of_many_values_has_the_words_of_others(size: int):
    """The words that rounding leaves over were all the first one's: one of 5,000 equal values was
    drawn two and a half times too often."""
    steps = 2**17
    words = np.arange(steps, dtype=np.uint64) * (ALL // steps) + ALL // steps // 2
    for scale in (0.0, 2.0):
        logits = np.random.default_rng(size).normal(scale=scale, size=size)
        parts = [_drawn(logits, part) for part in np.split(words.astype(np.uint32), 8)]
        counts = np.bincount(np.concatenate(parts), minlength=size)
        right = right_counts(logits) * steps / ALL
        # Each interval of words has whole steps but for its ends: two intervals a group.
        assert (np.abs(counts - right) <= 4 + right * 2.0**-12).all()


@pytest.mark.parametrize("number", [0, 17, 1500])
def test_one_possible_value_among_many_is_always_drawn(number: int):
    logits = np.full(2000, -np.inf)
    logits[number] = 3.0
    words = np.array([0, 1, ALL // 2, ALL - 2, ALL - 1], np.uint32)
    assert (np.asarray(_drawn(logits.astype(np.float32), words)) == number).all()


def test_few_words_are_shared_out_to_a_word():
    """Half a word each, a word each, and six, in a group beside one that has nearly all."""
    for each in (0.43, 0.9, 5.9):
        logits = np.full(64, log(each / ALL))
        logits[:32] = -np.inf
        logits[0] = 0
        counts = np.bincount(_drawn(logits, np.arange(ALL - 2**16, ALL).astype(np.uint32)))
        assert (np.abs(counts[32:] - each) <= 2).all() and counts[1:32].sum() == 0
        assert abs(counts[32:].sum() - 32 * each) <= 2


@pytest.mark.parametrize(
    "size", [33, *(pytest.param(size, marks=pytest.mark.thorough) for size in (32, 64, 500))]
)
def test_draws_do_not_depend_on_what_is_drawn_beside_them(size: int):
    """Sums are taken in one order."""
    logits = jnp.asarray(np.random.default_rng(size).normal(size=size).astype(np.float32))
    words = jnp.asarray(np.random.default_rng(1).integers(0, ALL, 60_000).astype(np.uint32))
    one = lambda logits, word: invert(logits, word)[0]  # noqa: E731
    all_at_once = jax.vmap(one, in_axes=(None, 0))
    each = jax.jit(lambda logits, words: jax.lax.map(lambda word: one(logits, word), words))
    lanes = jax.jit(jax.vmap(one))(jnp.broadcast_to(logits, (8, size)), words[:8])
    found = np.asarray(jax.jit(all_at_once)(logits, words))
    np.testing.assert_array_equal(found, each(logits, words))
    np.testing.assert_array_equal(found[:8], lanes)


@pytest.mark.parametrize("size", [5, 33, 20_000])
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_what_leaves_no_choice_is_told_of_however_many_there_are(size: int, wrong: float):
    for place in (0, size // 2, size - 1):
        logits = np.zeros(size) if wrong > 0 or np.isnan(wrong) else np.full(size, -np.inf)
        logits[place] = wrong
        assert not invert(jnp.asarray(logits, jnp.float32), jnp.uint32(3))[1]
        with pytest.raises(InputError, match="NaN"), plain_errors():
            checked_logits(jnp.asarray(logits, jnp.float32))
    assert invert(jnp.zeros(size), jnp.uint32(3))[1]


def test_no_sites_have_no_values():
    for shape in ((0, 3), (0, 40), (2, 0, 1025)):
        found = jax.eval_shape(invert, jnp.zeros(shape), jnp.zeros(shape[:-1], jnp.uint32))
        assert found[0].shape == shape[:-1]


def test_many_values_in_double_precision_and_strict_types():
    with jax.enable_x64(True), jax.numpy_dtype_promotion("strict"):
        logits = np.log(np.arange(1, 1101))
        drawn = FiniteRestart(logits).sample(jax.random.key(0))
        assert drawn.dtype == jnp.int64 and 0 <= drawn < 1100
        steps = 2**16
        words = jnp.asarray((np.arange(steps, dtype=np.uint64) * 2 + 1) << np.uint64(47))
        found = jax.jit(jax.vmap(lambda word: invert(jnp.asarray(logits), word)[0]))(words)
        right = steps * np.exp(logits) / np.exp(logits).sum()
        assert (np.abs(np.bincount(found, minlength=1100) - right) <= 2).all()


def test_what_is_impossible_has_no_words():
    """Not the first, not the last, and not where all others are impossible too."""
    ends = jnp.asarray([0, 1, ALL // 2, ALL - 2, ALL - 1], jnp.uint32)
    for size in (2, 3, 4):
        for allowed in itertools.product([True, False], repeat=size):
            if any(allowed):
                logits = np.where(allowed, 1e4, -np.inf).astype(np.float32)
                assert np.array(allowed)[_drawn(logits, ends)].all()
                assert words_of_values(logits)[~np.array(allowed)].sum() == 0


def test_uniform_numbers_are_never_zero_and_count_in_words():
    words = jnp.asarray([0, 1, 2**31, ALL - 1], jnp.uint32)
    assert np.asarray(uniform(words)).tolist() == [2**-33, 3 * 2**-33, 0.5, 1.0]


def test_cold_grids_treat_their_values_alike():
    """With all words 0, the smallest there is, a flip of probability e⁻⁶⁰ does not happen, from
    either side; one of e⁻²⁰ does."""
    words = jnp.zeros(16, jnp.uint32)
    for coupling, flips in ((15.0, 0), (5.0, 8)):
        gibbs = Potts((4, 4), num_values=2, coupling=coupling).checkerboard()
        for value in (0, 1):
            state = jnp.full((4, 4), value)
            assert (gibbs.redraw(words, state, 0, None) != state).sum() == flips


def test_words_of_64_bits_share_out_alike():
    with jax.enable_x64(True):
        words = jnp.asarray([0, 2**23, 2**25, 2**64 - 1], jnp.uint64)
        for logits, drawn in (
            ([0.0, -40 * math.log(2)], [1, 1, 0, 0]),
            ([-40 * math.log(2), 0.0], [0, 0, 1, 1]),
            ([-math.inf, -40 * math.log(2), 0.0], [1, 1, 2, 2]),
        ):
            found = jax.vmap(lambda word, logits=logits: invert(jnp.asarray(logits), word)[0])(
                words
            )
            assert found.tolist() == drawn


# Of a thousand values 3·10⁻⁷ each: `jax.random.categorical` draws 785 where there should be 1,000.
RARE_LOGITS = jnp.log(jnp.append(jnp.full(1000, 3e-7), 1 - 3e-4))


@pytest.mark.thorough  # that they are drawn by these words is below
@pytest.mark.parametrize(
    "sample",
    [
        FiniteRestart(RARE_LOGITS).sample,
        lambda key: IndependentSites(RARE_LOGITS[None]).sample(key)[0],
        lambda key: FiniteKernel(jnp.tile(RARE_LOGITS, (1001, 1))).sample(key, jnp.array(0)),
    ],
    ids=["FiniteRestart", "IndependentSites", "FiniteKernel"],
)
def test_rare_values_are_drawn_as_often_as_they_should_be(sample: Any):
    """By their number, which is Poisson."""
    draw = jax.jit(jax.vmap(sample))
    count, wanted = 0, 0.0
    for seed in range(32):
        keys = jax.random.split(jax.random.key(seed), 100_000)
        count += int((draw(keys) < 1000).sum())
        wanted += len(keys) * 3e-4
    assert abs(count - wanted) <= 5 * math.sqrt(wanted)


# Draws whose probabilities need no digits: of blocks and their sides, which the law does not know;
# of walks' lengths, which take two numbers, or a horizon that knows how long they can be.
NO_DIGITS = {"chains/_walk.py", "crf/_highorder.py", "kernels/_block.py", "learning/_horizons.py"}
FEW_DIGITS = {"bernoulli", "categorical", "choice", "exponential", "gumbel", "uniform"}


def test_no_probability_is_compared_with_numbers_of_few_digits():
    home, found = Path(doeblin.__file__).parent, set()
    for package in ("chains", "crf", "factors", "kernels", "learning"):
        for file in (home / package).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text())):
                if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                    continue
                high = any(word.arg == "mode" for word in node.keywords)
                if ast.unparse(node.func.value) == "jax.random" and node.func.attr in FEW_DIGITS:
                    found |= set() if high else {file.relative_to(home).as_posix()}
    assert found == NO_DIGITS
