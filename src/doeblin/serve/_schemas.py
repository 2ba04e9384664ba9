"""What the API takes and gives; the OpenAPI description is made from these."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ._limits import (
    HAND_WORDS,
    LONGEST_VERIFY,
    POINTS,
    PROGRAM_CHARACTERS,
    STAGES,
    STATES,
    TOUR_STEPS,
    WORD_LETTERS,
)

_BIG = 2**31 - 1
Number = Annotated[float, Field(allow_inf_nan=False, ge=-1e9, le=1e9)]
Probability = Annotated[float, Field(allow_inf_nan=False, ge=0, le=1)]
Rate = Annotated[float, Field(allow_inf_nan=False, gt=0, le=1)]
Row = Annotated[list[Probability], Field(min_length=1, max_length=STATES)]


class _Given(BaseModel):
    """Taken literally: no conversions, no unknown fields."""

    model_config = ConfigDict(strict=True, extra="forbid")


# ---- problems


class Problem(BaseModel):
    """What went wrong, where, and what to do about it."""

    message: str
    line: int | None = Field(None, description="Line of the program, if it is about one.")
    column: int | None = None


class ErrorAnswer(BaseModel):
    error: Problem


# ---- gestures


class Point(_Given):
    x: Number = Field(description="In key widths from the left edge of the keyboard.")
    y: Number = Field(description="In key heights from its top edge.")
    t: Number = Field(description="In milliseconds; never runs backwards.")


class Key(_Given):
    letter: str = Field(min_length=1, max_length=1)
    x: Number
    y: Number


class KeyboardLayout(_Given):
    name: str = Field("layout", max_length=100)
    width: Annotated[float, Field(gt=0, le=100)]
    height: Annotated[float, Field(gt=0, le=100)]
    aspect: Annotated[float, Field(gt=0, le=10)] = Field(1.65, description="Key height / width.")
    keys: list[Key] = Field(min_length=1, max_length=64)


_Word = Annotated[str, Field(min_length=1, max_length=WORD_LETTERS)]


class HandGiven(_Given):
    """What confirmed words told of a person. The server keeps nothing of it."""

    format: Literal["doeblin-hand-1"] = "doeblin-hand-1"
    weight: Number = Field(ge=0, description="How many words counted.")
    sums: dict[_Word, Number] = Field(max_length=64, description="What was observed of them.")
    counts: dict[_Word, Annotated[int, Field(ge=1, le=1_000_000)]] = Field(
        max_length=HAND_WORDS, description="How often each word was confirmed."
    )


class _Trace(_Given):
    points: list[Point] = Field(min_length=1, max_length=POINTS)
    layout: KeyboardLayout | None = Field(None, description="The keyboard; without it, QWERTY.")
    hand: HandGiven | None = Field(None, description="Whose hand it is, from `/api/adapt`.")


class DecodeRequest(_Trace):
    k: int = Field(4, ge=1, le=20, description="How many candidates.")


class Candidate(BaseModel):
    word: str
    probability: Probability = Field(description="Posterior probability π̃(word | trace).")


class DecodeAnswer(BaseModel):
    candidates: list[Candidate]


class AdaptRequest(_Trace):
    word: _Word = Field(description="What the person says that the swipe meant.")


class AdaptAnswer(BaseModel):
    hand: HandGiven
    learned: bool = Field(description="Whether the word taught anything: if the lexicon has it.")


class ToursRequest(_Trace):
    steps: int = Field(120, ge=1, le=TOUR_STEPS)
    seed: int = Field(0, ge=0, le=_BIG)


class Step(BaseModel):
    word: str
    restart: bool


class ToursAnswer(BaseModel):
    epsilon: float = Field(description="The chance of a restart at each step.")
    words: list[Candidate] = Field(description="The words visited, with their true probabilities.")
    steps: list[Step]


# ---- programs


class VerifyRequest(_Given):
    program: str = Field(min_length=1, max_length=PROGRAM_CHARACTERS)
    file: str = Field("program.c", max_length=100, pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$")
    language: Literal["c", "sygus", "horn"] = "c"
    method: Literal["default", "two-stage", "one-stage", "zero-stage", "spacer", "portfolio"] = (
        "default"
    )
    ints: Literal["c", "math", "overflow"] = "c"
    timeout: float = Field(10.0, gt=0, le=LONGEST_VERIFY, description="Seconds.")
    seed: int = Field(0, ge=0, le=_BIG)
    hints: list[Annotated[str, Field(max_length=500)]] = Field(default=[], max_length=20)


class LoopInvariant(BaseModel):
    line: int | None
    column: int | None
    name: str
    formula: str


class Input(BaseModel):
    what: str
    value: int


class File(BaseModel):
    kind: Literal["acsl", "witness", "certificate", "test"]
    name: str
    text: str


class Verdict(BaseModel):
    verdict: Literal["SAFE", "UNSAFE", "UNKNOWN"]
    reason: str
    file: str
    seconds: float
    rounds: int
    invariants: list[LoopInvariant]
    inputs: list[Input] = Field(default=[], description="UNSAFE: what the program was given.")
    trace: list[str] = Field(description="UNSAFE: the failing run, line by line.")
    files: list[File] = Field(description="ACSL, witness, certificate; for UNSAFE a test.")
    method: str
    found_by: str
    seed: int
    ints: str
    ints_meaning: str
    assumptions: list[str] = Field(default=[], description="What SAFE takes for granted.")
    remark: str = Field("", description="Something else that was found out.")
    search_seconds: float
    search_steps: int
    queries: int


class VerifyJob(BaseModel):
    id: str
    state: Literal["queued", "running", "done", "refused", "failed", "late", "cancelled"]
    result: Verdict | None = None
    error: Problem | None = None


class Example(BaseModel):
    name: str
    program: str


class Examples(BaseModel):
    examples: list[Example]


# ---- chains


class ChainRequest(_Given):
    matrix: list[Row] = Field(
        min_length=1, max_length=STATES, description="Row i holds the probabilities from state i."
    )
    restart: Row = Field(description="The law u of restarts.")
    epsilon: Rate = Field(description="The chance of a restart at each step.")


class Mixing(BaseModel):
    tv: float
    steps: float | None = Field(description="Null if nothing is certified.")


class CertificateAnswer(BaseModel):
    gap: float
    doeblin_parameter: float
    steps: int
    mixing_time: list[Mixing]
    expected_draw_cost: float | None
    theorem: str
    corollary_gap: float | None
    stages: list[list[float]]
    restart_stage: int
    stage_law: list[float]


class CurvePoint(BaseModel):
    epsilon: float
    kl_restarted_to_law: float | None
    kl_law_to_restarted: float | None = Field(description="Null where it is infinite.")


class ChainAnswer(BaseModel):
    stationary: list[float] | None = Field(description="Of A; null if it has more than one.")
    stationary_restarted: list[float] = Field(description="Of Ã = (1-ε)A + ε·u.")
    gap: float
    gap_restarted: float
    doeblin_coefficient: float = Field(description="Γ(A).")
    doeblin_coefficient_restarted: float
    kl_restarted_to_law: float | None = None
    kl_law_to_restarted: float | None = None
    total_variation: float | None = None
    reversible: bool | None = None
    mahalanobis_bound: float | None = None
    curve: list[CurvePoint]
    certificate: CertificateAnswer
    note: str | None = None


class CertifyRequest(_Given):
    """Exactly one of `exits`, `epsilon` and `matrix`."""

    exits: list[Rate] | None = Field(
        None, min_length=2, max_length=STAGES, description="A cycle's exit rates, restart first."
    )
    epsilon: Rate | None = None
    matrix: list[Row] | None = Field(None, min_length=1, max_length=STAGES)
    restart_stage: int = Field(0, ge=0, lt=STAGES)
    tv: list[Annotated[float, Field(gt=0, lt=1)]] = Field(
        default=[0.25, 0.1, 0.01], min_length=1, max_length=10
    )


# ---- the server


class PoolHealth(BaseModel):
    ready: bool = Field(description="Would a job that comes now be worked on?")
    doing: str | None = Field(None, description="What is done before it is ready.")
    workers: int = Field(description="Worker processes that are ready.")
    wanted: int
    waiting: int
    unavailable: str | None = Field(None, description="Why this is not to be had here.")


class Health(BaseModel):
    version: str
    pools: dict[str, PoolHealth]


class Readiness(BaseModel):
    ready: bool
    waiting_for: list[str] = Field(description="What is not ready yet: chains, decode, verify.")


class LimitsAnswer(BaseModel):
    verify_seconds: float = Field(description="The most that a proof gets.")
    program_characters: int
    points: int
    states: int
    stages: int


def problem_of(error: dict[str, Any] | None) -> Problem:
    return Problem(**(error or {"message": "failed"}))
