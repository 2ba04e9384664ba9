"""Training: stochastic gradient ascent on estimated log-likelihoods."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh

from .._checkpoint import check_facts, remove_leftovers
from .._custom_types import RandomKey
from .._errors import InputError
from .._mesh import at_home, check_agreement, checked_mesh, everywhere, using, writes
from .._plain import plain_errors
from .._seeds import SeedKeys, checked_seed
from ..chains import Chain
from . import _checkpoint as checkpoints
from ._checks import check_options, check_parameters
from ._contrastive import PersistentContrastive
from ._data import Dataset, pair
from ._estimate import AbstractEstimator, PathEstimate
from ._metrics import Metrics, Progress
from ._step import Solver, Training, evaluate, refuse_gradient, refuse_impossible, train_step

Objective = Callable[[RandomKey, Any, Any], PathEstimate]
"""objective(key, parameters, example): an estimate to maximise, for one example."""


class CollapseWarning(UserWarning):
    """Nearly all of the weight lies on one walk of each estimate: gradients are mostly noise."""


def likelihood(
    estimator: AbstractEstimator, build: Callable[[Any], Chain] | None = None
) -> Objective:
    """The objective of examples (x, y): the estimator's log-likelihood of y given x.

    `build(parameters)` makes the chain. By default the parameters *are* the chain. Define `build`
    once, not anew for each call of `fit`: what is the same function is compiled once.
    """
    return Likelihood(estimator, build)


class Likelihood(eqx.Module):
    """The objective that [`likelihood`][doeblin.learning.likelihood] gives."""

    estimator: AbstractEstimator
    build: Callable[[Any], Chain] | None = eqx.field(static=True)

    def __call__(self, key: RandomKey, parameters: Any, example: Any) -> PathEstimate:
        x, y = pair(example)
        chain = parameters if self.build is None else self.build(parameters)
        return self.estimator(key, chain, y, x)


@dataclass(frozen=True)
class Fit:
    """What training gave."""

    parameters: Any
    """The best on the validation data, if there were any; else the last."""
    history: list[dict[str, float]]
    """One row an epoch."""
    steps: int
    stopped_early: bool

    def table(self) -> Any:
        """The history as a rich table."""
        return Metrics(self.history).table()


class Interrupted(KeyboardInterrupt):
    """Ctrl-C while training. Its `fit` has what was learned until then."""

    def __init__(self, fit: Fit):
        super().__init__(f"training was interrupted after {fit.steps} steps")
        self.fit = fit


@contextmanager
def _interruptible(found: Callable[[], Fit]) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted(found()) from None


@dataclass
class _Run:
    """Where a run is: all that a checkpoint holds, besides parameters and optimiser."""

    epoch: int = 0
    position: int = 0
    steps: int = 0
    best: float = -math.inf
    waited: int = 0
    finished: bool = False
    sums: dict[str, float] = field(default_factory=dict)
    history: list[dict[str, float]] = field(default_factory=list)


def fit(
    objective: Objective | PersistentContrastive,
    parameters: Any,
    examples: Sequence[Any] | Dataset,
    *,
    optimiser: optax.GradientTransformation | None = None,
    batch_size: int = 32,
    epochs: int = 10,
    validation: Sequence[Any] | Dataset | None = None,
    patience: int | None = None,
    trainable: Any = eqx.is_inexact_array,
    penalty: Callable[[Any], Any] | None = None,
    checkpoint: str | Path | None = None,
    checkpoint_every: int = 100,
    metrics: str | Path | None = None,
    progress: bool | None = None,
    seed: int = 0,
    mesh: Mesh | None = None,
) -> Fit:
    """Maximise the mean of `objective` over the examples, less `penalty(parameters)`.

    All floating-point arrays in `parameters` are trained, or those that `trainable` picks (a
    function of leaves, or a tree of booleans). The optimiser is AdaGrad unless another one of
    Optax's is given. With `validation` data, their mean log-likelihood is estimated after every
    epoch, the best parameters are kept, and training stops when `patience` epochs brought nothing
    better.

    With a `mesh`, or inside of `jax.set_mesh`, each batch is spread over its devices; a batch that
    they do not divide is filled up with examples that do not count. Any number of devices gives the
    same result, up to the order in which gradients are added, and may go on from a checkpoint of
    any other. The devices may belong to several processes (`jax.distributed`), which are then all
    called alike; the first of them writes the files.

    With `checkpoint`, everything is written there every `checkpoint_every` steps and after every
    epoch; a run that was killed goes on from it and ends with the same parameters, bit by bit (on
    a GPU up to the order of sums). It is refused if the data, the seed, the batch size or the
    optimiser are others. That objective and penalty are the same is for you to see to; the
    parameters given are not looked at again.
    Ctrl-C raises [`Interrupted`][doeblin.learning.Interrupted], which has what was learned so far.
    `metrics` names a file for one JSON line an epoch. `progress` shows a bar on stderr, by default
    if that is a terminal. The same seed gives the same result, on a GPU up to the order in which
    gradients are added.

    Warns once, with a [`CollapseWarning`][doeblin.learning.CollapseWarning], if almost all weight
    comes to lie on one walk of each estimate. A step whose gradient is not finite is refused, and
    the example named; so is, in the first epoch, an example of likelihood zero. A second call with
    the same shapes and the same functions compiles nothing.
    """
    data = examples if isinstance(examples, Dataset) else Dataset(examples)
    if validation is not None and not isinstance(validation, Dataset):
        if not len(validation):
            raise InputError("`validation` has no examples: leave it out, or give some")
        validation = Dataset(validation)
    check_options(objective, batch_size, epochs, patience, validation, checkpoint_every)
    solver, seed = Solver(optimiser or optax.adagrad(0.1)), checked_seed(seed)
    batch_size = min(batch_size, max(data.sizes))
    learned, fixed = eqx.partition(parameters, trainable)
    # Parameters given as numpy arrays, or scalars of weak types, would be compiled for twice.
    learned = jax.tree.map(lambda leaf: jnp.array(leaf, dtype=jnp.result_type(leaf)), learned)
    check_parameters(learned)
    data.check_numbers()
    with plain_errors():
        state = solver.functions.init(learned)
    best = learned
    memory: list[Any] = []
    if isinstance(objective, PersistentContrastive):
        memory = [jax.vmap(objective.begin)(bucket) for bucket in data.buckets]
    run, key = _Run(), SeedKeys.of(seed).training
    facts = {
        "seed": seed,
        "batch_size": batch_size,
        "data": data.fingerprint(),
        "optimiser": solver.fingerprint(),
    }
    mesh = checked_mesh(mesh)
    path = None if checkpoint is None else Path(checkpoint)
    if path is not None:
        if path.is_dir():
            raise InputError(f"checkpoint = '{path}' is a folder: name a file in it")
        if writes(mesh):
            remove_leftovers(path)
        if path.exists():
            trees, run = _resumed(path, facts, _trees(learned, best, state, key, memory))
            learned, best, state = (trees[name] for name in ("parameters", "best", "optimiser"))
            memory = trees["memory"]
            key = jax.random.wrap_key_data(trees["prng"], impl=jax.random.key_impl(key))

    check_agreement(mesh, facts, epochs, vars(run))
    objective, fixed, penalty = everywhere(mesh, (objective, fixed, penalty))
    training = Training(objective, fixed, solver, penalty, mesh)
    learned, best, state, memory, key = everywhere(mesh, (learned, best, state, memory, key))

    def save() -> None:
        if path is not None and writes(mesh):
            trees = _trees(learned, best, state, key, memory)
            checkpoints.save(path, trees, {**facts, "run": vars(run)})

    warned = False
    if not writes(mesh):
        metrics, progress = None, False
    log = Metrics(run.history, None if metrics is None else Path(metrics))

    def found() -> Fit:
        kept = learned if validation is None or not run.epoch else best
        whole = eqx.combine(at_home(mesh, kept), at_home(mesh, fixed))
        return Fit(whole, log.rows, run.steps, run.finished)

    bar = Progress(epochs, len(data.batches(batch_size)), progress)
    with _interruptible(found), using(mesh), bar:
        while run.epoch < epochs and not run.finished:
            places = data.batches(batch_size, np.random.default_rng([seed, run.epoch]))
            began = time.monotonic()
            while run.position < len(places):
                bucket, indices = places[run.position]
                batch = data.get((bucket, indices), batch_size)
                kept = _recalled(memory, bucket, indices, batch_size)
                step_key, before = jax.random.fold_in(key, run.steps), learned
                learned, state, sums, kept = train_step(
                    training, learned, state, step_key, batch, kept
                )
                if sums.pop("bad"):
                    numbers = data.numbers[bucket][indices]
                    raise refuse_gradient(
                        objective, before, fixed, step_key, batch, numbers, bool(memory)
                    )
                lost = np.flatnonzero(sums.pop("lost"))
                if run.epoch == 0 and len(lost):
                    raise refuse_impossible(data.numbers[bucket][indices[lost[0]]])
                _remember(memory, bucket, indices, kept)
                run.steps += 1
                run.position += 1
                for name, value in sums.items():
                    run.sums[name] = run.sums.get(name, 0.0) + float(value)
                if run.position < len(places) and run.steps % checkpoint_every == 0:
                    save()
                bar.show(run.epoch, run.position, run.sums)
            row = _row(run, began)
            if not np.isfinite(row["norm"]):
                raise InputError(
                    f"training diverged in epoch {run.epoch}: parameters are no longer finite; "
                    "try a smaller learning rate or more walks"
                )
            warned = warned or _warn_of_collapse(run)
            if validation is not None:
                held_out = evaluate(
                    objective,
                    learned,
                    fixed,
                    validation,
                    batch_size,
                    SeedKeys.of(seed).validation,
                    mesh,
                )
                row |= held_out
                if held_out["validation"] > run.best:
                    run.best, run.waited, best = held_out["validation"], 0, learned
                else:
                    run.waited += 1
                run.finished = patience is not None and run.waited >= patience
            log.add(row)
            run.epoch, run.position, run.sums = run.epoch + 1, 0, {}
            save()
    return found()


@dataclass(frozen=True)
class LogLikelihood:
    """The mean log-likelihood of some data, estimated from below."""

    mean: float
    standard_error: float
    """Of the mean, from the walks; how data differ among each other is no part of it."""
    is_lower_bound: bool = True
    """On average it lies below the truth (Jensen), by about half the squared error of each."""


def log_likelihood(
    objective: Objective,
    parameters: Any,
    examples: Sequence[Any] | Dataset,
    *,
    batch_size: int = 32,
    seed: int = 0,
    mesh: Mesh | None = None,
) -> LogLikelihood:
    """The mean log-likelihood of the examples: progress measured in the objective itself.

    An example of likelihood zero is refused by its number. With a `mesh`, or inside of
    `jax.set_mesh`, each batch is spread over its devices.
    """
    data = examples if isinstance(examples, Dataset) else Dataset(examples)
    learned, fixed = eqx.partition(parameters, eqx.is_inexact_array)
    batch_size = min(batch_size, max(data.sizes))
    mesh, key = checked_mesh(mesh), SeedKeys.of(seed).evaluation
    objective, learned, fixed, key = everywhere(mesh, (objective, learned, fixed, key))
    with using(mesh):
        found = evaluate(objective, learned, fixed, data, batch_size, key, mesh)
    return LogLikelihood(found["validation"], found["validation_error"])


def _recalled(memory: list[Any], bucket: int, indices: np.ndarray, batch_size: int) -> Any:
    """What the examples of a batch have kept; those that fill it up have what the first has."""
    if not memory:
        return None
    filled = np.concatenate([indices, np.repeat(indices[:1], batch_size - len(indices))])
    return jax.tree.map(lambda leaf: leaf[filled], memory[bucket])


def _remember(memory: list[Any], bucket: int, indices: np.ndarray, kept: Any) -> None:
    if memory:
        memory[bucket] = jax.tree.map(
            lambda leaf, new: leaf.at[indices].set(new[: len(indices)]), memory[bucket], kept
        )


def _warn_of_collapse(run: _Run) -> bool:
    """Whether there was reason to warn."""
    count = run.sums["examples"]
    effective, walks = run.sums["effective_walks"] / count, run.sums.get("walks", 0) / count
    if walks < 4 or not effective < 1.5:
        return False
    warnings.warn(
        f"in epoch {run.epoch} only {effective:.2f} of {walks:.0f} walks carry the weight of an "
        "estimate: its gradient is mostly noise, and its log-likelihood far too low. What helps: "
        "parameters that start nearer to where the kernel leaves the restart invariant, smaller "
        "steps, a better restart, a larger epsilon (shorter walks), more walks, or Bidirectional",
        CollapseWarning,
        stacklevel=3,
    )
    return True


def _row(run: _Run, began: float) -> dict[str, float]:
    count, batches = run.sums["examples"], run.position
    row = {"epoch": run.epoch, "steps": run.steps, "seconds": time.monotonic() - began}
    for name in ("log_likelihood", "effective_walks", "transitions"):
        row[name] = run.sums[name] / count
    return row | {"norm": run.sums["norm"] / batches}


def _trees(
    learned: Any, best: Any, state: Any, key: RandomKey, memory: list[Any]
) -> dict[str, Any]:
    return {
        "memory": memory,
        "parameters": learned,
        "best": best,
        "optimiser": state,
        "prng": jax.random.key_data(key),
    }


def _resumed(
    path: Path, facts: dict[str, Any], like: dict[str, Any]
) -> tuple[dict[str, Any], _Run]:
    trees, found = checkpoints.load(path, like)
    check_facts(path, found, facts)
    return jax.tree.map(jnp.asarray, trees), _Run(**found["run"])
