"""The sections of the report, in order. Each computes its result with the library itself."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .._numbers import at_least
from ..schedules import Schedule, certify
from ._page import Section


def certificates(seed: int) -> Section:
    """What some schedules guarantee."""
    schedules = {
        "restart with ε = 0.1": Schedule.doeblin(0.1),
        "restart with ε = 0.01": Schedule.doeblin(0.01),
        "stages with exits 1, 0.3, 0.1": Schedule.cycle([1, 0.3, 0.1]),
        "the paper's stages, exits 1, 0.04, 0.0002": Schedule.cycle([1, 0.04, 0.0002]),
    }
    rows = [
        ["schedule", "gap ≥", "within TV 0.01 after", "an exact draw costs", "the paper's bound"]
    ]
    for name, schedule in schedules.items():
        proved = certify(schedule)
        closed = proved.corollary_gap
        rows.append(
            [
                name,
                at_least(proved.gap, 3),
                f"{proved.mixing_time(0.01):,.0f} steps",
                f"{proved.expected_draw_cost:,.1f} steps",
                "" if closed is None else f"gap ≥ {at_least(closed, 2)}",
            ]
        )
    return Section(
        title="Certificates",
        text="How fast a chain mixes follows from its schedule of restarts and stages alone: these "
        "figures hold for every state space, every density and every kernel.",
        rows=rows,
        command="doeblin certify --exits 1,0.04,0.0002",
    )


def three_states(seed: int) -> Section:
    """The paper's first figure."""
    from ..reproduce.example import plot_example, three_state_example

    example = three_state_example([0.1, 0.01, 0.001], np.geomspace(1e-5, 1, 61).tolist())
    with tempfile.TemporaryDirectory() as folder:
        svg = plot_example(example, Path(folder) / "example")[1].read_text()
    return Section(
        title="The three-state example",
        text="Two sticky states share the probability, and the chain needs about 1/δ steps to go "
        "from one to the other. With restarts it mixes within 1/ε steps. Frequent restarts (ε ≫ δ) "
        "shift the law to "
        f"{example.absorption[0]:.3f} and {example.absorption[1]:.3f} (the paper's 4/9 and 5/9); "
        "rare ones (ε ≪ δ) leave it as it was.",
        svg=svg,
        command="doeblin reproduce example",
    )


def exact_draws(seed: int) -> Section:
    """A model with two modes: Gibbs alone gets stuck, restarted Gibbs does not."""
    import jax
    import jax.numpy as jnp

    from ..chains import doeblin
    from ..kernels import IndependentSites, Potts

    def mostly_up(state: Any) -> Any:
        return (jnp.sign(state.mean(axis=(-2, -1)) - 0.5) + 1) / 2

    model = Potts((6, 6), num_values=2, coupling=1.3)
    restart = IndependentSites.uniform((6, 6), num_values=2)
    chain = doeblin(model.gibbs(), restart, epsilon=1 / 500)
    draw_key, tour_key, stuck_key = jax.random.split(jax.random.key(seed), 3)
    draws = chain.draw(draw_key, 2048)
    estimate = chain.estimate(tour_key, mostly_up, num_tours=2048)
    low, high = estimate.interval()
    nearly_never = doeblin(model.gibbs(), restart, epsilon=1e-7)
    stuck = nearly_never.run(stuck_key, 20_000).state[10_000:]
    rows = [
        ["", "share of states mostly up", "work"],
        ["truth, by symmetry", "0.500", ""],
        [
            "one long Gibbs run, no restarts",
            f"{float(mostly_up(stuck).mean()):.3f}",
            "20,000 steps",
        ],
        [
            "exact draws, ε = 1/500",
            f"{float(mostly_up(draws.state).mean()):.3f}",
            f"2,048 draws, {int(draws.age.sum()):,} steps",
        ],
        [
            "regenerative estimate",
            f"{estimate.mean:.3f}, 95 % interval [{low:.3f}, {high:.3f}]",
            f"{estimate.num_tours:,} tours, {estimate.num_steps:,} steps",
        ],
    ]
    return Section(
        title="Exact draws and honest error bars",
        text="A 6 × 6 Ising model below its critical temperature: all up or all down, each half "
        "of the time. Single-site Gibbs stays where it fell first; a restarted chain visits both, "
        "its draws are exact draws from its stationary law, and its error bars come from "
        f"independent tours. {float(draws.useful):.0%} of all lane-steps did useful work.",
        rows=rows,
        command="make bench  # the lanes, and peers beside us",
    )


def formulas(seed: int) -> Section:
    """The paper's three chains and the default, inferring formulas from examples."""
    from ..reproduce.formulas import compare_formulas, plot_formulas

    comparison = compare_formulas(
        families=["paper", "invariant"],
        runs=20,
        max_steps=2_000_000,
        betas=(3.0, 100.0),
        curve_runs=60,
        seed=seed,
    )
    with tempfile.TemporaryDirectory() as folder:
        svg = plot_formulas(comparison, Path(folder) / "formulas")[1].read_text()
    rows = [["family", "chain", "β", "solved", "mean time", "mean steps"]]
    for row in comparison.rows:
        least = "" if row.solved == 1 else "≥ "
        rows.append(
            [
                row.family,
                row.method,
                f"{row.beta:g}",
                f"{row.solved:.0%}",
                f"{least}{1e3 * row.mean_seconds:.3g} ms",
                f"{least}{row.mean_steps:,.0f}",
            ]
        )
    return Section(
        title="Formulas from examples",
        text="A disjunction of conjunctions of linear inequalities, found from examples of what is "
        "inside and what is outside: the paper's chains without restarts (0-stage), with uniform "
        "restarts (1-stage) and with a simplified cost first (2-stage), each at two inverse "
        "temperatures β, and the default, whole-atom Gibbs with focus. Some runs are given up at "
        "this small scale (≥).",
        svg=svg,
        rows=rows,
        command="doeblin reproduce formulas",
    )


def programs(seed: int) -> Section:
    """The bundled C programs, proved or refuted by each of the chains."""
    from ..programs import Outcome, parse_program, verify
    from ..programs.examples import example, names
    from ..programs.output import acsl

    methods = ("default", "two-stage", "one-stage", "zero-stage")
    for method in methods:  # Loads what is compiled, so that the first program does not pay for it.
        verify(parse_program(example("growth")), method=method, seed=seed, timeout=5.0)
    rows = [["program", "verdict", "invariants (line: formula)", *(f"{m}, s" for m in methods)]]
    annotated = ""
    for name in names():
        program = parse_program(example(name), file=f"{name}.c")
        verdicts = [
            verify(program, method=m, seed=seed, timeout=20.0 if m == "default" else 5.0)
            for m in methods
        ]
        first = verdicts[0]
        found = "; ".join(f"{i.place.line}: {i.text}" for i in first.invariants)
        times = [
            "undecided" if v.outcome is Outcome.UNKNOWN else f"{v.seconds:.2f}" for v in verdicts
        ]
        rows.append([first.file, first.outcome.value, found or first.reason, *times])
        if name == "valve" and first.outcome is Outcome.SAFE:
            annotated = acsl(program, first)
    return Section(
        title="Proofs of C programs",
        text="The programs that come with doeblin: the paper's, written anew, and some of ours. "
        "Loop invariants are found by staged chains with Z3 as the teacher. SAFE is said only "
        "after a fresh solver has re-checked the proof, UNSAFE only after the failing run was "
        "replayed. One run each; integers are mathematical. The table compares the paper's three "
        "chains, given 5 seconds, with the default, given 20; below it, one of the programs with "
        "its invariant, as it is handed to Frama-C.",
        rows=rows,
        code=annotated,
        command="doeblin reproduce programs",
    )


def gestures(seed: int) -> Section:
    """The shipped decoder on fresh made-up swipes."""
    from ..gestures import Decoder, Generator, Layout, Lexicon, Model

    lexicon = Lexicon.embedded(10_000)
    rng = np.random.default_rng(seed)
    shown = ["hello", "banana", "chains", "keyboard", "science"]
    words = [*shown, *rng.choice(lexicon.words, size=300)]
    generator = Generator(Layout.qwerty())
    swipes = [generator.gesture(word, rng) for word in words]
    guesses = Decoder(Model.shipped(), lexicon).decode(swipes)
    rows = [["word swiped", "decoded as, with probability"]]
    for word, found in zip(shown, guesses, strict=False):
        rows.append([word, ", ".join(f"{guess.word} {guess.probability:.2f}" for guess in found)])
    first = np.mean([g[0].word == word for word, g in zip(words, guesses, strict=True)])
    four = np.mean([word in [x.word for x in g] for word, g in zip(words, guesses, strict=True)])
    rows.append([f"all {len(words)}", f"first guess right {first:.0%}, among four {four:.0%}"])
    return Section(
        title="Words from swipes",
        text="The decoder that comes with doeblin, a strong Doeblin chain over 10,000 words whose "
        "restart is a conditional random field over the trace. It knows the swipes of real "
        "people; these here are made up, of words drawn evenly from the lexicon, rare ones as "
        "often as common ones.",
        rows=rows,
        command="doeblin gestures evaluate shipped YOUR-SWIPES.jsonl",
    )


def learned(seed: int) -> Section:
    """The paper's gesture experiment at small scale."""
    from ..gestures.paper import METHODS, make_task, run_method

    words, passes, budget, step = 600, 2, 20, 0.1
    task = make_task(num_train=words, num_dev=1, num_test=300, seed=seed, noise=0.7)
    rows = [["trained as", "transitions", "words right", "characters right"]]
    for name in ("doeblin", "u-gibbs", "basic-gibbs", "block kernel"):
        curve = run_method(task, METHODS[name], budget, passes=passes, step=step)
        word, character = curve.values[-1].mean(axis=0)[:2]
        rows.append([name, f"{curve.transitions:,}", f"{word:.1%}", f"{character:.1%}"])
    return Section(
        title="Learning through a chain",
        text=f"The paper's experiment in small: {words} made-up gestures, {passes} passes, "
        f"{budget} transitions on average for each chain. The restart is a conditional random "
        "field, the kernel is Gibbs in a model with dictionary features. The paper's claim is that "
        "training by the likelihood of the restarted chain's own law (doeblin) beats Gibbs trained "
        "as if it had mixed, from the restart (u-gibbs) or from the keys (basic-gibbs), at the "
        "same number of transitions. Accuracy is that of single draws on words not seen before.",
        rows=rows,
        command="doeblin reproduce gestures",
    )


SECTIONS: dict[str, Callable[[int], Section]] = {
    "certificates": certificates,
    "the three-state example": three_states,
    "exact draws": exact_draws,
    "formulas from examples": formulas,
    "proofs of C programs": programs,
    "learning through a chain": learned,
    "words from swipes": gestures,
}
