"""The preprocessor against gcc's: the same tokens, or both refuse."""

# ruff: noqa: E501 (a snippet a line)

import re
import shutil
import subprocess

import pytest

from doeblin._errors import InputError
from doeblin.programs.frontends.c._unsupported import Unsupported
from doeblin.programs.frontends.c.text import _macros, _preprocess
from doeblin.programs.frontends.c.text._headers import HEADERS
from doeblin.programs.frontends.c.text._preprocess import Preprocessor

GCC = shutil.which("gcc")
# A lexer of its own, so that a fault of ours cannot hide.
WORD = re.compile(
    r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|[A-Za-z_]\w*|\.?\d(?:[eEpP][+-]|[\w.])*'
    r"|<<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\S"
)

SNIPPETS = {
    "object": "#define A 1\n#define B A + A\nB B",
    "redefined in order": "#define A 1\nA\n#undef A\nA\n#define A 2\nA",
    "recursion": "#define f(x) x f\nf(1)(2)(3)\n#define a b\n#define b a\na b",
    "painted": "#define f(a) a*g\n#define g(a) f(a)\nf(2)(9)",
    "argument painted": "#define f(x) x\nf(f)(1) f(f(1))",
    "standard 3": (
        "#define x 3\n#define f(a) f(x * (a))\n#undef x\n#define x 2\n#define g f\n#define z z[0]\n"
        "#define h g(~\n#define m(a) a(w)\n#define w 0,1\n#define t(a) a\n#define p() int\n"
        "#define q(x) x\n#define r(x,y) x ## y\n#define str(x) # x\n"
        "f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);\ng(x+(3,4)-w) | h 5) & m\n(f)^m(m);\n"
        "p() i[q()] = { q(1), r(2,3), r(4,), r(,5), r(,) };\nchar c[2][6] = { str(hello), str() };"
    ),
    "standard 4": (
        "#define str(s) # s\n#define xstr(s) str(s)\n"
        '#define debug(s, t) printf("x" # s "= %d, x" # t "= %s", \\\n x ## s, x ## t)\n'
        "#define INCFILE(n) vers ## n\n#define glue(a, b) a ## b\n#define xglue(a, b) glue(a, b)\n"
        '#define HIGHLOW "hello"\n#define LOW LOW ", world"\ndebug(1, 2);\n'
        "fputs(str(strncmp(\"abc\\0d\", \"abc\", '\\4') == 0) str(: @\\n), s);\n"
        "xstr(INCFILE(2).h)\nglue(HIGH, LOW);\nxglue(HIGH, LOW)"
    ),
    "standard 5": (
        "#define t(x,y,z) x ## y ## z\nint j[] = { t(1,2,3), t(,4,5), t(6,,7), t(8,9,),\n"
        "t(10,,), t(,11,), t(,,12), t(,,) };"
    ),
    "hash hash": "#define hash_hash # ## #\n#define mkstr(a) # a\n#define in_between(a) mkstr(a)\n"
    "#define join(c, d) in_between(c hash_hash d)\njoin(x, y)",
    "variadic": (
        "#define debug(...) fprintf(stderr, __VA_ARGS__)\n#define showlist(...) puts(#__VA_ARGS__)\n"
        "#define report(test, ...) ((test)?puts(#test): printf(__VA_ARGS__))\n"
        'debug("Flag");\ndebug("X = %d\\n", x);\nshowlist(The first, second,   and third items.);\n'
        'report(x>y, "x is %d but y is %d", x, y);\nshowlist();'
    ),
    "gnu comma": "#define e(f, ...) p(f, ## __VA_ARGS__)\ne(1) e(1,) e(1,2) e(1,2,3)\n#define h(...) p(0, ## __VA_ARGS__)\nh() h(1)",
    "gnu named": "#define e(f, args...) p(f, args)\ne(1,2,3) e(1,)",
    "va opt": "#define F(a, ...) f(a __VA_OPT__(,) __VA_ARGS__)\nF(1) F(1,2) F(1,2,3)",
    "va opt body": "#define G(X, ...) f(0, X __VA_OPT__(,) __VA_ARGS__)\nG(a,b,c) G(a,) G(a)",
    "stringize spaces": "#define s(x) #x\ns(a   b) s( a ) s(a/**/b) s(\"a\\n\" 'c' '\\'' \"\\\"\")",
    "stringize not expanded": "#define A 1\n#define s(x) #x\n#define t(x) s(x)\ns(A) t(A)",
    "paste to macro": "#define AB 7\n#define p(a,b) a##b\np(A,B) p(A,p(B,C)) p(x,1) p(1,x) p(<,<) p(-,>)",
    "paste empty": "#define p(a,b,c) [a##b##c]\np(,,) p(1,,) p(,1,) p(,,1)",
    "nested calls": "#define m(a,b) (a<b?a:b)\nm(m(1,2),m(3,m(4,5)))",
    "call over lines": "#define f(a,b) a-b\nf(1,\n 2) f\n(3,\n4)",
    "name without call": "#define f(x) [x]\nf f f(1) (f)(2)",
    "call after expansion": "#define f(x) [x]\n#define g f\ng(1) g\n#define l (\nf l 2)",
    "empty argument": "#define f(x) [x]\n#define g() <>\nf() g() f( ) g( )",
    "commas in brackets": "#define f(x) [x]\nf((a,b)) f(a{b}c)",
    "definition across directive": "#define f(x) [x]\nf\n#define g 1\n(g)",
    "conditional in call": "#define f(x) [x]\nf(1\n#if 0\n+2\n#else\n+3\n#endif\n)",
    "defined": "#define A\n#if defined A && defined(A) && !defined B\nyes\n#else\nno\n#endif",
    "if names": "#if foo || true || int\nyes\n#else\nno\n#endif",
    "if unsigned": "#if -1 > 0u\nyes\n#endif\n#if -1 < 0\nyes2\n#endif\n#if (-1)/2 == 0 && -1/2u > 1\nyes3\n#endif",
    "if wide": "#if 0xFFFFFFFFFFFFFFFF > 0 && 18446744073709551615u == -1\ny1\n#endif\n"
    "#if (1 << 31) > 0 && (1 << 40) == 1099511627776\ny2\n#endif\n"
    "#if 0x7FFFFFFFFFFFFFFF + 0 > 0 && 4294967295 + 1 == 4294967296\ny3\n#endif\n"
    "#if ~0u == 0xFFFFFFFFFFFFFFFF && ~0 == -1 && 0u - 1 > 0\ny4\n#endif",
    "if shift": "#if (-8 >> 1) == -4 && (1u << 63) > 0 && (1 << 63) < 0 && (2 >> 1) == 1\ny\n#endif",
    "if division": "#if -7 / 2 == -3 && -7 % 2 == -1 && 7 % -2 == 1 && 7u / 2 == 3\ny\n#endif",
    "if lazy": "#if 0 && 1/0\nno\n#elif 1 || 1/0\nyes\n#endif\n#if 1 ? 2 : 1/0\nyes\n#endif",
    "if ternary type": "#if (1 ? -1 : 0u) > 0\nyes\n#endif\n#if 1 ? 0 ? 1 : 2 : 3\nyes\n#endif",
    "if chars": "#if 'a' == 97 && '\\n' == 10 && '\\x41' == 65 && '\\101' == 65 && '\\0' == 0\ny\n#endif",
    "if precedence": "#if 1 + 2 * 3 == 7 && (1 | 2 ^ 2 & 3) == 1 && 1 < 2 == 1 && !0 + 1 == 2\ny\n#endif",
    "if macro call": "#define f(x) x+1\n#if f(2) == 3\ny\n#endif",
    "if octal hex binary": "#if 010 == 8 && 0x10 == 16 && 0b10 == 2 && 10L == 10ull\ny\n#endif",
    "else elif": "#if 0\na\n#elif 0\nb\n#elif 1\nc\n#elif 1\nd\n#else\ne\n#endif",
    "elif not evaluated": "#if 1\na\n#elif 1/0\nb\n#endif",
    "nested off": "#if 0\n#if 1/0\n#else\n#endif\n#ifdef\n#endif\n#else\nyes\n#endif",
    "off has anything": "#if 0\nit's @ ` \\ \"open\n#unknown\n#else\nyes\n#endif",
    "ifdef": "#define X\n#ifdef X\na\n#endif\n#ifndef X\nb\n#else\nc\n#endif\n#undef X\n#ifdef X\nd\n#endif",
    "elifdef": "#define X\n#if 0\n#elifdef X\na\n#endif\n#if 0\n#elifndef X\nb\n#else\nc\n#endif",
    "null directive": "#\n# \n a",
    "spliced": "#define A 1 \\\n + 2\nA\nin\\\nt x\\\ny;\n// c \\\nstill\nz",
    "comments": "a/**/b /* x */ c // d\n#define /* x */ E /* y */ 5 /* z */\nE /* \n */ #define no\n",
    "directive after comment": "/* a\n b */ #define X 3\nX",
    "line": "__LINE__\n__LINE__ #define\n#line 100\n__LINE__\n__LINE__\n#define L __LINE__\nL",
    "line file": '#line 7 "other.c"\n__LINE__ __FILE__',
    "counter": "__COUNTER__ __COUNTER__\n#define C __COUNTER__\nC C",
    "level": "__INCLUDE_LEVEL__",
    "keywords": "#define int long\n#define if while\nint x; if (1);\n#undef int\nint",
    "digraphs in code": "#define A(x) x\nA(1)",
    "self": "#define foo (4 + foo)\nfoo\n#define x (4 + y)\n#define y (2 * x)\nx y",
    "swap": "#define a b\n#define b c\n#define c a\na b c",
    "argument prescan": "#define f(x) x + f(x)\n#define lose(x) (1 + (x))\nf(f(2)) lose(lose(1))",
    "unbalanced expansion": "#define strange(file) fprintf (file, \"%s %d\",\nstrange(stderr) p, 35)",
    "call made": "#define f(x) <x>\n#define g f\n#define h(x) g(x)\nh(h(1)) g g(1)",
    "numbers": "#define e 3\n1e+3 1e 0x1e+e .5 1.2.3 0xe+1 1_000",
    "strings": "#define a 1\n\"a\" 'a' \"/* a */\" \"// a\" L\"a\" u8\"a\"",
    "predefined": "__STDC__ __STDC_HOSTED__ __CHAR_BIT__ __INT_MAX__ __LONG_MAX__ __SIZEOF_INT__ "
    "__SIZEOF_LONG__ __LP64__ __linux__ unix linux __SIZE_TYPE__ __PTRDIFF_TYPE__ __INT64_TYPE__ "
    "__UINT64_TYPE__ __INTMAX_MAX__ __SCHAR_MAX__ __SHRT_MAX__ __LONG_LONG_MAX__ __SIZE_MAX__ "
    "__INT32_MAX__ __UINT32_MAX__ __UINT8_TYPE__ __INT64_C(3) __UINTMAX_C(4) __INT_WIDTH__ "
    "__BYTE_ORDER__ __ORDER_LITTLE_ENDIAN__ __STDC_VERSION__ __NO_INLINE__ __ELF__ __GNUC__",
    "no names of headers": "INT_MAX size_t bool true NULL EXIT_SUCCESS int32_t CHAR_BIT NDEBUG",
    "undef predefined": "#undef __LP64__\n__LP64__\n#undef unix\nunix",
    "redefinition": "#define A 1\n#define A 2\nA",
    "function to object": "#define f(x) x\n#undef f\n#define f (x)\nf(1)",
    "space decides": "#define f (x)\n#define g(x) x\nf g(1)",
    "hash without parameters": "#define f # a\nf",
    "include": '#include "inner.h"\nINNER\n#include "inner.h"\n',
    "include order": '#define INNER 5\nINNER\n#include "defines.h"\nINNER',
    "include macro": '#define H "inner.h"\n#include H\n',
    "include level": '#include "level.h"\n',
    "has include": '#if __has_include("inner.h") && __has_include(<stdio.h>)\ny\n#endif',
    "pragma once": '#include "once.h"\n#include "once.h"\n',
    "empty": "",
    "only comment": "/* x */",
    # Refused by both.
    "error": "#error no",
    "no endif": "#if 1",
    "no if": "#endif",
    "else twice": "#if 1\n#else\n#else\n#endif",
    "elif after else": "#if 0\n#else\n#elif 1\n#endif",
    "too many arguments": "#define f(a) a\nf(1,2)",
    "too few arguments": "#define f(a,b) a\nf(1)",
    "no closing": "#define f(a) a\nf(1",
    "bad paste": "#define p(a,b) a##b\np(+,x)",
    "paste at end": "#define p(a) a##\n",
    "paste at start": "#define p(a) ##a\n",
    "hash no parameter": "#define p(a) #b\n",
    "if empty": "#if\n#endif",
    "if division by zero": "#if 1/0\n#endif",
    "if incomplete": "#if 1 +\n#endif",
    "if too much": "#if 1 2\n#endif",
    "if bracket": "#if (1\n#endif",
    "if float": "#if 1.0\n#endif",
    "if string": '#if "a"\n#endif',
    "if assigns": "#if 1 = 1\n#endif",
    "define number": "#define 1 2",
    "define nothing": "#define",
    "define defined": "#define defined 1",
    "doubled parameter": "#define f(a,a) a",
    "undef nothing": "#undef",
    "ifdef nothing": "#ifdef\n#endif",
    "unknown directive": "#foo",
    "include nothing": "#include",
    "include itself": '#include "itself.h"',
    "defined nothing": "#if defined\n#endif",
    "unclosed comment": "/* open",
}  # fmt: skip

FILES = {
    "inner.h": "#define INNER 1\nint inner;\n",
    "defines.h": "INNER\n#undef INNER\n#define INNER 6\nINNER\n",
    "level.h": "__INCLUDE_LEVEL__\n",
    "once.h": "#pragma once\nint once;\n",
    "itself.h": '#include "itself.h"\n',
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("preprocess")
    for name, text in FILES.items():
        (path / name).write_text(text)
    return path


def ours(text, folder):
    try:
        return [token.text for token in Preprocessor(folder).run(text, "main.c")]
    except InputError:
        return None


@pytest.mark.skipif(GCC is None, reason="compares with gcc, which is not here")
@pytest.mark.parametrize("name", SNIPPETS)
def test_as_gcc(name, folder):
    text = SNIPPETS[name]
    (folder / "main.c").write_text(text)
    command = [GCC, "-E", "-P", "-std=gnu17", "-fsigned-char", "main.c"]
    run = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=60)
    found = ours(text, folder)
    if run.returncode != 0:
        assert found is None
    else:
        expected = WORD.findall(re.sub(r"^#pragma.*$", "", run.stdout, flags=re.MULTILINE))
        assert found is not None
        assert [word for item in found for word in WORD.findall(item)] == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("int x;\n#endif", "p.c:2:1: #endif without #if"),
        ("#if 1\n#if 0\n#endif\nint x;", "p.c:1:1: this #if has no #endif"),
        ("#if 1\n#else\n#else\n#endif", "p.c:3:1: #else after #else"),
        ("#if 2 */ 3\n#endif", "p.c:1:2: #if condition"),
        ("#define f(x) x\nf(1", "p.c:2:1: the call of macro 'f' has no ')'"),
        ("#define p(a,b) a##b\n p(+,x)", "p.c:2:2: '##' makes '+x' in macro 'p'"),
        ("#foo bar", "p.c:1:1: '#foo' is no directive"),
        ("#define X X X\nint a = `;", "p.c:2:9: character that C does not know"),
        ("#define A B B B B B B B B B B\n#define B C C C C C C C C C C\n#define C D D D D D D D D D D\n"
         "#define D E E E E E E E E E E\n#define E F F F F F F F F F F\n#define F G G G G G G G G G G\n"
         "#define G x x x x x x x x x x\nA",
         "expands without end"),
        ("#define D(x) x##x\n#define E(x) D(x)\n" + "E(" * 60 + "a" + ")" * 60, "name without end"),
    ],
)  # fmt: skip
def test_errors_have_a_place(text, message, monkeypatch):
    monkeypatch.setattr(_macros, "_LARGEST", 10_000)
    with pytest.raises(InputError) as error:
        Preprocessor().run(text, "p.c")
    assert message in str(error.value)


def test_places_of_spliced_and_expanded_tokens():
    text = "#define TWO 1 + \\\n 1\nint x = TWO;\nin\\\nt y\\\nz; /* a\n b */ last"
    places = {t.text: t.place[1:] for t in Preprocessor().run(text, "p.c")}
    assert places["x"] == (3, 5) and places["1"] == (3, 9)
    assert places["yz"] == (5, 3) and places["last"] == (7, 7)


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../outside.h", "link.h", "inner", "a" * 300, "nowhere.h"]
)
def test_nothing_outside_of_the_folder_is_read(tmp_path, name):
    inside = tmp_path / "inside"
    (inside / "inner").mkdir(parents=True)
    (tmp_path / "outside.h").write_text("int outside;")
    (inside / "link.h").symlink_to(tmp_path / "outside.h")
    preprocessor = Preprocessor(inside)
    assert preprocessor.run(f'#include "{name}"\n', "p.c") == []
    assert [found for found, _ in preprocessor.missing] == [name]


def test_included_files_have_a_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(_preprocess, "_LARGEST", 5_000)
    (tmp_path / "long.h").write_text("int x;\n" * 100)
    with pytest.raises(InputError, match="too large"):
        Preprocessor(tmp_path).run('#include "long.h"\n' * 100, "p.c")


@pytest.mark.parametrize(
    "text",
    [
        "__DATE__",
        "#pragma weak f\n",
        "#include_next <a.h>\n",
        "#if __has_include(<pthread.h>)\n#endif\n",
        "#ifdef __VERSION__\n#endif\n",
        "#include <errno.h>\n#if !defined(EINTR)\n#endif\n",
        "#include <time.h>\n#if CLOCKS_PER_SEC > 5\n#endif\n",
        "#include <nowhere.h>\n#ifdef CONFIG\n#endif\n",
    ],
)
def test_refused(text):
    with pytest.raises(Unsupported):
        Preprocessor().run(text, "p.c")


def test_what_the_program_says_of_a_name_is_known():
    """Its own definitions, and guards against reading a file twice."""
    text = """#include <errno.h>
#include <nowhere.h>
#undef EINTR
#ifdef EINTR
wrong
#endif
#ifndef __GUARD_H__
#define __GUARD_H__
right
#endif
"""
    assert [token.text for token in Preprocessor().run(text, "p.c")] == ["right"]


@pytest.mark.skipif(GCC is None, reason="compares with gcc, which is not here")
@pytest.mark.parametrize("header", ["", *HEADERS])
def test_no_macro_of_a_header_is_taken_for_undefined(header):
    """What gcc's header defines is defined by ours, with the same value if that is a number, or
    refused; and so is what it predefines."""
    include = f"#include <{header}>\n" if header else ""
    command = ["gcc", "-std=gnu17", "-fsigned-char", "-dM", "-E", "-"]
    listed = subprocess.run(command, input=include, capture_output=True, text=True, check=True)
    names = re.findall(r"^#define (\w+)( .*)?$", listed.stdout, re.MULTILINE)
    assert len(names) > 200
    ours = Preprocessor()
    ours.run(include, "p.c")
    compared, same = include, []
    here = re.compile(r"__(ARM|AARCH64|aarch64|CHAR_UNSIGNED|W(CHAR|INT))\w*|WCHAR_\w+|__GNUC\w+")
    for name, value in names:
        if here.match(name):
            continue  # the machine of the test, not x86-64
        if name not in ours.macros:
            with pytest.raises(Unsupported):
                ours.run(f"#ifdef {name}\n#endif\n", "p.c")
        elif re.fullmatch(r" \(?-?\d+[uUlL]*( - 1)?\)?", value):
            compared += f"#if {name} == {value}\nsame_{name}\n#endif\n"
            same.append(f"same_{name}")
    found = [token.text for token in Preprocessor().run(compared, "p.c")]
    assert [text for text in found if text.startswith("same_")] == same
