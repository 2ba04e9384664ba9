"""False variants of a suite's Horn clauses: what is no longer true must not be proved.

`python -m tests.programs.fuzz.clause_variants SUITE --every 4` changes a number by one, lets a
bound in or out, and leaves out equations with numbers, in queries first. A proof is right if Z3
confirms every clause under the printed model, a refutation if it confirms every fact on the text of
its clause; Spacer says which variants are false. The exit status is 1 if a verdict is wrong.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import z3

from .campaign import Tally
from .premises import by_spacer, judged

_OTHER = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_SITE = re.compile(r"(?<=[ (])(\d+)(?=[ )])|(?<=\()([<>]=?)(?= )|(\(= [^() ]+ \d+\))")
_LINES = {
    "pp.min_alias_size": 10**6,
    "pp.max_depth": 10**6,
    "pp.max_width": 10**9,
    "pp.single_line": True,
}


def plain(text: str) -> list[str]:
    """Lines of the same clauses, each `(assert (forall … (=> premise conclusion)))`."""
    z3.set_param(**_LINES)
    if "declare-rel" in text:
        rules = z3.Fixedpoint()
        queries = rules.parse_string(text)
        clauses = [*rules.get_rules(), *(z3.Implies(query, z3.BoolVal(False)) for query in queries)]
    else:
        clauses = list(z3.parse_smt2_string(text))
    written = [_clause(clause) for clause in clauses]
    predicates: dict[str, str] = {}
    for clause in clauses:
        predicates |= _predicates(clause)
    return ["(set-logic HORN)", *predicates.values(), *written, "(check-sat)"]


def _clause(clause: z3.ExprRef) -> str:
    names = [("unused", "Int")]
    body = clause
    if isinstance(clause, z3.QuantifierRef):
        names = [(clause.var_name(i), clause.var_sort(i).sexpr()) for i in range(clause.num_vars())]
        consts = [z3.Const(name, clause.var_sort(i)) for i, (name, _) in enumerate(names)]
        body = z3.substitute_vars(clause.body(), *reversed(consts))
    premise, conclusion = z3.BoolVal(True), body
    while z3.is_implies(conclusion):
        premise, conclusion = z3.And(premise, conclusion.arg(0)), conclusion.arg(1)
    if z3.is_not(conclusion):
        premise, conclusion = z3.And(premise, conclusion.arg(0)), z3.BoolVal(False)
    bound = " ".join(f"({z3.Int(name).sexpr()} {sort})" for name, sort in names)
    return f"(assert (forall ({bound}) (=> {premise.sexpr()} {conclusion.sexpr()})))"


def _predicates(part: z3.ExprRef) -> dict[str, str]:
    if isinstance(part, z3.QuantifierRef):
        return _predicates(part.body())
    found: dict[str, str] = {}
    for child in part.children():
        found |= _predicates(child)
    if z3.is_app(part) and part.decl().kind() == z3.Z3_OP_UNINTERPRETED and z3.is_bool(part):
        known = part.decl()
        sorts = " ".join(known.domain(i).sexpr() for i in range(known.arity()))
        found[known.name()] = f"(declare-fun {z3.Int(known.name()).sexpr()} ({sorts}) Bool)"
    return found


def variants(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Changed texts, each under the name of the change: of queries, then from clause to clause."""
    found: list[list[tuple[str, str]]] = []
    clauses = [(at, line) for at, line in enumerate(lines) if line.startswith("(assert")]
    for at, line in sorted(clauses, key=lambda clause: not clause[1].endswith("false)))")):
        own = []
        for site in _SITE.finditer(line):
            number, relation, equation = site.groups()
            news = ["true"] if equation else [_OTHER[relation]] if relation else []
            news += [str(int(number) + 1), str(abs(int(number) - 1))] if number else []
            for new in news:
                changed = line[: site.start()] + new + line[site.end() :]
                name = f"line {at + 1}:{site.start() + 1} {site[0]} -> {new}"
                own.append((name, "\n".join([*lines[:at], changed, *lines[at + 1 :], ""])))
        found.append(own)
    for turn in range(max(map(len, found), default=0)):
        yield from (own[turn] for own in found if turn < len(own))


def campaign(files: list[Path], *, timeout: float, most: int) -> Tally:
    """Verdicts on variants by what Spacer says of them."""
    tally = Tally()
    for file in files:
        for change, text in list(variants(plain(file.read_text())))[:most]:
            name = f"{file.name}, {change}"
            outcome = judged(text, name, tally, timeout=timeout)
            answer = by_spacer(text, name, outcome, tally, milliseconds=2000)
            false = answer == "unsat" or outcome == "UNSAFE"
            truth = "false" if false else {"sat": "true"}.get(answer, "open")
            tally.outcomes[f"{truth}: {outcome}"] += 1
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suite", type=Path)
    parser.add_argument("--every", type=int, default=1, help="take only every so many files")
    parser.add_argument("--most", type=int, default=6, help="variants of a file")
    parser.add_argument("--timeout", type=float, default=10.0)
    options = parser.parse_args()
    files = sorted(options.suite.glob("*.smt2"))[:: options.every]
    tally = campaign(files, timeout=options.timeout, most=options.most)
    for line in tally.wrong:
        print(line)
    print(dict(sorted(tally.outcomes.items())), dict(tally.reasons))
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
