"""What holds under a condition only: phases of a loop, guards of the program, signs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, pairwise, zip_longest

import numpy as np

from ...linear import LE, Atom, Cube, Dnf
from ..learner import Space
from ._bounds import Vector, tight_bounds
from ._comparisons import comparisons
from ._context import Context, holds, truth
from ._equations import equations
from ._plain import plain_atoms


def implications(context: Context) -> list[Dnf]:
    """Under a phase or a guard: equations, intervals and facets over few variables."""
    space, most = context.space, context.tunables.most
    cases = [*phases(space, context.tunables.phases), *guards(space)]
    return _guarded(context, cases, lambda inside: plain_atoms(inside, widest=3))[:most]


def wide_implications(context: Context) -> list[Dnf]:
    """Under a sign or a guard: bounds on many forms."""
    space, most = context.space, context.tunables.most
    vectors: list[Vector] = space.wide_vectors(context.known)[: context.tunables.wide_guarded]

    def atoms(inside: Context) -> list[Atom]:
        found = chain(
            equations(inside), comparisons(inside), tight_bounds(inside, vectors, stated=0)
        )
        return [atom for ((atom,),) in found]

    return _guarded(context, [*signs(space), *guards(space)], atoms)[: 2 * most]


def _guarded(
    context: Context, cases: Sequence[Cube], atoms: Callable[[Context], Sequence[Atom]]
) -> list[Dnf]:
    """`case → atom`, where the examples of the case satisfy the atom; of all cases in turn."""
    points = context.points
    have = {dnf[0][0] for dnf in context.known if len(dnf) == 1 and len(dnf[0]) == 1}
    seen: set[bytes] = set()
    groups: list[list[Dnf]] = []
    for case in cases:
        split = np.logical_and.reduce([truth(atom, points) for atom in case])
        negation = tuple((part,) for atom in case for part in atom.negated())
        if split.all() or not split.any() or split.tobytes() in seen or len(negation) > 3:
            continue
        seen.add(split.tobytes())
        outside = points[~split]
        groups.append(
            [
                (*negation, (atom,))
                for atom in atoms(context.within(split))
                # Only those that need the case.
                if atom not in have and atom not in case and not holds(atom, outside)
            ]
        )
        if len(groups) == context.tunables.guards:
            break
    return [dnf for row in zip_longest(*groups) for dnf in row if dnf is not None]


def guards(space: Space) -> list[Cube]:
    """Conditions of the program: those between variables and those on single ones in turn, each
    simplest first."""
    atoms = dict.fromkeys(atom for atom, _ in space.suggested)
    simple = sorted(atoms, key=lambda a: (sum(map(abs, a.coefficients)), abs(a.constant)))
    alone = [a for a in simple if sum(map(bool, a.coefficients)) == 1]
    between = [a for a in simple if sum(map(bool, a.coefficients)) > 1]
    mixed = chain.from_iterable(zip_longest(between[:20], alone[:24]))
    return [(atom,) for atom in mixed if atom is not None]


def signs(space: Space) -> list[Cube]:
    """Comparisons of single variables with zero."""
    found: list[Cube] = []
    for i in space.relevant[:6]:
        up, down = space.unit(i), space.unit(i, -1)
        found += [(Atom(down, LE, -1),), (Atom(up, LE, 0),), (Atom(down, LE, 0),)]
    return found


def phases(space: Space, most: int) -> list[Cube]:
    """From one constant that the program compares a variable with to the next, ends included."""
    compared: dict[int, set[int]] = {}
    for atom, _ in space.suggested:
        used = [i for i, c in enumerate(atom.coefficients) if c]
        if len(used) == 1 and atom.coefficients[used[0]] == 1 and atom.relation == LE:
            compared.setdefault(used[0], set()).update((atom.constant, atom.constant + 1))
    found: list[Cube] = []
    for i, bounds in compared.items():
        ends = [c for c in space.primary if c in bounds]
        for low, high in pairwise(ends[:most]):
            if high > low + 1:
                found.append((Atom(space.unit(i, -1), LE, -low), Atom(space.unit(i), LE, high)))
    return found
