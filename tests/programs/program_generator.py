"""Random small C programs, made by a grammar."""

from __future__ import annotations

import random
from dataclasses import dataclass, field


@dataclass
class FuzzProgram:
    types: dict[str, str]
    initial: dict[str, int | None]
    body: list[tuple]
    helper: bool = False
    text: str = field(default="", repr=False)


class Generator:
    """Grammar-based: each method makes one kind of thing."""

    def __init__(self, seed: int):
        self.rng = random.Random(seed)
        self.loops = 0

    def program(self) -> FuzzProgram:
        rng = self.rng
        names = ["a", "b", "c", "d"][: rng.randint(2, 4)]
        types = {
            n: rng.choice(["int"] * 6 + ["unsigned int", "unsigned char", "short", "_Bool"])
            for n in names
        }
        initial = {n: None if rng.random() < 0.35 else rng.randint(0, 3) for n in names}
        self.types = types
        self.names = names
        self.helper = rng.random() < 0.5
        body: list[tuple] = []
        if rng.random() < 0.4:
            body.append(("assume", self.condition(1)))
        body += self.block(2, rng.randint(2, 4))
        if self.loops == 0:
            body.append(self.loop(1))
        body.append(("assert", self.condition(2)))
        made = FuzzProgram(types, initial, body, helper=self.helper)
        made.text = render(made)
        return made

    def block(self, depth: int, count: int, inside: bool = False) -> list[tuple]:
        return [self.statement(depth, inside) for _ in range(count)]

    def statement(self, depth: int, inside: bool) -> tuple:
        rng = self.rng
        kinds = ["assign"] * 5 + ["step"] * 3 + ["input"]
        if depth > 0:
            kinds += ["if"] * 3 + ["switch"]
            if self.loops < 2:
                kinds += ["loop"] * 2
        if inside:
            kinds += ["break", "continue", "assert"]
        kind = rng.choice(kinds)
        name = rng.choice(self.names)
        if kind == "assign":
            op = rng.choice(["=", "=", "=", "+=", "-=", "*="])
            value = ("const", rng.randint(0, 3)) if op == "*=" else self.expression(2)
            others = [other for other in self.names if other != name]
            if others and rng.random() < 0.1:  # nowhere else: C has no order within expressions
                value = ("post", rng.choice(others), rng.choice(["++", "--"]))
            return ("assign", name, op, value)
        if kind == "step":
            return ("step", name, rng.choice(["++", "--"]), rng.random() < 0.5)
        if kind == "input":
            return ("input", name)
        if kind == "if":
            other = self.block(depth - 1, 1, inside) if rng.random() < 0.5 else []
            return (
                "if",
                self.condition(1),
                self.block(depth - 1, rng.randint(1, 2), inside),
                other,
            )
        if kind == "switch":
            cases = [
                (value, self.block(0, 1), rng.random() < 0.7)
                for value in rng.sample(range(4), rng.randint(1, 3))
            ]
            return ("switch", self.expression(1), cases)
        if kind == "loop":
            return self.loop(depth)
        if kind in ("break", "continue"):
            return ("if", self.condition(1), [(kind,)], [])
        return ("assert", self.condition(1))

    def loop(self, depth: int) -> tuple:
        self.loops += 1
        rng = self.rng
        name = rng.choice(self.names)
        kind = rng.choice(["while", "while", "for", "do"])
        bound = rng.randint(1, 5)
        up = rng.random() < 0.7
        condition: tuple = ("cmp", "<" if up else ">", ("var", name), ("const", bound * up))
        if rng.random() < 0.25:
            condition = ("and", condition, ("nondet",))
        step = ("step", name, "++" if up else "--", True)
        body = self.block(depth - 1, rng.randint(1, 2), inside=True)
        return (kind, condition, body, step)

    def condition(self, depth: int) -> tuple:
        rng = self.rng
        draw = rng.random()
        if depth > 0 and draw < 0.25:
            return (rng.choice(["and", "or"]), self.condition(depth - 1), self.condition(depth - 1))
        if depth > 0 and draw < 0.35:
            return ("not", self.condition(depth - 1))
        if draw < 0.45:
            return ("nondet",) if rng.random() < 0.4 else ("var", rng.choice(self.names))
        op = rng.choice(["<", "<=", ">", ">=", "==", "!="])
        return ("cmp", op, self.expression(1), self.expression(1))

    def expression(self, depth: int) -> tuple:
        rng = self.rng
        draw = rng.random()
        if depth == 0 or draw < 0.3:
            if rng.random() < 0.35:
                return ("const", rng.randint(0, 4))
            return ("var", rng.choice(self.names))
        if draw < 0.8:
            return ("bin", rng.choice("+-"), self.expression(depth - 1), self.expression(depth - 1))
        if draw < 0.86:
            return ("bin", "*", ("const", rng.randint(2, 3)), self.expression(depth - 1))
        if draw < 0.93:
            op = rng.choice("/%")
            return ("bin", op, self.expression(depth - 1), ("const", rng.randint(2, 3)))
        if draw < 0.96:
            return ("pick", self.condition(0), self.expression(0), self.expression(0))
        if self.helper:
            return ("twice", self.expression(depth - 1))
        return ("var", rng.choice(self.names))


def render(program: FuzzProgram) -> str:
    lines = ["int __VERIFIER_nondet_int(void);", "void __VERIFIER_assert(int);"]
    if program.helper:
        lines.append("int twice(int v) { int r = v; if (v != 0) { r = r + v; } return r; }")
    lines.append("int main(void) {")
    for name, kind in program.types.items():
        value = program.initial[name]
        lines.append(f"  {kind} {name}" + ("" if value is None else f" = {value}") + ";")
    lines += _lines(program.body, 1)
    lines += ["  return 0;", "}"]
    return "\n".join(lines) + "\n"


def _lines(body: list[tuple], depth: int) -> list[str]:
    pad = "  " * depth
    out = []
    for item in body:
        kind = item[0]
        if kind == "assign":
            out.append(f"{pad}{item[1]} {item[2]} {_text(item[3])};")
        elif kind == "step":
            out.append(f"{pad}{item[1]}{item[2]};" if item[3] else f"{pad}{item[2]}{item[1]};")
        elif kind == "input":
            out.append(f"{pad}{item[1]} = __VERIFIER_nondet_int();")
        elif kind == "if":
            out += [f"{pad}if ({_text(item[1])}) {{", *_lines(item[2], depth + 1)]
            if item[3]:
                out += [f"{pad}}} else {{", *_lines(item[3], depth + 1)]
            out.append(f"{pad}}}")
        elif kind == "switch":
            out.append(f"{pad}switch ({_text(item[1])}) {{")
            for value, inner, leaves in item[2]:
                out += [f"{pad}case {value}:", *_lines(inner, depth + 1)]
                if leaves:
                    out.append(f"{pad}  break;")
            out.append(f"{pad}}}")
        elif kind in ("break", "continue"):
            out.append(f"{pad}{kind};")
        elif kind == "assert":
            out.append(f"{pad}__VERIFIER_assert({_text(item[1])});")
        elif kind == "assume":
            out.append(f"{pad}__VERIFIER_assume({_text(item[1])});")
        elif kind == "while":
            step = _lines([item[3]], depth + 1)
            out += [f"{pad}while ({_text(item[1])}) {{", *step, *_lines(item[2], depth + 1)]
            out.append(f"{pad}}}")
        elif kind == "for":
            step = _lines([item[3]], 0)[0].rstrip(";")
            out.append(f"{pad}for (; {_text(item[1])}; {step}) {{")
            out += [*_lines(item[2], depth + 1), f"{pad}}}"]
        elif kind == "do":
            step = _lines([item[3]], depth + 1)
            out += [f"{pad}do {{", *step, *_lines(item[2], depth + 1)]
            out.append(f"{pad}}} while ({_text(item[1])});")
    return out


def _text(e: tuple) -> str:
    kind = e[0]
    if kind == "const":
        return str(e[1])
    if kind == "var":
        return e[1]
    if kind == "nondet":
        return "__VERIFIER_nondet_int()"
    if kind == "not":
        return f"!({_text(e[1])})"
    if kind in ("and", "or"):
        return f"({_text(e[1])} {'&&' if kind == 'and' else '||'} {_text(e[2])})"
    if kind == "pick":
        return f"({_text(e[1])} ? {_text(e[2])} : {_text(e[3])})"
    if kind == "post":
        return f"{e[1]}{e[2]}"
    if kind == "twice":
        return f"twice({_text(e[1])})"
    return f"({_text(e[2])} {e[1]} {_text(e[3])})"
