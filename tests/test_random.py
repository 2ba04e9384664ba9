"""Keys with quick code draw what JAX's own keys draw, bit for bit."""

from __future__ import annotations

import jax
import jax.extend.random
import jax.numpy as jnp
import numpy as np
import pytest

from doeblin import InputError
from doeblin._random import _counts, alone, quick

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


@pytest.mark.parametrize("kind", ["rbg", "unsafe_rbg"])
def test_keys_whose_bits_depend_on_others_are_replaced(kind):
    """JAX draws from the first of a batch: where two differ in that, the second differs, too."""

    def drawn(words):
        keys = jax.random.wrap_key_data(jnp.array(words, jnp.uint32), impl=kind)
        own = jax.vmap(lambda key: jax.random.bits(key))(keys)
        return own[1], jax.vmap(lambda key: jax.random.bits(alone(key)))(keys)[1]

    one, other = drawn([[1, 2, 3, 4], [5, 6, 7, 8]]), drawn([[0, 2, 3, 4], [5, 6, 7, 8]])
    assert one[0] != other[0] and one[1] == other[1]
    # Every word of it counts.
    words = jnp.array([[5, 6, 7, 8], [1, 6, 7, 8], [5, 1, 7, 8], [5, 6, 1, 8], [5, 6, 7, 1]])
    keys = jax.random.wrap_key_data(words.astype(jnp.uint32), impl=kind)
    assert len({int(jax.random.bits(quick(key))) for key in keys}) == len(words)
    with jax.default_prng_impl(kind):
        assert alone(jax.random.key_data(keys[0])) == alone(keys[0])


def test_generators_of_others_are_not_trusted():
    """One that does as `rbg` does, by another name."""
    rbg = jax.extend.random.rbg_prng_impl
    own = jax.extend.random.define_prng_impl(
        key_shape=(4,),
        seed=rbg.seed,
        split=rbg.split,
        random_bits=rbg.random_bits,
        fold_in=rbg.fold_in,
        name="others",
        tag="others",
    )
    key, same = jax.random.key(3, impl=own), jax.random.key(3, impl="rbg")
    assert alone(key) == alone(same) and str(jax.random.key_impl(alone(key))) == "threefry2x32"


def test_other_keys_stay_as_they_are():
    key, legacy = jax.random.key(0), jax.random.PRNGKey(0)
    assert alone(key) is key and quick(legacy) is legacy
    assert quick(quick(key)) == quick(key)


def test_more_numbers_than_counters_are_refused():
    with pytest.raises(InputError, match="4294967296 random numbers from one key are too many"):
        jax.eval_shape(lambda: _counts((2**16, 2**16)))
