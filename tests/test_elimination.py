"""Laws and times of chains that hardly move, in single precision, against exact fractions."""

from __future__ import annotations

from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import doeblin
from doeblin import Schedule, finite
from doeblin._elimination import invariant, until_first
from doeblin.kernels import FiniteKernel, FiniteRestart
from doeblin.learning._stages import backward_walk, forward_walk, log_restart_mass

DIGITS = 3e-6


def solved(rows: list[list[Fraction]]) -> list[Fraction]:
    """The solution of a linear system, its right side in the last column."""
    size = len(rows)
    rows = [list(row) for row in rows]
    for i in range(size):
        pivot = next(r for r in range(i, size) if rows[r][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for r in range(size):
            if r != i and rows[r][i]:
                by = rows[r][i]
                rows[r] = [a - by * b for a, b in zip(rows[r], rows[i], strict=True)]
    return [row[-1] for row in rows]


def moves(matrix: np.ndarray) -> list[list[Fraction]]:
    """A - I, whose diagonal is what the moves elsewhere leave."""
    exact = [[Fraction(float(value)) for value in row] for row in matrix]
    for i, row in enumerate(exact):
        row[i] = -sum(row[:i] + row[i + 1 :], Fraction(0))
    return exact


def law(matrix: np.ndarray) -> np.ndarray:
    exact = moves(matrix)
    size = len(exact)
    rows = [[exact[i][j] for i in range(size)] + [Fraction(0)] for j in range(1, size)]
    found = solved([[Fraction(1)] * (size + 1), *rows])
    return np.array([float(value) for value in found])


def times(matrix: np.ndarray) -> np.ndarray:
    """Expected steps to the first state; there, until the chain is back."""
    exact = moves(matrix)
    rows = [[-value for value in row[1:]] + [Fraction(1)] for row in exact[1:]]
    found = solved(rows)
    back = 1 + sum(a * b for a, b in zip(exact[0][1:], found, strict=True))
    return np.array([float(back), *map(float, found)])


def halves(rare: float) -> np.ndarray:
    """Two pairs of states that are left once in 1/rare steps."""
    p = rare
    return np.array(
        [[0.5 - p, 0.5, p, 0], [0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5], [p / 3, 0, 0.5, 0.5 - p / 3]]
    )


def uphill(size: int) -> np.ndarray:
    """Ten times likelier up than down: masses grow beyond all single floats (10³⁸)."""
    matrix = np.diag(np.full(size - 1, 0.5), 1) + np.diag(np.full(size - 1, 0.05), -1)
    return matrix + np.diag(1 - matrix.sum(axis=1))


def sticky(seed: int, size: int) -> np.ndarray:
    """Moves whose rates differ by eight powers of ten."""
    rng = np.random.default_rng(seed)
    matrix = rng.dirichlet(np.ones(size), size) * 10 ** rng.uniform(-9, -1, (size, size))
    np.fill_diagonal(matrix, 0)
    return matrix + np.diag(1 - matrix.sum(axis=1))


CHAINS = {
    "one state": np.ones((1, 1)),
    "halves": halves(1e-3),
    "slow halves": halves(1e-7),
    "slower halves": halves(1e-20),
    "three states": np.array([[1 - 1e-7, 1e-7, 0], [0, 0.5, 0.5], [3e-8, 0, 1 - 3e-8]]),
    "paper": finite.three_state_chain(1e-7),
    "uphill": uphill(60),
    "downhill": uphill(60)[::-1, ::-1],
    **{f"sticky {n}": sticky(n, n) for n in (2, 3, 5, 17, 26)},
}


@pytest.mark.parametrize("name", CHAINS)
def test_laws_and_times_have_all_digits(name):
    matrix = np.float32(CHAINS[name])
    found = np.asarray(jax.jit(invariant)(jnp.asarray(matrix)))
    true = law(matrix)
    np.testing.assert_allclose(found, true, rtol=DIGITS, atol=1e-37)
    if name != "uphill":  # 10⁵⁸ steps are more than a float can say
        waits = np.asarray(jax.jit(until_first)(jnp.asarray(matrix)))
        np.testing.assert_allclose(waits, times(matrix), rtol=DIGITS)


@pytest.mark.parametrize("rare", [1e-3, 1e-6, 1e-7])
def test_a_slow_finite_kernel_knows_its_law_and_its_reversal(rare):
    matrix = halves(rare)
    kernel = FiniteKernel.from_matrix(matrix)
    true = law(np.exp(np.float64(kernel.logits)))
    np.testing.assert_allclose(true, [1 / 8, 1 / 8, 3 / 8, 3 / 8], rtol=2 * rare + 1e-5)
    np.testing.assert_allclose(kernel.law(), true, rtol=DIGITS)
    back = true[None, :] * matrix.T / true[:, None]
    np.testing.assert_allclose(kernel.reverse().matrix, back, rtol=1e-5)


def test_its_gradient_has_all_digits():
    """Of log π(2) by all logits: exactly, from dπ(I - A) = π dA."""
    kernel = FiniteKernel.from_matrix(halves(1e-6))
    found = np.asarray(jax.jit(jax.grad(lambda kernel: jnp.log(kernel.law()[2])))(kernel).logits)
    matrix = np.exp(np.float64(kernel.logits))
    exact, masses = moves(matrix), [Fraction(value) for value in law(matrix)]
    size = len(exact)
    for i, j in zip(*np.nonzero(matrix), strict=True):
        # d A[i, k] by the logit: A[i, j] (1[j = k] - A[i, k]), with rows that sum to one.
        row = [value + (k == i) for k, value in enumerate(exact[i])]
        change = [row[j] * ((j == k) - row[k]) * masses[i] for k in range(size)]
        rows = [[-exact[a][b] for a in range(size)] + [change[b]] for b in range(1, size)]
        true = float(solved([[Fraction(1)] * size + [Fraction(0)], *rows])[2] / masses[2])
        np.testing.assert_allclose(found[i, j], true, rtol=1e-4, atol=1e-5)


def test_masses_beyond_all_floats_are_none_and_poison_nothing():
    """The first state has 4·10⁻⁴⁰ of all mass; and one that is left once in 10²⁶ steps."""
    rare = np.log(1e-20)
    logits = np.array([[0, 0, -np.inf], [-np.inf, 0, rare], [rare, np.log(0.5), np.log(0.5)]])
    law_of = jax.jit(lambda logits: FiniteKernel(logits).law())
    np.testing.assert_allclose(law_of(logits), [0, 1, 2e-20], rtol=1e-5, atol=1e-37)
    slope = jax.jit(jax.grad(lambda logits: FiniteKernel(logits).log_target(1)))
    assert np.isfinite(slope(jnp.asarray(logits))).all()
    two = jnp.array([[0.0, 0.0], [-60.0, 0.0]])
    slope = jax.jit(jax.grad(lambda logits: FiniteKernel(logits).log_target(0)))(two)
    # log π(0) = logit of 1 → 0, less that of 0 → 1, and constants.
    np.testing.assert_allclose(slope, [[0.5, -0.5], [1, -1]], rtol=1e-5)


def test_several_invariant_laws_are_none():
    assert np.isnan(FiniteKernel.from_matrix(np.eye(3)).law()).all()


@pytest.mark.parametrize("order", [[0, 1, 2], [1, 0, 2]])
def test_gradients_of_rare_restarts_do_not_depend_on_the_order_of_stages(order):
    """By the ways out of z*: log π(z*) is -log of their sum (of one) but for what is far less."""
    r = 1e-10
    stages = jnp.array([[1 - r, r, 0], [0.5, 0.5 - r, r], [0.5, 0.5, 0]])
    slope = jax.jit(jax.grad(log_restart_mass))(stages[jnp.array(order)][:, jnp.array(order)])
    assert np.isfinite(slope).all()
    np.testing.assert_allclose(slope[-1, :2], [-1, -1], rtol=1e-5)


@pytest.mark.parametrize("rare", [1e-2, 1e-5, 1e-7])
def test_stages_that_go_to_and_fro_before_a_rare_restart(rare):
    """As `Reversal` and `Forward` weigh them: z* is the last."""
    stages = np.float32([[0.5, 0.5, 0], [0.5 - rare, 0.5, rare], [0.9, 0.1, 0]])
    matrix = jnp.asarray(stages)
    first = stages[::-1, ::-1]
    np.testing.assert_allclose(log_restart_mass(matrix), np.log(law(first)[0]), rtol=1e-6)
    tilted = stages[:, :-1] * times(first)[:0:-1]
    forward = tilted / tilted.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(np.exp(forward_walk(matrix).log_next), forward, rtol=1e-5)
    came = (law(first)[::-1, None] * stages)[:, :-1].T
    back = came / came.sum(axis=1, keepdims=True)
    # Its last row is where it starts: at a stationary moment in any other stage.
    masses = law(first)[:0:-1]
    begin = masses / masses.sum()
    found = np.exp(backward_walk(matrix).log_next)
    np.testing.assert_allclose(found[-1], begin, rtol=1e-5)
    inside = back[:, :-1] / back[:, :-1].sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found[:-1], inside, rtol=1e-5)


def test_a_rare_restart_of_stages_has_the_right_cost():
    schedule = Schedule([[0, 1, 0], [1e-9, 0.5 - 1e-9, 0.5], [0, 0.5, 0.5]])
    chain = doeblin.staged(
        schedule, [FiniteKernel.from_matrix(np.eye(2))] * 2, FiniteRestart([0.0, 0.0])
    )
    true = times(schedule.matrix)
    np.testing.assert_allclose(schedule.steps_until_restart(), true, rtol=1e-12)
    assert chain.schedule.expected_draw_cost() > 1e9
