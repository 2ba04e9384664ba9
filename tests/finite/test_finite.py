"""The paper's propositions on random finite chains."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doeblin import InputError, finite
from doeblin.schedules import Schedule

from ..random_chains import epsilons, laws, matrices, reversible_matrices, schedules

sizes = st.integers(2, 5)
chains = sizes.flatmap(lambda size: st.tuples(matrices(size), laws(size)))
reversible_chains = sizes.flatmap(lambda size: st.tuples(reversible_matrices(size), laws(size)))


@given(chains, epsilons())
def test_restarts_give_a_gap_of_at_least_epsilon(chain, epsilon):
    matrix, restart = chain
    restarted = finite.restarted(matrix, restart, epsilon)
    assert finite.spectral_gap(restarted) >= epsilon - 1e-9
    # All eigenvalues but the first are those of A, shrunk by 1-ε.
    expected = np.sort(np.abs((1 - epsilon) * finite.eigenvalues(matrix)[1:]))
    found = np.sort(np.abs(finite.eigenvalues(restarted)[1:]))
    np.testing.assert_allclose(found, expected, atol=1e-6)


@given(chains, epsilons())
def test_closed_form_of_the_restarted_law(chain, epsilon):
    matrix, restart = chain
    law = finite.restarted_law(matrix, restart, epsilon)
    np.testing.assert_allclose(law @ finite.restarted(matrix, restart, epsilon), law, atol=1e-12)


@given(chains)
def test_both_divergences_are_monotone_in_epsilon(chain):
    forward, backward = finite.kl_curves(*chain, np.geomspace(1e-4, 1, 12).tolist())
    assert (np.diff(forward) >= -1e-9).all()
    assert (np.diff(backward) >= -1e-9).all()


@given(reversible_chains, epsilons())
def test_mahalanobis_bound(chain, epsilon):
    matrix, restart = chain
    distance = finite.mahalanobis(
        finite.stationary(matrix), finite.restarted_law(matrix, restart, epsilon)
    )
    assert distance <= finite.mahalanobis_bound(matrix, restart, epsilon) * (1 + 1e-6) + 1e-9


@given(chains, epsilons())
def test_doeblin_coefficient_of_a_restarted_chain(chain, epsilon):
    matrix, restart = chain
    assert finite.doeblin_coefficient(finite.restarted(matrix, restart, epsilon)) >= epsilon - 1e-12


@given(chains, epsilons())
def test_plain_doeblin_is_the_two_stage_case(chain, epsilon):
    matrix, restart = chain
    joint = finite.staged_law(Schedule.doeblin(epsilon), [None, matrix], restart)
    np.testing.assert_allclose(
        joint.sum(axis=0), finite.restarted_law(matrix, restart, epsilon), atol=1e-9
    )


@given(schedules(), st.data())
def test_staged_law_has_the_schedule_as_its_margin(schedule, data):
    kernels = [data.draw(matrices(3)) for _ in range(schedule.num_stages)]
    joint = finite.staged_law(schedule, kernels, data.draw(laws(3)))
    np.testing.assert_allclose(joint.sum(axis=1), schedule.stationary(), atol=1e-9)


@pytest.mark.parametrize("delta", [0.5, 0.1, 1e-3])
def test_three_state_example_is_the_papers(delta):
    matrix = finite.three_state_chain(delta)
    np.testing.assert_allclose(
        finite.stationary(matrix), np.array([1, 3 * delta, 1]) / (2 + 3 * delta)
    )
    assert finite.is_reversible(matrix)
    # After a restart, for δ ≪ ε ≪ 1, the chain has fallen into state 1 or 3 with 4/9 and 5/9.
    law = finite.restarted_law(finite.three_state_chain(1e-9), np.full(3, 1 / 3), 1e-4)
    np.testing.assert_allclose(law, [4 / 9, 0, 5 / 9], atol=1e-4)


def test_distances_by_hand():
    assert finite.kl_divergence([0.5, 0.5], [0.25, 0.75]) == pytest.approx(
        0.5 * math.log(2) + 0.5 * math.log(2 / 3)
    )
    assert finite.kl_divergence([1, 0], [0, 1]) == math.inf
    assert finite.kl_divergence([0, 1], [0.5, 0.5]) == pytest.approx(math.log(2))
    assert finite.total_variation([1, 0], [0.25, 0.75]) == 0.75
    assert finite.mahalanobis([0.5, 0.5], [1, 0]) == pytest.approx(1)
    assert finite.mahalanobis([1, 0], [0.5, 0.5]) == math.inf
    assert finite.mahalanobis([0.5, 0.5, 0], [0.4, 0.4, 0.2]) == math.inf
    assert finite.mahalanobis([1, 0], [1, 0]) == 0
    assert finite.mahalanobis([0.2, 0.8], [0.6, 0.4]) == pytest.approx(math.sqrt(0.8 + 0.2))


def test_divergences_of_laws_that_are_nearly_one_are_not_negative():
    rng = np.random.default_rng(0)
    pairs = [(p, p * (1 + 1e-12 * rng.normal(size=5))) for p in rng.dirichlet(np.ones(5), 200)]
    pairs = [(p, q / q.sum()) for p, q in pairs]
    assert min(np.sum(p * np.log(p / q)) for p, q in pairs) < 0  # rounding alone would be
    assert min(finite.kl_divergence(p, q) for p, q in pairs) >= 0


def test_spectra_by_hand():
    """A rotation by thirds has eigenvalues of modulus one; a lazy one has those of (1+ω)/2."""
    rotation = np.roll(np.eye(3), 1, axis=1)
    assert finite.spectral_gap(rotation) == pytest.approx(0)
    assert finite.spectral_gap((np.eye(3) + rotation) / 2) == pytest.approx(0.5)
    assert finite.spectral_gap([[1.0]]) == 1
    assert np.abs(finite.eigenvalues([[0.9, 0.1], [0.3, 0.7]])) == pytest.approx([1, 0.6])
    assert finite.is_reversible([[0.9, 0.1], [0.3, 0.7]])
    assert not finite.is_reversible(0.9 * rotation + 0.1 / 3)
    assert finite.is_reversible(0.9 * rotation + 0.1 / 3, tolerance=1.0)


@pytest.mark.parametrize("rate", [1e-3, 1e-12, 1e-13, 1e-17, 1e-300])
def test_slow_chains_by_hand(rate):
    """However rare moves are, laws have all their digits."""
    matrix = np.array([[1 - 3 * rate, 3 * rate], [rate, 1 - rate]])
    np.testing.assert_allclose(finite.stationary(matrix), [0.25, 0.75], rtol=1e-14)
    # A cycle that is slow, and goes one way.
    one_way = rate * np.array([[-2, 2, 0], [0, -1, 1], [3, 0, -3]]) + np.eye(3)
    np.testing.assert_allclose(finite.stationary(one_way), np.array([3, 6, 2]) / 11, rtol=1e-14)
    assert not finite.is_reversible(one_way)
    assert finite.is_reversible(matrix)
    # Restarts that are rare: the law of A where it has one, else how restarts fall into classes.
    apart = [[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    law = finite.restarted_law(apart, [0.2, 0.2, 0.6], rate)
    np.testing.assert_allclose(law, [0.2, 0.2, 0.6], rtol=1e-14)
    law = finite.restarted_law([[0.9, 0.1], [0.3, 0.7]], [0.5, 0.5], rate)
    second = (0.1 + 0.4 * rate) / (0.4 + 0.6 * rate)
    np.testing.assert_allclose(law, [1 - second, second], rtol=1e-14)


def test_bounds_and_curves_by_hand():
    """A = [[.9, .1], [.3, .7]] has π = (3/4, 1/4) and gap 0.4; u = (0, 1) is sqrt(3) away."""
    matrix, restart = [[0.9, 0.1], [0.3, 0.7]], [0.0, 1.0]
    assert finite.mahalanobis_bound(matrix, restart, 0.2) == pytest.approx(0.2 / 0.4 * math.sqrt(3))
    assert finite.doeblin_coefficient(matrix) == pytest.approx(0.4)
    # π̃ = ε u (I - (1-ε) A)^-1 for ε = 1/2: (I - A/2) = [[.55, -.05], [-.15, .65]], det .35.
    law = np.array([0.5 * 0.15, 0.5 * 0.55]) / 0.35
    assert finite.restarted_law(matrix, restart, 0.5) == pytest.approx(law)
    forward, backward = finite.kl_curves(matrix, restart, [0.5, 1.0])
    assert forward == pytest.approx([law @ np.log(law / [0.75, 0.25]), math.log(4)]) and backward[
        0
    ] == pytest.approx(np.array([0.75, 0.25]) @ np.log([0.75, 0.25] / law))
    assert backward[1] == math.inf
    # A chain that goes to and fro has no gap, so nothing bounds how far restarts take it.
    assert finite.mahalanobis_bound([[0, 1], [1, 0]], [1, 0], 0.1) == math.inf
    assert finite.mahalanobis_bound([[0, 1], [1, 0]], [0.5, 0.5], 0.1) == 0
    assert finite.mahalanobis_bound([[1.0]], [1], 0.1) == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: finite.stationary(np.eye(2)), "more than one stationary law"),
        (lambda: finite.restarted(np.eye(2), [1, 0], 2), r"epsilon = 2 is outside \(0, 1\]"),
        (lambda: finite.restarted(np.eye(2), [1, 0, 0], 0.5), "restart law has 3 states"),
        (lambda: finite.restarted(np.eye(2), [0.5, 0.2], 0.5), "restart law sums to 0.7"),
        (lambda: finite.kl_divergence([1], [0.5, 0.5]), "different numbers of states, 1 and 2"),
        (lambda: finite.three_state_chain(0), r"delta = 0 is outside \(0, 0.5\]"),
        (lambda: finite.three_state_chain(-0.1), r"delta = -0.1 is outside"),
        (lambda: finite.three_state_chain(0.7), r"delta = 0.7 is outside \(0, 0.5\]"),
        (
            lambda: finite.mahalanobis_bound([[0, 1, 0], [0, 0, 1], [0.5, 0.5, 0]], [1, 0, 0], 0.5),
            "holds for reversible chains",
        ),
        (
            lambda: finite.staged_matrix(Schedule.doeblin(0.5), [None], [1]),
            "2 stages need 2 kernels",
        ),
    ],
)
def test_bad_input_is_refused_by_name(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_laws_of_chains_that_hardly_move():
    """1e-320 is a number with few bits, and its inverse none at all."""
    np.testing.assert_allclose(finite.stationary([[1e-320, 1], [1e-320, 1]]), [1e-320, 1])
    np.testing.assert_allclose(finite.stationary([[0, 1], [5e-324, 1]]), [5e-324, 1])
    with pytest.raises(InputError, match=r"moves so rarely \(1e-310\) that no float says"):
        finite.stationary([[1e-310, 1, 1e-310], [0, 1, 2e-310], [0, 0, 1]])
    assert finite.kl_divergence([0.5, 0.5], [5e-324, 1]) == pytest.approx(
        -0.5 * np.log(5e-324), rel=0.01
    )
