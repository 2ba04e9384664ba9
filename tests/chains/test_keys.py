"""Keys are used once: whatever a restart and a kernel do with theirs, nothing else knows of it."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm

import doeblin
from doeblin import Schedule
from doeblin.chains import Draws
from doeblin.kernels import AbstractKernel, AbstractRestart, FunctionKernel, FunctionRestart

from ..statistics import LEVEL

NUM_DRAWS = 20_000


class Mix(AbstractRestart):
    """Starts in [0, 1), each drawn with some descendant of the key: every mixture has such."""

    def sample(self, key, x=None):
        starts = [jax.random.uniform(descendant(key, path)) for path in WAYS]
        return jnp.stack(starts) + (0.0 if x is None else 0.0 * x)

    def log_prob(self, state, x=None):
        return jnp.zeros(())


class Stay(AbstractKernel):
    def sample(self, key, state, x=None):
        return state


WAYS = [
    (),
    (("split", 0),),
    (("split", 1),),
    (("split", 2),),
    (("fold", 0),),
    (("fold", 3),),
    (("split", 1), ("split", 0)),
    (("split", 0), ("fold", 0)),
]


def descendant(key: jax.Array, path: tuple[tuple[str, int], ...]) -> jax.Array:
    """Split (into as many as needed) or fold, again and again."""
    for way, number in path:
        if way == "split":
            key = jax.random.split(key, number + 2)[number]
        else:
            key = jax.random.fold_in(key, number)
    return key


def test_start_and_age_are_independent():
    """The chain stays put, so all states are uniform starts."""
    chain = doeblin.doeblin(Stay(), Mix(), 0.1)
    key = jax.random.key(0)
    assert_start_and_age(chain.draw(key, NUM_DRAWS))
    estimate = chain.estimate(key, lambda state: state, num_tours=NUM_DRAWS, chunk=NUM_DRAWS)
    assert (np.abs(estimate.mean - 0.5) <= 4 * estimate.standard_error).all()


@pytest.mark.thorough  # as without inputs, above; no key is given twice, below
def test_start_and_age_of_each_input_are_independent():
    chain = doeblin.doeblin(Stay(), Mix(), 0.1)
    assert_start_and_age(chain.draw_each(jax.random.key(0), NUM_DRAWS // 2, jnp.zeros(2)))


def assert_start_and_age(draws: Draws) -> None:
    states = np.asarray(draws.state).reshape(NUM_DRAWS, len(WAYS))
    ages = np.asarray(draws.age).ravel()
    correlations = np.corrcoef(states, ages, rowvar=False)[:-1, -1]
    assert np.abs(correlations).max() < 0.02  # Their standard error is 0.007.
    error = states.std(axis=0) / np.sqrt(NUM_DRAWS)
    assert (np.abs(states.mean(axis=0) - 0.5) <= 4 * error).all()


class Uniforms(AbstractRestart):
    """Numbers from the key itself and from its descendants of two generations."""

    def sample(self, key, x=None):
        return {"start": uniforms(key), "step": jnp.zeros(2 * FAMILY)}

    def log_prob(self, state, x=None):
        return jnp.zeros(())


class Redraw(AbstractKernel):
    """Keeps the start, and draws the rest from this step's key and its descendants."""

    def sample(self, key, state, x=None):
        return {"start": state["start"], "step": uniforms(key)}


FAMILY = 1 + 4 + 16


def family(key: jax.Array) -> jax.Array:
    """The key, four children and sixteen grandchildren; a fold is the same as a split."""
    children = jax.random.split(key, 4)
    grandchildren = jax.vmap(lambda child: jax.random.split(child, 4))(children)
    return jnp.concatenate([key[None], children, grandchildren.ravel()])


families = jax.jit(jax.vmap(family))


def uniforms(key: jax.Array) -> jax.Array:
    """Two from each, since a number and a pair begin with the same number."""
    return jax.vmap(lambda key: jax.random.uniform(key, (2,)))(family(key)).ravel()


@pytest.mark.parametrize(
    "schedule",
    [
        pytest.param(Schedule.doeblin(0.2), marks=pytest.mark.thorough, id="plain"),
        pytest.param(Schedule.cycle([0.6, 0.3, 0.2]), id="cycle"),
    ],
)
def test_start_steps_age_and_stage_are_independent(schedule: Schedule):
    chain = doeblin.staged(schedule, [Redraw()] * (schedule.num_stages - 1), Uniforms())
    draws = chain.draw(jax.random.key(1), NUM_DRAWS)
    moved = np.asarray(draws.age) > 0
    start, step = (np.asarray(draws.state[name])[moved] for name in ("start", "step"))
    schedule_side = [np.log(np.asarray(draws.age)[moved])]
    if schedule.num_stages > 2:
        schedule_side.append(np.asarray(draws.stage)[moved])
    assert_uncorrelated(start, step)
    assert_uncorrelated(start, np.stack(schedule_side, axis=1))
    assert_uncorrelated(step, np.stack(schedule_side, axis=1))
    # Tours next to each other know nothing of each other, either.
    assert_uncorrelated(start[:-1], start[1:])
    assert_uncorrelated(step[:-1], step[1:])


def assert_uncorrelated(a: np.ndarray, b: np.ndarray) -> None:
    scaled = [(side - side.mean(axis=0)) / side.std(axis=0) for side in (a, b)]
    correlation = scaled[0].T @ scaled[1] / len(a)
    limit = norm.isf(LEVEL / 2 / correlation.size) / np.sqrt(len(a))
    assert np.abs(correlation).max() <= limit


class KeyOfStart(AbstractRestart):
    """The state is the key that was given."""

    def sample(self, key, x=None):
        return jax.random.key_data(key)

    def log_prob(self, state, x=None):
        return jnp.zeros(())


class KeyOfStep(AbstractKernel):
    def sample(self, key, state, x=None):
        return jax.random.key_data(key)


# Draws of each input are draws of one, with keys that are split before: they see it first.
@pytest.mark.parametrize(
    "way", [pytest.param("draw", marks=pytest.mark.thorough), "draw_each", "run"]
)
def test_no_key_is_given_twice_nor_is_a_descendant_of_another(way: str):
    chain = doeblin.staged(Schedule.cycle([0.6, 0.3, 0.2]), [KeyOfStep()] * 2, KeyOfStart())
    key = jax.random.key(5)
    if way == "draw":
        given = chain.draw(key, 500).state
    elif way == "draw_each":
        given = chain.draw_each(key, 250, jnp.zeros(2)).state.reshape(-1, 2)
    else:
        given = chain.run(key, 500).state
    keys = jax.random.wrap_key_data(given)
    everyone = np.asarray(jax.random.key_data(families(keys))).reshape(-1, 2)
    assert len(np.unique(everyone, axis=0)) == 500 * FAMILY


def test_the_checker_of_jax_finds_nothing():
    """It knows keys that are used or split twice; of `fold_in` it does not know."""
    chain = doeblin.doeblin(KeyOfStep(), KeyOfStart(), 0.5)
    with jax.debug_key_reuse(True):
        with pytest.raises(jax.errors.KeyReuseError):
            key = jax.random.key(0)
            jax.random.split(key)
            jax.random.uniform(key)
        assert chain.draw(jax.random.key(0), 20).age.shape == (20,)
        assert chain.run(jax.random.key(0), 20).age.shape == (20,)


def test_steps_are_independent_whatever_the_generator():
    """JAX draws what `rbg` keys of a batch need from the first of them. Where the first lane has
    nothing left to do, its key stands still, and the others had the same bits at each step."""

    def count(key, state, x):
        heads, steps = state
        return heads + jax.random.bernoulli(key).astype(jnp.int32), steps + 1

    def nothing(key, x):
        return jnp.int32(0), jnp.int32(0)

    restart = FunctionRestart(nothing, lambda state, x: 0.0)
    chain = doeblin.doeblin(FunctionKernel(count), restart, 0.05)
    draws = jax.jit(lambda key: chain.draw(key, 3, lanes=2).state)
    found = [draws(jax.random.key(number, impl="rbg")) for number in range(1000)]
    heads, steps = np.concatenate([np.array(pair) for pair in found], axis=1)
    heads, steps = heads[steps > 0], steps[steps > 0]
    # Of fair coins, the square of the standardised sum is 1 on the mean, with variance 2 - 2/n.
    squares = (heads - steps / 2) ** 2 / (steps / 4)
    assert abs(squares.mean() - 1) < 5 * np.sqrt(np.sum(2 - 2 / steps)) / len(steps)
