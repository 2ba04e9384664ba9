"""Programs as text, in several styles that mean the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .expressions import Function, Program
from .furniture import acsl

HEAD = """#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void); extern _Bool __VERIFIER_nondet_bool(void);
extern char __VERIFIER_nondet_char(void); extern unsigned char __VERIFIER_nondet_uchar(void);
extern void __VERIFIER_assume(int); extern void __VERIFIER_assert(int);
extern void __VERIFIER_error(void); extern void reach_error(void);
"""
# The compiled programs print nothing, since the driver does.
QUIET = """#ifndef __NO_INLINE__
#define __NO_INLINE__ 1 /* getchar is the driver's */
#endif
#include <stdio.h>
#ifndef printf
static int quiet(const char *text, ...) { return 3; }
#define printf quiet
#define puts(text) quiet(text)
#define fprintf(stream, ...) quiet(__VA_ARGS__)
#endif
"""


@dataclass(frozen=True)
class Style:
    """What is written differently. Each leaves the meaning of every program as it is."""

    rename: bool = False
    reorder: bool = False  # file-scope declarations the other way round, after prototypes
    peel: bool = False  # the first turn of a loop stands before it
    inline: bool = False  # a function that is one return is written where it is called
    longhand: bool = False  # `i += 1` for `i++`, `x = x + e` for `x += e`
    loops: bool = False  # `for` as `while`, `while` as `for`
    dead: bool = False  # code that never runs, variables that nobody reads
    split: bool = False  # declarations without values, then assignments
    negate: bool = False  # De Morgan, and branches of `if` exchanged
    widen: bool = False  # `int` variables become `long`


PLAIN = Style()
RESULT = "\\result"
STYLES = {name: Style(**{name: True}) for name in Style.__dataclass_fields__}


def claim_text(text: str, low: int, high: int, wrong: bool, signed: bool) -> str:
    """A tight claim about a value whose range is known; `wrong`: one that just fails."""
    text = f"({text})" if low >= 0 or signed else f"(long long)({text})"

    def number(n: int) -> str:
        return f"(-{-n - 1}{'LL' if n < -(2**31) else ''} - 1)" if n < 0 else str(n)

    if wrong:
        return f"{text} != {number(high)}"
    if low == high:
        return f"{text} == {number(low)}"
    return f"{text} >= {number(low)} && {text} <= {number(high)}"


class Renderer:
    def __init__(
        self,
        program: Program,
        style: Style = PLAIN,
        ranges: Mapping[int, tuple[int, int]] | None = None,
        order: str | None = None,
        referee: bool = False,
    ):
        """`ranges` of the holes (None: they are measured); `order` of unordered operands; for the
        `referee` all is C, also what is said in ACSL."""
        self.program = program
        self.style = style
        self.ranges = ranges
        self.order = order
        self.referee = referee or order is not None
        self.dead = 0
        plain = {f.name: f for f in program.functions if f.value and not f.contract}
        self.inlined = plain if style.inline else {}
        self.bound: list[dict[str, str]] = []

    def text(self) -> str:
        made, tag = self.program, f"_{self.program.number}"
        text = f"#define TEXT{tag}(x, ...) #x #__VA_ARGS__"
        check = f"static void {self.check}(int ok) {{ if (!ok) reach_error(); }}"
        objects = [
            f"{kind} {self.name(name)}{'' if value is None else ' = ' + self.e(value)};"
            for kind, name, value in made.globals
        ]
        if made.number % 5 == 0:  # declared before and after it is defined: one object
            again = [f"extern {kind} {self.name(name)};" for kind, name, _ in made.globals]
            objects = [*again, *objects, *again]
        functions = [self.function(f) for f in made.functions]
        if made.number % 5 == 1:
            functions = [*self.prototypes(), *functions, *self.prototypes()]
        if self.style.reorder:
            objects = [*self.prototypes(), *reversed(objects)]
            functions.reverse()
        body = self.block(made.body, 1)
        extra = "  int unread = 3; unread++;\n" if self.style.dead else ""
        main = f"{self.start()}\n{extra}{body}  return 0;\n"
        if "goto ERROR;" in body:
            main += "  ERROR: reach_error();\n  return 1;\n"
        used = [check] * (made.number % 3 > 0 or f"{self.check}(" in main)
        head = HEAD if self.judged else QUIET + HEAD
        return head + "\n".join([*made.head, text, *used, *objects, *functions, main + "}"]) + "\n"

    @property
    def check(self) -> str:
        return f"{'check' if self.program.number % 2 else 'my_assert'}_{self.program.number}"

    @property
    def judged(self) -> bool:
        """Is it for the verifier, and no one else?"""
        return not self.referee and self.ranges is not None

    def start(self) -> str:
        """`main`; or, where nothing else stands at file scope, a function that nothing calls."""
        made, argc = self.program, self.name("argc")
        if made.counted and self.judged:
            return f"int main(int {argc}, char **argv) {{"
        if made.counted:
            given = f"int {argc} = __VERIFIER_nondet_int(); __VERIFIER_assume({argc} >= 0);"
            return f"int main(void) {{ {given}"
        alone = made.number % 3 == 0 and not made.functions and not made.defines
        return f"int {f'start_{made.number}' if alone and self.judged else 'main'}(void) {{"

    def name(self, name: str) -> str:
        for bound in reversed(self.bound):
            if name in bound:
                return bound[name]
        return f"{name}__Xy1" if self.style.rename else name

    def type(self, kind: str) -> str:
        return "long" if self.style.widen and kind == "int" else kind

    def signature(self, f: Function) -> str:
        params = ", ".join(f"{kind} {self.name(name)}" for kind, name in f.params)
        return f"{f.result} {self.name(f.name)}({params or 'void'})"

    def prototypes(self) -> list[str]:
        known = [f for f in self.program.functions if self.referee or not self.is_outside(f)]
        return [f"static {self.signature(f)};" for f in known]

    def is_outside(self, f: Function) -> bool:
        return f.contract is not None and f.contract.outside is not None

    def function(self, f: Function) -> str:
        """With its contract: in ACSL, or as a function around it that checks it."""
        whole = f"static inline {self.signature(f)} {{\n{self.block(f.body, 1)}}}"
        contract, in_c = f.contract, not self.judged
        if contract is None:
            return whole
        if contract.outside == "any":
            if not in_c:
                return f"{self.signature(f)};"
            return f"static {self.signature(f)} {{ return __VERIFIER_nondet_int(); }}"
        if contract.outside is not None:
            low, high = contract.outside
            if not in_c:
                said = acsl(self.program.number, RESULT, low, high)
                return f"/*@ ensures {said}; assigns \\nothing; */\nextern {self.signature(f)};"
            given = "int r = __VERIFIER_nondet_int();"
            known = f"__VERIFIER_assume(r >= {low} && r <= {high});"
            return f"static {self.signature(f)} {{ {given} {known} return r; }}"
        if not in_c:
            clauses = [
                f"requires {self.ranged(k, self.name(x), signed)};"
                for k, x, signed in contract.requires
            ]
            if contract.ensures is not None:
                k, signed = contract.ensures
                kind = "check ensures" if k % 3 == 0 else "ensures"
                clauses.append(f"{kind} {self.ranged(k, RESULT, signed, contract.wrong)};")
                x = self.name(f.params[0][1]) if f.params else "1"
                clauses.append(f"ensures {x} == \\old({x}) && \\at({x}, Pre) == {x};")
            return f"/*@ {' '.join(clauses)} */\n{whole}" if clauses else whole
        inner = f"{f.name}_body"
        checks = [self.checked(k, self.name(x), signed) for k, x, signed in contract.requires]
        given = ", ".join(self.name(x) for _, x in f.params)
        call = f"{self.name(inner)}({given})"
        if contract.ensures is not None:
            k, signed = contract.ensures
            after = self.checked(k, "r", signed, contract.wrong)
            call = f"{f.result} r = {call}; {after} return r"
        elif f.result != "void":
            call = f"return {call}"
        around = f"static {self.signature(f)} {{ {' '.join(checks)} {call}; }}"
        return whole.replace(f"{self.name(f.name)}(", f"{self.name(inner)}(", 1) + "\n" + around

    def sayable(self, k: int, signed: bool) -> tuple[int, int] | None:
        """The range of a hole, unless it was measured modulo 2^64."""
        low, high = (self.ranges or {}).get(k, (0, 0))
        return (low, high) if signed or low >= 0 else None

    def ranged(self, k: int, x: str, signed: bool, wrong: bool = False) -> str:
        found = self.sayable(k, signed)
        if found is None:
            return "\\true"
        return f"{x} != {found[1]}" if wrong else acsl(self.program.number + k, x, *found)

    def checked(self, k: int, x: str, signed: bool, wrong: bool = False) -> str:
        """The same in C, for the referee; or a probe."""
        if self.ranges is None:
            return f"probe({k}, (long long){x});"
        found = self.sayable(k, signed)
        return f"assert({claim_text(x, *found, wrong, signed)});" if found else ""

    # Statements

    def block(self, body: list[tuple], depth: int) -> str:
        pad = "  " * depth
        out = []
        for item in body:
            out += [pad + line for line in self.statement(item)]
            if self.style.dead and self.dead < 3 and item[0] == "expr":
                self.dead += 1
                out.append(f"{pad}if (0) {{ int z = 1; z = z + 2; assert(z == 0); }}")
        return "".join(line + "\n" for line in out)

    def braces(self, body: list[tuple]) -> list[str]:
        lines = self.block(body, 1).splitlines()
        bare = [item[0] for item in body] == ["expr"] and not self.style.dead
        return lines if bare and self.program.number % 4 == 1 else ["{", *lines, "}"]

    def statement(self, item: tuple) -> list[str]:
        return getattr(self, "s_" + item[0].replace("-", "_"))(*item[1:])

    def s_expr(self, e: tuple) -> list[str]:
        if self.style.longhand and e[0] == "step":
            return [f"{self.name(e[3])} {e[1][0]}= 1;"]
        if self.style.longhand and e[0] == "set" and e[1] != "=":
            name = self.name(e[2])
            return [f"{name} = {name} {e[1][:-1]} ({self.e(e[3])});"]
        text = self.e(e)
        return [(text[1:-1] if e[0] == "set" else text) + ";"]

    def s_decl(self, static: bool, kind: str, name: str, value: tuple | None) -> list[str]:
        start = f"{'static ' * static}{self.type(kind)} {self.name(name)}"
        if name == "d":
            start = f"{self.type(kind)} __attribute__((unused)) {self.name(name)}"
        if value is None:
            return [start + ";"]
        if self.style.split and not static:
            return [start + ";", f"{self.name(name)} = {self.e(value)};"]
        return [f"{start} = {self.e(value)};"]

    def s_if(self, c: tuple, body: list[tuple], other: list[tuple] | None) -> list[str]:
        if self.style.negate:
            body, other, c = other or [], body, ("un", "!", c)
        out = [f"if ({self.e(c)})", *self.braces(body)]
        if other is not None:
            out += ["else", *self.braces(other)]
        return out

    def s_while(self, c: tuple, body: list[tuple]) -> list[str]:
        text = self.braces(body)
        if self.style.peel and not any(_holds(body, k) for k in JUMPS):
            return [f"if ({self.e(c)}) {{", *text, f"while ({self.e(c)})", *text, "}"]
        if self.style.loops:
            return [f"for (; {self.e(c)};)", *text]
        return [f"while ({self.e(c)})", *text]

    def s_do(self, body: list[tuple], c: tuple) -> list[str]:
        text = self.braces(body)
        if self.style.peel and not any(_holds(body, k) for k in JUMPS):
            return ["{", *text, f"while ({self.e(c)})", *text, "}"]
        return ["do", *text, f"while ({self.e(c)});"]

    def s_for(self, start, c, step, body) -> list[str]:
        first = self.statement(start)[0].removesuffix(";") if start else ""
        if self.style.split and start and start[0] == "decl":
            first = f"{self.type(start[2])} {self.name(start[3])} = {self.e(start[4])}"
        condition, last = self.e(c) if c else "", self.e(step) if step else ""
        text = self.braces(body)
        plain = start and not any(_holds(body, k) for k in JUMPS)
        if self.style.peel and plain:
            again = f"for (; {condition}; {last})"
            return [
                "{",
                first + ";",
                f"if ({condition}) {{",
                *text,
                last + ";",
                again,
                *text,
                "}",
                "}",
            ]
        if self.style.loops and plain:
            return ["{", first + ";", f"while ({condition}) {{", *text, last + ";", "}", "}"]
        return [f"for ({first}; {condition}; {last})", *text]

    def s_switch(self, subject: tuple, cases: list) -> list[str]:
        out = [f"switch ({self.e(subject)}) {{"]
        for label, body, leaves in cases:
            out.append("default:" if label is None else f"case {label}:")
            out += self.braces(body)
            if leaves:
                out.append("break;")
        return [*out, "}"]

    def s_flat(self, body: list[tuple]) -> list[str]:
        return [line for item in body for line in self.statement(item)]

    def s_block(self, body: list[tuple]) -> list[str]:
        return self.braces(body)

    def s_break(self) -> list[str]:
        return ["break;"]

    def s_continue(self) -> list[str]:
        return ["continue;"]

    def s_empty(self) -> list[str]:
        return [";"]

    def s_goto(self, label: str) -> list[str]:
        return [f"goto {label};"]

    def s_label(self, label: str) -> list[str]:
        return [f"{label}: ;"]

    def s_return(self, e: tuple | None) -> list[str]:
        return [f"return {self.e(e)};" if e else "return;"]

    def s_end(self, call: str) -> list[str]:
        return [f"{call};"]

    def s_noted(self, name: str, low: int, high: int, loop: tuple) -> list[str]:
        said = acsl(self.program.number, self.name(name), low, high)
        variant = f"loop assigns {self.name(name)}; loop variant {self.name(name)};"
        note = f"/*@ loop invariant {said}; {variant * (low % 2)} */"
        plain = not self.style.peel and not self.style.loops
        return [note, *self.statement(loop)] if plain else self.statement(loop)

    def s_decls(self, kind: str, names: list[tuple[str, tuple]]) -> list[str]:
        if self.style.split:
            return [line for name, e in names for line in self.s_decl(False, kind, name, e)]
        each = [f"{self.name(name)} = {self.e(e)}" for name, e in names]
        return [f"{self.type(kind)} {', '.join(each)};"]

    def s_say(self, template: str, e: tuple) -> list[str]:
        return [template.format(self.e(e))]

    def s_assume(self, c: tuple) -> list[str]:
        if self.judged and self.program.number % 6 == 0:
            return [f"//@ admit {self.e(c)};"]
        return [f"__VERIFIER_assume({self.e(c)});"]

    def s_extern(self, kind: str, name: str) -> list[str]:
        return [f"extern {kind} {self.name(name)};"]

    def s_assert(self, c: tuple, spelling: str) -> list[str]:
        return [self.claim(self.e(c), spelling)]

    def s_hole(self, k: int, e: tuple, spelling: str, wrong: bool, signed: bool) -> list[str]:
        if self.ranges is None:
            return [f"probe({k}, (long long)({self.e(e)}));"]
        low, high = self.ranges.get(k, (0, 0))
        if spelling == "acsl":
            if e[0] == "var" and not self.referee and not wrong and self.sayable(k, signed):
                return [f"//@ assert {self.ranged(k, self.name(e[1]), signed)};"]
            spelling = "assert"
        return [self.claim(claim_text(self.e(e), low, high, wrong, signed), spelling)]

    def claim(self, c: str, spelling: str) -> str:
        if spelling == "text":
            return f'assert(({c}) && TEXT_{self.program.number}(is "so", \\n));'
        if spelling in ("acsl", "assert", "verifier", "check"):
            spelling = spelling.replace("acsl", "assert")
            other = {"assert": "assert", "verifier": "__VERIFIER_assert", "check": self.check}
            call = other[spelling]
            return f"{call}({c});" if spelling == "assert" else f"{call}(({c}) ? 1 : 0);"
        if spelling == "gnu":  # as glibc's assert.h has it
            failed = '__assert_fail("c", "f.c", 1, __extension__ __func__)'
            inner = f"__extension__ ({{ if ({c}) ; else {failed}; }})"
            return f"((void) sizeof (({c}) ? 1 : 0), {inner});"
        if spelling == "expanded":
            return f'(({c}) ? (void)0 : __assert_fail("c", __FILE__, __LINE__, __func__));'
        action = {
            "reach": "reach_error()",
            "error": "__VERIFIER_error()",
            "fail": '__assert_fail("c", "f.c", 1, "main")',
            "label": "goto ERROR",
            "unreachable": "__builtin_unreachable()",
        }[spelling]
        return f"if (!({c})) {{ {action}; }}"

    # Expressions

    def e(self, e: tuple) -> str:
        return getattr(self, "e_" + e[0])(*e[1:])

    def e_num(self, text: str) -> str:
        return f"({text})" if text.startswith("-") else text

    def e_var(self, name: str) -> str:
        return self.name(name)

    def e_un(self, op: str, e: tuple) -> str:
        return f"{op}({self.e(e)})"

    def e_bin(self, op: str, a: tuple, b: tuple) -> str:
        if self.style.negate and op in ("&&", "||"):
            other = "||" if op == "&&" else "&&"
            return f"(!(!({self.e(a)}) {other} !({self.e(b)})))"
        return f"({self.e(a)} {op} {self.e(b)})"

    def e_cond(self, c: tuple, a: tuple, b: tuple) -> str:
        if self.style.negate:
            c, a, b = ("un", "!", c), b, a
        return f"({self.e(c)} ? {self.e(a)} : {self.e(b)})"

    def e_cast(self, kind: str, e: tuple) -> str:
        return f"({kind})({self.e(e)})"

    def e_comma(self, a: tuple, b: tuple) -> str:
        return f"({self.e(a)}, {self.e(b)})"

    def e_set(self, op: str, name: str, e: tuple) -> str:
        text = f"{self.name(name)} {op} {self.e(e)}"
        return f"({text})"

    def e_step(self, op: str, prefix: bool, name: str) -> str:
        return f"{op}{self.name(name)}" if prefix else f"{self.name(name)}{op}"

    def e_call(self, name: str, args: list[tuple]) -> str:
        texts = [self.e(a) for a in args]
        chosen = self.inlined.get(name)
        if chosen is None or any(a[0] not in ("var", "num") for a in args):
            macro = name.startswith(("MAX", "SUM", "abs", "__builtin", "getchar", "rand"))
            return f"{name if macro else self.name(name)}({', '.join(texts)})"
        assert chosen.value
        bound = zip(chosen.params, texts, strict=True)
        self.bound.append({x: f"(({kind})({text}))" for (kind, x), text in bound})
        value = self.e(chosen.value)
        self.bound.pop()
        return f"(({chosen.result})({value}))"

    def e_sizeof(self, e: tuple) -> str:
        return f"sizeof({self.e(e)})"

    def e_sizetype(self, kind: str) -> str:
        return f"sizeof({kind})"

    def e_input(self, kind: str) -> str:
        return f"__VERIFIER_nondet_{kind}()"

    def e_either(self, op: str, name: str, call: tuple) -> str:
        """`g + f()`; in a given order by a statement expression, for the referee only."""
        name, text = self.name(name), self.e(call)
        if self.order == "left":
            return f"({{ __auto_type l = {name}; l {op} {text}; }})"
        if self.order == "right":
            return f"({{ __auto_type r = {text}; {name} {op} r; }})"
        return f"({name} {op} {text})"


JUMPS = ("break", "continue", "label", "goto")


def _holds(body, kind: str) -> bool:
    """Whether a tuple of this kind stands anywhere in a tree."""
    if isinstance(body, tuple) and body and body[0] == kind:
        return True
    return isinstance(body, tuple | list) and any(_holds(part, kind) for part in body)


def render(
    program: Program,
    style: Style = PLAIN,
    ranges=None,
    order: str | None = None,
    referee: bool = False,
) -> str:
    return Renderer(program, style, ranges, order, referee).text()
