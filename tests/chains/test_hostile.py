"""Chains made of parts that are within their rights and yet hard on us, against enumeration.

Restarts and kernels split, fold and split again; states are nested and of many types; laws depend
on inputs, have holes, or a single state; stages are left at once, or never entered.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import betabinom, chi2_contingency, norm

import doeblin
from doeblin import Schedule, finite
from doeblin.kernels import AbstractKernel, AbstractRestart, FunctionRestart

from ..statistics import LEVEL, assert_follows

NUM_DRAWS = 20_000
SIZE = 6
rng = np.random.default_rng(11)
MATRICES = [rng.dirichlet(np.full(SIZE, 0.5), SIZE) for _ in range(2)]
MATRICES[1][:, 2] = 0  # A state that is left and not entered again.
MATRICES[1] /= MATRICES[1].sum(axis=1, keepdims=True)
LAW = np.array([0.3, 0.0, 0.25, 0.05, 0.0, 0.4])
TILT = np.array([[0.0] * SIZE, [1.0, 0.0, -1.0, 0.5, 0.0, -0.3]])


def softmax(logits: np.ndarray) -> np.ndarray:
    return np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)


def logs(law: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.log(law)


def nested(number: Any, start: Any) -> Any:
    """A number 0 … 5 as a tree of many types, beside the number that its tour started with."""
    return {
        "now": {"flag": number % 2 == 1, "small": (number // 2).astype(jnp.int8)},
        "start": (start.astype(jnp.uint8), jnp.stack([start, -start]).astype(jnp.float16)),
    }


def number_of(state: Any) -> Any:
    return state["now"]["small"].astype(jnp.int32) * 2 + state["now"]["flag"]


def tilted(law: Any, x: Any) -> jax.Array:
    logits = jnp.log(jnp.asarray(law, dtype=float))
    return logits if x is None else logits + jnp.broadcast_to(x, logits.shape)


class SplittingRestart(AbstractRestart):
    """Draws by a mixture of two halves of the law, with keys split two ways and folded."""

    def sample(self, key, x=None):
        side_key, value_key = jax.random.split(key)
        logits = tilted(LAW, x)
        even = jnp.arange(SIZE) % 2 == 0
        log_even = jax.nn.logsumexp(jnp.where(even, logits, -jnp.inf)) - jax.nn.logsumexp(logits)
        is_even = jax.random.uniform(jax.random.split(side_key, 4)[2]) < jnp.exp(log_even)
        # As rejection would: of many folded tries, the first of the right kind.
        tries = jax.vmap(lambda i: jax.random.fold_in(value_key, i))(jnp.arange(2))
        values = [
            jax.random.categorical(key, jnp.where(wanted, logits, -jnp.inf))
            for key, wanted in zip(tries, (even, ~even), strict=True)
        ]
        number = jnp.where(is_even, *values)
        return nested(number, number)

    def log_prob(self, state, x=None):
        return jax.nn.log_softmax(tilted(LAW, x))[number_of(state)]


class SplittingKernel(AbstractKernel):
    """A row of a matrix, by a race of exponentials whose keys are folded from a part of the key."""

    matrix: Any

    def sample(self, key, state, x=None):
        _, race = jax.random.split(key)
        keys = jax.vmap(lambda i: jax.random.fold_in(race, i))(jnp.arange(SIZE))
        times = -jax.vmap(jax.random.exponential)(jax.vmap(lambda k: jax.random.split(k)[1])(keys))
        rates = jnp.exp(jax.nn.log_softmax(tilted(self.matrix, x)[number_of(state)]))
        number = jnp.argmax(jnp.where(rates > 0, times / rates, -jnp.inf))
        return nested(number, state["start"][0].astype(jnp.int32))


@dataclass(frozen=True)
class Case:
    chain: doeblin.Chain
    law: np.ndarray
    """The joint law of (stage, start, present number)."""
    start: Callable[[Any], Any]
    number: Callable[[Any], Any]
    x: Any = None


def enumerated(schedule: Schedule, matrices: list[np.ndarray], law: np.ndarray) -> np.ndarray:
    """The joint law of (stage, start, number): a chain on pairs whose first part never moves."""
    size = len(law)
    start = np.diag(law).ravel()
    pairs: list[Any] = [np.kron(np.eye(size), matrix) for matrix in matrices]
    pairs.insert(schedule.restart, None)
    return finite.staged_law(schedule, pairs, start).reshape(schedule.num_stages, size, size)


def splitting(schedule: Schedule, x: np.ndarray | None = None) -> Case:
    matrices = MATRICES[: schedule.num_stages - 1]
    shift = np.zeros(SIZE) if x is None else x
    laws = [softmax(logs(matrix) + shift) for matrix in matrices]
    return Case(
        doeblin.staged(schedule, [SplittingKernel(m) for m in matrices], SplittingRestart()),
        enumerated(schedule, laws, softmax(logs(LAW) + shift)),
        lambda state: np.asarray(state["start"][0]).astype(int),
        lambda state: np.asarray(number_of(state)),
        x,
    )


class Pair(AbstractRestart):
    """Any restart's state, twice: as the start and as the present state."""

    inner: AbstractRestart

    def sample(self, key, x=None):
        state = self.inner.sample(key, x)
        return state, state

    def log_prob(self, state, x=None):
        return self.inner.log_prob(state[1], x)


class Rows(AbstractKernel):
    matrix: Any

    def sample(self, key, state, x=None):
        start, now = state
        after = jax.random.categorical(key, jnp.log(self.matrix)[now.astype(int)])
        return start, after.astype(now.dtype)


def with_numpyro() -> Case:
    """A distribution that draws twice: a probability, then a count."""
    from numpyro import distributions  # where it is used: every worker reads this file

    schedule, size = Schedule.doeblin(0.25), 4
    restart = FunctionRestart.from_distribution(distributions.BetaBinomial(0.8, 1.5, 3))
    matrix = rng.dirichlet(np.ones(size), size)
    law = betabinom.pmf(np.arange(size), 3, 0.8, 1.5)
    chain = doeblin.staged(schedule, [Rows(matrix)], Pair(restart))
    return Case(chain, enumerated(schedule, [matrix], law), *_pair_readers())


def with_one_state() -> Case:
    restart = FunctionRestart(lambda key, x: jnp.array(0), lambda state, x: jnp.zeros(()))
    schedule = Schedule.doeblin(1.0)
    chain = doeblin.staged(schedule, [Rows(np.eye(1))], Pair(restart))
    return Case(chain, enumerated(schedule, [np.eye(1)], np.ones(1)), *_pair_readers())


def _pair_readers() -> tuple[Any, Any]:
    return (lambda state: np.asarray(state[0]).astype(int)), (
        lambda state: np.asarray(state[1]).astype(int)
    )


CASES: dict[str, Callable[[], Case]] = {
    "splitting": lambda: splitting(Schedule.cycle([0.6, 0.3, 0.2])),
    "splitting, with an input": lambda: splitting(Schedule.doeblin(0.3), TILT[1]),
    "stages left at once": lambda: splitting(Schedule.cycle([1, 1, 1])),
    "a stage never entered": lambda: splitting(
        Schedule([[0, 0, 1], [0.5, 0.4, 0.1], [0.25, 0, 0.75]])
    ),
    "numpyro": with_numpyro,
    "one state, always restarting": with_one_state,
}


MARKS: dict[str, Any] = {
    # `test_keys.py` has such keys, and the next of these cases such states.
    "splitting": pytest.mark.thorough,
    "splitting, with an input": pytest.mark.thorough,
    "stages left at once": pytest.mark.thorough,
    "numpyro": pytest.mark.thorough,  # a distribution of its kind is in `test_closures.py`
}


@pytest.mark.parametrize(
    "make",
    [pytest.param(make, id=name, marks=MARKS.get(name, ())) for name, make in CASES.items()],
)
def test_draws_have_the_joint_law_and_know_nothing_else(make: Callable[[], Case]):
    case = make()
    draws = case.chain.draw(jax.random.key(0), NUM_DRAWS, case.x)
    stage, age = np.asarray(draws.stage), np.asarray(draws.age)
    start, number = case.start(draws.state), case.number(draws.state)
    _, size, _ = case.law.shape
    joint = (stage * size + start) * size + number
    assert_follows(joint, np.where(case.law < 1e-12, 0, case.law).ravel())
    schedule = case.chain.schedule
    error = age.std() / np.sqrt(NUM_DRAWS)
    assert abs(age.mean() + 1 - schedule.expected_draw_cost()) <= 5 * error + 1e-9
    assert_independent(start, stage * 8 + np.minimum(age, 7))
    # Draws know nothing of each other, near or far.
    for lag in (1, 2, NUM_DRAWS // 2):
        assert_independent(number[:-lag], number[lag:])
        assert_independent(age.clip(max=7)[:-lag], age.clip(max=7)[lag:])


def assert_independent(a: np.ndarray, b: np.ndarray) -> None:
    """The chi-square test of a table of counts; rare rows and columns are left out."""
    table = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(table, (a, b), 1)
    table = table[table.sum(axis=1) >= 200][:, table.sum(axis=0) >= 200]
    if min(table.shape) > 1:
        assert chi2_contingency(table).pvalue >= LEVEL


@pytest.mark.thorough
def test_inputs_and_estimates_agree_with_enumeration():
    """The splitting chain through two more doors; `test_keys` goes through them without stages,
    `test_chain` and `test_regeneration` with less to carry."""
    schedule = Schedule.cycle([0.6, 0.3, 0.2])
    case, chain = splitting(schedule), splitting(schedule).chain
    key = jax.random.key(3)
    # A start weighs as much as its tours are long: no more where they are liked.
    truths = case.law.sum(axis=(0, 1)), case.law.sum(axis=(0, 2))
    estimate = chain.estimate(
        key,
        lambda state: tuple(
            jax.nn.one_hot(number, SIZE) for number in (number_of(state), state["start"][0])
        ),
        num_tours=NUM_DRAWS,
    )
    for mean, error, truth in zip(estimate.mean, estimate.standard_error, truths, strict=True):
        assert (np.abs(mean - truth) <= 5 * error + 1e-9).all()
    each = chain.draw_each(key, NUM_DRAWS, TILT)
    for i, x in enumerate(TILT):
        law = splitting(schedule, x).law
        one = jax.tree.map(lambda leaf, i=i: leaf[i], each.state)
        joint = np.asarray(each.stage[i]) * SIZE * SIZE + case.start(one) * SIZE + case.number(one)
        assert_follows(joint, np.where(law < 1e-12, 0, law).ravel())
    assert_independent(
        *(case.number(jax.tree.map(lambda leaf, i=i: leaf[i], each.state)) for i in (0, 1))
    )


@pytest.mark.thorough
def test_lanes_and_runs_agree_with_enumeration():
    """The other doors; `test_chain` and `test_keys` go through them with less to carry."""
    schedule = Schedule.cycle([0.6, 0.3, 0.2])
    case, chain = splitting(schedule), splitting(schedule).chain
    key = jax.random.key(3)
    whole = chain.draw(key, NUM_DRAWS)
    again = chain.draw(key, NUM_DRAWS, lanes=7)
    for a, b in zip(jax.tree.leaves(whole[:3]), jax.tree.leaves(again[:3]), strict=True):
        np.testing.assert_array_equal(a, b)
    # A run from a restart: its law after four steps, by powers of the joint matrix.
    runs = jax.jit(jax.vmap(lambda key: chain.run(key, 4)))(jax.random.split(key, NUM_DRAWS))
    joint_matrix = finite.staged_matrix(schedule, [None, *MATRICES], LAW)
    begin = np.zeros((3, SIZE))
    begin[0] = LAW
    after = begin.ravel() @ np.linalg.matrix_power(joint_matrix, 4)
    last = np.asarray(runs.stage)[:, -1] * SIZE + case.number(runs.state)[:, -1]
    assert_follows(last, np.where(after < 1e-12, 0, after))


class Bimodal(AbstractRestart):
    """Two normal hills: which one, then where."""

    def sample(self, key, x=None):
        side, place = jax.random.split(key)
        sign = jax.random.rademacher(side, ())
        start = 2.0 * sign + 0.5 * jax.random.normal(place)
        return {"start": start, "now": start}

    def log_prob(self, state, x=None):
        hills = jnp.array([-2.0, 2.0])
        return jax.nn.logsumexp(jax.scipy.stats.norm.logpdf(state["now"], hills, 0.5)) - jnp.log(2)


class Autoregressive(AbstractKernel):
    def sample(self, key, state, x=None):
        noise = jax.random.normal(jax.random.fold_in(key, 0))
        return {"start": state["start"], "now": 0.8 * state["now"] + 0.6 * noise}


def test_continuous_states_follow_the_law_by_quadrature():
    """Given its age t, the state is 0.8^t times a hill, plus normal noise: a sum of normal laws."""
    epsilon = 0.15
    draws = doeblin.doeblin(Autoregressive(), Bimodal(), epsilon).draw(jax.random.key(2), NUM_DRAWS)
    ages = np.arange(400)
    weight = epsilon * (1 - epsilon) ** ages
    spread = np.sqrt(0.25 * 0.64**ages + 1.0 - 0.64**ages)
    edges = np.append(np.linspace(-3, 3, 25), np.inf)
    below = sum(
        norm.cdf((edges[:, None] - side * 2 * 0.8**ages) / spread) @ weight / 2 for side in (-1, 1)
    )
    law = np.diff(np.append(0.0, below / below[-1]))
    assert_follows(np.searchsorted(edges, np.asarray(draws.state["now"])), law)
    start, age = np.asarray(draws.state["start"]), np.asarray(draws.age)
    halves = np.append(-np.inf, [-2.0, 0.0, 2.0])
    assert_independent(np.searchsorted(halves, start) - 1, np.minimum(age, 10))
