"""The functions that are known without their bodies: a table, and the whole of it.

A function that the program defines means what its body says, except for `FAILURES`. Where the body
of one of the `ASSERTIONS` ends the program, that is a violated assertion.
"""

from __future__ import annotations

import re

from .types import (
    BOOL,
    CHAR,
    DOUBLE,
    FLOAT,
    INT,
    LLONG,
    LONG,
    SHORT,
    UCHAR,
    UINT,
    ULLONG,
    ULONG,
    USHORT,
    CType,
)

ASSERT_MACRO = "__doeblin_assert"  # what assert.h makes of `assert`
VIOLATION = "__doeblin_violation"  # the end of the program, in a macro that is called `assert`

ASSERTIONS = frozenset(
    {"assert", "sassert", "static_assert", "__VERIFIER_assert", "__CPROVER_assert", ASSERT_MACRO}
)
"""The first argument must be true."""

ASSUMPTIONS = frozenset({"assume", "__VERIFIER_assume", "__CPROVER_assume", "sassume"})
"""Runs in which the argument is false do not count."""

FAILURES = frozenset({"__VERIFIER_error", "reach_error", "__assert_fail", "__assert_rtn"})
"""A call is a failure, whatever a body says."""

ENDINGS = frozenset(
    {"exit", "abort", "_exit", "_Exit", "quick_exit", "__builtin_abort", "__builtin_exit"}
    | {"__builtin_trap"}
)
"""The run ends, which is no failure."""

UNREACHABLE = frozenset({"__builtin_unreachable"})
"""To arrive here is undefined behaviour, which is a failure."""

SILENT = frozenset({
    "printf", "fprintf", "puts", "putchar", "fputs", "putc", "fputc", "fflush", "srand", "perror",
})  # fmt: skip
"""Changes no variable; what is returned is an int of which nothing else is known."""

ALLOCATING = {"malloc": 1, "calloc": 2}
"""A new object or null, and the number of arguments."""

FREEING = frozenset({"free"})
"""The end of an object that was allocated."""

REALLOCATING = frozenset({"realloc", "reallocarray", "aligned_alloc"})
"""Other functions that return memory: refused."""

FORMATS = {"printf": 0, "fprintf": 1}
"""Which argument says what is printed; it must be a literal where a pointer is printed, too."""

STREAMS = frozenset({"stdin", "stdout", "stderr"})
"""Arguments of the silent functions that stdio.h declares."""

TURNED = frozenset({"printf", "fprintf", "puts", "fputs"})
"""gcc may turn a call of one into a call of another of the silent ones."""

BUILT_IN = frozenset(
    {
        "malloc", "calloc", "realloc", "free",
        "abs", "labs", "llabs", "imaxabs", "ffs", "ffsl", "ffsll", "toascii", "tolower", "toupper",
        *(f"is{what}" for what in (
            "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print",
            "punct", "space", "upper", "xdigit",
        )),
    }
)  # fmt: skip
"""gcc computes these itself, also where the program has a body for one."""

NEVER_RETURN = frozenset({"exit", "_exit", "_Exit", "abort"})
"""gcc takes for granted that these do not return, also where the program has a body for one."""

PARTLY_KNOWN = BUILT_IN | frozenset(
    {
        "atoi", "atol", "atoll", "strtol", "strtoul", "strtoll", "strtoull", "strlen", "strnlen",
        "strcmp", "strncmp", "strcasecmp", "strncasecmp", "strcoll", "memcmp", "bcmp", "strspn",
        "strcspn", "strxfrm", "mblen", "wctob", "btowc", "lround", "llround", "lrint", "llrint",
        "ilogb", "fputc", "fgetc", "getc", "ungetc", "sprintf", "snprintf", "scanf", "sscanf",
        "fscanf", "fclose", "fseek", "remove", "rename", "sleep", "usleep", "isatty", "access",
        "setvbuf", "feof", "ferror", "iswalpha", "iswdigit", "towlower", "towupper",
        "pthread_mutex_lock", "pthread_mutex_unlock",
    }
)  # fmt: skip
"""Functions of the C library: where only the program's declaration is known, any result is
possible for a proof, and no failure is said that depends on one."""

ABSOLUTE = {
    "abs": INT, "labs": LONG, "llabs": LLONG, "__builtin_abs": INT, "__builtin_labs": LONG,
    "__builtin_llabs": LLONG,
}  # fmt: skip
"""The absolute value; of the least value, an overflow."""

RANGES = {
    "getchar": (INT, -1, 255),
    "rand": (INT, 0, 2147483647),
    "random": (LONG, 0, 2147483647),
}
"""Any value between these."""

EXPECTING = frozenset({"__builtin_expect"})
"""The first argument, as a long."""

FLOATING = frozenset(
    {
        "sqrt", "pow", "round", "floor", "ceil", "trunc", "fmod", "exp", "log", "log2",
        "log10", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "cbrt", "hypot", "rint",
        "nearbyint", "atof", "strtod", "drand48", "difftime",
    }
)  # fmt: skip
"""The result is floating point: once it is cast to an integer nothing is known of it but its type;
elsewhere refused."""

SIZES = {
    "fabs": DOUBLE, "fabsf": FLOAT, "__builtin_fabs": DOUBLE, "__builtin_fabsf": FLOAT,
}  # fmt: skip
"""The absolute value of floating point."""

UNORDERED = frozenset({"isnan", "__builtin_isnan"})
"""Is the argument, which keeps its type, no number?"""

FINITE = frozenset({"isfinite", "__builtin_isfinite"})
"""Is it neither that nor infinite? (What `isinf` says of -infinity differs among libraries.)"""

_NAMED = (
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign", "cos",
    "cosh", "drem", "erf", "erfc", "exp", "exp10", "exp2", "expm1", "fabs", "fdim", "finite",
    "floor", "fma", "fmax", "fmin", "fmod", "frexp", "gamma", "huge_val", "hypot", "ilogb", "inf",
    "isfinite", "isgreater", "isgreaterequal", "isinf", "isless", "islessequal", "islessgreater",
    "isnan", "isnormal", "issignaling", "isunordered", "j0", "j1", "jn", "lceil", "ldexp", "lfloor",
    "lgamma", "llceil", "llfloor", "llrint", "llround", "log", "log10", "log1p", "log2", "logb",
    "lrint", "lround", "modf", "nan", "nans", "nearbyint", "nextafter", "nexttoward", "pow",
    "pow10", "remainder", "remquo", "rint", "round", "roundeven", "scalb", "scalbln", "scalbn",
    "signbit", "significand", "sin", "sincos", "sinh", "sqrt", "tan", "tanh", "tgamma", "trunc",
    "y0", "y1", "yn", "fpclassify", "iceil", "ifloor", "irint", "iround",
)  # fmt: skip
MATHEMATICS = frozenset(f"{name}{suffix}" for name in _NAMED for suffix in ("", "f", "l"))
"""gcc computes these itself as well."""

REFUSED = frozenset(
    {
        "setjmp", "sigsetjmp", "_setjmp", "longjmp", "siglongjmp", "signal", "raise", "kill",
        "atexit", "at_quick_exit", "on_exit", "fork", "vfork", "pthread_create", "thrd_create",
        "alarm",
    }
    | REALLOCATING
)  # fmt: skip
"""Control flow and memory that are not modelled."""

_INPUT = re.compile(r"nondet|unknown|unkown|havoc|^any$", re.IGNORECASE)
_INPUT_TYPES: dict[str, CType] = {
    "bool": BOOL, "_Bool": BOOL, "char": CHAR, "uchar": UCHAR, "short": SHORT, "ushort": USHORT,
    "int": INT, "uint": UINT, "unsigned": UINT, "long": LONG, "ulong": ULONG, "size_t": ULONG,
    "longlong": LLONG, "ulonglong": ULLONG, "u8": UCHAR, "u16": USHORT, "u32": UINT,
    "uint8_t": UCHAR, "uint16_t": USHORT, "uint32_t": UINT, "uint64_t": ULONG, "loff_t": LONG,
    "float": FLOAT, "double": DOUBLE,
}  # fmt: skip


def is_input(name: str) -> bool:
    """Does the name say that the function is an input: any result, and no other effect?"""
    return _INPUT.search(name) is not None


def input_type(name: str) -> CType:
    """The type of an input that is not declared, by its name; int if that says nothing."""
    return _INPUT_TYPES.get(re.sub(r"^_*(VERIFIER_|CPROVER_|SMACK_)?nondet_", "", name), INT)


MODELLED = (
    ASSERTIONS | ASSUMPTIONS | FAILURES | ENDINGS | UNREACHABLE | SILENT | frozenset(ABSOLUTE)
    | frozenset(RANGES) | ALLOCATING.keys() | FREEING | EXPECTING | FLOATING | frozenset(SIZES)
    | UNORDERED | FINITE | REFUSED | {VIOLATION}
)  # fmt: skip
