"""What the seed of a training is used for."""

from __future__ import annotations

from typing import NamedTuple

import jax

from ._custom_types import RandomKey


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
        return cls(*jax.random.split(jax.random.key(seed, impl="threefry2x32"), 4))
