"""Latent alignments: labellings that spell a given output, summed over and drawn from."""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from .._custom_types import Count, Input, RandomKey, Scalar
from .._errors import InputError
from .._plain import plain_errors
from ..kernels import AbstractRestart
from ._potentials import Labels, Potentials, advance, log_weight, possible, safe_logsumexp
from ._restart import LinearChainCRF


class Output(NamedTuple):
    """What a labelling spells: symbols, of which the first `length` count (the rest is -1)."""

    symbols: Int[Array, " places"]
    length: Count


class Alignments(eqx.Module):
    """Every label emits a symbol or is silent; a labelling spells the symbols in order.

    `emits[k]` is the symbol that label k emits, or -1. With labels "c starts here" (emitting c),
    "c goes on" and "no letter" (both silent) these are the alignments of the paper's gesture model.
    The sum over all labellings that spell an output runs over the lattice of (place in the output,
    label): O(length · output · labels²).
    """

    emits: Int[Array, " labels"]

    def __init__(self, emits: Any):
        checked = np.asarray(emits)
        if checked.ndim != 1 or not np.issubdtype(checked.dtype, np.integer) or not len(checked):
            raise InputError(f"emits = {emits!r} must hold one whole number for each label")
        self.emits = jnp.asarray(checked, dtype=jnp.int32)

    def spell(self, labels: Labels, length: Count | int) -> Output:
        """The output of one labelling, padded with -1 to the number of places."""
        symbols = self.emits[labels]
        emitting = (symbols >= 0) & (jnp.arange(labels.shape[0]) < length)
        target = jnp.where(emitting, jnp.cumsum(emitting) - 1, labels.shape[0])
        spelled = jnp.full(labels.shape, -1, jnp.int32).at[target].set(symbols, mode="drop")
        return Output(spelled, emitting.sum())

    def log_partition(self, potentials: Potentials, output: Output) -> Scalar:
        """Log of the total weight of all labellings that spell `output`."""
        log_alpha = self._filter(potentials, output)[-1]
        return safe_logsumexp(log_alpha[output.length], axis=0)

    def sample(self, key: RandomKey, potentials: Potentials, output: Output) -> Labels:
        """An exact draw among the labellings that spell `output`, in proportion to their weight."""
        with plain_errors():
            return self._sample(key, potentials, output)

    @eqx.filter_jit
    def _sample(self, key: RandomKey, potentials: Potentials, output: Output) -> Labels:
        scores = self._filter(potentials, output)
        noise = jax.random.gumbel(key, potentials.unary.shape, mode="high")
        places, num_labels = potentials.unary.shape

        def step(after: tuple[Array, Array], place: Any) -> tuple[tuple[Array, Array], Array]:
            spelled, label_after = after
            score, noise, pairwise, index = place
            ahead = jnp.where(index < potentials.length - 1, pairwise[:, label_after], 0)
            label = jnp.argmax(score[spelled] + ahead + noise)
            inside = index < potentials.length
            emitted = inside & (self.emits[label] >= 0)
            label = jnp.where(inside, label, 0)
            return (spelled - emitted, label), label

        last_step = jnp.zeros((1, num_labels, num_labels), potentials.steps.dtype)
        pairwise = jnp.concatenate([potentials.steps, last_step])
        start = (jnp.asarray(output.length, jnp.int32), jnp.array(0))
        rows = (scores, noise, pairwise, jnp.arange(places))
        labels = jax.lax.scan(step, start, rows, reverse=True)[1].astype(jnp.int32)
        return possible(labels, safe_logsumexp(scores[-1, output.length], axis=0))

    def _filter(
        self, potentials: Potentials, output: Output
    ) -> Float[Array, "length spelled labels"]:
        """Log-weights of all beginnings by how much they have spelled and by their last label."""
        silent = self.emits < 0
        symbols = jnp.asarray(output.symbols)
        num_symbols = symbols.shape[0]
        fits: Bool[Array, "symbols labels"] = (symbols[:, None] == self.emits[None]) & (
            jnp.arange(num_symbols)[:, None] < output.length
        )

        def place(reached: Array, unary: Array) -> Array:
            # A silent label stays, an emitting one moves on by the symbol that it must emit.
            moved = jnp.where(fits, reached[:-1], -jnp.inf)
            nowhere = jnp.full((1, unary.shape[0]), -jnp.inf, moved.dtype)
            moved = jnp.concatenate([nowhere, moved])
            return unary[None] + jnp.where(silent, reached, moved)

        def step(log_alpha: Array, row: tuple[Array, Array, Array]) -> tuple[Array, Array]:
            unary, pairwise, inside = row
            following = place(advance(log_alpha, pairwise), unary)
            following = jnp.where(inside, following, log_alpha)
            return following, following

        start = jnp.full((num_symbols + 1, potentials.unary.shape[1]), -jnp.inf)
        first = place(start.at[0].set(0.0).astype(potentials.unary.dtype), potentials.unary[0])
        rows = (potentials.unary[1:], potentials.steps, potentials.inside[1:])
        rest = jax.lax.scan(step, first, rows)[1]
        return jnp.concatenate([first[None], rest])


class AlignmentProposal(AbstractRestart):
    """The CRF conditioned on its output: draws labellings that spell it, exactly.

    Its input is the pair (x, output). As a proposal for the latent labelling it makes the first
    term of every likelihood estimate exact.
    """

    crf: LinearChainCRF
    alignments: Alignments

    def sample(self, key: RandomKey, x: Input = None) -> Labels:
        given, output = x
        return self.alignments.sample(key, self.crf.potentials(given), output)

    def log_prob(self, state: Labels, x: Input = None) -> Scalar:
        given, output = x
        potentials = self.crf.potentials(given)
        spelled = self.alignments.spell(state, potentials.length)
        places = jnp.arange(min(spelled.symbols.shape[0], output.symbols.shape[0]))
        same = (spelled.length == output.length) & jnp.all(
            (spelled.symbols[places] == output.symbols[places]) | (places >= output.length)
        )
        same &= jnp.all(potentials.inside | (state == 0))
        total = self.alignments.log_partition(potentials, output)
        return jnp.where(same, log_weight(potentials, state) - total, -jnp.inf)

    def log_marginal(self, x: Input = None) -> Scalar:
        """log u(output | x): the likelihood to train a CRF with latent alignments."""
        given, output = x
        potentials = self.crf.potentials(given)
        return self.alignments.log_partition(potentials, output) - self.crf.log_partition(given)
