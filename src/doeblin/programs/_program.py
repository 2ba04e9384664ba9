"""A program ready to be verified: read once, verified as often as one likes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

from .._errors import InputError, Place
from .._files import MEBIBYTE, decode, read_bytes
from .frontends.c import SIGNED_OVERFLOW, Unsupported, Wraps, read_c
from .system import (
    Coordinates,
    Graph,
    Interpreter,
    Remarks,
    System,
    from_bases,
    likeness,
    system_of,
    with_cells,
    without_failures,
)

Ints = Literal["c", "math", "overflow", "bounded"]
"""Which integers: C's, mathematical ones, or C's with signed overflow as a failure; in a `bounded`
reading (for proofs only) signed overflow ends a run."""
_WRAPS: dict[str, Wraps] = {"c": "unsigned", "math": "none", "overflow": "all"}
_LARGEST = 16 * MEBIBYTE
LANGUAGES = {".c": "c", ".i": "c", ".sl": "sygus", ".smt2": "horn"}


@dataclass(frozen=True)
class Program:
    """The text, its language, and (made when first needed) its graph and clauses.

    `unsupported` holds the reason when the text is well formed but beyond what is modelled.
    """

    file: str
    text: str
    language: str
    ints: Ints = "c"
    graph: Graph | None = field(default=None, repr=False)
    given: System | None = field(default=None, repr=False)
    unsupported: str | None = None
    folder: Path | None = None
    data: bytes | None = field(default=None, repr=False)
    _readings: dict[str, Program] = field(default_factory=dict, repr=False, compare=False)
    _made: list[tuple[System, System]] = field(default_factory=list, repr=False, compare=False)
    _alike: list[Graph] = field(default_factory=list, repr=False, compare=False)

    @cached_property
    def digest(self) -> str:
        """sha256 of the file as it is, or of the text where there is none."""
        import hashlib

        return hashlib.sha256(self.data or self.text.encode("utf-8", "replace")).hexdigest()

    @property
    def system(self) -> System:
        """The clauses, over integers."""
        return self.prepare(lambda: None)

    def prepare(self, tick: Callable[[], None]) -> System:
        """The clauses, made when first needed; `tick` is called often and may raise to stop the
        work."""
        if self._made:
            return self._made[0][1]
        if self.given is not None:
            if self.given.cellular:
                graph, exact = likeness(from_bases(self.given), tick)
                cells = with_cells(exact, Coordinates(graph).of, tick)
                self._alike.append(graph)
                self._made.append((exact, cells))
            else:
                self._made.append((self.given, self.given))
            return self._made[0][1]
        if self.graph is None:
            raise InputError(f"{self.file} was not understood: {self.unsupported}")
        exact = system_of(self.graph, self.file, tick)
        self._made.append((exact, with_cells(exact, Coordinates(self.graph).of, tick)))
        return self._made[0][1]

    @property
    def exact(self) -> System:
        """The clauses with arrays as they are, where there are some; not over integers then."""
        found = self.system
        return self._made[0][0] if self._made else found

    @cached_property
    def resolved(self) -> Program | None:
        """Clauses with arrays that form no loop, without predicates: the ways to a failure."""
        held = self.given is not None and self.given.cellular and self.given.cuts
        if not held or self.given is None:
            return None
        from .frontends.smt import resolved

        made = resolved(self.given)
        return replace(self, given=made, _readings={}, _made=[], _alike=[]) if made else None

    @property
    def runnable(self) -> Graph | None:
        """What can be run: the program, or one that is like the clauses with arrays."""
        if self.given is not None:
            self.prepare(lambda: None)
        return self._alike[0] if self._alike else self.graph

    @cached_property
    def interpreter(self) -> Interpreter | None:
        return Interpreter(self.graph) if self.graph is not None else None

    @property
    def remarks(self) -> Remarks | None:
        """How much there is to check, and what is missing; None if the text was not understood."""
        if self.graph is not None:
            return self.graph.remarks
        if self.given is None:
            return None
        # Horn clauses and SyGuS problems ask one question, however they put it.
        asked = any(clause.target is None for clause in self.given.clauses)
        notes = [] if asked else ["no clause has the conclusion false: any such clauses are SAFE"]
        return Remarks({Place(self.file): "satisfiability"}, notes=notes)

    def under(self, ints: Ints) -> Program:
        """The same program with other integers; each reading is made once."""
        if ints == self.ints or self.language != "c" or self.graph is None:
            return self
        if ints not in self._readings:
            if ints == "bounded":
                strict = self.under("overflow").graph
                assert strict is not None
                graph = without_failures(strict, SIGNED_OVERFLOW)
            else:
                graph = read_c(self.text, self.file, wraps=_WRAPS[ints], folder=self.folder)
            self._readings[ints] = Program(
                self.file, self.text, "c", ints, graph=graph, folder=self.folder
            )
        return self._readings[ints]

    @property
    def machine(self) -> Interpreter | None:
        """Runs a C program as a machine would, up to the first signed overflow."""
        return self.under("overflow").interpreter if self.language == "c" else None


def parse_program(
    text: str,
    *,
    file: str = "<text>",
    language: str = "c",
    ints: Ints = "c",
    folder: Path | None = None,
) -> Program:
    """A program from its text. Raises InputError when the text is malformed.

    `ints` is for C; the other languages mean mathematical integers.
    """
    if ints not in _WRAPS:
        raise InputError(f"unknown integer model {ints!r}: use one of {', '.join(_WRAPS)}")
    if language != "c":
        ints = "math"
    try:
        if language == "c":
            graph = read_c(text, file, wraps=_WRAPS[ints], folder=folder)
            return Program(file, text, language, ints, graph=graph, folder=folder)
        from .frontends.smt import read_horn, read_sygus  # which C does without

        if language == "sygus":
            return Program(file, text, language, ints, given=read_sygus(text, file))
        if language == "horn":
            return Program(file, text, language, ints, given=read_horn(text, file))
    except Unsupported as reason:
        return Program(file, text, language, ints, unsupported=str(reason))
    except RecursionError:
        reason = str(Unsupported("nesting this deep", Place(file)))
        return Program(file, text, language, ints, unsupported=reason)
    raise InputError(f"unknown language {language!r}: use 'c', 'sygus' or 'horn'")


def read_program(path: str | Path, *, ints: Ints = "c") -> Program:
    """Read a `.c`, `.i`, `.sl` or `.smt2` file."""
    path = Path(path)
    language = LANGUAGES.get(path.suffix)
    if language is None:
        raise InputError(
            f"cannot tell the language of '{path}': use a name ending in {', '.join(LANGUAGES)}"
        )
    data = read_bytes(path, most=_LARGEST)
    text = decode(data, str(path))
    folder = path.parent
    program = parse_program(text, file=str(path), language=language, ints=ints, folder=folder)
    return replace(program, data=data)
