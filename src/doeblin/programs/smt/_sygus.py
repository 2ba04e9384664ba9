"""SyGuS invariant problems (`.sl`): pre, trans, post over one unknown predicate."""

from __future__ import annotations

from ..._errors import InputError, Place
from ..c import Unsupported
from ..flow import Clause, Cut, System
from ..terms import Term, conj, negate, var
from ._formula import Definitions, variable
from ._sexpr import Group, Symbol, parse

_IGNORED = frozenset({"set-logic", "check-synth", "set-option", "set-info", "declare-primed-var"})


def read_sygus(text: str, file: str) -> System:
    """The three clauses of an `inv-constraint`."""
    definitions = Definitions()
    unknown: tuple[Symbol, list[tuple[str, Symbol]]] | None = None
    constraint: Group | None = None
    for command in parse(text, file):
        if not isinstance(command, Group) or not command or not isinstance(command[0], Symbol):
            raise InputError("a command in parentheses is expected", place=command.place)
        name = command[0]
        if name in ("synth-inv", "synth-fun"):
            if unknown is not None:
                raise Unsupported("more than one unknown function", command.place)
            unknown = (_symbol(command, 1), _parameters(command, 2))
        elif name == "define-fun":
            parameters = [(p, str(s)) for p, s in _parameters(command, 2)]
            if len(command) != 5:
                raise InputError("'define-fun' needs a sort and a body", place=command.place)
            definitions.define(_symbol(command, 1), parameters, command[4])
        elif name == "inv-constraint":
            if len(command) != 5:
                raise InputError("'inv-constraint' needs four names", place=command.place)
            constraint = command
        elif name == "constraint":
            raise Unsupported("'constraint' (only 'inv-constraint' is)", command.place)
        elif name not in _IGNORED and name != "declare-var":
            raise Unsupported(f"the command '{name}'", command.place)
    if unknown is None:
        raise InputError("there is no 'synth-inv'", place=Place(file, 1, 1))
    if constraint is None:
        raise InputError("there is no 'inv-constraint'", place=Place(file, 1, 1))
    return _system(definitions, unknown, constraint)


def _symbol(command: Group, index: int) -> Symbol:
    if len(command) <= index or not isinstance(command[index], Symbol):
        raise InputError(f"'{command[0]}' needs a name", place=command.place)
    return command[index]  # type: ignore[return-value]


def _parameters(command: Group, index: int) -> list[tuple[str, Symbol]]:
    found = []
    if len(command) <= index or not isinstance(command[index], Group):
        raise InputError(f"'{command[0]}' needs parameters", place=command.place)
    for item in command[index]:
        if not (isinstance(item, Group) and len(item) == 2 and isinstance(item[0], Symbol)):
            raise InputError("a parameter is a name and a sort", place=command.place)
        found.append((str(item[0]), item[1]))
    return found


def _system(
    definitions: Definitions,
    unknown: tuple[Symbol, list[tuple[str, Symbol]]],
    constraint: Group,
) -> System:
    name, parameters = unknown
    names = tuple(p for p, _ in parameters)
    now, after, facts, later = [], [], [], []
    for parameter, sort in parameters:
        term, fact = variable(parameter, sort)
        now.append(term)
        facts.append(fact)
        term, fact = variable(f"{parameter}!", sort)
        after.append(term)
        later.append(fact)
    ranges = tuple((0, 1) if sort == "Bool" else (None, None) for _, sort in parameters)
    cut = Cut(str(name), names, names, ranges, name.place)

    def call(index: int, args: list[Term]) -> Term:
        used = constraint[index]
        if not isinstance(used, Symbol) or used not in definitions:
            raise InputError(f"'{used}' is not defined", place=used.place)
        return definitions.apply(used, args, used)

    def place(index: int) -> Place:
        return constraint[index].place

    primed = tuple(f"{p}!" for p in names)
    pre = conj((*facts, call(2, now)))
    step = conj((*facts, *later, call(3, [*now, *after])))
    bad = conj((*facts, negate(call(4, now))))
    return System(
        (cut,),
        (
            Clause(None, pre, 0, tuple(var(n) for n in names), names, place(2)),
            Clause(0, step, 0, tuple(var(n) for n in primed), primed, place(3)),
            Clause(0, bad, None, (), (), place(4)),
        ),
    )
