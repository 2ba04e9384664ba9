"""The engines against the slow reference, enumeration and their own promises."""

from __future__ import annotations

import functools
import itertools
import time

import numpy as np
import pytest

from doeblin import _errors
from doeblin._compiling import not_counted
from doeblin.formulas import Examples, search
from doeblin.formulas.engine import _chain as _engine
from doeblin.formulas.engine._bits import pack, unpack
from doeblin.formulas.engine._chain import Chain, Task
from doeblin.formulas.engine._rows import error_rows, row_width
from doeblin.formulas.engine._stages import (
    Method,
    Stage,
    focused_gibbs,
    one_stage,
    two_stage,
    zero_stage,
)
from doeblin.schedules import Schedule

from .reference import ReferenceChain

# Every kernel, and so all that can be compiled at once.
ALL_STAGES = Method(
    "all stages",
    (
        Stage(move="gibbs", cost="simplified", beta=0.3),
        Stage(move="metropolis", beta=1.0, single=0.0),
        Stage(move="gibbs", beta=2.0, focus=0.5),
        Stage(move="metropolis", cost="simplified", beta=0.5, single=0.5),
    ),
    Schedule(
        [
            [0.1, 0.6, 0.3, 0, 0],
            [0, 0.5, 0.1, 0.2, 0.2],
            [0, 0, 0.7, 0.2, 0.1],
            [0.1, 0.1, 0, 0.7, 0.1],
            [0.1, 0.1, 0.1, 0, 0.7],
        ]
    ),
)
METHODS = [
    zero_stage(beta=1.0),
    one_stage(beta=2.0, epsilon=0.02),
    two_stage(beta=1.5, exits=(0.2, 0.02)),
    focused_gibbs(focus=0.0, epsilon=0.05),
    focused_gibbs(beta=float("inf"), focus=0.5, epsilon=0.05),
    focused_gibbs(beta=0.7, focus=0.3, epsilon=0.1),
    focused_gibbs(epsilon=0.02),
    focused_gibbs(beta=1.0, epsilon=0.02),
    ALL_STAGES,
]


def random_task(seed: int, *, examples=70, pairs=20, atoms=40, weighted=False, prior=True) -> Task:
    """Random truth values: no formula fits them, so that chains run on."""
    rng = np.random.default_rng(seed)
    words, pair_words = -(-examples // 64), -(-pairs // 64)
    holds = rng.random((atoms, 64 * (words + 2 * pair_words))) < 0.6
    holds[:, examples : 64 * words] = False
    for k in range(2):
        holds[:, 64 * (words + k * pair_words) + pairs : 64 * (words + (k + 1) * pair_words)] = 0
    labels = rng.random(64 * words) < 0.5
    labels[examples:] = False
    return Task(
        np.ascontiguousarray(pack(holds).T),
        pack(labels),
        pairs=pair_words,
        shifts=rng.integers(0, 3, words + pair_words) if weighted else None,
        prior=rng.uniform(0.1, 4.0, atoms) if prior else None,
        neighbours=rng.integers(0, atoms, (atoms, 5)).astype(np.int32),
    )


SLICES = (1, 1, 2, 3, 5, 8, 13, 21, 34, 55)
OPTIONS = {
    "pairs": {"examples": 70, "pairs": 20},
    "uniform prior": {"examples": 128, "pairs": 0, "prior": False},
    "weights": {"examples": 90, "pairs": 70, "weighted": True},
}


def where(chain: Chain | ReferenceChain) -> tuple:
    best = chain.cost, chain.best.tolist()
    return chain.present.tolist(), chain.steps, chain.tours, best


@functools.cache
def reference_path(method: int, options: str, template: tuple[int, int]) -> list[tuple]:
    """Where the reference stands after each slice; it is slow, and walked once for all engines."""
    task = random_task(sum(template), **OPTIONS[options])
    reference = ReferenceChain(task, METHODS[method], template, seed=11)
    path = []
    for steps in SLICES:
        reference.run(max_steps=steps)
        path.append(where(reference))
    return path


def engines_of(method: Method) -> tuple[str, ...]:
    plain = all(stage.move == "gibbs" and stage.cost == "full" for stage in method.stages)
    return ("plain", "compiled", "both") if plain else ("compiled",)


def cases() -> list:
    """All kernels by weights are in the method of all stages, too: compiled alone, they are
    thorough. Without weights it is the other way round; but of two stages the verifier's tests
    have what is compiled for them."""

    def dear(options: str, number: int, engine: str) -> bool:
        whole = METHODS[number] is ALL_STAGES
        if METHODS[number].name == "2-stage":
            return True
        return engine != "plain" and whole == (options != "weights")

    return [
        pytest.param(
            options,
            number,
            engine,
            marks=pytest.mark.thorough if dear(options, number, engine) else (),
            id=f"{options}-{METHODS[number].name}-{engine}",
        )
        for options in OPTIONS
        for number, method in enumerate(METHODS)
        for engine in engines_of(method)
    ]


@pytest.mark.parametrize(("options", "number", "engine"), cases())
@pytest.mark.parametrize(
    "template", [(1, 1), (2, 3), pytest.param((3, 2), marks=pytest.mark.thorough)], ids=str
)
def test_engine_follows_the_reference_step_for_step(number, options, template, engine, monkeypatch):
    monkeypatch.setattr(_engine, "_PLAIN", float("inf"))
    monkeypatch.setattr(_engine, "_COMPILED", set())
    task = random_task(sum(template), **OPTIONS[options])
    chain = Chain(task, METHODS[number], template, seed=11)
    if engine == "compiled":
        chain.compile()
    for steps, expected in zip(SLICES, reference_path(number, options, template), strict=True):
        chain.run(max_steps=steps)
        assert where(chain) == expected
        if engine == "both" and steps == 8:
            chain.compile()
    assert (len(_engine._COMPILED) == 0) == (engine == "plain")


@pytest.mark.parametrize(
    ("method", "atoms"),
    [
        pytest.param(METHODS[2], 20, id="2-stage", marks=pytest.mark.thorough),
        pytest.param(METHODS[3], 300, id="Gibbs"),
    ],
)
def test_examples_beyond_the_specialised_widths_follow_the_reference(method, atoms):
    """Also more atoms than fit a vector, and more rows than fit a byte."""
    task = random_task(5, examples=1025, pairs=0, atoms=atoms)
    chain = Chain(task, method, (2, 2), seed=3)
    reference = ReferenceChain(task, method, (2, 2), seed=3)
    chain.run(max_steps=60)
    reference.run(max_steps=60)
    assert chain.present.tolist() == reference.present.tolist()


# What is compiled for several stages is sliced by the test of the reference, too.
@pytest.mark.parametrize(
    "method",
    [
        pytest.param(
            method,
            id=method.name,
            marks=pytest.mark.thorough if method.name in ("2-stage", "all stages") else (),
        )
        for method in METHODS
    ],
)
def test_the_path_does_not_depend_on_how_it_is_sliced(method):
    task = random_task(9)
    whole = Chain(task, method, (2, 2), seed=4)
    whole.run(max_steps=3000)
    sliced = Chain(task, method, (2, 2), seed=4)
    for steps in itertools.cycle((1, 7, 100, 999)):
        sliced.run(max_steps=min(steps, 3000 - sliced.steps))
        if sliced.steps == 3000:
            break
    assert sliced.present.tolist() == whole.present.tolist()
    assert sliced.trace == whole.trace


def test_a_long_search_is_compiled_and_goes_on_along_the_same_path(monkeypatch):
    monkeypatch.setattr(_engine, "_COMPILED", set())
    paths = []
    for plain in (float("inf"), 0.0, 0.01):
        monkeypatch.setattr(_engine, "_PLAIN", plain)
        monkeypatch.setattr(_engine, "_plain_seconds", [])
        _engine._COMPILED.clear()
        chain = Chain(random_task(9), focused_gibbs(epsilon=0.02), (2, 2), seed=4)
        chain.run(max_steps=900, overtime=300)
        assert bool(_engine._COMPILED) == (plain < 1)
        paths.append((chain.steps, chain.present.tolist(), chain.trace))
    assert paths[0] == paths[1] == paths[2]


def test_time_limits_leave_out_compiling(monkeypatch):
    """A compiler that takes a second, and a limit of a tenth of that."""
    compile_ = Chain.compile

    def slow(self):
        with not_counted():
            time.sleep(1.0)
            compile_(self)

    monkeypatch.setattr(Chain, "compile", slow)
    monkeypatch.setattr(_engine, "_PLAIN", 0.0)
    monkeypatch.setattr(_engine, "_COMPILED", set())
    points = np.random.default_rng(0).integers(-9, 10, (60, 3))
    found = search(
        Examples(points, points.sum(axis=1) % 2 == 0), max_steps=50, seconds=0.1, template=(1, 1)
    )
    assert found.steps > 10
    assert found.seconds < 0.9


def _enumerated(task: Task, template: tuple[int, int], beta: float, uniform: bool):
    """Every formula and its stationary probability, ∝ prior · exp(-β · cost)."""
    n, m = template
    prior = np.ones(task.num_atoms) if uniform else task.prior_weights().astype(float)
    formulas = list(itertools.product(range(task.num_atoms), repeat=n * m))
    weights = np.array(
        [
            np.prod(prior[list(codes)]) * np.exp(-beta * task.cost(np.reshape(codes, (n, m))))
            for codes in formulas
        ]
    )
    return formulas, weights / weights.sum()


@pytest.mark.parametrize(
    ("stage", "uniform"),
    [
        (Stage(move="metropolis", beta=0.4, single=0.5), True),
        (Stage(move="gibbs", beta=0.4), False),
    ],
    ids=["metropolis", "gibbs"],
)
def test_stationary_frequencies_match_enumeration(stage, uniform):
    task = _tiny_task()
    formulas, law = _enumerated(task, (2, 1), stage.beta, uniform)
    index = {codes: k for k, codes in enumerate(formulas)}
    # Independent chains, each long enough to forget its start; one observation from each, so that
    # the counts are multinomial and their chi-square statistic has its textbook law.
    counts = np.zeros(len(formulas))
    runs = 4000
    method = Method("one kernel", (stage,), None)
    for seed in range(runs):
        chain = Chain(task, method, (2, 1), seed=seed * 7919)
        chain.run(max_steps=150)
        counts[index[tuple(chain.present.ravel())]] += 1
    statistic = float(((counts - runs * law) ** 2 / (runs * law)).sum())
    freedom = len(formulas) - 1
    assert (runs * law).min() > 5
    assert statistic < freedom + 4 * np.sqrt(2 * freedom)


@pytest.mark.thorough
def test_stationary_law_of_a_staged_chain_matches_enumeration():
    """Restarts and two kernels under one schedule: the joint chain solved exactly.

    A third one is never reached: with it, and with weights, what is compiled is that of the test
    of the reference."""
    task = _tiny_task(shifts=[1, 0])
    matrix = np.array([[0.1, 0.9, 0], [0, 0.6, 0.4], [0.3, 0, 0.7]])
    stages = (
        Stage(move="gibbs", cost="simplified", beta=0.2),
        Stage(move="gibbs", beta=0.5),
    )
    schedule = Schedule(np.block([[matrix, np.zeros((3, 1))], [np.eye(1, 4)]]))
    method = Method("staged", (*stages, Stage(move="metropolis")), schedule)
    kernels = [_restart_matrix(task), *(_gibbs_matrix(task, stage) for stage in stages)]
    joint = np.block([[matrix[z, y] * kernels[y] for y in range(3)] for z in range(3)])
    law = np.linalg.matrix_power(joint, 1 << 12)[0].reshape(3, -1).sum(axis=0)
    counts = np.zeros(task.num_atoms)
    runs = 4000
    for seed in range(runs):
        chain = Chain(task, method, (1, 1), seed=seed * 104729)
        chain.run(max_steps=60)
        counts[chain.present[0, 0]] += 1
    statistic = float(((counts - runs * law) ** 2 / (runs * law)).sum())
    freedom = task.num_atoms - 1
    assert statistic < freedom + 4 * np.sqrt(2 * freedom)


def _tiny_task(shifts: list[int] | None = None) -> Task:
    holds = np.array([[1, 0, 1, 0, 1], [1, 1, 0, 0, 0], [0, 1, 1, 1, 0], [0, 0, 0, 1, 1]], bool)
    # The first and the last example are the same bits with both labels, so no formula is perfect.
    # They stand 64 bits later: two words, as in the other tests, spare compiling for one.
    holds = np.concatenate([holds, np.zeros((4, 59), bool), holds[:, :1]], axis=1)
    labels = pack([True, False, True, True, False] + [False] * 60)
    ring = np.array([[1, 3], [2, 0], [3, 1], [0, 2]], dtype=np.int32)
    return Task(
        np.ascontiguousarray(pack(holds).T),
        labels,
        shifts=shifts,
        prior=[1, 2, 3, 1.5],
        neighbours=ring,
    )


def _restart_matrix(task: Task):
    prior = task.prior_weights() / task.prior_weights().sum()
    return np.tile(prior, (task.num_atoms, 1))


def _gibbs_matrix(task: Task, stage: Stage):
    holds = unpack(np.ascontiguousarray(task.truth().T), 65)
    labels = unpack(task.label_words(), 65)
    weights = np.where(np.arange(65) < 64, 2, 1)  # as the test has them
    if stage.cost == "full":
        costs = (holds != labels) @ weights
    else:
        costs = stage.false_positive * (holds & ~labels) @ weights
        costs = costs + stage.false_negative * (~holds & labels) @ weights
    weights = task.prior_weights() * np.exp(-stage.beta * costs)
    return np.tile(weights / weights.sum(), (task.num_atoms, 1))


def test_a_start_is_where_the_chain_begins():
    task = random_task(2)
    chain = Chain(task, focused_gibbs(), (2, 2), seed=1, start=[[3, 4], [5, 6]])
    assert chain.best.tolist() == [[3, 4], [5, 6]]
    assert chain.cost == task.cost([[3, 4], [5, 6]])
    with pytest.raises(_errors.InputError, match="2 × 2 numbers"):
        Chain(task, focused_gibbs(), (2, 2), seed=1, start=[[3, 4], [5, 40]])


def test_masked_examples_cost_nothing():
    task = random_task(3, pairs=20)
    mask = np.zeros(3, dtype=np.uint64)
    masked = Task(task.truth(), task.label_words(), pairs=1, mask=mask)
    assert masked.cost([[0, 1]]) == 0


def test_a_slice_of_time_ends_and_asks_whether_to_stop():
    """How punctually is a benchmark's affair: nothing would end this chain but the clock."""
    task = random_task(4, atoms=3000, examples=1000)
    chain = Chain(task, focused_gibbs(), (3, 3), seed=1)
    chain.run(max_steps=1)
    chain.run(seconds=0.05)
    steps = chain.steps
    assert steps > 1 and not chain.solved
    asked = []
    chain.run(should_stop=lambda: asked.append(chain.steps) or len(asked) == 3)
    assert len(asked) == 3
    assert steps < asked[0] < asked[1] < asked[2] == chain.steps


def test_overtime_ends_at_a_restart():
    task = random_task(6)
    chain = Chain(task, focused_gibbs(epsilon=0.05), (2, 2), seed=8)
    chain.run(max_steps=100, overtime=1000)
    assert 100 <= chain.steps < 1100
    tours = chain.tours
    chain.run(max_steps=1)
    assert chain.tours == tours


def test_a_sweep_tries_every_atom_once_and_then_only_mends():
    """Nothing lowers this cost and nothing mends it, so that changes end with the first sweep."""
    task = Task(np.ascontiguousarray(pack(np.ones((3, 1), dtype=bool)).T), pack([False]))
    method = Method("sweeps", (Stage(move="gibbs", beta=0.0, sweep=True),), None)
    ends = set()
    for seed in range(20):
        chain = Chain(task, method, (2, 2), seed=seed, start=np.zeros((2, 2)))
        chain.run(max_steps=4)
        end = chain.present.tolist()
        chain.run(max_steps=50)
        assert chain.present.tolist() == end
        ends |= {(place, code) for place, code in enumerate(np.ravel(end).tolist())}
    # Every place was redrawn in some run, with each of the three atoms.
    assert len(ends) == 12


def test_error_rows_say_who_errs_where():
    rng = np.random.default_rng(1)
    holds = rng.random((300, 3 * 64)) < 0.5
    labels = rng.random(64) < 0.5
    rows = error_rows(np.ascontiguousarray(pack(holds).T), pack(labels), 1)
    shown = unpack(rows.reshape(-1, row_width(300)), 300)
    assert row_width(300) == 8
    assert np.array_equal(shown[:64], (holds[:, :64] != labels).T)
    sources, targets = holds[:, 64:128].T, holds[:, 128:].T
    assert np.array_equal(shown[64:256], np.concatenate([sources, ~targets, sources & ~targets]))
    assert shown[256].all()
    assert not shown[257].any()
    assert not unpack(rows.reshape(-1, 8), 512)[256, 300:].any()


def test_bits_are_packed_and_unpacked():
    flags = np.random.default_rng(0).random((3, 130)) < 0.5
    assert np.array_equal(unpack(pack(flags), 130), flags)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"prior": [1.0, -1.0]}, "2 positive numbers"),
        ({"pairs": 1}, "1 words, but 1 of labels"),
        ({"shifts": [40]}, "weigh"),
        ({"shifts": [-1]}, "not negative"),
    ],
)
def test_a_task_that_makes_no_sense_is_refused(change, message):
    good = {"table": np.array([[1, 2]], np.uint64), "labels": np.array([1], np.uint64)}
    Task(**good)
    with pytest.raises(_errors.InputError, match=message):
        Task(**{**good, **change})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"move": "metropolis", "focus": 0.5}, "focus needs move='gibbs'"),
        ({"move": "gibbs", "cost": "simplified", "sweep": True}, "sweep needs move='gibbs'"),
        ({"move": "gibbs", "focus": 1.5}, "focus = 1.5 is not a probability"),
    ],
)
def test_a_stage_that_makes_no_sense_is_refused(options, message):
    with pytest.raises(_errors.InputError, match=message):
        Stage(**options)
