"""Everything that was chosen by measuring, in one record that is passed down.

Work is counted in units of which a `SECOND` takes about that long.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..linear import TEMPLATES

SECOND = 1_000_000


@dataclass(frozen=True)
class ExampleTunables:
    """The states that are gathered before anything is learned, and those to look at only."""

    runs: int = 40
    quick_runs: int = 15  # at least, and all where bounds are wanted at once
    run_work: float = 0.12 * SECOND  # after which no more than these
    kept: int = 30  # states of a run
    blocks: int = 3000  # of a run
    models: int = 6  # of a condition
    walk: int = 14  # steps forwards from a start, for systems without code
    explore: int = 150  # steps from states drawn at several cut points
    explore_work: float = 0.3 * SECOND
    back: int = 3  # steps backwards from a failure
    failures: int = 4  # from which to go backwards
    patience: float = 3 * SECOND  # with a question
    patience_with_products: float = 0.6 * SECOND  # these are hard: better to ask something else
    long_runs: int = 3  # of programs with calls, which are never compiled
    long_blocks: int = 60_000  # of each
    seen: int = 800  # states at a cut point to hold candidates against
    seen_of_a_run: int = 12
    large: int = 300  # a constant that short runs do not reach
    far: int = 5_000_000  # blocks of a run that goes far


@dataclass(frozen=True)
class LemmaTunables:
    """How many candidates the sources propose, and how long their proof may take."""

    without: frozenset[str] = frozenset()  # names of sources that are switched off
    most: int = 700
    facets: int = 200
    guards: int = 20
    phases: int = 8
    columns: int = 20  # that enter a congruence
    rows: int = 60  # of a table of all states
    values: int = 16  # that a mode has at most
    modes: int = 1200
    of_a_mode: int = 60
    wide_guarded: int = 160  # directions under each guard
    patience: float = 1.0 * SECOND  # with a question; most take a hundredth of that
    late: float = 1.5 * SECOND  # after so much work on one stage there is less patience
    late_patience: float = 0.2 * SECOND
    few: int = 60  # of so many candidates no half is given up any more
    assumed: int = 100  # proved lemmas that later questions may build on
    cells: bool = True  # proofs about arrays


@dataclass(frozen=True)
class SearchTunables:
    """The randomised search over growing templates (disjuncts, atoms in each)."""

    templates: tuple[tuple[int, int], ...] = TEMPLATES
    slice: float = 0.02 * SECOND  # for a chain of the first template
    growth: float = 0.3  # of the slice with each template
    parity: float = 2.5 * SECOND  # before parity is tried though the program does not speak of it
    creep: int = 30  # refutations at one template, after which the next one is forced
    step_back: float = 0.15  # probability of a smaller template
    from_data: float = 0.5  # of constants taken from examples; without them no atom chases them
    warm: float = 0.7  # of a start at the last candidate
    from_assertion: float = 0.1  # of a start at the assertion
    early: float = 0.5 * SECOND  # between two halves of the lemmas


@dataclass(frozen=True)
class ShareTunables:
    """How strategies divide the work."""

    first_look: float = 0.3 * SECOND  # for failures within a few steps
    resolved: float = 2.0 * SECOND  # for the ways to a failure, where there are no loops
    first_depth: int = 8
    first_depth_of_products: int = 2  # where the program multiplies variables
    midst: float = 1.0 * SECOND  # before others get a turn in the midst of a proof of lemmas
    linear: float = 1.2 * SECOND  # for linear invariants, where the program multiplies variables
    summing: float = 1 * SECOND  # for each, where it only adds one variable to another
    polynomials: float = 4 * SECOND  # for polynomial equations, before lemmas about products
    bounded: float = 1 / 6  # of the work so far, for failures after more steps
    accelerated: float = 0.2 * SECOND  # at least, once loops can be taken many times at once
    least: float = 0.02 * SECOND  # for a question to be worth asking
    runs: float = 0.06  # of the work so far, for long runs
    only_run: float = 0.5  # where there are no inputs, and one run decides
    one_run: float = 0.1 * SECOND
    # When Spacer is asked, and for how much work; four times as late and as much from then on.
    spacer: tuple[tuple[float, float], ...] = ((1 * SECOND, 1 * SECOND), (5 * SECOND, 2.5 * SECOND))
    # In the portfolio it gets as much as all others.
    spacer_as_partner: tuple[tuple[float, float], ...] = (
        (0.1 * SECOND, 0.2 * SECOND),
        (0.6 * SECOND, 0.6 * SECOND),
    )
    math: float = 3 * SECOND  # for a proof on mathematical integers
    confirm: float = 1 * SECOND  # to confirm it on C's
    overflow: float = 1 * SECOND  # to exclude signed overflow


@dataclass(frozen=True)
class Tunables:
    """All of them; the defaults are what was measured to be best."""

    examples: ExampleTunables = field(default_factory=ExampleTunables)
    lemmas: LemmaTunables = field(default_factory=LemmaTunables)
    search: SearchTunables = field(default_factory=SearchTunables)
    shares: ShareTunables = field(default_factory=ShareTunables)
