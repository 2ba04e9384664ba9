"""Large-block conditions: from each cut point, everything up to the next one as a single clause.

The region between cut points has no cycle; it is executed symbolically in topological order, and
where paths join, values become `ite`s, so that clauses grow linearly with the program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from ..._errors import Place
from ._analysis import forward_order, slice_graph, summary
from ._conversions import is_floating, without_conversions
from ._graph import (
    Array,
    Assign,
    Assume,
    Branch,
    Call,
    Copy,
    Fail,
    Fill,
    Graph,
    Havoc,
    Jump,
    Load,
    Store,
)
from ._system import Bank, Clause, Cut, Input, Premise, System
from .terms import (
    TRUE,
    Term,
    array,
    compare,
    conj,
    const,
    disj,
    fill,
    ite,
    negate,
    select,
    store,
    substitute,
    variables,
)

Literal = tuple[Term, bool]
Path = tuple[Literal, ...]


class _State:
    """A path condition, the values on it (only variables that differ from their own name), and the
    calls that have returned."""

    __slots__ = ("path", "premises", "values")

    def __init__(self, path: Path, values: dict[str, Term], premises: tuple[Premise, ...] = ()):
        self.path = path
        self.values = values
        self.premises = premises


def system_of(graph: Graph, file: str, tick: Callable[[], None] = lambda: None) -> System:
    """The clauses of a graph, over the variables that matter at each loop head.

    A procedure has an invariant where it is entered, and one where it returns: its summary.
    """
    sliced, live = slice_graph(graph, tick)
    order, heads = forward_order(sliced)
    cuts: list[Cut] = []
    number: dict[int, int] = {}

    def cut(block: int, name: str, names: Iterable[str], place: Place) -> None:
        number[block] = len(cuts)
        held = [held for held in graph.arrays.values() if held.name in live[block]]
        known = [graph.variables[name] for name in names]
        cuts.append(
            Cut(
                name=name,
                variables=tuple(variable.name for variable in known),
                shown=tuple(variable.shown for variable in known),
                ranges=tuple((variable.low, variable.high) for variable in known),
                place=place,
                block=block,
                arrays=tuple(map(_bank, held)),
                formats={v.name: v.bits for v in known if v.bits is not None},
            )
        )

    for block in order:
        if block in heads:
            names = [name for name in graph.variables if name in live[block]]
            loop = graph.loops.get(block)
            cut(block, f"loop{len(cuts)}", names, loop.place if loop else Place(file))
    for procedure in graph.procedures.values():
        if procedure.entry in order:
            began = (*procedure.parameters, *procedure.shared)
            began = (name for name in began if name in graph.variables)
            names = [name for name in began if name in live[procedure.entry]]
            cut(procedure.entry, f"{procedure.name} is entered", names, procedure.place)
            names = summary(sliced, live, procedure.name)
            cut(procedure.exit, f"{procedure.name} returns", names, procedure.place)
    clauses: list[Clause] = []
    opened: set[Place] = set()
    rank = {block: position for position, block in enumerate(order)}
    last = {procedure.exit for procedure in graph.procedures.values()}
    for source in [-1, *(cut.block for cut in cuts if cut.block not in last)]:
        tick()
        clauses += _region(sliced, source, number, rank, cuts, tick, opened)
    system = System(tuple(cuts), tuple(clauses), frozenset(opened))
    if graph.floating is None or not is_floating(system):
        return system
    return replace(without_conversions(system), floating=True)


def _region(
    graph: Graph,
    source: int,
    number: dict[int, int],
    rank: dict[int, int],
    cuts: list[Cut],
    tick: Callable[[], None],
    opened: set[Place],
) -> list[Clause]:
    start = max(source, 0)
    first = cuts[number[source]] if source >= 0 else None
    mine = tuple(bank.name for bank in first.arrays) if first else ()
    own = (Premise(number[source], first.variables, mine),) if first else ()
    extra: dict[Input, Term] = {}  # what is free, and its ranges
    initial = {term.leaf: term for term in first.state()} if first else {}
    initial |= {bank.name: array(bank.name) for bank in first.arrays} if first else {}
    banks: dict[str, Bank] = {}  # arrays that are free

    def unset(name: str) -> Term:
        """A variable read before any value was given to it: arbitrary within its type."""
        if name in graph.arrays:
            bank = _bank(graph.arrays[name])._replace(name=f"{name}?")
            banks[bank.name] = bank
            return array(bank.name)
        variable = graph.variables[name]
        aux = Input(f"{name}?", name, bits=variable.bits)
        extra[aux] = _range(aux, variable.low, variable.high)
        return aux.term

    def resolve(term: Term, values: dict[str, Term]) -> Term:
        return substitute(term, _Lookup(values, unset))

    def enter(call: Call, values: dict[str, Term], path: Path, premises: tuple[Premise, ...]):
        """Enter a procedure; the path and the premises after it returned."""
        procedure = graph.procedures[call.procedure]
        now = {name: resolve(graph.term(name), values) for name in procedure.shared}
        now |= zip(procedure.parameters, (resolve(arg, values) for arg in call.args), strict=True)
        found.setdefault(procedure.entry, []).append(_State(path, {**values, **now}, premises))
        known = cuts[number[procedure.exit]]
        names = tuple(f"{name}?{call.site}" for name in known.variables)
        held = tuple(f"{bank.name}?{call.site}" for bank in known.arrays)
        after = dict(zip(known.variables, known.state(names), strict=True))
        after |= zip((bank.name for bank in known.arrays), map(array, held), strict=True)
        for name, value in now.items():
            inner = procedure.old.get(name, name)
            if inner in after and (inner != name or name not in procedure.changed):
                path = (*path, (compare("=", after[inner], value), True))
        for name, result in zip(call.results, procedure.results, strict=True):
            values[name] = after[result]
        values |= {name: after[name] for name in procedure.changed}
        return path, (*premises, Premise(number[procedure.exit], names, held))

    arriving: dict[int, list[_State]] = {start: [_State((), initial, own)]}
    found: dict[int, list[_State]] = {}
    failing: list[_State] = []
    todo = _topological(graph, start, number, rank)
    for block, state in _arrivals(todo, arriving, unset, tick):
        tick()
        values, path, premises = dict(state.values), state.path, state.premises
        dead = False
        for statement in graph.blocks[block].statements:
            if isinstance(statement, Assign):
                values[statement.name] = resolve(statement.value, values)
            elif isinstance(statement, Havoc):
                name, site = statement.name, statement.site
                aux = Input(f"{name}?{site}", name, site, graph.bits(name))
                extra[aux] = _range(aux, statement.low, statement.high)
                values[name] = aux.term
            elif isinstance(statement, Call):
                if not dead:
                    path, premises = enter(statement, values, path, premises)
            elif isinstance(statement, Load):
                held = resolve(array(statement.array), values)
                values[statement.name] = select(held, resolve(statement.index, values))
            elif isinstance(statement, Store):
                held = resolve(array(statement.array), values)
                index, value = (resolve(t, values) for t in (statement.index, statement.value))
                values[statement.array] = store(held, index, value)
            elif isinstance(statement, Copy):
                values[statement.array] = resolve(array(statement.source), values)
            elif isinstance(statement, Fill):
                if statement.value is not None:
                    values[statement.array] = fill(const(statement.value))
                    continue
                bank = _bank(graph.arrays[statement.array], statement)
                banks[bank.name] = bank
                values[statement.array] = array(bank.name)
            elif isinstance(statement, Assume):
                condition = resolve(statement.condition, values)
                if condition.constant:
                    dead = dead or not condition.leaf
                else:
                    path = (*path, (condition, True))
        if dead:
            continue
        end = graph.blocks[block].end
        edges: list[tuple[int, Path]] = []
        if isinstance(end, Jump):
            edges = [(end.target, path)]
        elif isinstance(end, Branch):
            condition = resolve(end.condition, values)
            if condition.constant:
                edges = [(end.yes if condition.leaf else end.no, path)]
            else:
                if condition.op == "not":
                    base, positive = condition.args[0], False
                else:
                    base, positive = condition, True
                edges = [
                    (end.yes, (*path, (base, positive))),
                    (end.no, (*path, (base, not positive))),
                ]
        elif isinstance(end, Fail):
            failing.append(_State(path, {}, premises))
            if end.place is not None:
                opened.add(end.place)
        for target, along in edges:
            into = found if target in number else arriving
            into.setdefault(target, []).append(_State(along, values, premises))
    clauses = []
    for target, states in found.items():
        for state in _joined(states, unset, tick):
            args = tuple(
                state.values[name] if name in state.values else unset(name)
                for name in cuts[number[target]].variables
            )
            held = tuple(
                state.values[bank.name] if bank.name in state.values else unset(bank.name)
                for bank in cuts[number[target]].arrays
            )
            clauses.append((state.premises, _formula(state.path), number[target], args, held))
    for state in _joined(failing, unset, tick):
        clauses.append((state.premises, _formula(state.path), None, (), ()))
    made = []
    for premises, formula, target, args, held in clauses:
        if formula.constant and not formula.leaf:
            continue
        used = variables(formula, *args, *held)
        inputs = {item: range_ for item, range_ in extra.items() if item.name in used}
        where = cuts[target] if target is not None else first
        made.append(
            Clause(
                premises=premises,
                constraint=conj((*inputs.values(), formula)),
                target=target,
                args=args,
                inputs=tuple(inputs),
                place=where.place if where else None,
                banks=tuple(bank for bank in banks.values() if bank.name in used),
                arrays=held,
            )
        )
    return made


def _bank(held: Array, filled: Fill | None = None) -> Bank:
    """An array, or what it has once it is filled with arbitrary values."""
    if filled is None:
        return Bank(held.name, held.low, held.high, held.bounds, held.name, held.shown)
    name = f"{held.name}?{filled.site}"
    of = held.name, held.shown, filled.site
    return Bank(name, filled.low, filled.high, held.bounds, *of)


def _arrivals(
    todo: list[int],
    arriving: dict[int, list[_State]],
    unset: Callable[[str], Term],
    tick: Callable[[], None],
) -> Iterator[tuple[int, _State]]:
    """The blocks in order, each with the states in which it is reached."""
    for block in todo:
        for state in _joined(arriving.pop(block, []), unset, tick):
            yield block, state


def _joined(
    states: list[_State], unset: Callable[[str], Term], tick: Callable[[], None]
) -> list[_State]:
    """One state for all that build on the same calls."""
    groups: dict[tuple[Premise, ...], list[_State]] = {}
    for state in states:
        groups.setdefault(state.premises, []).append(state)
    return [_join(group, unset, tick) for group in groups.values()]


class _Lookup(dict[str, Term]):
    """The values so far; what is missing is arbitrary."""

    def __init__(self, values: dict[str, Term], unset: Callable[[str], Term]):
        super().__init__()
        self._values = values
        self._unset = unset

    def get(self, name: str, default: Term | None = None) -> Term:  # type: ignore[override]
        found = self._values.get(name)
        if found is None:
            found = self._values[name] = self._unset(name)
        return found


def _range(aux: Input, low: int | None, high: int | None) -> Term:
    bounds = []
    if aux.bits is not None:  # any value at all
        return TRUE
    if low is not None:
        bounds.append(compare("<=", const(low), aux.term))
    if high is not None:
        bounds.append(compare("<=", aux.term, const(high)))
    return conj(bounds)


def _topological(graph: Graph, start: int, cut: dict[int, int], rank: dict[int, int]) -> list[int]:
    """The region's blocks in an order that respects its edges (reverse postorder does)."""
    seen, todo = {start}, [start]
    while todo:
        for target in graph.successors(todo.pop()):
            if target not in seen and target not in cut:
                seen.add(target)
                todo.append(target)
    return sorted(seen, key=lambda block: (block != start, rank[block]))


def _formula(path: Path) -> Term:
    return conj(term if positive else negate(term) for term, positive in path)


def _join(states: list[_State], unset: Callable[[str], Term], tick: Callable[[], None]) -> _State:
    """One state for several; complementary pairs are joined first, so that conditions cancel."""
    states = list(states)
    while len(states) > 1:
        best = None
        for j in range(len(states) - 1, 0, -1):
            tick()
            for i in range(j - 1, -1, -1):
                common = _common(states[i].path, states[j].path)
                a, b = states[i].path[common:], states[j].path[common:]
                if a and b and a[0][0] is b[0][0]:
                    # The deepest split first: its two sides are complements of each other.
                    score = (len(a) == 1 and len(b) == 1, common)
                    if best is None or score > best[0]:
                        best = (score, i, j, common)
            if best and best[0][0]:
                break
        _, i, j, common = best or (None, 0, 1, _common(states[0].path, states[1].path))
        joined = _join_two(states[i], states[j], common, unset)
        states = [s for k, s in enumerate(states) if k not in (i, j)] + [joined]
    return states[0]


def _common(a: Path, b: Path) -> int:
    count = 0
    for (x, p), (y, q) in zip(a, b, strict=False):
        if x is not y or p != q:
            break
        count += 1
    return count


def _join_two(left: _State, right: _State, common: int, unset: Callable[[str], Term]) -> _State:
    a, b = left.path[common:], right.path[common:]
    path = left.path[:common]
    if a and b and a[0][0] is b[0][0]:
        # The first literals differ in sign only: they alone say which side was taken.
        chosen = a[0][0] if a[0][1] else negate(a[0][0])
        if len(a) > 1 or len(b) > 1:
            path = (*path, (disj((_formula(a), _formula(b))), True))
    else:
        chosen = _formula(a)
        path = (*path, (disj((chosen, _formula(b))), True))
    values: dict[str, Term] = {}
    for name in dict.fromkeys((*left.values, *right.values)):  # in an order that never changes
        one, two = left.values.get(name), right.values.get(name)
        if one is two and one is not None:
            values[name] = one
        else:
            one = one if one is not None else unset(name)
            two = two if two is not None else unset(name)
            values[name] = ite(chosen, one, two)
    return _State(path, values, left.premises)
