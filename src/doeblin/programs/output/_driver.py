"""A C program that reproduces a failure: the source, with its inputs fixed."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Iterable
from pathlib import Path

from ..._errors import InputError, Place
from ..._files import MEBIBYTE, read_text
from .._program import Program
from ..frontends.c import ALLOCATING, ASSERTIONS, ASSUMPTIONS, FAILURES
from ..system import Graph, Havoc
from ..system.terms import NAN, number_of
from ..verdict import Outcome, Verdict
from ._names import Edits, commented, defined, graph_of
from ._run import EXITS, EXPECTED, STOPPED, flags

_HEADERS = 200
_HEAD = """\
/* Reproduces a failure of {file}, found by doeblin: {reason}.
   Compile and run it: cc {flags} test.c && ./a.out
   {ends} */
/* Inputs in order, in groups: how many there are, and how often they come. */
static const long long doeblin_inputs[] = {{{values}}};
static const long long doeblin_groups[][2] = {{{groups}}};
static long long doeblin_input(void) {{
  static int first, group, next;
  static long long turn;
  while (doeblin_groups[group][0]) {{
    if (next < doeblin_groups[group][0]) return doeblin_inputs[first + next++];
    next = 0;
    if (++turn < doeblin_groups[group][1]) continue;
    first += doeblin_groups[group++][0];
    turn = 0;
  }}
  return 0;
}}
{failing}
static int doeblin_check(int holds) {{ return holds ? 1 : doeblin_fail(); }}
"""
# The program may have functions of any name: we call the system's by names of our own.
_EXITING = """\
#define DOEBLIN_QUOTED(prefix) #prefix
#define DOEBLIN_SYMBOL(prefix, name) __asm__(DOEBLIN_QUOTED(prefix) name)
extern long doeblin_write(int, const void *, unsigned long)
  DOEBLIN_SYMBOL(__USER_LABEL_PREFIX__, "write");
extern void doeblin_exit(int) DOEBLIN_SYMBOL(__USER_LABEL_PREFIX__, "_exit");
static int doeblin_fail(void) {
  static const char said[] = "the property is violated\\n";
  doeblin_write(2, said, sizeof said - 1);
  doeblin_exit(1);
  return 0;
}
static int doeblin_assume(int holds) {
  if (!holds) doeblin_exit(0);
  return 1;
}"""
_TRAPPING = """\
static int doeblin_fail(void) { __builtin_trap(); }
static int doeblin_assume(int holds) {
  while (!holds) continue;
  return 1;
}"""
# What a compiler knows of these functions it need not know of ours.
_ALLOCATING = {
    "malloc": """\
static void *doeblin_malloc(unsigned long size) {
  void *found = 0;
  if (size >> 63 || !doeblin_input()) return 0;
  doeblin_assume((found = __builtin_malloc(size)) != 0);
  return found;
}
""",
    "calloc": """\
static void *doeblin_calloc(unsigned long number, unsigned long size) {
  unsigned long whole = 0;
  void *found = 0;
  if (__builtin_mul_overflow(number, size, &whole) || whole >> 63 || !doeblin_input()) return 0;
  doeblin_assume((found = __builtin_calloc(number, size)) != 0);
  return found;
}
""",
}
_UNTESTABLE = {
    "ACSL": "what fails is an annotation, which compilers do not read",
    "returned none": "compilers make up a value that was not returned, and nothing need fail",
    "must not return": "compilers take for granted that such a function does not return",
}


def driver(program: Program, verdict: Verdict) -> str:
    """A C file that fails as the program does, once it is compiled.

    Its third line says what to expect, and that nobody has tried: see `confirmed`.
    """
    graph = graph_of(program, verdict, Outcome.UNSAFE, "a test driver")
    run = verdict.failure.run if verdict.failure else None
    inputs = run.inputs if run else []
    for word, reason in _UNTESTABLE.items():
        if run is not None and run.failure is not None and word in run.failure.what:
            raise InputError(reason)
    if any(havoc.origin == "cell" for havoc, _ in inputs) or graph.remarks.given:
        said = (
            "the failure depends on what an array or structure has in it that nothing stored there"
        )
        raise InputError(said)
    if own := _OWN.search(program.text):
        raise InputError(f"the program has a macro '{own[1]}' of its own, which ends it in its way")
    renamed: set[Place] = set()
    text = body = _source(program, graph, renamed)
    parameters = list(_sites(graph, "parameter"))
    if parameters:
        setters = "".join(
            f" {graph.variables[h.name].shown} = {_given(graph, h)};" for h in parameters
        )
        body = re.sub(r"(\bmain\s*\([^)]*\)\s*\{)", rf"\1{setters}", body, count=1)
    parts = run.law.parts if run and run.law else [(inputs, 1)]
    leading = [
        _number(value, graph.bits(havoc.name))
        for havoc, value in inputs
        if havoc.origin == "parameter"
    ]
    groups = [(leading, 1)]
    for part, times in parts:
        given = [
            _number(value, graph.bits(havoc.name))
            for havoc, value in part
            if havoc.origin in ("call", "declaration")
        ]
        groups.append((given, times))
    groups = [(part, times) for part, times in groups if part]
    if any(havoc.origin == "hidden" and havoc.call for havoc, _ in inputs):
        raise InputError("the failure depends on what an external function does to globals")
    values = ", ".join([*(v for part, _ in groups for v in part), "0"])
    sizes = ", ".join([*(f"{{{len(part)}, {times}}}" for part, times in groups), "{0, 0}"])
    taken = _taken(text)
    trapped = taken or any("trap" in flag for flag in flags(verdict))
    head = _HEAD.format(
        file=commented(program.file),
        reason=commented(verdict.reason),
        values=values,
        groups=sizes,
        flags=" ".join(flags(verdict)),
        ends=EXPECTED + (STOPPED if trapped else EXITS),
        failing=_TRAPPING if taken else _EXITING,
    )
    head += "".join(_FLOATS[kind] for kind in _FLOATS if _is_read(graph, kind))
    head += "".join(_definitions(text, graph, inputs, renamed))
    body = re.sub(r"\bERROR\s*:", "ERROR: doeblin_fail();", body)
    for name in sorted(FAILURES):
        body = re.sub(rf"(\b{name}\s*\([^)]*\)\s*\{{)", r"\1 doeblin_fail();", body)
        if not defined(name, text):
            # Its calls are a macro's, which a declaration would break.
            body = re.sub(rf"(\bextern\s+)?\bvoid\s+{name}\s*\([^;{{]*;", "", body)
    return head + body


def _taken(text: str) -> bool:
    """Does the program itself use the names by which we would end it?"""
    return re.search(r"\b(_exit|write)\b", text) is not None


_OWN = re.compile(rf"^[ \t]*#[ \t]*define[ \t]+({'|'.join(sorted(ASSERTIONS))})\b", re.MULTILINE)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]*)"|<assert\.h>).*$', re.MULTILINE)


def _source(program: Program, graph: Graph, renamed: set[Place]) -> str:
    """The program with its own headers written out, its unset variables set, and its inputs read.

    Left out are headers that may be missing, and what would define `assert` anew. A call of an
    input is replaced by one of ours, which takes any arguments: what is declared of the function
    does not matter then. The places of these calls are `renamed`.
    """
    root = program.folder.resolve() if program.folder is not None else None
    done: list[Path] = []

    def written(text: str, file: str, near: Path | None) -> str:
        edits = Edits(text)
        for havoc in _sites(graph, "declaration"):
            if havoc.place is not None and havoc.place.file == file:
                shown = graph.variables[havoc.name].shown
                edits.insert(havoc.place, f" = {_given(graph, havoc)}", shift=len(shown))
        for havoc in _sites(graph, "call"):
            place, name = havoc.place, havoc.call or ""
            if place is not None and place.file == file and edits.word(place) == name:
                edits.replace(place, len(name), _reader(havoc, graph))
                renamed.add(place)

        def header(found: re.Match[str]) -> str:
            for folder in dict.fromkeys((near, root)):
                if not found[1] or folder is None or root is None or len(done) >= _HEADERS:
                    continue
                with contextlib.suppress(OSError, ValueError, InputError):
                    path = (folder / found[1]).resolve()
                    if not path.is_relative_to(root):
                        continue
                    inner = read_text(path, most=MEBIBYTE)
                    if path in done and re.search(r"#\s*pragma\s+once", inner):
                        return ""
                    done.append(path)
                    return written(inner, str(path), path.parent)
            return ""

        return _INCLUDE.sub(header, edits.result())

    return written(program.text, program.file, root)


def _sites(graph: Graph, origin: str) -> Iterable[Havoc]:
    """The input sites of a kind, one for each place of the source."""
    seen = set()
    for block in graph.blocks:
        for statement in block.statements:
            if (
                isinstance(statement, Havoc)
                and statement.origin == origin
                and statement.place not in seen
            ):
                seen.add(statement.place)
                yield statement


def _definitions(
    text: str, graph: Graph, inputs: list[tuple[Havoc, int]], renamed: set[Place]
) -> Iterable[str]:
    """Definitions of the functions that the source uses and does not define."""
    for name, replacement in (
        *((name, "doeblin_check(!!({}))") for name in sorted(ASSERTIONS)),
        *((name, "doeblin_assume(!!({}))") for name in sorted(ASSUMPTIONS)),
    ):
        if re.search(rf"\b{name}\s*\(", text) and not defined(name, text):
            call = replacement.format("c")
            if declared := re.search(rf"\b(void|int|_Bool|bool)\s+{name}\s*\(", text):
                # A macro would break the declaration.
                kind = "_Bool" if declared[1] == "bool" else declared[1]
                tail = f"{call};" if kind == "void" else f"return {call};"
                yield f"{kind} {name}(int c) {{ {tail} }}\n"
            else:
                yield f"#define {name}(c, ...) {call}\n"
    for name in sorted(FAILURES):
        if re.search(rf"\b{name}\s*\(", text) and not defined(name, text):
            yield f"#define {name}(...) doeblin_fail()\n"
    readers: dict[str, str] = {}
    for havoc in _sites(graph, "call"):
        kind, name = graph.variables[havoc.name].kind, _reader(havoc, graph)
        if havoc.call in ALLOCATING:
            if havoc.place not in renamed:
                raise InputError("a macro allocates memory, and a test cannot say if that fails")
            readers[name] = _ALLOCATING[havoc.call]
        elif kind in _FLOATS:  # whose readers are there
            if havoc.place not in renamed and havoc.call and not defined(havoc.call, text):
                body = f"return doeblin_{kind}();"
                readers.setdefault(havoc.call, f"{kind} {havoc.call}() {{ {body} }}\n")
        elif havoc.place in renamed:
            readers[name] = f"static {kind} {name}() {{ return doeblin_input(); }}\n"
        elif havoc.call and not defined(havoc.call, text):  # called by a macro
            readers.setdefault(havoc.call, f"{kind} {havoc.call}() {{ return doeblin_input(); }}\n")
    yield from readers.values()
    for havoc, value in inputs:
        if havoc.origin == "global":
            variable = graph.variables[havoc.name]
            yield f"{variable.kind} {variable.shown} = {_constant(value, variable.bits)};\n"


# An input of floating point is written as its bits.
_FLOATS = {
    kind: f"static {kind} doeblin_{kind}() {{\n"
    f"  union {{ {whole} bits; {kind} value; }} input = {{doeblin_input()}};\n"
    "  return input.value;\n}\n"
    for kind, whole in (("float", "unsigned"), ("double", "unsigned long long"))
}


def _is_read(graph: Graph, kind: str) -> bool:
    """Is there an input of this type?"""
    origins = ("call", "declaration", "parameter")
    sites = (havoc for origin in origins for havoc in _sites(graph, origin))
    return any(graph.variables[havoc.name].kind == kind for havoc in sites)


def _given(graph: Graph, havoc: Havoc) -> str:
    """The call that reads an input."""
    kind = graph.variables[havoc.name].kind
    return f"doeblin_{kind}()" if kind in _FLOATS else "doeblin_input()"


def _number(value: int, bits: int | None) -> str:
    """An input, as it is listed."""
    if bits is None:
        return f"{value}LL"
    raw = value if value >= 0 else (1 << (bits - 1)) | (-1 - value)  # the sign comes first
    if value == NAN[bits]:
        raw = {32: 0x7FC00000, 64: 0x7FF8000000000000}[bits]  # which is quiet
    shown = number_of(value, bits).hex()
    return f"(long long)0x{raw:x}ULL /* {shown} */"


def _constant(value: int, bits: int | None) -> str:
    """The value of a global, written in C."""
    if bits is None:
        return str(value)
    number = number_of(value, bits)
    if math.isnan(number):
        return '__builtin_nan("")'
    if math.isinf(number):
        return "__builtin_inf()" if number > 0 else "-__builtin_inf()"
    return number.hex()


def _reader(havoc: Havoc, graph: Graph) -> str:
    """Our function that reads an input of this type, or that allocates where an input says so."""
    kind = graph.variables[havoc.name].kind
    return f"doeblin_{havoc.call if havoc.call in ALLOCATING else kind.replace(' ', '_')}"
