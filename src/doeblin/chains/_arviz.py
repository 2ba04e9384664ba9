"""Runs and draws as ArviZ data, on ArviZ 0.x (InferenceData) and 1.x (DataTree)."""

from __future__ import annotations

import warnings
from typing import Any

import jax
import numpy as np

from .._errors import MissingExtraError
from ._chain import Draws, Position


def to_arviz(visited: Position | Draws) -> Any:
    """One call from a run, or from exact draws, to ArviZ.

    Takes arrays with axes (draw, …) or (chain, draw, …). Every leaf of the state becomes a variable
    of the posterior (a bare array is called `state`); stage, age and tour are coordinates, so that
    `posterior.where(posterior.stage == 2)` selects a stage. Exact draws are tours of their own.
    """
    try:
        import xarray

        with warnings.catch_warnings():
            # ArviZ 0.23 announces 1.0 at import, by a warning that users did not ask for here.
            warnings.simplefilter("ignore", FutureWarning)
            import arviz
    except ImportError:
        raise MissingExtraError("arviz", "interop") from None

    stage = np.asarray(visited.stage)
    if isinstance(visited, Position):
        tour = np.asarray(visited.tour)
    else:
        tour = np.broadcast_to(np.arange(stage.shape[-1]), stage.shape)

    def chainwise(values: Any) -> np.ndarray:
        values = np.asarray(values)
        return values[None] if stage.ndim == 1 else values

    variables = {}
    for path, leaf in jax.tree.leaves_with_path(visited.state):
        name = jax.tree_util.keystr(path, simple=True, separator=".") or "state"
        values = chainwise(leaf)
        axes = [f"{name}_dim_{i}" for i in range(values.ndim - 2)]
        variables[name] = (("chain", "draw", *axes), values)
    per_draw = ("chain", "draw")
    posterior = xarray.Dataset(
        variables,
        coords={
            "chain": np.arange(chainwise(stage).shape[0]),
            "draw": np.arange(stage.shape[-1]),
            "stage": (per_draw, chainwise(stage)),
            "age": (per_draw, chainwise(visited.age)),
            "tour": (per_draw, chainwise(tour)),
        },
        attrs={"inference_library": "doeblin"},
    )
    if arviz.__version__.startswith("0."):
        made: Any = arviz.InferenceData  # newer versions have another of this name
        return made(posterior=posterior)
    return xarray.DataTree.from_dict({"posterior": posterior})
