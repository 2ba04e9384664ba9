"""Latent alignments against enumeration."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from doeblin import InputError
from doeblin.crf import AlignmentProposal, Alignments, LinearChainCRF, Output, Potentials

from ..statistics import assert_follows

PLACES, LABELS = 5, 4
EMITS = [7, 9, -1, -1]
ALL = np.array(list(itertools.product(range(LABELS), repeat=PLACES)))
_rng = np.random.default_rng(0)
UNARY, PAIRWISE = _rng.normal(size=(PLACES, LABELS)), _rng.normal(size=(LABELS, LABELS))


def spelled(labels: np.ndarray, length: int) -> list[int]:
    return [EMITS[k] for k in labels[:length] if EMITS[k] >= 0]


CRF = LinearChainCRF(lambda length: Potentials(jnp.asarray(UNARY), jnp.asarray(PAIRWISE), length))
PROPOSAL = AlignmentProposal(CRF, Alignments(EMITS))


@jax.jit
def everything(x):
    """Compiled once for all cases."""
    keys = jax.random.split(jax.random.key(0), 20_000)
    return (
        jax.vmap(lambda y: CRF.log_prob(y, x[0]))(jnp.asarray(ALL)),
        PROPOSAL.log_marginal(x),
        jax.vmap(lambda y: PROPOSAL.log_prob(y, x))(jnp.asarray(ALL)),
        jax.vmap(lambda key: PROPOSAL.sample(key, x))(keys),
    )


@pytest.mark.parametrize("wanted", [[], [7], [9, 7], [7, 7, 9]], ids=str)
@pytest.mark.parametrize("length", [3, 5])
def test_against_enumeration(wanted: list[int], length: int):
    output = Output(jnp.asarray([*wanted, *[-1] * (3 - len(wanted))]), jnp.array(len(wanted)))
    x = (jnp.array(length), output)
    log_prior, log_marginal, log_probs, draws = everything(x)
    spells = np.array([spelled(y, length) == wanted for y in ALL])
    law = np.where(spells, np.exp(log_prior), 0)
    np.testing.assert_allclose(log_marginal, np.log(law.sum()), rtol=1e-4)
    conditional = law / law.sum()
    np.testing.assert_allclose(np.exp(log_probs), conditional, atol=1e-5)
    assert_follows(np.asarray(draws) @ LABELS ** np.arange(PLACES)[::-1], conditional)


def test_spelling():
    output = Alignments(EMITS).spell(jnp.array([2, 0, 3, 1, 0]), 4)
    assert output.symbols.tolist() == [7, 9, -1, -1, -1]
    assert int(output.length) == 2


def test_training_a_crf_with_latent_alignments_is_gradient_ascent_on_the_marginal():
    """The gradient is the difference of two expectations, here by enumeration."""
    output = Output(jnp.array([9, 7]), jnp.array(2))

    def log_marginal(unary: jax.Array) -> jax.Array:
        crf = LinearChainCRF(lambda length: Potentials(unary, jnp.asarray(PAIRWISE), length))
        return AlignmentProposal(crf, Alignments(EMITS)).log_marginal((jnp.array(4), output))

    slope = jax.jit(jax.grad(log_marginal))(jnp.asarray(UNARY))
    law = np.exp(jax.jit(jax.vmap(lambda y: CRF.log_prob(y, jnp.array(4))))(jnp.asarray(ALL)))
    given = np.where([spelled(y, 4) == [9, 7] for y in ALL], law, 0)
    given /= given.sum()
    for t, k in itertools.product(range(4), range(LABELS)):
        holds = ALL[:, t] == k
        np.testing.assert_allclose(slope[t, k], given[holds].sum() - law[holds].sum(), atol=1e-5)


def test_emits_are_checked():
    with pytest.raises(InputError, match="one whole number for each label"):
        Alignments([0.5, 1.0])


def test_what_no_labelling_spells_is_refused():
    alignments = Alignments([0, -1])  # label 0 emits symbol 0
    potentials = Potentials(jnp.zeros((2, 2)), jnp.zeros((2, 2)))
    three = Output(jnp.array([0, 0, 0]), jnp.int32(3))
    for _ in range(2):  # compiled, and as it was
        with pytest.raises(InputError, match="leave no labelling possible"):
            alignments.sample(jax.random.key(0), potentials, three)
