"""The mutants of a package, made by Cosmic Ray's operators.

mutmut was looked at as well. It forks a process that has imported the tests, and JAX's threads do
not survive a fork; Cosmic Ray's operators can be applied one at a time, to a file of our choice.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast_from_path
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator

PACKAGES = ("schedules", "finite", "kernels", "chains", "learning")

# Faults that can pass for code. Left out are changes that cannot even be evaluated (a shift of a
# float) and decorators (most of ours compile, and what they compile means the same without them).
OPERATORS = (
    "NumberReplacer",
    "AddNot",
    "ReplaceTrueWithFalse",
    "ReplaceFalseWithTrue",
    "ReplaceAndWithOr",
    "ReplaceOrWithAnd",
    "ReplaceBreakWithContinue",
    "ReplaceContinueWithBreak",
    "ZeroIterationForLoop",
    "ReplaceUnaryOperator_Delete_USub",
    "ReplaceUnaryOperator_Delete_Not",
    "ReplaceUnaryOperator_Delete_Invert",
    "ReplaceBinaryOperator_Add_Sub",
    "ReplaceBinaryOperator_Sub_Add",
    "ReplaceBinaryOperator_Mul_Div",
    "ReplaceBinaryOperator_Div_Mul",
    "ReplaceBinaryOperator_FloorDiv_Mul",
    "ReplaceBinaryOperator_Mod_Mul",
    "ReplaceBinaryOperator_Pow_Mul",
    "ReplaceBinaryOperator_BitAnd_BitOr",
    "ReplaceBinaryOperator_BitOr_BitAnd",
    "ReplaceComparisonOperator_Eq_NotEq",
    "ReplaceComparisonOperator_NotEq_Eq",
    "ReplaceComparisonOperator_Lt_LtE",
    "ReplaceComparisonOperator_Lt_GtE",
    "ReplaceComparisonOperator_LtE_Lt",
    "ReplaceComparisonOperator_LtE_Gt",
    "ReplaceComparisonOperator_Gt_GtE",
    "ReplaceComparisonOperator_Gt_LtE",
    "ReplaceComparisonOperator_GtE_Gt",
    "ReplaceComparisonOperator_GtE_Lt",
    "ReplaceComparisonOperator_Is_IsNot",
    "ReplaceComparisonOperator_IsNot_Is",
)


@dataclass(frozen=True)
class Mutant:
    """One change of one file; `before` and `after` are the line that differs first."""

    package: str
    file: str
    line: int
    operator: str
    occurrence: int
    before: str
    after: str

    @property
    def name(self) -> str:
        """The same as long as the line is the same, wherever it stands."""
        return f"{self.file}: {self.before}  →  {self.after}"

    def source(self, root: Path) -> str:
        """The file's text with the change."""
        text = _mutated((root / self.file).read_text(), self.operator, self.occurrence)
        assert text is not None
        return text


def mutants_of(package: str, root: Path, kept: Path) -> list[Mutant]:
    """Those of every file of a package; to make them takes a while, so that they are kept."""
    found: dict[str, Mutant] = {}
    for path in sorted((root / "src" / "doeblin" / package).glob("*.py")):
        text = path.read_text()
        digest = hashlib.sha256("\n".join((text, *OPERATORS)).encode()).hexdigest()
        made = kept / f"mutants-{package}-{path.stem}-{digest[:12]}.json"
        if not made.exists():
            rows = [astuple(mutant) for mutant in _made(package, path, str(path.relative_to(root)))]
            made.write_text(json.dumps(rows))
        for mutant in (Mutant(*row) for row in json.loads(made.read_text())):
            found.setdefault(mutant.name, mutant)
    return list(found.values())


def _made(package: str, path: Path, file: str) -> Iterator[Mutant]:
    text = path.read_text()
    skipped = _without_effect(text)
    nodes = list(ast_nodes(get_ast_from_path(path)))
    for name in OPERATORS:
        operator = get_operator(f"core/{name}")()
        positions = [start for node in nodes for start, _ in operator.mutation_positions(node)]
        for occurrence, start in enumerate(positions):
            if any(first <= start < last for first, last in skipped):
                continue
            mutated = _mutated(text, name, occurrence)
            if mutated is not None:
                before, after = _first_difference(text, mutated)
                yield Mutant(package, file, start[0], name, occurrence, before, after)


def _mutated(text: str, operator: str, occurrence: int) -> str | None:
    return mutate_code(text, get_operator(f"core/{operator}")(), occurrence)


def _first_difference(old: str, new: str) -> tuple[str, str]:
    for one, other in zip(old.splitlines(), new.splitlines(), strict=False):
        if one != other:
            return one.strip(), other.strip()
    return "", new.splitlines()[-1].strip()


def _without_effect(text: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Where a change is none of a test's business: annotations, and the wording of errors."""
    spans: list[ast.AST] = []
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.AnnAssign(annotation=annotation):
                spans.append(annotation)
            case ast.arg(annotation=ast.expr() as annotation):
                spans.append(annotation)
            case ast.FunctionDef(returns=ast.expr() as returns):
                spans.append(returns)
            case ast.JoinedStr() | ast.If(test=ast.Name(id="TYPE_CHECKING")):
                spans.append(node)
            case _:
                pass
    return [
        ((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset))  # type: ignore[attr-defined]
        for node in spans
    ]
