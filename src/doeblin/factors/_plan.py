"""How a labeller learns where its options leave that open, and why."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

import equinox as eqx
import jax
import numpy as np

from .._errors import InputError
from .._numbers import whole
from ..kernels import AbstractKernel
from ..learning import AbstractEstimator
from ..schedules import checked_epsilon
from ._forests import ForestGibbs
from ._graph import Graph
from ._kernels import ColourGibbs, ColourSweep, SiteGibbs
from ._model import Model
from ._potentials import Table, Tables

Learn = Literal["auto", "restart", "likelihood", "contrastive", "pseudo"]

SWEEPS_A_TOUR = 10
"""How often a tour redraws each site, on average."""
FEW_BEYOND = 10
"""Up to so many factors beyond the forest the chain's likelihood is worth its walks."""
STEPS = {"restart": 300, "likelihood": 150, "contrastive": 300, "pseudo": 300}


class Plan(NamedTuple):
    """What a labeller does; printed, it says why."""

    learn: Learn | AbstractEstimator
    kernel: AbstractKernel
    epsilon: float
    batch_size: int
    restart_epochs: int
    epochs: int
    reasons: dict[str, str]

    def __str__(self) -> str:
        told = {**self._asdict(), "kernel": type(self.kernel).__name__}
        return "\n".join(f"{name} = {told[name]}: {why}" for name, why in self.reasons.items())

    @property
    def restart_only(self) -> bool:
        return self.learn == "restart"


class Wishes(NamedTuple):
    """What the user said; None and "auto" leave it to the plan."""

    learn: Any
    kernel: Any
    epsilon: Any
    batch_size: Any
    restart_epochs: Any
    epochs: Any


def planned(
    wishes: Wishes, model: Model, graphs: Sequence[Graph], labels: Sequence[np.ndarray]
) -> Plan:
    """The plan for some graphs and labels."""
    reasons = {name: "as you asked" for name in Wishes._fields}
    learn, reasons["learn"] = _learn(wishes.learn, model, graphs, labels)
    kernel = wishes.kernel
    if kernel is None:
        kernel, reasons["kernel"] = ColourSweep(), "a step redraws every site once"
    elif not isinstance(kernel, AbstractKernel):
        raise InputError(f"kernel = {kernel!r} is no kernel, such as SiteGibbs()")
    if wishes.epsilon is None:
        epsilon, reasons["epsilon"] = _epsilon(kernel, graphs)
    else:
        epsilon = checked_epsilon(wishes.epsilon)
    batch_size = wishes.batch_size
    if batch_size is None:
        batch_size = min(16, len(graphs))
        reasons["batch_size"] = "enough for the noise of one example not to matter"
    batch_size = whole("batch_size", batch_size, least=1)
    batches = math.ceil(len(graphs) / batch_size)
    found = []
    for name, stage in (("restart_epochs", "restart"), ("epochs", learn)):
        asked, steps = (
            getattr(wishes, name),
            STEPS.get(stage if isinstance(stage, str) else "", 150),
        )
        if asked is None:
            asked = math.ceil(steps / batches)
            reasons[name] = f"about {steps} steps, with {batches} batches an epoch"
        found.append(whole(name, asked, least=1))
    return Plan(learn, kernel, epsilon, batch_size, found[0], found[1], reasons)


def _learn(
    learn: Any, model: Model, graphs: Sequence[Graph], labels: Sequence[np.ndarray]
) -> tuple[Any, str]:
    partial = any((each < 0).any() for each in labels)
    if isinstance(learn, AbstractEstimator):
        return learn, "as you asked"
    if learn not in get_args(Learn):
        raise InputError(
            f"learn = {learn!r} must be one of {', '.join(map(repr, get_args(Learn)))}, or an "
            "estimator such as doeblin.learning.Reversal(…)"
        )
    if learn in ("contrastive", "pseudo") and partial:
        raise InputError(
            f"learn = {learn!r} needs all labels, and some are missing (-1); use 'likelihood', for "
            "which they are latent"
        )
    if learn != "auto":
        return learn, "as you asked"
    beyond = max(sum(_beyond(graph).values()) for graph in graphs)
    if not beyond:
        return "restart", "all factors are on the forest, where everything is exact"
    if partial:
        return "likelihood", "labels are missing, and only likelihoods sum over them"
    ruled = [name for name in _rules(model) if any(_beyond(graph)[name] for graph in graphs)]
    if ruled:
        return "contrastive", f"{ruled[0]!r} forbids something beyond the forest, which u allows"
    if beyond <= FEW_BEYOND:
        return "likelihood", (
            f"no more than {FEW_BEYOND} factors are beyond the forest, few enough for walks to "
            "tell; and it is the law that the guarantees are about"
        )
    return "contrastive", (
        f"{beyond} factors of a graph are beyond the forest; from {FEW_BEYOND} on the likelihood's "
        "walks cost much and say little"
    )


def _beyond(graph: Graph) -> dict[str, int]:
    """How many factors of each kind are not on the forest."""
    return {
        name: int(kind.count) - int(kind.on_tree[: int(kind.count)].sum())
        for name, kind in graph.kinds.items()
    }


def _rules(model: Model) -> list[str]:
    """The kinds whose potentials forbid something."""
    return [
        name
        for name, potential in model.potentials.items()
        if (isinstance(potential, Table | Tables) and not potential.allowed.all())
        or any(
            eqx.is_inexact_array(leaf) and not np.isfinite(leaf).all()
            for leaf in jax.tree.leaves(potential)
        )
    ]


def _epsilon(kernel: AbstractKernel, graphs: Sequence[Graph]) -> tuple[float, str]:
    steps, unit = 1.0, "a step redraws every site"
    if isinstance(kernel, SiteGibbs):
        steps = float(np.mean([int(graph.num_sites) for graph in graphs]))
        unit = f"a step redraws one of {steps:.0f} sites"
    elif isinstance(kernel, ColourGibbs):
        steps = float(np.mean([int(graph.num_colours) for graph in graphs]))
        unit = f"a step redraws one of {steps:.1f} colours"
    elif isinstance(kernel, ForestGibbs):
        steps = float(np.mean([int(graph.num_blocks) for graph in graphs]))
        unit = f"a step redraws one of {steps:.1f} forests"
    return 1 / (SWEEPS_A_TOUR * steps), f"{unit}, and a tour each site {SWEEPS_A_TOUR} times"
