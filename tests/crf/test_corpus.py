"""Whole data sets at once, against sequences one by one."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from doeblin.crf import Corpus, LinearChainCRF, LinearPotentials, Observed, SparseFeatures

FEATURES, LABELS = 30, 3
Bucket = tuple[Observed, np.ndarray]


def bucket(rng: np.random.Generator, count: int, places: int, kind: str, entries: int) -> Bucket:
    lengths = rng.integers(1, places + 1, size=count)
    # Feature 0 is everywhere, so that its occurrences fill several rows.
    numbers = rng.integers(1, FEATURES, size=(count, places, entries)).astype(np.int32)
    numbers[..., 0] = 0
    values = rng.normal(size=numbers.shape).astype(np.float32)
    if kind == "indicators":
        values = np.ones_like(values)
    features = SparseFeatures(jnp.asarray(numbers), jnp.asarray(values))
    if kind == "dense":
        features = jnp.asarray(rng.normal(size=(count, places, FEATURES)), dtype=float)
    labels = rng.integers(0, LABELS, size=(count, places))
    labels[np.arange(places) >= lengths[:, None]] = 0
    return Observed(features, jnp.asarray(lengths)), labels.astype(np.int32)


@pytest.mark.parametrize("kind", ["indicators", "values", "dense"])
def test_a_corpus_weighs_what_its_sequences_do(kind: str):
    rng = np.random.default_rng(0)
    # Buckets may differ in how many features a place has at most.
    entries = (4, 4) if kind == "indicators" else (4, 2)
    buckets = [bucket(rng, 20, 7, kind, entries[0]), bucket(rng, 5, 2, kind, entries[1])]
    corpus = Corpus(buckets, FEATURES, LABELS)
    assert len(corpus) == 25

    @jax.jit
    def one_by_one(potentials: LinearPotentials):
        def total(potentials: LinearPotentials):
            crf = LinearChainCRF(potentials)
            return sum(
                jax.vmap(lambda x, y: crf.log_prob(y, x))(observed, jnp.asarray(labels)).sum()
                for observed, labels in buckets
            )

        return jax.value_and_grad(total)(potentials)

    at_once = eqx.filter_jit(lambda corpus, p: jax.value_and_grad(corpus.log_likelihood)(p))
    shapes = ((FEATURES, LABELS), (LABELS, LABELS), (LABELS,), (LABELS,))
    # Transition scores of a range in which the forward algorithm leaves the log domain, and not.
    for spread in (1.0, 60.0):
        scales = (1.0, spread, 1.0, 1.0)
        parameters = LinearPotentials(
            *(
                jnp.asarray(rng.normal(0, scale, size=shape), dtype=float)
                for shape, scale in zip(shapes, scales, strict=True)
            )
        )
        value, slope = one_by_one(parameters)
        found, found_slope = at_once(corpus, parameters)
        np.testing.assert_allclose(found, value, rtol=1e-5)
        expected, flat = ravel_pytree(slope)[0], ravel_pytree(found_slope)[0]
        np.testing.assert_allclose(flat, expected, atol=1e-4 * float(jnp.abs(expected).max()))
