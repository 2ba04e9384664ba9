"""Schedules: constructors, what they compute, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from doeblin import InputError
from doeblin.schedules import Schedule

from ..random_chains import schedules


def test_the_paper_cycle():
    schedule = Schedule.cycle([1, 0.04, 0.0002])
    expected = [[0, 1, 0], [0, 0.96, 0.04], [0.0002, 0, 0.9998]]
    np.testing.assert_allclose(schedule.matrix, expected)
    assert schedule.exits is not None
    np.testing.assert_allclose(schedule.exits, [1, 0.04, 0.0002])


def test_plain_doeblin_is_a_two_stage_schedule():
    schedule = Schedule.doeblin(0.25)
    assert schedule.num_stages == 2
    assert schedule.expected_draw_cost() == pytest.approx(4)
    assert schedule.steps_until_restart() == pytest.approx([4, 4])


def test_other_schedules_have_no_exit_rates():
    assert Schedule([[0.5, 0.2, 0.3], [1, 0, 0], [1, 0, 0]]).exits is None
    assert Schedule([[0.5, 0.2, 0.3], [0, 0, 1], [1, 0, 0]]).exits is None  # a cycle and more
    assert Schedule([[0, 1], [0.1, 0.9]], restart=1).exits is None  # that starts elsewhere


def test_schedules_are_values():
    assert Schedule.doeblin(0.1) == Schedule([[0.1, 0.9], [0.1, 0.9]])
    assert hash(Schedule.doeblin(0.1)) == hash(Schedule.doeblin(0.1))
    assert Schedule.doeblin(0.1) != Schedule.doeblin(0.2)
    with pytest.raises(ValueError, match="read-only"):
        Schedule.doeblin(0.1).matrix[0, 0] = 1


@given(schedules())
def test_stationary_law_is_invariant(schedule):
    law = schedule.stationary()
    np.testing.assert_allclose(law @ schedule.matrix, law, atol=1e-12)


@given(schedules())
def test_draw_cost_is_the_mean_age_plus_one(schedule):
    """E[L(L+1)/2] / E[L] for tours of length L, with both moments by first-step analysis."""
    away = schedule.matrix.copy()
    away[:, schedule.restart] = 0
    system = np.eye(schedule.num_stages) - away
    first = np.linalg.solve(system, np.ones(schedule.num_stages))
    second = np.linalg.solve(system, 1 + 2 * away @ first)
    length, square = first[schedule.restart], second[schedule.restart]
    assert schedule.expected_draw_cost() == pytest.approx((square + length) / (2 * length))


@pytest.mark.parametrize("epsilon", [0, -0.1, 1.5, float("nan")])
def test_epsilon_outside_its_range_is_named(epsilon):
    with pytest.raises(InputError, match=rf"epsilon = {epsilon:g} is outside \(0, 1\]"):
        Schedule.doeblin(epsilon)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0.5, 0.4], [0.1, 0.9]], r"row 0 of the stage matrix sums to 0.9 instead of 1"),
        ([[0.5, 0.1], [0.5, 0.9]], r"its columns do; transpose it"),
        ([[0.5, 0.5 + 1e-6], [0.5, 0.5]], r"row 0 of the stage matrix sums to 1\.000001[^;]*$"),
        ([[1.5, -0.5], [0.1, 0.9]], r"entry \[0\]\[0\] = 1.5 is not a probability"),
        ([[float("nan"), 1], [0.1, 0.9]], r"entry \[0\]\[0\] = nan is not a probability"),
        ([[0.5, 0.5]], r"must be square, got shape \(1, 2\)"),
        ([[0.5, 0.5], [1]], r"rows of equal length"),
        ([[1, 0], [0, 1]], r"no path from stage 1 to the restart stage 0"),
    ],
)
def test_bad_matrices_are_refused_by_name(matrix, message):
    with pytest.raises(InputError, match=message):
        Schedule(matrix)


def test_bad_restart_stage_and_exits_are_refused_by_name():
    with pytest.raises(InputError, match="restart stage 2 does not exist"):
        Schedule([[0.5, 0.5], [0.5, 0.5]], restart=2)
    with pytest.raises(InputError, match=r"exit rate δ_1 = 0 is outside \(0, 1\]"):
        Schedule.cycle([1, 0])
    with pytest.raises(InputError, match="at least two exit rates"):
        Schedule.cycle([1])
    with pytest.raises(InputError, match="exits = 'ab' must be a list of exit rates"):
        Schedule.cycle("ab")  # pyright: ignore[reportArgumentType]
    with pytest.raises(InputError, match=r"restart = 0\.5 must be a whole number"):
        Schedule([[0.5, 0.5], [0.5, 0.5]], restart=0.5)  # pyright: ignore[reportArgumentType]
