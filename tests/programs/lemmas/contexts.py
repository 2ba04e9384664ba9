"""Contexts for sources: a program's only loop, and states that its runs visit."""

from __future__ import annotations

import random

import numpy as np

from doeblin.linear import Atom
from doeblin.programs import parse_program
from doeblin.programs.learner import Space
from doeblin.programs.learner._harvest import harvest
from doeblin.programs.lemmas import Context


def context_of(text, rows=None, *, known=(), hints=(), inputs=range(12)):
    """The context of a program's loop; `rows` gives states by name, else runs do, each on one
    of the `inputs` throughout."""
    program = parse_program(text)
    found = harvest(program.system, program.graph)
    (cut,) = program.system.cuts
    space = Space(cut, found.relevant[0], found, random.Random(0))
    if rows is None:
        rows = []
        for value in inputs:
            run = program.interpreter.run(lambda havoc, v=value: v, watch=[cut.block], limit=300)
            names = program.interpreter.names
            rows += [dict(zip(names, state, strict=True)) for _, state in run.visits]
    shown = dict(zip(cut.variables, cut.shown, strict=True))
    points = sorted({tuple(row.get(n, row.get(shown[n])) for n in cut.variables) for row in rows})
    array = np.array(points, dtype=np.int64).reshape(len(points), space.size)
    return Context(space, array, known, hints)


def atom(context, relation, constant, modulus=0, **coefficients):
    """`coefficients · variables`, in the relation to a constant."""
    shown = context.space.cut.shown
    vector = tuple(coefficients.pop(name, 0) for name in shown)
    assert not coefficients
    return Atom(vector, relation, constant, modulus)
