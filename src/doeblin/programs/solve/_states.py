"""States that can be derived where clauses have several premises and arrays: by models of trees."""

from __future__ import annotations

import contextlib
import math
import random
from collections.abc import Iterator, Sequence
from typing import Any

import z3

from ..system import System
from ..system.terms import Contents
from ._budget import SECOND, Budget
from ._derivation import model_of
from ._trees import Place, TooMany, Tree, least_heights

State = tuple[int | Contents, ...]
_ABOVE = (0, 1, 2, 3, 4, 4, 5, 5)  # by how much trees are higher than the lowest
_MOST = 120  # copies of clauses in a tree
_ONE = SECOND / 10  # work for a model
_MODEL = 4000  # units of work to ask for one, beside the solver's own
_STATE = 2000  # and to read a state from it
_TRIES = 10
_FURTHER = 0.75
_NUMBERS = 3  # that are wished for, at most
_CELLS = range(-1, 10)
_UNSET = 9  # the size of numbers in cells
_SMALL = (-2, 8)  # other numbers, most often


class States:
    """Asks for one tree after the other: with clauses by lot, and small numbers and contents of
    free arrays as far as these allow. All states of a tree are derivable."""

    def __init__(self, system: System, budget: Budget, rng: random.Random):
        self._system = system
        self._budget = budget
        self._rng = rng
        self._least = least_heights(system)
        self._trees: dict[tuple[int, int], Tree | None] = {}

    def some(self, units: float) -> Iterator[tuple[int, State]]:
        """States with their cuts, for so much work."""
        until = self._budget.work + units
        cuts = [n for n, least in enumerate(self._least) if least < math.inf]
        while cuts and self._budget.work < until:
            self._budget.tick()
            cut = self._rng.choice(cuts)
            height = int(self._least[cut]) + self._rng.choice(_ABOVE)
            tree = self._tree(cut, height)
            if tree is None:
                if not any(self._trees.get((n, int(self._least[n])), True) for n in cuts):
                    return
                self._budget.spend(_ONE / 10)
                continue
            self._budget.spend(_MODEL)
            model = self._model(tree)
            for found in self._of(tree, tree.root, model, cut) if model is not None else ():
                self._budget.spend(_STATE)
                yield found

    def _tree(self, cut: int, height: int) -> Tree | None:
        """None, where it is too large, or there is none."""
        if (cut, height) not in self._trees:
            self._trees[cut, height] = None
            with contextlib.suppress(TooMany):
                self._trees[cut, height] = Tree(
                    self._system, self._budget, self._least, height, root=cut, most=_MOST
                )
        return self._trees[cut, height]

    def _model(self, tree: Tree) -> Any:
        """Of clauses by lot, with as many wishes as they allow."""
        solver = tree.solver
        solver.push()
        try:
            shape = self._kept(solver, (), self._shape(tree))
            if shape is None:
                return None
            wishes = self._kept(solver, shape, self._wishes(tree)) or []
            answer = self._budget.ask(solver, _ONE, *shape, *wishes)
            return solver.model() if answer == "sat" else None
        except z3.Z3Exception:
            self._budget.tick()
            return None
        finally:
            solver.pop()

    def _kept(self, solver: Any, given: Sequence[Any], wanted: list[Any]) -> list[Any] | None:
        """So many of the wanted flags as go together, beside those given."""
        for _ in range(_TRIES):
            answer = self._budget.ask(solver, _ONE, *given, *wanted)
            if answer == "sat":
                return wanted
            core = {flag.get_id() for flag in solver.unsat_core()} if answer == "unsat" else {}
            blamed = [number for number, flag in enumerate(wanted) if flag.get_id() in core]
            if not blamed:
                return None
            del wanted[self._rng.choice(blamed)]
        return None

    def _shape(self, tree: Tree) -> list[Any]:
        """Flags of clauses, one at each place that is used; what ends a branch is rarer."""
        rng, found, todo = self._rng, [], [tree.root]
        while todo:
            options = todo.pop().options
            if options:
                further = [option for option in options if option.below]
                option = rng.choice(further if further and rng.random() < _FURTHER else options)
                found.append(option.flag)
                todo += option.below
        return found

    def _wishes(self, tree: Tree) -> list[Any]:
        """Flags for values of some numbers, and for all that free arrays have in small places."""
        rng, translate = self._rng, tree.translate
        chosen = rng.sample(tree.names, min(len(tree.names), rng.randint(0, _NUMBERS)))
        said = [translate.constant(name) == rng.randint(*_SMALL) for name in chosen]
        for name in tree.banks:
            held = translate.array(name)
            cells = [z3.Select(held, i) == rng.randint(-_UNSET, _UNSET) for i in _CELLS]
            said.append(z3.And(*cells))
        found = []
        for number, wish in enumerate(said):
            flag = z3.Bool(f"wish{number}", translate.context)
            tree.solver.add(z3.Implies(flag, wish))
            found.append(flag)
        return found

    def _of(self, tree: Tree, place: Place, model: Any, cut: int) -> Iterator[tuple[int, State]]:
        """The states of a tree."""
        names = [tree.translate.constant(name) for name in place.state]
        names += [tree.translate.array(name) for name in place.arrays]
        values = [model_of(model.eval(name, model_completion=True)) for name in names]
        if all(value is not None for value in values):
            yield cut, tuple(value for value in values if value is not None)
        for option in place.options:
            if z3.is_true(model.eval(option.flag, model_completion=True)):
                premises = self._system.clauses[option.clause].premises
                for premise, below in zip(premises, option.below, strict=True):
                    yield from self._of(tree, below, model, premise.cut)
                return
