"""What stands around a program: headers of its own, odd macros, objects that nobody uses; and the
spellings of ACSL. Each changes little and must be read rightly all the same."""

from __future__ import annotations

import random
from dataclasses import dataclass

# `@` is the program's tag. Lines for the head, constant expressions that they allow.
FURNITURE: dict[str, tuple[str, list[str]]] = {
    "header": (
        """
#include "part@.h"
#include "part@.h"
#define NAMED@ <limits.h>
#include NAMED@
#if __has_include("part@.h")
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
#define GLUE@(x, y) (3 x##y)
enum { FIVE@ = 5 };
#define FIVE@(x) (x)
""",
        [
            "OPT@(1)",
            "OPT@(1, 2)",
            "SOME@(1)",
            "SOME@(1, 2)",
            "REST@(7, 2)",
            "GLUE@(, + 2)",
            "GLUE@(* 4, )",
            "GLUE@(,)",
            "FIVE@",
            "FIVE@ (2)",
            "(FIVE@)",
        ],
    ),
    "lines": (
        """
#line 100
#define LONG@ 1\\
2
#pragma GCC poison_nothing
#line 7 "other@.c"
/* a
comment */
#if 0
#error never
#endif
#define EMPTY@
""",
        [
            "LONG@",
            "(__LINE__ - __LINE__)",
            "(__COUNTER__ * 0)",
            "EMPTY@ 4",
            "3/* , */",
        ],
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
static const char *label@(int x) { return "n"; }
static int third@(const char *text, int x) { return x + 3; }
""",
        ["INNER@"],
    ),
    "noreturn": (
        """
static _Noreturn void halt@(void) { exit(3); }
static void leave@(void) __attribute__((noreturn));
static void leave@(void) { exit(0); }
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
ENDS = {"": ["exit(0)", "abort()", "_Exit(1)"], "noreturn": ["halt@()", "quit@(2)", "leave@()"]}
SAYS = {"objects": ["label@((char)({}));", "unused@(0);", '(void)third@("n", (short)({}));']}

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


@dataclass
class Furnished:
    lines: list[str]  # of the head
    constants: list[str]
    files: dict[str, str]  # beside the program
    ends: list[str]  # calls that end it
    says: list[str]  # statements that change nothing


def acsl(choice: int, x: str, low: int, high: int) -> str:
    """A claim in one of its spellings."""
    return WITHIN[choice % len(WITHIN)].format(x=x, low=low, high=high)


def furnish(rng: random.Random, tag: str) -> Furnished:
    chosen = rng.sample(sorted(FURNITURE), rng.choice([0, 0, 1, 2, 3]))
    tagged = lambda texts: [text.replace("@", tag) for text in texts]  # noqa: E731
    return Furnished(
        lines=[line for kind in chosen for line in tagged(FURNITURE[kind][0].strip().splitlines())],
        constants=[text for kind in chosen for text in tagged(FURNITURE[kind][1])],
        files={f"part{tag}.h": tagged([rng.choice(HEADERS)])[0]} if "header" in chosen else {},
        ends=[text for kind in ["", *chosen] for text in tagged(ENDS.get(kind, []))],
        says=[text for kind in chosen for text in tagged(SAYS.get(kind, []))],
    )
