"""CRF log-likelihood and gradient of a whole data set, beside CRFsuite's on the same data.

CRFsuite runs on one thread. For one thread each, pin the process: `taskset -c 0 python -m
benchmarks crf`; the number of cores that it may use is in the result.
"""

from __future__ import annotations

import os
import time
from typing import Any

import equinox as eqx
import jax
import numpy as np
import pycrfsuite

from doeblin.crf import Corpus, LinearPotentials, Observed, SparseFeatures
from doeblin.learning import Dataset

SEQUENCES, LABELS, FEATURES, ENTRIES = 1000, 10, 2000, 12
ITERATIONS = 20


def generate(seed: int = 0) -> list[tuple[np.ndarray, np.ndarray]]:
    """Sequences of 5 to 40 places with a dozen indicator features each; labels follow them."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(FEATURES, LABELS))
    transitions = rng.normal(size=(LABELS, LABELS))
    data = []
    for length in rng.integers(5, 41, size=SEQUENCES):
        numbers = rng.integers(0, FEATURES, size=(length, ENTRIES))
        labels = np.zeros(length, dtype=np.int32)
        for t in range(length):
            logits = weights[numbers[t]].sum(axis=0)
            logits += transitions[labels[t - 1]] if t else 0
            labels[t] = np.argmax(logits + rng.gumbel(size=LABELS))
        data.append((numbers.astype(np.int32), labels))
    return data


def ours(data: list[tuple[np.ndarray, np.ndarray]]) -> float:
    """Seconds for one log-likelihood and gradient of all data."""

    def pad(example: Any, length: int) -> Any:
        numbers, labels = example
        missing = length - len(labels)
        values = np.zeros((length, ENTRIES), np.float32)
        values[: len(labels)] = 1
        numbers = np.pad(numbers, ((0, missing), (0, 0)))
        observed = Observed(SparseFeatures(numbers, values), np.array(len(labels)))
        return observed, np.pad(labels, (0, missing))

    buckets = Dataset(data, length=lambda e: len(e[1]), pad=pad, num_buckets=6).buckets
    corpus = Corpus(buckets, FEATURES, LABELS)
    value_and_grad = eqx.filter_jit(
        lambda corpus, potentials: jax.value_and_grad(corpus.log_likelihood)(potentials)
    )
    potentials = LinearPotentials.zeros(FEATURES, LABELS)
    jax.block_until_ready(value_and_grad(corpus, potentials))
    times = []
    for _ in range(ITERATIONS):
        began = time.perf_counter()
        jax.block_until_ready(value_and_grad(corpus, potentials))
        times.append(time.perf_counter() - began)
    return float(np.median(times))


def theirs(data: list[tuple[np.ndarray, np.ndarray]]) -> float:
    """Seconds an L-BFGS iteration, which is mostly one log-likelihood and gradient of all data."""
    trainer = pycrfsuite.Trainer(verbose=False)
    for numbers, labels in data:
        features = [[str(number) for number in place] for place in numbers]
        trainer.append(features, [str(label) for label in labels])
    trainer.select("lbfgs")
    trainer.set_params(
        {
            "max_iterations": ITERATIONS,
            "feature.possible_transitions": True,
            "feature.possible_states": True,
        }
    )
    trainer.train("")
    # What CRFsuite itself says each iteration took.
    times = [float(iteration["time"]) for iteration in trainer.logparser.iterations]
    return float(np.median(times))


def run() -> dict[str, Any]:
    data = generate()
    seconds, peer = ours(data), theirs(data)
    result = {
        "devices": [str(device) for device in jax.devices()],
        "usable_cores": len(os.sched_getaffinity(0)),
        "sequences": SEQUENCES,
        "labels": LABELS,
        "features": FEATURES,
        "sequences_per_second": SEQUENCES / seconds,
        "crfsuite_sequences_per_second": SEQUENCES / peer,
        "ratio": peer / seconds,
    }
    print(
        f"doeblin {result['sequences_per_second']:.0f}, CRFsuite "
        f"{result['crfsuite_sequences_per_second']:.0f} sequences/s (log-likelihood and gradient): "
        f"{result['ratio']:.2f} times as fast",
        flush=True,
    )
    return result
