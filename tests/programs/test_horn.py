"""Horn clauses with several premises: verdicts against the least model by brute force, models
against the clauses by other solvers, refutations by hand."""

import itertools
import random
import re

import cvc5
import pytest
import z3

from doeblin.programs import Outcome, output, parse_program, verify
from doeblin.programs.solve import Budget, Path, Trees, replay_clauses

MCCARTHY = """(set-logic HORN)
(declare-fun mc (Int Int) Bool)
(assert (forall ((n Int)) (=> (> n 100) (mc n (- n 10)))))
(assert (forall ((n Int) (a Int) (b Int))
  (=> (and (<= n 100) (mc (+ n 11) a) (mc a b)) (mc n b))))
(assert (forall ((n Int) (r Int)) (=> (and (mc n r) (<= n 101) (not (= r {}))) false)))
(check-sat)
"""
PARITY = """(set-logic HORN)
(declare-fun even (Int Bool) Bool)
(declare-fun |an odd one| (Int Bool) Bool)
(declare-fun both (Int) Bool)
(assert (even 0 true))
(assert (forall ((n Int) (b Bool)) (=> (even n b) (|an odd one| (+ n 1) (not b)))))
(assert (forall ((n Int) (b Bool)) (let ((m (+ n 1))) (=> (|an odd one| n b) (even m (not b))))))
(assert (forall ((n Int) (b Bool)) (=> (and (even n b) (|an odd one| n b)) (both n))))
(assert (forall ((n Int)) (=> (both n) false)))
(assert (forall ((n Int) (b Bool)) (=> (and (even n b) (not b)) false)))
(check-sat)
"""
FIBONACCI = """(set-logic HORN)
(declare-fun fib (Int Int) Bool)
(assert (forall ((n Int)) (=> (and (>= n 0) (<= n 1)) (fib n n))))
(assert (forall ((n Int) (a Int) (b Int))
  (=> (and (> n 1) (fib (- n 1) a) (fib (- n 2) b)) (fib n (+ a b)))))
(assert (forall ((n Int) (r Int)) (=> (and (fib n r) {}) false)))
(check-sat)
"""


def modelled(text, model):
    """The file with definitions in place of the declarations; every assertion must be true."""
    return re.sub(r"\(declare-fun (?:\|[^|]*\||\S+) \([^)]*\) Bool\)\n", "", text).replace(
        "(set-logic HORN)\n", f"(set-logic ALL)\n{model}"
    )


def false_assertions(text):
    """Which assertions the solvers do not confirm; each is asked alone, negated."""
    head, *assertions = text.replace("(check-sat)", "").split("(assert ")
    wrong = []
    for number, assertion in enumerate(assertions):
        query = f"{head}(assert (not {assertion}"
        assert query.rstrip().endswith(")")
        query = query.rstrip() + ")"
        solver = z3.Solver()
        solver.from_string(query)
        if solver.check() != z3.unsat:
            wrong.append(("z3", number))
        other = cvc5.Solver()
        parser = cvc5.InputParser(other)
        parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, query, "model")
        while not (command := parser.nextCommand()).isNull():
            command.invoke(other, parser.getSymbolManager())
        if not other.checkSat().isUnsat():
            wrong.append(("cvc5", number))
    return wrong


@pytest.mark.parametrize("text", [MCCARTHY.format(91), PARITY, FIBONACCI.format("(< r (- n 1))")])
def test_models(text):
    """Z3 and cvc5 confirm every clause under the printed model, and refuse a broken one."""
    program = parse_program(text, language="horn")
    verdict = verify(program)
    assert verdict.outcome is Outcome.SAFE
    model = output.model(program, verdict)
    assert false_assertions(modelled(text, model)) == []
    broken = re.sub(r"Bool \(.*\)\)$", "Bool true)", model, flags=re.MULTILINE)
    assert broken != model and len(false_assertions(modelled(text, broken))) >= 2
    certificate = output.certificate(program, verdict)
    assert output.check_certificate(program, certificate) is None
    other = parse_program(text.replace("(= r 91)", "(= r 92)"), language="horn")
    if "mc" in text:
        assert output.check_certificate(other, certificate) is not None


@pytest.mark.parametrize(
    "text",
    [
        MCCARTHY.format(92),
        FIBONACCI.format("(= n 6) (= r 8)"),
        PARITY.replace("(even m (not b))", "(even m b)"),
    ],
)
def test_refutations(text):
    """Each fact follows from those before it, by a clause of the file, whoever asks."""
    program = parse_program(text, language="horn")
    verdict = verify(program)
    assert verdict.outcome is Outcome.UNSAFE and verdict.failure is not None
    facts = verdict.failure.facts
    assert facts[-1].name == "failure"
    for number, fact in enumerate(facts):
        assert all(before < number for before in fact.premises)
    listed = verdict.as_dict()["derivation"]
    assert [item["from"] for item in listed] == [list(fact.premises) for fact in facts]
    assert len(output.trace(program, verdict)) == len(facts)


def test_refutation_by_hand():
    """fib(6) = 8 from fib(5) = 5 and fib(4) = 3, and so on: and nothing else is taken."""
    system = parse_program(FIBONACCI.format("(= n 6) (= r 8)"), language="horn").system
    step = system.clauses[1]
    (n, a), (m, b) = (premise.names for premise in step.premises)
    free = [item.name for item in step.inputs]
    assert len(free) == 1
    numbers = {0: 0, 1: 1}
    steps, premises, position = [], [], {}
    for k in range(7):
        position[k] = len(steps)
        if k < 2:
            steps.append((0, {item.name: k for item in system.clauses[0].inputs}))
            premises.append(())
            continue
        numbers[k] = numbers[k - 1] + numbers[k - 2]
        values = {free[0]: k, n: k - 1, a: numbers[k - 1], m: k - 2, b: numbers[k - 2]}
        steps.append((1, values))
        premises.append((position[k - 1], position[k - 2]))
    last = dict(zip(system.clauses[2].premises[0].names, (6, 8), strict=True))
    steps.append((2, last))
    premises.append((position[6],))
    good = Path(tuple(steps), premises=tuple(premises))
    assert replay_clauses(system, good) is not None
    for number in range(2, 8):  # one premise exchanged, one value changed, one step left out
        for wrong in ((0,) * len(premises[number]), premises[number][:-1], (number,)):
            changed = (*premises[:number], wrong, *premises[number + 1 :])
            assert replay_clauses(system, Path(good.steps, premises=changed)) is None
        index, values = steps[number]
        for name in values:
            wrong = (index, {**values, name: values[name] + 1})
            altered = (*steps[:number], wrong, *steps[number + 1 :])
            assert replay_clauses(system, Path(altered, premises=good.premises)) is None
    assert replay_clauses(system, Path(good.steps[:-1], premises=good.premises[:-1])) is None
    assert replay_clauses(system, Path(good.steps)) is None


class Drawn:
    """A random system over the numbers 0 to `top`, as text and for enumeration.

    A clause is a list of premises (predicate, variables), comparisons, and a conclusion whose
    arguments are variables or sums cut off at the top.
    """

    def __init__(self, seed):
        rng = self.rng = random.Random(seed)
        self.top = rng.randint(2, 4)
        self.arity = [rng.randint(1, 2) for _ in range(rng.randint(1, 3))]
        self.clauses = []
        for _ in range(rng.randint(1, 2)):
            self.clauses.append(self.clause(0))
        for _ in range(rng.randint(2, 4)):
            self.clauses.append(self.clause(rng.choice((1, 2, 2, 3))))
        for _ in range(rng.randint(1, 2)):
            self.clauses.append((*self.clause(rng.choice((1, 2)))[:3], None))

    def clause(self, premises):
        rng = self.rng
        body = []
        for _ in range(premises):
            predicate = rng.randrange(len(self.arity))
            body.append((predicate, [rng.choice("uvwx") for _ in range(self.arity[predicate])]))
        used = sorted({name for _, names in body for name in names}) or ["u"]
        tests = [
            (rng.choice(("<", "<=", "=", "distinct")), rng.choice(used), self.operand(used))
            for _ in range(rng.randint(1, 2))
        ]
        predicate = rng.randrange(len(self.arity))
        args = [
            (rng.choice(used), rng.choice((0, 0, 1, -1, 2))) for _ in range(self.arity[predicate])
        ]
        return body, tests, used, (predicate, args)

    def operand(self, used):
        return self.rng.choice((*used, self.rng.randint(0, self.top)))

    def text(self):
        lines = ["(set-logic HORN)"]
        for number, arity in enumerate(self.arity):
            lines.append(f"(declare-fun p{number} ({' '.join(['Int'] * arity)}) Bool)")
        for body, tests, used, head in self.clauses:
            parts = [f"(p{number} {' '.join(names)})" for number, names in body]
            parts += [f"({op} {a} {b})" for op, a, b in tests]
            parts += [f"(<= 0 {name} {self.top})" for name in used]
            result = "false"
            if head is not None:
                shown = [self.cut_off(f"(+ {name} {step})") for name, step in head[1]]
                result = f"(p{head[0]} {' '.join(shown)})"
            binders = " ".join(f"({name} Int)" for name in used)
            lines.append(f"(assert (forall ({binders}) (=> (and {' '.join(parts)}) {result})))")
        return "\n".join([*lines, "(check-sat)"])

    def cut_off(self, sum_):
        return f"(ite (< {sum_} 0) 0 (ite (> {sum_} {self.top}) {self.top} {sum_}))"

    def refuted(self):
        """Does the least model, found by going through all numbers, violate a clause?"""
        compare = {
            "<": lambda a, b: a < b,
            "<=": lambda a, b: a <= b,
            "=": lambda a, b: a == b,
            "distinct": lambda a, b: a != b,
        }
        known = set()
        while True:
            new = set()
            for body, tests, used, head in self.clauses:
                for numbers in itertools.product(range(self.top + 1), repeat=len(used)):
                    at = dict(zip(used, numbers, strict=True))
                    if not all((p, tuple(at[n] for n in names)) in known for p, names in body):
                        continue
                    if not all(compare[op](at[a], at.get(b, b)) for op, a, b in tests):
                        continue
                    if head is None:
                        return True
                    args = (min(max(at[name] + step, 0), self.top) for name, step in head[1])
                    new.add((head[0], tuple(args)))
            if new <= known:
                return False
            known |= new


@pytest.mark.parametrize("count", [12, pytest.param(24, marks=pytest.mark.thorough)])
def test_random_systems(count: int):
    """Verdicts on random systems are those of their least models; most are found at once."""
    decided = {Outcome.SAFE: 0, Outcome.UNSAFE: 0}
    for seed in range(count):
        drawn = Drawn(seed)
        program = parse_program(drawn.text(), language="horn")
        verdict = verify(program, timeout=5)
        if verdict.outcome is Outcome.UNKNOWN:
            continue
        assert (verdict.outcome is Outcome.UNSAFE) == drawn.refuted(), drawn.text()
        decided[verdict.outcome] += 1
        if verdict.outcome is Outcome.SAFE and seed % 8 == 0:
            model = output.model(program, verdict)
            assert false_assertions(modelled(drawn.text(), model)) == []
    assert sum(decided.values()) >= count * 11 / 12 and min(decided.values()) >= count / 6


def test_trees_grow_where_nothing_fits_for_some_heights():
    """The short way to `p` is complete at once; the long one begins to fit five heights later."""
    names = ["a", "p", *(f"r{k}" for k in range(7))]
    lines = [f"(declare-fun {name} (Int) Bool)" for name in names]
    lines += ["(assert (a 5))", "(assert (r0 0))"]
    lines += [
        f"(assert (forall ((x Int)) (=> (r{k} x) (r{k + 1} (+ x 1)))))"
        for k in range(len(names) - 3)
    ]
    lines += [
        f"(assert (forall ((x Int) (y Int)) (=> (and ({name} x) (a y)) (p x))))"
        for name in ("a", names[-1])
    ]
    lines.append("(assert (forall ((x Int)) (=> (and (p x) (= x 6)) false)))")
    system = parse_program(
        "(set-logic HORN)" + "".join(lines) + "(check-sat)", language="horn"
    ).system
    with Budget(30) as budget:
        trees, path = Trees(system, budget), None
        while path is None and not trees.finished:
            path = trees.deepen(20_000_000)
    assert path is not None
