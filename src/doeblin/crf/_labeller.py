"""A sequence labeller in scikit-learn's manner, with features of any order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array

from .._automaton import ngrams
from .._custom_types import RandomKey
from .._errors import InputError
from .._numbers import not_negative, whole
from .._options import Options
from .._penalty import SquaredNorm
from .._plain import plain_errors
from .._seeds import SeedKeys
from ..chains import Chain, doeblin
from ..kernels import AbstractKernel, BlockKernel, mixture
from ..learning import (
    AbstractEstimator,
    Dataset,
    Fit,
    FixedHorizon,
    PathEstimate,
    Reversal,
    fit,
    weighted_states,
)
from ._decoders import Decoder, likeliest, most_visited, sampled_marginals
from ._encoding import Encoder, check_aligned, pad
from ._exact import Coarse, Places, Structure, learned
from ._highorder import Extra, Given, HighOrder, RandomFraction, SequenceGibbs
from ._restart import LinearChainCRF, LinearPotentials, Observed, SparseFeatures

Kernel = Literal["gibbs", "block", "both"]
MakeKernel = Callable[[HighOrder, LinearChainCRF], AbstractKernel]
"""From A's density and u to A; called wherever parameters are new."""

_MOST_BYTES = 2**29  # of what sequences that are taken at once have in memory


class Parameters(eqx.Module):
    """θ_0 of the restart u, θ_1 of the kernel A, and A's extra weights."""

    base: LinearPotentials
    full: LinearPotentials
    density: HighOrder


class SequenceLabeller(Options):
    """Labels sequences by a chain that restarts from a CRF and refines it with extra features.

    The restart u is a linear-chain CRF. The kernel A leaves invariant a density with the same
    features *and* `extra(labels, x)`, any function of all labels of a sequence: long-range
    agreement, checksums, dictionaries. Training follows the paper: u alone (convex, by L-BFGS),
    then the chain's own likelihood from where A leaves u invariant, so it starts at the CRF's.
    Without `extra` it *is* the CRF, decoded by its marginals: `ngrams` and `words` are summed over
    exactly, or (`prune` > 0) over labels that have at least that probability by single labels and
    pairs alone, which then are learned first.

    The kernel is "gibbs" (one place at a time), "block" (redraws the start or end of a sequence
    from u, several times, and picks one), or "both" in turn at random; or a function that makes one
    from A's density and u: `SequenceGibbs` with a `conditional` of its own, where `extra` has parts
    that need not be scored as a whole for every label, or a mixture with other moves.
    """

    def __init__(
        self,
        extra: Extra | None = None,
        *,
        ngrams: Sequence[int] = (),
        words: Iterable[Sequence[Any]] | Mapping[Any, float] | None = None,
        prune: float = 0.0,
        kernel: Kernel | MakeKernel = "both",
        epsilon: float = 0.1,
        num_walks: int = 8,
        num_proposals: int = 8,
        predict_walks: int = 64,
        l2: float = 1e-3,
        crf_steps: int = 100,
        epochs: int = 5,
        batch_size: int = 32,
        learning_rate: float = 0.1,
        num_buckets: int = 3,
        estimator: AbstractEstimator | None = None,
        seed: int = 0,
        progress: bool | None = None,
    ):
        self.extra = extra
        self.ngrams = ngrams
        self.words = words
        self.prune = prune
        self.kernel = kernel
        self.epsilon = epsilon
        self.num_walks = num_walks
        self.num_proposals = num_proposals
        self.predict_walks = predict_walks
        self.l2 = l2
        self.crf_steps = crf_steps
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.num_buckets = num_buckets
        self.estimator = estimator
        self.seed = seed
        self.progress = progress

    def fit(self, X: Sequence[Any], y: Sequence[Sequence[Any]]) -> SequenceLabeller:
        """Learn from sequences (see `Encoder` for their forms) and the labels of their places."""
        if self.kernel not in ("gibbs", "block", "both") and not callable(self.kernel):
            raise InputError(
                f"kernel = {self.kernel!r} must be 'gibbs', 'block' or 'both', or a function that "
                "makes one from A's density and u"
            )
        whole("crf_steps", self.crf_steps, least=0)
        whole("predict_walks", self.predict_walks, least=1)
        whole("num_walks", self.num_walks, least=1)
        whole("batch_size", self.batch_size, least=1)
        not_negative("l2", self.l2)
        if not_negative("prune", self.prune) >= 1:
            raise InputError(f"prune = {self.prune} must be a probability, less than one")
        not_negative("learning_rate", self.learning_rate)
        self.encoder_ = Encoder(X, y)
        self.classes_ = self.encoder_.classes
        own = [self.encoder_.encode_labels(labels) for labels in y]
        places = self.encoder_.places(X, training=True)
        self.structure_ = self._structure(own)
        labels, how = np.concatenate(own), {"l2": self.l2, "steps": self.crf_steps}
        self.coarse_: Coarse | None = None
        if self.prune and not self.structure_.is_chain:
            pairs = Structure(self.encoder_.num_features, len(self.classes_))
            how["start"] = learned(pairs, places, labels, **how)
            self.coarse_ = Coarse(pairs, how["start"], self.prune)
            places = self.coarse_.pruned(places, labels)
        self.theta_ = learned(self.structure_, places, labels, **how)
        base = LinearPotentials(*(jnp.asarray(each, float) for each in self.theta_[:4]))
        self.parameters_ = Parameters(base, base, HighOrder(jnp.zeros(0), _no_extra))
        self.fit_: Fit | None = None
        if self.extra is not None:
            self.fit_ = self._train_chain(X, own)
            self.parameters_ = self.fit_.parameters
        return self

    def predict(
        self, X: Sequence[Any], *, decode: Literal["marginal", "joint"] = "marginal"
    ) -> list[list[Any]]:
        """The most probable label of each place, or ("joint") the most probable labelling found."""
        if decode not in ("marginal", "joint"):
            raise InputError(f"decode = {decode!r} must be 'marginal' or 'joint'")
        self._check_fitted()
        if self.extra is not None:
            decoded = self._decode(X, most_visited if decode == "joint" else likeliest)
        elif decode == "joint":
            places = self._places(X)
            decoded = np.split(self.structure_.best(places, self.theta_), places.starts[1:-1])
        else:
            decoded = [found.argmax(axis=1) for found in self.predict_marginals(X)]
        return [[self.classes_[label] for label in labels] for labels in decoded[: len(X)]]

    def predict_marginals(self, X: Sequence[Any]) -> list[np.ndarray]:
        """P(label) at each place under the chain's stationary law: arrays (length, classes)."""
        self._check_fitted()
        if self.extra is not None:
            return self._decode(X, sampled_marginals)
        places = self._places(X)
        found = self.structure_.sums(places, self.theta_)[2].labels
        return np.split(found, places.starts[1:-1])[: len(X)]

    def score(self, X: Sequence[Any], y: Sequence[Sequence[Any]]) -> float:
        """The fraction of places labelled correctly."""
        check_aligned(X, y)
        right = [
            a == b
            for found, wanted in zip(self.predict(X), y, strict=True)
            for a, b in zip(found, wanted, strict=True)
        ]
        return float(np.mean(right))

    def chain(self, parameters: Parameters | None = None) -> Chain:
        """The chain over label vectors; its input is that of `given`."""
        return self._design.chain(parameters or self.parameters_)

    def _places(self, X: Sequence[Any]) -> Places:
        places = self.encoder_.places(X)
        return places if self.coarse_ is None else self.coarse_.pruned(places)

    def _check_fitted(self) -> None:
        if not hasattr(self, "parameters_"):
            raise InputError("this labeller has not been fitted; call fit(X, y) first")

    @property
    def _design(self) -> _Design:
        kernel: Any = self.kernel
        return _Design(kernel, self.epsilon, self.num_proposals, len(self.classes_))

    def _structure(self, labels: Sequence[np.ndarray]) -> Structure:
        """What the CRF weighs: n-grams that occur in training, and listed words."""
        orders = [whole("ngrams", order, least=3) for order in self.ngrams]
        if self.extra is not None and (orders or self.words is not None):
            raise InputError(
                "`extra` goes with a chain whose restart has single labels and pairs; leave out "
                "`ngrams` and `words`, or have `extra` score them"
            )
        known = self.encoder_.numbers
        given = {} if self.words is None else self.words
        pairs = given.items() if isinstance(given, Mapping) else ((word, 0.0) for word in given)
        listed = {
            tuple(known[label] for label in word): float(value)
            for word, value in pairs
            if len(word) and all(label in known for label in word)
        }
        wrong = [word for word, value in listed.items() if not np.isfinite(value)]
        if wrong:
            name = [self.classes_[label] for label in wrong[0]]
            raise InputError(f"words has {listed[wrong[0]]} for {name}; numbers must be finite")
        found = ngrams(labels, orders, len(known))
        return Structure(self.encoder_.num_features, len(known), found, listed)

    def _train_chain(self, X: Sequence[Any], labels: Sequence[np.ndarray]) -> Fit:
        examples = [
            (self.encoder_.encode(sequence, i), own)
            for i, (sequence, own) in enumerate(zip(X, labels, strict=True))
        ]
        self._entries = max(_entries(observed) for observed, _ in examples)
        data = self._dataset(examples)
        extra: Any = self.extra
        observed = jax.tree.map(lambda leaf: leaf[0], data.buckets[0][0])
        zeros = jnp.zeros(data.buckets[0][1].shape[1], jnp.int32)
        size = jax.eval_shape(lambda: jnp.ravel(jnp.asarray(extra(zeros, observed)))).shape[0]
        base = self.parameters_.base
        # A extends u's features with zeros, so it leaves u invariant (the paper's initialisation).
        start = Parameters(base, base, HighOrder(jnp.zeros(size), extra))
        estimator = self.estimator or Reversal(FixedHorizon(self.epsilon), num_walks=self.num_walks)
        optimiser = optax.adagrad(self.learning_rate)
        # Batches of long sequences are taken in parts, whose gradients are added up.
        wanted = min(self.batch_size, max(data.sizes))
        longest, steps = max(map(len, labels)), 24 / self.epsilon
        parts = -(-wanted // self._fitting(wanted, longest, self.num_walks, steps))
        if parts > 1:
            optimiser = optax.MultiSteps(optimiser, parts).gradient_transformation()
        return fit(
            _Objective(estimator, self._design),
            start,
            data,
            optimiser=optimiser,
            batch_size=-(-wanted // parts),
            epochs=self.epochs,
            penalty=SquaredNorm(self.l2),
            progress=self.progress,
            seed=self.seed,
        )

    def _fitting(self, batch_size: int, length: int, num_walks: int, steps: float) -> int:
        """How many sequences at once: of each step that is kept, scores of all proposals."""
        each = 4 * length * num_walks * len(self.classes_) * (self.num_proposals + 1) * steps
        return max(1, min(batch_size, int(_MOST_BYTES / each)))

    def _dataset(self, examples: list[Any]) -> Dataset:
        return Dataset(
            examples,
            length=lambda example: int(example[0].length),
            pad=lambda example, length: pad(example, length, self._entries),
            num_buckets=self.num_buckets,
        )

    def _decode(self, X: Sequence[Any], decoder: Decoder) -> list[Any]:
        encoded = [self.encoder_.encode(sequence, i) for i, sequence in enumerate(X)]
        # What has no places has no labels.
        states = jax.ShapeDtypeStruct((1, 0), jnp.int32)
        shape = jax.eval_shape(
            lambda states: decoder(states, jnp.ones(1), len(self.classes_)), states
        )
        found: list[Any] = [np.zeros(shape.shape, shape.dtype)] * len(X)
        # The place in X goes with each example, in the labels' stead, to undo the bucketing.
        examples = [(each, np.full(1, i)) for i, each in enumerate(encoded) if each.length]
        if not examples:
            return found
        self._entries = max(self._entries, *(_entries(each) for each, _ in examples))
        data = self._dataset(examples)
        longest = max(int(each.length) for each, _ in examples)
        batch_size = self._fitting(min(256, max(data.sizes)), longest, self.predict_walks, 1)
        key = SeedKeys.of(self.seed).prediction
        for number, batch in enumerate(data.all_batches(batch_size)):
            observed, places = batch.examples
            keys = jax.random.split(jax.random.fold_in(key, number), batch_size)
            given_now = (self.parameters_, keys, observed)
            with plain_errors():
                states, weights, finite = _walked(self._design, self.predict_walks, *given_now)
                results = np.asarray(_decoded(decoder, states, weights, len(self.classes_)))
                finite = np.asarray(finite)
            for i, weight in enumerate(batch.weights):
                if weight > 0 and not finite[i]:
                    raise InputError(
                        f"the density of sequence {places[i, 0]} is NaN or infinite: look for "
                        "divisions by zero and logarithms of zero in `extra`"
                    )
                if weight > 0:
                    found[places[i, 0]] = results[i][: int(observed.length[i])]
        return found


class _Design(eqx.Module):
    """What the chain is made of, besides parameters; the compiler compares designs by value."""

    kernel: Kernel | MakeKernel = eqx.field(static=True)
    epsilon: float = eqx.field(static=True)
    num_proposals: int = eqx.field(static=True)
    num_labels: int = eqx.field(static=True)

    def chain(self, parameters: Parameters) -> Chain:
        restart = LinearChainCRF(_base)
        density = parameters.density
        if callable(self.kernel):
            return doeblin(_checked_kernel(self.kernel(density, restart)), restart, self.epsilon)
        gibbs = SequenceGibbs(density, self.num_labels, _length)
        block = BlockKernel(
            restart, density, num_proposals=self.num_proposals, choose_block=RandomFraction()
        )
        kernels = {"gibbs": [gibbs], "block": [block], "both": [gibbs, block]}[self.kernel]
        return doeblin(kernels[0] if len(kernels) == 1 else mixture(kernels), restart, self.epsilon)


def _checked_kernel(kernel: Any) -> AbstractKernel:
    if not isinstance(kernel, AbstractKernel):
        raise InputError(f"the function given as kernel made {kernel!r}, which is no kernel")
    return kernel


class _Objective(eqx.Module):
    estimator: AbstractEstimator
    design: _Design

    def __call__(self, key: RandomKey, parameters: Parameters, example: Any) -> PathEstimate:
        observed, labels = example
        x = given(parameters, observed)
        return self.estimator(key, self.design.chain(parameters), labels, x)


@eqx.filter_jit
def _walked(
    design: _Design, num_walks: int, parameters: Parameters, keys: Array, observed: Observed
) -> tuple[Array, Array, Array]:
    """States of each sequence with their weights, and whether all densities were finite.

    All decoders use them: this is dear to compile.
    """
    chain, horizon = design.chain(parameters), FixedHorizon(design.epsilon)

    def one(key: RandomKey, observed: Observed) -> tuple[Array, Array, Array]:
        x = given(parameters, observed)
        states, weights = weighted_states(key, chain, horizon, num_walks, x)
        densities = jax.vmap(lambda labels: parameters.density(labels, x))(states)
        return states, weights, ~(jnp.isnan(densities) | jnp.isposinf(densities)).any()

    return jax.vmap(one)(keys, observed)


@eqx.filter_jit
def _decoded(decoder: Decoder, states: Array, weights: Array, num_labels: int) -> Array:
    return jax.vmap(lambda states, weights: decoder(states, weights, num_labels))(states, weights)


def given(parameters: Parameters, observed: Observed) -> Given:
    """The chain's input for one sequence: all scores that need no labels."""
    return Given(parameters.base(observed).normalised(), parameters.full(observed), observed)


def _base(x: Given) -> Any:
    return x.base


def _length(x: Given) -> Any:
    return x.full.length


def _no_extra(labels: Array, x: Observed) -> Array:
    return jnp.zeros(0)


def _entries(observed: Observed) -> int:
    features = observed.features
    return features.values.shape[1] if isinstance(features, SparseFeatures) else 0
