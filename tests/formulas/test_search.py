"""Searching: what is found, the paper's methods, limits, and the race on executors."""

from __future__ import annotations

import itertools
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

from doeblin._errors import InputError
from doeblin.formulas import (
    Chain,
    Examples,
    Formula,
    Method,
    Space,
    Stage,
    Task,
    focused_gibbs,
    minimised,
    one_stage,
    pack,
    search,
    two_stage,
    zero_stage,
)
from doeblin.schedules import Schedule, certify

BOX = np.array(list(itertools.product(range(-2, 3), repeat=3)))
PAPER = Formula.parse("x1 != 0 or x2 == x3")


def labelled(formula: Formula, points=BOX, **options) -> Examples:
    return Examples(points, formula(points), variables=formula.variables, **options)


def unsolvable() -> Examples:
    rng = np.random.default_rng(0)
    points = rng.integers(-50, 50, (120, 2))
    return Examples(points, rng.random(120) < 0.5)


def test_the_papers_four_examples_are_explained():
    data = Examples([[1, 2, 3], [1, 4, 4], [0, 1, 0], [0, 2, 2]], [True, True, False, True])
    found = search(data)
    assert found.solved
    assert found.formula(data.points).tolist() == data.labels.tolist()


def test_the_papers_formula_is_found_word_for_word():
    found = search(labelled(PAPER), seed=1)
    assert (str(found.formula), found.errors) == ("x1 != 0 or x2 == x3", 0)


@pytest.mark.parametrize(
    "method",
    [
        zero_stage(beta=2.0),
        one_stage(beta=2.0),
        pytest.param(two_stage(beta=2.0), marks=pytest.mark.thorough),  # compiled for it alone
        focused_gibbs(),
    ],
    ids=lambda method: method.name,
)
def test_every_method_finds_the_papers_formula_in_the_papers_space(method):
    found = search(labelled(PAPER), method=method, space=Space.grid(), template=(3, 2), seed=5)
    assert found.errors == 0
    assert np.array_equal(found.formula(BOX), PAPER(BOX))
    assert found.steps == found.trace[-1].step
    assert [point.cost for point in found.trace] == sorted(
        {point.cost for point in found.trace}, reverse=True
    )


def test_the_two_stage_method_is_the_papers_and_certified():
    method = two_stage()
    assert method.schedule == Schedule.cycle([1, 0.04, 0.0002])
    assert [stage.cost for stage in method.stages] == ["simplified", "full"]
    assert certify(method.schedule).gap > 0.0002 / 78


def test_stages_and_schedule_of_ones_own():
    stages = [
        Stage(move="gibbs", beta=1.0),
        Stage(move="metropolis", beta=4.0),
        Stage(move="gibbs", beta=4.0, focus=0.5),
    ]
    schedule = Schedule.cycle([1, 0.2, 0.1, 0.05])
    found = search(labelled(PAPER), stages=stages, schedule=schedule, template=(2, 1))
    assert found.errors == 0
    with pytest.raises(InputError, match="2 stages besides the restart, but 1 were given"):
        search(labelled(PAPER), stages=stages[:1], schedule=two_stage().schedule)
    with pytest.raises(InputError, match="needs its stages"):
        search(labelled(PAPER), schedule=schedule)


def test_same_seed_same_answer():
    data = labelled(Formula.parse("(x <= 3 and y >= 1) or x + y == 0"), points=BOX[:, :2] * 3)
    first, second = (search(data, seed=7) for _ in range(2))
    assert (first.formula, first.steps, first.trace) == (second.formula, second.steps, second.trace)


def test_templates_grow_until_one_fits():
    target = Formula.parse("(x <= -3 and y >= 1) or (x >= 4 and y <= 0) or x == y")
    points = np.array(list(itertools.product(range(-9, 10), repeat=2)))
    found = search(labelled(target, points), seed=2)
    assert found.errors == 0
    assert found.template[0] >= 3


def test_thirty_variables_with_sparse_atoms_and_constants_of_the_data():
    rng = np.random.default_rng(3)
    points = rng.integers(-20, 21, (400, 30))
    labels = ((points[:, 3] + points[:, 17] <= 5) & (points[:, 8] >= -3)) | (points[:, 20] < -12)
    found = search(Examples(points, labels), seed=1)
    assert found.errors == 0
    fresh = rng.integers(-20, 21, (2000, 30))
    truth = ((fresh[:, 3] + fresh[:, 17] <= 5) & (fresh[:, 8] >= -3)) | (fresh[:, 20] < -12)
    # The formula is the target's, not a memory of 400 points: new points agree as well.
    assert (found.formula(fresh) == truth).mean() > 0.95


def test_coefficients_and_constants_by_range_and_by_list():
    target = Formula.parse("3*x - 2*y <= 7")
    points = np.array(list(itertools.product(range(-6, 7), repeat=2)))
    space = Space(coefficients=range(-3, 4), constants=[0, 7], relations=["<="])
    found = search(labelled(target, points), space=space)
    assert str(found.formula) == "3*x <= 2*y + 7"


def test_implications_pull_the_formula_along():
    pairs = [[[k], [k + 1]] for k in range(50)]
    found = search(Examples([[0], [-1]], [True, False], implications=pairs))
    assert found.errors == 0
    assert found.formula(np.arange(51)[:, None]).all()
    only = search(Examples([], [], variables=["x"], implications=[[[0], [1]]]))
    assert only.errors == 0


def test_heavier_examples_win():
    points = [[0], [1], [2], [3]]
    labels = [True, False, True, False]
    for weights, expected in (([1, 1, 9, 9], [2, 3]), ([9, 9, 1, 1], [0, 1])):
        space = Space(relations=["<="])
        data = Examples(points, labels, weights=weights)
        found = search(data, template=(1, 1), space=space, max_steps=200)
        inside = found.formula(np.array(points))
        assert [bool(inside[k]) for k in expected] == [labels[k] for k in expected]
        assert found.cost == data.cost(found.formula)


def test_contradictions_do_not_keep_the_search_from_ending():
    found = search(Examples([[0], [0], [0], [5]], [True, False, True, False]))
    assert (found.solved, found.errors, found.reason) == (True, 1, "solved")


def test_a_start_is_begun_from():
    start = Formula.parse("x1 != 0 or x2 >= x3")
    found = search(labelled(PAPER), start=start, seed=3)
    assert found.trace[0].step == 0
    assert found.trace[0].cost == labelled(PAPER).errors(start)
    assert found.errors == 0
    ready = search(labelled(PAPER), start=PAPER)
    assert (ready.formula, ready.steps) == (PAPER, 0)
    with pytest.raises(InputError, match="does not fit the template"):
        search(labelled(PAPER), start=PAPER, template=(1, 1))
    with pytest.raises(InputError, match="formula over a, but the examples"):
        search(labelled(PAPER), start=Formula.parse("a <= 1"))


def test_limits_end_the_search_and_the_best_is_reported():
    data = unsolvable()
    found = search(data, max_steps=500)
    assert (found.reason, found.solved, found.steps) == ("steps", False, 500)
    assert found.errors == data.errors(found.formula) > 0
    found = search(data, seconds=0.2)
    assert found.reason == "time"
    assert found.seconds < 1.5
    seen = []
    found = search(data, progress=seen.append, should_stop=lambda: len(seen) >= 2)
    assert found.reason == "stopped"
    assert seen[-1].cost == found.cost or found.cost <= seen[-1].cost


def test_memory_does_not_grow_with_steps():
    import tracemalloc

    def peak(steps: int) -> int:
        tracemalloc.start()
        search(unsolvable(), template=(2, 2), max_steps=steps)
        _, highest = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return highest

    search(unsolvable(), template=(2, 2), max_steps=10)
    short, long = peak(100), peak(20_000)
    assert long < 1.2 * short + 100_000


def test_one_worker_gives_the_serial_answer():
    data = labelled(Formula.parse("(x <= 3 and y >= 1) or x + y == 0"), points=BOX[:, :2] * 3)
    serial = search(data, seed=4)
    with ThreadPoolExecutor(1) as executor:
        for chains in (1, 3):
            first = search(data, seed=4, executor=executor, chains=chains)
            again = search(data, seed=4, executor=executor, chains=chains)
            assert (first.formula, first.steps) == (again.formula, again.steps)
            assert first.errors == 0
            if chains == 1:
                assert (first.formula, first.steps) == (serial.formula, serial.steps)


@pytest.mark.parametrize("method", [focused_gibbs(), zero_stage(beta=2.0)], ids=lambda m: m.name)
def test_a_chain_in_legs_is_the_same_chain(method):
    """A fixed template: legs carry the chain on through snapshots, exactly."""
    data = unsolvable()
    options = {"method": method, "template": (2, 2), "max_steps": 3_000_000, "seed": 1}
    if method.schedule is not None:
        options["max_steps"] = 30_000
    serial = search(data, **options)
    with ThreadPoolExecutor(1) as executor:
        raced = search(data, executor=executor, chains=1, **options)
    assert raced.steps >= serial.steps
    assert raced.trace[: len(serial.trace)] == serial.trace


def test_a_race_of_processes_is_won():
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        found = search(labelled(PAPER), executor=executor, seconds=120)
        assert found.errors == 0
        late = search(unsolvable(), executor=executor, seconds=0.3)
    assert late.reason == "time"


def test_a_race_on_a_dask_cluster_is_won():
    distributed = pytest.importorskip("distributed")  # Dask is optional for users
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        found = search(labelled(PAPER), executor=client.get_executor(), chains=2, seconds=120)
    assert found.errors == 0


def test_chains_need_an_executor():
    with pytest.raises(InputError, match="needs an executor"):
        search(labelled(PAPER), chains=4)


def test_minimising_drops_what_is_not_needed_and_prefers_likely_atoms():
    truth = np.array([[1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 0, 0], [0, 0, 0, 1]], bool)
    task = Task(pack(truth).T.copy(), pack([True, True, False, False]), prior=[1, 1, 5, 1])
    assert task.cost([[0, 1], [0, 3]]) == 0
    assert minimised(task, [[0, 1], [0, 3]]) == [[2]]


def test_the_restart_curve_of_one_stage_follows_from_runs_without_restarts():
    """E[steps] under restarts of rate ε, from the law of the steps without them."""
    from doeblin.reproduce.formulas import predicted_steps

    rng = np.random.default_rng(0)
    points = rng.integers(-3, 4, (100, 3))
    target = Formula.parse("(x <= 0 and y + z <= 1) or x >= y + z")
    data = labelled(target, points)
    space = Space.grid()
    free = _steps(data, space, zero_stage(beta=1.0), 400)
    epsilon = 0.01
    method = Method("restarted", zero_stage(beta=1.0).stages, Schedule.doeblin(epsilon))
    measured = _steps(data, space, method, 400)
    predicted, error = predicted_steps(free, epsilon)
    error = np.hypot(error, measured.std() / np.sqrt(len(measured)))
    assert abs(measured.mean() - predicted) < 4 * error
    assert error < 0.2 * predicted


def _steps(data: Examples, space: Space, method: Method, runs: int) -> np.ndarray:
    from doeblin.formulas import Problem, prepared

    task = prepared(Problem(data, space, method)).task
    chains = [Chain(task, method, (2, 2), seed=seed * 6151) for seed in range(runs)]
    assert all(chain.run(max_steps=5_000_000) for chain in chains)
    return np.array([chain.steps for chain in chains])
