"""SMT-LIB HORN (`.smt2`) and Z3's rules: constrained Horn clauses over Int, Bool and arrays."""

from __future__ import annotations

from ...._errors import InputError, Place
from ...system import System
from ..c import Unsupported
from ._clauses import Clauses
from ._script import Script
from ._sexpr import Group, Symbol, commands

_IGNORED = frozenset(
    {"set-logic", "set-option", "set-info", "get-model", "get-info", "get-proof", "get-option",
     "get-unsat-core", "get-assertions", "echo"}
)  # fmt: skip


def read_horn(text: str, file: str) -> System:
    """The clauses of a HORN file."""
    script = Script(text, file)
    clauses = Clauses(script)
    asked: Place | None = None
    asserted = False
    for name, command in commands(text, file):
        if name in _IGNORED:
            continue
        if name == "exit":
            break
        if name == "check-sat":
            asked = command.place
            continue
        if asked is not None:
            raise Unsupported("commands after 'check-sat'", command.place)
        if name in ("assert", "rule", "query"):
            asserted = True
        _command(name, command, script, clauses)
    if not asserted:
        raise InputError("there are no clauses", place=Place(file, 1, 1))
    return clauses.system()


def _command(name: Symbol, command: Group, script: Script, clauses: Clauses) -> None:
    if name in ("declare-fun", "declare-rel"):
        _declare(command, script, clauses)
    elif name == "declare-const" and len(command) == 3 and command[2] == "Bool":
        clauses.declare(script.name(command), Group(command.place, command.span[0]))
    elif name == "declare-var":
        _size(command, 3)
        clauses.universal(script.name(command), command[2])
    elif name in ("define-fun", "define-const"):
        _size(command, 5 if name == "define-fun" else 4)
        script.name(command)
        script.take(script.part(command), command)
    elif name == "assert":
        _size(command, 2)
        clauses.require(script.formula(command[1]), command.place)
    elif name == "rule":
        _size(command, 2, 3)
        clauses.require(script.formula(command[1]), command.place)
    elif name == "query":
        _size(command, 2, None)
        clauses.refuse(command[1], command.place)
    else:
        raise Unsupported(f"the command '{name}'", command.place)


def _declare(command: Group, script: Script, clauses: Clauses) -> None:
    relation = command[0] == "declare-rel"
    _size(command, 3 if relation else 4)
    name = script.name(command)
    sorts = command[2]
    if not isinstance(sorts, Group):
        raise InputError("a list of sorts is expected", place=sorts.place)
    if not relation and command[3] != "Bool":
        raise Unsupported("functions that are no predicates", command.place)
    clauses.declare(name, sorts)


def _size(command: Group, least: int, most: int | None = 0) -> None:
    """How many parts a command has: `least`, unless it may have up to `most`."""
    most = least if most == 0 else most
    if len(command) < least or (most is not None and len(command) > most):
        raise InputError(f"'{command[0]}' with {len(command) - 1} arguments", place=command.place)
