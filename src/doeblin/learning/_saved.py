"""Learned parameters in files that are safe to read: arrays and JSON, no code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from .._errors import InputError, Place
from . import _checkpoint as checkpoints


def save_parameters(path: str | Path, parameters: Any, facts: dict[str, Any] | None = None) -> None:
    """Write all arrays of `parameters` to a safetensors file, all or nothing, with some facts
    (anything that JSON can say)."""
    checkpoints.save(Path(path), {"parameters": _arrays(parameters)}, facts or {})


def load_parameters(path: str | Path, like: Any) -> tuple[Any, dict[str, Any]]:
    """What `save_parameters` wrote, in a tree of the same form as `like`; and the facts.

    All that is no array is taken from `like`. A file that is damaged, or whose arrays have other
    names, shapes or types, is refused.
    """
    if not Path(path).is_file():
        raise InputError("there is no such file to load parameters from", place=Place(str(path)))
    trees, facts = checkpoints.load(Path(path), {"parameters": _arrays(like)})
    found = jax.tree.map(jnp.asarray, trees["parameters"])
    return eqx.combine(found, eqx.filter(like, eqx.is_array, inverse=True)), facts


def _arrays(parameters: Any) -> Any:
    return eqx.filter(parameters, eqx.is_array)
