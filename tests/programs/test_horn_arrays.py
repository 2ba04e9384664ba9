"""Horn clauses with arrays: proofs against the clauses by other solvers, refutations fact by fact,
and the cases of a clause against the clause itself."""

import random
import re

import cvc5
import pytest
import z3

from doeblin.programs import Outcome, output, parse_program, verify
from doeblin.programs.frontends.smt._cases import cases
from doeblin.programs.system import from_bases
from doeblin.programs.system.terms import (
    Contents,
    Translator,
    add,
    array,
    compare,
    conj,
    const,
    disj,
    evaluate,
    holds_cells,
    implies,
    ite,
    mul,
    negate,
    postorder,
    select,
    store,
    var,
)

A = "(Array Int Int)"


def sort(name):
    """Of a variable: arrays have capital letters, Booleans begin with `is`."""
    return A if name.isupper() else "Bool" if name.startswith("is") else "Int"


def horn(declared, *clauses):
    """A file: predicates with their sorts, and clauses (variables, premise, conclusion)."""
    lines = ["(set-logic HORN)"]
    lines += [f"(declare-fun {name} ({sorts}) Bool)" for name, sorts in declared.items()]
    for bound, body, head in clauses:
        binders = " ".join(f"({name} {sort(name)})" for name in bound.split())
        lines.append(f"(assert (forall ({binders}) (=> {body} {head})))")
    return "\n".join([*lines, "(check-sat)", ""])


def filled(last="(< k n)", value="7", start="0"):
    return horn(
        {"P": f"{A} Int Int"},
        ("A n", "(> n 0)", f"(P A {start} n)"),
        ("A B i n", f"(and (P A i n) (< i n) (= B (store A i {value})))", "(P B (+ i 1) n)"),
        ("A i n k", f"(and (P A i n) (>= i n) (<= 0 k) {last} (not (= (select A k) 7)))", "false"),
    )


def pointed(shift="0"):
    """Copied from one place of memory to another, through pointers; compared by another loop."""
    return horn(
        {"P": f"Int {A} Int Int {A} Int", "Q": f"Int {A} Int Int {A} Int"},
        ("p A q B n", "(and (> p 0) (> q 0))", "(P p A 0 q B n)".replace("0 q", "q 0")),
        (
            "p A q i B n",
            "(and (P p A q i B n) (< i n))",
            "(P p A q (+ i 1) (store B (+ q i) (select A (+ p i))) n)",
        ),
        ("p A q i B n", "(and (P p A q i B n) (>= i n))", f"(Q p A q {shift} B n)"),
        (
            "p A q i B n",
            "(and (Q p A q i B n) (< i n) (= (select A (+ p i)) (select B (+ q i))))",
            "(Q p A q (+ i 1) B n)",
        ),
        (
            "p A q i B n",
            "(and (Q p A q i B n) (< i n) (not (= (select A (+ p i)) (select B (+ q i)))))",
            "false",
        ),
    )


def aliased(other="B"):
    """What is stored in one of two equal arrays is not in the other."""
    return horn(
        {"P": f"{A} {A} Int"},
        ("A B n", "(= A B)", "(P A B n)"),
        ("A B i", f"(and (P A B i) (= (select {other} i) 3))", "(P (store A i 4) B (+ i 1))"),
        ("A B i j", "(and (P A B i) (< j i) (not (= (select B j) (select A j))))", "(P A B i)"),
        ("A B i", "(and (P A B i) (> (select A 0) (+ (select B 0) 1)))", "false"),
    )


TWICE = horn(
    {"P": f"{A} Int"},
    ("A i", "true", "(P (store (store A i 1) i 2) i)"),
    ("A i", "(and (P A i) (not (= (select A i) 2)))", "false"),
)
CONSTANT = horn(
    {"P": f"{A} Int"},
    ("i", "true", f"(P ((as const {A}) 5) 0)"),
    ("A i", "(and (P A i) (< (select A i) 6))", "(P (store A i (+ (select A i) 1)) (+ i 1))"),
    ("A i k", "(and (P A i) (< (select A k) 5))", "false"),
)
PASSED = horn(
    {"P": f"{A} Int", "Q": f"{A} {A} Int"},
    ("A", "true", "(P A 0)"),
    ("A i", "(P A i)", "(P (store A i 0) (+ i 1))"),
    ("A i", "(P A i)", "(Q A A i)"),
    ("A B i j", "(and (Q A B i) (<= 0 j) (< j i))", "(Q A (store B j 0) i)"),
    ("A B i j", "(and (Q A B i) (<= 0 j) (< j i) (> (select B j) (select A j)))", "false"),
)
MARKED = horn(
    {"P": f"{A} {A} Int Int"},
    ("A B n", "true", "(P A B 0 n)"),
    ("A B i n v", "(and (P A B i n) (< i n) (not (= v 3)))", "(P (store A i v) B (+ i 1) n)"),
    ("A B i n", "(and (P A B i n) (< i n))", "(P (store A i 3) (store B i 5) (+ i 1) n)"),
    (
        "A B i n k",
        "(and (P A B i n) (<= 0 k) (< k i) (= (select A k) 3) (not (= (select B k) 5)))",
        "false",
    ),
)
SAFE = {
    "one or the other": MARKED,
    "filled": filled(),
    "pointers": pointed(),
    "aliases": aliased(),
    "twice": TWICE,
    "constant": CONSTANT,
    "passed on": PASSED,
}
UNSAFE = {
    "one or the other": MARKED.replace("(not (= v 3))", "(not (= v 4))"),
    "one too far": filled(last="(<= k n)"),
    "another value": filled(value="(+ 7 (ite (= i 2) 1 0))"),
    "started late": filled(start="1"),
    "pointers from before": pointed(shift="(- 1)"),
    "aliases": aliased("A").replace("(+ (select B 0) 1)", "(select B 0)"),
    "twice": TWICE.replace("i 1) i 2)", "i 2) i 1)"),
    "constant": CONSTANT.replace("(select A k) 5", "(select A k) 6"),
    "passed on": PASSED.replace("(< j i))", "(<= j i))").replace("B j 0", "B j 1"),
}


def modelled(text, model):
    found = re.sub(r"\(declare-fun \S+ \(.*\) Bool\)\n", "", text)
    assert "declare-fun" not in found
    return found.replace("(set-logic HORN)\n", f"(set-logic ALL)\n{model}")


def unconfirmed(text):
    """Which assertions solvers do not confirm, each alone and negated, and which they refute."""
    head, *assertions = text.replace("(check-sat)", "").split("(assert ")
    found = []
    for number, assertion in enumerate(assertions):
        query = f"{head}(assert (not {assertion}".rstrip() + ")"
        solver = z3.Solver()
        solver.set("timeout", 10_000)
        solver.from_string(query)
        found += [("z3", number)] if solver.check() != z3.unsat else []
        if "as const" in query:
            continue  # which cvc5 has no complete procedure for
        other = cvc5.Solver()
        other.setOption("full-saturate-quant", "true")
        other.setOption("tlimit-per", "10000")
        parser = cvc5.InputParser(other)
        parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, query, "model")
        while not (command := parser.nextCommand()).isNull():
            command.invoke(other, parser.getSymbolManager())
        found += [("cvc5", number)] if not other.checkSat().isUnsat() else []
    return found


@pytest.mark.parametrize("name", SAFE)
def test_proofs(name):
    """Z3 and cvc5 confirm every clause under the printed model, which has quantifiers."""
    text = SAFE[name]
    program = parse_program(text, language="horn")
    verdict = verify(program)
    assert verdict.outcome is Outcome.SAFE, verdict.reason
    model = output.model(program, verdict)
    assert unconfirmed(modelled(text, model)) == []
    certificate = output.certificate(program, verdict)
    assert "forall" not in certificate
    assert output.check_certificate(program, certificate) is None


def test_a_proof_is_of_its_own_clauses():
    program = parse_program(filled(), language="horn")
    certificate = output.certificate(program, verify(program))
    for other in (filled(last="(<= k n)"), filled(value="8"), filled(start="1")):
        said = output.check_certificate(parse_program(other, language="horn"), certificate)
        assert said is not None and said.endswith(": sat")


def literal(value):
    """A number, or an array, as SMT-LIB has it."""
    if isinstance(value, int):
        return str(value) if value >= 0 else f"(- {-value})"
    text = f"((as const {A}) {literal(value['else'])})"
    for index, cell in value.items():
        if index != "else":
            text = f"(store {text} {literal(int(index))} {literal(cell)})"
    return text


def parsed(text):
    """An expression as nested lists of words."""
    stack = [[]]
    for word in re.findall(r"[()]|[^()\s]+", text):
        if word == "(":
            stack.append([])
        elif word == ")":
            stack[-2].append(stack.pop())
        else:
            stack[-1].append(word)
    return stack[0][0]


def written(expression):
    if isinstance(expression, str):
        return expression
    return f"({' '.join(map(written, expression))})"


@pytest.mark.parametrize("name", UNSAFE)
def test_refutations(name):
    """Z3 confirms each fact on the text of the clause that it is from, given the one before."""
    text = UNSAFE[name]
    program = parse_program(text, language="horn")
    verdict = verify(program)
    assert verdict.outcome is Outcome.UNSAFE, verdict.reason
    confirm(text, program, verdict)
    assert all(f["from"] == [n - 1][:n] for n, f in enumerate(verdict.as_dict()["derivation"]))


def confirm(text, program, verdict):
    """Every fact by Z3, on the text of its clause."""
    lines = text.splitlines()
    facts = verdict.as_dict()["derivation"]
    assert facts[-1]["concludes"] == "failure"
    for number, fact in enumerate(facts):
        assert all(before < number for before in fact["from"])
        _, (_, binders, (_, body, head)) = parsed(lines[fact["line"] - 1])
        # In the premise a predicate is true of the states that the fact is from, alone.
        script = [f"(declare-const {written(binder)[1:-1]})" for binder in binders]
        for cut in program.given.cuts:
            sorts = sorts_of(cut)
            listed = " ".join(f"(x{i} {kind})" for i, kind in enumerate(sorts.values()))
            known = [facts[i]["values"] for i in fact["from"] if facts[i]["concludes"] == cut.name]
            premise = " ".join(same(cut, values) for values in known)
            script.append(f"(define-fun {cut.name} ({listed}) Bool (or false {premise}))")
            if fact["concludes"] == cut.name:
                after = same(cut, fact["values"])
                script.append(f"(define-fun {cut.name}! ({listed}) Bool {after})")
        if isinstance(head, str):
            head = "true" if head == "false" else f"{head}!"
        else:
            head = written([f"{head[0]}!", *head[1:]])
        solver = z3.Solver()
        solver.from_string("\n".join(script) + f"(assert {written(body)})(assert {head})")
        assert solver.check() == z3.sat


def sorts_of(cut):
    """By the names of a predicate's arguments, in their order."""
    ranges = dict(zip(cut.variables, cut.ranges, strict=True))
    kinds = {name: "Bool" if range_ == (0, 1) else "Int" for name, range_ in ranges.items()}
    kinds |= {bank.name: A for bank in cut.arrays}
    return {name: kinds[name] for name in cut.formals or cut.variables}


def same(cut, values):
    """That arguments are these; names are those of the variables at the predicate's place."""
    shown = dict(zip(cut.variables, cut.shown, strict=True))
    shown |= {bank.name: bank.variable for bank in cut.arrays}
    parts = []
    for i, (name, kind) in enumerate(sorts_of(cut).items()):
        value = values[shown[name]]
        told = ("false", "true")[value] if kind == "Bool" else literal(value)
        parts.append(f"(= x{i} {told})")
    return f"(and true {' '.join(parts)})"


NAMES = ["place0", "k", "cell?1", "choice?", "a?0", "a!", "b?", "q"]


@pytest.mark.parametrize(
    "names", [NAMES, *(pytest.param([name], marks=pytest.mark.thorough) for name in NAMES)], ids=str
)
def test_a_name_means_nothing(names):
    """Arrays that differ do so at some place, which is none of the premise's variables."""
    declared = " ".join(f"(|{name}| Int)" for name in names)
    given = " ".join(f"|{name}|" for name in names)
    zero = " ".join(f"(= |{name}| 0)" for name in names)
    text = f"""(set-logic HORN)
(declare-fun P ({A} {A} {"Int " * len(names)}) Bool)
(assert (forall ((a {A}) (b {A}) {declared})
  (=> (and {zero} (= b ((as const {A}) 0)) (= a (store b 5 1))) (P a b {given}))))
(assert (forall ((a {A}) (b {A}) {declared})
  (=> (and (P a b {given}) (not (= a b))) false)))
(check-sat)
"""
    assert verify(parse_program(text, language="horn")).outcome is Outcome.UNSAFE
    same = text.replace("(store b 5 1)", "b")
    assert verify(parse_program(same, language="horn"), timeout=2).outcome is not Outcome.UNSAFE


# Whether arrays are equal as part of a value: what holds, and a change after which it does not.
EQUAL_IN_A_VALUE = {
    "a number": (
        horn(
            {"P": f"{A} {A} Int"},
            ("A B i", "(= i 0)", "(P A B i)"),
            ("A B i", "(and (P A B i) (= i (ite (= A B) 1 2)))", "false"),
        ),
        ("(= i 0)", "(= i 1)"),
    ),
    "an argument": (
        horn(
            {"P": f"{A} {A} Bool"},
            ("A B", "true", "(P A B (= A B))"),
            ("A B", "(and (P A B true) (not (= A B)))", "false"),
        ),
        ("(not (= A B))", "(= A B)"),
    ),
    "an array that was changed": (
        horn(
            {"P": f"{A} Int"},
            ("A i", "(= i (ite (= (store A 0 1) A) 1 2))", "(P A i)"),
            ("A i", "(and (P A i) (= i 1) (not (= (select A 0) 1)))", "false"),
        ),
        ("(= i 1)", "(= i 2)"),
    ),
    "a condition": (
        horn(
            {"P": f"{A} {A} Int"},
            ("A B i", "(= (= A B) (= i 0))", "(P A B i)"),
            ("A B i", "(and (P A B i) (xor (= A B) (= i 0)))", "false"),
        ),
        ("(xor (= A B)", "(xor (= B A) (= A B)"),
    ),
}


# "a number" is proved, too.
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name, marks=pytest.mark.thorough if name in ("an argument", "a condition") else ()
        )
        for name in EQUAL_IN_A_VALUE
    ],
)
def test_arrays_compared_in_a_value(name):
    text, change = EQUAL_IN_A_VALUE[name]
    program = parse_program(text, language="horn")
    assert program.unsupported is None
    assert verify(program, timeout=2).outcome is not Outcome.UNSAFE
    if name == "a number":
        assert verify(program).outcome is Outcome.SAFE
    assert text.count(change[0]) == 1
    changed = parse_program(text.replace(*change), language="horn")
    assert verify(changed).outcome is Outcome.UNSAFE


def some_comparison(rng):
    """A condition on a number that depends on whether two arrays are equal."""
    ints = ["i", "0", "1", "2", "(select A i)", "(select B 1)"]

    def cells():
        name = rng.choice("AB")
        return rng.choice((name, f"(store {name} {rng.choice(ints)} {rng.choice(ints)})"))

    same = f"(= {cells()} {cells()})"
    value = f"(ite {same} {rng.choice(ints)} {rng.choice(ints)})"
    return rng.choice(
        (
            f"(= i {value})",
            f"(< {value} {rng.choice(ints)})",
            f"(= (select {cells()} {value}) {rng.choice(ints)})",
            f"(= {same} (= i {rng.choice(ints)}))",
            f"(or {same} (= i {value}))",
        )
    )


@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(n, marks=pytest.mark.thorough) for n in range(4, 10))]
)
def test_verdicts_where_arrays_are_compared_in_a_value(seed):
    """Z3 says whether the two clauses together are possible, which is one formula."""
    rng = random.Random(seed)
    first, then = ([some_comparison(rng) for _ in range(rng.randint(1, 3))] for _ in range(2))
    text = horn(
        {"P": f"{A} {A} Int"},
        ("A B i", f"(and true {' '.join(first)})", "(P A B i)"),
        ("A B i", f"(and (P A B i) {' '.join(then)})", "false"),
    )
    solver = z3.Solver()
    declared = f"(declare-const A {A})(declare-const B {A})(declare-const i Int)"
    solver.from_string(f"{declared}(assert (and {' '.join((*first, *then))}))")
    wrong = Outcome.SAFE if solver.check() == z3.sat else Outcome.UNSAFE
    program = parse_program(text, language="horn")
    assert program.unsupported is None
    assert verify(program, timeout=2).outcome is not wrong


@pytest.mark.parametrize(
    ("sort", "said"),
    [
        ("(Array Int (Array Int Int))", "of arrays only (Array Int Int)"),
        ("(Array Bool Int)", "of arrays only (Array Int Int)"),
        ("(Array Int Bool)", "of arrays only (Array Int Int)"),
        ("(Array Int Int Int)", "of arrays only (Array Int Int)"),
        ("(_ BitVec 8)", "the sort"),
    ],
)
def test_other_sorts_are_refused_with_the_place(sort, said):
    text = f"(set-logic HORN)\n(declare-fun P (Int {sort}) Bool)\n(assert (P 0 0))\n"
    program = parse_program(text, file="f.smt2", language="horn")
    assert said in str(program.unsupported) and "f.smt2:2:21" in str(program.unsupported)
    bound = f"(declare-fun P (Int) Bool)\n(assert (forall ((x {sort})) (P 0)))\n(check-sat)"
    program = parse_program(bound, file="f.smt2", language="horn")
    assert said in str(program.unsupported) and "f.smt2:2:" in str(program.unsupported)


def test_arrays_are_counted_from_pointers_that_never_change():
    given = parse_program(pointed(), language="horn").given
    assert given is not None
    moved = from_bases(given)
    bases = [{bank.name: bank.base for bank in cut.arrays} for cut in moved.cuts]
    assert bases == [{"A": "p", "B": "q"}] * 2
    assert "(store B i (select A i))" in repr(moved.clauses[1].arrays)
    wandering = pointed().replace("(P p A q (+ i 1)", "(P p A (+ q 1) i")
    given = parse_program(wandering, language="horn").given
    assert given is not None
    assert {bank.base for cut in from_bases(given).cuts for bank in cut.arrays} == {"p", None}


def some_constraint(rng, depth):
    """Conditions as they are in clauses that were compiled: flags, definitions, arrays."""
    ints = [var("x"), var("y"), var("u"), var("v"), const(rng.randint(-1, 2))]
    arrays = [array("a"), array("b"), array("c")]
    flags = [compare("=", var(name), const(1)) for name in ("f", "g", "h")]
    if depth == 0:
        kind = rng.randrange(7)
        if kind == 0:
            return rng.choice(flags)
        if kind == 6:
            same = compare("=", *rng.sample(arrays, 2))
            value = ite(same, *rng.sample(ints, 2))
            cell = store(rng.choice(arrays), value, rng.choice(ints))
            return rng.choice(
                [
                    compare("<", value, var("y")),
                    compare("=", cell, array("b")),
                    compare("=", value, var("x")),
                ]
            )
        if kind == 1:
            changed = store(rng.choice(arrays), rng.choice(ints), rng.choice(ints))
            return compare("=", rng.choice(arrays), rng.choice([*arrays, changed]))
        if kind == 2:
            return compare("=", rng.choice(ints), select(rng.choice(arrays), rng.choice(ints)))
        if kind == 3:
            sides = [ite(rng.choice(flags), *rng.sample(arrays, 2)), rng.choice(arrays)]
            return compare("=", *sides)
        total = add(rng.choice(ints), mul(const(rng.choice((-2, -1, 1))), rng.choice(ints)))
        return compare(rng.choice(("=", "<=", "<")), rng.choice(ints), total)
    made = [some_constraint(rng, depth - 1) for _ in range(rng.choice((2, 2, 3)))]
    kind = rng.randrange(6)
    if kind == 0:
        return disj(made)
    if kind == 1:
        return implies(rng.choice(flags), conj(made))
    if kind == 2:
        return compare("=", rng.choice(flags), made[0])
    if kind == 3:
        return negate(made[0])
    return conj(made)


@pytest.mark.parametrize("seed", range(60))
def test_cases_are_the_constraint(seed):
    """What is possible of kept variables and ends with the constraint is so in a case, and back."""
    rng = random.Random(seed)
    flags, kept = {"f", "g", "h"}, {"x", "a", "f"}
    constraint = conj(some_constraint(rng, rng.choice((1, 2))) for _ in range(3))
    number_of_both = ite(compare("=", array("a"), array("b")), var("y"), const(2))
    ends = (
        add(var("u"), number_of_both if seed % 2 else var("x")),
        store(array("c"), var("x"), var("v")),
    )
    found = list(cases(constraint, ends, kept, flags))
    assert not any(map(compares_arrays_in_a_value, found))
    context = z3.Context()
    translate = Translator(context)
    ranged = z3.And([z3.And(*((x := translate(var(n))) >= 0, x <= 1)) for n in sorted(flags)])
    number, cells = z3.Int("end", context), translate(array("ends"))
    whole = z3.And(translate(constraint), ranged, *ended(translate, ends, number, cells))
    each = [
        z3.And(*map(translate, case.constraint), *ended(translate, case.terms, number, cells))
        for case in found
    ]
    part = z3.And(z3.Or(*each), ranged) if each else z3.BoolVal(False, context)
    for one, other in ((whole, part), (part, whole)):
        solver = z3.Solver(ctx=context)
        solver.set("timeout", 2000)
        solver.add(one)
        for _ in range(4):
            if solver.check() != z3.sat:
                break
            model = solver.model()
            shared = [
                translate(var("x")),
                translate(var("f")),
                translate(array("a")),
                number,
                cells,
            ]
            here = [x == model.eval(x, model_completion=True) for x in shared]
            back = z3.Solver(ctx=context)
            back.set("timeout", 2000)
            back.add(other, *here)
            assert back.check() != z3.unsat
            solver.add(z3.Not(z3.And(*here)))


def compares_arrays_in_a_value(case):
    """Which no run of a program can do."""
    stated = [part.args[0] if part.op == "not" else part for part in case.constraint]
    return any(
        node.op == "=" and holds_cells(node.args[0]) and node not in stated
        for node in postorder(*case.constraint, *case.terms)
    )


def ended(translate, ends, number, cells):
    return number == translate(ends[0]), cells == translate(ends[1])


def test_contents_are_equal_where_arrays_are():
    term = store(store(array("a"), var("i"), const(1)), var("j"), const(0))
    start = Contents(0, ((3, 5),))
    assert evaluate(term, {"a": start, "i": 2, "j": 2}) == start
    assert evaluate(term, {"a": start, "i": 2, "j": 3}) == Contents(0, ((2, 1),))
    assert evaluate(select(term, var("i")), {"a": start, "i": 2, "j": 4}) == 1
