"""What stands around a program: headers of its own, odd macros, objects that nobody uses; and the
spellings of ACSL. Each changes little and must be read rightly all the same."""

from __future__ import annotations

import random

# `@` is the program's tag. Lines for the head, constant expressions that they allow.
FURNITURE: dict[str, tuple[str, list[str]]] = {
    "header": (
        """
#include "part@.h"
#include "part@.h"
#define NAMED@ <limits.h>
#include NAMED@
#if __has_include("part@.h") && !__has_include("no@.h")
#define FOUND@ 1
#endif
""",
        ["PART@", "PART@ + FOUND@", "(INT_MAX - 5)"],
    ),
    "optional": (
        """
#define OPT@(x, ...) (x __VA_OPT__(+) __VA_ARGS__)
#define MANY@(x, y, ...) (x + y)
#define SOME@(x, ...) MANY@(x, ##__VA_ARGS__, 3, 4)
#define REST@(x, more...) (x - (more))
""",
        ["OPT@(1)", "OPT@(1, 2)", "SOME@(1)", "SOME@(1, 2)", "REST@(7, 2)"],
    ),
    "lines": (
        """
#line 100
#define LONG@ 1\\
2
#pragma GCC poison_nothing
/* a
comment */
#if 0
#error never
#endif
#define EMPTY@
""",
        ["LONG@", "(__LINE__ - __LINE__)", "(__COUNTER__ * 0)", "EMPTY@ 4", "3/* , */"],
    ),
    "folded": (
        """
enum { SIX@ = sizeof(int) > 2 ? 3 << 1 : 0, SEVEN@, TOP@ = 'a' < 98 && !0 || 1 / 1 };
_Static_assert(SIX@ == 6 ? 1 : 0, "six");
""",
        ["SIX@", "SEVEN@", "TOP@", "(sizeof(char) == 1 || 0)"],
    ),
    "generic": (
        """
#define KIND@(e) _Generic((e), int: 2, unsigned int: 3, long: 5, default: 4)
""",
        ["KIND@(1u)", "KIND@((char)1)", "KIND@('a')", "KIND@(1L + 1)", "KIND@((short)1 + 1)"],
    ),
    "numbers": ("", ["0b101", "'\\x41'", "'\\377'", "'\\''", "017", "0xFFu", "'\\0'", "1lu"]),
    "objects": (
        """
struct point@ { int x, y; enum { INNER@ = 8 } z; };
static struct point@ origin@;
static int table@[3] = {1, 2, 3};
static double ratio@ = 0.5;
static const char *name@ = "n";
typedef int (*handler@)(int);
static inline void unused@(int *p) { (void)p; }
""",
        ["INNER@"],
    ),
    "noreturn": (
        """
static _Noreturn void halt@(void) { exit(3); }
__attribute__((noreturn)) static void quit@(int x) { (void)x; abort(); }
""",
        [],
    ),
}
HEADERS = [
    "#pragma once\n#define PART@ 6\n",
    "#ifndef PART@_H\n#define PART@_H\n#define PART@ 6\n#endif\n",
    "#ifdef PART@\n#undef PART@\n#define PART@ 9\n#else\n#define PART@ 3\n#endif\n",
]
ENDS = ["exit(0)", "abort()", "_Exit(1)"]

# All say low <= x <= high, in mathematical integers.
WITHIN = [
    "{low} <= {x} <= {high}",
    "{x} >= {low} && {x} <= {high}",
    "!({x} < {low} || {x} > {high})",
    "({x} < {low} ==> \\false) && ({x} > {high} ==> \\false)",
    "\\min({x}, {high}) == {x} && \\max({x}, {low}) == {x}",
    "{x} - ({low}) >= 0 && 2 * {x} <= 2 * ({high})",
    "({x} <= {high} ? \\true : \\false) && ({x} >= {low} <==> \\true)",
    "-{x} >= -({high}) && +{x} >= {low} && ~{x} <= -({low}) - 1",
    "((integer){x} > {high} ^^ \\true) && {x} / 1 >= {low} && {x} % 1 == 0",
    "upper: {x} <= {high} && \\abs({x} - ({low})) == {x} - ({low})",
    "({x} >= {low} && {x} <= {high}) || \\false",
]


def acsl(choice: int, x: str, low: int, high: int) -> str:
    """A claim in one of its spellings."""
    return WITHIN[choice % len(WITHIN)].format(x=x, low=low, high=high)


def furnish(rng: random.Random, tag: str) -> tuple[list[str], list[str], dict[str, str], list[str]]:
    """Lines of the head, constants, files beside the program, and calls that end it."""
    lines, constants, files, ends = [], [], {}, list(ENDS)
    for kind in rng.sample(sorted(FURNITURE), rng.choice([0, 0, 1, 2, 3])):
        more, allowed = FURNITURE[kind]
        lines += more.strip().replace("@", tag).splitlines()
        constants += [constant.replace("@", tag) for constant in allowed]
        if kind == "header":
            files[f"part{tag}.h"] = rng.choice(HEADERS).replace("@", tag)
        if kind == "noreturn":
            ends += [f"halt{tag}()", f"quit{tag}(2)"]
    return lines, constants, files, ends
