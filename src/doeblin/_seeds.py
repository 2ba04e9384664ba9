"""What the seed of a training is used for."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax

from ._custom_types import RandomKey
from ._errors import InputError
from ._numbers import whole

# How many there are: JAX takes no others.
SEEDS = 2**63


class SeedKeys(NamedTuple):
    """The keys of one seed, by one split; each is folded with a counter and not used otherwise.

    So a model is measured with other walks than those that it was trained with, whatever the seeds.
    """

    training: RandomKey
    validation: RandomKey
    evaluation: RandomKey
    prediction: RandomKey

    @classmethod
    def of(cls, seed: int) -> SeedKeys:
        # The same whatever generator JAX is told to take by default.
        key = jax.random.key(checked_seed(seed), impl="threefry2x32")
        return cls(*jax.random.split(key, 4))


def checked_seed(seed: Any) -> int:
    """A whole number of any integer type, such as JAX and NumPy both take."""
    number = whole("seed", seed, least=0)
    if number >= SEEDS:
        raise InputError(f"seed = {number} must be below 2**63")
    return number
