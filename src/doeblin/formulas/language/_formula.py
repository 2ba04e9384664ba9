"""Formulas: a disjunction of conjunctions of linear integer atoms, immutable and hashable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..._errors import InputError
from ...linear import Atom, Cube, Dnf, dnf_latex, dnf_people, dnf_smtlib, symbol
from ._parse import parse
from ._simplify import simplified


@dataclass(frozen=True)
class Formula:
    """A disjunction of conjunctions of atoms over named integer variables.

    >>> f = Formula.parse("x1 != 0 or x2 == x3", variables=["x1", "x2", "x3"])
    >>> f([[1, 2, 3], [0, 1, 0], [0, 2, 2]]).tolist()
    [True, False, True]
    >>> print(f)
    x1 != 0 or x2 == x3
    >>> Formula.parse(str(f), variables=f.variables) == f
    True

    No disjuncts is False; a disjunct without atoms is True. Atoms are kept in lowest terms.
    """

    variables: tuple[str, ...]
    disjuncts: Dnf

    def __init__(self, variables: Sequence[str], disjuncts: Iterable[Iterable[Atom]]):
        names = tuple(variables)
        if len(set(names)) != len(names):
            raise InputError(f"variables must differ, got {', '.join(names)}")
        kept: set[Cube] = set()
        for disjunct in disjuncts:
            atoms = {atom.lowest_terms() for atom in disjunct}
            for atom in atoms:
                if len(atom.coefficients) != len(names):
                    raise InputError(
                        f"an atom has {len(atom.coefficients)} coefficients for {len(names)} "
                        f"variables ({', '.join(names)})"
                    )
            if all(atom.truth is not False for atom in atoms):
                kept.add(tuple(sorted(atom for atom in atoms if atom.truth is None)))
        object.__setattr__(self, "variables", names)
        object.__setattr__(self, "disjuncts", ((),) if () in kept else tuple(sorted(kept)))

    def __call__(self, points: ArrayLike | Mapping[str, ArrayLike]) -> NDArray[np.bool_]:
        """Truth values at integer points: an array with coordinates last, or a mapping by name.

        Exact for integers of any size.
        """
        if isinstance(points, Mapping):
            missing = [name for name in self.variables if name not in points]
            if missing:
                raise InputError(f"no value for variable {missing[0]!r}")
            columns = [np.asarray(points[name]) for name in self.variables]
            points = np.stack(np.broadcast_arrays(*columns), axis=-1) if columns else np.zeros((0,))
        array = np.asarray(points)
        if array.dtype.kind not in "biuO":
            raise InputError(f"formulas are over integers, got values of type {array.dtype}")
        if array.shape[-1:] != (len(self.variables),):
            raise InputError(
                f"points have {array.shape[-1] if array.ndim else 0} coordinates, but the formula "
                f"is over {len(self.variables)} variables ({', '.join(self.variables)})"
            )
        columns = np.moveaxis(self._exact(array), -1, 0)
        inside = np.zeros(array.shape[:-1], dtype=bool)
        for disjunct in self.disjuncts:
            conjunction = np.ones(array.shape[:-1], dtype=bool)
            for atom in disjunct:
                conjunction &= np.asarray(atom.holds(columns), dtype=bool)
            inside |= conjunction
        return inside

    def _exact(self, array: NDArray[Any]) -> NDArray[Any]:
        """64-bit integers where no sum can leave them, Python integers otherwise."""
        largest = (
            max((abs(int(v)) for v in (array.min(), array.max())), default=0) if array.size else 0
        )
        factor = max((sum(map(abs, atom.coefficients)) for atom in self.atoms), default=0)
        constant = max((abs(atom.constant) for atom in self.atoms), default=0)
        if max(largest * max(factor, 1), constant) < 2**62:
            return array.astype(np.int64)
        return array.astype(object)

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """Every atom, disjunct by disjunct."""
        return tuple(atom for disjunct in self.disjuncts for atom in disjunct)

    @property
    def shape(self) -> tuple[int, int]:
        """The smallest template (n disjuncts, m atoms) that holds this formula."""
        return max(1, len(self.disjuncts)), max(1, max(map(len, self.disjuncts), default=1))

    def simplified(self) -> Formula:
        """An equivalent formula: implied parts gone, opposite pairs as `==` and `!=`."""
        return Formula(self.variables, simplified(self.disjuncts))

    def __str__(self) -> str:
        return dnf_people(self._for_reading(), self.variables)

    def __repr__(self) -> str:
        return f"Formula.parse({str(self)!r}, variables={list(self.variables)!r})"

    def python(self, name: str = "f") -> str:
        """A Python function that decides the formula."""
        for word in (name, *self.variables):
            if not word.isidentifier():
                raise InputError(f"{word!r} is not a name in Python; rename the variable")
        return f"def {name}({', '.join(self.variables)}):\n    return {self}\n"

    def smtlib(self, name: str = "f") -> str:
        """An SMT-LIB 2 definition over Int."""
        parameters = " ".join(f"({symbol(variable)} Int)" for variable in self.variables)
        body = dnf_smtlib(self._for_reading(), self.variables)
        return f"(define-fun {symbol(name)} ({parameters}) Bool {body})"

    def latex(self) -> str:
        return dnf_latex(self._for_reading(), self.variables)

    def _for_reading(self) -> Dnf:
        """Short before long, then by the variables that appear first."""

        def by_variables(atom: Atom):
            used = [k for k, a in enumerate(atom.coefficients) if a]
            return used, len(used), atom.relation, -atom.constant, atom

        cubes = [tuple(sorted(cube, key=by_variables)) for cube in self.disjuncts]
        return tuple(sorted(cubes, key=lambda c: (len(c), [by_variables(atom) for atom in c])))

    def to_json(self) -> dict[str, Any]:
        """A value for `json.dumps`; `Formula.from_json` reads it back."""
        return {
            "variables": list(self.variables),
            "disjuncts": [
                [
                    {
                        "coefficients": list(atom.coefficients),
                        "relation": atom.relation,
                        "constant": atom.constant,
                        **({"modulus": atom.modulus} if atom.modulus else {}),
                    }
                    for atom in disjunct
                ]
                for disjunct in self.disjuncts
            ],
        }

    @classmethod
    def from_json(cls, value: Any) -> Formula:
        try:
            return cls(
                [str(name) for name in value["variables"]],
                [
                    [
                        Atom(
                            tuple(_integer(a) for a in atom["coefficients"]),
                            atom["relation"],
                            _integer(atom["constant"]),
                            _integer(atom.get("modulus", 0)),
                        )
                        for atom in disjunct
                    ]
                    for disjunct in value["disjuncts"]
                ],
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise InputError(
                "not a formula in JSON: it needs 'variables' and 'disjuncts', lists of atoms with "
                f"'coefficients', 'relation' and 'constant' ({type(error).__name__}: {error})"
            ) from None

    @classmethod
    def parse(cls, text: str, variables: Sequence[str] | None = None) -> Formula:
        """Reads what `str` prints, and any Boolean combination of linear comparisons.

        Without `variables` they are those of the text, in alphabetical order.
        """
        return cls(*parse(text, variables))

    @classmethod
    def true(cls, variables: Sequence[str]) -> Formula:
        return cls(variables, [[]])

    @classmethod
    def false(cls, variables: Sequence[str]) -> Formula:
        return cls(variables, [])


def _integer(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{value!r} is not an integer")
    return value
