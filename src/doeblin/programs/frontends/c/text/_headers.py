"""What gcc on x86-64 Linux defines before a program begins, and what its headers would add.

Functions are not declared here: those that are modelled are in `_library`.
"""

from __future__ import annotations

import re

_SIZES = {
    "SHORT": 2, "INT": 4, "LONG": 8, "LONG_LONG": 8, "POINTER": 8, "SIZE_T": 8, "PTRDIFF_T": 8,
    "WCHAR_T": 4, "WINT_T": 4, "FLOAT": 4, "DOUBLE": 8, "LONG_DOUBLE": 16, "INT128": 16,
}  # fmt: skip
_WIDTHS = {
    "SCHAR": 8, "SHRT": 16, "INT": 32, "LONG": 64, "LONG_LONG": 64, "SIZE": 64, "PTRDIFF": 64,
    "INTMAX": 64, "INTPTR": 64, "WCHAR": 32, "WINT": 32, "SIG_ATOMIC": 32,
}  # fmt: skip
_MAX = {
    "SCHAR": "0x7f", "SHRT": "0x7fff", "INT": "0x7fffffff", "WCHAR": "0x7fffffff",
    "WINT": "0xffffffffU", "SIG_ATOMIC": "0x7fffffff", "LONG": "0x7fffffffffffffffL",
    "LONG_LONG": "0x7fffffffffffffffLL", "SIZE": "0xffffffffffffffffUL",
    "PTRDIFF": "0x7fffffffffffffffL", "INTMAX": "0x7fffffffffffffffL",
    "UINTMAX": "0xffffffffffffffffUL", "INTPTR": "0x7fffffffffffffffL",
    "UINTPTR": "0xffffffffffffffffUL",
}  # fmt: skip
_TYPES = {
    "SIZE": "long unsigned int", "PTRDIFF": "long int", "WCHAR": "int", "WINT": "unsigned int",
    "INTMAX": "long int", "UINTMAX": "long unsigned int", "CHAR16": "short unsigned int",
    "CHAR32": "unsigned int", "SIG_ATOMIC": "int", "INTPTR": "long int",
    "UINTPTR": "long unsigned int",
}  # fmt: skip
_EXACT = {
    8: ("signed char", "unsigned char"),
    16: ("short int", "short unsigned int"),
    32: ("int", "unsigned int"),
    64: ("long int", "long unsigned int"),
}
_FAST = {8: 8, 16: 64, 32: 64, 64: 64}
_SUFFIX = {8: ("", ""), 16: ("", ""), 32: ("", "U"), 64: ("L", "UL")}


def _predefined() -> dict[str, str]:
    found = {
        "__STDC__": "1", "__STDC_VERSION__": "201710L", "__STDC_HOSTED__": "1",
        "__STDC_UTF_16__": "1", "__STDC_UTF_32__": "1", "__STDC_IEC_559__": "1",
        "__STDC_IEC_559_COMPLEX__": "1", "__STDC_ISO_10646__": "201706L",
        "__GNUC__": "12", "__GNUC_MINOR__": "2", "__GNUC_PATCHLEVEL__": "0",
        "__GNUC_STDC_INLINE__": "1", "__NO_INLINE__": "1", "__ELF__": "1", "__CHAR_BIT__": "8",
        "__x86_64__": "1", "__x86_64": "1", "__amd64__": "1", "__amd64": "1",
        "__k8": "1", "__k8__": "1", "__MMX__": "1", "__SSE__": "1", "__SSE2__": "1",
        "__linux__": "1", "__linux": "1", "linux": "1", "__gnu_linux__": "1",
        "__unix__": "1", "__unix": "1", "unix": "1", "_LP64": "1", "__LP64__": "1",
        "__ORDER_LITTLE_ENDIAN__": "1234", "__ORDER_BIG_ENDIAN__": "4321",
        "__ORDER_PDP_ENDIAN__": "3412", "__BYTE_ORDER__": "__ORDER_LITTLE_ENDIAN__",
        "__FLOAT_WORD_ORDER__": "__ORDER_LITTLE_ENDIAN__", "__BIGGEST_ALIGNMENT__": "16",
        "__USER_LABEL_PREFIX__": "", "__REGISTER_PREFIX__": "", "__FINITE_MATH_ONLY__": "0",
        "__WINT_MIN__": "0U", "__WCHAR_MIN__": "(-__WCHAR_MAX__ - 1)",
        "__SIG_ATOMIC_MIN__": "(-__SIG_ATOMIC_MAX__ - 1)",
    }  # fmt: skip
    found |= {f"__SIZEOF_{name}__": str(size) for name, size in _SIZES.items()}
    found |= {f"__{name}_WIDTH__": str(width) for name, width in _WIDTHS.items()}
    found |= {f"__{name}_MAX__": value for name, value in _MAX.items()}
    found |= {f"__{name}_TYPE__": text for name, text in _TYPES.items()}
    for bits, (signed, unsigned) in _EXACT.items():
        s, u = _SUFFIX[bits]
        top = "ff" * (bits // 8)
        low = "7" + top[1:]
        found |= {f"__INT{bits}_TYPE__": signed, f"__UINT{bits}_TYPE__": unsigned}
        found |= {f"__INT{bits}_MAX__": f"0x{low}{s}", f"__UINT{bits}_MAX__": f"0x{top}{u}"}
        found |= {f"__INT_LEAST{bits}_TYPE__": signed, f"__UINT_LEAST{bits}_TYPE__": unsigned}
        found |= {f"__INT_LEAST{bits}_MAX__": f"0x{low}{s}"}
        found |= {f"__UINT_LEAST{bits}_MAX__": f"0x{top}{u}"}
        fast, fast_unsigned = _EXACT[_FAST[bits]]
        found |= {f"__INT_FAST{bits}_TYPE__": fast, f"__UINT_FAST{bits}_TYPE__": fast_unsigned}
        found |= {f"__INT{bits}_C(c)": f"c ## {s}" if s else "c"}
        found |= {f"__UINT{bits}_C(c)": f"c ## {u}" if u else "c"}
    found |= {"__INTMAX_C(c)": "c ## L", "__UINTMAX_C(c)": "c ## UL"}
    return found


PREDEFINED = "".join(f"#define {name} {text}\n" for name, text in _predefined().items())

_NULL = "#undef NULL\n#define NULL ((void *)0)\n"
_SIZE = "typedef unsigned long size_t;\n"
_LIMITS = """
#define CHAR_BIT 8
#define MB_LEN_MAX 16
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define CHAR_MIN (-128)
#define CHAR_MAX 127
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MAX 2147483647
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX 4294967295U
#define LONG_MAX 9223372036854775807L
#define LONG_MIN (-LONG_MAX - 1L)
#define ULONG_MAX 18446744073709551615UL
#define LLONG_MAX 9223372036854775807LL
#define LLONG_MIN (-LLONG_MAX - 1LL)
#define ULLONG_MAX 18446744073709551615ULL
"""


def _stdint() -> str:
    lines = []
    for bits, (signed, unsigned) in _EXACT.items():
        s, u = _SUFFIX[bits]
        top = str((1 << bits) - 1) + u
        low = str((1 << (bits - 1)) - 1) + s
        fast, fast_unsigned = _EXACT[_FAST[bits]]
        for name, kind in (("", (signed, unsigned)), ("_least", (signed, unsigned))):
            lines.append(f"typedef {kind[0]} int{name}{bits}_t;")
            lines.append(f"typedef {kind[1]} uint{name}{bits}_t;")
            shown = name.upper()
            lines.append(f"#define INT{shown}{bits}_MAX {low}")
            lines.append(f"#define INT{shown}{bits}_MIN (-{low} - 1)")
            lines.append(f"#define UINT{shown}{bits}_MAX {top}")
        lines.append(f"typedef {fast} int_fast{bits}_t;")
        lines.append(f"typedef {fast_unsigned} uint_fast{bits}_t;")
        s, u = _SUFFIX[_FAST[bits]]
        top, low = (1 << _FAST[bits]) - 1, (1 << (_FAST[bits] - 1)) - 1
        lines.append(f"#define INT_FAST{bits}_MAX {low}{s}")
        lines.append(f"#define INT_FAST{bits}_MIN (-{low}{s} - 1)")
        lines.append(f"#define UINT_FAST{bits}_MAX {top}{u}")
        s, u = _SUFFIX[bits]
        lines.append(f"#define INT{bits}_C(c) c" + (f" ## {s}" if s else ""))
        lines.append(f"#define UINT{bits}_C(c) c" + (f" ## {u}" if u else ""))
    for name in ("intmax", "intptr"):
        lines.append(f"typedef long int {name}_t;\ntypedef long unsigned int u{name}_t;")
        shown = name.upper()
        lines.append(f"#define {shown}_MAX 9223372036854775807L")
        lines.append(f"#define {shown}_MIN (-9223372036854775807L - 1)")
        lines.append(f"#define U{shown}_MAX 18446744073709551615UL")
    lines.append("#define INTMAX_C(c) c ## L\n#define UINTMAX_C(c) c ## UL")
    lines.append("#define SIZE_MAX 18446744073709551615UL")
    lines.append("#define PTRDIFF_MAX 9223372036854775807L")
    lines.append("#define PTRDIFF_MIN (-9223372036854775807L - 1)")
    for name in ("SIG_ATOMIC", "WCHAR"):
        lines.append(f"#define {name}_MAX 2147483647\n#define {name}_MIN (-2147483647 - 1)")
    lines.append("#define WINT_MAX 4294967295u\n#define WINT_MIN 0u")
    return "\n".join(lines) + "\n"


_STDLIB = "#define EXIT_SUCCESS 0\n#define EXIT_FAILURE 1\n#define RAND_MAX 2147483647\n"
_STDIO = "".join(
    f"#define {name} {value}\n"
    for name, value in {
        "EOF": "(-1)", "BUFSIZ": 8192, "SEEK_SET": 0, "SEEK_CUR": 1, "SEEK_END": 2,
        "FOPEN_MAX": 16, "FILENAME_MAX": 4096, "L_tmpnam": 20, "TMP_MAX": 238328,
    }.items()
)  # fmt: skip
# Read anew each time, since NDEBUG may have changed.
ASSERT = """
#undef assert
#ifdef NDEBUG
#define assert(expr) ((void) (0))
#else
#define assert(expr) __doeblin_assert(expr)
#endif
#undef static_assert
#define static_assert _Static_assert
"""
HEADERS = {
    "assert.h": "",
    "ctype.h": "",
    "errno.h": "",
    "float.h": "",
    "inttypes.h": _stdint(),
    "iso646.h": "#define and &&\n#define or ||\n#define not !\n#define not_eq !=\n#define xor ^\n"
    "#define bitand &\n#define bitor |\n#define compl ~\n#define and_eq &=\n#define or_eq |=\n"
    "#define xor_eq ^=\n",
    "limits.h": _LIMITS,
    "math.h": "#define INFINITY (1e999f)\n#define NAN (0.0f / 0.0f)\n"
    "#define HUGE_VAL (1e999)\n#define HUGE_VALF (1e999f)\n",
    "stdalign.h": "#define alignas _Alignas\n#define alignof _Alignof\n",
    "stdarg.h": "",
    "stdbool.h": "#define bool _Bool\n#define true 1\n#define false 0\n"
    "#define __bool_true_false_are_defined 1\n",
    "stddef.h": _NULL + _SIZE + "typedef long ptrdiff_t;\ntypedef int wchar_t;\n",
    "stdint.h": _stdint(),
    "stdio.h": _NULL + _SIZE + _STDIO,
    "stdlib.h": _NULL + _SIZE + "typedef int wchar_t;\n" + _STDLIB,
    "stdnoreturn.h": "#define noreturn _Noreturn\n",
    "string.h": _NULL + _SIZE,
    "sys/types.h": _SIZE + "typedef long ssize_t;\ntypedef long off_t;\ntypedef int pid_t;\n",
    "time.h": _NULL + _SIZE + "typedef long time_t;\ntypedef long clock_t;\n",
    "unistd.h": _NULL + _SIZE + "typedef long ssize_t;\n",
}  # fmt: skip

_POSIX_TYPES = r"FD_\w+|NFDBITS|([bl]e|hto[bl]e)\w+|\w+_ENDIAN|BYTE_ORDER|major|minor|makedev"
_FURTHER = {
    "ctype.h": r"(is|to)[a-z]+(_l)?",
    "errno.h": r"E[A-Z0-9]+|errno",
    "float.h": r"[A-Z]+\d*X?_\w+",
    "inttypes.h": r"(PRI|SCN)[a-zA-Z]\w*|U?INT\w*_WIDTH|\w+_WIDTH",
    "limits.h": r"\w+_(MAX|MIN|WIDTH|BUF|BIT|OPEN|SIZE)|MAX_\w+|PTHREAD_\w+|NZERO",
    "math.h": r"(M|FP|MATH)_\w+|HUGE\w*|INFINITY|NAN|SNAN\w*|MAXFLOAT|X_TLOSS|DOMAIN|SING"
    r"|OVERFLOW|UNDERFLOW|[PT]LOSS|is[a-z]+|signbit|fpclassify|math_errhandling",
    "stdarg.h": r"va_\w+",
    "stddef.h": r"offsetof",
    "stdint.h": r"\w+_WIDTH",
    "stdio.h": r"SEEK_\w+|L_\w+|P_\w+|RENAME_\w+|std(in|out|err)|[gp]etc\w*|putc\w*",
    "stdlib.h": rf"MB_CUR_MAX|W[A-Z]+|P_\w+|alloca|{_POSIX_TYPES}",
    "string.h": r"(str|mem)\w+|basename|r?index",
    "sys/types.h": _POSIX_TYPES,
    "time.h": r"CLOCK\w+|TIMER?_\w+|ADJ_\w+|CLK_TCK",
    "unistd.h": r"\w+_FILENO|[RWXFL]_\w+|SEEK_\w+|CLOSE_RANGE_\w+|TEMP_FAILURE_RETRY",
}
_RESERVED = re.compile(r"_[A-Z_]\w*")
# Names by which compilers, languages, systems and tools are told apart, and which gcc lacks here.
_ABSENT = frozenset(
    {
        "__cplusplus", "__OBJC__", "__ASSEMBLER__", "_WIN32", "_WIN64", "__WIN32__", "__CYGWIN__",
        "__MINGW32__", "__MINGW64__", "_MSC_VER", "__APPLE__", "__MACH__", "__clang__",
        "__INTEL_COMPILER", "__ICC", "__TINYC__", "__SUNPRO_C", "__sun", "__sun__", "__FreeBSD__",
        "__NetBSD__", "__OpenBSD__", "__DragonFly__", "__ANDROID__", "__arm__", "__aarch64__",
        "__i386__", "__i386", "__ppc__", "__powerpc__", "__powerpc64__", "__mips__", "__riscv",
        "__s390__", "__sparc__", "__alpha__", "__ia64__", "__ILP32__", "_ILP32",
        "__STRICT_ANSI__", "__CHAR_UNSIGNED__", "__STDC_NO_ATOMICS__", "__STDC_NO_VLA__",
        "__STDC_NO_COMPLEX__", "__STDC_NO_THREADS__", "__FRAMAC__", "__CPROVER__", "__CPROVER",
        "__SMACK__", "__COVERITY__", "__SANITIZE_ADDRESS__", "__SANITIZE_THREAD__",
        "__BIG_ENDIAN__", "_OPENMP", "__GNUG__", "__VMS", "__SDCC", "__CUDACC__", "__AVX__",
        "__AVX2__", "__SSE3__", "__FAST_MATH__", "_GNU_SOURCE", "_XOPEN_SOURCE",
    }
)  # fmt: skip


def may_define(header: str, name: str) -> bool:
    """Would the real header define this name, which ours does not?"""
    further = _FURTHER.get(header)
    return further is not None and re.fullmatch(further, name) is not None


def may_predefine(name: str) -> bool:
    """Is the name the compiler's or its headers', and not known to be left undefined?"""
    return _RESERVED.fullmatch(name) is not None and name not in _ABSENT
