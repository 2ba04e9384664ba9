"""What was compiled once is not compiled again; and a changed function is never mistaken for it."""

from __future__ import annotations

import sys
import types
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import doeblin
from doeblin.chains._by_value import ByValue, ModuleByValue, NotByValueError, by_value
from doeblin.kernels import FiniteKernel, FiniteRestart

compiled: list[str] = []
jax.monitoring.register_event_duration_secs_listener(
    lambda event, seconds, **facts: (
        compiled.append(event) if event.endswith("backend_compile_duration") else None
    )
)

CHAIN = doeblin.doeblin(
    FiniteKernel.from_matrix([[0.9, 0.1], [0.3, 0.7]]), FiniteRestart.from_law([0.5, 0.5]), 0.1
)
SCALE: Any = 1.0


def estimated(function: Any, num_tours: int = 64) -> tuple[float, int]:
    """The mean, and how many programs were compiled for it."""
    before = len(compiled)
    mean = CHAIN.estimate(jax.random.key(0), function, num_tours=num_tours, chunk=32).mean
    return float(mean), len(compiled) - before


def scaled(by: Any) -> Any:
    return lambda state: by * state


def test_second_estimates_do_not_compile():
    """Not for the same function, nor for a new one of the same code over other arrays."""
    truth, _ = estimated(scaled(jnp.array(1.0)))
    assert estimated(scaled(jnp.array(1.0))) == (truth, 0)
    assert estimated(scaled(jnp.array(2.0))) == (pytest.approx(2 * truth), 0)
    # Chunks have one size, whatever is left for the last one.
    assert estimated(scaled(jnp.array(1.0)), num_tours=62)[1] <= 1
    mean, _ = estimated(scaled(2.0))
    assert mean == pytest.approx(2 * truth)
    assert estimated(scaled(2.0)) == (mean, 0)


class Scaled(eqx.Module):
    by: jax.Array

    def __call__(self, state):
        return self.by * state


def scale(by, state):
    return by * state


MAKE = {
    "module": Scaled,
    "partial": lambda by: partial(scale, by),
    "JAX's partial": lambda by: jax.tree_util.Partial(lambda by, state: by * state, by),
}


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(make, id=name, marks=() if name == "partial" else pytest.mark.thorough)
        for name, make in MAKE.items()
    ],
)
def test_estimates_of_modules_and_partial_functions_are_compiled_once(make):
    truth, _ = estimated(make(jnp.array(1.0)))
    assert estimated(make(jnp.array(1.0))) == (truth, 0)
    assert estimated(make(jnp.array(3.0))) == (pytest.approx(3 * truth), 0)


@pytest.mark.parametrize("make", MAKE.values(), ids=MAKE)
def test_modules_and_partial_functions_are_compared_by_value(make):
    first, second = by_value(make(jnp.array(1.0))), by_value(make(jnp.array(3.0)))
    assert jax.tree.structure(first) == jax.tree.structure(second)
    assert first(jnp.array(2.0)) == 2 and second(jnp.array(2.0)) == 6
    other = by_value(make(jnp.arange(2)))
    assert jax.tree.leaves(other)[0].shape == (2,)


def test_what_a_function_encloses_comes_back_as_it_was():
    """Of each kind, with its contents; what is written into a copy is not written into another."""
    kept = [
        3, 2.5, True, None, "word", (1, (2.0, False)), [1, 2], {"a": 1, "b": [2.5]},
        np.float32(1.5), np.int64(7), np.array(2.0), np.arange(6).reshape(2, 3), jnp.arange(3),
    ]  # fmt: skip

    for one in kept:
        function = by_value(lambda state, one=one: one)
        assert isinstance(function, ByValue)
        back = function(jnp.zeros(()))
        assert type(back) is type(one)
        assert str(jax.tree.map(np.asarray, back)) == str(jax.tree.map(np.asarray, one))
        if isinstance(one, np.ndarray):
            assert back.dtype == one.dtype and back.flags.writeable
            back[...] = 0
            assert np.any(np.asarray(function(jnp.zeros(()))) != 0)


def test_code_is_the_same_wherever_it_is_written():
    first = by_value(lambda state: [k * state for k in (1, 2)][1])
    second = by_value(lambda state: [k * state for k in (1, 2)][1])
    assert isinstance(first, ByValue) and first.recipe == second.recipe
    assert hash(first.recipe) == hash(second.recipe)
    for other in (
        by_value(lambda state: [k * state for k in (1, 2)][-1]),
        by_value(lambda state: [k * state for k in (1, 2.0)][1]),
        by_value(lambda state: [k + state for k in (1, 2)][1]),
        by_value(lambda state: [k * state for k in (True, 2)][1]),
    ):
        assert isinstance(other, ByValue) and first.recipe != other.recipe


def test_second_draws_and_runs_do_not_compile():
    CHAIN.draw(jax.random.key(0), 20)
    CHAIN.run(jax.random.key(0), 20)
    key = jax.random.key(1)
    other = doeblin.doeblin(CHAIN.kernels[1], CHAIN.restart, 0.2)
    before = len(compiled)
    other.draw(key, 20)
    other.run(key, 20)
    assert len(compiled) == before


class Settings:
    scale = 1.0


class Scaled(Settings):
    def __call__(self, state: Any) -> Any:
        return self.scale * state


def _uses_global(state: Any) -> Any:
    return SCALE * state


def same(first: Any, second: Any) -> bool:
    """Whether the two would share a compiled program (and, with equal arrays, its results)."""
    one, other = by_value(first), by_value(second)
    if not isinstance(one, ByValue | ModuleByValue) or type(one) is not type(other):
        return one == other
    return jax.tree.structure(one) == jax.tree.structure(other)


def test_functions_are_the_same_only_if_everything_they_use_is(monkeypatch: Any):
    """By value where that is certain; where it is not, functions are what they are themselves."""
    module = types.ModuleType("settings")
    module.scale = 1.0  # pyright: ignore
    settings, items = Settings(), [1.0]

    def of_module() -> Any:
        return lambda state: module.scale * state

    def of_object() -> Any:
        return lambda state: settings.scale * state

    def of_items() -> Any:
        return lambda state: items[0] * state

    def of_import() -> Any:
        def function(state: Any) -> Any:
            from tests.chains import test_compilation

            return test_compilation.SCALE * state

        return function

    def of_globals() -> Any:
        return lambda state: globals()["SCALE"] * state

    def of_global_function() -> Any:
        return lambda state: _uses_global(state)

    def of_default(scale: Any) -> Any:
        return lambda state, scale=scale: scale * state

    def of_keyword(scale: Any) -> Any:
        return lambda state, *, scale=scale: scale * state

    for certain in (of_items, of_global_function):
        assert same(certain(), certain())
    for uncertain in (of_module, of_object, of_import, of_globals):
        assert not same(uncertain(), uncertain())
    before_items, before_global = by_value(of_items()), by_value(of_global_function())
    items[0] = 2.0
    assert before_items != by_value(of_items())
    monkeypatch.setitem(globals(), "SCALE", 2.0)
    assert before_global != by_value(of_global_function())
    for make in (scaled, of_default, of_keyword):
        for value in (1, 1.0, True, 0.0, float("nan"), "a", (1, 2), [1], {"a": 1}, None):
            assert same(make(value), make(value))
        pairs = [(1, 1.0), (1, True), (0.0, -0.0), ((1,), (1.0,)), ((1,), [1]), ({1: 2}, {1: 2.0})]
        for one, other in pairs:
            assert not same(make(one), make(other))
        array = np.array([1.0, 2.0])
        first = by_value(make(array))
        array[0] = 3.0
        assert first != by_value(make(array))
        assert not same(make(np.float32(1)), make(np.float64(1)))
        assert not same(make(Scaled()), make(Scaled()))
        assert not same(make(jax.tree_util.Partial(_uses_global)), make(_uses_global))
    assert not same(lambda s: s + 1, lambda s: s + 2)
    assert same(scaled(jnp.sum), scaled(jnp.sum)) and not same(scaled(jnp.sum), scaled(jnp.mean))
    recursive: Any = lambda state: recursive  # noqa: E731
    assert not same(recursive, recursive)


@pytest.mark.thorough  # what may have is told apart above, uncompiled
def test_what_may_have_changed_is_compiled_anew():
    """The same function, of surroundings that cannot be compared: never what was before."""

    class Own:
        scale = 1.0

        def method(self, state: Any) -> Any:
            return self.scale * state

    own, settings = Own(), types.SimpleNamespace(scale=1.0)

    by_settings = lambda state: settings.scale * state  # noqa: E731
    by_class = lambda state: Own.scale * state  # noqa: E731
    for function in (own.method, by_settings, by_class, partial(Own.method, own)):
        assert not same(function, function)
    before = estimated(own.method)[0]
    Own.scale = 5.0
    assert estimated(own.method)[0] == pytest.approx(5 * before)


class Holder(eqx.Module):
    """Calls what it holds, by a method, and looks at a global name and at its class."""

    held: Any
    fixed: Any = eqx.field(static=True, default=())
    offset = 0.0

    def __call__(self, state: Any) -> Any:
        return self.scaled(state) + SCALE * self.offset

    def scaled(self, state: Any) -> Any:
        return self.held(state) if callable(self.held) else self.held * state


def test_modules_are_compared_by_what_they_look_at(monkeypatch: pytest.MonkeyPatch):
    """Not by their fields alone: a method reads globals and classes, a function in a field, too."""
    number, array, network = (
        Holder(2.0),
        Holder(jnp.ones(2)),
        Holder(eqx.nn.MLP(1, 1, 2, 1, key=jax.random.key(0))),
    )
    kept = [number, array, network, Holder(_uses_global), number.scaled, Holder(Holder([number]))]
    assert all(same(one, one) for one in kept)
    assert same(array, Holder(jnp.zeros(2))) and not same(number, Holder(3.0))
    assert same(Holder(np.arange(2)), Holder(np.arange(2)))
    assert not same(Holder(np.arange(2)), Holder(np.ones(2, int)))
    settings = types.SimpleNamespace(scale=1.0)
    for one in (
        Holder(settings),
        Holder(1.0, fixed=settings),
        Holder(lambda s: settings.scale * s),
    ):
        assert not same(one, one)
    for owner, name in ((sys.modules[__name__], "SCALE"), (Holder, "offset")):
        before = [by_value(one) for one in kept]
        monkeypatch.setattr(owner, name, 7.0)
        for one, old in zip(kept, before, strict=True):
            assert jax.tree.structure(by_value(one)) != jax.tree.structure(old)


@pytest.mark.thorough  # modules are told apart above, uncompiled
def test_a_module_that_changed_is_not_what_it_was():
    items = [1.0]
    holder = Holder(lambda state: items[0] * state)
    first = estimated(holder)[0]
    items[0] = 3.0
    assert estimated(holder)[0] == pytest.approx(3 * first)


class Pair(NamedTuple):
    first: Any
    second: Any


class Clever(NamedTuple):
    first: Any

    @property
    def scaled(self) -> Any:
        return SCALE * self.first


class Heir(Clever):
    """Has nothing of its own, but its parent's ways."""

    __slots__ = ()


def test_states_with_names_are_compared_by_value_unless_they_have_ways_of_their_own():
    double = by_value(lambda state: 2 * state.first)
    assert float(double(Pair(jnp.array(1.0), None))) == 2
    for kind in (Clever, Heir):
        with pytest.raises(NotByValueError):
            double(kind(jnp.array(1.0)))


def test_rebuilt_functions_do_the_same():
    def helper(state: Any, power: int = 2, *, shift: float = 0.5) -> Any:
        return sum(state**k for k in range(power)) + shift

    weights, table = jnp.array([1.0, 2.0]), np.array([3.0, -1.0])

    def function(state: Any) -> Any:
        return {
            "a": [helper(state) * weights, (jnp.asarray(table),)],
            "b": helper(state, shift=SCALE),
        }

    rebuilt = by_value(function)
    assert isinstance(rebuilt, ByValue)
    for a, b in zip(
        jax.tree.leaves(rebuilt(jnp.array(2.0))),
        jax.tree.leaves(function(jnp.array(2.0))),
        strict=True,
    ):
        np.testing.assert_array_equal(a, b)


@pytest.mark.thorough  # of functions that are not by value it is one
def test_functions_that_need_constants_are_estimated_all_the_same():
    weights = jnp.array([1.0, 2.0])
    as_constants, _ = estimated(lambda state: jnp.asarray(np.asarray(weights) + 1)[state])
    assert as_constants == pytest.approx(estimated(lambda state: weights[state] + 1)[0])
