"""A labeller of graphs in scikit-learn's manner."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Int
from numpy.typing import NDArray

from .._custom_types import RandomKey
from .._errors import InputError, Place
from .._numbers import not_negative, whole
from .._options import Options
from .._penalty import SquaredNorm
from .._seeds import SeedKeys
from ..chains import Chain
from ..kernels import AbstractKernel
from ..learning import (
    AbstractEstimator,
    ApproximateGibbs,
    Contrastive,
    Dataset,
    Fit,
    FixedHorizon,
    Interrupted,
    RestartLikelihood,
    Reversal,
    fit,
    load_parameters,
    save_parameters,
)
from ..schedules import checked_epsilon
from ._best import Best, annealed
from ._given import Given
from ._graph import Graph
from ._kernels import ColourSweep
from ._learning import (
    Completion,
    FactorLikelihood,
    PseudoLikelihood,
    ShownContrastive,
    check_labels,
    labelled,
)
from ._model import Model, check
from ._plan import Learn, Plan, Wishes, planned

Validation = tuple[Sequence[Graph], Sequence[Any]]
_UNSEEN = 1.5  # See `Marginals`.


class Marginals(NamedTuple):
    """P(value) of each site, and its standard error from independent tours."""

    mean: NDArray[np.floating]
    standard_error: NDArray[np.floating]
    """0 where it is exact, and else at least 1.5 over the number of tours: what none of n tours met
    may yet have a probability of 3/n (the rule of three)."""


class GraphLabeller(Options):
    """Labels the sites of graphs by the chain of a [`Model`][doeblin.factors.Model].

    `fit` learns from graphs, of any sizes, and a vector of labels for each; -1 says that a label is
    missing. First the restart u, by its exact likelihood; then, from there, A's factors by

    - `"likelihood"`: the chain's own, which guarantees and exact draws are about;
    - `"contrastive"`: contrastive divergence, towards A's density, with much less noise;
    - `"pseudo"`: the pseudo-likelihood, towards A's density, without noise;
    - `"restart"`: not at all; the chain's law is u, and everything about it is exact;
    - any estimator of `doeblin.learning` that is given.

    `"auto"` and None leave it to the [`Plan`][doeblin.factors.Plan], which scales with the model
    and says why: `print(labeller.plan(X, y))`. What -inf forbids in a table stays forbidden, and
    scores beside it are learned; parameters of other potentials with -inf among them all stay.

    Adam's steps fall from `learning_rate` to zero. `l2`/2·‖θ‖² is taken off the mean over examples.
    With a `validation` set the best epoch is kept; `patience`, `checkpoint`, `metrics` and
    `progress` are those of [`fit`][doeblin.learning.fit]. After Ctrl-C the labeller has what it has
    learned so far.
    """

    def __init__(
        self,
        model: Model,
        *,
        learn: Learn | AbstractEstimator = "auto",
        kernel: AbstractKernel | None = None,
        epsilon: float | None = None,
        num_walks: int = 8,
        num_tours: int = 256,
        l2: float = 1e-3,
        restart_epochs: int | None = None,
        epochs: int | None = None,
        batch_size: int | None = None,
        learning_rate: float = 0.1,
        num_buckets: int = 3,
        patience: int | None = None,
        checkpoint: str | Path | None = None,
        metrics: str | Path | None = None,
        seed: int = 0,
        progress: bool | None = None,
    ):
        self.model = model
        self.learn = learn
        self.kernel = kernel
        self.epsilon = epsilon
        self.num_walks = num_walks
        self.num_tours = num_tours
        self.l2 = l2
        self.restart_epochs = restart_epochs
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.num_buckets = num_buckets
        self.patience = patience
        self.checkpoint = checkpoint
        self.metrics = metrics
        self.seed = seed
        self.progress = progress

    def plan(self, X: Sequence[Graph], y: Sequence[Any]) -> Plan:
        """What `fit` would do, and why."""
        if not isinstance(self.model, Model):
            raise InputError(f"model = {self.model!r} must be a doeblin.factors.Model")
        whole("num_walks", self.num_walks, least=1)
        whole("num_tours", self.num_tours, least=2)
        not_negative("l2", self.l2)
        not_negative("learning_rate", self.learning_rate)
        pairs = self._pairs(X, y)
        wishes = Wishes(
            self.learn,
            self.kernel,
            self.epsilon,
            self.batch_size,
            self.restart_epochs,
            self.epochs,
        )
        return planned(wishes, self.model, [pair[0] for pair in pairs], [pair[1] for pair in pairs])

    def fit(
        self, X: Sequence[Graph], y: Sequence[Any], *, validation: Validation | None = None
    ) -> GraphLabeller:
        """Learn from graphs and the labels of their sites."""
        self.plan_ = self.plan(X, y)
        pairs = self._pairs(X, y)
        held_out = None if validation is None else self._pairs(*validation, "validation graph")
        partial = any((labels < 0).any() for _, labels in [*pairs, *(held_out or [])])
        proposal = Completion() if partial else None
        data = labelled(pairs, num_buckets=self.num_buckets)
        unseen = None if held_out is None else labelled(held_out, num_buckets=self.num_buckets)
        self.fits_: dict[str, Fit] = {}
        self._train("restart", RestartLikelihood(proposal), self.model, data, unseen)
        if self.plan_.restart_only:
            return self
        estimator = _estimator(self.plan_, self.num_walks, proposal)
        start = self.fits_["restart"].parameters
        # What follows A's density knows nothing of u, and starts with all factors at once.
        start = start.split(silent=not _follows_density(estimator))
        self._train("chain", estimator, start, data, unseen)
        return self

    def predict(
        self, X: Sequence[Graph], *, decode: Literal["marginal", "joint"] = "marginal"
    ) -> list[Int[NDArray, " sites"]]:
        """The most probable value of each site, or ("joint") the best labelling that was found."""
        if decode not in ("marginal", "joint"):
            raise InputError(f"decode = {decode!r} must be 'marginal' or 'joint'")
        if decode == "joint":
            return [np.asarray(found.labels) for found in self.best(X)]
        return [found.mean.argmax(axis=1) for found in self.predict_marginals(X)]

    def predict_marginals(self, X: Sequence[Graph]) -> list[Marginals]:
        """P(value) of each site under the chain's stationary law, with its standard error.

        Arrays (sites, values); from `num_tours` independent tours for each graph.
        """
        found: list[Any] = [None] * len(X)
        for number, key, given, size in self._givens(X):
            if self.exact_:
                mean = np.asarray(_exact(given))
                errors = np.zeros_like(mean)
            else:
                estimate = self.chain().estimate(
                    key, _OneHot(given.graph.most_values), num_tours=self.num_tours, x=given
                )
                possible = np.arange(given.graph.most_values) < given.graph.num_values[:, None]
                mean, least = estimate.mean, np.where(possible, _UNSEEN / self.num_tours, 0.0)
                errors = np.maximum(estimate.standard_error, least)
            found[number] = Marginals(mean[:size], errors[:size])
        return found

    def best(self, X: Sequence[Graph], *, num_walks: int = 16, num_sweeps: int = 64) -> list[Best]:
        """The best labelling found of each graph, by [`annealed`][doeblin.factors.annealed] search,
        with its score: the log-density of A's factors, or log u if the restart is all there is."""
        found: list[Any] = [None] * len(X)
        for number, key, given, size in self._givens(X):
            best = annealed(key, given, num_walks=num_walks, num_sweeps=num_sweeps)
            # A's scores on the forest are u's there, up to its log-partition.
            less = given.law.log_partition if self.exact_ else 0.0
            found[number] = Best(np.asarray(best.labels)[:size], float(best.score - less))
        return found

    def sample(self, X: Sequence[Graph], num_draws: int = 1) -> list[Int[NDArray, "draws sites"]]:
        """Exact, independent draws of labellings of each graph, from the chain's stationary law."""
        whole("num_draws", num_draws, least=1)
        found: list[Any] = [None] * len(X)
        for number, key, given, size in self._givens(X):
            drawn = self.chain().draw(key, num_draws, given).state
            found[number] = np.asarray(drawn)[:, :size]
        return found

    def score(self, X: Sequence[Graph], y: Sequence[Any]) -> float:
        """The fraction of the sites with known labels that `predict` labels correctly."""
        pairs = self._pairs(X, y)
        right = [
            (found == labels)[labels >= 0]
            for found, (_, labels) in zip(self.predict(X), pairs, strict=True)
        ]
        known = np.concatenate(right)
        if not len(known):
            raise InputError("all labels are missing (-1), so there is nothing to compare with")
        return float(known.mean())

    def chain(self) -> Chain:
        """The chain that was learned; its input is `labeller.model_.given(graph)`."""
        self._check_fitted()
        return self.model_.chain(self.epsilon_, self.kernel_)

    def save(self, path: str | Path) -> None:
        """Write what was learned to a safetensors file: arrays and JSON, no code."""
        self._check_fitted()
        facts = {
            "kernel": type(self.kernel_).__name__,
            "epsilon": self.epsilon_,
            "exact": self.exact_,
        }
        save_parameters(path, _untied(self.model_), facts)

    def load(self, path: str | Path) -> GraphLabeller:
        """Take over what a labeller with the same model and kernel has saved."""
        model, facts = load_parameters(path, _untied(self.model.split()))
        kernel = ColourSweep() if self.kernel is None else self.kernel
        for name, own in (("kernel", type(kernel).__name__), ("epsilon", self.epsilon)):
            if own is not None and facts.get(name) != own:
                raise InputError(
                    f"this was learned with {name} = {facts.get(name)!r}, and the labeller that is "
                    f"to load it has {own!r}; give it the same",
                    place=Place(str(path)),
                )
        self.model_, self.kernel_ = model, kernel
        self.epsilon_, self.exact_ = checked_epsilon(facts["epsilon"]), bool(facts["exact"])
        return self

    def _train(
        self,
        stage: Literal["restart", "chain"],
        estimator: AbstractEstimator,
        start: Model,
        data: Dataset,
        validation: Dataset | None,
    ) -> None:
        plan = self.plan_
        epochs = plan.restart_epochs if stage == "restart" else plan.epochs
        steps = epochs * len(data.batches(min(plan.batch_size, max(data.sizes))))
        checkpoint, metrics = (
            f"{path}.restart" if path is not None and stage == "restart" else path
            for path in (self.checkpoint, self.metrics)
        )
        try:
            found = fit(
                FactorLikelihood(estimator, plan.epsilon, plan.kernel),
                start,
                data,
                optimiser=optax.adam(optax.cosine_decay_schedule(self.learning_rate, steps)),
                batch_size=plan.batch_size,
                epochs=epochs,
                validation=validation,
                patience=self.patience,
                trainable=_trainable(start, estimator),
                penalty=SquaredNorm(self.l2),
                progress=self.progress,
                seed=self.seed,
                checkpoint=checkpoint,
                metrics=metrics,
            )
        except Interrupted as stop:
            self._keep(stage, stop.fit)
            raise
        self._keep(stage, found)

    def _keep(self, stage: str, found: Fit) -> None:
        self.fits_[stage] = found
        self.kernel_, self.epsilon_ = self.plan_.kernel, self.plan_.epsilon
        self.exact_ = self.plan_.restart_only
        # A leaves u invariant until it is learned.
        self.model_ = found.parameters.split() if stage == "restart" else found.parameters

    def _pairs(
        self, X: Sequence[Graph], y: Sequence[Any], what: str = "graph"
    ) -> list[tuple[Graph, NDArray[np.int32]]]:
        """Graphs and labels that fit the model and each other."""
        self._check_graphs(X, what)
        if len(X) != len(y):
            raise InputError(f"{len(X)} {what}s have {len(y)} vectors of labels")
        if not len(X):
            raise InputError(f"there are no {what}s")
        labels = [np.asarray(each) for each in y]
        for number, (graph, own) in enumerate(zip(X, labels, strict=True)):
            check_labels(number, graph, own)
        return list(zip(X, labels, strict=True))

    def _check_graphs(self, X: Sequence[Graph], what: str = "graph") -> None:
        if isinstance(X, Graph):
            raise InputError(f"graphs come in a list, also a single {what}")
        for number, graph in enumerate(X):
            if not isinstance(graph, Graph):
                raise InputError(
                    f"{what} {number} is a {type(graph).__name__}; make it by Graph.of(…)"
                )
            try:
                check(self.model.potentials, graph)
            except InputError as error:
                raise InputError(f"{what} {number}: {error}") from None

    def _check_fitted(self) -> None:
        if not hasattr(self, "model_"):
            raise InputError(
                "this labeller has not been fitted; call fit(X, y) or load(path) first"
            )

    def _givens(self, X: Sequence[Graph]) -> Iterator[tuple[int, RandomKey, Given, int]]:
        """The number of each graph, a key of its own, its scores, and how many sites it has."""
        self._check_fitted()
        self._check_graphs(X)
        if not len(X):
            return
        # Labels are of no matter here.
        pairs = [(graph, np.zeros(len(graph.num_values), np.int32)) for graph in X]
        data = labelled(pairs, num_buckets=self.num_buckets)
        root = SeedKeys.of(self.seed).prediction
        for (graphs, _), numbers in zip(data.buckets, data.numbers, strict=True):
            for row, number in enumerate(numbers.tolist()):
                graph = jax.tree.map(lambda leaf, row=row: leaf[row], graphs)
                key = jax.random.fold_in(root, number)
                yield number, key, self.model_.given(graph), len(X[number].num_values)


class _OneHot(eqx.Module):
    """Which value each site has, as numbers to take means of."""

    num_values: int = eqx.field(static=True)

    def __call__(self, state: Array) -> Array:
        return jax.nn.one_hot(state, self.num_values)


@eqx.filter_jit
def _exact(given: Given) -> Array:
    return given.law.marginals(given.graph)


def _estimator(plan: Plan, num_walks: int, proposal: Any) -> AbstractEstimator:
    if plan.learn == "likelihood":
        return Reversal(FixedHorizon(plan.epsilon), num_walks=num_walks, proposal=proposal)
    if plan.learn == "contrastive":
        return ShownContrastive(Contrastive(num_steps=5, num_walks=num_walks))
    if plan.learn == "pseudo":
        return PseudoLikelihood()
    assert isinstance(plan.learn, AbstractEstimator)
    return ShownContrastive(plan.learn) if isinstance(plan.learn, Contrastive) else plan.learn


def _follows_density(estimator: AbstractEstimator) -> bool:
    """Whether A's density is all that it looks at."""
    return isinstance(estimator, ShownContrastive | PseudoLikelihood | ApproximateGibbs)


def _trainable(model: Model, estimator: AbstractEstimator) -> Any:
    """What is learned: all weights, but no rules; and not u where the estimator does not see it."""
    flags = jax.tree.map(
        lambda leaf: eqx.is_inexact_array(leaf) and bool(jnp.isfinite(leaf).all()), model
    )
    if _follows_density(estimator):
        flags = eqx.tree_at(
            lambda flags: flags.base, flags, jax.tree.map(lambda _: False, flags.base)
        )
    return flags


def _untied(model: Model) -> Model:
    """The same with potentials beyond the forest of their own, so that all have one form."""
    return Model(model.potentials, model.base, model.beyond or dict(model.potentials))
