"""The paper's three-state example: what restarts do to a slowly mixing chain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .. import finite
from .._errors import MissingExtraError

UNIFORM = np.full(3, 1 / 3)


@dataclass(frozen=True)
class Curve:
    """The restarted law and its distances to the chain's own, along ε, for one δ."""

    delta: float
    stationary: list[float]
    gap: float
    epsilon: list[float]
    restarted: list[list[float]]
    kl_restarted_stationary: list[float]
    kl_stationary_restarted: list[float]
    mahalanobis: list[float]
    mahalanobis_bound: list[float]


@dataclass(frozen=True)
class Example:
    """All numbers of the example."""

    absorption: list[float]
    """Where the chain falls after a uniform restart, in the limit of small δ."""
    curves: list[Curve]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def three_state_example(deltas: Sequence[float], epsilons: Sequence[float]) -> Example:
    """The example for all pairs of δ and ε."""
    sticky = finite.three_state_chain(1e-9)
    fallen = finite.restarted_law(sticky, UNIFORM, 1e-4)[[0, 2]]
    curves = []
    for delta in deltas:
        matrix = finite.three_state_chain(delta)
        law = finite.stationary(matrix)
        laws = [finite.restarted_law(matrix, UNIFORM, epsilon) for epsilon in epsilons]
        forward, backward = finite.kl_curves(matrix, UNIFORM, epsilons)
        curves.append(
            Curve(
                delta=float(delta),
                stationary=law.tolist(),
                gap=finite.spectral_gap(matrix),
                epsilon=[float(epsilon) for epsilon in epsilons],
                restarted=[restarted.tolist() for restarted in laws],
                kl_restarted_stationary=forward.tolist(),
                kl_stationary_restarted=backward.tolist(),
                mahalanobis=[finite.mahalanobis(law, restarted) for restarted in laws],
                mahalanobis_bound=[
                    finite.mahalanobis_bound(matrix, UNIFORM, epsilon) for epsilon in epsilons
                ],
            )
        )
    return Example((fallen / fallen.sum()).tolist(), curves)


def plot_example(example: Example, stem: Path) -> list[Path]:
    """Draw the figure as `stem.png` and `stem.svg`; returns both paths."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "plots") from None

    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    for i, curve in enumerate(example.curves):
        colour = f"C{i}"
        mass = np.array(curve.restarted)
        left.plot(curve.epsilon, mass[:, 0], colour, label=f"δ = {curve.delta:g}")
        left.plot(curve.epsilon, mass[:, 2], colour, linestyle="--")
        right.plot(
            curve.epsilon, curve.kl_restarted_stationary, colour, label=f"δ = {curve.delta:g}"
        )
        for axis in (left, right):
            axis.axvline(curve.delta, color=colour, linestyle=":", linewidth=1)
    for level, text in ((4 / 9, "4/9"), (5 / 9, "5/9")):
        left.axhline(level, color="grey", linewidth=0.5)
        left.annotate(text, (example.curves[0].epsilon[0], level), color="grey", va="bottom")
    left.set(
        xscale="log",
        xlabel="restart probability ε",
        ylabel="stationary probability",
        ylim=(0.3, 0.6),
        title="State 1 (solid) and state 3 (dashed); dots mark ε = δ",
    )
    right.set(
        xscale="log",
        yscale="log",
        xlabel="restart probability ε",
        ylabel="KL(π̃ ‖ π)",
        title="Distance to the chain without restarts",
    )
    left.legend()
    right.legend()
    paths = [stem.with_suffix(".png"), stem.with_suffix(".svg")]
    stem.parent.mkdir(parents=True, exist_ok=True)
    for path in paths:
        figure.savefig(path, dpi=120)
    return paths
