"""Chains against enumeration: exact draws, runs, and what is refused."""

from __future__ import annotations

import functools
import os
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import doeblin
from doeblin import InputError, Schedule, finite
from doeblin.chains import Position, _walk
from doeblin.kernels import (
    FiniteKernel,
    FiniteRestart,
    FunctionKernel,
    FunctionRestart,
    Gibbs,
    IndependentSites,
)

from ..statistics import assert_follows

LANES = 1024  # the default for as many draws
# A law whose chi-square distance from the right one, Σ(p - q)²/q, is 0.005 is seen in 99 %.
NUM_DRAWS, NUM_WALKS = 16 * LANES, 10_000
FEW = {"num_draws": 500, "lanes": 3}  # compiled once for each number of stages
rng = np.random.default_rng(5)


def random_matrix(size: int) -> np.ndarray:
    weights = rng.gamma(0.4, size=(size, size)) + 1e-3
    return weights / weights.sum(axis=1, keepdims=True)


MATRICES = [random_matrix(4) for _ in range(3)]
LAW = rng.dirichlet(np.ones(4))
RESTART = FiniteRestart.from_law(LAW)

SCHEDULES = {
    "plain": Schedule.doeblin(0.1),
    "always restarts": Schedule.doeblin(1.0),
    "cycle": Schedule.cycle([0.7, 0.3, 0.1]),
    "deterministic entry": Schedule.cycle([1, 0.5, 0.05]),
    "any": Schedule(random_matrix(4), restart=2),
    "transient stage": Schedule([[0.2, 0.8, 0], [0.3, 0.7, 0], [0.5, 0.4, 0.1]]),
}


def finite_chain(schedule: Schedule) -> tuple[doeblin.Chain, np.ndarray]:
    """A chain over four states, and its joint stationary law."""
    matrices = MATRICES[: schedule.num_stages - 1]
    chain = doeblin.staged(schedule, [FiniteKernel.from_matrix(m) for m in matrices], RESTART)
    by_stage: list = list(matrices)
    by_stage.insert(schedule.restart, None)
    return chain, finite.staged_law(schedule, by_stage, LAW)


unless_annotations_are_checked = pytest.mark.skipif(
    "DOEBLIN_CHECK_SHAPES" in os.environ,
    reason="with annotations checked, beartype refuses such keys before our message",
)
MARKS: dict[str, Any] = {
    # Of `make test` by its part in double precision alone.
    "cycle": (pytest.mark.double, pytest.mark.thorough),
    # As the cycle; and most tests elsewhere are of the plain chain.
    "deterministic entry": pytest.mark.thorough,
    "plain": pytest.mark.thorough,
    # `test_hostile.py` has draws of such, and ε = 1 is among the rates below.
    "transient stage": pytest.mark.thorough,
    "always restarts": pytest.mark.thorough,
}
every_schedule = pytest.mark.parametrize(
    "schedule",
    [
        pytest.param(schedule, id=name, marks=MARKS.get(name, ()))
        for name, schedule in SCHEDULES.items()
    ],
)
# What four stages show, three need not.
any_schedule = pytest.mark.parametrize(
    "schedule",
    [
        pytest.param(schedule, id=name, marks=() if name == "any" else pytest.mark.thorough)
        for name, schedule in SCHEDULES.items()
    ],
)


@every_schedule
def test_exact_draws_follow_the_joint_law(schedule):
    chain, law = finite_chain(schedule)
    draws = chain.draw(jax.random.key(0), NUM_DRAWS)
    joint = np.asarray(draws.stage) * 4 + np.asarray(draws.state)
    assert_follows(joint, np.where(law < 1e-12, 0, law).ravel())
    cost = np.asarray(draws.age) + 1.0
    error = cost.std() / np.sqrt(NUM_DRAWS)
    assert abs(cost.mean() - schedule.expected_draw_cost()) <= 5 * error + 1e-9


@pytest.mark.parametrize(
    "schedule",
    [
        # What three stages show, neither two nor four need to.
        pytest.param(schedule, id=name, marks=() if name == "cycle" else pytest.mark.thorough)
        for name, schedule in SCHEDULES.items()
    ],
)
def test_draws_do_not_depend_on_the_lanes(schedule):
    chain, _ = finite_chain(schedule)
    few = chain.draw(jax.random.key(3), **FEW)
    many = chain.draw(jax.random.key(3), 500, lanes=200)
    np.testing.assert_array_equal(few.state, many.state)
    np.testing.assert_array_equal(few.stage, many.stage)
    np.testing.assert_array_equal(few.age, many.age)


@functools.partial(jax.jit, static_argnums=(0, 2))
def walk_lengths(kind, matrix: jax.Array, restart: int, keys: jax.Array) -> jax.Array:
    """Compiled once for all schedules of as many stages."""
    return kind(matrix, restart).lengths(keys)


@any_schedule
def test_walk_lengths_follow_their_laws(schedule):
    """Tours last as long as the return to z*; exact draws as long as the stationary age."""
    matrix, z = jnp.asarray(schedule.matrix), schedule.restart
    away = schedule.matrix.copy()
    away[:, z] = 0
    alive = [np.eye(schedule.num_stages)[z] @ np.linalg.matrix_power(away, n) for n in range(400)]
    survival = np.array([row.sum() for row in alive])
    keys = jax.random.split(jax.random.key(1), NUM_WALKS)
    tours = np.minimum(walk_lengths(_walk.tour_walk, matrix, z, keys), 399)
    assert_follows(tours, np.append(-np.diff(survival), survival[-1]))
    ages = np.minimum(walk_lengths(_walk.draw_walk, matrix, z, keys), 399)
    law = survival * schedule.stationary()[z]
    assert_follows(ages, np.append(law[:-1], max(0.0, 1 - law[:-1].sum())))


def test_lanes_are_busy():
    chain, _ = finite_chain(Schedule.doeblin(0.05))
    assert chain.draw(jax.random.key(0), 16 * LANES, lanes=LANES).useful >= 0.9


@pytest.mark.parametrize("epsilon", [1e-8, 1e-5, 0.9999999, 1.0])
def test_rare_restarts_are_drawn_at_their_rate(epsilon):
    """1 - ε rounds to one in single precision for ε = 1e-8; the walk must not."""
    matrix = jnp.asarray(Schedule.doeblin(epsilon).matrix)
    keys = jax.random.split(jax.random.key(0), NUM_WALKS)
    drawn = np.asarray(walk_lengths(_walk.draw_walk, matrix, 0, keys))
    lengths = drawn.astype(np.float64)
    truth = (1 - epsilon) / epsilon
    assert abs(lengths.mean() - truth) <= 5 * np.sqrt(truth / epsilon / NUM_WALKS)
    if epsilon < 0.1:
        # Nor are long walks even, where floats are: period two would show.
        assert abs((drawn % 2).mean() - 0.5) <= 5 * 0.5 / np.sqrt(NUM_WALKS)


def test_rare_ends_are_not_lost_among_frequent_moves():
    """Sums of moves in single precision swallow an end of 1e-9; so do eliminations."""
    schedule = Schedule([[0, 1, 0], [0, 0.5, 0.5], [1e-9, 0.5, 0.5 - 1e-9]])
    until = jax.jit(_walk._until_restart)(jnp.asarray(schedule.matrix))
    np.testing.assert_allclose(until, schedule.steps_until_restart(), rtol=1e-5)
    walk = jax.jit(_walk.tour_walk, static_argnums=1)(jnp.asarray(schedule.matrix), 0)
    assert walk.stages[2, 1] == 2  # After nothing at all, the end comes first.
    np.testing.assert_allclose(walk.cumulative[2, 1], 1e-9, rtol=1e-5)


def test_walks_that_cannot_be_counted_are_refused():
    """At ε = 1e-10 the number of steps would not fit: that must not wrap around to a few."""
    chain = doeblin.doeblin(FiniteKernel.from_matrix(MATRICES[0]), RESTART, 1e-10)
    with pytest.raises(InputError, match="restarts so rarely that 2,147,483,647 steps"):
        chain.draw(jax.random.key(0), **FEW)
    message = "epsilon = 1e-60 is" if jnp.result_type(float) == jnp.float32 else "so rarely"
    with pytest.raises(InputError, match=message):
        doeblin.doeblin(FiniteKernel.from_matrix(MATRICES[0]), RESTART, 1e-60).draw(
            jax.random.key(0), **FEW
        )


def test_rows_of_the_schedule_sum_to_one_in_double_precision():
    matrix = jnp.array([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [0.7, 0.2, 0.1]], jnp.float32)
    parts = [FiniteKernel.from_matrix(each) for each in (MATRICES[0], MATRICES[1])]
    schedule = doeblin.chains.Chain(matrix, (None, *parts), RESTART, 0).schedule
    np.testing.assert_allclose(schedule.matrix.sum(axis=1), 1, rtol=3e-16)
    np.testing.assert_allclose(schedule.matrix, matrix, rtol=1e-6)


def test_plain_and_staged_are_one_implementation():
    kernel = FiniteKernel.from_matrix(MATRICES[0])
    plain = doeblin.doeblin(kernel, RESTART, 0.1)
    same = doeblin.staged(Schedule.doeblin(0.1), [kernel], RESTART)
    assert isinstance(plain, doeblin.Chain)
    draws = [chain.draw(jax.random.key(0), **FEW).state for chain in (plain, same)]
    np.testing.assert_array_equal(*draws)


@eqx.filter_jit
def many_runs(chain: doeblin.Chain, keys: jax.Array) -> Position:
    return jax.vmap(lambda key: chain.run(key, 50))(keys)


@every_schedule
def test_runs_are_consistent_and_stationary(schedule):
    chain, _ = finite_chain(schedule)
    run = many_runs(chain, jax.random.split(jax.random.key(0), 4000))
    restarted = np.asarray(run.stage) == schedule.restart
    assert (np.asarray(run.age)[restarted] == 0).all()
    assert (np.diff(run.tour, axis=1) == restarted[:, 1:]).all()
    grew = np.asarray(run.age)[:, 1:] == np.asarray(run.age)[:, :-1] + 1
    assert (grew | restarted[:, 1:]).all()
    # The law after 50 steps, from the exact matrix.
    by_stage: list = list(MATRICES[: schedule.num_stages - 1])
    by_stage.insert(schedule.restart, None)
    joint = finite.staged_matrix(schedule, by_stage, LAW)
    start = np.zeros((schedule.num_stages, 4))
    start[schedule.restart] = LAW
    after = start.ravel() @ np.linalg.matrix_power(joint, 50)
    last = np.asarray(run.stage)[:, -1] * 4 + np.asarray(run.state)[:, -1]
    assert_follows(last, np.where(after < 1e-12, 0, after))


def test_runs_continue_where_they_stopped():
    chain, _ = finite_chain(SCHEDULES["cycle"])
    run = chain.run(jax.random.key(0), 10)
    last = jax.tree.map(lambda leaf: leaf[-1], run)
    more = chain.run(jax.random.key(1), 10, start=last)
    assert int(more.tour[0]) in (int(last.tour), int(last.tour) + 1)


def test_inputs_are_batched():
    """Each input's draws follow its own law, and do not depend on the other inputs."""
    restart = FunctionRestart(
        lambda key, x: jax.random.categorical(key, x), lambda s, x: jax.nn.log_softmax(x)[s]
    )
    kernel = FunctionKernel(lambda key, s, x: jax.random.categorical(key, x + (jnp.arange(3) == s)))
    chain = doeblin.doeblin(kernel, restart, 0.3)
    xs = jnp.array([[0.0, 1.0, 2.0], [1.0, -1.0, 0.0]])
    draws = chain.draw_each(jax.random.key(0), NUM_DRAWS, xs)
    assert draws.state.shape == (2, NUM_DRAWS)
    for i, x in enumerate(np.asarray(xs)):
        logits = x + np.eye(3)
        matrix = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        law = finite.restarted_law(matrix, np.exp(x) / np.exp(x).sum(), 0.3)
        assert_follows(draws.state[i], law)
    alone = chain.draw_each(jax.random.key(0), NUM_DRAWS, xs[:1])
    np.testing.assert_array_equal(alone.state[0], draws.state[0])
    single = chain.draw(jax.random.key(0), NUM_DRAWS, xs[0])
    np.testing.assert_array_equal(single.state, draws.state[0])


def test_chains_are_pytrees():
    chain, _ = finite_chain(SCHEDULES["cycle"])
    leaves, structure = jax.tree.flatten(chain)
    again = jax.tree.unflatten(structure, leaves)
    np.testing.assert_array_equal(
        jax.jit(lambda c: c.draw(jax.random.key(0), **FEW).state)(again),
        chain.draw(jax.random.key(0), **FEW).state,
    )


def test_epsilon_may_be_traced():
    kernel = FiniteKernel.from_matrix(MATRICES[0])

    def total(epsilon):
        return doeblin.doeblin(kernel, RESTART, epsilon).stage_matrix[1, 0]

    assert jax.grad(total)(0.3) == 1.0


@pytest.mark.parametrize("epsilon", [0.0, 1.5, -0.1, float("nan")])
def test_a_traced_epsilon_outside_is_refused_when_it_runs(epsilon):
    kernel = FiniteKernel.from_matrix(MATRICES[0])

    def matrix(epsilon):
        return doeblin.doeblin(kernel, RESTART, epsilon).stage_matrix

    with pytest.raises(Exception, match=r"epsilon is outside \(0, 1\]"):
        jax.jit(matrix)(epsilon).block_until_ready()
    with pytest.raises(Exception, match=r"epsilon is outside \(0, 1\]"):
        jax.vmap(matrix)(jnp.array([0.5, epsilon])).block_until_ready()
    assert jax.vmap(matrix)(jnp.array([0.5, 1.0])).shape == (2, 2, 2)


def test_certificates_speak_of_the_chain():
    chain, _ = finite_chain(SCHEDULES["plain"])
    assert chain.certificate().gap == pytest.approx(0.1, rel=1e-6)
    assert chain.schedule.num_stages == 2


PLAIN, KEY = finite_chain(SCHEDULES["plain"])[0], jax.random.key(0)


def test_whole_numbers_of_any_kind_will_do():
    few = {"num_draws": np.int64(FEW["num_draws"]), "lanes": np.int32(FEW["lanes"])}
    np.testing.assert_array_equal(PLAIN.draw(KEY, **few).state, PLAIN.draw(KEY, **FEW).state)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: doeblin.doeblin(FiniteKernel.from_matrix(MATRICES[0]), RESTART, 0),
            r"epsilon = 0 is outside \(0, 1\]",
        ),
        (lambda: doeblin.staged(Schedule.cycle([1, 0.1, 0.1]), [], RESTART), "need 2 kernels"),
        (lambda: doeblin.doeblin(lambda key: 0, RESTART, 0.5), "is not a kernel"),
        (
            lambda: doeblin.doeblin(FiniteKernel.from_matrix(MATRICES[0]), LAW, 0.5),
            "is not a restart",
        ),
        (
            lambda: doeblin.doeblin(FunctionKernel(lambda k, s, x: s * 0.5), RESTART, 0.5).draw(
                jax.random.key(0), 5
            ),
            r"stage 1 turns a leaf of the state of shape \(\) and type int\d+ into one of shape "
            r"\(\) and type float\d+",
        ),
        (
            lambda: doeblin.doeblin(FunctionKernel(lambda k, s, x: (s, s)), RESTART, 0.5).run(
                jax.random.key(0), 5
            ),
            r"stage 1 returns states of structure",
        ),
        (
            lambda: doeblin.doeblin(FunctionKernel(lambda k, s, x: 1), RESTART, 0.5).draw(
                jax.random.key(0), 5
            ),
            r"stage 1 returns 1 where the restart draws an array .* such as jnp.asarray\(1, 'int",
        ),
        (lambda: finite_chain(SCHEDULES["plain"])[0].draw(jax.random.key(0), 0), "num_draws = 0"),
        (lambda: finite_chain(SCHEDULES["plain"])[0].run(jax.random.key(0), 0), "num_steps = 0"),
        (
            lambda: finite_chain(SCHEDULES["plain"])[0].draw(jax.random.key(0), 5, lanes=0),
            "lanes = 0 must be at least 1",
        ),
        (
            lambda: doeblin.doeblin(FiniteKernel.from_matrix(MATRICES[0]), RESTART, [0.1, 0.2]),
            r"epsilon = \[0.1, 0.2\] must be one number",
        ),
        pytest.param(
            lambda: finite_chain(SCHEDULES["plain"])[0].draw(jax.random.PRNGKey(0), 5),
            r"type uint32 and shape \(2,\) is not a random key: .* jax.random.key\(seed\)",
            marks=unless_annotations_are_checked,
        ),
        *(
            pytest.param(
                lambda key=key: finite_chain(SCHEDULES["plain"])[0].run(key, 5),
                message,
                marks=unless_annotations_are_checked,
            )
            for key, message in (
                (2**70, r"key = 1180591620717411303424 is .*: write jax.random.key\(0\)"),
                (-1, r"key = -1 is not a random key: write jax.random.key\(0\)"),
                (np.int64(3), r"key = .*3.* is not a random key: write jax.random.key\(3\)"),
                (jnp.uint32(4), r"shape \(\) is not a random key: write jax.random.key\(4\)"),
                (jnp.zeros(3, jnp.uint32), r"shape \(3,\) is .*: write jax.random.key\(0\)"),
                (jnp.zeros(2, int), r"type int\d+ and .*: write jax.random.key\(0\)"),
                (jax.random.split(KEY), r"key: one random key is needed, got \(2,\) of them"),
            )
        ),
        pytest.param(
            lambda: finite_chain(SCHEDULES["plain"])[0].run(7, 5),
            r"write jax.random.key\(7\)",
            marks=unless_annotations_are_checked,
        ),
        pytest.param(
            lambda: finite_chain(SCHEDULES["plain"])[0].estimate(
                jax.random.split(jax.random.key(0)), lambda s: s
            ),
            r"got \(2,\) of them; .* `jax.vmap`",
            marks=unless_annotations_are_checked,
        ),
        (
            lambda: jax.jit(
                lambda key: finite_chain(SCHEDULES["plain"])[0].estimate(key, lambda s: s).mean
            )(jax.random.key(0)),
            "`estimate` cannot be traced by jit",
        ),
        (
            lambda: finite_chain(SCHEDULES["plain"])[0].draw_each(
                jax.random.key(0), 5, (jnp.zeros(2), jnp.zeros(3))
            ),
            r"one leading axis in common, .*got lengths \[2, 3\]",
        ),
        (lambda: PLAIN.draw_each(KEY, 5, 1.0), r"one leading axis .*got lengths \['none'\]"),
        (lambda: PLAIN.draw_each(KEY, 5, jnp.zeros((0, 2))), r"got lengths \[0\]"),
        (lambda: PLAIN.draw(KEY, 1.5), "num_draws = 1.5 must be a whole number"),
        (lambda: PLAIN.draw(KEY, "3"), "num_draws = '3' must be a whole number"),
        (lambda: PLAIN.draw(KEY, 3, lanes=1.5), "lanes = 1.5 must be a whole number"),
        (lambda: PLAIN.run(KEY, 2.5), "num_steps = 2.5 must be a whole number"),
        (lambda: PLAIN.estimate(KEY, len, num_tours=10.5), "num_tours = 10.5 must be a whole"),
        (lambda: PLAIN.estimate(KEY, len, stages="ab"), "stages = 'ab' must be a list"),
        (lambda: PLAIN.estimate(KEY, len, stages=1), "stages = 1 must be a list"),
        (lambda: PLAIN.estimate(KEY, lambda s: jnp.exp(1j * s)), "real and imaginary parts"),
        (lambda: PLAIN.estimate(KEY, lambda s: "a"), "returns 'a', which cannot be averaged"),
        (lambda: PLAIN.run(KEY, 3, start=jnp.array(1)), "is no Position"),
        (lambda: PLAIN.run(KEY, 3, start=Position(0, 9, 0, 0)), "start.stage = 9 is none of 0"),
        (lambda: PLAIN.run(KEY, 3, start=Position(7, 0, 0, 0)), "start.state = 7 is none of 0"),
        (
            lambda: PLAIN.run(KEY, 3, start=Position(*jnp.zeros((4, 3), int))),
            r"start.stage has shape \(3,\)",
        ),
    ],
)
def test_bad_input_is_refused_by_name(call, message):
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize(
    ("log_density", "message"),
    [
        (lambda s, x: jnp.log(-1.0 - s.sum()), "returned NaN or \\+inf"),
        (lambda s, x: jnp.where(s.sum() < 0, 0.0, -jnp.inf), "-inf for every value of a site"),
    ],
)
def test_bad_densities_are_refused_at_run_time(log_density, message):
    restart = IndependentSites.uniform((3,), num_values=2)
    chain = doeblin.doeblin(Gibbs(log_density, 2), restart, 0.1)
    with pytest.raises(InputError, match=message) as caught:
        chain.draw(jax.random.key(0), 20)
    assert "\n" not in str(caught.value)
