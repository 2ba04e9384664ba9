"""SyGuS invariant problems (`.sl`): pre, trans, post over one unknown predicate.

Definitions are SMT-LIB's and read as such; each `inv-constraint` becomes its three clauses.
"""

from __future__ import annotations

from ...._errors import InputError, Place
from ...system import System
from ..c import Unsupported
from ._clauses import Clauses, quoted, unique
from ._script import Script
from ._sexpr import Expression, Group, Symbol, commands

_IGNORED = frozenset({"set-logic", "set-option", "set-info", "set-feature"})


def read_sygus(text: str, file: str) -> System:
    """The clauses of all `inv-constraint`s."""
    script = Script(text, file)
    clauses = Clauses(script)
    unknown: Group | None = None
    sizes: dict[str, int] = {}
    constrained = asked = False
    for name, command in commands(text, file):
        if name in _IGNORED:
            continue
        if asked:
            raise Unsupported("commands after 'check-synth'", command.place)
        if name in ("synth-inv", "synth-fun"):
            if unknown is not None:
                raise Unsupported("more than one unknown function", command.place)
            unknown = command
            _synthesise(command, script, clauses)
        elif name == "define-fun":
            if len(command) != 5:
                raise InputError("'define-fun' needs a sort and a body", place=command.place)
            sizes[script.name(command)] = len(_parameters(command))
            script.take(script.part(command), command)
        elif name == "inv-constraint":
            _constrain(command, unknown, sizes, script, clauses)
            constrained = True
        elif name in ("declare-var", "declare-primed-var"):
            _variable(command, script)  # of an older version of the format; nothing refers to it
        elif name == "constraint":
            raise Unsupported("'constraint' (only 'inv-constraint' is)", command.place)
        elif name == "check-synth":
            asked = True
        else:
            raise Unsupported(f"the command '{name}'", command.place)
    if unknown is None:
        raise InputError("there is no 'synth-inv'", place=Place(file, 1, 1))
    if not constrained:
        raise InputError("there is no 'inv-constraint'", place=Place(file, 1, 1))
    return clauses.system()


def _parameters(command: Group) -> list[tuple[Symbol, Expression]]:
    found: list[tuple[Symbol, Expression]] = []
    parameters = command[2] if len(command) > 2 else None
    if not isinstance(parameters, Group):
        raise InputError(f"'{command[0]}' needs parameters", place=command.place)
    for item in parameters:
        name = item[0] if isinstance(item, Group) and len(item) == 2 else None
        if not isinstance(name, Symbol) or not isinstance(item, Group):
            raise InputError("a parameter is a name and a sort", place=item.place)
        if name in [other for other, _ in found]:
            raise InputError(f"'{name}' is bound twice", place=name.place)
        found.append((name, item[1]))
    return found


def _synthesise(command: Group, script: Script, clauses: Clauses) -> None:
    name = script.name(command)
    sorts = Group(command.place, command.span[0])
    sorts += [sort for _, sort in _parameters(command)]
    rest = command[3:]
    if command[0] == "synth-fun":
        if not rest or rest[0] != "Bool":
            raise Unsupported("an unknown function that is no predicate", command.place)
        rest = rest[1:]
    if rest:
        raise Unsupported("a grammar for the invariant", rest[0].place)
    clauses.declare(name, sorts)


def _variable(command: Group, script: Script) -> None:
    if len(command) != 3:
        raise InputError(f"'{command[0]}' needs a name and a sort", place=command.place)
    script.name(command)


def _constrain(
    command: Group,
    unknown: Group | None,
    sizes: dict[str, int],
    script: Script,
    clauses: Clauses,
) -> None:
    """invariant, pre, trans, post: what each says about states now (`x`) and after (`x!`)."""
    if len(command) != 5 or not all(isinstance(item, Symbol) for item in command):
        raise InputError("'inv-constraint' needs four names", place=command.place)
    if unknown is None or command[1] != unknown[1]:
        raise InputError(f"'{command[1]}' is not the unknown", place=command[1].place)
    parameters = _parameters(unknown)
    taken = {*sizes, str(unknown[1])}
    variables = []
    for mark in ("", "!"):
        for name, _ in parameters:
            variables.append(unique(f"{name}{mark}", taken))
            taken.add(variables[-1])
    count = len(parameters)
    now, after = variables[:count], variables[count:]
    for item, size in zip(command[2:], (count, 2 * count, count), strict=True):
        if item not in sizes:
            raise InputError(f"'{item}' is not defined", place=item.place)
        if sizes[str(item)] != size:
            raise InputError(
                f"'{item}' takes {sizes[str(item)]} arguments here, not {size}", place=item.place
            )
    _, invariant, pre, trans, post = map(str, command)
    step = f"(and {_call(invariant, now)} {_call(trans, variables)})"
    for item, premise, conclusion in (
        (command[2], _call(pre, now), _call(invariant, now)),
        (command[3], step, _call(invariant, after)),
        (command[4], _call(invariant, now), _call(post, now)),
    ):
        sorts = [script.part(sort) for _, sort in (*parameters, *parameters)]
        binders = " ".join(f"({quoted(n)} {s})" for n, s in zip(variables, sorts, strict=True))
        formula = f"(=> {premise} {conclusion})"
        closed = f"(forall ({binders}) {formula})" if variables else formula
        clauses.require(script.take(f"(assert {closed})", item)[0], item.place)


def _call(name: str, arguments: list[str]) -> str:
    shown = " ".join(quoted(argument) for argument in arguments)
    return f"({quoted(name)} {shown})" if arguments else quoted(name)
