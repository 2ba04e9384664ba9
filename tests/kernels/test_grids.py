"""Grids in halves beside the plain way, and what must not be drawn from, in one step or in many."""

from __future__ import annotations

import functools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from doeblin import InputError, doeblin
from doeblin._inversion import random_words
from doeblin.kernels import (
    AbstractKernel,
    ColouredGibbs,
    ColouredSweep,
    Gibbs,
    IndependentSites,
    Potts,
    repeat,
)

GRIDS = [
    Potts((4, 6), num_values=2, coupling=0.7, field=[0.0, 0.3]),
    Potts((3, 4), num_values=5, coupling=1.1, periodic=False),
    Potts((4, 1, 4), num_values=3, coupling=-0.6, field=[0.1, 0.0, -np.inf]),
    Potts((2, 3, 4), num_values=2, coupling=0.4, periodic=False),
    Potts((6,), num_values=3, coupling=0.9),
]


# The edges of two axes are among those of three, and edges that end are seen below.
@pytest.mark.parametrize(
    "model",
    [
        pytest.param(model, marks=() if model.shape == (4, 1, 4) else pytest.mark.thorough)
        for model in GRIDS
    ],
    ids=lambda model: str(model.shape),
)
def test_halves_draw_what_the_plain_way_draws(model: Potts):
    """From the same random words, site by site; and so from the same key."""
    gibbs, whole = model.checkerboard(halves=True), model.checkerboard(halves=False)
    parts, num_values = gibbs.parts, model.field.shape[0]
    assert parts is not None
    colours = np.indices(model.shape).sum(axis=0).ravel() % 2
    places = [np.flatnonzero(colours == colour) for colour in (0, 1)]
    states = jax.random.randint(jax.random.key(1), (50, *model.shape), 0, num_values, jnp.int8)

    @jax.jit
    @jax.vmap
    def both(key: Any, state: Any) -> Any:
        split = parts.split(state)
        scores = model.conditionals(state)
        halves = [(split[colour].ravel(), state.ravel()[places[colour]]) for colour in (0, 1)]
        logits = [
            (each.ravel(), scores[..., value].ravel()[places[colour]])
            for colour in (0, 1)
            for value, each in enumerate(parts.logits(split, colour))
        ]
        swept = []
        for order in ("forward", "backward"):
            sweep = ColouredSweep(gibbs, order)
            drawn, plain = random_words(key, (2, *split[0].shape)), state
            words = jnp.zeros(state.size, drawn.dtype).at[np.concatenate(places)].set(drawn.ravel())
            for colour in (0, 1) if order == "forward" else (1, 0):
                plain = gibbs.redraw(words, plain, colour, None)
            swept += [(sweep.sample(key, state), plain)]
            swept += [(ColouredSweep(whole, order).sample(key, state), plain)]
        return [(parts.join(split), state), *halves, *logits, *swept]

    for found, plain in both(jax.random.split(jax.random.key(2), len(states)), states):
        np.testing.assert_array_equal(found, plain)


def test_grids_that_do_not_fall_in_halves_have_none():
    assert Potts((4, 3), num_values=2, coupling=1.0, periodic=False).checkerboard().parts is None
    assert Potts((4, 2), num_values=2, coupling=1.0, periodic=False).checkerboard().parts is None


def test_halves_are_taken_where_they_were_measured_to_pay(monkeypatch):
    def least(num_values: int) -> int:
        for columns in range(4, 99, 2):
            model = Potts((4, columns), num_values=num_values, coupling=1.0)
            parts = model.checkerboard().parts
            if parts is not None and parts.pays:
                return columns
        return 0

    assert (least(2), least(3), least(5)) == (32, 64, 64)
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    assert (least(2), least(5)) == (4, 4)


@pytest.mark.parametrize("state", [jnp.zeros((4, 4), int), jnp.zeros((6, 4), int)])
def test_states_of_another_shape_are_refused(state: Any):
    sweep = ColouredSweep(GRIDS[0].checkerboard())
    with pytest.raises(InputError, match=r"does not fit a grid of \(4, 6\)"):
        sweep.sample(jax.random.key(0), state)
    with pytest.raises(InputError, match=r"sites must be integers"):
        sweep.sample(jax.random.key(0), jnp.zeros((4, 6)))


LARGEST = float(jnp.finfo(jnp.result_type(float)).max)
SMALL = Potts((2, 4), num_values=2, coupling=0.7, periodic=False)


def coloured(model: Potts, conditionals: Any) -> ColouredGibbs:
    return ColouredGibbs(model, conditionals, np.indices(model.shape).sum(axis=0) % 2, 2)


@pytest.mark.parametrize(
    "kernel",
    [
        SMALL.gibbs(),
        Gibbs(SMALL, 40, conditional=lambda s, i, x: 0.1 * jnp.arange(40.0) + s.sum()),
        coloured(SMALL, SMALL.conditionals),
        ColouredSweep(coloured(SMALL, SMALL.conditionals)),
        ColouredSweep(SMALL.checkerboard(halves=True)),
    ],
    ids=["Gibbs", "Gibbs, many values", "ColouredGibbs", "ColouredSweep", "in halves"],
)
def test_many_steps_are_the_steps_one_by_one(kernel: AbstractKernel):
    state = jnp.zeros(SMALL.shape, jnp.int8)
    keys = jax.random.split(jax.random.key(0), 9)
    step = jax.jit(lambda key, state: kernel.sample(key, state))
    one_by_one = state
    for key in keys:
        one_by_one = step(key, one_by_one)
    many = jax.jit(lambda keys, state: kernel.sample_many(keys, state))(keys, state)
    np.testing.assert_array_equal(many, one_by_one)
    assert many.dtype == state.dtype


def once(bad: list[float], state: Any, fine: Any) -> Any:
    """`bad` logits in the state of zeros alone."""
    return jnp.where((state == 0).all(), jnp.asarray(bad), fine)


def conditional(bad: list[float]) -> Any:
    return lambda state, site, x: once(bad, state, SMALL.conditional(state, site))


def conditionals(bad: list[float]) -> Any:
    return lambda state, x: once(bad, state, SMALL.conditionals(state))


BAD = {
    "NaN": [0.0, np.nan],
    "+inf": [0.0, np.inf],
    "+inf first": [np.inf, 0.0],
    "no value": [-np.inf, -np.inf],
}
KERNELS = {
    "Gibbs": lambda bad: Gibbs(SMALL, 2, conditional=conditional(bad)),
    "ColouredGibbs": lambda bad: coloured(SMALL, conditionals(bad)),
    "ColouredSweep": lambda bad: ColouredSweep(coloured(SMALL, conditionals(bad))),
}


@functools.partial(jax.jit, static_argnums=(0, 1))
def bad_steps(name: str, times: int, bad: Any, key: Any) -> Any:
    kernel = repeat(KERNELS[name](bad), times)
    return kernel.sample(key, jnp.zeros(SMALL.shape, jnp.int32))


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("name", KERNELS)
def test_one_bad_step_among_many_is_an_error(name: str, kind: str):
    """It is the first of them that is bad; from [0, +inf] chains move on to good states."""
    for times in (1, 20):
        with pytest.raises(RuntimeError, match=r"NaN or \+inf, or -inf for every value of a site"):
            bad = jnp.asarray(BAD[kind])
            jax.block_until_ready(bad_steps(name, times, bad, jax.random.key(0)))


STRIP = Potts((2, 4), num_values=2, coupling=0.5, periodic=False)


@pytest.mark.parametrize(
    "model",
    [
        # As learning may leave it: nobody is asked then.
        eqx.tree_at(lambda model: model.coupling, STRIP, jnp.array(np.nan)),
        eqx.tree_at(lambda model: model.coupling, STRIP, jnp.array(np.inf)),
        Potts((2, 4), num_values=2, coupling=0.3 * LARGEST, periodic=False),  # too large four times
        Potts((2, 4), num_values=2, coupling=0.5, field=[0.0, np.nan], periodic=False),
        Potts((2, 4), num_values=2, coupling=0.5, field=[np.inf, 0.0], periodic=False),
        Potts((2, 4), num_values=2, coupling=0.5, field=[-np.inf, -np.inf], periodic=False),
    ],
    ids=lambda model: f"{float(model.coupling)}, {np.asarray(model.field).tolist()}",
)
def test_grids_without_a_law_are_refused(model: Potts):
    with pytest.raises(RuntimeError, match=r"NaN or \+inf, or -inf for every value of a site"):
        jax.block_until_ready(three_sweeps(model, jax.random.key(0)))


@eqx.filter_jit
def three_sweeps(model: Potts, key: Any) -> Any:
    sweep = ColouredSweep(model.checkerboard(halves=True))
    return repeat(sweep, 3).sample(key, jnp.zeros(model.shape, jnp.int32))


def test_grids_whose_scores_are_large_and_finite_are_drawn_from():
    """Four equal neighbours score 0.8 of the largest number: all sites remain as they are."""
    model = Potts((4, 4), num_values=2, coupling=0.2 * LARGEST)
    sweep = ColouredSweep(model.checkerboard())
    assert not eqx.filter_jit(sweep.sample)(jax.random.key(0), jnp.zeros((4, 4), jnp.int32)).any()


def test_sweeps_may_be_arguments_of_what_is_compiled():
    sweep = ColouredSweep(SMALL.checkerboard(halves=True))
    state, key = jnp.zeros(SMALL.shape, jnp.int32), jax.random.key(0)
    found = jax.jit(lambda kernel, key: kernel.sample(key, state))(sweep, key)
    np.testing.assert_array_equal(found, jax.jit(lambda key: sweep.sample(key, state))(key))


def test_impossible_values_are_never_drawn():
    model = Potts((2, 4), num_values=3, coupling=0.5, field=[-np.inf, 0.0, -np.inf], periodic=False)
    for kernel in (ColouredSweep(model.checkerboard(halves=True)), repeat(model.gibbs(), 200)):
        moved = jax.jit(jax.vmap(lambda key, k=kernel: k.sample(key, jnp.zeros((2, 4), int))))(
            jax.random.split(jax.random.key(3), 100)
        )
        assert (moved == 1).all()


@pytest.mark.parametrize(
    "name", ["Gibbs", pytest.param("ColouredSweep", marks=pytest.mark.thorough)]
)
def test_chains_tell_of_bad_steps_inside_of_many(name: str):
    restart = IndependentSites.uniform(SMALL.shape, num_values=2)
    chain = doeblin(repeat(KERNELS[name](BAD["+inf"]), 8), restart, 0.5)
    key = jax.random.key(0)
    # Estimates walk their tours as draws walk theirs.
    for call in (lambda: chain.run(key, 1000), lambda: chain.draw(key, 1000)):
        with pytest.raises(InputError, match="returned NaN or") as caught:
            call()
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("coupling", [np.nan, np.inf, np.ones((2, 3))])
def test_couplings_are_one_finite_number(coupling: Any):
    with pytest.raises(InputError, match="one finite number"):
        Potts((2, 3), num_values=2, coupling=coupling, periodic=False)


def test_densities_of_states_of_another_shape_are_refused():
    model = Potts((2, 3), num_values=2, coupling=1.0, periodic=False)
    with pytest.raises(InputError, match=r"\(3, 2\) does not fit a grid of \(2, 3\)"):
        model(jnp.zeros((3, 2), int))
