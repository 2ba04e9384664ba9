"""Finite chains and certificates, in the worker process."""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np

from .._errors import InputError
from ..finite import (
    doeblin_coefficient,
    is_reversible,
    kl_curves,
    kl_divergence,
    mahalanobis_bound,
    restarted,
    restarted_law,
    spectral_gap,
    stationary,
    total_variation,
)
from ..schedules import Schedule, certify
from ._worker import Emit, Handler, Message, Say

_CURVE = np.geomspace(1e-4, 1.0, 61)


def prepare(say: Say) -> Handler:
    return _handle


def _handle(payload: Message, emit: Emit, cancel: threading.Event) -> Message:
    return (_chain if payload["task"] == "chain" else _certify)(payload)


def _chain(payload: Message) -> Message:
    matrix, restart, epsilon = payload["matrix"], payload["restart"], payload["epsilon"]
    with_restarts = restarted(matrix, restart, epsilon)
    law_restarted = restarted_law(matrix, restart, epsilon)
    curve: list[dict[str, Any]] = []
    answer: Message = {
        "stationary_restarted": law_restarted.tolist(),
        "gap_restarted": spectral_gap(with_restarts),
        "doeblin_coefficient": doeblin_coefficient(matrix),
        "doeblin_coefficient_restarted": doeblin_coefficient(with_restarts),
        "gap": spectral_gap(matrix),
        "certificate": _facts(Schedule.doeblin(epsilon), (0.25, 0.01)),
    }
    try:
        law = stationary(matrix)
    except InputError as error:
        # A chain in several pieces has no one law; with restarts it always has.
        return answer | {"stationary": None, "note": error.message, "curve": curve}
    forward, backward = kl_curves(matrix, restart, _CURVE.tolist())
    curve += [
        {"epsilon": float(e), "kl_restarted_to_law": _finite(f), "kl_law_to_restarted": _finite(b)}
        for e, f, b in zip(_CURVE, forward, backward, strict=True)
    ]
    reversible = is_reversible(matrix)
    return answer | {
        "stationary": law.tolist(),
        "kl_restarted_to_law": _finite(kl_divergence(law_restarted, law)),
        "kl_law_to_restarted": _finite(kl_divergence(law, law_restarted)),
        "total_variation": total_variation(law, law_restarted),
        "reversible": reversible,
        "mahalanobis_bound": _bound(payload) if reversible else None,
        "curve": curve,
    }


def _bound(payload: Message) -> float | None:
    if spectral_gap(payload["matrix"]) < 1e-9:
        return None
    return _finite(mahalanobis_bound(payload["matrix"], payload["restart"], payload["epsilon"]))


def _certify(payload: Message) -> Message:
    given = [name for name in ("exits", "epsilon", "matrix") if payload.get(name) is not None]
    if len(given) != 1:
        raise InputError(f"give exactly one of exits, epsilon and matrix (got {len(given)})")
    if payload.get("exits") is not None:
        schedule = Schedule.cycle(payload["exits"])
    elif payload.get("epsilon") is not None:
        schedule = Schedule.doeblin(payload["epsilon"])
    else:
        schedule = Schedule(payload["matrix"], restart=payload["restart_stage"])
    return _facts(schedule, tuple(payload["tv"]))


def _facts(schedule: Schedule, levels: tuple[float, ...]) -> Message:
    certificate = certify(schedule)
    return {
        "gap": certificate.gap,
        "doeblin_parameter": certificate.doeblin_parameter,
        "steps": certificate.steps,
        "mixing_time": [
            {"tv": level, "steps": _finite(certificate.mixing_time(level))} for level in levels
        ],
        "expected_draw_cost": _finite(certificate.expected_draw_cost),
        "theorem": certificate.theorem,
        "corollary_gap": certificate.corollary_gap,
        "stages": schedule.matrix.tolist(),
        "restart_stage": schedule.restart,
        "stage_law": schedule.stationary().tolist(),
    }


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
