"""Functions compared by what they do, so that the same code is not compiled again.

JAX compares functions by identity: every `lambda` is a new one, and costs a compilation. Here two
functions are the same if they have the same code and the same surroundings: defaults, enclosed
variables and global names, and those of the functions they call. JAX arrays among these become
arguments of the compiled program. So it is with Equinox modules, by their fields and the methods
of their classes. Where it is not certain that nothing else matters (an object of the user's, an
imported module of the user's, an import inside), the function is the same as no other, not even as
itself at another time: what it looks at may have changed since.
"""

from __future__ import annotations

import builtins
import dataclasses
import dis
import functools
import sys
import types
from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np
from jax.core import Tracer
from jaxtyping import Array

# Packages whose functions and modules stay what they are.
_FIXED = {"jax", "jaxlib", "numpy", "math", "equinox", "optax", "doeblin"}
_BUILTINS = {
    *("abs", "all", "any", "bool", "callable", "complex", "dict", "divmod", "enumerate", "float"),
    *("int", "isinstance", "len", "list", "map", "max", "min", "pow", "range", "reversed"),
    *("round", "set", "slice", "sorted", "sum", "tuple", "zip"),
}
_REFUSED = {"IMPORT_NAME", "STORE_GLOBAL", "DELETE_GLOBAL", "LOAD_NAME", "LOAD_BUILD_CLASS"}
# What makes a module or compares it, and is not used when it is called.
_OF_MAKING = {"__init__", "__post_init__", "__check_init__", "__eq__", "__hash__", "__repr__"}
_OF_MAKING |= {"__init_subclass__", "__class_getitem__", "_abc_impl"}


class _Named(NamedTuple):
    pass


# What Python itself gives a tuple with names, which is more from version to version.
_NAMED_TUPLE = {*vars(_Named), "__annotations__"}


class NotByValueError(Exception):
    """It cannot be told whether this function is the same as another one."""


class ByValue(eqx.Module):
    """A function as its recipe and the arrays that it uses."""

    recipe: Any = eqx.field(static=True)
    arrays: list[Array]

    def __init__(self, function: types.FunctionType):
        self.arrays = []
        self.recipe = _recipe(function, self.arrays, ())

    def __call__(self, state: Any) -> Any:
        if not _plain_tree(state):
            raise NotByValueError  # What the methods of a state do may change as well.
        return _rebuilt(self.recipe, self.arrays)(state)


def by_value(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function to be compared by value where that is safe, else one to be used once."""
    if _is_fixed(function):
        return function
    if isinstance(function, functools.partial):
        inner, given, named = function.func, function.args, function.keywords
        return by_value(lambda state: inner(*given, state, **named))
    try:
        if isinstance(function, types.FunctionType):
            return ByValue(function)
        return ModuleByValue(function) if _is_module(function) else Once(function)
    except NotByValueError:
        return Once(function)


class ModuleByValue(eqx.Module):
    """A module that can be called, and what it looks at besides its arrays."""

    recipe: Any = eqx.field(static=True)
    module: Any

    def __init__(self, module: Any):
        held: list[Array] = []
        # Arrays that functions enclose are in the compiled program, and the same as themselves.
        self.recipe = _module_recipe(module, held), tuple(_Fixed(array) for array in held)
        self.module = module

    def __call__(self, state: Any) -> Any:
        return self.module(state)


class Once:
    """A function that is the same as no other one: code that was compiled for it serves once."""

    def __init__(self, function: Callable[..., Any]):
        self.function = function

    def __call__(self, state: Any) -> Any:
        return self.function(state)


class _Fixed:
    """Something of a package that does not change, compared by identity."""

    def __init__(self, thing: Any):
        self.thing = thing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Fixed) and self.thing is other.thing

    def __hash__(self) -> int:
        return id(self.thing)


class _Code:
    """Code, compared without the place where it is written."""

    def __init__(self, code: types.CodeType):
        self.code = code
        self._meaning = _without_place(code)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Code) and self._meaning == other._meaning

    def __hash__(self) -> int:
        return hash(self._meaning)


def _without_place(code: types.CodeType) -> types.CodeType:
    constants = tuple(
        _without_place(constant) if isinstance(constant, types.CodeType) else constant
        for constant in code.co_consts
    )
    return code.replace(co_firstlineno=1, co_linetable=b"", co_filename="", co_consts=constants)


def _recipe(value: Any, arrays: list[Array], inside: tuple[Any, ...]) -> tuple[Any, ...]:
    """A hashable description; equal ones make equal values, of equal types."""
    kind = type(value)
    if value is None or kind in (bool, int, str, bytes):
        return "constant", kind, value
    if kind in (float, complex):
        # Zeros of either sign are equal, and NaN is not; their texts tell them apart.
        return "number", kind, repr(value)
    if isinstance(value, jax.Array) and not isinstance(value, Tracer):
        arrays.append(value)
        return "array", len(arrays) - 1
    if isinstance(value, np.generic) or kind is np.ndarray:
        if value.dtype.hasobject:
            raise NotByValueError
        # NumPy may compute with them in double precision, so they stay constants.
        return "numpy", kind is np.ndarray, value.dtype.str, value.shape, value.tobytes()
    if kind in (tuple, list):
        return "items", kind, tuple(_recipe(item, arrays, inside) for item in value)
    if kind is dict:
        pairs = [(_recipe(k, arrays, inside), _recipe(v, arrays, inside)) for k, v in value.items()]
        return "dict", tuple(pairs)
    if _is_fixed(value):
        return "fixed", _Fixed(value)
    if isinstance(value, types.FunctionType) and value not in inside:
        return _function_recipe(value, arrays, (*inside, value))
    raise NotByValueError


def _function_recipe(
    function: types.FunctionType, arrays: list[Array], inside: tuple[Any, ...]
) -> tuple[Any, ...]:
    code = function.__code__
    surroundings = {}
    for name in sorted(_names(code)):
        if name in function.__globals__:
            surroundings[name] = function.__globals__[name]
        elif hasattr(builtins, name) and name not in _BUILTINS:
            raise NotByValueError
    try:
        enclosed = tuple(cell.cell_contents for cell in function.__closure__ or ())
    except ValueError:
        raise NotByValueError from None
    parts = (surroundings, function.__defaults__, function.__kwdefaults__, enclosed)
    return "function", _Code(code), tuple(_recipe(part, arrays, inside) for part in parts)


def _is_module(value: Any) -> bool:
    kind: Any = eqx.Module
    return isinstance(value, kind)


def _module_recipe(module: Any, arrays: list[Array]) -> tuple[Any, ...]:
    """Of all but the arrays among its fields, which are told apart as arguments are."""

    def of(value: Any) -> Any:
        if isinstance(value, jax.Array):
            return None
        if _is_module(value):
            return _module_recipe(value, arrays)
        if type(value) in (tuple, list):
            return tuple(of(item) for item in value)
        if type(value) is dict:
            return tuple((of(key), of(item)) for key, item in value.items())
        return _recipe(value, arrays, ())

    fields = [vars(module).get(field.name) for field in dataclasses.fields(module)]
    return "module", _class_recipe(type(module), arrays), of(fields)


def _class_recipe(kind: type, arrays: list[Array]) -> tuple[Any, ...]:
    """What is in a class and in those that it is made of, but for what the fields make up for."""
    found = []
    for owner in kind.__mro__:
        if owner.__module__.partition(".")[0] in sys.stdlib_module_names or _is_fixed(owner):
            continue
        for name, one in vars(owner).items():
            bare = one.__func__ if isinstance(one, staticmethod | classmethod) else one
            parts = [one.fget, one.fset] if isinstance(one, property) else [bare]
            of_python = name.startswith("__") and not isinstance(bare, types.FunctionType)
            if not of_python and name not in _OF_MAKING:
                found.append((name, *(_recipe(part, arrays, ()) for part in parts)))
    return tuple(found)


def _names(code: types.CodeType) -> set[str]:
    """All names that the code, and code inside it, looks up outside of itself."""
    steps = list(dis.get_instructions(code))
    if any(step.opname in _REFUSED for step in steps):
        raise NotByValueError
    names = {step.argval for step in steps if step.opname == "LOAD_GLOBAL"}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names(constant)
    return names


def _is_fixed(value: Any) -> bool:
    """Whether it is a module of such a package, or what such a module itself calls by that name."""
    if isinstance(value, types.ModuleType):
        return value.__name__.partition(".")[0] in _FIXED
    module, name = getattr(value, "__module__", None), getattr(value, "__name__", None)
    if not isinstance(module, str) or module.partition(".")[0] not in _FIXED:
        return False
    return isinstance(name, str) and getattr(sys.modules.get(module), name, None) is value


def _rebuilt(recipe: tuple[Any, ...], arrays: list[Array]) -> Any:
    what = recipe[0]
    if what == "constant":
        return recipe[2]
    if what == "number":
        return recipe[1](recipe[2])
    if what == "array":
        return arrays[recipe[1]]
    if what == "numpy":
        _, is_array, dtype, shape, content = recipe
        array = np.frombuffer(content, dtype).reshape(shape)
        return array.copy() if is_array else array[()]
    if what == "items":
        return recipe[1](_rebuilt(item, arrays) for item in recipe[2])
    if what == "dict":
        return {_rebuilt(k, arrays): _rebuilt(v, arrays) for k, v in recipe[1]}
    if what == "fixed":
        return recipe[1].thing
    code, parts = recipe[1].code, recipe[2]
    surroundings, defaults, by_name, enclosed = (_rebuilt(part, arrays) for part in parts)
    cells = tuple(types.CellType(content) for content in enclosed)
    function = types.FunctionType(code, surroundings, code.co_name, defaults, cells)
    function.__kwdefaults__ = by_name
    return function


def _plain_tree(tree: Any) -> bool:
    """Whether a tree is made of arrays and Python's own containers, or tuples with names, only."""
    if type(tree) in (tuple, list) or _is_plain_named_tuple(tree):
        return all(_plain_tree(item) for item in tree)
    if type(tree) is dict:
        return all(_plain_tree(item) for item in tree.values())
    return tree is None or isinstance(tree, jax.Array)


def _is_plain_named_tuple(tree: Any) -> bool:
    """Whether it has fields, and nothing else of its own that could change."""
    kind = type(tree)
    if kind.__bases__ != (tuple,) or not hasattr(kind, "_fields"):
        return False
    return set(vars(kind)) <= {*_NAMED_TUPLE, *kind._fields}
