"""Terms as SMT-LIB text, for certificates and messages."""

from __future__ import annotations

import re

from ._term import Term, fold, postorder

_PLAIN = re.compile(r"[A-Za-z_~!@$%^&*+=<>.?/-][A-Za-z0-9_~!@$%^&*+=<>.?/-]*\Z")
# Names that mean something to solvers, which a variable must not have, not even in bars.
WORDS = frozenset(
    {"_", "!", "as", "let", "exists", "forall", "lambda", "match", "par", "BINARY", "DECIMAL",
     "HEXADECIMAL", "NUMERAL", "STRING", "and", "or", "not", "xor", "ite", "implies", "iff", "if",
     "distinct", "div", "mod", "rem", "abs", "true", "false", "select", "store", "const", "is",
     "is_int", "to_int", "to_real", "int2bv", "bv2int", "bv2nat", "divisible", "concat", "extract",
     "repeat", "pi", "sin", "cos", "tan", "exp", "sqrt", "iand", "Int", "Bool", "Real", "String",
     "Array"}
)  # fmt: skip


def symbol(name: str) -> str:
    """The name as an SMT-LIB symbol, quoted where it must be."""
    if _PLAIN.match(name) and name not in WORDS and name not in "+-*/<=>":
        return name
    return f"|{name.replace('|', '_').replace(chr(92), '_')}|"


def numeral(value: int) -> str:
    return str(value) if value >= 0 else f"(- {-value})"


def _text(node: Term, args: list[str]) -> str:
    if node.op == "const":
        return ("true" if node.leaf else "false") if node.boolean else numeral(node.leaf)
    if node.op == "var":
        return symbol(node.leaf)
    if node.op in ("tdiv", "trem"):
        op, (a, b) = {"tdiv": "div", "trem": "mod"}[node.op], args
        return f"(ite (>= {a} 0) ({op} {a} {b}) (- ({op} (- {a}) {b})))"
    return f"({node.op} {' '.join(args)})"


def smtlib(term: Term) -> str:
    """One expression; shared parts are written as often as they are used."""
    return fold(term, _text)


class Definitions:
    """Text with every shared part defined once, so that the text stays linear in the term."""

    def __init__(self, prefix: str = "t!"):
        self.lines: list[str] = []
        self._prefix = prefix
        self._texts: dict[int, str] = {}
        self._kept: list[Term] = []

    def text(self, term: Term) -> str:
        uses: dict[int, int] = {}
        nodes = list(postorder(term))
        for node in nodes:
            for item in node.args:
                uses[id(item)] = uses.get(id(item), 0) + (2 if node.op in ("tdiv", "trem") else 1)
        for node in nodes:
            if id(node) in self._texts:
                continue
            text = _text(node, [self._texts[id(item)] for item in node.args])
            if node.args and (uses.get(id(node), 0) > 1 or len(text) > 2000):
                name = f"{self._prefix}{len(self.lines)}"
                sort = "Bool" if node.boolean else "Int"
                self.lines.append(f"(define-fun {name} () {sort} {text})")
                text = name
            self._texts[id(node)] = text
            self._kept.append(node)
        return self._texts[id(term)]
