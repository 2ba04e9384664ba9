"""The library's engine: training and measuring in batches of gestures, side by side."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, Float, Int
from numpy.typing import NDArray

from ..._custom_types import Count, RandomKey, Scalar
from ...chains import doeblin
from ...crf import AlignmentProposal, Alignments, Output
from ...kernels import AbstractKernel
from ...learning import (
    AbstractEstimator,
    ApproximateGibbs,
    Bidirectional,
    Dataset,
    LogReward,
    PathEstimate,
    Reversal,
    Reward,
    edit_distance,
    edit_distance_reward,
)
from ._library import RESTART, Scored, Trie, Weights, emissions, kernel, scored
from ._library_horizon import Stratified
from ._passes import LONGEST_TOUR
from ._task import DELTA, Curve, Gestures, Method, Task

# Held-out gestures that are measured at a time.
_SIDE_BY_SIDE = 100


@dataclass(frozen=True)
class Plan:
    """All that a compiled program depends on, beside the shapes of its arrays."""

    method: Method
    transitions: int
    chains: int
    num_keys: int
    hard: bool

    @property
    def epsilon(self) -> float:
        return 1 / (self.transitions + 1)

    @property
    def horizon(self) -> Stratified:
        return Stratified(self.epsilon, LONGEST_TOUR * self.transitions)

    @property
    def alignments(self) -> Alignments:
        return emissions(self.num_keys, self.hard)

    @property
    def log_reward(self) -> LogReward:
        alignments = self.alignments
        return edit_distance_reward(lambda state, x: alignments.spell(state, x.full.length))

    def estimator(self) -> AbstractEstimator:
        """The library's estimator for the method."""
        method = self.method
        if method.learning == "gibbs":
            start = None if method.from_restart else lambda key, x: _keys_themselves(x)
            return ApproximateGibbs(self.transitions, self.chains, self.log_reward, start)
        if not method.backward:
            return Reward(self.log_reward, self.horizon, self.chains, method.baseline)
        kind = Reversal if method.backward == 1 else Bidirectional
        proposal = AlignmentProposal(RESTART, self.alignments)
        return kind(self.horizon, self.chains, proposal, method.baseline)


class Gesture(NamedTuple):
    """One gesture, or, with a leading axis, a batch of them."""

    x: Int[Array, " places"]
    x_size: Count
    y: Int[Array, " letters"]
    y_size: Count


class Fixed(NamedTuple):
    """What does not change in training."""

    trie: Trie
    frozen: Float[Array, " features"]


def _kernel(plan: Plan, fixed: Fixed, weights: Weights) -> AbstractKernel:
    return kernel(weights, fixed.trie, plan.hard, plan.method.proposals)


def _scored(plan: Plan, fixed: Fixed, weights: Weights, gesture: Gesture) -> Scored:
    return scored(weights, fixed.frozen, gesture.x, gesture.x_size, plan.num_keys, plan.hard)


def _keys_themselves(x: Scored) -> Int[Array, " places"]:
    """The labelling z_i = x_i."""
    return jnp.where(x.full.inside, x.keys + 1, 0).astype(jnp.int32)


Estimate = Callable[[Plan, Fixed, Weights, RandomKey, Gesture], PathEstimate]


def by_chains(
    plan: Plan, fixed: Fixed, weights: Weights, key: RandomKey, gesture: Gesture
) -> PathEstimate:
    """The method's own objective for one gesture."""
    if not plan.method.train_restart:
        weights = weights._replace(restart=jax.lax.stop_gradient(weights.restart))
    x = _scored(plan, fixed, weights, gesture)
    y = Output(gesture.y, gesture.y_size)
    chain = doeblin(_kernel(plan, fixed, weights), RESTART, plan.epsilon)
    return plan.estimator()(key, chain, y, x)


def by_restart(
    plan: Plan, fixed: Fixed, weights: Weights, key: RandomKey, gesture: Gesture
) -> PathEstimate:
    """The gradient of log E_u[reward]: what is left of Doeblin learning without transitions."""
    x = _scored(plan, fixed, weights, gesture)
    given = jax.lax.stop_gradient(x)
    draws = jax.vmap(lambda key: RESTART.sample(key, given))(jax.random.split(key, plan.chains))
    y = Output(gesture.y, gesture.y_size)
    log_rewards = jax.vmap(lambda state: plan.log_reward(y, state, given))(draws)
    share = jax.nn.softmax(log_rewards)
    surrogate = jnp.sum(share * jax.vmap(lambda state: RESTART.log_prob(state, x))(draws))
    return PathEstimate(surrogate, log_rewards, jnp.array(0.0), jnp.zeros((2, 2)))


_ADAGRAD = optax.scale_by_rss(initial_accumulator_value=DELTA, eps=0.0)


@partial(jax.jit, static_argnames=("estimate", "plan"))
def learn(
    estimate: Estimate,
    plan: Plan,
    fixed: Fixed,
    learnt: tuple[Weights, Any],
    key: RandomKey,
    batch: Gesture,
    counted: Float[Array, " batch"],
    step: Float[Array, ""],
) -> tuple[tuple[Weights, Any], Scalar]:
    """One step of AdaGrad up the sum of a batch's gradients; also the transitions that it took.

    `learnt` are the weights and AdaGrad's state.
    """
    weights, squares = learnt

    def objective(weights: Weights) -> tuple[Scalar, Scalar]:
        keys = jax.random.split(key, counted.shape[0])
        found = jax.vmap(partial(estimate, plan, fixed, weights))(keys, batch)
        value = jnp.where(counted > 0, found.log_likelihood, 0).sum()
        return value, jnp.sum(counted * found.transitions)

    slope, transitions = jax.grad(objective, has_aux=True)(weights)
    scaled, squares = _ADAGRAD.update(slope, squares)
    weights = jax.tree.map(lambda w, g: w + step * g, weights, scaled)
    return (weights, squares), transitions


class Visited(NamedTuple):
    """The states of all chains of a gesture, by the words that they spell."""

    code: Int[Array, "states 2"]
    """Two hashes of the word."""
    distance: Int[Array, " states"]
    longer: Int[Array, " states"]
    """The longer one of the spelled word and the true one."""
    sample: Bool[Array, " states"]
    """Whether the state comes after burn-in, and before the chain's end."""
    last: Bool[Array, " states"]


@partial(jax.jit, static_argnames="plan")
def visit(plan: Plan, fixed: Fixed, weights: Weights, key: RandomKey, batch: Gesture) -> Visited:
    """Runs the chains of each gesture in a batch."""
    step = _kernel(plan, fixed, weights).sample

    def run(key: RandomKey, gesture: Gesture) -> Visited:
        x = _scored(plan, fixed, weights, gesture)
        start_key, length_key, walk_key = jax.random.split(key, 3)
        starts = jax.random.split(start_key, plan.chains)
        state = jax.vmap(lambda key: RESTART.sample(key, x))(starts)
        if not plan.method.from_restart:
            state = jnp.broadcast_to(_keys_themselves(x), state.shape)
        lengths = jnp.full(plan.chains, plan.transitions)
        segments = [(plan.chains, plan.transitions)]
        if plan.method.geometric:
            lengths = plan.horizon.lengths(length_key, plan.chains)
            segments = plan.horizon.segments(plan.chains)
        states, walks, times, begin = [state], [np.arange(plan.chains)], [0], 0
        for number, (lanes, steps) in enumerate(segments):

            def move(state: Array, key: RandomKey) -> tuple[Array, Array]:
                keys = jax.random.split(key, state.shape[0])
                new = jax.vmap(lambda key, state: step(key, state, x))(keys, state)
                return new, new

            keys = jax.random.split(jax.random.fold_in(walk_key, number), steps)
            state, passed = jax.lax.scan(move, state[:lanes], keys)
            states.append(passed.reshape(-1, passed.shape[-1]))
            walks += [np.arange(lanes)] * steps
            times += range(begin + 1, begin + steps + 1)
            begin += steps
        # Chain by chain, so that of words that are equally common the first one found counts.
        walk = np.concatenate(walks)
        time = np.repeat(times, [len(part) for part in walks])
        order = np.lexsort((time, walk))
        length, time = lengths[walk[order]], jnp.asarray(time[order])
        burnt = length - length // 2
        spelled = jax.vmap(lambda z: plan.alignments.spell(z, gesture.x_size))(
            jnp.concatenate(states)[order]
        )
        return Visited(
            _codes(spelled),
            jax.vmap(
                lambda word: edit_distance(gesture.y, word.symbols, gesture.y_size, word.length)
            )(spelled),
            jnp.maximum(spelled.length, gesture.y_size),
            (jnp.where(length > 0, burnt, 0) <= time) & (time <= length),
            length == time,
        )

    return jax.vmap(run)(jax.random.split(key, batch.x_size.shape[0]), batch)


def _codes(words: Output) -> Int[Array, "states 2"]:
    def letter(code: Array, symbols: Array) -> tuple[Array, None]:
        added = (code ^ (symbols[:, None] + 1).astype(jnp.uint32)) * _PRIMES[None]
        return jnp.where(symbols[:, None] >= 0, added, code), None

    start = jnp.broadcast_to(jnp.uint32(2166136261), (words.length.shape[0], 2))
    return jax.lax.scan(letter, start, words.symbols.T)[0]


_PRIMES = np.array([16777619, 2654435761], np.uint32)


def accuracies(
    code: NDArray, distance: NDArray, longer: NDArray, sample: NDArray, last: NDArray
) -> list[float]:
    """Of words and characters over samples, of the commonest sample, of the last one.

    The arguments are what one gesture's chains `Visited`.
    """
    right = distance == 0
    code = code[..., 0].astype(np.uint64) << np.uint64(32) | code[..., 1]
    _, first, counts = np.unique(code[sample], return_index=True, return_counts=True)
    commonest = first[counts == counts.max()].min()
    return [
        right[sample].mean(),
        (1 - distance / longer)[sample].mean(),
        right[sample][commonest],
        right[last].mean(),
    ]


class Setting:
    """What a method needs on the library: its plan, its data, and where its weights begin."""

    def __init__(
        self, task: Task, method: Method, transitions: int, chains: int, batch: int, on_dev: bool
    ):
        self.plan = Plan(method, transitions, chains, task.num_keys, task.hard)
        self.batch, self.seed = batch, task.seed
        start = jnp.asarray(task.restart, jnp.float32)
        self.fixed, self.weights = Fixed(Trie.of(task.dictionary), start), Weights(start, start)
        self.train = _dataset(task.train, self.fixed.trie.depth)
        self.held_out = _dataset(task.dev if on_dev else task.test, self.fixed.trie.depth)
        self.side_by_side = min(_SIDE_BY_SIDE, len(self.held_out))

    def compile(self) -> None:
        """Compiles all that the method calls, by calling it; results are not kept."""
        key, squares = jax.random.key(0), _ADAGRAD.init(self.weights)
        first = self.train.get(self.train.batches(self.batch)[0], self.batch)
        for estimate in (by_restart, by_chains):
            if estimate is by_chains or self.plan.method.reward_first:
                learn(
                    estimate, self.plan, self.fixed, (self.weights, squares), key,
                    first.examples, first.weights, np.float32(0),
                )  # fmt: skip
        some = next(self.held_out.all_batches(self.side_by_side))
        visit(self.plan, self.fixed, self.weights, key, some.examples)


def run_on_library(
    setting: Setting,
    *,
    passes: int,
    step: float,
    only_last: bool,
    progress: Callable[[], None] | None,
) -> Curve:
    """`run_method` on the library. Seconds are those of the clock, without compilation."""
    setting.compile()
    batch = setting.batch
    plan, fixed, weights, train = setting.plan, setting.fixed, setting.weights, setting.train
    squares = _ADAGRAD.init(weights)
    rng = np.random.default_rng([setting.seed, 2])
    key, test_key = jax.random.split(jax.random.key(setting.seed + 1))
    taken, testing = [], 0.0

    def one_pass(estimate: Estimate, weights: Weights, squares: Any) -> tuple[Weights, Any]:
        for place in train.batches(batch, rng):
            part = train.get(place, batch)
            (weights, squares), transitions = learn(
                estimate, plan, fixed, (weights, squares), jax.random.fold_in(key, len(taken)),
                part.examples, part.weights, np.float32(step),
            )  # fmt: skip
            taken.append(transitions)
        return jax.block_until_ready((weights, squares))

    def measured(weights: Weights) -> NDArray[np.float64]:
        found = []
        for k, part in enumerate(setting.held_out.all_batches(setting.side_by_side)):
            fresh = jax.random.fold_in(jax.random.fold_in(test_key, len(taken)), k)
            visited = jax.device_get(visit(plan, fixed, weights, fresh, part.examples))
            real = int(part.weights.sum())
            found += [accuracies(*one) for one in zip(*visited, strict=True)][:real]
        return np.array(found)

    started, elapsed = time.perf_counter(), 0.0
    if plan.method.reward_first:
        for _ in range(passes):
            weights, squares = one_pass(by_restart, weights, squares)
        weights = Weights(weights.restart, weights.restart)
        squares = _ADAGRAD.init(weights)
    values, seconds = [], []
    for done in range(passes):
        weights, squares = one_pass(by_chains, weights, squares)
        if not only_last or done == passes - 1:
            paused = time.perf_counter()
            elapsed += paused - started
            seconds.append(elapsed)
            values.append(measured(weights))
            started = time.perf_counter()
            testing = (started - paused) / len(values[-1])
        if progress is not None:
            progress()
    total = int(np.sum(jax.device_get(taken), dtype=np.float64))
    return Curve(np.array(values), total, np.array(seconds), testing)


def _dataset(gestures: Gestures, longest: int) -> Dataset:
    """Words are padded to the length of the dictionary's longest, so that shapes are few."""
    ys = np.zeros((len(gestures.ys), longest), np.int64)
    ys[:, : gestures.ys.shape[1]] = gestures.ys
    arrays = (array.astype(np.int32) for array in gestures._replace(ys=ys))
    return Dataset([Gesture(*one) for one in zip(*arrays, strict=True)])
