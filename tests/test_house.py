"""The house's walls: what may import what, and how much a function takes at a time."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import doeblin

HOME = Path(doeblin.__file__).parent
# From the ground up: a package imports from those above it in this list only.
FLOORS = (
    "schedules", "finite", "linear", "kernels", "chains", "learning", "factors", "crf", "formulas",
    "programs", "gestures", "reproduce", "report", "serve", "cli",
)  # fmt: skip
MOST_PARAMETERS = 8
MOST_LINES = 400
# Inner loops of compiled code: numbers that live in registers, called for every frame or move.
COMPILED_LOOPS = {
    "doeblin.formulas.engine._weigh.heat_bath",
    "doeblin.gestures.decoder.restart._lattice.retreat",
    "doeblin.gestures.decoder.restart._potentials.transit_cell",
    "doeblin.gestures.decoder.words._strokes.stroke",
}
# Options that are said by name, and that users need not say: each has a default, or is data.
BY_NAME = {
    "doeblin.formulas._search.search",
    "doeblin.gestures.decoder.training._training.train",
    "doeblin.gestures.paper._experiment.run_method",
    "doeblin.gestures.paper._task.make_task",
    "doeblin.learning._fit.fit",
    "doeblin.programs._verify.verify",
    "doeblin.programs.system._interpreter.run",
    # scikit-learn reads an estimator's parameters from its constructor.
    "doeblin.crf._labeller.__init__",
    "doeblin.factors._labeller.__init__",
}
DATA = {"doeblin.programs.examples"}  # C files, and a list of them


class Import(NamedTuple):
    importer: str
    target: str
    line: int
    only_types: bool

    def __str__(self) -> str:
        return f"{self.importer}:{self.line} imports {self.target}"


@functools.cache
def modules() -> dict[str, Path]:
    found = {}
    for file in sorted(HOME.rglob("*.py")):
        parts = ["doeblin", *file.relative_to(HOME).with_suffix("").parts]
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


@functools.cache
def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text())


@functools.cache
def statements(file: Path) -> tuple[tuple[ast.Import | ast.ImportFrom, bool], ...]:
    return tuple(_statements(tree(file)))


def package_of(module: str) -> str:
    """The package whose code a module is: itself, if it is one."""
    is_package = modules()[module].name == "__init__.py"
    return module if is_package else module.rpartition(".")[0]


@functools.cache
def imports() -> tuple[Import, ...]:
    """Every import within doeblin, wherever it stands; of a module if that is what a name is."""
    found = []
    for module, file in modules().items():
        for node, only_types in statements(file):
            if isinstance(node, ast.Import):
                targets = [name.name for name in node.names]
            else:
                base = node.module or ""
                if node.level:
                    home = package_of(module).split(".")
                    home = home[: len(home) - node.level + 1]
                    base = ".".join([*home, *filter(None, [node.module])])
                named = [f"{base}.{name.name}" for name in node.names]
                targets = [name if name in modules() else base for name in named]
            for target in dict.fromkeys(targets):
                if target in modules():
                    found.append(Import(module, target, node.lineno, only_types))
    return tuple(found)


def _statements(
    node: ast.AST, only_types: bool = False
) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, only_types
        elif not isinstance(child, ast.expr):  # which imports nothing
            test = ast.unparse(child.test) if isinstance(child, ast.If) else ""
            yield from _statements(child, only_types or test.endswith("TYPE_CHECKING"))


def test_what_is_private_is_imported_by_its_own_package_only():
    """`a.b._c` belongs to `a.b` and what is inside; others take what `a.b` offers."""
    strangers = []
    for one in imports():
        parts = one.target.split(".")
        for depth, part in enumerate(parts):
            owner = ".".join(parts[:depth])
            inside = f"{package_of(one.importer)}.".startswith(f"{owner}.")
            if part.startswith("_") and not inside:
                strangers.append(str(one))
    assert not strangers, "\n".join(strangers)


def test_packages_say_what_they_offer():
    """A name that another package imports is in `__all__`."""
    missing = []
    for module, file in modules().items():
        for node, _ in statements(file):
            if isinstance(node, ast.Import) or not node.level:
                continue
            home = package_of(module).split(".")
            base = ".".join([*home[: len(home) - node.level + 1], *filter(None, [node.module])])
            if base not in modules() or modules()[base].name != "__init__.py":
                continue
            offered = _offered(base)
            missing += [
                f"{module}:{node.lineno} imports {name.name}, which {base} does not offer"
                for name in node.names
                if f"{base}.{name.name}" not in modules() and name.name not in offered
            ]
    assert not missing, "\n".join(missing)


@functools.cache
def _offered(package: str) -> frozenset[str]:
    import importlib

    return frozenset(importlib.import_module(package).__all__)


def test_imports_point_down():
    floors = {name: height for height, name in enumerate(FLOORS)}
    assert {m.split(".")[1] for m in modules() if m.count(".") and "._" not in m} <= {
        *floors, "__main__",
    }  # fmt: skip
    upwards = []
    for one in imports():
        here, there = (m.split(".")[1] if "." in m else "" for m in (one.importer, one.target))
        if here in floors and there in floors and floors[there] > floors[here]:
            upwards.append(str(one))
        if here.startswith("_") and there in floors and here != "__main__":
            upwards.append(str(one))
    assert not upwards, "\n".join(upwards)


def test_imports_do_not_run_in_circles():
    """But for what type checkers alone see, and what a package's own `__init__` gathers."""
    graph: dict[str, set[str]] = {module: set() for module in modules()}
    for one in imports():
        if not one.only_types and not f"{one.importer}.".startswith(f"{one.target}."):
            graph[one.importer].add(one.target)
    done: set[str] = set()

    def circle(module: str, way: tuple[str, ...]) -> tuple[str, ...] | None:
        if module in way:
            return (*way[way.index(module) :], module)
        if module in done:
            return None
        for target in sorted(graph[module]):
            if (found := circle(target, (*way, module))) is not None:
                return found
        done.add(module)
        return None

    for module in graph:
        found = circle(module, ())
        assert found is None, " → ".join(found or ())


def test_modules_are_short():
    lines = {name: len(file.read_text().splitlines()) for name, file in modules().items()}
    long = [f"{name} has {count} lines" for name, count in lines.items() if count > MOST_LINES]
    assert not long, "\n".join(long)


def test_tests_mirror_the_tree():
    """A package has a folder of tests, or in the folder above it a file that is called after it."""
    tests = Path(__file__).parent
    missing = []
    for module, file in modules().items():
        parts = module.split(".")[1:]
        if file.name != "__init__.py" or not parts or module in DATA:
            continue
        here, above = tests.joinpath(*parts), tests.joinpath(*parts[:-1])
        if not [*here.rglob("test_*.py"), *above.glob(f"test_{parts[-1]}*.py")]:
            missing.append(module)
    assert not missing, "\n".join(missing)


def functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for module, file in modules().items():
        for node in ast.walk(tree(file)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{module}.{node.name}", node


def is_command(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Is it what Click calls? Its parameters are the options of a command."""
    return any(".command(" in ast.unparse(decorator) for decorator in node.decorator_list)


def test_no_function_takes_too_much_at_a_time():
    """Neither what Python calls nor what is compiled, but for what is named above."""
    greedy, seen = [], set()
    for name, node in functions():
        arguments = node.args
        by_place = [*arguments.posonlyargs, *arguments.args]
        by_place = [one for one in by_place if one.arg not in ("self", "cls")]
        every = len(by_place) + len(arguments.kwonlyargs)
        if every <= MOST_PARAMETERS or is_command(node):
            continue
        seen.add(name)
        if name in COMPILED_LOOPS:
            made_by = {ast.unparse(each).partition("(")[0] for each in node.decorator_list}
            if made_by & {"part", "kernel"}:  # which Python cannot call
                continue
        if name in BY_NAME and len(by_place) <= MOST_PARAMETERS:
            continue
        greedy.append(f"{name}:{node.lineno} takes {every}, {len(by_place)} of them by place")
    assert not greedy, "\n".join(greedy)
    assert seen == COMPILED_LOOPS | BY_NAME, "what is not needed in a list of exceptions goes"
