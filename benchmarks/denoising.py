"""Noisy pictures of 32 × 32 pixels: a field that is learned, beside the best coupling by hand.

What is learned by a likelihood of whole pictures does not have fewest pixels wrong where no field
has the shapes that are to be found. So there are rows that learn from wrong pixels: by a reward,
and by the scale of the coupling that labels the *training* pictures best.
"""

from __future__ import annotations

import time
from typing import Any

import jax
import numpy as np

from doeblin.factors import Factors, Graph, GraphLabeller, Linear, Model, Table, along
from doeblin.learning import FixedHorizon, Reward

SIDE, NOISE = 32, 1.5
TRAIN, TEST = 8, 12
COUPLINGS = (0.4, 0.8, 1.0, 1.2, 1.4, 1.7, 2.0)
LEARN = ("restart", "pseudo", "contrastive", "likelihood")
SCALES = (0.3, 0.4, 0.5, 0.6, 0.7, 0.85, 1.0)
A_PIXEL = 0.05
"""What a wrong pixel takes off the logarithm of the reward: some ten of them are its noise."""


def pictures(count: int, seed: int) -> tuple[list[Graph], list[np.ndarray]]:
    """Smooth shapes (white noise, averaged over and over, cut at zero), seen through noise."""
    rng = np.random.default_rng(seed)
    graphs, labels = [], []
    sites = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
    for _ in range(count):
        field = rng.normal(size=(SIDE, SIDE))
        for _ in range(8):
            for axis in (0, 1):
                field = (field + np.roll(field, 1, axis) + np.roll(field, -1, axis)) / 3
        clean = (field > 0).astype(int)
        seen = 2 * clean - 1 + rng.normal(0, NOISE, size=clean.shape)
        features = np.stack([seen.ravel(), np.ones(seen.size)], axis=1)
        factors = {
            "seen": Factors(sites.reshape(-1, 1), features),
            "across": along(sites, axis=1),
            "down": along(sites, axis=0),
        }
        graphs.append(Graph.of(np.full(sites.size, 2), factors))
        labels.append(clean.ravel())
    return graphs, labels


def by_hand(coupling: float) -> Model:
    """The field of the noise as it is, and one coupling for all neighbours."""
    field = np.array([[-1.0, 1.0], [0.0, 0.0]]) / NOISE**2
    pair = Table(coupling * np.eye(2))
    return Model({"seen": Linear(field), "across": pair, "down": pair})


def few_wrong(y: Any, state: Any, x: Any) -> Any:
    """log r: the fewer pixels are wrong the better."""
    return -A_PIXEL * (state != y).sum()


def scaled(model: Model, scale: float) -> Model:
    """A with all scores of pairs times a number."""
    potentials = {
        name: each if name == "seen" else jax.tree.map(lambda leaf: scale * leaf, each)
        for name, each in model.potentials.items()
    }
    return Model(potentials, model.base, model.beyond)


def run() -> dict[str, Any]:
    train, test = pictures(TRAIN, seed=0), pictures(TEST, seed=1)
    truth = np.concatenate(test[1])
    alone = np.concatenate([graph.kinds["seen"].features[:, 0] > 0 for graph in test[0]])
    print(f"  each pixel by itself: {np.mean(alone != truth):.4f}", flush=True)
    rows: list[dict[str, Any]] = []

    def tell(name: str, labeller: GraphLabeller, began: float) -> None:
        seconds = time.process_time() - began
        found = zip(labeller.predict(test[0]), test[1], strict=True)
        each = np.array([np.mean(mine != own) for mine, own in found])
        own = 1 - labeller.score(*train)
        rows.append({"by": name, "wrong": each, "train_wrong": own, "fit_cpu_s": seconds})
        print(f"  {name}: {each.mean():.4f}, of training {own:.4f}; {seconds:.0f} s", flush=True)

    def judge(name: str, model: Model, **options: Any) -> GraphLabeller:
        labeller = GraphLabeller(model, num_tours=64, num_buckets=1, **options)
        began = time.process_time()
        labeller.fit(*train)
        tell(name, labeller, began)
        return labeller

    blank = Model(
        {"seen": Linear.zeros(2, 2), "across": Table.zeros(2, 2), "down": Table.zeros(2, 2)}
    )
    learned = {learn: judge(learn, blank, learn=learn) for learn in LEARN}
    judge("reward", blank, learn=Reward(few_wrong, FixedHorizon(0.1), num_walks=8))
    labeller, began = learned["pseudo"], time.process_time()
    whole = labeller.model_
    right = {}
    for scale in SCALES:
        labeller.model_ = scaled(whole, scale)
        right[scale] = labeller.score(*train)
    best = max(right, key=right.__getitem__)
    labeller.model_ = scaled(whole, best)
    tell(f"pseudo, its coupling times {best} by the training pictures", labeller, began)
    for coupling in COUPLINGS:
        still = {"learning_rate": 0.0, "restart_epochs": 1, "epochs": 1}
        judge(f"J = {coupling}", by_hand(coupling), learn="pseudo", **still)
    # As judged by the test itself: a learner has the training pictures alone.
    best_by_hand = min(rows[-len(COUPLINGS) :], key=lambda row: row["wrong"].mean())["wrong"]
    for row in rows:
        more = row["wrong"] - best_by_hand
        row |= {
            "wrong": float(row["wrong"].mean()),
            "more_than_by_hand": float(more.mean()),
            "its_error": float(more.std(ddof=1) / np.sqrt(len(more))),
        }
        print(
            f"  {row['by']}: {row['more_than_by_hand']:+.4f} ± {row['its_error']:.4f}", flush=True
        )
    return {"rows": rows}
