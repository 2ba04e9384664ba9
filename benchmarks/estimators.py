"""When which estimator wins: small grids whose true law is summed over, state by state.

Labels are drawn from a law that is known; each is seen through noise. What a labeller then has
wrong beyond the best that anyone could do is a sum, too: no noise of a test in it.
"""

from __future__ import annotations

import itertools
import time
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np

from doeblin.factors import (
    Factors,
    Graph,
    GraphLabeller,
    Linear,
    Model,
    Table,
    along,
    labelled,
    marginals,
)

SHAPE, NOISE = (3, 4), 1.5
SEEDS, TEST, WALKS = 6, 100, 128
LEARN = ("restart", "pseudo", "contrastive", "likelihood")
NEEDS_ALL = ("pseudo", "contrastive")
"""They refuse graphs with missing labels, and get the others only."""

SITES = np.arange(np.prod(SHAPE)).reshape(SHAPE)
EDGES = np.concatenate([along(SITES, axis=1), along(SITES, axis=0)])
STATES = np.array(list(itertools.product((0, 1), repeat=SITES.size)))


class Setting(NamedTuple):
    name: str
    coupling: float
    grids: int
    crowd: float = 0.0
    """How much the true law likes a majority of all sites, which no factor of the model says."""
    missing: float = 0.0
    """The share of labels that are missing in four graphs of five."""


SETTINGS = (
    Setting("weak coupling (0.3), 200 grids", 0.3, 200),
    Setting("weak coupling (0.3), 10 grids", 0.3, 10),
    Setting("strong coupling (1.2), 200 grids", 1.2, 200),
    Setting("strong coupling (1.2), 10 grids", 1.2, 10),
    Setting("a majority that the model lacks, 200 grids", 0.1, 200, crowd=0.5),
    Setting("half of the labels missing in 4 of 5, 50 grids", 0.8, 50, missing=0.5),
)


def prior(setting: Setting) -> np.ndarray:
    agree = (STATES[:, EDGES[:, 0]] == STATES[:, EDGES[:, 1]]).sum(axis=1)
    majority = np.abs(2 * STATES.sum(axis=1) - SITES.size)
    scores = setting.coupling * agree + setting.crowd * majority
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()


def drawn(setting: Setting, count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Labels, and what is seen of them."""
    labels = STATES[rng.choice(len(STATES), size=count, p=prior(setting))]
    return labels, 2 * labels - 1 + rng.normal(0, NOISE, size=labels.shape)


def truth(setting: Setting, seen: np.ndarray) -> np.ndarray:
    """P(1 | what is seen) of each site, by the true law."""
    scores = np.log(prior(setting)) + seen @ (2 * STATES.T - 1) / NOISE**2
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights @ STATES / weights.sum(axis=1, keepdims=True)


def graph(seen: np.ndarray) -> Graph:
    features = np.stack([seen, np.ones_like(seen)], axis=1)
    factors = {"seen": Factors(SITES.reshape(-1, 1), features), "pair": EDGES}
    return Graph.of(np.full(SITES.size, 2), factors)


@eqx.filter_jit
def _probabilities(model: Model, graphs: Graph, epsilon: float, exact: bool) -> Any:
    def one(key: Any, graph: Graph) -> Any:
        given = model.given(graph)
        if exact:
            return given.law.marginals(graph)[:, 1]
        return marginals(key, given, epsilon, num_walks=WALKS)[:, 1]

    return jax.vmap(one)(jax.random.split(jax.random.key(0), TEST), graphs)


def _fitted(learn: str, graphs: list[Graph], labels: list[np.ndarray], seed: int) -> GraphLabeller:
    if learn in NEEDS_ALL:
        whole = [number for number, each in enumerate(labels) if (each >= 0).all()]
        graphs, labels = [graphs[i] for i in whole], [labels[i] for i in whole]
    model = Model({"seen": Linear.zeros(2, 2), "pair": Table.zeros(2, 2)})
    labeller: Any = GraphLabeller(model, learn=learn, seed=seed, num_buckets=1)
    return labeller.fit(graphs, labels)


def _case(number: int, seed: int) -> dict[str, dict[str, float]]:
    """How much each estimator has wrong beyond what must be, and how far its probabilities are."""
    setting, rng = SETTINGS[number], np.random.default_rng([seed, number])
    labels, seen = drawn(setting, setting.grids, rng)
    hidden = rng.random(labels.shape) < setting.missing
    hidden[: -(-setting.grids // 5)] = False
    shown = list(np.where(hidden, -1, labels))
    unseen = drawn(setting, TEST, rng)[1]
    right = truth(setting, unseen)
    graphs = [graph(each) for each in seen]
    tested = labelled([(graph(each), np.zeros(SITES.size, int)) for each in unseen], num_buckets=1)
    found = {}
    for learn in LEARN:
        began = time.process_time()
        labeller = _fitted(learn, graphs, shown, seed)
        seconds = time.process_time() - began
        ours = np.asarray(
            _probabilities(
                labeller.model_, tested.buckets[0][0], labeller.epsilon_, labeller.exact_
            )
        )
        wrong = np.abs(2 * right - 1) * ((ours > 0.5) != (right > 0.5))
        ours = np.clip(ours, 1e-3, 1 - 1e-3)
        far = right * np.log(right / ours) + (1 - right) * np.log((1 - right) / (1 - ours))
        found[learn] = {"wrong": wrong.mean(), "far": far.mean(), "fit_cpu_s": seconds}
    return found


def _row(number: int) -> dict[str, Any]:
    cases = [_case(number, seed) for seed in range(SEEDS)]
    row: dict[str, Any] = {"setting": SETTINGS[number]._asdict()}
    print(f"  {SETTINGS[number].name}:", flush=True)
    for learn in LEARN:
        found = {name: np.array([case[learn][name] for case in cases]) for name in cases[0][learn]}
        one = {name: float(each.mean()) for name, each in found.items()}
        for name in ("wrong", "far"):
            one[f"{name}_error"] = float(found[name].std(ddof=1) / np.sqrt(SEEDS))
        one["fit_cpu_s"] = float(np.median(found["fit_cpu_s"]))
        row[learn] = one
        print(
            f"    {learn}: {1e3 * one['wrong']:.1f} ± {1e3 * one['wrong_error']:.1f} of 1,000 "
            f"wrong beyond what must be, {1e3 * one['far']:.1f} ± {1e3 * one['far_error']:.1f} "
            f"thousandths of a nat off, {one['fit_cpu_s']:.1f} s",
            flush=True,
        )
    return row


def run() -> dict[str, Any]:
    return {"seeds": SEEDS, "rows": [_row(number) for number in range(len(SETTINGS))]}
