"""Is a proof about nothing? Assumptions that contradict each other make every program SAFE."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import z3

from ..._errors import Place
from .._program import Program
from ..solve import SECOND, Budget, OutOfTime
from ..system import Assume, Block, Branch, Fail, Graph, Interpreter, Stop, system_of
from ..system.terms import TRUE, Translator, conj
from ..verdict import Invariant, Outcome, Verdict

VACUOUS = "no run reaches a property"
BLAMED = ": the assumptions exclude all of them"
_TRIED = (0, 1, 5, -1)  # one of these as every input; most programs reach a property with the first
_BLOCKS = 300
_WORK = SECOND


def vacuous(program: Program, verdict: Verdict, budget: Budget) -> str:
    """What to remark if it is proved that no run of a SAFE program with assumptions comes to any
    of its properties; empty otherwise.

    The assumptions are blamed if a run without them comes to one. Where the program declares
    nothing about itself, what C asks for are the properties.
    """
    proved = verdict.proved or program
    graph = proved.graph
    if verdict.outcome is not Outcome.SAFE or graph is None or program.remarks is None:
        return ""
    if not any(isinstance(s, Assume) for block in graph.blocks for s in block.statements):
        return ""
    declared = program.remarks.properties or program.remarks.undefined
    places = _decisions(graph, declared)
    if not places or _visited(proved.interpreter, places):
        return ""
    try:
        if not _unreachable(_stopped(graph, places), program.file, verdict.invariants, budget):
            return ""
    except (OutOfTime, z3.Z3Exception, RecursionError):
        return ""
    return VACUOUS + (BLAMED if _visited(Interpreter(_unassuming(graph)), places) else "")


def _decisions(graph: Graph, declared: Collection[Place]) -> set[int]:
    """The blocks in which these properties are decided; none if the reader decided one already,
    because then nothing is left of its place."""
    before = graph.predecessors()
    found: set[int] = set()
    left = set(declared)
    for index, came in before.items():
        end = graph.blocks[index].end
        if isinstance(end, Fail) and end.place in declared:
            left.discard(end.place)
            branches = {i for i in came if isinstance(graph.blocks[i].end, Branch)}
            found |= branches if len(branches) == len(came) else {index}
    return found if not left else set()


def _visited(interpreter: Interpreter | None, places: set[int]) -> bool:
    """Does some run with simple inputs decide a property or fail?"""
    if interpreter is None:
        return False
    ends = {id(interpreter.graph.blocks[index].end) for index in places}
    for value in _TRIED:
        run = interpreter.run(lambda havoc, value=value: value, limit=_BLOCKS, record=True)
        if any(id(step) in ends for step, _ in run.steps):
            return True
    return False


def _stopped(graph: Graph, places: set[int]) -> Graph:
    """The graph in which a run fails where a property would be decided, and nowhere else."""
    blocks = []
    for index, block in enumerate(graph.blocks):
        end = block.end
        if index in places:
            end = Fail("a property is reached")
        elif isinstance(end, Fail):
            end = Stop()
        blocks.append(Block(block.statements, end))
    return replace(graph, blocks=blocks)


def _unassuming(graph: Graph) -> Graph:
    blocks = [
        Block([s for s in block.statements if not isinstance(s, Assume)], block.end)
        for block in graph.blocks
    ]
    return replace(graph, blocks=blocks)


def _unreachable(graph: Graph, file: str, invariants: Sequence[Invariant], budget: Budget) -> bool:
    """Do the invariants of the proof exclude every failure?"""
    part = budget.part(_WORK)
    system = system_of(graph, file, part.tick)
    known = {invariant.block: invariant.formula for invariant in invariants}
    terms = [conj((cut.facts(), known.get(cut.block, TRUE))) for cut in system.cuts]
    context = budget.context()
    for clause in system.clauses:
        if clause.target is not None:
            continue
        premise = [clause.constraint, *system.assumed(clause, terms)]
        solver = part.solver(context)
        solver.add(Translator(context)(conj(premise)))
        if part.ask(solver) != "unsat":
            return False
    return True
