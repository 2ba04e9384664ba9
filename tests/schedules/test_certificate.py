"""Certificates hold for every chain: the staged theorem and its corollary, checked."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from doeblin import InputError, finite
from doeblin.schedules import Fact, Schedule, certify, corollary_gap, gamma
from doeblin.schedules import _certificate as implementation

from ..random_chains import laws, matrices, schedules


@st.composite
def staged_chains(draw):
    schedule = draw(schedules())
    size = draw(st.integers(2, 3))
    kernels = [draw(matrices(size)) for _ in range(schedule.num_stages)]
    return schedule, finite.staged_matrix(schedule, kernels, draw(laws(size)))


def gamma_by_definition(schedule: Schedule, a: int, b: int) -> float:
    """Σ_s min_z P[τ_a = s | z_0 = z], following each start separately, step by step."""
    laws = np.zeros((schedule.num_stages, b + 1))
    for start in range(schedule.num_stages):
        alive = np.eye(schedule.num_stages)[start] @ np.linalg.matrix_power(schedule.matrix, a)
        for s in range(a, b + 1):
            laws[start, s] = alive[schedule.restart]
            alive[schedule.restart] = 0
            alive = alive @ schedule.matrix
    return float(laws.min(axis=0).sum())


@given(schedules(), st.integers(1, 20), st.integers(0, 40))
def test_gamma_is_its_definition_rounded_down(schedule, a, more):
    exact = gamma_by_definition(schedule, a, a + more)
    computed = gamma(schedule, a, a + more)
    assert computed == pytest.approx(exact, rel=1e-9)
    assert computed <= exact * (1 + 1e-15)


@given(staged_chains(), st.integers(1, 12), st.integers(0, 25))
def test_staged_theorem(chain, a, more):
    """M^b has strong Doeblin parameter γ_{a,b}, and the gap of M is at least γ_{a,b}/b."""
    schedule, joint = chain
    b = a + more
    parameter = gamma(schedule, a, b)
    assert finite.doeblin_coefficient(np.linalg.matrix_power(joint, b)) >= parameter - 1e-9
    assert finite.spectral_gap(joint) >= parameter / b - 1e-9


@given(staged_chains())
def test_certificate_holds(chain):
    schedule, joint = chain
    certificate = certify(schedule)
    assert finite.spectral_gap(joint) >= certificate.gap - 1e-9
    assert certificate.gap >= certificate.doeblin_parameter / certificate.steps - 1e-12
    law = finite.stationary(joint)
    for tv in (0.25, 0.01):
        time = certificate.mixing_time(tv)
        if math.isfinite(time):
            after = np.linalg.matrix_power(joint, int(time))
            assert 0.5 * np.abs(after - law).sum(axis=1).max() <= tv + 1e-9


@given(
    st.integers(2, 4).flatmap(
        lambda k: st.lists(st.floats(0.1, 1), min_size=k - 1, max_size=k - 1)
    ),
    st.floats(0.2, 1),
)
def test_corollary_holds_and_is_beaten(exits, share):
    last = share * min(exits) / max(2, len(exits))
    schedule = Schedule.cycle([*exits, last])
    closed_form = corollary_gap(schedule)
    assert closed_form == pytest.approx(last / 78)
    uniform = np.full(2, 0.5)
    joint = finite.staged_matrix(schedule, [np.eye(2)] * schedule.num_stages, uniform)
    assert closed_form <= certify(schedule).gap <= finite.spectral_gap(joint) + 1e-9


def test_the_paper_rates():
    certificate = certify(Schedule.cycle([1, 0.04, 0.0002]))
    assert certificate.gap >= 1.98e-4
    assert certificate.corollary_gap == pytest.approx(0.0002 / 78)
    assert certificate.expected_draw_cost == pytest.approx(5000.13, abs=0.01)
    assert certificate.theorem.startswith("staged theorem at a = ")


@pytest.mark.parametrize("rates", [[1, 0.04, 0.0002], [1, 1e-5, 1e-8]], ids=["tabulated", "slow"])
def test_every_fact_says_something(rates):
    assert all(fact.parameter > 0 for fact in certify(Schedule.cycle(rates)).facts)


def test_corollary_needs_its_condition():
    # δ_{k-1} ≤ min(the others) / max(2, k-1): at the bound, and just beyond it.
    assert corollary_gap(Schedule.cycle([1, 0.5, 0.25])) == pytest.approx(0.25 / 78)
    assert corollary_gap(Schedule.cycle([1, 0.5, 0.26])) is None
    assert corollary_gap(Schedule.cycle([1, 1, 1, 1, 0.25])) == pytest.approx(0.25 / 78)
    assert corollary_gap(Schedule.cycle([1, 1, 1, 1, 0.26])) is None
    assert corollary_gap(Schedule.cycle([1, 0.9])) is None
    assert corollary_gap(Schedule([[0, 0.5, 0.5], [0.1, 0.9, 0], [0.1, 0, 0.9]])) is None


@given(st.floats(1e-3, 1))
def test_plain_chains_are_certified_at_one_step(epsilon):
    certificate = certify(Schedule.doeblin(epsilon))
    assert certificate.gap == pytest.approx(epsilon)
    expected = 1 if epsilon == 1 else math.ceil(math.log(0.01) / math.log1p(-epsilon))
    assert certificate.mixing_time(0.01) in (expected, expected + 1)
    assert certificate.theorem.startswith("strong Doeblin proposition")


@pytest.mark.parametrize("rare", [1e-1, 1e-3, 1e-9], ids=["tabulated", "long", "slow"])
def test_a_single_step_is_always_told(rare):
    """Also where many steps are the better bargain: all stages restart at once, but rarely."""
    schedule = Schedule([[rare, 1 - rare, 0], [rare, 0, 1 - rare], [3 * rare, 1 - 3 * rare, 0]])
    first = certify(schedule).facts[0]
    assert (first.parameter, first.steps, first.after) == (pytest.approx(rare), 1, 1)


@pytest.mark.parametrize("rare", [1, 1e-9], ids=["tabulated", "slow"])
def test_periodic_stages_certify_nothing(rare):
    """Odd and even stages alternate for ever: after any number of steps the two are apart."""
    certificate = certify(Schedule([[0, 1, 0], [rare, 0, 1 - rare], [0, 1, 0]]))
    assert certificate.facts == (Fact(0.0, 1, 1),)
    assert certificate.gap == 0
    assert certificate.mixing_time() == math.inf
    assert "periodic" in certificate.theorem


@given(schedules())
def test_search_is_near_the_best_of_all_pairs(schedule):
    best = 0.0
    table = implementation._first_restart_law(schedule, 300)
    for a in range(1, 120):
        gammas = implementation._gammas(schedule, table, a)
        rates = -np.log1p(-np.minimum(gammas, 1 - 1e-15)) / (a + np.arange(len(gammas)))
        best = max(best, float(-np.expm1(-rates.max())))
    # Over all pairs the search loses half a percent at most (measured on 60 other schedules).
    assert certify(schedule).gap >= 0.99 * best


@given(schedules())
def test_matrix_powers_bound_the_table_from_below(schedule):
    exact, fast = certify(schedule), implementation._Powers(schedule, 200)
    for a in (1, 3, 10, 50):
        fast.look(a)
    for fact in fast.facts():
        if fact.parameter > 0:
            assert fact.parameter <= gamma(schedule, fact.after, fact.steps) + 1e-12
    assert max(fact.gap for fact in fast.facts()) <= exact.gap * (1 + 1e-6) + 1e-12


def test_facts_by_hand():
    """γ in b steps: gap 1 - (1-γ)^{1/b}, and (1-γ)^n ≤ tv after n·b steps."""
    half = Fact(parameter=0.5, steps=3, after=1)
    assert half.gap == pytest.approx(1 - 0.5 ** (1 / 3))
    assert half.mixing_time(0.25) == 2 * 3
    assert half.mixing_time(0.24) == 3 * 3
    assert half.mixing_time(0.9) == 3
    certain = Fact(parameter=1.0, steps=3, after=1)
    assert (certain.gap, certain.mixing_time(0.01)) == (1.0, 3)
    nothing = Fact(parameter=0.0, steps=3, after=1)
    assert (nothing.gap, nothing.mixing_time(0.01)) == (0.0, math.inf)


def test_of_equal_gaps_the_shortest_is_told():
    facts = tuple(Fact(1 - 0.5**steps, steps, 1) for steps in (2, 1, 3))
    assert len({fact.gap for fact in facts}) == 1
    assert implementation.Certificate(Schedule.doeblin(0.5), facts).steps == 1


def test_stages_that_restart_soon_and_forget_late():
    """Restarts come every other step, but when they come is forgotten in thousands of steps."""
    schedule = Schedule.cycle([1, 0.998])
    certificate = certify(schedule)
    looked_at = [(a, a + more) for a in (100, 300, 700) for more in (1, 2, 10)]
    known = max(Fact(gamma(schedule, a, b), b, a).gap for a, b in looked_at)
    assert certificate.gap >= known > 0
    assert certificate.steps > 16 * 3


def test_a_restart_at_every_step_mixes_in_one():
    certificate = certify(Schedule.doeblin(1.0))
    assert certificate.gap == pytest.approx(1)
    assert (certificate.steps, certificate.best.after) == (1, 1)
    assert certificate.doeblin_parameter == pytest.approx(1)
    assert certificate.mixing_time(1e-9) <= 2


@settings(max_examples=15)
@given(schedules())
@example(Schedule(np.array([[0.07, 0.92, 0.01], [1.6e-6, 1 - 3.2e-6, 1.6e-6], [0.15, 0.15, 0.7]])))
def test_facts_are_ordered_and_each_is_a_gamma(schedule):
    certificate = certify(schedule)
    steps = [fact.steps for fact in certificate.facts]
    assert steps == sorted(steps)
    # Of slow schedules powers of the matrix are taken, which bound γ from below.
    loss = 1e-9 if certificate.facts[-1].steps <= implementation._LONGEST_TABLE else 1.0
    for fact in (*certificate.facts[::80], certificate.best):
        assert 1 <= fact.after <= fact.steps
        exact = gamma(schedule, fact.after, fact.steps)
        assert (1 - loss) * exact <= fact.parameter <= (1 + 1e-9) * exact
    assert certificate.gap == max(fact.gap for fact in certificate.facts)
    # Among facts that give the same gap, the shortest is told.
    assert certificate.steps == min(f.steps for f in certificate.facts if f.gap == certificate.gap)


@given(schedules())
def test_facts_from_powers_grow_with_their_steps(schedule):
    search = implementation._Powers(schedule, 100)
    for a in (1, 2, 7, 30):
        search.look(a)
    facts = search.facts()
    assert all(x.steps < y.steps and x.parameter < y.parameter for x, y in pairwise(facts))
    for steps, parameter in ((fact.steps, fact.parameter) for fact in search._facts):
        reached = [fact.parameter for fact in facts if fact.steps <= steps]
        assert reached and max(reached) >= parameter


def test_what_matrix_powers_lose_is_little():
    """The same schedule by the table and by powers: cycles with rare last exits."""
    schedule = Schedule.cycle([1, 0.1, 1e-3])
    exact, search = certify(schedule), implementation._Powers(schedule, 20_000)
    for a in implementation._log_grid(1, 20_000, 48):
        search.look(int(a))
    assert 0.98 * exact.gap <= max(fact.gap for fact in search.facts()) <= exact.gap * (1 + 1e-9)
    best = max(search.facts(), key=lambda fact: fact.gap)
    assert search.best_after() == best.after


def test_rounding_is_towards_the_safe_side():
    """γ of plain chains is 1-(1-ε)^{b-a+1}; with the error bound taken off, never above it."""
    for epsilon in (0.3, 1e-3):
        for b in (1, 10, 1000):
            exact = -math.expm1(b * math.log1p(-epsilon))
            found = gamma(Schedule.doeblin(epsilon), 1, b)
            assert exact * (1 - 1e-11) <= found <= exact * (1 - 4e-16 * b)


def test_the_search_looks_far_enough_ahead():
    """With slow stages the best b is many times their own scale; ten of them are not enough."""
    schedule = Schedule.cycle([1, 0.5, 1e-4])
    certificate = certify(schedule)
    until = float(schedule.steps_until_restart().max())
    assert max(fact.steps for fact in certificate.facts) >= 10 * until
    assert certificate.gap >= 0.99e-4


def test_very_slow_schedules_are_certified_at_once():
    certificate = certify(Schedule.cycle([1, 1e-3, 1e-9]))
    assert 0.99e-9 <= certificate.gap <= 1e-9


@pytest.mark.parametrize("epsilon", [1e-15, 1e-17, 1e-25])
def test_restarts_rarer_than_a_rounding_are_certified(epsilon):
    schedule = Schedule.doeblin(epsilon)
    assert schedule.steps_until_restart() == pytest.approx([1 / epsilon, 1 / epsilon])
    assert schedule.expected_draw_cost() == pytest.approx(1 / epsilon)
    assert certify(schedule).gap == pytest.approx(epsilon)
    assert certify(schedule).gap <= epsilon * (1 + 1e-15)


@pytest.mark.parametrize("schedule", [Schedule.doeblin(1e-320), Schedule.cycle([1, 1e-320])])
def test_restarts_rarer_than_floats_can_wait_for_are_certified(schedule):
    """1/ε is no float any more: as good as never, which is no fault."""
    certificate = certify(schedule)
    assert 0 < certificate.gap <= 1.1e-320
    assert certificate.expected_draw_cost == certificate.mixing_time(0.01) == math.inf


@pytest.mark.parametrize(
    "exits",
    [
        [1, 1e-308, 1e-320], [1, 1e-310, 1e-310], [1, 1, 1e-309], [0.5, 1e-320, 1e-320],
        [1, 1e-305, 1e-315], [1, 1e-200, 1e-200], [1e-300, 1e-300, 1e-300],
    ],
)  # fmt: skip
def test_stages_that_hardly_move_are_not_called_periodic(exits):
    """They stay where they are; that floats cannot tell how long is another reason."""
    certificate = certify(Schedule.cycle(exits))
    assert certificate.gap >= 0 and certificate.expected_draw_cost > 1e199
    assert "periodic" not in certificate.theorem


def test_a_single_stage_restarts_always():
    certificate = certify(Schedule([[1.0]]))
    assert (certificate.steps, certificate.expected_draw_cost) == (1, 1)
    assert certificate.gap == pytest.approx(1)


def test_bad_arguments_are_named():
    with pytest.raises(InputError, match=r"total variation 1 is outside"):
        certify(Schedule.doeblin(0.5)).mixing_time(1.0)
    with pytest.raises(InputError, match=r"total variation 'a' is no number"):
        certify(Schedule.doeblin(0.5)).mixing_time("a")
    with pytest.raises(InputError, match=r"1 ≤ a ≤ b, got a = 3, b = 2"):
        gamma(Schedule.doeblin(0.5), 3, 2)
    with pytest.raises(InputError, match=r"a = 1.5 must be a whole number"):
        gamma(Schedule.doeblin(0.5), 1.5, 2)
    with pytest.raises(InputError, match=r"a sum of 1,000,000,000 numbers"):  # 16 GB of them
        gamma(Schedule.cycle([1, 0.1]), 1, 10**9)
