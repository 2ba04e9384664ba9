"""Declarations that C forbids are no programs; those that it allows are not taken for such."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from doeblin._errors import InputError
from doeblin.programs import Outcome, parse_program, verify

MAIN = " int main(void) { return 0; }"
FORBIDDEN = [
    "struct s { int a; }; struct s { int b; };" + MAIN,
    "struct s { int a; }; union s { int b; };" + MAIN,
    "struct s; union s v;" + MAIN,
    "enum a { X = 1 }; enum b { X = 2 };" + MAIN,
    "enum a { X = 1 }; enum a { Y = 2 };" + MAIN,
    "enum a { X, X };" + MAIN,
    "enum a { X = 1 }; int X = 3;" + MAIN,
    "int X = 3; enum a { X };" + MAIN,
    "typedef int t; typedef long t;" + MAIN,
    "typedef int t; enum { t };" + MAIN,
    "struct s; struct s v;" + MAIN,
    "typedef struct s t; t v[3];" + MAIN,
    "struct s { int a; struct s b; };" + MAIN,
    "struct s { int a; struct s b[2]; };" + MAIN,
    "struct s { struct t b; }; struct t { int a; };" + MAIN,
    "int f(int a, int a) { return a; }" + MAIN,
    "int f(int a) { enum { a }; return a; }" + MAIN,
    "int f(int a) { struct s { int b; }; struct s { int c; }; return a; }" + MAIN,
    "int g = 3; static int g;" + MAIN,
    "static int g; int g = 3;" + MAIN,
    "int f(void); static int f(void) { return 1; }" + MAIN,
    "int main(void) { struct s v; return 0; }",
    "struct s; int main(void) { struct s v; return 0; }",
    "int main(void) { struct s *p; struct s v; return 0; }",
    "int main(void) { { struct s { int a; }; } struct s v; return 0; }",
    "int main(void) { register int x = 1; return *&x - 1; }",
    "int f(register int x) { return *&x; }" + MAIN,
    "int main(void) { typedef int t; typedef char t; return 0; }",
    "int main(void) { int x; static int x; return 0; }",
    "int main(void) { int x; enum { x }; return 0; }",
    "int main(void) { return _Generic(1, int: 0, int: 1); }",
    "register int g;" + MAIN,
    "auto int g;" + MAIN,
    "register int f(void);" + MAIN,
    "int f(static int n) { return n; }" + MAIN,
    "int f(extern int n);" + MAIN,
    "int f(void) { return 1; } int f;" + MAIN,
    "int f; int f(void);" + MAIN,
    "int f(int n) { int n(void); return 0; }" + MAIN,
    "int f(int n)[3];" + MAIN,
    "int f[3](void);" + MAIN,
    "struct s { void v; };" + MAIN,
    "struct s { int f(void); };" + MAIN,
    "int f(struct s v) { return 0; }" + MAIN,
    "int x; int main(void) { int x = 1; extern int x; return 0; }",
    "int main(void) { extern static int x; return 0; }",
    "int main(void) { static register int x; return 0; }",
    "int main(void) { static int f(void); return 0; }",
    "int main(void) { for (static int i = 0; i < 2; i++) ; return 0; }",
    "int main(void) { for (typedef int t; 0;) ; return 0; }",
    "int main(void) { for (enum { A, B } i = A; i < B; i++) ; return 0; }",
    "struct s { int a; }; int main(void) { struct s; struct s v; return 0; }",
    "int unknown(void); _Static_assert(unknown(), \"x\");" + MAIN,
    *(f"int main(void) {{ {words} x; return 0; }}" for words in (
        "long long long", "short char", "unsigned signed", "long char", "_Bool unsigned",
        "unsigned double", "long float", "int int", "long short", "void int",
    )),
]  # fmt: skip
ALLOWED = [
    "struct s; struct s { int a; }; struct s; struct s v;" + MAIN,
    "struct s v; struct s { int a; };" + MAIN,
    "extern struct s v;" + MAIN,
    "struct s { struct s *next; }; struct s v, w, *p;" + MAIN,
    "struct s { int a; } x, y; struct s z;" + MAIN,
    "typedef struct s s; struct s { int s; }; s s_;" + MAIN,
    "typedef int t; typedef int t; typedef unsigned u; typedef unsigned int u;" + MAIN,
    "typedef struct { int a; } t; t v; typedef struct n *n;" + MAIN,
    "enum e { A, B = A + 2 }; enum e f(enum e x) { return x; }" + MAIN,
    "struct a { union { int x; char c; }; struct { int y; }; };" + MAIN,
    "struct a { struct b { int x; } b; }; struct b v;" + MAIN,
    "int g; int g; extern int g; int g = 3;" + MAIN,
    "static int g; extern int g; static int g;" + MAIN,
    "static int f(void); int f(void) { return 1; }" + MAIN,
    "int f(int); int f(int a); int f(int b) { return b; }" + MAIN,
    "int f(int a, int b); int g(int a) { { int a = 2; return a; } }" + MAIN,
    "int f(struct s { int a; } *p); struct s; struct s { int b; };" + MAIN,
    "struct s { int a; }; int main(void) { struct s { char b; } v; union t { int c; }; return 0; }",
    "struct s { int a; }; int main(void) { union s { char b; }; union s v; return 0; }",
    "enum { X }; int main(void) { enum { X = 4 }; int Y = X; { int X = 1; Y = X; } return Y - 1; }",
    "typedef int t; int main(void) { typedef char t; { typedef long t; t x = 1; } return 0; }",
    "typedef int t; int main(void) { t t = 1; return t - 1; }",
    "int main(void) { for (int i = 0; i < 2; i++) { int i = 3; i++; } int i = 0; return i; }",
    "int main(void) { register int x = 1; { int x = 2; int *p = &x; return *p - 2; } }",
    "int main(void) { struct s; { struct s { int a; } v; } struct s { long b; } w; return 0; }",
    "int main(void) { extern int g; extern int g; int f(void); int f(void); return 0; }",
    "int main(void) { struct s { int a; }; { struct s v; struct s { int b; } w; } return 0; }",
    "int g(a, b) int a; long b; { return a; }" + MAIN,
    "int main(void) { int a[2][3]; return sizeof(struct s { int x; char c; }) - 8; }",
    "int main(void) { return _Generic(1, long: 1, int: 0, default: 2); }",
    "int f(struct s v); struct s { int a; };" + MAIN,
    "int f(register int n) { auto int m = n; return m; }" + MAIN,
    "int (*f(int n))[3]; int (*g[3])(void); int (*h)(void);" + MAIN,
    "struct s { int (*f)(void); void *p; int a[3]; };" + MAIN,
    "int main(void) { for (register int i = 0, j = 1; i < 2; i++) j++; return 0; }",
    "int main(void) { extern int x; { int x = 1; { extern int x; } } return 0; }",
    "long unsigned int long a; char signed b; int short unsigned c; long double d;" + MAIN,
    "double long _Complex e; unsigned f; signed g; int long h; _Bool i;" + MAIN,
    "void f(void) { } void (*p)(void) = f; int g(int), h(int);" + MAIN,
]


def compiles(text: str) -> bool:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed (apt-get install gcc)")
    command = ["gcc", "-std=gnu17", "-w", "-fsyntax-only", "-xc", "-"]
    return subprocess.run(command, input=text.encode(), capture_output=True).returncode == 0


@pytest.mark.parametrize("text", FORBIDDEN)
def test_forbidden(text):
    assert not compiles(text)
    with pytest.raises(InputError, match=r"^p\.c:1:\d+: "):
        verify(parse_program(text, file="p.c"))


@pytest.mark.parametrize("text", ALLOWED)
def test_allowed(text):
    assert compiles(text)
    assert verify(parse_program(text, file="p.c")).outcome is not Outcome.UNSAFE


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("int main(void) { int x; return _Alignof(x) - 4; }", "'_Alignof' an expression"),
        ("struct s { int a; }; int f(void) { return __builtin_offsetof(struct s, a); }" + MAIN,
         "'offsetof'"),
        ("int main(void) { int f(void) { return 0; } return f(); }", "functions within functions"),
        ("int main(void) { int x; _Generic(1, int: x) = 5; return x - 5; }", "_Generic in place"),
        ("enum { Z = 1 }; int main(void) { if (sizeof(enum { Z = 2 })) ; assert(Z == 2); }",
         "a type that is defined within an expression"),
        ("enum { Y = 1 }; int main(void) { (void)sizeof(enum { Y = 2 }); assert(Y == 1); }",
         "a type that is defined within an expression"),
        ("enum { Z = 1 }; int f(enum { Z = 2 } e) { return Z; }"
         " int main(void) { f(0); assert(Z == 2); }",
         "a type that is defined in a list of parameters"),
    ],
)  # fmt: skip
def test_what_compilers_take_is_no_error(text, said):
    assert compiles(text)
    verdict = verify(parse_program(text, file="p.c"))
    assert verdict.outcome is Outcome.UNKNOWN and said in verdict.reason
