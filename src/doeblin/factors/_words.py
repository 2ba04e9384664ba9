"""A kernel that proposes whole words along the paths of a word list."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from .._custom_types import Input, RandomKey, Scalar
from .._errors import InputError
from .._inversion import invert, random_words, uniform
from ..kernels import AbstractReversibleKernel
from ._given import Given, State
from ._kernels import log_density, put
from ._paths import Listed
from ._restart import checked_given, given_rest
from ._tree import TreeLaw, logsumexp, row_of


class WordMetropolis(AbstractReversibleKernel):
    """Redraw a whole path of sites at once, one of those that factors of a `kind` with
    [`Words`][doeblin.factors.Words] lie along, chosen uniformly.

    With probability `share` a listed word of its length is proposed, by its own score and those
    that u has for its values; else values from u, given all other sites. Accepted as by Metropolis
    and Hastings, with the probability of both ways together, so that paths can leave the list, too.
    A step costs as much as scoring all factors once, and all words. Combine it with a kernel that
    redraws single sites: `mixture([SiteGibbs(), WordMetropolis("words")])`.
    """

    kind: str = eqx.field(static=True)
    share: float = eqx.field(static=True, default=0.5)

    def __check_init__(self):
        if not 0 < self.share < 1:
            raise InputError(f"share = {self.share} must be more than 0 and less than 1")

    def sample(self, key: RandomKey, state: State, x: Input = None) -> State:
        return self.sample_scored(key, state, x)[0]

    def sample_scored(self, key: RandomKey, state: State, x: Input = None) -> tuple[State, Scalar]:
        given, state = checked_given(x), jnp.asarray(state)
        listed, kind = self._listed(given), given.graph.kinds[self.kind]
        factor_key, propose_key, accept_key = jax.random.split(key, 3)
        some = jnp.maximum(kind.count, 1)
        number = jax.random.randint(factor_key, (), 0, some)
        path = _Path.of(given, listed, state, jnp.asarray(kind.scopes)[number], self.share)
        proposed = jax.lax.stop_gradient(path.draw(propose_key))
        log_proposed, log_accept = path.log_move(proposed)
        accepted = jnp.log(uniform(random_words(accept_key, ()))) <= log_accept
        # Without paths there is nothing to redraw.
        new = jnp.where(accepted & (kind.count > 0), proposed, state)
        log_reject = jnp.log1p(-jnp.exp(jnp.where(accepted, -1.0, log_accept)))
        log_choice = log_proposed + jnp.where(accepted, log_accept, log_reject) - jnp.log(some)
        return new, jnp.where(kind.count > 0, log_choice, 0.0)

    def log_move(self, new: State, old: State, x: Input = None) -> Scalar:
        given, changed = checked_given(x), new != old
        listed, kind = self._listed(given), given.graph.kinds[self.kind]

        def by(number: Array) -> Scalar:
            scope = jnp.asarray(kind.scopes)[number]
            path = _Path.of(given, listed, old, scope, self.share)
            held = jnp.zeros(old.shape[0] + 1, bool).at[scope].set(True)[:-1]
            possible = ~(changed & ~held).any() & (number < kind.count)
            return jnp.where(possible, sum(path.log_move(new)), -jnp.inf)

        each = jax.vmap(by)(jnp.arange(kind.scopes.shape[0]))
        return logsumexp(each) - jnp.log(jnp.maximum(kind.count, 1))

    def log_target(self, state: State, x: Input = None) -> Scalar:
        return log_density(state, x)

    def density(self) -> Callable[[State, Input], Scalar]:
        return log_density

    def _listed(self, given: Given) -> Listed:
        if self.kind not in given.words:
            raise InputError(
                f"WordMetropolis({self.kind!r}) needs factors of that kind with a potential "
                f"Words(…); such kinds here: {sorted(given.words) or 'none'}"
            )
        return given.words[self.kind]


class _Path(NamedTuple):
    """One path of a state, to be redrawn given the rest."""

    given: Given
    state: State
    scope: Int[Array, " places"]
    words: Int[Array, "words places"]
    log_words: Float[Array, " words"]
    """Of proposing each word, if any is; -inf for those of another length."""
    law: TreeLaw
    """u's, given all other sites."""
    log_shares: Float[Array, "2"]
    """Of words, and of u."""

    @classmethod
    def of(cls, given: Given, listed: Listed, state: State, scope: Array, share: float) -> _Path:
        table, places = listed.words, scope.shape[0]
        table = jnp.pad(table, ((0, 0), (0, max(0, places - table.shape[1]))), constant_values=-1)
        fits = ((table[:, :places] >= 0) == (scope >= 0)[None]).all(axis=1)
        fits &= (table[:, places:] < 0).all(axis=1)
        words = table[:, :places]
        above = jnp.asarray(given.graph.above)[scope]

        def score(word: Array) -> Scalar:
            there, known = scope >= 0, jnp.maximum(word, 0)
            full = jnp.append(put(state, scope, word), jnp.zeros(2, state.dtype))
            rows = row_of(full, above, given.graph.most_values)
            own = given.base.sites[scope, known] + given.base.branches[scope, rows, known]
            return jnp.where(there, own, 0).sum()

        logits = jnp.where(fits, jax.vmap(score)(words) + listed.scores, -jnp.inf)
        total = logsumexp(logits)
        some = jnp.isfinite(total)
        log_words = jnp.where(some, logits - jnp.where(some, total, 0), -jnp.inf)
        block = jnp.zeros(state.shape[0] + 1, bool).at[scope].set(True)[:-1]
        law = given_rest(given, state, block)
        possible = jnp.isfinite(law.log_partition)
        # Of two ways, one may be closed.
        of_words = jnp.where(some, jnp.where(possible, share, 1.0), 0.0)
        shares = jnp.stack([of_words, jnp.where(possible, 1 - of_words, 0.0)])
        return cls(given, state, scope, words, log_words, law, jnp.log(shares))

    def draw(self, key: RandomKey) -> State:
        pick_key, word_key, law_key = jax.random.split(key, 3)
        word, _ = invert(self.log_words, random_words(word_key, ()))
        by_word = put(self.state, self.scope, self.words[word])
        by_law = self.law.sample(law_key, self.given.graph).astype(self.state.dtype)
        listed = jnp.log(uniform(random_words(pick_key, ()))) <= self.log_shares[0]
        found = jnp.where(listed, by_word, by_law)
        return jnp.where(jnp.isfinite(self.log_shares).any(), found, self.state)

    def log_prob(self, new: State) -> Scalar:
        """Of proposing a state that differs along the path alone."""
        own = jnp.where(self.scope >= 0, new[self.scope], -1)
        same = (self.words == own[None]).all(axis=1)
        by_word = logsumexp(jnp.where(same, self.log_words, -jnp.inf))
        ways = jnp.stack([by_word, self.law.log_prob(new, self.given.graph)])
        # A way of share zero leads nowhere, whatever it says.
        found = logsumexp(
            jnp.where(jnp.isneginf(self.log_shares), -jnp.inf, ways + self.log_shares)
        )
        closed = jnp.isneginf(self.log_shares).all()
        return jnp.where(closed, jnp.where((new == self.state).all(), 0.0, -jnp.inf), found)

    def log_move(self, new: State) -> tuple[Scalar, Scalar]:
        """Of proposing it, and of accepting it then."""
        # Both states at once: half as much to compile.
        both = jnp.stack([self.state, new])
        density = jax.vmap(self.given.log_density)(both)
        proposed = jax.vmap(self.log_prob)(both)
        forward, backward = density[0] + proposed[1], density[1] + proposed[0]
        # A state of density zero is always left, and never entered.
        accepted = jnp.where(jnp.isneginf(forward), 0.0, jnp.minimum(backward - forward, 0.0))
        return proposed[1], accepted
