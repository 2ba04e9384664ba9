"""The library's engine against the compiled one, and against enumeration."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from doeblin import InputError
from doeblin.gestures.data import Generator, Layout, Lexicon
from doeblin.gestures.paper import METHODS, Method, Task, run_method
from doeblin.gestures.paper import _library as library
from doeblin.gestures.paper import library_run as run
from doeblin.gestures.paper._features import Dictionary, num_features
from doeblin.gestures.paper._library_horizon import Stratified
from doeblin.gestures.paper._task import make_gestures

from .brute import (
    BASE,
    FULL,
    KEYS,
    LENGTH,
    SIZE,
    STATES,
    WORDS,
    X,
    Y,
    block_matrix,
    conditional_of,
    exact_gradient,
    gibbs_matrix,
    objective,
    scores,
    values_of,
)

PADDING = 2
WEIGHTS = library.Weights(*(jnp.asarray(part, jnp.float32) for part in (BASE, FULL)))
FIXED = run.Fixed(library.Trie.of(WORDS), WEIGHTS.restart)
GESTURE = run.Gesture(
    *(jnp.asarray(part, jnp.int32) for part in (np.pad(X, (0, PADDING)), LENGTH, Y, SIZE))
)
# Programs that run once are not worth optimising.
COMPILE = {"xla_backend_optimization_level": "0"}


def compiled(function, *arguments):
    return jax.jit(function).lower(*arguments).compile(compiler_options=COMPILE)(*arguments)


@pytest.mark.thorough
@pytest.mark.parametrize("hard", [pytest.param(True, marks=pytest.mark.thorough), False])
def test_both_engines_have_one_model(hard):
    """The full model's density, u, and the Gibbs conditionals at every place of every state."""
    labels = library.num_labels(KEYS, hard)
    kept = np.array([hard or max(z) <= KEYS for z in STATES])
    states = np.array(STATES)[kept]

    def evaluate(weights, padded):
        x = library.scored(weights, weights.restart, GESTURE.x, GESTURE.x_size, KEYS, hard)
        kernel = library.kernel(weights, FIXED.trie, hard, 0)
        places = jnp.arange(LENGTH)

        def one(state):
            logits = jax.vmap(lambda place: kernel.conditional(state, place, x))(places)
            return (
                kernel.log_target(state, x),
                library.RESTART.log_prob(state, x),
                jax.nn.softmax(logits),
            )

        return jax.vmap(one)(padded)

    padded = jnp.asarray(np.pad(states, ((0, 0), (0, PADDING))), jnp.int32)
    full, base, conditionals = (np.asarray(part) for part in compiled(evaluate, WEIGHTS, padded))
    np.testing.assert_allclose(full, scores(FULL, True)[kept], atol=1e-5)
    log_u = scores(BASE, False)[kept]
    np.testing.assert_allclose(base, log_u - np.logaddexp.reduce(log_u), atol=1e-5)
    expected = [[conditional_of(z, i, hard)[0] for i in range(LENGTH)] for z in states]
    np.testing.assert_allclose(conditionals, np.array(expected)[..., :labels], atol=1e-5)
    assert (np.array(expected)[..., labels:] == 0).all()


@pytest.mark.parametrize(
    ("method", "matrix", "name"),
    [
        pytest.param(METHODS["doeblin"], gibbs_matrix, "reward", marks=pytest.mark.thorough),
        pytest.param(METHODS["reversal"], gibbs_matrix, "word", marks=pytest.mark.thorough),
        pytest.param(
            Method("block", "doeblin", proposals=1, baseline=True),
            block_matrix,
            "reward",
            marks=pytest.mark.thorough,
        ),
    ],
    ids=["reward", "reversal", "block"],
)
def test_gradients_are_those_of_enumeration(method, matrix, name):
    """Z·∇ log Z, for the estimate Z of E[values], is unbiased for any number of chains."""
    transitions, repeats = 3, 400
    plan = run.Plan(method, transitions, 16, KEYS, True)

    def estimates(weights, keys):
        def one(key):
            return jax.value_and_grad(
                lambda weights: run.by_chains(plan, FIXED, weights, key, GESTURE).log_likelihood
            )(weights)

        return jax.vmap(one)(keys)

    logs, slopes = compiled(estimates, WEIGHTS, jax.random.split(jax.random.key(0), repeats))
    found = np.exp(np.asarray(logs, float))[:, None] * np.concatenate(slopes, axis=1)
    value = np.exp(objective(BASE, FULL, transitions, matrix, values_of(name)))
    exact = value * exact_gradient(transitions, matrix, name)
    error = found.std(axis=0) / np.sqrt(repeats)
    # Tours end after ten times their mean length, at the latest, and numbers have seven digits.
    rounding = 1e-3 * np.abs(exact).max()
    assert np.all(np.abs(found.mean(axis=0) - exact) <= 5 * error + rounding)
    assert np.linalg.norm(error) < 0.2 * np.linalg.norm(exact)


def test_tours_of_strata_have_geometric_lengths():
    epsilon, walks, repeats = 0.1, 16, 4000
    horizon = Stratified(epsilon, 90)
    keys = jax.random.split(jax.random.key(1), repeats)
    lengths = np.asarray(jax.vmap(partial(horizon.lengths, num_walks=walks))(keys))
    assert (np.diff(lengths, axis=1) <= 0).all()
    times = np.arange(1, 91)
    going_on = (lengths[:, :, None] >= times).sum(axis=1)
    error = going_on.std(axis=0) / np.sqrt(repeats)
    expected = walks * np.exp(np.asarray(horizon.log_survival(walks, times)))
    assert np.all(np.abs(going_on.mean(axis=0) - expected) <= 5 * error + 1e-3)
    lanes = np.concatenate([np.full(steps, lanes) for lanes, steps in horizon.segments(walks)])
    assert len(lanes) == 90 and np.all(going_on <= lanes)


def test_engines_are_known_by_name():
    with pytest.raises(InputError, match="engine = 'gpu'"):
        run_method(None, METHODS["doeblin"], 3, passes=1, step=0.1, engine="gpu")


@pytest.mark.thorough
def test_training_on_the_library_improves_accuracy():
    layout = Layout.from_rows(["abcd"], [0], name="four")
    words = [("abd", 5.0), ("ca", 4.0), ("dab", 3.0), ("bcd", 2.0), ("ad", 1.0)]
    lexicon = Lexicon.from_pairs(words)
    every = make_gestures(Generator(layout, "paper", 0.5), lexicon, 128, 0, longest=12)
    task = Task(
        Dictionary.build(lexicon, layout), every.part(0, 64), every.part(0, 0),
        every.part(64, 128), True, 0, np.zeros(num_features(4)),
    )  # fmt: skip
    train = partial(
        run_method, task, METHODS["doeblin, baseline"], 3, chains=8, engine="library", batch=16
    )
    before, after = train(passes=1, step=0.0), train(passes=3, step=0.3)
    assert before.values.shape == (1, 64, 4) and after.values.shape == (3, 64, 4)
    gain = after.values[-1, :, :2] - before.values[0, :, :2]
    assert np.all(gain.mean(axis=0) > 5 * gain.std(axis=0) / 8)
    # Twelve batches of 16 gestures × 8 chains, each with 3 transitions on average.
    mean = 12 * 16 * 8 * 3
    assert after.transitions == pytest.approx(mean, rel=0.1)
    assert before.values[0, :, 3].mean() < after.values[-1, :, 3].mean()
