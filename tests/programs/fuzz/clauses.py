"""Verdicts on random Horn clauses and SyGuS problems, judged by enumeration and Z3."""

from __future__ import annotations

import random
import re

import z3

from doeblin._errors import InputError
from doeblin.programs import parse_program, verify

from .campaign import Tally
from .spelling import Speller
from .systems import Maker

LANGUAGES = ("horn", "sygus")


def problem(seed: int) -> tuple[str, str, bool]:
    """(language, text, whether a query can be reached)."""
    language = LANGUAGES[seed % 3 == 2]
    system = Maker(seed).system(1 if language == "sygus" else None)
    speller = Speller(seed)
    text = speller.sygus(system) if language == "sygus" else speller.horn(system)
    return language, text, system.unsafe()


def spacer(text: str, milliseconds: int = 2000) -> str:
    """Z3's own word on the text: sat, unsat, unknown, or malformed."""
    solver = z3.SolverFor("HORN")
    solver.set(timeout=milliseconds)
    try:
        solver.from_string(text)
    except z3.Z3Exception:
        return "malformed"
    return str(solver.check())


def mutated(text: str, rng: random.Random) -> str:
    """A token or two deleted, doubled, exchanged or replaced."""
    tokens = re.findall(r"\|[^|]*\||[()]|[^\s()|]+", text)
    for _ in range(rng.randint(1, 2)):
        i, j = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        kind = rng.randrange(6)
        if kind == 0:
            del tokens[i]
        elif kind == 1:
            tokens.insert(i, tokens[j])
        elif kind == 2:
            tokens[i], tokens[j] = tokens[j], tokens[i]
        elif kind >= 4:  # likely to be read, and to mean something else
            places = [k for k, token in enumerate(tokens) if re.fullmatch(r"\d|[<>]=?", token)]
            i, j = rng.choice(places), rng.choice(places)
            if tokens[i].isdigit() == tokens[j].isdigit():
                tokens[i] = tokens[j]
        else:
            tokens[i] = rng.choice(
                ["(", ")", "true", "x", "5", "|", '"', "#b1", "1.5", "forall", "-"]
            )
    return " ".join(tokens)


def said(language: str, text: str, seed: int, timeout: float) -> tuple[str, str]:
    try:
        program = parse_program(text, file=f"fuzz{seed}", language=language)
        verdict = verify(program, timeout=timeout, seed=seed)
    except InputError as error:
        return "refused", str(error)
    except Exception as error:  # a crash is a finding like any other
        return "crash", repr(error)
    return verdict.outcome.value, verdict.reason


def judge_clauses(seeds: range, *, timeout: float, cross_check: bool = False) -> Tally:
    """`cross_check`: Z3 confirms the enumeration's truth, so that the spelling is tested, too."""
    tally = Tally()
    for seed in seeds:
        language, text, unsafe = problem(seed)
        outcome, reason = said(language, text, seed, timeout)
        tally.outcomes[f"{language} {outcome}"] += 1
        opposite = "SAFE" if unsafe else "UNSAFE"
        if outcome in ("crash", "refused", opposite):
            tally.wrong.append(f"seed {seed} ({language}): {outcome} {reason}")
        if outcome == "UNKNOWN":
            tally.reasons[reason[:60]] += 1
        if cross_check and language == "horn":
            answer = spacer(text)
            tally.outcomes[f"Z3 {answer}"] += 1
            if answer == ("sat" if unsafe else "unsat") or answer == "malformed":
                tally.wrong.append(f"seed {seed}: the referees disagree, Z3 says {answer}")
        judge_mutant(language, text, seed, timeout, tally)
    return tally


def judge_mutant(language: str, text: str, seed: int, timeout: float, tally: Tally) -> None:
    """A malformed file is refused in words; one that Z3 reads is never judged against Z3."""
    mutant = mutated(text, random.Random(seed))
    outcome, reason = said(language, mutant, seed, timeout / 2)
    tally.outcomes[f"mutant {outcome}"] += 1
    if outcome == "crash":
        tally.wrong.append(f"mutant {seed} ({language}): {reason}")
    if language == "horn" and outcome in ("SAFE", "UNSAFE"):
        answer = spacer(mutant)
        if answer == {"SAFE": "unsat", "UNSAFE": "sat"}[outcome] or answer == "malformed":
            tally.wrong.append(f"mutant {seed} ({language}): {outcome}, but Z3 says {answer}")
