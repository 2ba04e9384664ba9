"""Random small models with their scores by plain numpy: the referee knows nothing of the library.

All graphs are padded to one shape, so that one compiled program serves all of them.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
from hypothesis import strategies as st

from doeblin.factors import Count, Factors, Function, Graph, Linear, Model, Table, Tables
from doeblin.factors._padding import Sizes, padded

SITES, VALUES = 5, 3
NUM_STATES = VALUES**SITES
MOST = {"shared": 3, "field": 5, "pair": 7, "link": 3, "triple": 2, "trio": 2, "count": 2}
PLACES = {"shared": 1, "field": 1, "pair": 2, "link": 2, "triple": 3, "trio": 3, "count": SITES}
SIZES = Sizes(
    VALUES,
    SITES,
    1,
    (SITES, SITES),
    (SITES, SITES),
    (SITES, SITES, SITES),
    {name: (MOST[name], PLACES[name], MOST[name]) for name in MOST},
)


def link(values: Any, features: Any) -> Any:
    """Far values cost; equal ones are impossible where the second feature is set."""
    forbidden = (values[0] == values[1]) & (features[1] > 0)
    return jnp.where(forbidden, -jnp.inf, features[0] * jnp.abs(values[0] - values[1]))


def trio(values: Any, features: Any) -> Any:
    """Places without a site have the value -1."""
    return features * jnp.sum(jnp.where(values >= 0, values, 0)) ** 2


@dataclass(frozen=True)
class Case:
    """A model, a graph, and what arithmetic says of them."""

    model: Model
    graph: Graph
    """Padded."""
    plain: Graph
    states: np.ndarray
    """All states, in lexicographic order; the last is repeated up to one number for all cases."""
    scores: list[tuple[str, tuple[int, ...], np.ndarray]]
    """Kind, scope, and score in each state, of each factor."""

    @property
    def num_states(self) -> int:
        return int(self.plain.num_values.prod())

    def total(self, only: Any = None) -> np.ndarray:
        """The log-density of each state; of some factors `only`, a flag for each."""
        chosen = [True] * len(self.scores) if only is None else only
        parts = [score for (_, _, score), use in zip(self.scores, chosen, strict=True) if use]
        return np.sum([np.zeros(len(self.states)), *parts], axis=0)

    @property
    def tree_total(self) -> np.ndarray:
        """The log-density of the factors on the forest."""
        return self.total_in(self.plain)

    def total_in(self, graph: Graph) -> np.ndarray:
        """The log-density of the factors in u."""
        return self.total(
            only=[flag for kind in graph.kinds.values() for flag in kind.on_tree[: kind.count]]
        )

    def conditional(self, site: int) -> np.ndarray:
        """Log-weights of each value of a site by the factors that hold it; if none is possible, the
        present value is."""
        local = self.total(only=[site in scope for _, scope, _ in self.scores])
        count = self.plain.num_values[site]
        logits = np.stack([local[self.neighbour(site, value)] for value in range(count)], axis=1)
        stuck = ~np.isfinite(logits).any(axis=1)
        logits[stuck] = np.where(np.arange(count) == self.states[stuck, site][:, None], 0, -np.inf)
        return logits

    def redraw(self, site: int) -> np.ndarray:
        """The matrix, from state to state, of redrawing one site."""
        matrix = np.zeros((self.num_states, self.num_states))
        law = softmax(self.conditional(site)[: self.num_states])
        for value in range(law.shape[1]):
            to = self.neighbour(site, value)[: self.num_states]
            np.add.at(matrix, (np.arange(self.num_states), to), law[:, value])
        return matrix

    def redraw_together(self, trees: list[list[int]]) -> np.ndarray:
        """The matrix of redrawing sites all at once given the others, tree by tree: one that has no
        possible state by the factors that touch it stays as it is."""
        states, size = self.states[: self.num_states], len(self.plain.num_values)
        matrix = np.eye(self.num_states)
        for tree in trees:
            local = self.total(only=[bool(set(tree) & set(scope)) for _, scope, _ in self.scores])
            rest = [site for site in range(size) if site not in tree]
            same = (states[:, None, rest] == states[None, :, rest]).all(axis=-1)
            weights = np.where(same, local[: self.num_states], -np.inf)
            stuck = ~np.isfinite(weights).any(axis=1)
            weights[stuck] = np.where(np.eye(self.num_states, dtype=bool)[stuck], 0, -np.inf)
            matrix = matrix @ softmax(weights)
        return matrix

    def neighbour(self, site: int, value: int) -> np.ndarray:
        """The number of each state with the value of one site replaced."""
        changed = self.states.copy()
        changed[:, site] = value
        size = len(self.plain.num_values)
        return np.ravel_multi_index(tuple(changed[:, :size].T), tuple(self.plain.num_values))


def softmax(logits: np.ndarray) -> np.ndarray:
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


@st.composite
def cases(draw, *, impossible: bool = True, most_sites: int = SITES) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    size = draw(st.integers(1, most_sites))
    num_values = rng.integers(1, VALUES + 1, size)
    forbid = draw(st.sampled_from([0.0, 0.1, 0.4])) if impossible else 0.0

    def table(*shape: int) -> np.ndarray:
        weights = rng.normal(0, 1.5, shape)
        return np.where(rng.random(shape) < forbid, -np.inf, weights)

    def scopes(name: str, ragged: bool = False) -> np.ndarray:
        places = PLACES[name]
        if not ragged and places > size:
            return np.zeros((0, places), int)
        count = rng.integers(0, MOST[name] + 1)
        rows = np.full((count, places), -1)
        for row in rows:
            taken = rng.integers(0, min(size, places) + 1) if ragged else places
            row[rng.permutation(places)[:taken]] = rng.permutation(size)[:taken]
        return rows

    weights = {
        "shared": table(VALUES),
        "field": rng.normal(size=(2, VALUES)),
        "pair": table(MOST["pair"], VALUES, VALUES),
        "triple": table(VALUES, VALUES, VALUES),
        "count": table(SITES + 1),
    }
    counted = rng.random(VALUES) < 0.5
    factors = {
        "shared": Factors(scopes("shared")),
        "pair": Factors(scopes("pair")),
        "triple": Factors(scopes("triple")),
        "count": Factors(scopes("count", ragged=True)),
    }
    for name, width in {"field": (2,), "link": (2,), "trio": ()}.items():
        rows = scopes(name, ragged=name == "trio")
        features = rng.normal(size=(len(rows), *width))
        if name == "link" and not forbid:
            features[:, 1] = -1
        factors[name] = Factors(rows, features)
    model = Model(
        {
            "shared": Table(weights["shared"]),
            "field": Linear(weights["field"]),
            "pair": Tables(weights["pair"]),
            "link": Function(link),
            "triple": Table(weights["triple"]),
            "trio": Function(trio),
            "count": Count(weights["count"], counted),
        }
    )
    states = np.array(list(itertools.product(*map(range, num_values))))
    scores = []
    for name, (rows, features) in factors.items():
        for number, scope in enumerate(rows):
            values = np.where(scope >= 0, states[:, scope], -1)
            if name == "shared":
                score = weights["shared"][values[:, 0]]
            elif name == "field":
                score = (features[number] @ weights["field"])[values[:, 0]]
            elif name == "pair":
                score = weights["pair"][number][values[:, 0], values[:, 1]]
            elif name == "triple":
                score = weights["triple"][tuple(values.T)]
            elif name == "link":
                strength, strict = features[number]
                score = strength * abs(values[:, 0] - values[:, 1])
                score[(values[:, 0] == values[:, 1]) & (strict > 0)] = -np.inf
            elif name == "trio":
                score = features[number] * np.maximum(values, 0).sum(axis=1) ** 2
            else:
                score = weights["count"][(counted[values] & (values >= 0)).sum(axis=1)]
            scores.append((name, tuple(scope[scope >= 0].tolist()), score))
    graph = Graph.of(num_values, factors)
    wide = np.zeros((NUM_STATES, SITES), np.int32)
    wide[:, :size] = states[np.minimum(np.arange(NUM_STATES), len(states) - 1)]
    index = np.minimum(np.arange(NUM_STATES), len(states) - 1)
    scores = [(name, scope, score[index]) for name, scope, score in scores]
    return Case(model, padded(graph, SIZES), graph, wide, scores)
