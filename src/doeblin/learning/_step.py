"""The compiled parts of training. Here everything is an argument: what was compiled for one call of
`fit` serves all later ones with the same shapes and the same code."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from types import CellType
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh
from jaxtyping import Array

from .._custom_types import RandomKey
from .._errors import InputError
from .._mesh import by_each, everywhere, filled, in_rows, in_turn, laid_out, over
from .._plain import plain_errors
from ._data import Batch, Dataset
from ._estimate import PathEstimate


class Solver:
    """An optimiser of Optax. Two that were made by the same call are the same to the compiler.

    Optax makes new functions at each call, which JAX takes for new code. They are compared by what
    they were made of, as far as that are Optax's own functions and numbers.
    """

    def __init__(self, functions: optax.GradientTransformation):
        self.functions = functions
        self.made_of = _made_of(functions)

    def __hash__(self) -> int:
        return hash(self.made_of)

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Solver) and self.made_of == other.made_of

    def fingerprint(self) -> str:
        """A digest of what it was made of, to recognise it by in another process.

        Functions of others than Optax are known by their names.
        """
        return hashlib.sha256(_told(self.made_of).encode()).hexdigest()[:16]


class Training(NamedTuple):
    """What remains the same in all steps of a training."""

    objective: Any
    fixed: Any
    solver: Solver
    penalty: Callable[[Any], Any] | None
    mesh: Mesh | None


def train_step(
    training: Training, learned: Any, state: Any, key: RandomKey, batch: Batch, kept: Any
) -> Any:
    """One step. Each device of the mesh has its share of the batch; their gradients are added."""
    objective, fixed, solver, penalty, mesh = training
    rows = Rows(*in_rows(mesh, (batch.examples, batch.weights, kept)))
    with plain_errors():
        return in_turn(
            mesh,
            (slopes, gathered, updated),
            (objective, learned, fixed, solver, state, penalty),
            everywhere(mesh, key),
            rows,
            mesh,
        )


class Rows(NamedTuple):
    """A batch of examples, what they weigh (0: they only fill it), and what they have kept."""

    examples: Any
    weights: Any
    kept: Any


class Slopes(NamedTuple):
    """The gradient of the loss less its penalty, a row for each device, and rows of examples."""

    gradient: Any
    log_likelihood: Any
    effective_walks: Any
    walks: Any
    transitions: Any
    kept: Any


def _each(shared: Any, keys: Any, examples: Any, kept: Any = None) -> tuple[PathEstimate, Any]:
    """The estimates of some examples, and what they keep."""
    objective, parameters = shared

    def one(key: RandomKey, example: Any, kept: Any) -> tuple[PathEstimate, Any]:
        if kept is None:
            return objective(key, parameters, example), None
        return objective(key, parameters, example, kept)

    return jax.vmap(one)(keys, examples, kept)


def slopes(model: Any, key: RandomKey, rows: Rows, mesh: Mesh | None) -> Slopes:
    """What each device finds for its share of the batch."""
    objective, learned, fixed, *_ = model
    keys = jax.random.split(key, rows.weights.shape[0])
    count = rows.weights.sum()

    def part(shared: Any, keys: Any, rows: Rows) -> Slopes:
        objective, learned, fixed, count = shared

        def loss(learned: Any) -> Any:
            model = objective, eqx.combine(learned, fixed)
            estimate, kept = _each(model, keys, rows.examples, rows.kept)
            # `where` and not a product: an example that only fills the batch may weigh -inf.
            total = jnp.sum(jnp.where(rows.weights > 0, estimate.log_likelihood, 0))
            return -total / count, (jax.lax.stop_gradient(estimate), kept)

        gradient, (estimate, kept) = jax.grad(loss, has_aux=True)(learned)
        walks = estimate.log_walk_weights
        return Slopes(
            jax.tree.map(lambda leaf: leaf[None], gradient),
            estimate.log_likelihood,
            jax.vmap(lambda one: one.effective_walks)(estimate),
            jnp.full(walks.shape[0], walks.shape[-1]),
            estimate.transitions,
            kept,
        )

    given = filled(mesh, (keys, rows))
    missing = given[1].weights.shape[0] - rows.weights.shape[0]
    # Those that fill it up must not count.
    weights = jnp.pad(rows.weights, (0, missing))
    shared = objective, learned, fixed, count
    return over(mesh, part, shared)(given[0], given[1]._replace(weights=weights))


class Gathered(NamedTuple):
    """What all devices found together."""

    gradient: Any
    sums: dict[str, Any]
    kept: Any


def gathered(found: Slopes, model: Any, key: RandomKey, rows: Rows, mesh: Mesh | None) -> Gathered:
    """Their gradients added, what the step adds to sums, and what examples keep."""
    weights, size = rows.weights, rows.weights.shape[0]
    gradient = jax.tree.map(lambda leaf: leaf.sum(axis=0), found.gradient)
    _, each, effective, walks, transitions, kept = jax.tree.map(lambda leaf: leaf[:size], found)
    sums = {
        "examples": weights.sum(),
        "log_likelihood": jnp.sum(jnp.where(weights > 0, each, 0)),
        "effective_walks": jnp.sum(jnp.where(weights > 0, effective, 0)),
        "walks": jnp.sum(weights * walks),
        "transitions": jnp.sum(weights * transitions),
        "lost": (weights > 0) & jnp.isneginf(each),
    }
    return laid_out(mesh, Gathered(gradient, sums, kept), axes=0)


def updated(found: Gathered, model: Any, key: RandomKey, rows: Rows, mesh: Mesh | None) -> Any:
    """Parameters and the optimiser's state after the step, its sums, and what is kept."""
    _, learned, fixed, solver, state, penalty = model
    learned, state, sums = by_each(
        mesh, _update, found.gradient, learned, fixed, solver, state, penalty
    )
    return learned, state, found.sums | sums, found.kept


def _update(
    gradient: Any, learned: Any, fixed: Any, solver: Solver, state: Any, penalty: Any
) -> tuple[Any, Any, dict[str, Any]]:
    """By each device for itself: penalties and optimisers are anybody's code."""
    cost = jnp.zeros(())
    if penalty is not None:

        def penalised(learned: Any) -> Any:
            return _one_number(penalty(eqx.combine(learned, fixed)))

        cost, more = jax.value_and_grad(penalised)(learned)
        gradient = jax.tree.map(jnp.add, gradient, more)
    bad = [~jnp.isfinite(leaf).all() for leaf in (cost, *jax.tree.leaves(gradient))]
    try:
        with jax.numpy_dtype_promotion("standard"):  # Optax mixes floats and counts.
            updates, state = solver.functions.update(gradient, state, learned)
    except TypeError as error:
        if "keyword-only" not in str(error):
            raise
        raise InputError(
            f"the optimiser asks for more than a gradient ({error}), as line searches do; noisy "
            "estimates do not suit them: take another one, such as optax.adam"
        ) from None
    learned = optax.apply_updates(learned, updates)
    squares = [jnp.sum(jnp.square(leaf)) for leaf in jax.tree.leaves(learned)]
    return learned, state, {"norm": jnp.sqrt(jnp.stack(squares).sum()), "bad": jnp.stack(bad).sum()}


def _one_number(cost: Any) -> Array:
    if not eqx.is_array_like(cost) or jnp.shape(cost) or jnp.iscomplexobj(cost):
        kind = f"{jnp.result_type(cost)}{list(jnp.shape(cost))}" if eqx.is_array(cost) else cost
        raise InputError(f"penalty(parameters) = {kind} must be one real number: sum it up")
    return jnp.asarray(cost, jnp.result_type(cost, float))


@eqx.filter_jit
def _slopes(
    objective: Any, learned: Any, fixed: Any, key: RandomKey, examples: Any, size: int
) -> Any:
    """Whether each example's gradient is finite, by parameter; as in the step of that key."""

    def one(key: RandomKey, example: Any) -> Any:
        def value(learned: Any) -> Any:
            return objective(key, eqx.combine(learned, fixed), example).log_likelihood

        return jax.tree.map(lambda leaf: jnp.isfinite(leaf).all(), jax.grad(value)(learned))

    return jax.vmap(one)(jax.random.split(key, size), examples)


def refuse_gradient(
    objective: Any,
    learned: Any,
    fixed: Any,
    key: RandomKey,
    batch: Batch,
    numbers: np.ndarray,
    with_memory: bool,
) -> InputError:
    """What is wrong with a step whose gradient is not finite: which example, which parameter."""
    remedy = (
        "look for NaN or infinite numbers in the example, and for log(0), 0/0 and overflow in the "
        "densities"
    )
    if with_memory:
        return InputError(f"the gradient of a step is NaN or infinite; {remedy}")
    finite = _slopes(objective, learned, fixed, key, batch.examples, len(batch.weights))
    for path, leaf in jax.tree_util.tree_leaves_with_path(finite):
        bad = np.flatnonzero(~np.asarray(leaf)[: len(numbers)])
        if len(bad):
            name = jax.tree_util.keystr(path) or "the parameters"
            return InputError(
                f"example {numbers[bad[0]]} gives a gradient with NaN or infinite numbers "
                f"(in {name}); {remedy}"
            )
    return InputError(
        "the penalty, the gradient of the penalty, or the sum of gradients over a batch is NaN or "
        "infinite: look for roots and logarithms of zero in `penalty`, and for overflow"
    )


def refuse_impossible(number: int) -> InputError:
    """What is wrong with an example of likelihood zero: it would count for nothing, silently."""
    return InputError(
        f"example {number} has log-likelihood -inf: the restart gives it no probability, and no "
        "walk came by it. Look for values outside of the state space (labels count from 0), give "
        "the restart some mass everywhere, or take more walks, or Bidirectional"
    )


def _estimates(model: Any, key: RandomKey, examples: Any, size: int, mesh: Mesh | None) -> Any:
    """Log-likelihoods and their standard errors, a row for each of the `size` examples or more."""
    objective, learned, fixed = model

    def each(shared: Any, keys: Any, examples: Any) -> tuple[Any, Any]:
        estimate, _ = _each(shared, keys, examples)
        return estimate.log_likelihood, jax.vmap(lambda one: one.standard_error)(estimate)

    shared = objective, eqx.combine(learned, fixed)
    return over(mesh, each, shared)(jax.random.split(key, size), examples)


def _spread(found: Any, model: Any, key: Any, examples: Any, size: int, mesh: Any) -> Any:
    return laid_out(mesh, found, axes=0)


def evaluate(
    objective: Any,
    learned: Any,
    fixed: Any,
    data: Dataset,
    batch_size: int,
    key: RandomKey,
    mesh: Mesh | None,
) -> dict[str, float]:
    """The mean log-likelihood of some data, and its standard error."""
    values, squares = [], 0.0
    for number, (bucket, indices) in enumerate(data.batches(batch_size)):
        batch = data.get((bucket, indices), batch_size)
        with plain_errors():
            some, errors = in_turn(
                mesh,
                (_estimates, _spread),
                (objective, learned, fixed),
                everywhere(mesh, jax.random.fold_in(key, number)),
                in_rows(mesh, batch.examples),
                len(batch.weights),
                mesh,
            )
            some, errors = np.asarray(some)[: len(indices)], np.asarray(errors)[: len(indices)]
        if len(lost := np.flatnonzero(np.isneginf(some))):
            raise refuse_impossible(data.numbers[bucket][indices[lost[0]]])
        bad = np.flatnonzero(np.isnan(some) | np.isposinf(some))
        if len(bad):
            raise InputError(
                f"example {data.numbers[bucket][indices[bad[0]]]} has log-likelihood "
                f"{some[bad[0]]}: look for NaN or infinite numbers in it, in the parameters and in "
                "the densities (contrastive estimators give no log-likelihood: use another one)"
            )
        values.append(some)
        squares += float(np.sum(errors**2))
    mean = float(np.concatenate(values).mean())
    return {"validation": mean, "validation_error": math.sqrt(squares) / len(data)}


def _made_of(part: Any, depth: int = 0) -> Any:
    """What a function of Optax was made of, as something to compare; other things are themselves.

    Numbers are compared with their type: 1 and True and 1.0 are different code.
    """
    if depth > 20:
        return id(part), part
    if isinstance(part, tuple | list):
        return (type(part), *(_made_of(each, depth + 1) for each in part))
    if isinstance(part, dict):
        return (dict, *(_made_of(each, depth + 1) for each in part.items()))
    if part is None or isinstance(part, bool | int | float | str):
        return type(part), repr(part)
    if callable(part) and getattr(part, "__module__", "").startswith("optax."):
        cells = getattr(part, "__closure__", None) or ()
        made = [_made_of(_content(cell), depth + 1) for cell in cells]
        made += [_made_of(each, depth + 1) for each in getattr(part, "__defaults__", None) or ()]
        code = getattr(part, "__code__", None)
        return (code, *made) if code is not None else (id(part), part)
    try:
        hash(part)
    except TypeError:
        return id(part), _Kept(part)
    return part


def _content(cell: CellType) -> Any:
    """What a function sees by the name of the cell: nothing yet, where no branch has set it."""
    try:
        return cell.cell_contents
    except ValueError:
        return ...


def _told(made_of: Any) -> str:
    """The same in words that do not depend on the process."""
    if isinstance(made_of, tuple):
        return f"({','.join(_told(each) for each in made_of)})"
    if isinstance(made_of, str):
        return made_of
    if isinstance(made_of, int):
        return ""  # An identity.
    if isinstance(made_of, _Kept):
        return _told_array(made_of.part)
    name = getattr(made_of, "__qualname__", getattr(made_of, "co_qualname", None))
    return str(name or type(made_of).__qualname__)


def _told_array(part: Any) -> str:
    if isinstance(part, np.ndarray | jax.Array):
        return f"{part.dtype}{part.shape}{np.asarray(part).tobytes().hex()}"
    return type(part).__qualname__


class _Kept:
    """Keeps something that cannot be compared, so that its identity stays its own."""

    def __init__(self, part: Any):
        self.part = part
