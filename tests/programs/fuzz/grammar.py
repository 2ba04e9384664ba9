"""Random C programs as trees of tuples; `render.py` writes them out.

Every construct that the verifier says it models is drawn. A full expression never has two
unsequenced effects on one variable, except where `Generator.unordered` makes one on purpose.
Assertions are mostly *holes*: an expression whose exact range the referee measures first, so that
the assertion is tight.

Statements are tuples named after C's; ("flat", [...]) is a list of them without braces.
"""

from __future__ import annotations

from typing import Literal

from .expressions import (
    COMPOUND,
    HOLDS,
    INPUTS,
    SIGNED,
    SPELLINGS,
    UNSIGNED,
    Contract,
    Expressions,
    Function,
    Program,
)
from .furniture import furnish


class Generator(Expressions):
    """Draws one program; file-scope names end in its number, so that many share a unit."""

    def program(self) -> Program:
        rng, made = self.rng, self.made
        self.head()
        more = furnish(rng, self.tag)
        made.head += more.lines
        made.files, self.ends = more.files, more.ends
        self.constants += more.constants
        self.says += more.says
        for name in ("g", "h", "k")[: rng.randint(0, 3)]:
            kind, fixed = self.type(), name == "k" and rng.random() < 0.3
            value = self.number() if fixed else rng.choice([None, self.number()])
            made.globals.append(("const " * fixed + kind, name + self.tag, value))
            self.scopes[0][name + self.tag] = (kind, not fixed)
        for name in ("f", "p", "q")[: rng.randint(0, 3)]:
            made.functions.append(self.function(name + self.tag))
        if rng.random() < 0.1:
            made.functions.append(self.outside("o" + self.tag))
        self.scopes.append({})
        made.body = self.inputs()
        for name in ("a", "b", "c")[: rng.randint(1, 3)]:
            made.body.append(self.declare(name))
        made.body += self.block(rng.choice([1, 1, 2]), rng.randint(1, 4))
        if self.loops == 0 and rng.random() < 0.6:
            made.body.append(self.loop(1))
        if rng.random() < 0.15 and (found := self.unordered()):
            made.body.append(found)
        for _ in range(rng.randint(1, 2)):
            made.body.append(self.claim())
        return made

    # File scope

    def head(self) -> None:
        rng, made, tag = self.rng, self.made, self.tag
        if rng.random() < 0.4:
            first = rng.choice([-1, 0, 0, 0, 5])
            names = [f"{x}{tag}" for x in ("RED", "BLUE", "GREEN")]
            made.head.append(
                f"enum color{tag} {{ {names[0]} = {first}, {names[1]}, {names[2]} = 9 }};"
            )
            self.constants += names
            self.types += [f"enum color{tag}"] * 4
            made.types[f"enum color{tag}"] = "int" if first < 0 else "unsigned int"
        if rng.random() < 0.3:
            kind = rng.choice(SIGNED + UNSIGNED)
            made.head.append(f"typedef {kind} word{tag};")
            self.types += [f"word{tag}"] * 2
            made.types[f"word{tag}"] = kind
        if rng.random() < 0.4:
            made.head.append(
                f"#define N{tag} {rng.choice(['3', '(2 + 1)', '7u', '0x10', '5 - 2'])}"
            )
            self.constants.append(f"N{tag}")
        if rng.random() < 0.3:
            made.head.append(f"#define MAX{tag}(x, y) ((x) > (y) ? (x) : (y))")
            made.head.append(f"#define SUM{tag}(x, ...) ((x) + (__VA_ARGS__))")
        if rng.random() < 0.3:
            made.head += [
                f"#if {self.pp(2)}",
                f"#define W{tag} 1",
                "#else",
                f"#define W{tag} 2",
                "#endif",
            ]
            self.constants.append(f"W{tag}")

        if rng.random() < 0.2:
            made.head += [
                f"#define JOIN{tag}(x, y) x##y",
                f"#define LATE{tag}(x, y) JOIN{tag}(x, y)",
            ]
            made.head += [f"#define ONE{tag} 1", f"#ifdef ONE{tag}", f"#undef ONE{tag}", "#endif"]
            made.head += [f"#ifndef ONE{tag}", f"#define ONE{tag} 2", "#elif 1 / 0", "#endif"]
            self.constants += [f"LATE{tag}(ONE{tag}, 0)", f"JOIN{tag}(0x, 7)"]
            self.constants.append(f"((int)sizeof(LATE{tag}(ONE{tag}, u)))")
        if rng.random() < 0.1:
            made.head.append('_Static_assert(sizeof(int) == 4, "an int has four bytes");')

    def pp(self, depth: int) -> str:
        rng = self.rng
        if depth == 0 or rng.random() < 0.2:
            return rng.choice(
                ["0", "1", "2", "-1", "3u", "'a'", "0x7fffffff", "NONE", "defined(__GNUC__)"]
            )
        op = rng.choice(["+", "-", "*", "<", ">", "==", "&&", "||", "<<", "?"])
        if rng.random() < 0.15:
            return f"({rng.choice('!~')}{self.pp(depth - 1)})"
        if rng.random() < 0.1:
            return rng.choice([f"(0 && {self.pp(0)} / 0)", f"(1 || {self.pp(0)} % 0)"])
        if op == "?":
            return f"({self.pp(0)} ? {self.pp(depth - 1)} : {self.pp(depth - 1)})"
        return f"({self.pp(depth - 1)} {op} {'2' if op == '<<' else self.pp(depth - 1)})"

    def function(self, name: str) -> Function:
        rng = self.rng
        self.effects = self.globals_used = False
        params = [(self.type(), x) for x in ("x", "y")[: rng.randint(0, 2)]]
        self.result = "void" if rng.random() < 0.15 else self.type()
        self.scopes.append({x: (kind, True) for kind, x in params})
        if self.result != "void" and rng.random() < 0.35:
            outside, self.scopes[0] = self.scopes[0], {}
            value = self.pure(2)
            self.scopes[0] = outside
            made = Function(self.result, name, params, [("return", value)], leaf=True, value=value)
        else:
            body = []
            if rng.random() < 0.4:
                kind = self.type()
                body.append(("decl", True, kind, "s", self.number()))
                self.scopes[-1]["s"] = (kind, True)
                self.effects = True
            body.append(self.declare("a"))
            body += self.block(1, rng.randint(1, 3))
            if self.result != "void" or rng.random() < 0.3:
                body.append(("return", None if self.result == "void" else self.pure(1)))
            made = Function(self.result, name, params, body, self.effects)
            made.leaf = not self.effects and not self.globals_used and made.result != "void"
        self.scopes.pop()
        self.result = None
        if rng.random() < 0.3:
            made.contract = self.contract(made)
        return made

    def contract(self, made: Function) -> Contract:
        rng = self.rng
        requires = [(self.hole(), x, self.signed(kind)) for kind, x in made.params]
        if made.result == "void" or rng.random() < 0.2:
            return Contract(requires)
        wrong = self.wrong and rng.random() < 0.2
        self.wrong &= not wrong
        return Contract(requires, (self.hole(), self.signed(made.result)), wrong)

    def outside(self, name: str) -> Function:
        """Without a body: all that is known of its result is what its contract says."""
        low = self.rng.randint(-2, 2)
        known: tuple[int, int] | Literal["any"] = (low, low + self.rng.randint(0, 3))
        if not self.made.globals and self.rng.random() < 0.5:
            known = "any"  # what is not said to assign nothing might change globals
        contract = Contract([], outside=known)
        return Function("int", name, [], [], effects=True, contract=contract)

    def inputs(self) -> list[tuple]:
        """Few, each of a small domain, so that all runs can be had."""
        rng = self.rng
        body: list[tuple] = []
        if rng.random() < 0.07:
            self.made.counted = True
            self.scopes[-1]["argc"] = ("int", True)
        count = rng.choice([0, 1, 1, 2, 2, 3])
        for name in ("u", "v", "w")[:count]:
            kind = rng.choice(["int", "int", "_Bool"] + ["unsigned char", "char"] * (count == 1))
            target = self.type() if kind == "int" and rng.random() < 0.3 else kind
            source = ("input", INPUTS[kind])
            if kind == "int" and count == 1 and rng.random() < 0.2:
                source = ("call", rng.choice(["getchar", "rand"]), [])
            body.append(("decl", False, kind, name, source))
            if kind == "int":
                low = rng.randint(-5, 1)
                high = low + rng.randint(1, 8)
                within = ("bin", "&&", *(("bin", op, ("var", name), ("num", str(n)))
                          for op, n in ((">=", low), ("<=", high))))  # fmt: skip
                body.append(("assume", within))
            self.scopes[-1][name] = (kind, True)
            if target != kind:
                body.append(("decl", False, target, "t" + name, ("var", name)))
                self.scopes[-1]["t" + name] = (target, True)
        return body

    # Statements

    def block(self, depth: int, count: int) -> list[tuple]:
        return [self.statement(depth) for _ in range(count)]

    def nested(self, depth: int, count: int = 2) -> list[tuple]:
        self.scopes.append({})
        body = []
        if self.rng.random() < 0.2:
            body.append(self.declare(self.rng.choice("abcd")))
        body += self.block(depth, self.rng.randint(1, count))
        self.scopes.pop()
        return body

    def declare(self, name: str) -> tuple:
        kind = self.type()
        self.hidden = name
        value = self.expression(2)
        self.hidden = None
        self.scopes[-1][name] = (kind, True)
        if self.rng.random() < 0.1:  # it has no value for a while
            later = ("expr", ("set", "=", name, value))
            return ("flat", [("decl", False, kind, name, None), later])
        return ("decl", False, kind, name, value)

    def statement(self, depth: int) -> tuple:
        rng = self.rng
        kinds = ["assign"] * 5 + ["compound"] * 3 + ["step"] * 2 + ["call", "void", "pair"]
        if rng.random() < 0.2:
            kinds = ["say", "hold", "outer"]
        if depth > 0:
            kinds += ["if"] * 3 + ["switch", "switch", "block", "goto"]
            if self.loops < 2:
                kinds += ["loop"] * 2
        if self.inside:
            kinds += ["leave"] * 2
        if self.result is not None:
            kinds.append("return")
        else:
            kinds += ["claim", "end"]
        return getattr(self, "make_" + rng.choice(kinds))(depth)

    def target(self) -> str:
        names = [n for n, (_, free) in self.visible().items() if free]
        name = self.rng.choice(names)
        self.touch(name, write=True)
        return name

    def make_assign(self, depth: int) -> tuple:
        name = self.target()
        return ("expr", ("set", "=", name, self.expression(3, avoid={name})))

    def make_compound(self, depth: int) -> tuple:
        name = self.target()
        op = self.rng.choice(COMPOUND + ["&=", "|=", "^="] * self.bits)
        if op in ("/=", "%=", "<<=", ">>=", "*="):
            value: tuple = ("num", str(self.rng.randint(1, 4)))
        elif op in ("&=", "|=", "^="):
            value = ("num", self.rng.choice(["1", "3", "7", "15"]))
        else:
            value = self.pure(2)
        return ("expr", ("set", op, name, value))

    def make_step(self, depth: int) -> tuple:
        return ("expr", self.step(self.target()))

    def make_void(self, depth: int) -> tuple:
        return self.rng.choice([("empty",), ("expr", ("cast", "void", self.expression(1)))])

    def make_call(self, depth: int) -> tuple:
        if not self.made.functions:
            return ("empty",)
        return ("expr", self.call(self.rng.choice(self.made.functions)))

    def make_say(self, depth: int) -> tuple:
        return ("say", self.rng.choice(self.says), self.expression(1))

    def make_hold(self, depth: int) -> tuple:
        self.fresh += 1
        return ("say", self.rng.choice(HOLDS), ("num", f"o{self.fresh}"))

    def make_outer(self, depth: int) -> tuple:
        """A global, declared again in a block where its name may be hidden."""
        free = [(kind, name) for kind, name, _ in self.made.globals if "const" not in kind]
        if not free:
            return ("empty",)
        kind, name = self.rng.choice(free)
        self.touch(name, write=True)
        return ("block", [("extern", kind, name), ("expr", self.step(name))])

    def make_pair(self, depth: int) -> tuple:
        """Two names in one declaration."""
        kind, names = self.type(), []
        for _ in range(2):
            self.fresh += 1
            names.append((f"m{self.fresh}", self.expression(1)))
            self.scopes[-1][names[-1][0]] = (kind, True)
        return ("decls", kind, names)

    def make_end(self, depth: int) -> tuple:
        return ("if", self.condition(2), [("end", self.rng.choice(self.ends))], None)

    def make_if(self, depth: int) -> tuple:
        other = self.nested(depth - 1) if self.rng.random() < 0.5 else None
        return ("if", self.condition(2), self.nested(depth - 1), other)

    def make_block(self, depth: int) -> tuple:
        self.scopes.append({})
        body = [self.declare(self.rng.choice("abc")), *self.block(depth - 1, 2)]
        self.scopes.pop()
        return ("block", body)

    def make_switch(self, depth: int) -> tuple:
        rng = self.rng
        labels: list[str | None] = ["0", "1", "2", "-1", "3", "'A'"]
        chosen = rng.sample(labels, rng.randint(1, 4))
        subject = self.expression(2)
        narrow = [n for n, (kind, _) in self.visible().items() if kind != "int"]
        if narrow and rng.random() < 0.5:
            subject = ("var", rng.choice(narrow))
            self.touch(subject[1])
        if rng.random() < 0.5:
            more = ["254", "255", "256", "-128", "-2", "65535", "4294967295"]
            chosen.append(rng.choice(more[: None if "-1" not in chosen else -1]))
        if rng.random() < 0.6:
            chosen.insert(rng.randint(0, len(chosen)), None)
        self.inside.append("switch")
        cases = [(label, self.nested(depth - 1), rng.random() < 0.6) for label in chosen]
        self.inside.pop()
        return ("switch", subject, cases)

    def make_goto(self, depth: int) -> tuple:
        """Forward over something, or back a few times."""
        self.fresh += 1
        label = f"L{self.fresh}"
        if self.rng.random() < 0.5:
            skipped = self.nested(depth - 1)
            jump = ("if", self.condition(1), [("goto", label)], None)
            return ("flat", [jump, ("block", skipped), ("label", label)])
        counter = f"j{self.fresh}"
        self.scopes[-1][counter] = ("int", False)
        self.loops += 1
        again = ("bin", "<", ("step", "++", True, counter), ("num", str(self.rng.randint(2, 4))))
        body = [
            ("label", label),
            ("block", self.nested(depth - 1)),
            ("if", again, [("goto", label)], None),
        ]
        return ("flat", [("decl", False, "int", counter, ("num", "0")), *body])

    def make_leave(self, depth: int) -> tuple:
        kind = "break"
        if any(k == "loop" for k in self.inside) and self.rng.random() < 0.5:
            kind = "continue"
        return ("if", self.condition(1), [(kind,)], None)

    def make_return(self, depth: int) -> tuple:
        value = None if self.result == "void" else self.pure(1)
        return ("if", self.condition(1), [("return", value)], None)

    def make_loop(self, depth: int) -> tuple:
        return self.loop(depth)

    def noted(self, loop: tuple) -> tuple:
        """With an invariant that may or may not hold: a hint that must never be trusted."""
        rng, names = self.rng, list(self.visible())
        if not names or rng.random() < 0.7:
            return loop
        low = rng.randint(-3, 3)
        return ("noted", rng.choice(names), low, low + rng.choice([0, 1, 4, 300]), loop)

    def make_claim(self, depth: int) -> tuple:
        return self.claim()

    def loop(self, depth: int) -> tuple:
        """A counter that nothing else writes bounds it."""
        rng = self.rng
        self.loops += 1
        self.fresh += 1
        counter, kind = (
            f"i{self.fresh}",
            rng.choice(["int", "int", "unsigned int", "unsigned char", "short"]),
        )
        bound = ("num", str(rng.randint(1, 4)))
        shape = rng.choice(["for", "for", "set", "while", "do", "endless", "down"])
        condition: tuple = ("bin", rng.choice(["<", "!=", "<="]), ("var", counter), bound)
        if rng.random() < 0.25:
            condition = ("bin", "&&", condition, self.condition(1))
        step = rng.choice([("step", "++", True, counter), ("set", "+=", counter, ("num", "1"))])
        self.scopes.append({counter: (kind, False)})
        self.inside.append("loop")
        body = self.nested(depth - 1, 3)
        self.inside.pop()
        self.scopes.pop()
        self.scopes[-1][counter] = (kind, False) if shape != "for" else ("int", False)
        start = ("decl", False, kind, counter, ("num", "0"))
        if shape == "for":
            del self.scopes[-1][counter]
            return self.noted(("for", start, condition, step, body))
        if shape == "set":
            first = ("expr", ("set", "=", counter, ("num", "0")))
            turn = ("for", first, condition, step, body)
            return ("flat", [("decl", False, kind, counter, ("num", "7")), self.noted(turn)])
        if shape == "endless":
            leave = ("if", ("un", "!", condition), [("break",)], None)
            endless = ("for", None, None, None, [leave, ("expr", step), *body])
            return ("flat", [start, self.noted(endless)])
        if shape == "do":
            return ("flat", [start, self.noted(("do", [("expr", step), *body], condition))])
        if shape == "down":
            start = ("decl", False, kind, counter, bound)
            down = ("step", "--", False, counter)
            turn = ("while", ("bin", ">", down, ("num", "0")), body)
            return ("flat", [start, self.noted(turn)])
        return ("flat", [start, self.noted(("while", condition, [("expr", step), *body]))])

    def claim(self) -> tuple:
        rng = self.rng
        spelling = rng.choice(SPELLINGS)
        if rng.random() < 0.05:
            return ("assert", self.condition(2), spelling)
        names = list(self.visible())
        e: tuple = ("var", rng.choice(names)) if names and rng.random() < 0.7 else self.pure(2)
        wrong = self.wrong and rng.random() < 0.5
        self.wrong &= not wrong
        return ("hole", self.hole(), e, spelling, wrong, self.is_signed(e))

    def unordered(self) -> tuple | None:
        """`g + f()` where f changes g: C leaves open which comes first."""
        changing = [f for f in self.valued() if f.effects]
        if not changing or not self.made.globals:
            return None
        self.made.unordered = True
        name = self.rng.choice(self.made.globals)[1]
        call = self.call(self.rng.choice(changing))
        return ("expr", ("set", "=", self.target(), ("either", self.rng.choice("+-"), name, call)))
