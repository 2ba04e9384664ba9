"""Long terms as SMT-LIB text, for certificates."""

from __future__ import annotations

from ._node import Term, node_text, postorder
from ._term import holds_cells


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
            text = node_text(node, [self._texts[id(item)] for item in node.args])
            if node.args and (uses.get(id(node), 0) > 1 or len(text) > 2000):
                name = f"{self._prefix}{len(self.lines)}"
                self.lines.append(f"(define-fun {name} () {_sort(node)} {text})")
                text = name
            self._texts[id(node)] = text
            self._kept.append(node)
        return self._texts[id(term)]


def _sort(term: Term) -> str:
    if term.boolean:
        return "Bool"
    return "(Array Int Int)" if holds_cells(term) else "Int"
