"""Many devices in one process: the same draws, the same training, whatever their number.

All tests run in processes that have four (`tests/conftest.py`).
"""

from __future__ import annotations

from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax.sharding import Mesh

from doeblin import InputError
from doeblin.chains import Chain, Draws, doeblin
from doeblin.kernels import FunctionKernel, FunctionRestart
from doeblin.learning import (
    ApproximateGibbs,
    Bidirectional,
    Contrastive,
    Fit,
    FixedHorizon,
    Forward,
    PathEstimate,
    PersistentContrastive,
    RestartLikelihood,
    Reversal,
    Reward,
    fit,
    likelihood,
    log_likelihood,
)

from ..learning.models import PLAIN, noisy
from ..learning.test_fit import data, start

pytestmark = pytest.mark.skipif(
    jax.default_backend() != "cpu", reason="four devices are made of a processor"
)
KEY = jax.random.key(7)


def mesh_of(*shape: int) -> Mesh:
    devices = np.array(jax.devices()[: int(np.prod(shape))]).reshape(shape)
    return Mesh(devices, tuple("ab"[: len(shape)]))


def walker(epsilon: float = 0.2) -> Chain:
    """States know all that went into them, the input, too, so that any slip is seen. They are whole
    numbers, which no compiler rounds, in a tree. A state that meets another input is an error."""
    return doeblin(FunctionKernel(_drift), FunctionRestart(_begin, _never), epsilon)


def _drift(key, state, x):
    (number,) = state["number"]
    number = eqx.error_if(number, state["x"] != x, "this is the state of another input")
    return {
        "number": ((5 * number + x + jax.random.randint(key, (), 0, 1 << 20)) % 1000003,),
        "x": x,
    }


def _begin(key, x):
    return {"number": (x + jax.random.randint(key, (), 0, 1 << 20),), "x": x}


def _never(state, x):
    raise AssertionError("no draw needs a density")


XS = 7 * jnp.arange(4)


def same(one: Draws, other: Draws) -> None:
    assert jax.tree.structure(one) == jax.tree.structure(other)
    for each, beside in zip(jax.tree.leaves(one[:3]), jax.tree.leaves(other[:3]), strict=True):
        np.testing.assert_array_equal(each, beside)


def test_draws_do_not_depend_on_the_devices():
    """Four do not divide 3 x 3 draws: one device has only copies, which must not be seen.

    The mesh is given, or set; its axes are of either of JAX's types.
    """
    chain = walker()
    alone = chain.draw_each(KEY, 3, XS[:3])
    with jax.set_mesh(jax.make_mesh((4,), ("explicit",))):
        found = chain.draw_each(KEY, 3, XS[:3])
        assert len(found.age.sharding.device_set) == 4
        assert (found.age + jnp.ones((1, 3))).shape == (3, 3)  # JAX's own arrays go with it
    same(alone, found)
    assert 0 < float(found.useful) <= 1

    even = chain.draw_each(KEY, 3, XS, mesh=mesh_of(2, 2))
    same(alone, jax.tree.map(lambda leaf: leaf[:3] if leaf.ndim else leaf, even))
    # They stay where they were drawn.
    assert [shard.data.shape for shard in even.age.addressable_shards] == [(1, 3)] * 4


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("devices", "call"),
    [
        (3, lambda **mesh: walker().draw(KEY, 7, XS[1], **mesh)),
        *(
            pytest.param(*each, marks=pytest.mark.thorough)
            for each in (
                (2, lambda **mesh: walker().draw(KEY, 7, XS[1], **mesh)),
                (2, lambda **mesh: walker().draw_each(KEY, 2, XS, **mesh)),
                (3, lambda **mesh: walker().draw_each(KEY, 2, XS, **mesh)),
            )
        ),
    ],
)
def test_draws_on_some_of_the_devices(devices: int, call):
    """Neither the first of them nor in their order; with names that XLA does not survive."""
    some = np.array(jax.devices()[:0:-1][:devices])
    same(call(), call(mesh=Mesh(some.reshape(1, devices), ("", "ε̃ \\C"))))


@pytest.mark.parametrize(
    "devices", [3, *(pytest.param(n, marks=pytest.mark.thorough) for n in (1, 2, 4))]
)
def test_estimates_do_not_depend_on_the_devices(devices: int):
    chain, options = walker(), {"num_tours": 50, "chunk": 18, "x": XS[2]}
    alone = chain.estimate(KEY, _remainder, **options)
    assert alone == chain.estimate(KEY, _remainder, **options, mesh=mesh_of(devices))


class _Scaled(eqx.Module):
    factor: jax.Array

    def __call__(self, state):
        return self.factor * _remainder(state)


@pytest.mark.thorough  # arrays of chains and of data are handed over in all tests here
@pytest.mark.parametrize("number", [0, 3])
def test_arrays_of_functions_are_handed_over(number: int):
    """From whatever device they are on, by modules and by what functions enclose."""
    factor = jax.device_put(jnp.float32(2), jax.devices()[number])
    scaled = _Scaled(factor), lambda state: factor * (state["number"][0] % 97)
    alone, *found = [
        walker().estimate(KEY, function, num_tours=24, x=XS[1], mesh=mesh)
        for function, mesh in ((scaled[0], None), *((each, mesh_of(2)) for each in scaled))
    ]
    for each in found:
        np.testing.assert_allclose(each.mean, alone.mean, rtol=1e-5)
    penalty = _Norm(jax.device_put(jnp.ones(5), jax.devices()[number]))
    one, other = (
        fit(noisy, start(), data(8, 0), batch_size=8, epochs=1, penalty=penalty, mesh=mesh)
        for mesh in (None, mesh_of(2))
    )
    close(other, one)


class _Norm(eqx.Module):
    weights: jax.Array

    def __call__(self, parameters):
        return jnp.sum(self.weights * parameters["u"] ** 2)


@pytest.mark.thorough  # `test_keys.py` of chains has them on one device
@pytest.mark.parametrize("kind", ["rbg", "unsafe_rbg"])
def test_keys_of_other_generators_know_no_devices(kind: str):
    """Of these, JAX gives all of a `vmap` what belongs to the first."""
    key = jax.random.key(0, impl=kind)
    same(walker().draw(key, 40, XS[1]), walker().draw(key, 40, XS[1], lanes=7, mesh=mesh_of(4)))


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["rbg", "unsafe_rbg"])
def test_whatever_generator_is_taken_by_default(kind: str):
    options = {"batch_size": 8, "epochs": 1, "seed": 3}
    alone = fit(noisy, start(), data(8, 0), **options)
    with jax.default_prng_impl(kind):
        close(fit(noisy, start(), data(8, 0), mesh=mesh_of(4), **options), alone)
        found = [
            walker().estimate(jax.random.key(0), _remainder, num_tours=24, x=XS[1], **where).mean
            for where in ({}, {"lanes": 5}, {"mesh": mesh_of(4)})
        ]
    np.testing.assert_allclose(found, found[0], rtol=1e-5)


def _remainder(state):
    return state["number"][0] % 97


def test_refusals_inside_of_a_part_are_said_plainly():
    """Where one device has an error the others must not wait for it: XLA would end the process.
    Nor is it said once more when JAX looks for errors, as it does where the process ends."""
    with pytest.raises(InputError, match="restarts so rarely"):
        walker(1e-12).draw_each(KEY, 3, XS, mesh=mesh_of(2, 2))
    rare = doeblin(FunctionKernel(_limited), FunctionRestart(_begin, _never), 0.1)
    with pytest.raises(InputError, match="too large a number"):
        rare.draw(KEY, 6, XS[0], mesh=mesh_of(4))
    with pytest.raises(InputError, match="too large a number"):
        rare.estimate(KEY, _remainder, num_tours=24, x=XS[0], mesh=mesh_of(4))
    jax.effects_barrier()
    examples = [(None, np.array(n % 5, np.int32)) for n in range(8)]
    for call in (fit, log_likelihood):
        with pytest.raises(InputError, match="no such example"):
            call(_refusing, start(), examples, batch_size=8, mesh=mesh_of(4))
        jax.effects_barrier()


def _costly(parameters):
    return eqx.error_if(jnp.sum(parameters["u"] ** 2), _large(parameters), "larger than half")


def _large(parameters):
    return jnp.stack([jnp.max(jnp.abs(leaf)) for leaf in jax.tree.leaves(parameters)]).max() > 0.5


def _descend(updates, state, params=None):
    updates = jax.tree.map(lambda leaf: -0.1 * jnp.sign(leaf), updates)
    return eqx.error_if(updates, _large(params), "larger than half"), state


_strict = optax.GradientTransformation(lambda params: (), _descend)


def test_a_refusal_on_a_device_of_ones_own_is_said_once():
    rare = doeblin(FunctionKernel(_limited), FunctionRestart(_begin, _never), 0.1)
    own = jax.default_device(jax.devices()[1])
    with own, pytest.raises(InputError, match="too large a number"):
        rare.draw(jax.random.key(1), 60, jnp.asarray(np.asarray(XS[0])))
    jax.effects_barrier()


@pytest.mark.parametrize(
    "options",
    [{"penalty": _costly}, pytest.param({"optimiser": _strict}, marks=pytest.mark.thorough)],
)
def test_refusals_of_penalties_and_optimisers_are_said_plainly(options):
    """They are anybody's code as well: no device waits for another's share of the gradient where
    they refuse. Nor is a check lost that stands at a value which no gradient needs."""
    for mesh in (mesh_of(4), None):
        with pytest.raises(InputError, match="larger than half"):
            fit(noisy, start(), data(8, 0), batch_size=5, epochs=9, mesh=mesh, **options)
        jax.effects_barrier()


def _limited(key, state, x):
    (number,) = state["number"]
    bad = number > 900_000
    return {**state, "number": (eqx.error_if(number + 1, bad, "too large a number"),)}


def _refusing(key, parameters, example) -> PathEstimate:
    found = noisy(key, parameters, example)
    value = eqx.error_if(found.log_likelihood, example[1] == 3, "there is no such example")
    return eqx.tree_at(lambda one: one.log_likelihood, found, value)


def close(found: Fit, alone: Fit) -> None:
    for name, leaf in alone.parameters.items():
        assert len(found.parameters[name].sharding.device_set) == 1
        # The order of addition is all that may differ.
        np.testing.assert_allclose(found.parameters[name], leaf, rtol=1e-5, atol=1e-6)
    assert any(np.any(leaf != start()[name]) for name, leaf in alone.parameters.items())


def test_training_does_not_depend_on_the_devices(tmp_path: Path):
    """Nor on how many there were before a checkpoint; a batch of 6 is filled up for 4 of them."""
    options = {"batch_size": 6, "validation": data(9, 1), "seed": 3, "checkpoint_every": 2}

    def train(epochs: int, mesh: Mesh | None, name: str) -> Fit:
        path = tmp_path / name
        return fit(
            noisy, start(), data(32, 0), epochs=epochs, mesh=mesh, checkpoint=path, **options
        )

    alone = train(3, None, "alone")
    meshes = [mesh_of(4), mesh_of(3), None]
    fewer = [train(1 + n, mesh, "fewer") for n, mesh in enumerate(meshes)][-1]
    more = [train(1 + n, mesh, "more") for n, mesh in enumerate(reversed(meshes))][-1]
    for found in (fewer, more):
        close(found, alone)
        rows = [[row["validation"] for row in each.history] for each in (found, alone)]
        np.testing.assert_allclose(*rows, rtol=1e-5)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["alone", "fewer", "more"]
    found = [
        log_likelihood(noisy, start(), data(9, 1), batch_size=6, mesh=mesh)
        for mesh in (None, *meshes[:-1])
    ]
    for spread in found[1:]:
        assert spread.mean == pytest.approx(found[0].mean, rel=1e-5)
        assert spread.standard_error == pytest.approx(found[0].standard_error, rel=1e-5)


def test_keys_and_names_among_the_parameters_come_home():
    parameters = {**start(), "key": jax.random.key(3), "name": "odd"}
    found = fit(noisy, parameters, data(8, 0), batch_size=6, epochs=1, mesh=mesh_of(4)).parameters
    assert found["name"] == "odd" and found["key"] == parameters["key"]


@pytest.mark.thorough  # parameters may, above
def test_states_of_optimisers_may_have_what_is_no_array():
    def update(updates, state, params=None):
        return jax.tree.map(lambda leaf: -0.1 * leaf, updates), state

    named = optax.GradientTransformation(lambda params: {"name": "plain", "count": 0}, update)
    options = {"batch_size": 8, "epochs": 2, "optimiser": named}
    one, other = (
        fit(noisy, start(), data(8, 0), mesh=mesh, **options) for mesh in (None, mesh_of(4))
    )
    close(other, one)


@pytest.mark.parametrize("kind", [pytest.param("Auto", marks=pytest.mark.thorough), "Explicit"])
def test_training_takes_the_mesh_that_is_set(kind: str):
    options = {"batch_size": 6, "validation": data(9, 1), "seed": 3}
    alone = fit(noisy, start(), data(32, 0), epochs=1, **options)
    types = (getattr(jax.sharding.AxisType, kind),) * 2
    with jax.set_mesh(jax.make_mesh((2, 2), ("a", "b"), axis_types=types)):
        found = fit(noisy, start(), data(32, 0), epochs=1, **options)
        there = log_likelihood(noisy, start(), data(9, 1), batch_size=6)
    for name, leaf in alone.parameters.items():
        np.testing.assert_allclose(found.parameters[name], leaf, rtol=1e-5, atol=1e-6)
    assert found.history[-1]["validation"] == pytest.approx(alone.history[-1]["validation"], 1e-5)
    here = log_likelihood(noisy, start(), data(9, 1), batch_size=6)
    assert there.mean == pytest.approx(here.mean, rel=1e-5)


@pytest.mark.thorough
def test_what_is_compiled_by_others_is_left_alone():
    """Inside of jit no mesh is looked for; one that is given counts, not the one that is set."""
    chain, alone = walker(), walker().draw(KEY, 7, XS[1])
    with jax.set_mesh(jax.make_mesh((4,), ("explicit",))):
        same(alone, jax.jit(lambda key: chain.draw(key, 7, XS[1]))(KEY))
        given = chain.draw(KEY, 7, XS[1], mesh=mesh_of(1))
    same(alone, given)
    assert len(given.age.sharding.device_set) == 1


HORIZON = FixedHorizon(0.3, steps=3)


def _nearness(y, state, x):
    return -jnp.abs(state - y).astype(float)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "objective",
    [
        likelihood(Forward(HORIZON, num_walks=2), PLAIN.build),
        likelihood(Reversal(HORIZON, num_walks=2), PLAIN.build),
        likelihood(Bidirectional(HORIZON, num_walks=2), PLAIN.build),
        likelihood(Reward(_nearness, HORIZON, num_walks=2), PLAIN.build),
        likelihood(Contrastive(num_steps=1, num_walks=2), PLAIN.build),
        likelihood(ApproximateGibbs(2, log_reward=_nearness, num_walks=2), PLAIN.build),
        PersistentContrastive(Contrastive(num_steps=1, num_walks=2), PLAIN.build),
    ],
    ids=[
        "forward", "reversal", "bidirectional", "reward", "contrastive", "u-gibbs", "particles"
    ],
)  # fmt: skip
def test_walks_and_particles_do_not_depend_on_the_devices(objective):
    found = [
        fit(objective, start(), data(9, 0), batch_size=6, epochs=2, mesh=mesh)
        for mesh in (None, mesh_of(4))
    ]
    close(found[1], found[0])


def test_an_example_is_named_wherever_it_was():
    impossible = [*data(5, 0), (None, np.array(99, np.int32))]
    objective = likelihood(RestartLikelihood(), PLAIN.build)
    with pytest.raises(InputError, match="example 5"):
        log_likelihood(objective, start(), impossible, mesh=mesh_of(4))


@pytest.mark.parametrize(
    ("mesh", "message"),
    [
        (lambda: jax.devices(), "is no jax.sharding.Mesh"),
        (lambda: mesh_of(1).abstract_mesh, "is no jax.sharding.Mesh"),
        (lambda: Mesh(np.empty((), dtype=object), ()), "has no axes"),
        (lambda: Mesh(np.array(jax.devices()[:1] * 2), ("a",)), "is in the mesh twice"),
    ],
    ids=["devices", "abstract", "empty", "twice"],
)
def test_what_is_no_mesh_is_refused(mesh, message: str):
    objective = likelihood(RestartLikelihood(), PLAIN.build)
    for call in (
        lambda: walker().draw(KEY, 2, XS[0], mesh=mesh()),
        lambda: walker().draw_each(KEY, 2, XS, mesh=mesh()),
        lambda: walker().estimate(KEY, _remainder, x=XS[0], mesh=mesh()),
        lambda: fit(objective, start(), data(4, 0), mesh=mesh()),
        lambda: log_likelihood(objective, start(), data(4, 0), mesh=mesh()),
    ):
        with pytest.raises(InputError, match=message):
            call()


def test_inside_of_a_transformation_no_mesh_is_taken():
    chain = walker()
    with pytest.raises(InputError, match="inside of jit, vmap or grad"):
        jax.jit(lambda key: chain.draw(key, 2, XS[0], mesh=mesh_of(1)).state)(KEY)
