"""Regenerative estimates: right on average, honest in their error bars, streaming."""

from __future__ import annotations

from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import t as student

import doeblin
from doeblin import InputError, Schedule
from doeblin.chains import _sums
from doeblin.chains._regeneration import Estimate, estimate_from_tours
from doeblin.chains._sums import Sum, TourSums
from doeblin.kernels import AbstractKernel, AbstractRestart, FunctionRestart

from .test_chain import SCHEDULES, finite_chain


@pytest.mark.parametrize(
    "name", ["any", *(pytest.param(n, marks=pytest.mark.thorough) for n in ("plain", "cycle"))]
)
def test_estimates_are_within_their_errors(name):
    chain, law = finite_chain(SCHEDULES[name])
    estimate = chain.estimate(jax.random.key(0), lambda s: jax.nn.one_hot(s, 4), num_tours=20_000)
    error = np.abs(estimate.mean - law.sum(axis=0))
    assert (error <= 5 * estimate.standard_error + 1e-9).all()
    mean_tour = estimate.num_steps / estimate.num_tours
    assert mean_tour == pytest.approx(
        chain.schedule.steps_until_restart()[chain.restart_stage], rel=0.05
    )


@pytest.mark.double
@pytest.mark.thorough  # in single precision only; whole tours are summed in it above
def test_estimates_within_stages():
    chain, law = finite_chain(SCHEDULES["cycle"])
    estimate = chain.estimate(
        jax.random.key(1), lambda s: (s == 1) * 1.0, num_tours=20_000, stages=[2]
    )
    truth = law[2, 1] / law[2].sum()
    assert abs(estimate.mean - truth) <= 5 * estimate.standard_error


@pytest.mark.parametrize(("num_tours", "covered"), [(64, 0.85), (256, 0.91), (1024, 0.94)])
def test_intervals_of_the_age_cover_as_often_as_documented(num_tours, covered):
    rng, rate, times = np.random.default_rng(0), 0.05, 1000
    held = 0
    for _ in range(times):
        lengths = rng.geometric(rate, num_tours).astype(float)
        ages = lengths * (lengths - 1) / 2  # 0 + 1 + … up to the tour's last state
        nothing = np.zeros(num_tours)
        sums = TourSums(Sum((nothing,), ages, nothing), lengths, lengths.astype(int))
        found = estimate_from_tours(lambda first, count, sums=sums: sums, num_tours, num_tours)
        low, high = found.interval(0.95)
        held += low <= (1 - rate) / rate <= high
    # The documented shares are rounded to a hundredth.
    assert abs(held / times - covered) < 4 * np.sqrt(covered * (1 - covered) / times) + 0.01


class Coins(AbstractKernel):
    """How many heads in a row of fair coins, from a number on."""

    def sample(self, key, state, x=None):
        return state + jax.random.bernoulli(key).astype(state.dtype)


class Zero(AbstractRestart):
    def sample(self, key, x=None):
        return jnp.int32(0)

    def log_prob(self, state, x=None):
        return jnp.zeros(())


thorough = pytest.mark.thorough
NARROW = {
    "bfloat16": (lambda s: (s % 2).astype(jnp.bfloat16), lambda s: (s % 2) * 1.0),
    "float16, large": (lambda s: jnp.float16(6000), lambda s: jnp.float32(6000)),
    "a small integer": (lambda s: (s % 100).astype(jnp.int8), lambda s: (s % 100) * 1.0),
    "a Boolean": (lambda s: s % 2 == 1, lambda s: (s % 2) * 1.0),
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name == "bfloat16" else thorough) for name in NARROW],
)
def test_narrow_numbers_are_added_up_in_wider_ones(name):
    """A sum in eight binary digits stops at 256, which tours of a thousand steps go beyond."""
    chain = doeblin.doeblin(Coins(), Zero(), 0.001)
    narrow, wide = (
        chain.estimate(jax.random.key(0), function, num_tours=50) for function in NARROW[name]
    )
    assert narrow.mean == wide.mean and narrow.standard_error == wide.standard_error


@pytest.mark.parametrize(
    ("function", "base", "scale"),
    [
        pytest.param(lambda s: s + 2**30, 2**30, 1, marks=thorough),
        (lambda s: s + jnp.int32(-(2**31)), -(2**31), 1),
        pytest.param(
            lambda s: s.astype(jnp.uint32) + jnp.uint32(2**32 - 4096),
            2**32 - 4096,
            1,
            marks=thorough,
        ),
        (lambda s: 1e6 + s * 0.125, 1e6, 0.125),
    ],
)
def test_large_values_that_hardly_differ_keep_their_digits(function, base, scale):
    """All of these have their digits in single precision, but their sums have not."""
    chain = doeblin.doeblin(Coins(), Zero(), 0.2)
    plain, far = (
        chain.estimate(jax.random.key(0), one, num_tours=2000, chunk=700)
        for one in (lambda s: s, function)
    )
    assert far.mean - base == pytest.approx(scale * plain.mean, rel=1e-6)
    assert far.standard_error == pytest.approx(scale * plain.standard_error, rel=1e-6)


@pytest.mark.parametrize(
    ("function", "base", "scale"),
    [
        pytest.param(lambda s: jnp.int32(10**9) + s % 4, 10**9, 1, marks=thorough),
        pytest.param(lambda s: jnp.int32(4095) + s % 4, 4095, 1, marks=thorough),
        (lambda s: jnp.where(s % 4 == 0, 2**31 - 4, 2**31 - 4 + s % 4), 2**31 - 4, 1),
        pytest.param(lambda s: 1e8 + 8.0 * (s % 4), 1e8, 8, marks=thorough),
        pytest.param(lambda s: jnp.float32(1e8), 1e8, 0, marks=thorough),
        pytest.param(lambda s: jnp.int32(2**31 - 1), 2**31 - 1, 0, marks=thorough),
    ],
)
def test_nor_do_they_lose_them_on_long_tours(function, base, scale):
    """By tours of 10,000 steps, whose sums have twice the digits of single precision."""
    chain = doeblin.doeblin(Coins(), Zero(), 1e-4)
    plain, far = (
        chain.estimate(jax.random.key(0), one, num_tours=20) for one in (lambda s: s % 4, function)
    )
    assert far.mean - base == pytest.approx(scale * plain.mean, abs=1e-6)
    assert far.standard_error == pytest.approx(scale * plain.standard_error, abs=1e-6)


@pytest.mark.parametrize(
    "chunk", [pytest.param(100, marks=thorough), 7, pytest.param(1, marks=thorough)]
)
def test_what_is_infinite_stays_so_however_it_is_added_up(chunk):
    chain = doeblin.doeblin(Coins(), Zero(), 0.2)

    def function(state):
        odd = state % 2 == 1
        up = jnp.where(odd, jnp.inf, 1.0)
        return {"up": up, "down": -up, "both": jnp.stack([1 / up, jnp.where(odd, up, -jnp.inf)])}

    found = chain.estimate(jax.random.key(0), function, num_tours=100, chunk=chunk)
    assert found.mean["up"] == np.inf and found.mean["down"] == -np.inf
    np.testing.assert_array_equal(np.isfinite(found.mean["both"]), [True, False])
    np.testing.assert_array_equal(np.isfinite(found.standard_error["both"]), [True, False])
    assert np.isnan(found.mean["both"][1]) and np.isnan(found.standard_error["up"])


def test_one_tour_says_nothing_of_its_error():
    """A stage that few tours enter: with one of them the error would be zero."""
    schedule = Schedule([[0.5, 0.49, 0.01], [0.3, 0.7, 0], [0.1, 0, 0.9]])
    chain, _ = finite_chain(schedule)
    said = set()
    for seed in range(30):
        try:
            found = chain.estimate(jax.random.key(seed), jnp.sin, num_tours=50, stages=[2])
        except InputError as error:
            said.add(str(error).partition(" visited")[0])
        else:
            assert found.standard_error > 0
    assert said == {"no tour of 50", "one tour alone of 50"}


def test_a_restart_that_returns_no_array_is_refused():
    for start in (0, [1, 2.5]):
        chain = doeblin.doeblin(Coins(), FunctionRestart(lambda key, x, s=start: s, None), 0.2)
        for call in (chain.draw, chain.run):
            with pytest.raises(InputError, match=r"the restart returns (0|1), and states are made"):
                call(jax.random.key(0), 3)


def test_intervals_cover_the_truth_as_often_as_they_say():
    """Over 1,000 repetitions a 95 % interval must hold the truth 93 to 97 % of the time."""
    chain, law = finite_chain(Schedule.doeblin(0.2))
    truth = law.sum(axis=0)[2]
    function = jax.tree_util.Partial(lambda s: (s == 2) * 1.0)
    covered = 0
    for repetition in range(1000):
        estimate = chain.estimate(jax.random.key(repetition), function, num_tours=300)
        low, high = estimate.interval(0.95)
        covered += bool(low <= truth <= high)
    assert 930 <= covered <= 970


def test_chunks_do_not_matter():
    chain, _ = finite_chain(SCHEDULES["cycle"])

    def function(state):
        return {"one": (state == 1) * 1.0, "all": jnp.arange(3.0) * state}

    whole = chain.estimate(jax.random.key(0), function, num_tours=1000, chunk=1000)
    parts = chain.estimate(jax.random.key(0), function, num_tours=1000, chunk=300, lanes=7)
    for a, b in zip(jax.tree.leaves(whole.mean), jax.tree.leaves(parts.mean), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)
    for a, b in zip(
        jax.tree.leaves(whole.standard_error), jax.tree.leaves(parts.standard_error), strict=True
    ):
        np.testing.assert_allclose(a, b, rtol=1e-4)
    assert whole.num_steps == parts.num_steps


def test_standard_error_is_that_of_the_ratio():
    """Against the textbook formula on the same tours."""
    chain, _ = finite_chain(SCHEDULES["plain"])
    run = chain.run(jax.random.key(4), 20_000)
    restarts = np.flatnonzero(np.asarray(run.stage) == chain.restart_stage)
    hits = (np.asarray(run.state) == 1).astype(float)
    sums = np.add.reduceat(hits, restarts)[:-1]
    lengths = np.diff(restarts)
    ratio = sums.sum() / lengths.sum()
    residual = sums - ratio * lengths
    expected = np.sqrt(residual.var(ddof=1) / len(lengths)) / lengths.mean()
    estimate = chain.estimate(jax.random.key(5), lambda s: (s == 1) * 1.0, num_tours=len(lengths))
    assert float(estimate.standard_error) == pytest.approx(expected, rel=0.1)
    assert abs(estimate.mean - ratio) <= 5 * np.hypot(expected, estimate.standard_error)


@pytest.mark.parametrize("chunk", [1, 2, 5, 7, 100])
def test_ratios_and_errors_are_those_of_the_textbook(chunk: int):
    """ΣY/ΣL, and the error of a ratio of sums; tours after the last one asked for do not count."""
    rng = np.random.default_rng(0)
    y, weights, steps = rng.normal(3, 1, (7, 2)), rng.integers(0, 5, 7), rng.integers(1, 9, 7)

    def sums(first: int, count: int) -> TourSums:
        rows = np.arange(first, first + count) % 7
        first, lost = np.full((count, 2), 2.5), np.full((count, 2), 0.25)
        total = y[rows] - first * weights[rows, None] - lost
        return TourSums(Sum((first,), total, lost), weights[rows], steps[rows])

    found = estimate_from_tours(sums, 7, chunk)
    ratio = y.sum(axis=0) / weights.sum()
    residuals = y - ratio * weights[:, None]
    error = np.sqrt((residuals**2).sum(axis=0) / 6 / 7) / weights.mean()
    np.testing.assert_allclose(found.mean, ratio, rtol=1e-12)
    np.testing.assert_allclose(found.standard_error, error, rtol=1e-9)
    assert found.num_steps == steps.sum()


def test_intervals_are_student_s():
    low, high = Estimate(jnp.array(2.0), jnp.array(0.5), num_tours=5, num_steps=9).interval(0.9)
    half = 0.5 * student.ppf(0.95, df=4)
    np.testing.assert_allclose([low, high], [2 - half, 2 + half], rtol=1e-6)


def test_bad_arguments_are_named():
    chain, _ = finite_chain(SCHEDULES["plain"])
    key = jax.random.key(0)
    with pytest.raises(InputError, match="num_tours = 1 must be at least 2"):
        chain.estimate(key, lambda s: s, num_tours=1)
    with pytest.raises(InputError, match="function = None must be a function of one state"):
        chain.estimate(key, None)
    with pytest.raises(InputError, match=r"stages = \[5\] must name some of the stages 0 to 1"):
        chain.estimate(key, lambda s: s, stages=[5])
    with pytest.raises(InputError, match=r"stages = \[2\] must name some of the stages 0 to 1"):
        chain.estimate(key, lambda s: s, stages=[2])
    with pytest.raises(InputError, match=r"stages = \[\] must name some of the stages 0 to 1"):
        chain.estimate(key, lambda s: s, stages=[])
    estimate = Estimate(jnp.array(2.0), jnp.array(0.5), num_tours=10, num_steps=30)
    for confidence in (0, 1, 2, "a", None):
        with pytest.raises(
            InputError, match=rf"confidence = {confidence!r} is no number in \(0, 1\)"
        ):
            estimate.interval(confidence)
    never = Schedule([[0.2, 0.8, 0], [0.3, 0.7, 0], [0.5, 0.4, 0.1]])
    with pytest.raises(InputError, match="no tour of 10 visited the stages"):
        finite_chain(never)[0].estimate(key, lambda s: s * 1.0, num_tours=10, stages=[2])


def test_public_names_are_there():
    assert doeblin.Chain is type(finite_chain(SCHEDULES["plain"])[0])


def test_what_a_sum_loses_is_known_exactly():
    """By fractions; also where one term is far larger, whichever it is."""
    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=200) * 10.0 ** rng.integers(-6, 7, 200) for _ in range(2))
    a, b = a.astype(np.float32), b.astype(np.float32)
    total, lost = jax.tree.map(np.asarray, jax.jit(_sums._added)(a, b))
    exact = [Fraction(float(x)) + Fraction(float(y)) for x, y in zip(a, b, strict=True)]
    said = [Fraction(float(x)) + Fraction(float(y)) for x, y in zip(total, lost, strict=True)]
    assert said == exact and np.count_nonzero(lost) > 50
