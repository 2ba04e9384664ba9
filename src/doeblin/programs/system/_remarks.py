"""What a reader says beside the graph: how much there is to check, and what is missing."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..._errors import Place


@dataclass(slots=True)
class Remarks:
    """`properties` are the places of what the program declares about itself, `undefined` those
    where C asks for something; `without_body` the functions of which nothing is known,
    `by_contract` those of which a contract is all that is known; `required` the functions whose
    precondition is assumed, because the program starts there; `included` the headers of the
    program's own; `entry` the function where it starts, and `given` the arrays it gets, and
    whether their lengths are known."""

    properties: dict[Place, str] = field(default_factory=dict)
    undefined: dict[Place, str] = field(default_factory=dict)
    without_body: dict[str, Place] = field(default_factory=dict)
    by_contract: dict[str, Place] = field(default_factory=dict)
    required: dict[str, Place] = field(default_factory=dict)
    missing: dict[str, Place] = field(default_factory=dict)
    included: tuple[Path, ...] = ()
    entry: str = "main"
    given: dict[str, bool] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        return not self.properties and not self.undefined

    def checked(self) -> str:
        """How much there was to prove, in words."""
        parts = []
        if self.properties:
            parts.append(_count(len(self.properties), "property", "properties"))
        if self.undefined:
            parts.append(f"undefined behaviour at {_count(len(self.undefined), 'place', 'places')}")
        return " and ".join(parts) or "nothing"

    def warnings(self) -> list[str]:
        found = []
        if self.empty:
            found.append("nothing to prove: the program has no assertion that is called")
        elif not self.properties:
            found.append("no assertion: only undefined behaviour was checked")
        for name, place in self.missing.items():
            found.append(f"the header '{name}' was not found at {place}")
        for name, place in self.without_body.items():
            found.append(
                f"the function '{name}' has no body at {place}: it returns anything, may change "
                "every global, and is taken to call nothing of the program"
            )
        for name, place in self.by_contract.items():
            found.append(f"the function '{name}' has no body at {place}: its contract is assumed")
        return found + self.notes

    def assumed(self) -> tuple[str, ...]:
        """What a proof takes for granted about callers, and about functions without a body."""
        found = [f"the precondition of '{name}'" for name in self.required]
        if self.given:
            found.append(f"that the arrays given to '{self.entry}' overlap nothing else")
        for name in (name for name, known in self.given.items() if not known):
            found.append(f"that '{name}' has all the cells that are used")
        return (*found, *(f"the contract of '{name}'" for name in self.by_contract))

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "checked": {"properties": len(self.properties), "undefined": len(self.undefined)},
            "without_body": sorted({*self.without_body, *self.by_contract}),
            "headers_not_found": sorted(self.missing),
            "warnings": self.warnings(),
        }


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
