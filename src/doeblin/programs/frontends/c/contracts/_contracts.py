"""What annotations mean for the graph: claims to prove, assumptions, and hints for loops.

`assert` and `check` are claims, `admit` is an assumption. `requires` is a claim at every call and
an assumption where the program starts; `ensures` is a claim at the end of a body, and an assumption
on a function that has none. `check` before one takes the assumption away, `admit` the claim, which
is then assumed everywhere. A loop invariant is a hint: tried, never trusted, never checked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

from pycparser import c_ast

from ....._errors import Place
from ....system.terms import Term, add, array, conj, const, implies, select, var
from .._calls import Calls
from .._emitter import Slot, Value
from .._unsupported import Unsupported
from ..text import PRAGMA, Token
from ..types import NUMBERS, CType, Opaque
from ._acsl import CLAIMS, INVARIANT, Clause, Formula, Names, NotUnderstood, clauses
from ._extents import extents

_CONTRACT = frozenset({"requires", "ensures", "assumes"})
_UNCHECKED = frozenset({
    "assigns", "complete", "disjoint", "terminates", "decreases", "allocates", "frees", "exits",
    "lemma", "invariant", "loop variant", "loop assigns", "loop allocates", "check lemma",
})  # fmt: skip
"""Claims that nothing here proves; an `assigns` of a function without a body is used, not these."""
ASSERTION = "ACSL assertion"
_OTHER = "annotations of other kinds"


class Contracts(Calls):
    """Annotations, by the number that their pragma has."""

    def __init__(self, *args: Any, **options: Any):
        super().__init__(*args, **options)
        self.annotations: list[tuple[Place, list[Token]]] = []
        self.contracts: dict[str, list[Clause]] = {}
        self._worded: dict[str, list[list[str]]] = {}  # the parameters as contracts name them
        self._loop_clauses: list[Clause] = []
        self._unused: dict[str, tuple[int, Place]] = {}

    def annotation(self, node: Any) -> list[Clause]:
        """The clauses that a pragma stands for; none if it is somebody else's."""
        word, _, number = (node.string or "").partition(" ")
        return clauses(*self.annotations[int(number)]) if word == PRAGMA else []

    # ---- statements

    def _pragma_statement(self, node: Any) -> None:
        for clause in self.annotation(node):
            if clause.kind in ("assert", "check"):
                self._claim(self._formula(clause, self._here()), ASSERTION, clause.place)
            elif clause.kind == "admit":
                self.assume(self._formula(clause, self._here()))
            elif clause.kind.startswith("loop "):
                self._loop_clauses.append(clause)
            else:
                self._leave_out(clause)

    def loop_hints(self) -> tuple[Term, ...]:
        """The invariants in front of the loop that begins here."""
        found = []
        names = self._here()._replace(cell=self._cell_of)
        for clause in self._loop_clauses:
            if clause.kind == INVARIANT:
                try:
                    found.append(Formula(clause.words, names).truth())
                except NotUnderstood as reason:
                    self.note(f"the {clause} was not understood ({reason})", clause.place)
            else:
                self._count(clause)
        self._loop_clauses = []
        return tuple(found)

    def end_of_loop_clauses(self) -> None:
        """Those in front of something that is no loop."""
        for clause in self._loop_clauses:
            self.note(f"the {clause} stands before no loop", clause.place)
        self._loop_clauses = []

    def _leave_out(self, clause: Clause) -> None:
        odd = not clause.kind and clause.words[0].kind == "name"  # not `/*@{*/`, say
        if clause.kind in CLAIMS or odd:
            raise self._not_understood(clause, "not at this place")
        self._count(clause)

    # ---- contracts of functions

    def file_scope(self, item: Any, following: Any) -> None:
        """An annotation outside of functions: the contract of what follows, or not of use here."""
        declared = getattr(following, "decl", following)
        function = isinstance(getattr(declared, "type", None), c_ast.FuncDecl)
        name = declared.name if function else None
        for clause in self.annotation(item):
            if clause.kind in _CONTRACT or clause.kind == "assigns":
                if name is None:
                    self._leave_out(clause)
                else:
                    self.contracts.setdefault(name, []).append(clause)
                    self._worded.setdefault(name, []).append(_parameters(declared.type))
            else:
                self._leave_out(clause)

    def given_arrays(self, name: str, frame: dict[str, Slot]) -> dict[str, Term]:
        """The lengths of the arrays that the function where the program starts is given, as its
        contract says; its other parameters are in the frame."""
        found, rest = extents(self.contracts.get(name, []))
        if not found.last:
            return {}
        worded = dict(zip(map(id, self.contracts[name]), self._worded[name], strict=True))
        self._worded[name] = [worded[id(clause)] for clause in rest]
        self.contracts[name] = rest
        self.graph.remarks.required[name] = self.place(self.functions[name])
        scopes, self.scopes = self.scopes, [self.scopes[0], frame]
        lengths = {}
        for pointer, last in found.last.items():
            try:
                end = Formula(last, self._here()).value()
            except NotUnderstood as reason:
                said = f"the length of '{pointer}' was not understood ({reason})"
                raise Unsupported("an annotation", last[0].place, said=said) from None
            lengths[pointer] = add(end, const(1))
        self.scopes = scopes
        for pair in combinations(lengths, 2):
            if frozenset(pair) not in found.apart:
                said = f"'{pair[0]}' and '{pair[1]}' may overlap: \\separated would say that not"
                raise Unsupported("an annotation", self.place(self.functions[name]), said=said)
        return lengths

    def enter(self, name: str, node: Any) -> Callable[[str], Term | None]:
        """At the beginning of a body: what is required, and a copy of what the contract speaks of.

        Without a call (`node` is None) the program starts here.
        """
        contract = self.contracts.get(name, ())
        self._check_parameters(name)
        claimed = self._required(name, self._here(), ("", "check"))
        assumed = self._required(name, self._here(), ("", "admit") if node is None else ("admit",))
        if claimed is not None and node is not None:
            self._claim(claimed, f"ACSL precondition of '{name}'", self.place(node))
        if assumed is not None:
            if node is None:
                self.graph.remarks.required[name] = self.place(self.functions[name])
            self.assume(assumed)
        return self._copies(contract)

    def _check_parameters(self, name: str) -> None:
        """A contract may stand at a declaration with other names than the definition has."""
        own = self._parameters_of(name)
        for clause, named in zip(
            self.contracts.get(name, ()), self._worded.get(name, ()), strict=True
        ):
            if named != own and {word.text for word in clause.words} & {*named, *own}:
                raise self._not_understood(clause, "the parameters have other names elsewhere")

    def leave(self, name: str, result: Value | None, old: Callable[[str], Term | None]) -> None:
        """At the end of a body: what it ensures."""
        for clause, term in self._ensured(name, result, old):
            if clause.only == "admit":
                self.assume(term)
            else:
                self._claim(term, f"ACSL postcondition of '{name}'", clause.place)

    def _required(self, name: str, names: Names, kinds: tuple[str, ...]) -> Term | None:
        contract = self.contracts.get(name, ())
        terms = [
            implies(self._assumed(contract, clause, names), self._formula(clause, names))
            for clause in contract
            if clause.kind == "requires" and clause.only in kinds
        ]
        return conj(terms) if terms else None

    def _ensured(
        self, name: str, result: Value | None, old: Callable[[str], Term | None]
    ) -> list[tuple[Clause, Term]]:
        contract = self.contracts.get(name, ())
        parameters = self._parameters_of(name)
        here = self._here()

        def now(word: str) -> Term | None:  # a parameter means its value at the beginning
            return old(word) if word in parameters else here.value(word)

        whole = result is not None and not result.kind.floating
        value = result.integer() if result is not None and whole else None
        before = Names(old, here.type, old)
        names = Names(now, here.type, old, value)
        return [
            (clause, implies(self._assumed(contract, clause, before), self._formula(clause, names)))
            for clause in contract
            if clause.kind == "ensures"
        ]

    def _assumed(self, contract: Sequence[Clause], clause: Clause, names: Names) -> Term:
        """The assumptions of the behaviour that a clause belongs to."""
        return conj(
            self._formula(other, names)
            for other in contract
            if other.kind == "assumes" and other.behavior == clause.behavior
        )

    def _parameters_of(self, name: str) -> list[str]:
        return _parameters(self.prototypes[name])

    def _copies(self, contract: Sequence[Clause]) -> Callable[[str], Term | None]:
        """Every variable that a postcondition names, as it is now."""
        found: dict[str, Term] = {}
        later = [c for c in contract if c.kind in ("ensures", "assumes")]
        if any(clause.kind == "ensures" for clause in later):
            for word in dict.fromkeys(w.text for clause in later for w in clause.words):
                slot = self.lookup(word)
                if slot is not None and slot.name is not None and _whole(slot.kind):
                    found[word] = self.snapshot(Value.of(slot.name, slot.kind)).term  # type: ignore[arg-type]
                elif slot is not None and slot.constant is not None:
                    found[word] = const(slot.constant)
        return found.get

    def _external(self, name: str, arguments: list[Any], node: Any) -> Value | None:
        """A function without a body, by its contract if it has one."""
        if name not in self.contracts:
            return super()._external(name, arguments, node)
        kind = self.result_kind(name)
        if isinstance(kind, Opaque) and kind.name != "void":
            raise self.unsupported(kind.what, node)
        self.no_global_pointers(node)
        declared = self.prototypes[name].args
        frame: dict[str, Slot] = {}
        for parameter, argument in zip(
            declared.params if declared else (), arguments, strict=False
        ):
            own = self.in_global_scope(parameter)
            if isinstance(own, Opaque):
                raise self.unsupported(own.what, argument)
            value = self.snapshot(self.convert(self.rvalue(argument), own))
            shown = self.fresh("", own)
            self.assign(shown, value.term)
            frame[parameter.name or ""] = Slot(own, shown)
        self.graph.remarks.by_contract.setdefault(name, self.place(node))
        scopes, self.scopes = self.scopes, [self.scopes[0], frame]
        old = self.enter(name, node)
        changed = self._assigned(name)
        if changed is None:
            self.forget_exposed(name, node)
        else:
            self.forget_all(changed, name, node)
        result = None
        if not isinstance(kind, Opaque):
            result = Value(self._input(name, kind, node), kind)
        for clause, term in self._ensured(name, result, old):
            if clause.only != "check":
                self.assume(term)
        self.scopes = scopes
        return result

    def _assigned(self, name: str) -> list[Slot] | None:
        """The globals that a function without a body may change, by its contract; None: all."""
        listed = [c for c in self.contracts[name] if c.kind == "assigns" and not c.behavior]
        if len(listed) != 1:
            return None
        words = [word.text for word in listed[0].words if word.text != ","]
        if words == ["\\nothing"]:
            return []
        slots = [self.scopes[0].get(word) for word in words if word != "\\result"]
        if any(word in "[].(+" for word in words) or None in slots:
            return None
        return [slot for slot in slots if slot is not None]

    # ---- formulas

    def _here(self) -> Names:
        return Names(self._value_of, self._type_of)

    def _value_of(self, name: str) -> Term | None:
        slot = self.lookup(name)
        if slot is None:
            return None
        if slot.constant is not None:
            return const(slot.constant)
        if slot.name is None or not _whole(slot.kind):
            return None
        return var(slot.name)

    def _cell_of(self, name: str, index: Term) -> Term | None:
        slot = self.lookup(name)
        if slot is not None and slot.pointer is not None:
            found = self.value_of(slot.pointer)
            objects = found.targets - NUMBERS.keys()
            slot = self.objects.get(min(objects)) if len(objects) == 1 else None
            index = add(found.at, index)
        cells = slot.cells if slot is not None else None
        if cells is None or len(cells.lengths) != 1:
            return None
        if cells.scalars is None:
            return select(array(cells.name), index)
        found = cells.scalars.get(index.leaf) if index.constant else None
        return var(found) if found is not None else None

    def _type_of(self, name: str) -> CType | Opaque | None:
        slot = self.lookup(f"typedef {name}")
        return slot.kind if slot is not None else None

    def _formula(self, clause: Clause, names: Names) -> Term:
        try:
            return Formula(clause.words, names).truth()
        except NotUnderstood as reason:
            raise self._not_understood(clause, str(reason)) from None

    def _not_understood(self, clause: Clause, why: str) -> Unsupported:
        return Unsupported(
            "an annotation",
            clause.place,
            said=f"the annotation '{clause}' was not understood ({why})",
        )

    def _claim(self, condition: Term, what: str, place: Place) -> None:
        bad, good = self.graph.block(), self.graph.block()
        self.branch(condition, good, bad, place)
        self.start(bad)
        self.fail(what, place)
        self.start(good)

    def note(self, text: str, place: Place) -> None:
        """Once for each place, however often a function is inlined."""
        note = f"{text} at {place}"
        if note not in self.graph.remarks.notes:
            self.graph.remarks.notes.append(note)

    def _count(self, clause: Clause) -> None:
        """Kinds that are not used are noted together."""
        kind = clause.kind or _OTHER
        number, place = self._unused.get(kind, (0, clause.place))
        self._unused[kind] = (number + 1, place)

    def note_unused(self) -> None:
        for name, contract in self.contracts.items():
            for clause in contract:
                if clause.kind == "assigns" and name in self.functions:
                    self._count(clause)
        for kind, (_, place) in sorted(self._unused.items()):
            if kind in _UNCHECKED:
                self.note(f"'{kind}' is a claim that was NOT checked, first", place)
            else:
                self.note(f"'{kind}' is not used here, first", place)


def _whole(kind: CType | Opaque) -> bool:
    """Are annotations about such values understood?"""
    return isinstance(kind, CType) and not kind.floating


def _parameters(function: Any) -> list[str]:
    """Those that have a name."""
    declared = function.args.params if function.args else ()
    return [name for name in (getattr(p, "name", None) for p in declared) if name]
