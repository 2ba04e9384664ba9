"""What verification says, and how it says it to people and to programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from .._errors import Place
from ._program import Program
from .solve import Fact, Failure
from .system import Remarks
from .system.terms import Term


class Outcome(Enum):
    """Proved, refuted, or neither."""

    SAFE = "SAFE"
    UNSAFE = "UNSAFE"
    UNKNOWN = "UNKNOWN"


INTS = {
    "c": "C's (unsigned arithmetic wraps around)",
    "math": "mathematical (sums and products have no bounds)",
    "overflow": "C's (unsigned arithmetic wraps around, signed overflow is a failure)",
}
NO_OVERFLOW = "no signed overflow"
NOTHING = "nothing to prove"


@dataclass(frozen=True)
class Invariant:
    """A formula that holds whenever control is at `place`; `text` is written in C."""

    name: str
    place: Place
    formula: Term
    text: str
    block: int = -1


@dataclass(frozen=True)
class Verdict:
    """SAFE with invariants, UNSAFE with a replayed failure, or UNKNOWN with the reason.

    SAFE holds under the `assumptions`. `remark` is something else that was found out. `proved` is
    the reading of the program that the invariants are about: with signed overflow as a failure,
    where that was excluded, too. `remarks` say how much there was to check, and what was missing.
    `sources` are those of the lemmas that a proof needs. UNKNOWN is `doubtful` where a failure was
    found that may be none of the compiled program's.
    """

    outcome: Outcome
    file: str
    reason: str = ""
    seconds: float = 0.0
    rounds: int = 0
    invariants: tuple[Invariant, ...] = ()
    failure: Failure | None = None
    method: str = "default"
    found_by: str = ""
    seed: int = 0
    ints: str = "c"
    assumptions: tuple[str, ...] = ()
    remark: str = ""
    proved: Program | None = field(default=None, repr=False)
    remarks: Remarks | None = field(default=None, repr=False)
    steps: int = 0
    search_seconds: float = 0.0
    queries: int = 0
    sources: tuple[str, ...] = ()
    doubtful: bool = False
    inputs: tuple[tuple[str, int | str], ...] = field(default=())
    law: tuple[tuple[tuple[tuple[str, int | str], ...], int], ...] = ()
    """Where there are more inputs than can be listed: groups of them, and how often each comes."""

    @property
    def nothing_to_prove(self) -> bool:
        """Was there no property at all? UNKNOWN is said of such a program, unless it is allowed."""
        return (
            self.outcome is not Outcome.UNSAFE and self.remarks is not None and self.remarks.empty
        )

    @property
    def shown(self) -> str:
        """The outcome, as people read it."""
        empty = self.nothing_to_prove and self.outcome is Outcome.UNKNOWN
        return NOTHING.upper() if empty else self.outcome.value

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        found: dict[str, Any] = {
            "file": self.file,
            "verdict": self.outcome.value,
            "reason": self.reason,
            "seconds": round(self.seconds, 4),
            "rounds": self.rounds,
            "invariants": [
                {
                    "file": i.place.file,
                    "line": i.place.line,
                    "column": i.place.column,
                    "name": i.name,
                    "formula": i.text,
                }
                for i in self.invariants
            ],
            "method": self.method,
            "found_by": self.found_by,
            "sources": list(self.sources),
            "seed": self.seed,
            "ints": self.ints,
            "assumptions": list(self.assumptions),
            "remark": self.remark,
            "search_seconds": round(self.search_seconds, 4),
            "search_steps": self.steps,
            "queries": self.queries,
        }
        if self.remarks is not None:
            found |= self.remarks.as_dict()
        if self.outcome is Outcome.UNSAFE:
            found["inputs"] = _listed(self.inputs)
            if self.law:
                found["inputs_law"] = [
                    {"times": times, "inputs": _listed(part)} for part, times in self.law
                ]
            run = self.failure.run if self.failure is not None else None
            if run is not None and run.stack:
                found["stack"] = [
                    {
                        "function": call.shown,
                        "arguments": list(args),
                        "line": _line(call.place),
                    }
                    for call, args in run.stack
                ]
            if self.failure is not None and self.failure.facts:
                found["derivation"] = [_instance(fact) for fact in self.failure.facts]
        return found


def _instance(fact: Fact) -> dict[str, Any]:
    """An instance of a clause: where that stands, what it concludes, and from which before it."""
    return {
        "line": _line(fact.place),
        "concludes": fact.name,
        "values": fact.values,
        "from": list(fact.premises),
    }


def _line(place: Place | None) -> int | None:
    return place.line if place is not None else None


def _listed(inputs: Sequence[tuple[str, int | str]]) -> list[dict[str, Any]]:
    return [{"what": what, "value": value} for what, value in inputs]


def stated(verdict: Verdict) -> str:
    """Which integers a verdict is about, and what it assumes, as sentences."""
    text = f"Integers: {INTS[verdict.ints]}."
    return f"{text} Assuming {' and '.join(verdict.assumptions)}." if verdict.assumptions else text
