"""256 bits at once in compiled code: four words in one vector register (or two, or four).

LLVM lowers its generic vectors to whatever the machine has, so nothing here names an instruction
set. Left to itself it does not vectorise the carry-save adders of `_weigh.py`.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.extending import models, register_model

from ..._numba import intrinsic, types
from ._rows import LANES

_VECTOR = ir.VectorType(ir.IntType(64), LANES)


class LanesType(types.Type):
    """The type of a vector of words."""

    def __init__(self):
        super().__init__(name="Lanes")


_LANES = LanesType()


@register_model(LanesType)
class LanesModel(models.PrimitiveModel):
    def __init__(self, manager, numba_type):
        super().__init__(manager, numba_type, _VECTOR)


def _address(context, builder, array_type, array, index):
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), _VECTOR.as_pointer())


def _get(typing_context, array, index):
    """`array.flat[index]` of a contiguous array. `index` is not negative: no check for that, which
    would be made in every round of a loop and spoil its vectors."""

    def generate(context, builder, signature, arguments):
        array, index = arguments
        data = context.make_array(signature.args[0])(context, builder, array).data
        return builder.load(builder.gep(data, [index]))

    return array.dtype(array, types.int64), generate


def _set(typing_context, array, index, value):
    """`array.flat[index] = value`, likewise."""

    def generate(context, builder, signature, arguments):
        array, index, value = arguments
        data = context.make_array(signature.args[0])(context, builder, array).data
        builder.store(value, builder.gep(data, [index]))
        return context.get_dummy_value()

    return types.void(array, types.int64, array.dtype), generate


def _load(typing_context, array, index):
    """The four words of a flat array from `index` on."""

    def generate(context, builder, signature, arguments):
        return builder.load(_address(context, builder, signature.args[0], *arguments), align=8)

    return _LANES(array, types.int64), generate


def _store(typing_context, array, index, lanes):
    def generate(context, builder, signature, arguments):
        array, index, lanes = arguments
        builder.store(lanes, _address(context, builder, signature.args[0], array, index), align=8)
        return context.get_dummy_value()

    return types.void(array, types.int64, _LANES), generate


def _zeros(typing_context):
    def generate(context, builder, signature, arguments):
        return ir.Constant(_VECTOR, [0] * LANES)

    return _LANES(), generate


def _and(typing_context, a, b):
    def generate(context, builder, signature, arguments):
        return builder.and_(*arguments)

    return _LANES(_LANES, _LANES), generate


def _and_not(typing_context, a, b):
    """`a & ~b`."""

    def generate(context, builder, signature, arguments):
        return builder.and_(arguments[0], builder.not_(arguments[1]))

    return _LANES(_LANES, _LANES), generate


def _or(typing_context, a, b):
    def generate(context, builder, signature, arguments):
        return builder.or_(*arguments)

    return _LANES(_LANES, _LANES), generate


def _not(typing_context, a):
    def generate(context, builder, signature, arguments):
        return builder.not_(arguments[0])

    return _LANES(_LANES), generate


def _filled(typing_context, word):
    """The same word everywhere."""

    def generate(context, builder, signature, arguments):
        first = builder.insert_element(
            ir.Constant(_VECTOR, ir.Undefined), arguments[0], ir.Constant(ir.IntType(32), 0)
        )
        places = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        return builder.shuffle_vector(first, ir.Constant(_VECTOR, ir.Undefined), places)

    return _LANES(types.int64), generate


def _xor(typing_context, a, b):
    def generate(context, builder, signature, arguments):
        return builder.xor(*arguments)

    return _LANES(_LANES, _LANES), generate


def _majority(typing_context, a, b, c):
    """The bits set in at least two of three: the carry of a full adder."""

    def generate(context, builder, signature, arguments):
        a, b, c = arguments
        return builder.or_(builder.and_(a, b), builder.and_(c, builder.or_(a, b)))

    return _LANES(_LANES, _LANES, _LANES), generate


def _some(typing_context, lanes):
    """Whether any bit is set."""

    def generate(context, builder, signature, arguments):
        whole = builder.bitcast(arguments[0], ir.IntType(64 * LANES))
        return builder.icmp_unsigned("!=", whole, ir.Constant(whole.type, 0))

    return types.boolean(_LANES), generate


get: Any = intrinsic(_get)
put: Any = intrinsic(_set)
load_lanes: Any = intrinsic(_load)
store_lanes: Any = intrinsic(_store)
no_lanes: Any = intrinsic(_zeros)
lanes_and: Any = intrinsic(_and)
lanes_and_not: Any = intrinsic(_and_not)
lanes_or: Any = intrinsic(_or)
lanes_not: Any = intrinsic(_not)
filled: Any = intrinsic(_filled)
lanes_xor: Any = intrinsic(_xor)
majority: Any = intrinsic(_majority)
some: Any = intrinsic(_some)
