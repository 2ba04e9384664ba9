"""Training: it learns, it is deterministic, and it survives being killed."""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from safetensors.numpy import load_file

from doeblin import InputError
from doeblin._checkpoint import remove_leftovers
from doeblin._seeds import SeedKeys
from doeblin.learning import (
    Dataset,
    FixedHorizon,
    Forward,
    PathEstimate,
    RestartLikelihood,
    Reversal,
    fit,
    likelihood,
    log_likelihood,
)
from doeblin.learning._step import Solver

from .models import NUM_STATES, PLAIN, noisy

ESTIMATOR = Reversal(FixedHorizon(0.3, steps=4), num_walks=4)
OBJECTIVE = likelihood(ESTIMATOR, PLAIN.build)


@functools.cache
def _law():
    return jax.jit(PLAIN.law)


def data(count: int, seed: int) -> list[tuple[None, np.ndarray]]:
    """Exact draws from the known chain."""
    law = np.asarray(_law()(PLAIN.parameters), dtype=np.float64)
    draws = np.random.default_rng(seed).choice(len(law), size=count, p=law / law.sum())
    return [(None, np.array(draw, dtype=np.int32)) for draw in draws]


def start() -> dict[str, jax.Array]:
    return jax.tree.map(jnp.zeros_like, PLAIN.parameters)


@pytest.mark.thorough
def test_training_recovers_the_log_likelihood_of_the_chain_that_drew_the_data(tmp_path: Path):
    found = fit(
        OBJECTIVE,
        start(),
        data(1024, 0),
        optimiser=optax.adagrad(0.3),
        batch_size=128,
        epochs=25,
        validation=data(1024, 1),
        patience=10,
        metrics=tmp_path / "metrics.jsonl",
        seed=3,
    )
    # On data that training has never seen: exact for both parameters, whatever estimates said.
    test = data(1024, 2)
    states = np.array([int(y) for _, y in test])
    learned = np.log(np.asarray(PLAIN.law(found.parameters)))[states]
    known = np.log(np.asarray(PLAIN.law(PLAIN.parameters)))[states]
    difference = learned - known
    assert abs(difference.mean()) <= 3 * difference.std(ddof=1) / np.sqrt(len(difference))
    estimate = log_likelihood(OBJECTIVE, found.parameters, test, batch_size=128)
    assert estimate.is_lower_bound
    # Each datum's estimate lies below by half its squared error, to second order.
    error = estimate.standard_error
    gap = len(test) * error**2 / 2
    assert learned.mean() - 2 * gap - 4 * error <= estimate.mean <= learned.mean() + 4 * error

    rows = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert len(rows) == len(found.history)
    assert rows[-1]["log_likelihood"] > rows[0]["log_likelihood"]
    assert {"epoch", "steps", "effective_walks", "validation"} <= set(rows[0])
    assert found.table().row_count == len(rows)


def test_the_seed_determines_the_result():
    quick = likelihood(Forward(FixedHorizon(0.4, steps=2), num_walks=2), PLAIN.build)
    results = [
        fit(quick, start(), data(64, 0), batch_size=16, epochs=2, seed=seed).parameters
        for seed in (1, 1, 2)
    ]
    same, again, other = (np.asarray(result["A"]) for result in results)
    assert np.array_equal(same, again)
    assert not np.array_equal(same, other)


def test_log_likelihoods_are_means_over_all_examples():
    """Whatever fills up the last batch; the errors of examples are independent."""

    def known(key, parameters, example) -> PathEstimate:
        weights = jnp.stack([jnp.array(1.0), 1.0 + example[1]])
        value = jnp.log(weights.mean())
        return PathEstimate(value, jnp.log(weights), jnp.array(1.0), jnp.zeros((2, 2)))

    numbers = np.arange(7)
    examples = [(None, np.array(number, np.int32)) for number in numbers]
    found = log_likelihood(known, start(), examples, batch_size=3)
    assert found.mean == pytest.approx(np.log1p(numbers / 2).mean(), rel=1e-5)
    errors = numbers / 2 / (1 + numbers / 2)
    assert found.standard_error == pytest.approx(np.sqrt((errors**2).sum()) / 7, rel=1e-5)
    # Each batch has a key of its own.
    one, two = (log_likelihood(noisy, start(), examples[:1] * n, batch_size=1) for n in (1, 2))
    assert one.mean != two.mean


def test_only_what_is_trainable_is_trained():
    trainable = {"u": True, "A": False, "epsilon": False}
    found = fit(
        SIMPLE, start(), data(64, 0), batch_size=16, epochs=1, trainable=trainable
    ).parameters
    assert np.any(found["u"] != 0)
    assert np.all(found["A"] == 0) and found["epsilon"] == 0


@pytest.mark.parametrize("patience", [1, 3])
def test_early_stopping_keeps_the_best(patience: int):
    found = fit(
        likelihood(RestartLikelihood(), PLAIN.build),
        start(),
        data(8, 0),
        optimiser=optax.sgd(2.0),
        batch_size=8,
        epochs=60,
        validation=data(200, 5),
        patience=patience,
    )
    assert found.stopped_early
    values = [row["validation"] for row in found.history]
    assert len(values) < 60 and np.argmax(values) == len(values) - 1 - patience
    states = [int(y) for _, y in data(200, 5)]
    best = np.mean(np.log(jax.nn.softmax(found.parameters["u"]))[np.array(states)])
    np.testing.assert_allclose(best, max(values), atol=1e-5)


def train(checkpoint: str) -> dict[str, np.ndarray]:
    found = fit(
        noisy,
        start(),
        data(256, 0),
        batch_size=8,
        epochs=6,
        validation=data(32, 1),
        checkpoint=checkpoint,
        checkpoint_every=3,
        seed=7,
    )
    return {name: np.asarray(leaf) for name, leaf in found.parameters.items()}


WORKER = """
import sys
import numpy as np
from tests.learning.test_fit import train

np.savez(sys.argv[2], **train(sys.argv[1]))
"""


def worker(checkpoint: Path, result: Path) -> subprocess.Popen[bytes]:
    root = Path(__file__).parents[2]
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "PYTHONPATH": str(root)}
    arguments = [sys.executable, "-c", WORKER, str(checkpoint), str(result)]
    return subprocess.Popen(arguments, env=environment, cwd=root)


@pytest.mark.thorough  # `tests/devices/test_processes.py` kills one of two
@pytest.mark.parametrize("checkpoints", [(1,), (1, 4)], ids=["once", "twice"])
def test_killed_and_resumed_it_ends_with_the_same_bits(tmp_path: Path, checkpoints: tuple):
    """Resumed in this process; who is killed twice, the second time on the way from the checkpoint
    of the first, in a third."""
    expected = train(str(tmp_path / "whole.safetensors"))
    checkpoint, result = tmp_path / "killed.safetensors", tmp_path / "killed.npz"
    kills = 0
    for wanted in checkpoints:
        process = worker(checkpoint, result)
        before = checkpoint.stat().st_mtime_ns if checkpoint.exists() else 0
        seen = 0
        # Let it write a few checkpoints, then kill it without warning.
        while process.poll() is None and seen < wanted:
            time.sleep(0.002)
            now = checkpoint.stat().st_mtime_ns if checkpoint.exists() else 0
            seen += now != before
            before = now
        process.send_signal(signal.SIGKILL)
        kills += process.wait(timeout=60) == -signal.SIGKILL
        load_file(checkpoint)
    assert kills >= 1 and not result.exists()
    if len(checkpoints) == 1:
        found = train(str(checkpoint))
    else:
        assert worker(checkpoint, result).wait(timeout=300) == 0
        found = np.load(result)
    for name in expected:
        assert expected[name].tobytes() == found[name].tobytes()
    assert not list(tmp_path.glob(".*.tmp"))


@pytest.mark.parametrize(
    ("examples", "options", "message"),
    [
        ([0, 1], {}, r"a pair \(x, y\), .* this is an array of shape \(\)"),
        ([(0, 1, 0)], {}, r"a pair \(x, y\)"),
        ([(None, "b"), (None, "ab")], {}, "hold 'b', which is no number"),
        ([(None, 0)], {"validation": []}, "`validation` has no examples"),
        ([(None, 0)], {"checkpoint": "."}, r"checkpoint = '\.' is a folder"),
        *(
            ([(None, 0)], {"seed": seed}, message)
            for seed, message in (
                (-1, "seed = -1 must be at least 0"),
                (2**63, r"seed = 9223372036854775808 must be below 2\*\*63"),
                (1.5, "seed = 1.5 must be a whole number"),
                ("a", "seed = 'a' must be a whole number"),
                (jax.random.key(0), "(?s)seed = .* must be a whole number"),
            )
        ),
    ],
)
def test_what_are_no_examples_is_said(examples, options, message):
    objective = likelihood(RestartLikelihood(), PLAIN.build)
    with pytest.raises(InputError, match=message):
        fit(objective, start(), examples, epochs=1, batch_size=2, **options)
    if "seed" in options:
        with pytest.raises(InputError, match=message):
            log_likelihood(objective, start(), examples, **options)


def test_seeds_are_whole_numbers_of_any_type():
    found = [
        fit(SIMPLE, start(), data(8, 0), epochs=1, seed=seed).parameters["u"]
        for seed in (3, np.int64(3), jnp.int32(3))
    ]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    fit(SIMPLE, start(), data(8, 0), epochs=1, seed=2**63 - 1)


def test_leftovers_of_the_dead_are_removed_and_not_what_others_are_writing(tmp_path):
    path = tmp_path / "run.safetensors"
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    others = [f".other.safetensors.{dead.pid}.tmp", f".run.safetensors.{os.getppid()}.tmp"]
    gone = [f".run.safetensors.{dead.pid}.tmp", ".run.safetensors.odd.tmp"]
    for name in (*others, *gone):
        (tmp_path / name).touch()
    remove_leftovers(path)
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(others)


# Quick to compile, where what is trained does not matter.
SIMPLE = likelihood(RestartLikelihood(), PLAIN.build)


@pytest.fixture
def trained(tmp_path: Path) -> Path:
    path = tmp_path / "run.safetensors"
    fit(SIMPLE, start(), data(16, 0), batch_size=8, epochs=1, checkpoint=path)
    return path


def corrupt_body(content: bytes) -> bytes:
    return content[:-5] + bytes([content[-5] ^ 1]) + content[-4:]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda content: content[: len(content) // 2], "damaged or no checkpoint"),
        (lambda content: b"", "damaged or no checkpoint"),
        (lambda content: b"PK\x03\x04 not ours", "damaged or no checkpoint"),
        (corrupt_body, "digest does not match"),
    ],
    ids=["truncated", "empty", "foreign", "one bit"],
)
def test_a_damaged_checkpoint_is_refused_and_left_alone(trained: Path, damage, message: str):
    trained.write_bytes(damage(trained.read_bytes()))
    content = trained.read_bytes()
    with pytest.raises(InputError, match=message) as refusal:
        fit(SIMPLE, start(), data(16, 0), batch_size=8, epochs=2, checkpoint=trained)
    assert str(trained) in str(refusal.value)
    assert trained.read_bytes() == content


def test_a_checkpoint_of_another_run_is_refused_and_left_alone(trained: Path):
    content = trained.read_bytes()
    smaller = {**start(), "u": jnp.zeros(4)}
    more = {**start(), "extra": jnp.zeros(1)}
    attempts = [
        (start(), data(16, 1), {}, "written with data"),
        (start(), data(16, 0), {"seed": 5}, "written with seed = 0, not 5"),
        (smaller, data(16, 0), {}, r"float(32|64)\[5\] in it, but float(32|64)\[4\]"),
        ({**start(), "u": start()["u"].astype(jnp.float16)}, data(16, 0), {}, "but float16"),
        (more, data(16, 0), {}, "lacks .*extra"),
        (start(), data(16, 0), {"optimiser": optax.adam(0.1)}, "optimiser"),
        # Of the same form, so that nothing but what it is made of tells it apart.
        (start(), data(16, 0), {"optimiser": optax.adagrad(5.0)}, "written with optimiser"),
    ]
    for parameters, examples, options, message in attempts:
        with pytest.raises(InputError, match=message):
            fit(
                SIMPLE,
                parameters,
                examples,
                batch_size=8,
                epochs=2,
                checkpoint=trained,
                **options,
            )
        assert trained.read_bytes() == content
    # The right run goes on from it.
    more = fit(SIMPLE, start(), data(16, 0), batch_size=8, epochs=2, checkpoint=trained)
    assert [row["epoch"] for row in more.history] == [0, 1]


def test_the_history_tells_means_over_examples():
    """At the start all states are alike: the first epoch, of one batch, is told as it began."""
    row = fit(SIMPLE, start(), data(16, 0), batch_size=16, epochs=1).history[0]
    assert row["log_likelihood"] == pytest.approx(-np.log(NUM_STATES), rel=1e-5)
    assert (row["epoch"], row["steps"]) == (0, 1)


def test_uneven_lengths_share_few_shapes():
    rng = np.random.default_rng(0)
    examples = [np.arange(n) for n in rng.integers(1, 30, size=100)]
    dataset = Dataset(
        examples,
        length=len,
        pad=lambda example, size: (np.pad(example, (0, size - len(example))), len(example)),
        num_buckets=3,
    )
    assert len(dataset.buckets) == 3 and len(dataset) == 100
    seen = []
    for bucket, indices in dataset.batches(8, np.random.default_rng(1)):
        batch = dataset.get((bucket, indices), 8)
        padded, lengths = batch.examples
        assert padded.shape[0] == 8 and batch.weights.sum() == len(indices)
        seen += [int(n) for n, w in zip(lengths, batch.weights, strict=True) if w > 0]
    assert sorted(seen) == sorted(len(example) for example in examples)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"examples": []}, "no examples"),
        ({"batch_size": 0}, "batch_size = 0"),
        ({"epochs": 0}, "epochs = 0"),
        ({"checkpoint_every": 0}, "checkpoint_every = 0"),
        ({"patience": 0, "validation": [(None, np.array(0, np.int32))]}, "patience = 0"),
        ({"patience": 2}, "`validation` must be given"),
        ({"examples": [np.zeros(2), np.zeros(3)]}, "give `length` and `pad`"),
    ],
)
def test_bad_options_are_refused(options: dict, message: str):
    with pytest.raises(InputError, match=message):
        fit(SIMPLE, start(), **{"examples": data(8, 0), **options})


def test_what_fills_up_a_batch_does_not_count():
    """Five examples in batches of two: the sixth place is filled with one that was there before."""

    def told(key: jax.Array, parameters: jax.Array, example: jax.Array) -> PathEstimate:
        value = example + 0 * parameters
        return PathEstimate(value, jnp.zeros(3), 10 * example, jnp.zeros((1, 1)))

    found = fit(told, jnp.array(2.0), np.array([1.0, 2, 3, 4, 8]), batch_size=2, epochs=2)
    for number, row in enumerate(found.history):
        assert (row["epoch"], row["steps"]) == (number, 3 * (number + 1))
        assert row["log_likelihood"] == pytest.approx(18 / 5)
        assert row["effective_walks"] == pytest.approx(3)
        assert row["transitions"] == pytest.approx(36)
        assert row["norm"] == pytest.approx(2)


def test_optimisers_are_told_apart_by_their_numbers():
    def told(numbers: list[float]) -> str:
        return Solver(optax.add_decayed_weights(jnp.array(numbers))).fingerprint()

    assert told([0.1, 0.2]) == told([0.1, 0.2]) != told([0.1, 0.3])


SCHEDULES = {
    "constant": lambda rate: optax.constant_schedule(rate),
    "exponential": lambda rate: optax.exponential_decay(rate, 10, 0.5),
    "bounded": lambda rate: optax.exponential_decay(rate, 10, 0.5, end_value=0.01),
    "cosine": lambda rate: optax.cosine_decay_schedule(rate, 10),
    "polynomial": lambda rate: optax.polynomial_schedule(1.0, rate, 1, 10),
    "pieces": lambda rate: optax.piecewise_constant_schedule(1.0, {3: rate}),
    "one cycle": lambda rate: optax.cosine_onecycle_schedule(10, rate),
    "warm": lambda rate: optax.warmup_exponential_decay_schedule(0.0, 1.0, 3, 10, rate),
    "joined": lambda rate: optax.join_schedules(
        [optax.constant_schedule(1.0), optax.exponential_decay(rate, 10, 0.5)], [3]
    ),
    "restarted": lambda rate: optax.sgdr_schedule(
        [{"init_value": 0.1, "peak_value": rate, "decay_steps": 9, "warmup_steps": 2}]
    ),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules_are_told_apart_by_their_numbers(name: str):
    one, same, other = (Solver(optax.adam(SCHEDULES[name](rate))) for rate in (0.2, 0.2, 0.3))
    assert one == same and hash(one) == hash(same) and one.fingerprint() == same.fingerprint()
    assert one != other and one.fingerprint() != other.fingerprint()


def test_keys_of_a_seed_never_meet():
    """A model is not measured with the walks of its training, nor any with its neighbours'."""
    uses = SeedKeys.of(3)
    steps = [jax.random.fold_in(key, number) for key in uses for number in range(4)]
    batches = [key for step in steps for key in jax.random.split(step, 5)]
    words = {tuple(jax.random.key_data(key).tolist()) for key in [*uses, *steps, *batches]}
    assert len(words) == 4 + 16 + 80
    with jax.default_prng_impl("rbg"):
        assert SeedKeys.of(3) == uses


def test_training_does_not_depend_on_the_generator_taken_by_default(tmp_path: Path):
    """Nor does going on with it."""
    options = {"batch_size": 8, "seed": 3}
    alone = fit(SIMPLE, start(), data(8, 0), epochs=2, **options)
    for generator in ("threefry2x32", "rbg"):
        with jax.default_prng_impl(generator):
            path = tmp_path / "run"
            found = [
                fit(SIMPLE, start(), data(8, 0), epochs=epochs, checkpoint=path, **options)
                for epochs in (1, 2)
            ]
        path.unlink()
        for name, leaf in alone.parameters.items():
            np.testing.assert_array_equal(found[-1].parameters[name], leaf)


@pytest.mark.parametrize("use", ["fit", "validation", "log_likelihood"])
def test_each_use_of_a_seed_has_its_own_keys(use: str):
    """An objective that tells its keys."""
    given: list[tuple[int, ...]] = []

    def telling(key, parameters, example):
        jax.debug.callback(
            lambda words: given.append(tuple(words.tolist())), jax.random.key_data(key)
        )
        value = jnp.sum(parameters) * 0.0
        return PathEstimate(value, jnp.zeros(1), jnp.array(0.0), jnp.zeros((2, 2)))

    examples = [np.array(number) for number in range(3)]
    if use == "log_likelihood":
        log_likelihood(telling, jnp.zeros(1), examples, seed=3)
        own = [SeedKeys.of(3).evaluation]
    else:
        validation = examples if use == "validation" else None
        fit(telling, jnp.zeros(1), examples, epochs=1, validation=validation, seed=3)
        own = [SeedKeys.of(3).training, SeedKeys.of(3).validation][: 1 + (use == "validation")]
    jax.effects_barrier()
    expected = [jax.random.split(jax.random.fold_in(key, 0), 3) for key in own]
    words = {tuple(word) for keys in expected for word in jax.random.key_data(keys).tolist()}
    assert set(given) == words
