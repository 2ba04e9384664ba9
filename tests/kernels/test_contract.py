"""One contract for every public kernel and restart, held against enumeration."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from doeblin import UnsupportedError, kernels
from doeblin.kernels import AbstractKernel, AbstractRestart

from ..statistics import assert_follows, assert_symmetric
from .cases import KERNELS, RESTARTS, KernelCase, RestartCase

NUM_SAMPLES = 20_000


def test_every_public_class_has_a_case():
    for name, thing in vars(kernels).items():
        if not inspect.isclass(thing) or inspect.isabstract(thing):
            continue
        if issubclass(thing, AbstractKernel):
            assert any(type(case.kernel) is thing for case in KERNELS.values()), name
        if issubclass(thing, AbstractRestart):
            assert any(type(case.restart) is thing for case in RESTARTS.values()), name


def test_make_test_has_a_case_of_every_kernel():
    """In single precision, or by its part in double; variants are left to `make thorough`."""
    kinds = {type(case.kernel) for case in KERNELS.values()}
    kept = (case for name, case in KERNELS.items() if MARKS.get(name) in (None, DOUBLE))
    assert kinds == {type(case.kernel) for case in kept}


# Of `make test`, by its part in double precision alone.
DOUBLE = (pytest.mark.double, pytest.mark.thorough)
MARKS: dict[str, Any] = {"BlockKernel": DOUBLE}
# Variants of kernels whose plainest case stays: `test_grids.py` and `test_scored.py` see some, too.
VARIANTS = [
    "BlockKernel, whole state",
    "ColouredGibbs, three colours",
    "ColouredSweep, in halves",
    "Gibbs, grid",
    "Gibbs, mixed sites",
    "GibbsSweep, backward",
    "Metropolis",  # "Metropolis, independence" stays
    "Metropolis, mixed sites",
    "mixture",
]
# Made of what "BalancedProposal" and "Metropolis, independence" have apart.
VARIANTS += [name for name in KERNELS if name.startswith("locally_balanced")]
MARKS |= dict.fromkeys(VARIANTS, pytest.mark.thorough)


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=name, marks=MARKS.get(name, ())) for name, case in KERNELS.items()],
)
def test_kernel_contract(case: KernelCase):
    kernel, states = case.kernel, case.states
    step = jax.jit(jax.vmap(lambda key, state: kernel.sample(key, state, case.x)))
    check_capabilities(case)
    moved_once = check_form(case, step)
    if case.exact:
        matrix = transition_matrix(kernel, case)
        np.testing.assert_allclose(matrix.sum(axis=1), 1, atol=1e-5)
        for start in (0, len(matrix) // 2):
            moved = step(keys(start), pick(states, np.full(NUM_SAMPLES, start)))
            law = np.where(matrix[start] < 1e-12, 0, matrix[start])
            assert_follows(number(states, moved), law / law.sum())
        check_gradient(case, moved_once)
        check_support(case, matrix)
    if case.targeted:
        log_target = jax.jit(jax.vmap(lambda state: kernel.log_target(state, case.x)))(states)
        law = np.exp(np.asarray(log_target, dtype=np.float64))
        law /= law.sum()
        start = jax.random.choice(jax.random.key(1), len(law), (NUM_SAMPLES,), p=jnp.asarray(law))
        after = step(keys(2), pick(states, start))
        # π is invariant.
        assert_follows(number(states, after), law)
        # π(y) A(y' | y) = π(y') A*(y | y'), and A* = A for reversible kernels.
        backward = kernel.reverse()
        if case.exact:
            flow = law[:, None] * matrix
            back = flow if backward is kernel else law[:, None] * transition_matrix(backward, case)
            np.testing.assert_allclose(flow, back.T, atol=1e-6)
            assert np.allclose(flow, flow.T, atol=1e-6) == case.reversible
        elif case.reversible:
            assert_symmetric(start, number(states, after), len(law))
        else:
            # A step forward, then one of the reversal, is reversible as a whole.
            back_step = jax.jit(jax.vmap(lambda key, state: backward.sample(key, state, case.x)))
            assert_symmetric(start, number(states, back_step(keys(3), after)), len(law))


def check_capabilities(case: KernelCase) -> None:
    state = pick(case.states, 0)
    assert case.kernel.supports("log_prob") == case.exact
    assert case.kernel.supports("log_target") == case.targeted
    assert case.kernel.supports("reverse") == case.targeted
    if not case.exact:
        with pytest.raises(UnsupportedError, match=r"log_prob|support"):
            case.kernel.log_prob(state, state, case.x)
    if not case.targeted:
        with pytest.raises(UnsupportedError, match="log_target"):
            case.kernel.log_target(state, case.x)
        with pytest.raises(UnsupportedError, match="reverse"):
            case.kernel.reverse()
    if not case.kernel.supports("support"):
        with pytest.raises(UnsupportedError, match="support"):
            case.kernel.support(state, case.x)


def check_form(case: KernelCase, step: Callable[..., Any]) -> Any:
    """A state of the same form, by the key alone; without tracing the step another time."""
    start = pick(case.states, np.zeros(NUM_SAMPLES, int))
    moved = step(keys(0), start)
    assert jax.tree.structure(moved) == jax.tree.structure(start)
    for new, old in zip(jax.tree.leaves(moved), jax.tree.leaves(start), strict=True):
        assert (new.shape, new.dtype) == (old.shape, old.dtype)
    assert eqx.tree_equal(moved, step(keys(0), start))
    return pick(moved, 0)


def check_gradient(case: KernelCase, moved: Any) -> None:
    """Of a step taken, and of staying put."""
    old = pick(case.states, 0)
    gradient = eqx.filter_jit(
        eqx.filter_grad(lambda kernel, new: kernel.log_prob(new, old, case.x))
    )
    for new in (moved, old):
        for leaf in jax.tree.leaves(gradient(case.kernel, new)):
            assert jnp.isfinite(leaf).all()


def check_support(case: KernelCase, matrix: np.ndarray) -> None:
    if not case.kernel.supports("support"):
        return
    support = jax.jit(lambda state: case.kernel.support(state, case.x))
    for start in (0, len(matrix) // 2):
        states, counts = support(pick(case.states, start))
        reached = number(case.states, states)[np.asarray(counts)]
        assert len(set(reached)) == len(reached)
        assert reached[0] == start
        assert set(np.flatnonzero(matrix[start] > 1e-7)) <= set(reached)


@pytest.mark.parametrize("case", RESTARTS.values(), ids=RESTARTS.keys())
def test_restart_contract(case: RestartCase):
    restart = case.restart
    log_probs = jax.jit(jax.vmap(lambda state: restart.log_prob(state, case.x)))(case.states)
    law = np.exp(np.asarray(log_probs, dtype=np.float64))
    assert law.sum() == pytest.approx(1, abs=1e-5)
    drawn = jax.jit(jax.vmap(lambda key: restart.sample(key, case.x)))(keys(0))
    assert_follows(number(case.states, drawn), law / law.sum())
    assert restart.supports("sample_block") == bool(case.blocks)
    if not case.blocks:
        with pytest.raises(UnsupportedError, match="sample_block"):
            restart.sample_block(jax.random.key(0), pick(case.states, 0), None, case.x)
    for block in case.blocks:
        # Redrawing a block leaves u invariant, and the rest of the state untouched.
        redraw = jax.jit(
            jax.vmap(lambda key, y, block=block: restart.sample_block(key, y, block, case.x))
        )
        after = redraw(keys(1), drawn)
        assert_follows(number(case.states, after), law / law.sum())
        assert bool(jnp.where(block, True, drawn == after).all())


def keys(seed: int) -> Any:
    return jax.random.split(jax.random.key(seed), NUM_SAMPLES)


def pick(states: Any, index: Any) -> Any:
    """By numpy, which compiles nothing."""
    return jax.tree.map(lambda leaf: jnp.asarray(np.asarray(leaf)[index]), states)


def number(states: Any, drawn: Any) -> np.ndarray:
    """The numbers of drawn states in the enumeration `states`."""
    flat = [np.asarray(leaf).reshape(len(leaf), -1) for leaf in jax.tree.leaves(states)]
    table = {row.tobytes(): i for i, row in enumerate(np.hstack(flat))}
    flat = [np.asarray(leaf).reshape(len(leaf), -1) for leaf in jax.tree.leaves(drawn)]
    return np.array([table[row.tobytes()] for row in np.hstack(flat)])


def transition_matrix(kernel: AbstractKernel, case: KernelCase) -> np.ndarray:
    def row(old: Any) -> Any:
        return jax.vmap(lambda new: kernel.log_prob(new, old, case.x))(case.states)

    return np.exp(np.asarray(jax.jit(jax.vmap(row))(case.states), dtype=np.float64))
