"""Terms as SMT-LIB text, for certificates and messages."""

from __future__ import annotations

from ....linear import numeral, symbol
from ._term import Term, fold, postorder


def _text(node: Term, args: list[str]) -> str:
    if node.op == "const":
        return ("true" if node.leaf else "false") if node.boolean else numeral(node.leaf)
    if node.op in ("var", "array"):
        return symbol(node.leaf)
    if node.op == "fill":
        return f"((as const (Array Int Int)) {args[0]})"
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
