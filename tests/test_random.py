"""Keys with quick code draw what JAX's own keys draw, bit for bit."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from doeblin import InputError
from doeblin._random import _counts, quick

pytestmark = pytest.mark.double
SEEDS = jnp.array([0, 1, 2, 12345, 2**31 - 1], jnp.uint32)

USES = {
    "split": lambda key: jax.random.key_data(jax.random.split(key, (2, 3))),
    "fold": lambda key: jax.random.key_data(jax.random.fold_in(key, 2**31 + 7)),
    "uniform": lambda key: jax.random.uniform(key, (3, 5)),
    "normal": lambda key: jax.random.normal(key, (7,)),
    "randint": lambda key: jax.random.randint(key, (11,), -3, 1000),
    "categorical": lambda key: jax.random.categorical(key, jnp.arange(6.0), shape=(9,)),
    "bits8": lambda key: jax.random.bits(key, (5,), jnp.uint8),
    "bits16": lambda key: jax.random.bits(key, (5,), jnp.uint16),
    "bits32": lambda key: jax.random.bits(key, (), jnp.uint32),
    "none": lambda key: jax.random.bits(key, (0,), jnp.uint32),
    "grandchildren": lambda key: jax.random.key_data(
        jax.random.split(jax.random.split(jax.random.fold_in(key, 5), (2, 3))[1, 2], 2)
    ),
    "permutation": lambda key: jax.random.permutation(key, 10),
}


# Words have no precision: of `make test`, by its part in double precision alone.
WORDS = {"split", "fold", "bits8", "bits16", "bits32", "none", "grandchildren"}


@pytest.mark.parametrize(
    "use",
    [
        pytest.param(use, id=name, marks=pytest.mark.thorough if name in WORDS else ())
        for name, use in USES.items()
    ],
)
def test_quick_keys_give_jax_bits(use):
    """Of many keys at once, and of one."""

    @jax.jit
    def both(seeds):
        keys = jax.vmap(jax.random.key)(seeds)
        many = jax.vmap(lambda k: use(quick(k)))(keys), jax.vmap(use)(keys)
        return many, (use(quick(keys[3])), use(keys[3]))

    for found, expected in both(SEEDS):
        np.testing.assert_array_equal(found, expected)


def test_quick_keys_need_no_compiler():
    key, use = jax.random.key(12345), USES["uniform"]
    np.testing.assert_array_equal(use(quick(key)), use(key))


def test_keys_of_other_generators_stay_as_they_are():
    key = jax.random.key(0, impl="rbg")
    assert quick(key).dtype == key.dtype
    legacy = jax.random.PRNGKey(0)
    assert quick(legacy) is legacy


def test_more_numbers_than_counters_are_refused():
    with pytest.raises(InputError, match="4294967296 random numbers from one key are too many"):
        jax.eval_shape(lambda: _counts((2**16, 2**16)))
