"""Noisy pictures of 32 × 32 pixels: a field that is learned, beside the best coupling by hand."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from doeblin.factors import Factors, Graph, GraphLabeller, Linear, Model, Table, along

SIDE, NOISE = 32, 1.5
TRAIN, TEST = 8, 12
COUPLINGS = (0.4, 0.8, 1.0, 1.2, 1.4, 1.7, 2.0)
LEARN = ("restart", "pseudo", "contrastive")


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


def run() -> dict[str, Any]:
    train, test = pictures(TRAIN, seed=0), pictures(TEST, seed=1)
    truth = np.concatenate(test[1])
    alone = np.concatenate([graph.kinds["seen"].features[:, 0] > 0 for graph in test[0]])
    rows: list[dict[str, Any]] = [{"by": "each pixel by itself", "wrong": np.mean(alone != truth)}]

    def judge(name: str, model: Model, **options: Any) -> None:
        labeller = GraphLabeller(model, num_tours=64, num_buckets=1, **options)
        began = time.process_time()
        labeller.fit(*train)
        seconds = time.process_time() - began
        found = np.concatenate(labeller.predict(test[0]))
        rows.append({"by": name, "wrong": np.mean(found != truth), "fit_cpu_s": seconds})
        print(f"  {rows[-1]}", flush=True)

    blank = Model(
        {"seen": Linear.zeros(2, 2), "across": Table.zeros(2, 2), "down": Table.zeros(2, 2)}
    )
    for learn in LEARN:
        judge(learn, blank, learn=learn)
    for coupling in COUPLINGS:
        still = {"learning_rate": 0.0, "restart_epochs": 1, "epochs": 1}
        judge(f"J = {coupling}", by_hand(coupling), learn="pseudo", **still)
    return {"rows": [{**row, "wrong": float(row["wrong"])} for row in rows]}
