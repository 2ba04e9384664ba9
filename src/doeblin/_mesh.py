"""Work spread over the devices of a `jax.sharding.Mesh`, by JAX's own `shard_map`.

Whatever has a leading axis, tours or examples, is cut into as many equal parts as the mesh has
devices, whatever its axes are called. All the rest (chains, parameters, keys) is on every device.
Each row has its own random key, so that the result does not depend on who computes it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec, get_mesh

from ._errors import InputError
from ._plain import forget_errors

Result = TypeVar("Result")
_AXIS = "doeblin"


def checked_mesh(mesh: Any) -> Mesh | None:
    """The mesh that was given, or the one of `jax.set_mesh`; None where there is neither.

    Its devices are in one row, whatever its axes were: what is inside of a part is nobody's matter,
    nor can the names of axes meet those inside of kernels. (XLA ends the process for some names.)
    """
    tracing = _tracing()
    if mesh is None:
        mesh = None if tracing else get_mesh()
        if mesh is None or mesh.empty:
            return None
    elif not isinstance(mesh, Mesh):
        raise InputError(
            f"mesh = {mesh!r} is no jax.sharding.Mesh: make one of all devices with "
            "jax.make_mesh((jax.device_count(),), ('data',))"
        )
    elif mesh.empty:
        raise InputError("the mesh has no axes, and so no devices to spread work over")
    elif tracing:
        raise InputError(
            "a mesh cannot be given inside of jit, vmap or grad: spread the work outside of them, "
            "or leave the mesh out"
        )
    if len(set(mesh.devices.flat)) < mesh.size:
        raise InputError("a device is in the mesh twice: each can have one part of the work only")
    owners = _owners(mesh)
    if owners not in ({jax.process_index()}, set(range(jax.process_count()))):
        raise InputError(
            f"the devices of the mesh belong to the processes {sorted(owners)}: take those of all "
            f"{jax.process_count()}, as jax.devices() lists them, or of this one (number "
            f"{jax.process_index()}), as jax.local_devices() does"
        )
    return Mesh(mesh.devices.reshape(-1), (_AXIS,))


def writes(mesh: Mesh | None) -> bool:
    """Whether it is this process that writes files: of those that share a mesh, the first does."""
    return mesh is None or jax.process_index() == min(_owners(mesh))


def check_agreement(mesh: Mesh | None, *facts: Any) -> None:
    """Refuse where processes that share a mesh would not do the same: they would wait for ever."""
    if mesh is None or len(_owners(mesh)) == 1:
        return
    from jax.experimental.multihost_utils import process_allgather

    digests = [hashlib.sha256(repr(fact).encode()).digest() for fact in facts]
    seen = np.asarray(process_allgather(np.frombuffer(b"".join(digests), np.uint32)))
    differ = (seen != seen[0]).any(axis=1)
    if differ.any():
        raise InputError(
            f"process {int(np.argmax(differ))} was given other data, other options or another "
            "checkpoint than process 0: all must be called alike, and `checkpoint` must name a "
            "file that all of them see"
        )


def _owners(mesh: Mesh) -> set[int]:
    return {device.process_index for device in mesh.devices.flat}


@contextmanager
def using(mesh: Mesh | None) -> Iterator[None]:
    """Whatever mesh the caller has set is out of the way meanwhile, and no error outlives it."""
    if mesh is None:
        yield
        return
    try:
        with jax.set_mesh(mesh):
            yield
    except Exception:
        forget_errors()
        raise


def in_turn(mesh: Mesh | None, programs: Sequence[Callable[..., Any]], *arguments: Any) -> Any:
    """Functions of a module, compiled: each gets what the one before it found, and the arguments.

    On a mesh each is a program of its own. A device that refuses what it has to do ends there, and
    others that waited for it in the same program would wait for ever (XLA ends the process after a
    minute). So anybody's code is in other programs than where devices speak with each other.
    """
    if mesh is None:
        return _in_one(tuple(programs), arguments)
    found: tuple[Any, ...] = ()
    for program in programs:
        found = (jax.block_until_ready(compiled(program, *found, *arguments)),)
    return found[0]


@eqx.filter_jit
def _in_one(programs: tuple[Callable[..., Any], ...], arguments: Any) -> Any:
    found: tuple[Any, ...] = ()
    for program in programs:
        found = (program(*found, *arguments),)
    return found[0]


@eqx.filter_jit
def compiled(function: Callable[..., Any], *arguments: Any) -> Any:
    """`function(*arguments)`, where that is a function of a module."""
    return function(*arguments)


def filled(mesh: Mesh | None, tree: Result) -> Result:
    """Arrays with copies of their last row at the end, so that the devices divide the rows: what
    follows that in order is past the end, and belongs to no other row."""
    count = jax.tree.leaves(tree)[0].shape[0]
    missing = 0 if mesh is None else -count % mesh.size
    if not missing:
        return tree
    rows = jnp.minimum(jnp.arange(count + missing), count - 1)
    return jax.tree.map(lambda leaf: leaf[rows], tree)


def over(mesh: Mesh | None, function: Callable[..., Result], shared: Any) -> Callable[..., Result]:
    """`function` of `shared`, which all have, and of arrays with one leading axis, in parts.

    What has arrays must be among the `shared`: JAX does not let a part use arrays from outside in
    all of its operations. The result has a row for each that fills up, too (see `filled`).
    """
    if mesh is None:
        return partial(function, shared)
    rows = PartitionSpec(_AXIS)
    arrays, rest = eqx.partition(shared, eqx.is_array)

    def part(arrays: Any, arguments: tuple[Any, ...]) -> Result:
        return function(eqx.combine(arrays, rest), *arguments)

    # Kernels are anybody's code, which need not say what varies over devices.
    parts = jax.shard_map(
        part, mesh=mesh, in_specs=(PartitionSpec(), rows), out_specs=rows, check_vma=False
    )
    return lambda *arguments: parts(arrays, filled(mesh, arguments))


def by_each(mesh: Mesh | None, function: Callable[..., Result], *arguments: Any) -> Result:
    """`function(*arguments)`, which are on every device: each does all of it for itself."""
    if mesh is None:
        return function(*arguments)
    arrays, rest = eqx.partition(arguments, eqx.is_array)
    others: list[Any] = []

    def whole(arrays: Any) -> Any:
        made, other = eqx.partition(function(*eqx.combine(arrays, rest)), eqx.is_array)
        others.append(other)
        return made

    every = PartitionSpec()
    done = jax.shard_map(whole, mesh=mesh, in_specs=every, out_specs=every, check_vma=False)
    return eqx.combine(done(arrays), others[-1])


def laid_out(mesh: Mesh | None, tree: Result, *, axes: int) -> Result:
    """For results inside of jit: spread along the first of the leading `axes` that can be, or else
    (and with no axes at all) on every device."""
    if mesh is None:
        return tree

    def placed(leaf: Any) -> Any:
        sizes = leaf.shape[:axes]
        even = next((n for n, size in enumerate(sizes) if size and size % mesh.size == 0), None)
        parts = () if even is None else (*(None,) * even, _AXIS)
        return jax.lax.with_sharding_constraint(leaf, NamedSharding(mesh, PartitionSpec(*parts)))

    return jax.tree.map(placed, tree)


def everywhere(mesh: Mesh | None, tree: Result) -> Result:
    """The arrays of a tree on every device of the mesh; all processes must have the same ones."""
    return _put(mesh, tree, lambda leaf: PartitionSpec())


def in_rows(mesh: Mesh | None, tree: Result) -> Result:
    """The arrays of a tree cut along their leading axis, where the devices divide it."""
    if mesh is None:
        return tree
    rows = PartitionSpec(_AXIS)
    return _put(mesh, tree, lambda leaf: rows if not len(leaf) % mesh.size else PartitionSpec())


def at_home(mesh: Mesh | None, tree: Result) -> Result:
    """The arrays of a tree, which are on every device, as ordinary ones again."""
    if mesh is None:
        return tree
    arrays, rest = eqx.partition(tree, eqx.is_array)
    return eqx.combine(jax.tree.map(_home, arrays), rest)


def _home(leaf: jax.Array) -> jax.Array:
    if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(
            _home(jax.random.key_data(leaf)), impl=jax.random.key_impl(leaf)
        )
    return jnp.asarray(np.asarray(leaf))


def as_set(tree: Result) -> Result:
    """Arrays on our devices as arrays of the mesh that the caller has set, if that has them, too.

    JAX does not let arrays of meshes with other types of axes meet.
    """
    outer = None if _tracing() else get_mesh()
    if outer is None or outer.empty:
        return tree

    def renamed(leaf: jax.Array) -> jax.Array:
        place = leaf.sharding
        if not isinstance(place, NamedSharding) or place.device_set != set(outer.devices.flat):
            return leaf
        spec = (outer.axis_names if part == _AXIS else part for part in place.spec)
        return jax.device_put(leaf, NamedSharding(outer, PartitionSpec(*spec)))

    return jax.tree.map(renamed, tree)


def _put(mesh: Mesh | None, tree: Result, spec: Callable[[Any], PartitionSpec]) -> Result:
    if mesh is None:
        return tree
    arrays, rest = eqx.partition(tree, eqx.is_array)
    places = jax.tree.map(lambda leaf: NamedSharding(mesh, spec(leaf)), arrays)
    if len(_owners(mesh)) == 1:
        return eqx.combine(jax.device_put(arrays, places), rest)
    return eqx.combine(jax.tree.map(_put_by_all, arrays, places), rest)


def _put_by_all(leaf: Any, place: NamedSharding) -> jax.Array:
    """Where several processes share a mesh, each brings its part of what all of them have."""
    if isinstance(leaf, jax.Array) and not leaf.is_fully_addressable:
        return jax.device_put(leaf, place)
    if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        words = _put_by_all(jax.random.key_data(leaf), place)
        return jax.random.wrap_key_data(words, impl=jax.random.key_impl(leaf))
    host = np.asarray(leaf)
    return jax.make_array_from_callback(host.shape, place, lambda part: host[part])


def _tracing() -> bool:
    try:
        get_mesh()
    except ValueError:  # JAX knows the devices outside of its transformations only
        return True
    return False
