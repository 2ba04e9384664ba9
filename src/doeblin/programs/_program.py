"""A program ready to be verified: read once, verified as often as one likes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

from .._errors import InputError, Place
from .c import Unsupported, read_c
from .flow import Graph, Interpreter, System, system_of
from .smt import read_horn, read_sygus

Ints = Literal["math", "wrap32"]
LANGUAGES = {".c": "c", ".i": "c", ".sl": "sygus", ".smt2": "horn"}


@dataclass(frozen=True)
class Program:
    """The text, its language, and (made when first needed) its graph and clauses.

    `unsupported` holds the reason when the text is well formed but beyond what is modelled.
    """

    file: str
    text: str
    language: str
    ints: Ints = "math"
    graph: Graph | None = field(default=None, repr=False)
    given: System | None = field(default=None, repr=False)
    unsupported: str | None = None
    folder: Path | None = None

    @cached_property
    def system(self) -> System:
        return self.make_system(lambda: None)

    def make_system(self, tick: Callable[[], None]) -> System:
        """The clauses, made anew; `tick` is called often and may raise to stop the work."""
        if self.given is not None:
            return self.given
        if self.graph is None:
            raise InputError(f"{self.file} was not understood: {self.unsupported}")
        return system_of(self.graph, self.file, tick)

    def prepare(self, tick: Callable[[], None]) -> None:
        """Make what `system` gives, unless it is there already."""
        if "system" not in self.__dict__:
            self.__dict__["system"] = self.make_system(tick)

    @cached_property
    def interpreter(self) -> Interpreter | None:
        return Interpreter(self.graph) if self.graph is not None else None

    @cached_property
    def machine(self) -> Interpreter | None:
        """Runs the same C program on machine integers, to confirm what was found in others."""
        if self.language != "c":
            return None
        if self.ints == "wrap32":
            return self.interpreter
        return Interpreter(read_c(self.text, self.file, wraps="all", folder=self.folder))

    @cached_property
    def wrapping(self) -> Program | None:
        """The same C program with unsigned arithmetic that wraps around, as C has it; none if
        mathematical integers are as good."""
        if self.ints != "math" or self.graph is None or not self.graph.unwrapped:
            return None
        graph = read_c(self.text, self.file, wraps="unsigned", folder=self.folder)
        return Program(self.file, self.text, "c", "math", graph=graph, folder=self.folder)


def parse_program(
    text: str,
    *,
    file: str = "<text>",
    language: str = "c",
    ints: Ints = "math",
    folder: Path | None = None,
) -> Program:
    """A program from its text. Raises InputError when the text is malformed."""
    if ints not in ("math", "wrap32"):
        raise InputError(f"unknown integer model {ints!r}: use 'math' or 'wrap32'")
    try:
        if language == "c":
            graph = read_c(text, file, wraps="all" if ints == "wrap32" else "none", folder=folder)
            return Program(file, text, language, ints, graph=graph, folder=folder)
        if language == "sygus":
            return Program(file, text, language, ints, given=read_sygus(text, file))
        if language == "horn":
            return Program(file, text, language, ints, given=read_horn(text, file))
    except Unsupported as reason:
        return Program(file, text, language, ints, unsupported=str(reason))
    except RecursionError:
        return Program(file, text, language, ints, unsupported="unsupported: nesting this deep")
    raise InputError(f"unknown language {language!r}: use 'c', 'sygus' or 'horn'")


def read_program(path: str | Path, *, ints: Ints = "math") -> Program:
    """Read a `.c`, `.i`, `.sl` or `.smt2` file."""
    path = Path(path)
    language = LANGUAGES.get(path.suffix)
    if language is None:
        raise InputError(
            f"cannot tell the language of '{path}': use a name ending in {', '.join(LANGUAGES)}"
        )
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError(
            f"cannot read '{path}': {error.strerror}", place=Place(str(path))
        ) from None
    return parse_program(text, file=str(path), language=language, ints=ints, folder=path.parent)
