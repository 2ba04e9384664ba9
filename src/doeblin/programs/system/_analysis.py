"""What the graph says before any solver runs: reachability, cut points, variables that matter."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from ._graph import (
    Assign,
    Assume,
    Block,
    Branch,
    Call,
    Copy,
    Fail,
    Fill,
    Graph,
    Havoc,
    Jump,
    Load,
    Return,
    Statement,
    Stop,
    Store,
    read_by,
    with_terms,
)
from .terms import const, substitute, variables


def slice_graph(
    graph: Graph, tick: Callable[[], None] = lambda: None
) -> tuple[Graph, list[frozenset[str]]]:
    """The part that can decide the property, and the variables that matter at each block's start.

    Blocks keep their numbers. Removed: blocks from which no failure can be reached, and
    assignments to variables that no remaining guard can come to depend on (strong liveness).
    Both removals are exact: failures and the runs that lead to them are unchanged.
    """
    alive = _reaching_failure(graph)
    blocks = []
    for index, block in enumerate(graph.blocks):
        if index not in alive:
            blocks.append(Block())
            continue
        end = block.end
        if isinstance(end, Branch) and not (end.yes in alive and end.no in alive):
            # One side is harmless: stop there, so that runs taking it are simply not followed.
            end = Branch(
                end.condition,
                end.yes if end.yes in alive else -1,
                end.no if end.no in alive else -1,
                end.place,
            )
        blocks.append(Block(block.statements, end))
    stop = len(blocks)
    blocks.append(Block())
    for block in blocks:
        if isinstance(block.end, Branch):
            yes, no = (stop if side < 0 else side for side in (block.end.yes, block.end.no))
            block.end = Branch(block.end.condition, yes, no, block.end.place)
    sliced = replace(graph, blocks=blocks)
    live = liveness(sliced, tick)
    if _propagate_constants(sliced, _unset(sliced, live)):
        live = liveness(sliced, tick)
    for index, block in enumerate(blocks):
        block.statements = _useful(sliced, live, index)
    return sliced, live


def _unset(graph: Graph, live: list[frozenset[str]]) -> frozenset[str]:
    """The variables that may be read before they have a value."""
    found = set(live[0])
    for procedure in graph.procedures.values():
        found |= (live[procedure.entry] & procedure.locals) - set(procedure.parameters)
    return frozenset(found)


def _propagate_constants(graph: Graph, unset: frozenset[str]) -> bool:
    """Put constants in place of variables that never have another value; was there any?

    `unset` are the variables that may be read before they have a value.
    """
    values: dict[str, set[int | None]] = {}
    for procedure in graph.procedures.values():
        values |= {name: {None} for name in (*procedure.parameters, *procedure.results)}
    for block in graph.blocks:
        for statement in block.statements:
            if isinstance(statement, Assign):
                constant = statement.value.leaf if statement.value.constant else None
                values.setdefault(statement.name, set()).add(constant)
            elif isinstance(statement, Havoc | Load):
                values.setdefault(statement.name, set()).add(None)
            elif isinstance(statement, Call):
                values |= {name: {None} for name in statement.results}
    known = {}
    for name, (first, *others) in values.items():
        if first is not None and not others and name not in unset:
            known[name] = const(first)
    if not known:
        return False
    for block in graph.blocks:
        block.statements = [
            with_terms(statement, lambda term: substitute(term, known))
            for statement in block.statements
        ]
        end = block.end
        if isinstance(end, Branch):
            block.end = Branch(substitute(end.condition, known), end.yes, end.no, end.place)
    return True


def _reaching_failure(graph: Graph) -> set[int]:
    reached = reachable(graph)
    before: dict[int, list[int]] = {}
    for index in reached:
        for target in graph.successors(index):
            before.setdefault(target, []).append(index)
    alive = {index for index in reached if isinstance(graph.blocks[index].end, Fail | Return)}
    # A call may fail, and what it does may matter.
    alive |= {index for index in reached if _called(graph, index)}
    todo = list(alive)
    while todo:
        for index in before.get(todo.pop(), ()):
            if index not in alive:
                alive.add(index)
                todo.append(index)
    return alive


def _called(graph: Graph, index: int) -> list[str]:
    return [s.procedure for s in graph.blocks[index].statements if isinstance(s, Call)]


def reachable(graph: Graph) -> set[int]:
    """The blocks that the entry leads to, by calls as well."""
    seen, todo = {0}, [0]
    while todo:
        index = todo.pop()
        entered = [graph.procedures[name].entry for name in _called(graph, index)]
        for target in (*graph.successors(index), *entered):
            if target not in seen:
                seen.add(target)
                todo.append(target)
    return seen


def summary(graph: Graph, live: list[frozenset[str]], name: str) -> list[str]:
    """The variables that the state where a procedure returns is about: from its entry what matters
    there, as it was, then its results and what it may have changed."""
    procedure = graph.procedures[name]
    began = [*procedure.parameters, *procedure.shared]
    inner = [procedure.old.get(other, other) for other in began if other in live[procedure.entry]]
    found = [*inner, *procedure.results, *procedure.changed]
    return [other for other in found if other in graph.variables]


def _before_call(graph: Graph, live: list[frozenset[str]], call: Call, after: set[str]) -> set[str]:
    procedure = graph.procedures[call.procedure]
    needed = live[procedure.entry]
    found = (after - set(call.results)) | (needed & set(procedure.shared))
    for parameter, arg in zip(procedure.parameters, call.args, strict=True):
        if parameter in needed:
            found |= variables(arg)
    return found


def _after(graph: Graph, live: list[frozenset[str]], index: int) -> set[str]:
    end = graph.blocks[index].end
    found: set[str] = set()
    if isinstance(end, Return):
        procedure = graph.procedures[end.procedure]
        # What the entry had matters here if it matters to what follows the entry.
        copied = {procedure.old.get(name) for name in live[procedure.entry]}
        kept = live[procedure.entry] & {*procedure.parameters, *procedure.shared}
        found |= kept - procedure.old.keys()
        found |= {name for name in copied if name is not None}
        found |= {*procedure.results, *procedure.changed}
    for target in graph.successors(index):
        found |= live[target]
    if isinstance(end, Branch):
        found |= variables(end.condition)
    return found


def liveness(graph: Graph, tick: Callable[[], None]) -> list[frozenset[str]]:
    """The variables that matter at the start of each block."""
    live: list[frozenset[str]] = [frozenset()] * len(graph.blocks)
    order = [index for index in reversed(forward_order(graph)[0])]
    reads = {
        id(statement): variables(*read_by(statement))
        for index in order
        for statement in graph.blocks[index].statements
    }
    changed = True
    while changed:
        changed = False
        for position, index in enumerate(order):
            if position % 64 == 0:
                tick()
            now = _after(graph, live, index)
            for statement in reversed(graph.blocks[index].statements):
                if isinstance(statement, Call):
                    now = _before_call(graph, live, statement, now)
                else:
                    _before(statement, reads[id(statement)], now)
            if now != live[index]:
                live[index] = frozenset(now)
                changed = True
    return live


def _useful(graph: Graph, live: list[frozenset[str]], index: int) -> list:
    now = _after(graph, live, index)
    kept = []
    for statement in reversed(graph.blocks[index].statements):
        if isinstance(statement, Call):
            now = _before_call(graph, live, statement, now)
        elif not _before(statement, variables(*read_by(statement)), now):
            continue
        kept.append(statement)
    return kept[::-1]


def _before(statement: Statement, reads: set[str], now: set[str]) -> bool:
    """Does the statement matter, if what matters after it is `now`? That becomes what matters
    before it."""
    if isinstance(statement, Assume):
        now |= reads
        return True
    stored = isinstance(statement, Store | Fill | Copy)
    target = statement.array if stored else statement.name  # type: ignore[union-attr]
    if target not in now:
        return False
    if not isinstance(statement, Store):  # which leaves the other cells as they are
        now.discard(target)
    now |= reads
    if isinstance(statement, Load | Copy):
        now.add(statement.array if isinstance(statement, Load) else statement.source)
    return True


def forward_order(graph: Graph) -> tuple[list[int], set[int]]:
    """Reverse postorder of the reachable blocks, and the targets of retreating edges.

    Every cycle, natural or made by gotos, contains a retreating edge of a depth-first search,
    so the targets cut every cycle.
    """
    state: dict[int, int] = {}  # 1 on the stack, 2 done
    order: list[int] = []
    heads: set[int] = set()
    reached = reachable(graph) if graph.procedures else {0}
    entries = (procedure.entry for procedure in graph.procedures.values())
    for root in (0, *(entry for entry in entries if entry in reached)):
        found: list[int] = []
        stack = [(root, iter(graph.successors(root)))]
        state[root] = 1
        while stack:
            index, rest = stack[-1]
            for target in rest:
                mark = state.get(target)
                if mark is None:
                    state[target] = 1
                    stack.append((target, iter(graph.successors(target))))
                    break
                if mark == 1:
                    heads.add(target)
            else:
                state[index] = 2
                found.append(index)
                stack.pop()
        order += reversed(found)
    return order, heads


def without_copies(graph: Graph, names: Iterable[str]) -> None:
    """Put variables in place of those among `names` that are copies of them for good: assigned at
    one place, after which nothing changes the original."""
    for name in names:
        writes = [
            (index, number, statement)
            for index, block in enumerate(graph.blocks)
            for number, statement in enumerate(block.statements)
            if _writes(statement, name)
        ]
        index, number, copy = writes[0] if len(writes) == 1 else (0, 0, None)
        if not isinstance(copy, Assign):
            continue
        if copy.value.op != "var" or copy.value.leaf == name or graph.procedures:
            continue
        after = _from(graph, index)
        later = [s for i in after for s in graph.blocks[i].statements]
        if index not in after:
            later += graph.blocks[index].statements[number:]
        if any(_writes(statement, copy.value.leaf) for statement in later):
            continue
        known = {name: copy.value}
        for block in graph.blocks:
            block.statements = [
                with_terms(statement, lambda term, known=known: substitute(term, known))
                for statement in block.statements
                if statement is not copy
            ]
            if isinstance(block.end, Branch):
                condition = substitute(block.end.condition, known)
                block.end = replace(block.end, condition=condition)


def _from(graph: Graph, start: int) -> set[int]:
    """The blocks that a block leads to."""
    seen: set[int] = set()
    todo = [start]
    while todo:
        new = [target for target in graph.successors(todo.pop()) if target not in seen]
        seen.update(new)
        todo += new
    return seen


def _writes(statement: Statement, name: str) -> bool:
    if isinstance(statement, Call):
        return name in statement.results
    return isinstance(statement, Assign | Havoc | Load) and statement.name == name


def without_failures(graph: Graph, what: str) -> Graph:
    """The same graph, in which runs that fail in this way merely end."""
    blocks = [
        Block(block.statements, Stop())
        if isinstance(block.end, Fail) and block.end.what == what
        else Block(block.statements, block.end)
        for block in graph.blocks
    ]
    return replace(graph, blocks=blocks)


def thread_jumps(graph: Graph) -> None:
    """Let edges skip blocks that only jump on (loop heads stay, for writers and traces)."""

    def final(index: int) -> int:
        seen = set()
        while index not in seen and index not in graph.loops:
            seen.add(index)
            block = graph.blocks[index]
            if block.statements or not isinstance(block.end, Jump):
                break
            index = block.end.target
        return index

    for block in graph.blocks:
        end = block.end
        if isinstance(end, Jump):
            block.end = Jump(final(end.target))
        elif isinstance(end, Branch):
            yes, no = final(end.yes), final(end.no)
            if yes == no:
                block.end = Jump(yes)
            elif end.condition.constant:
                block.end = Jump(yes if end.condition.leaf else no)
            else:
                block.end = Branch(end.condition, yes, no, end.place)
