"""What particular kernels promise beyond the contract, and what they refuse."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from doeblin import InputError, UnsupportedError, doeblin
from doeblin._states import log_prob_of
from doeblin.kernels import (
    AbstractReversibleKernel,
    BlockKernel,
    ColouredGibbs,
    ColouredSweep,
    FiniteKernel,
    FiniteRestart,
    FunctionKernel,
    FunctionRestart,
    Gibbs,
    GibbsSweep,
    IndependentSites,
    Metropolis,
    Potts,
    RandomSites,
    UniformChange,
    cycle,
    locally_balanced,
    mixture,
    repeat,
)

from .cases import GRID_STATES, LOOP, MATRIX, POTTS, SITE_STATES, TILT, Loop


def test_local_conditionals_agree_with_the_density():
    kernels = Gibbs(LOOP, 3), Gibbs(LOOP, 3, conditional=LOOP.conditional)

    @jax.jit
    @jax.vmap
    def logits(state):
        every = [jax.vmap(lambda i, k=k: k.logits(state, i, TILT))(jnp.arange(3)) for k in kernels]
        return [jax.nn.log_softmax(each, axis=-1) for each in every]

    np.testing.assert_allclose(*logits(SITE_STATES), atol=1e-5)


@pytest.mark.parametrize(
    "model",
    [
        POTTS,
        Potts((4, 4), num_values=3, coupling=0.3, field=[0.1, 0.0, -0.2]),
        Potts((3, 1, 4), num_values=2, coupling=-0.5, periodic=False),
        Potts((5,), num_values=4, coupling=1.0),
    ],
)
def test_grid_conditionals_agree_with_the_density(model):
    state = jax.random.randint(jax.random.key(0), model.shape, 0, model.field.shape[0])
    whole = Gibbs(model, model.field.shape[0])
    sites = jnp.arange(state.size)

    @jax.jit
    def normalised():
        expected = jax.vmap(lambda site: whole.logits(state, site))(sites)
        single = jax.vmap(lambda site: model.conditional(state, site))(sites)
        every = model.conditionals(state).reshape(expected.shape)
        return [jax.nn.log_softmax(each, axis=-1) for each in (expected, every, single)]

    expected, every, single = normalised()
    np.testing.assert_allclose(every, expected, atol=1e-5)
    np.testing.assert_allclose(single, expected, atol=1e-5)


def test_two_value_potts_is_the_ising_model():
    model = Potts((3, 3), num_values=2, coupling=2 * 0.4)
    state = jax.random.randint(jax.random.key(1), (3, 3), 0, 2)
    spins = 2 * state - 1
    energy = sum((spins * jnp.roll(spins, 1, axis)).sum() for axis in (0, 1))
    # [s = s'] = (1 + s s')/2, so the two differ by a constant.
    np.testing.assert_allclose(model(state) - 0.4 * energy, 0.4 * 18, rtol=1e-5)


def test_checkerboard_needs_even_sides():
    with pytest.raises(InputError, match=r"only if its sides are even"):
        Potts((3, 4), num_values=2, coupling=1.0).checkerboard()
    assert Potts((3, 4), num_values=2, coupling=1.0, periodic=False).checkerboard()


def test_states_are_arbitrary_pytrees():
    def log_density(state, x):
        return -0.5 * ((state["a"] - 1) ** 2).sum() + state["b"][0] * state["b"][1]

    state = {"a": jnp.array([[0], [1]]), "b": (jnp.array(0), jnp.array(1))}
    kernel = Gibbs(log_density, 3)
    moved = eqx.filter_jit(kernel.sample)(jax.random.key(0), state)
    assert jax.tree.structure(moved) == jax.tree.structure(state)
    assert jnp.isfinite(eqx.filter_jit(kernel.log_prob)(moved, state))


def test_numpyro_like_distributions_serve_as_restarts():
    from numpyro import distributions  # where it is used: every worker reads this file

    restart = FunctionRestart.from_distribution(
        distributions.Bernoulli(probs=jnp.array([0.2, 0.9])).to_event(1)
    )
    state = restart.sample(jax.random.key(0))
    assert state.shape == (2,)
    np.testing.assert_allclose(restart.log_prob(jnp.array([0, 1])), np.log(0.8 * 0.9), rtol=1e-5)


def test_finite_combinations_multiply_matrices():
    kernel = FiniteKernel.from_matrix(MATRIX)
    np.testing.assert_allclose(repeat(kernel, 3).matrix, MATRIX @ MATRIX @ MATRIX, atol=1e-6)
    other = FiniteKernel.from_matrix(np.eye(4))
    np.testing.assert_allclose(
        mixture([kernel, other], [0.25, 0.75]).matrix, 0.25 * MATRIX + 0.75 * np.eye(4), atol=1e-6
    )


def test_where_every_site_has_one_value_nothing_can_be_proposed():
    kernel, state = UniformChange([1, 1]), jnp.zeros(2, int)
    for use in (
        lambda: kernel.sample(jax.random.key(0), state),
        lambda: kernel.log_prob(state, state),
    ):
        with pytest.raises(RuntimeError, match="every site has one value"):
            jax.block_until_ready(use())


def test_what_a_finite_chain_leaves_for_ever_has_no_mass_at_all():
    """Exactly none, whatever a linear system says: three of six states lead to the others."""
    rng = np.random.default_rng(0)
    matrix = rng.dirichlet(np.ones(6), 6)
    matrix[:3, 3:] = 0
    matrix /= matrix.sum(axis=1, keepdims=True)
    laws = jax.jit(jax.vmap(lambda logits: FiniteKernel(logits).law()))
    orders = np.array([rng.permutation(6) for _ in range(20)])
    shuffled = np.array([matrix[np.ix_(order, order)] for order in orders])
    with np.errstate(divide="ignore"):
        found = np.asarray(laws(np.log(shuffled)))
    assert np.array_equal(found > 0, orders < 3)
    np.testing.assert_allclose(np.einsum("ki,kij->kj", found, shuffled), found, atol=1e-6)


@pytest.mark.parametrize("num_values", [3, [3, 3, 3]])
def test_kernels_can_be_built_inside_jit(num_values):
    """As learning does it: parameters are traced while the kernels are made."""

    @jax.jit
    def stay(weights):
        model = eqx.tree_at(lambda model: model.weights, LOOP, weights)
        both = mixture([Gibbs(model, num_values), Metropolis(model, UniformChange(num_values))])
        return both.log_prob(SITE_STATES[0], SITE_STATES[0])

    assert jnp.isfinite(stay(LOOP.weights))


def test_combinations_of_matrices_are_those_of_the_textbook():
    """In the order of the list: the first kernel's step comes first."""
    a, b, c = np.random.default_rng(0).dirichlet(np.ones(3), (3, 3))
    first, second, third = map(FiniteKernel.from_matrix, (a, b, c))
    np.testing.assert_allclose(cycle([first, second, third]).matrix, a @ b @ c, rtol=1e-5)
    np.testing.assert_allclose(repeat(first, 3).matrix, a @ a @ a, rtol=1e-5)
    both = mixture([first, second], [0.3, 0.7])
    np.testing.assert_allclose(both.matrix, 0.3 * a + 0.7 * b, rtol=1e-5)


def test_combinations_of_one_are_that_one():
    gibbs = Gibbs(LOOP, 3)
    assert cycle([gibbs]) is gibbs
    assert repeat(gibbs, 1) is gibbs


def test_combinations_refuse_what_mathematics_does_not_give():
    gibbs, other = Gibbs(LOOP, 3), Gibbs(POTTS, 2)
    state = SITE_STATES[0]
    with pytest.raises(UnsupportedError, match="leave the same density invariant"):
        mixture([gibbs, other]).log_target(state)
    with pytest.raises(UnsupportedError, match="leave the same density invariant"):
        cycle([gibbs, other]).reverse()
    with pytest.raises(UnsupportedError, match=r"part 1, BlockKernel, has not"):
        restart = IndependentSites.uniform((3,), num_values=3)
        mixture([gibbs, BlockKernel(restart, LOOP)]).log_prob(state, state)
    with pytest.raises(UnsupportedError, match="Cycle has no `log_prob`"):
        cycle([gibbs, gibbs]).log_prob(state, state)


def test_blocks_never_become_what_has_no_density():
    """All other states are reached, in one step from a state that is proposed anew as a whole."""

    def not_both(state, x=None):
        return jnp.where(state.sum() == 2, -jnp.inf, 0.0)

    kernel = BlockKernel(IndependentSites.uniform((2,), num_values=2), not_both, num_proposals=3)
    keys = jax.random.split(jax.random.key(0), 200)
    found = jax.jit(jax.vmap(lambda key: kernel.sample(key, jnp.zeros(2, jnp.int32))))(keys)
    assert {tuple(state) for state in np.asarray(found).tolist()} == {(0, 0), (0, 1), (1, 0)}


def certain(value: jax.Array) -> jax.Array:
    return 100.0 * jax.nn.one_hot(value, 2)


def test_sweeps_go_forward_or_backward():
    """Each site takes the value of its left neighbour: forward the first one's goes to the end."""
    gibbs = Gibbs(LOOP, 2, conditional=lambda state, i, x: certain(state[jnp.maximum(i - 1, 0)]))
    key, state = jax.random.key(0), jnp.array([1, 0, 0])
    assert eqx.filter_jit(GibbsSweep(gibbs, "forward").sample)(key, state).tolist() == [1, 1, 1]
    assert eqx.filter_jit(GibbsSweep(gibbs, "backward").sample)(key, state).tolist() == [1, 1, 0]


def test_colours_are_swept_forward_or_backward():
    """Two sites, each takes the value of the other: the one that is first takes it in vain."""
    gibbs = ColouredGibbs(LOOP, lambda state, x: certain(state[::-1]), [0, 1], 2)
    key, state = jax.random.key(0), jnp.array([1, 0])
    assert eqx.filter_jit(ColouredSweep(gibbs, "forward").sample)(key, state).tolist() == [0, 0]
    assert eqx.filter_jit(ColouredSweep(gibbs, "backward").sample)(key, state).tolist() == [1, 1]


def test_blocks_have_half_of_the_sites_unless_told():
    keys = jax.random.split(jax.random.key(0), 10_000)
    share = np.asarray(jax.vmap(RandomSites((2,)))(keys)).mean(axis=0)
    assert np.all(np.abs(share - 0.5) <= 5 * 0.5 / np.sqrt(len(keys)))


def test_sites_of_one_value_are_left_alone():
    change = UniformChange([1, 3])
    keys = jax.random.split(jax.random.key(0), 50)
    found = jax.jit(jax.vmap(lambda key: change.sample(key, jnp.zeros(2, jnp.int32))))(keys)
    assert {tuple(state) for state in np.asarray(found).tolist()} == {(0, 1), (0, 2)}


def test_a_target_shared_by_value_is_shared():
    copy = jax.tree.map(lambda leaf: leaf + 0, LOOP)
    assert mixture([Gibbs(LOOP, 3), Metropolis(copy, UniformChange(3))]).supports("log_target")
    different = jax.tree.map(lambda leaf: leaf + 1, LOOP)
    assert not mixture([Gibbs(LOOP, 3), Gibbs(different, 3)]).supports("log_target")


class Walker(AbstractReversibleKernel):
    """A user's kernel, with the user's names: nothing tells what its density is but itself."""

    energy: Loop
    inner: Gibbs

    def sample(self, key, state, x=None):
        return self.inner.sample(key, state, x)

    def log_target(self, state, x=None):
        return self.energy(state, x) + 0.0


class Told(Walker):
    def density(self):
        return self.energy


def test_densities_are_compared_through_the_interface():
    own, told = Walker(LOOP, Gibbs(LOOP, 3)), Told(LOOP, Gibbs(LOOP, 3))
    copy = jax.tree.map(lambda leaf: leaf + 0, own)
    different = jax.tree.map(lambda leaf: leaf + 1, own)
    state = SITE_STATES[4]
    for kernel in (
        mixture([own, copy]),
        mixture([own, repeat(own, 2), cycle([own, copy])]),
        cycle([told, Gibbs(LOOP, 3), GibbsSweep(Gibbs(LOOP, 3))]),
        mixture([own, Gibbs(LOOP, 3)], same_target=True),
    ):
        assert kernel.supports("reverse") and kernel.reverse().supports("reverse")
        np.testing.assert_allclose(kernel.log_target(state), LOOP(state), rtol=1e-6)
    for kernel in (
        mixture([own, different]),
        mixture([own, Gibbs(LOOP, 3)]),
        cycle([told, Gibbs(POTTS, 2)]),
        mixture([told, FunctionKernel(lambda key, state, x: state)]),
        mixture([mixture([own, different]), own]),
        mixture([told, Gibbs(LOOP, 3)], same_target=False),
    ):
        assert not kernel.supports("reverse") and not kernel.supports("log_target")
        with pytest.raises(UnsupportedError, match=r"same_target=True|part \d, .*, has not"):
            kernel.reverse()
    with pytest.raises(UnsupportedError, match=r"same_target=True: .* part 1, FunctionKernel"):
        mixture([own, FunctionKernel(lambda key, state, x: state)], same_target=True)


def test_sweeps_nest_in_combinations():
    sweep = GibbsSweep(Gibbs(LOOP, 3))
    both = cycle([sweep, repeat(mixture([Gibbs(LOOP, 3), sweep]), 2)])
    assert both.supports("log_target") and both.supports("reverse")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Gibbs(LOOP, 0), r"num_values = 0 must be a positive whole number"),
        (lambda: Gibbs(LOOP, 2.5), r"num_values = 2.5 must be a positive whole number"),
        (
            lambda: Gibbs(LOOP, [3, 3]).sample(jax.random.key(0), SITE_STATES[0]),
            r"the state has 3 sites, but num_values was given for 2",
        ),
        (
            lambda: Gibbs(LOOP, 3).sample(jax.random.key(0), jnp.zeros(3)),
            r"sites must be integers, but the state has a leaf of type float(32|64)",
        ),
        (
            lambda: Gibbs(lambda s, x: s * 1.0, 3).log_target(SITE_STATES[0]),
            r"must return one number for one state, got shape \(3,\)",
        ),
        (lambda: GibbsSweep(Gibbs(LOOP, 3), "sideways"), r"order = 'sideways' must be"),
        (
            lambda: ColouredGibbs(POTTS, POTTS.conditionals, [0, 1], 2).sample(
                jax.random.key(0), GRID_STATES[0]
            ),
            r"logits for 6 sites, but there are 2 colours",
        ),
        (
            lambda: Metropolis(LOOP, FunctionKernel(lambda key, s, x: s)),
            r"Metropolis needs a proposal with `log_prob`; FunctionKernel has none",
        ),
        (
            lambda: BlockKernel(FiniteRestart.from_law([1.0]), LOOP, choose_block=lambda key: None),
            r"FiniteRestart cannot redraw a block",
        ),
        (
            lambda: BlockKernel(FiniteRestart.from_law([1.0]), LOOP, num_proposals=0),
            r"num_proposals = 0 must be at least 1",
        ),
        (lambda: mixture([]), r"at least one kernel"),
        (lambda: mixture([Gibbs(LOOP, 3)] * 2, [np.nan, 0.5]), r"weights \[nan, 0.5\] must be"),
        (lambda: FiniteRestart([np.nan, 0.0]), r"logits = \[nan, 0.0\] is no law"),
        (lambda: FiniteRestart(np.zeros((2, 2))), r"one logit a state, got shape \(2, 2\)"),
        (lambda: IndependentSites([[0, 0], [np.nan, 0]]), r"logits\[1\] = \[nan, 0.0\] is no law"),
        (lambda: FiniteKernel([[0, 0], [-np.inf, -np.inf]]), r"row \[1\] = .* is no law"),
        (lambda: FiniteKernel(np.zeros((2, 3))), r"square matrix of logits.*\(2, 3\)"),
        (
            lambda: doeblin(FiniteKernel(np.zeros((2, 2))), FiniteRestart(np.zeros(4)), 0.3),
            r"the restart draws from 4 states, but the kernel's matrix has 2",
        ),
        (
            lambda: log_prob_of(jnp.zeros(3), jnp.array(2.0)),
            r"type float\d+ and shape \(\) does not fit here: it must be whole numbers",
        ),
        (
            lambda: log_prob_of(jnp.zeros((3, 2)), jnp.zeros(2, int)),
            r"shape \(2,\) does not fit here: .* of shape \(3,\)",
        ),
        (lambda: mixture([Gibbs(LOOP, 3)], [0.5]), r"weights \[0.5\] must be probabilities"),
        (lambda: mixture([Gibbs(LOOP, 3)], [0.5, 0.5]), r"1 kernels need 1 weights"),
        (lambda: cycle([LOOP]), r"is not a kernel; wrap a function"),
        (lambda: repeat(Gibbs(LOOP, 3), 0), r"times = 0 must be at least 1"),
        (
            lambda: cycle([FiniteKernel.from_matrix(np.eye(2)), FiniteKernel.from_matrix([[1.0]])]),
            r"different sizes \[1, 2\]",
        ),
        (lambda: FiniteKernel.from_matrix([[0.5, 0.4], [0, 1]]), r"row 0 .* sums to 0.9"),
        (lambda: FiniteRestart.from_law([0.5, 0.4]), r"sums to 0.9 instead of 1"),
        (lambda: IndependentSites(0.0), r"logits need a last axis"),
        (lambda: Potts((2, 2), num_values=2, coupling=1), r"neighbours twice"),
        (lambda: Potts((3,), num_values=2, coupling=1, field=[0.0]), r"field has shape \(1,\)"),
    ],
)
def test_bad_input_is_refused_by_name(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_weights_that_are_traced_and_no_law_give_nan():
    matrix = FiniteKernel.from_matrix([[0.9, 0.1], [0.3, 0.7]])
    finite = jax.jit(lambda w: mixture([matrix] * 2, w).log_prob(jnp.array(0), jnp.array(0)))
    assert np.isnan(finite(jnp.array([-1.0, 3.0])))
    assert np.isnan(finite(jnp.array([3.0, 3.0])))
    assert np.isclose(finite(jnp.array([0.5, 0.5])), np.log(0.9))


def vector(state, x=None):
    """A density that forgot to sum over the sites."""
    return 1.0 * state.ravel()


@pytest.mark.parametrize(
    "kernel",
    [
        Gibbs(vector, 2),
        GibbsSweep(Gibbs(vector, 2)),
        Gibbs(lambda s, x: vector(s).sum(keepdims=True), 2),
        Metropolis(vector, UniformChange(2)),
        locally_balanced(vector, 2),
        locally_balanced(vector, 2, relaxed=lambda weights, x: weights),
        BlockKernel(IndependentSites.uniform((2, 3), num_values=2), vector),
        ColouredGibbs(vector, vector, np.zeros(6, int), 2),
        Gibbs(vector, 2, conditional=lambda s, i, x: jnp.zeros(3)),
    ],
    ids=lambda kernel: type(kernel).__name__,
)
def test_what_forgot_to_sum_is_refused(kernel):
    """Before anything is drawn: broadcasting would have made numbers of it, and wrong ones."""
    with pytest.raises(InputError, match=r"must return one number for (one state|each of 2)"):
        jax.eval_shape(kernel.sample, jax.random.key(0), GRID_STATES[0])


def test_states_outside_of_the_space_have_no_probability():
    """Nor density, nor steps to them: indices are neither clamped nor counted from the end."""
    inside = jnp.array([0, 2, 1])
    states = jnp.array([[0, 3, 1], [0, 7, 1], [0, -1, 1], [0, 2, 1]])
    kernels = [
        Gibbs(LOOP, 3),
        GibbsSweep(Gibbs(LOOP, 3)),
        ColouredGibbs(LOOP, lambda s, x: jnp.zeros((3, 3)), [0, 1, 2], 3),
        Metropolis(LOOP, UniformChange(3)),
    ]
    restart, finite = FiniteRestart(np.zeros(3)), FiniteKernel(np.zeros((3, 3)))

    def told(state):
        yield from (kernel.log_target(state) for kernel in kernels)
        yield from (kernel.log_prob(state, inside) for kernel in kernels)
        yield IndependentSites(np.zeros((3, 3))).log_prob(state)
        yield restart.log_prob(state[1])
        yield from (finite.log_prob(state[1], old) for old in (jnp.array(0), state[1]))
        yield finite.log_target(state[1])

    found = np.asarray(jax.jit(jax.vmap(lambda state: jnp.stack(list(told(state)))))(states))
    assert np.all(np.isneginf(found[:3]))
    assert np.all(np.isfinite(found[3]))
    # From where there is no state, the law of a step is not zero but undefined.
    assert np.isnan(finite.log_prob(jnp.array(0), jnp.array(3)))


@pytest.mark.parametrize("order", ["forward", "backward"])
@pytest.mark.parametrize("coloured", [False, True])
def test_sweeps_to_what_is_impossible_have_no_probability(coloured, order):
    """Of all states from all possible ones, beside products of conditionals by hand."""
    table = np.random.default_rng(0).normal(size=(2, 2, 2))
    table[0, 1] = table[1, 0, 0] = -np.inf
    scores = jnp.asarray(table)

    def density(state, x=None):
        return scores[tuple(state)]

    def conditionals(state, x=None):
        return jnp.array([[density(state.at[i].set(v)) for v in (0, 1)] for i in range(3)])

    if coloured:
        sweep = ColouredSweep(ColouredGibbs(density, conditionals, [0, 1, 2], 2), order)
    else:
        sweep = GibbsSweep(Gibbs(density, 2), order)
    states = np.array(list(np.ndindex(2, 2, 2)))
    possible = [state for state in states if table[tuple(state)] > -np.inf]

    def by_hand(new: np.ndarray, old: np.ndarray) -> float:
        now, found = old.copy(), 1.0
        for site in range(3) if order == "forward" else (2, 1, 0):
            odds = []
            for now[site] in (0, 1):
                odds.append(np.exp(table[tuple(now)]))
            now[site] = new[site]
            found *= odds[new[site]] / sum(odds)
            if not found:
                return 0.0
        return found

    by_old = jax.vmap(sweep.log_prob, (0, None))
    found = np.exp(jax.jit(jax.vmap(by_old, (None, 0)))(jnp.array(states), jnp.array(possible)))
    true = [[by_hand(new, old) for new in states] for old in possible]
    np.testing.assert_allclose(found, true, atol=1e-6)
