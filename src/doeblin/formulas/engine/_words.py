"""Words and random numbers in compiled code, instruction by instruction.

Written so, they cost the compiler next to nothing wherever they are used.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from ..._numba import intrinsic, part, types
from ._bits import MIX_1, MIX_2

_WORD = ir.IntType(64)


def kernel(**options: Any) -> Any:
    """Compiled code that does not count references: half of a step's time otherwise goes into that.

    Such code may not allocate; all arrays are made by the caller, who holds on to them.
    """
    return part(_nrt=False, **options)


def _popcount(typing_context, word):
    """The number of ones in a word."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


def _trailing_zeros(typing_context, word):
    """The place of the lowest one in a word; 64 if there is none."""

    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], context.get_constant(types.boolean, False))

    return types.uint64(types.uint64), generate


def _mix(typing_context, state):
    """The random number that belongs to a state of SplitMix64."""

    def generate(context, builder, signature, arguments):
        z = arguments[0]
        for shift, factor in ((30, MIX_1), (27, MIX_2)):
            z = builder.xor(z, builder.lshr(z, _WORD(shift)))
            z = builder.mul(z, _WORD(int(factor)))
        return builder.xor(z, builder.lshr(z, _WORD(31)))

    return types.uint64(types.uint64), generate


def _below(typing_context, bits, bound):
    """32 random bits as a number below `bound`."""

    def generate(context, builder, signature, arguments):
        return builder.lshr(builder.mul(*arguments), _WORD(32))

    return types.int64(types.uint64, types.int64), generate


def _unit(typing_context, number):
    """A random number as a float in [0, 1)."""

    def generate(context, builder, signature, arguments):
        shifted = builder.lshr(arguments[0], _WORD(11))
        return builder.fmul(
            builder.uitofp(shifted, ir.DoubleType()), ir.Constant(ir.DoubleType(), 2.0**-53)
        )

    return types.float64(types.uint64), generate


def _shift(context, builder, kind, shifts, w):
    if isinstance(kind, types.NoneType):
        return _WORD(0)
    data = context.make_array(kind)(context, builder, shifts).data
    return builder.load(builder.gep(data, [w]))


def _shift_of(typing_context, shifts, w):
    """The examples of word `w` weigh two to the power of this; one each where there are none."""

    def generate(context, builder, signature, arguments):
        return _shift(context, builder, signature.args[0], *arguments)

    return types.int64(shifts, types.int64), generate


def _weighed(typing_context, word, shifts, w):
    """The cost of the ones in word `w`: a word's examples weigh 2**shift each."""

    def generate(context, builder, signature, arguments):
        word, shifts, w = arguments
        shift = _shift(context, builder, signature.args[1], shifts, w)
        return builder.shl(builder.ctpop(word), shift)

    return types.int64(types.uint64, shifts, types.int64), generate


popcount: Any = intrinsic(_popcount)
trailing_zeros: Any = intrinsic(_trailing_zeros)
mix: Any = intrinsic(_mix)
below: Any = intrinsic(_below)
unit: Any = intrinsic(_unit)
shift_of: Any = intrinsic(_shift_of)
weighed: Any = intrinsic(_weighed)
