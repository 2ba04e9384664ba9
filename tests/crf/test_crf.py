"""The linear-chain CRF against enumeration of all labellings."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from doeblin import InputError, doeblin
from doeblin.crf import (
    FractionBlock,
    LinearChainCRF,
    LinearPotentials,
    Observed,
    Potentials,
    SparseFeatures,
    log_partition,
    log_weight,
    marginals,
    sample,
    viterbi,
)
from doeblin.kernels import BlockKernel, FunctionKernel

from ..statistics import assert_follows

PLACES, LABELS = 5, 3
_rng = np.random.default_rng(3)
ALL = np.array(list(itertools.product(range(LABELS), repeat=PLACES)))


def case(kind: str, length: int) -> Potentials:
    unary = _rng.normal(size=(PLACES, LABELS)) * 2
    shape = (LABELS, LABELS) if kind == "shared" else (PLACES - 1, LABELS, LABELS)
    pairwise = _rng.normal(size=shape) * 2
    if kind == "forbidden":
        pairwise[:, 0, 1] = -np.inf
        unary[1, 2] = -np.inf
    # Padding must not matter, whatever it holds.
    unary[length:] = -np.inf
    return Potentials(jnp.asarray(unary), jnp.asarray(pairwise), length)


def brute_weights(potentials: Potentials) -> np.ndarray:
    """Weights of all labellings, by the definition; those with labels in the padding have none."""
    unary, steps = np.asarray(potentials.unary, float), np.asarray(potentials.steps, float)
    length = int(potentials.length)
    total = np.zeros(len(ALL))
    for t in range(length):
        total += unary[t, ALL[:, t]]
        if t:
            total += steps[t - 1, ALL[:, t - 1], ALL[:, t]]
    return np.where((ALL[:, length:] == 0).all(axis=1), np.exp(total), 0)


CASES = [case(kind, length) for kind in ("shared", "stepwise", "forbidden") for length in (1, 3, 5)]


def number(labels: object) -> np.ndarray:
    return np.asarray(labels) @ LABELS ** np.arange(PLACES)[::-1]


@jax.jit
def everything(potentials: Potentials):
    """Compiled once for each shape of potentials."""
    keys = jax.random.split(jax.random.key(0), 20_000)
    return (
        log_partition(potentials),
        jax.vmap(lambda y: log_weight(potentials, y))(jnp.asarray(ALL)),
        marginals(potentials),
        jax.vmap(lambda key: sample(key, potentials))(keys),
        viterbi(potentials),
    )


@pytest.mark.parametrize("potentials", CASES, ids=[f"case {i}" for i in range(len(CASES))])
def test_against_enumeration(potentials: Potentials):
    log_z, all_weights, (at_places, at_steps), draws, (best, weight) = everything(potentials)
    weights = brute_weights(potentials)
    law = weights / weights.sum()
    np.testing.assert_allclose(log_z, np.log(weights.sum()), rtol=1e-5)
    counted = law > 0
    np.testing.assert_allclose(np.exp(all_weights)[counted], weights[counted], rtol=2e-4)
    length = int(potentials.length)
    for t, k in itertools.product(range(PLACES), range(LABELS)):
        expected = law[ALL[:, t] == k].sum() if t < length else 0
        np.testing.assert_allclose(at_places[t, k], expected, atol=2e-5)
    for t, j, k in itertools.product(range(PLACES - 1), range(LABELS), range(LABELS)):
        expected = law[(ALL[:, t] == j) & (ALL[:, t + 1] == k)].sum() if t + 1 < length else 0
        np.testing.assert_allclose(at_steps[t, j, k], expected, atol=2e-5)

    assert_follows(number(draws), np.where(law < 1e-12, 0, law))
    assert number(best) == np.argmax(weights)
    np.testing.assert_allclose(weight, np.log(weights.max()), rtol=1e-5)


def test_stable_in_float32_on_long_sequences_with_huge_scores():
    """Compared with the same recursion in float64 by numpy."""
    rng = np.random.default_rng(0)
    unary = (rng.normal(size=(2000, 4)) * 50).astype(np.float32)
    pairwise = (rng.normal(size=(4, 4)) * 50).astype(np.float32)
    alpha = unary[0].astype(np.float64)
    for row in unary[1:].astype(np.float64):
        alpha = row + np.logaddexp.reduce(alpha[:, None] + pairwise, axis=0)
    potentials = Potentials(jnp.asarray(unary), jnp.asarray(pairwise))
    np.testing.assert_allclose(log_partition(potentials), np.logaddexp.reduce(alpha), rtol=1e-5)
    at_places, _ = marginals(potentials)
    np.testing.assert_allclose(at_places.sum(axis=1), 1, atol=1e-3)


def test_gradients_are_finite_where_scores_are_not():
    potentials = case("forbidden", 3)

    def log_z(pairwise: jax.Array, unary: jax.Array) -> jax.Array:
        return log_partition(Potentials(unary, pairwise, 3))

    slopes = jax.grad(log_z, argnums=(0, 1))(potentials.pairwise, potentials.unary)
    assert all(np.isfinite(slope).all() for slope in slopes)


@pytest.fixture
def crf() -> LinearChainCRF:
    rng = np.random.default_rng(1)
    return LinearChainCRF(
        LinearPotentials(
            *(jnp.asarray(rng.normal(size=shape)) for shape in [(4, 3), (3, 3), (3,), (3,)])
        )
    )


X = Observed(jnp.asarray(_rng.normal(size=(PLACES, 4))), jnp.array(4))


def test_restart_is_normalised_and_drawn_as_it_says(crf: LinearChainCRF):
    law = np.exp(jax.jit(jax.vmap(lambda y: crf.log_prob(y, X)))(jnp.asarray(ALL)))
    np.testing.assert_allclose(law.sum(), 1, rtol=1e-5)
    keys = jax.random.split(jax.random.key(1), 20_000)
    draws = jax.jit(jax.vmap(lambda key: crf.sample(key, X)))(keys)
    assert_follows(number(draws), law / law.sum())
    best, log_prob = crf.viterbi(X)
    np.testing.assert_allclose(log_prob, crf.log_prob(best, X), rtol=1e-5)
    assert number(best) == np.argmax(law)


@pytest.mark.parametrize(
    "block",
    [
        np.array([True, True, False, False, True]),
        np.array([False, True, False, True, False]),
        FractionBlock(jnp.array(0.6), jnp.array(False)),
    ],
    ids=["prefix", "scattered", "fraction"],
)
def test_blocks_are_redrawn_given_the_rest(crf: LinearChainCRF, block: object):
    state = jnp.array([1, 2, 0, 1, 0])
    mask = block.mask(PLACES, X.length) if isinstance(block, FractionBlock) else block
    law = np.exp(jax.vmap(lambda y: crf.log_prob(y, X))(jnp.asarray(ALL)))
    law[~((np.asarray(state) == ALL) | np.asarray(mask)).all(axis=1)] = 0
    law /= law.sum()
    draws = jax.vmap(lambda key: crf.sample_block(key, state, block, X))(
        jax.random.split(jax.random.key(2), 20_000)
    )
    assert_follows(number(draws), law)
    some = ALL[np.argmax(law)]
    log_prob = crf.log_prob_block(jnp.asarray(some), block, X)
    np.testing.assert_allclose(log_prob, np.log(law.max()), rtol=1e-4)


@pytest.mark.parametrize("length", [1, 3, PLACES])
def test_ends_are_redrawn_from_known_sums(length: int):
    """The same law with and without the sums, for every block at either end."""
    potentials = case("forbidden", length)
    law = brute_weights(potentials)
    state = jnp.asarray(ALL[np.argmax(law)])
    slow, quick = (LinearChainCRF(lambda x, p=p: p) for p in (potentials, potentials.summed()))
    np.testing.assert_allclose(quick.log_partition(), np.log(law.sum()), rtol=1e-5)
    keys = jax.random.split(jax.random.key(3), 5000)

    @jax.jit
    def both(block):
        draws = jax.vmap(lambda key: quick.sample_block(key, state, block))(keys)
        return draws, quick.log_prob_block(state, block), slow.log_prob_block(state, block)

    for size, from_start in itertools.product(range(1, length + 1), (True, False)):
        block = FractionBlock(jnp.array((size - 0.5) / length), jnp.array(from_start))
        draws, found, expected = both(block)
        np.testing.assert_allclose(found, expected, atol=1e-5)
        kept = ~np.asarray(block.mask(PLACES, length))
        given = np.where((np.asarray(state) == ALL)[:, kept].all(axis=1), law, 0)
        assert_follows(number(draws), given / given.sum())


def test_block_kernel_with_a_crf_leaves_its_target_alone(crf: LinearChainCRF):
    rng = np.random.default_rng(4)
    table = jnp.asarray(rng.normal(size=len(ALL)))
    powers = jnp.asarray(LABELS ** np.arange(PLACES)[::-1])

    def log_density(state, x):
        clean = state[4] == 0
        return jnp.where(clean, table[state @ powers], -jnp.inf)

    kernel = BlockKernel(
        crf,
        log_density,
        num_proposals=3,
        choose_block=lambda key: FractionBlock(jax.random.uniform(key), jax.random.bernoulli(key)),
    )
    law = np.where(ALL[:, 4] == 0, np.exp(np.asarray(table, dtype=np.float64)), 0)
    law /= law.sum()
    start = jax.random.choice(jax.random.key(5), len(law), (20_000,), p=jnp.asarray(law))
    after = jax.jit(jax.vmap(lambda key, y: kernel.sample(key, y, X)))(
        jax.random.split(jax.random.key(6), 20_000), jnp.asarray(ALL)[start]
    )
    assert_follows(number(after), law)


def test_sparse_features_are_dense_ones_with_fewer_entries(crf: LinearChainCRF):
    rng = np.random.default_rng(5)
    numbers, values = rng.integers(0, 4, size=(PLACES, 2)), rng.normal(size=(PLACES, 2))
    dense = np.zeros((PLACES, 4))
    for t in range(PLACES):
        np.add.at(dense[t], numbers[t], values[t])
    sparse = SparseFeatures(jnp.asarray(numbers), jnp.asarray(values))
    length = jnp.array(3)
    np.testing.assert_allclose(
        crf.potentials(Observed(sparse, length)).unary,
        crf.potentials(Observed(jnp.asarray(dense), length)).unary,
        atol=1e-5,
    )


def test_shapes_are_checked():
    with pytest.raises(InputError, match=r"pairwise scores of shape \(3, 3\) or \(4, 3, 3\)"):
        Potentials(jnp.zeros((5, 3)), jnp.zeros((2, 2)))


@pytest.mark.parametrize("length", [4, 5])
@pytest.mark.parametrize(
    ("name", "where", "value"),
    [
        ("unary", (1, 1), np.nan),
        ("unary", (2, 0), np.inf),
        ("unary", 3, -np.inf),
        ("pairwise", (1, 0), np.nan),
        ("pairwise", (2, 2), np.inf),
        ("pairwise", ..., -np.inf),
    ],
)
def test_scores_that_are_no_numbers_are_refused(name, where, value, length):
    """Nothing is drawn from them, nor is anything called the best."""
    scores = {"unary": np.zeros((PLACES, LABELS)), "pairwise": np.zeros((LABELS, LABELS))}
    scores[name][where] = value
    bad = Potentials(jnp.asarray(scores["unary"]), jnp.asarray(scores["pairwise"]), length)
    assert not np.isfinite(log_partition(bad))
    for use in (lambda: sample(jax.random.key(0), bad), lambda: viterbi(bad)):
        with pytest.raises(InputError, match="scores of a CRF are NaN or"):
            use()
    # In the padding anything may stand.
    scores["unary"][:] = 0
    scores["unary"][3:] = np.nan
    fine = Potentials(jnp.asarray(scores["unary"]), jnp.zeros((LABELS, LABELS)), 3)
    assert (sample(jax.random.key(0), fine)[3:] == 0).all()
    assert float(viterbi(fine)[1]) == 0


def test_a_chain_from_features_that_are_no_numbers_says_so():
    weights = LinearPotentials(jnp.ones((2, 3)), jnp.zeros((3, 3)), jnp.zeros(3), jnp.zeros(3))
    bad = Observed(jnp.ones((4, 2)).at[1, 1].set(jnp.nan), jnp.int32(4))
    stay = FunctionKernel(lambda key, state, x: state)
    chain = doeblin(stay, LinearChainCRF(weights), 0.2)
    for use in (
        lambda: chain.draw(jax.random.key(0), 6, bad),
        lambda: chain.estimate(jax.random.key(0), lambda s: s.mean(), x=bad, num_tours=9),
    ):
        with pytest.raises(InputError, match="scores of a CRF are NaN"):
            use()


@pytest.mark.parametrize("padding", [0.0, 1.0, -np.inf, np.nan])
def test_a_sequence_without_places_has_one_labelling(padding):
    nothing = Potentials(jnp.full((3, 2), padding), jnp.ones((2, 2)), 0)
    assert float(log_partition(nothing)) == 0
    assert sample(jax.random.key(0), nothing).tolist() == [0, 0, 0]
    assert viterbi(nothing)[0].tolist() == [0, 0, 0]
    assert float(viterbi(nothing)[1]) == 0


def test_whole_numbers_are_scores():
    whole = Potentials(jnp.array([[1, 2, 3], [3, 1, 2]]), jnp.ones((3, 3), int))
    labels, weight = viterbi(whole)
    assert labels.tolist() == [2, 0] and float(weight) == 7
    assert sample(jax.random.key(0), whole).shape == (2,)
    whole_steps = Potentials(jnp.array([[1, 0], [0, 2]]), jnp.array([[[1, 0], [0, 1]]]))
    assert np.isfinite(marginals(whole_steps)[0]).all()


@pytest.mark.parametrize("length", [0, 1, 2])
@pytest.mark.parametrize("padding", [np.nan, np.inf])
def test_marginals_do_not_look_at_steps_of_the_padding(length, padding):
    steps = np.ones((2, 2, 2))
    steps[max(length - 1, 0) :] = padding
    places, between = marginals(Potentials(jnp.zeros((3, 2)), jnp.asarray(steps), length))
    np.testing.assert_allclose(places.sum(axis=1), np.arange(3) < length, atol=1e-6)
    np.testing.assert_allclose(between.sum(axis=(1, 2)), np.arange(2) < length - 1, atol=1e-6)
