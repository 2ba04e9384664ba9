"""The compiled staged chain: follows the schedule and runs each stage's kernel."""

from __future__ import annotations

from .._numba import kept
from ._bits import GAMMA
from ._control import (
    BEST,
    CONTROL_SIZE,
    COST,
    LEFT,
    METROPOLIS,
    RESTART,
    SIMPLIFIED,
    STAGE,
    STEPS,
    TOURS,
)
from ._gibbs import gibbs
from ._metropolis import metropolis_full, metropolis_simplified
from ._state import NOBODY, conjoin, drawn, full_cost, load, note, set_others, set_rest, sojourn
from ._words import mix, unit


@kept(about=8, error_model="numpy", _nrt=False)
def advance(
    limit, soft_limit,
    rows, columns, neighbours, prior, cumulative, labels, shifts, width, errors, m, pairs,
    kinds, chances, penalties, accept, accept_size, heat, heat_size, exits, jumps,
    codes, atoms, others, disjuncts, rest, words, numbers, random, control, best_codes, trace,
):  # fmt: skip
    """Runs the staged chain until it is solved or has taken `limit` steps in all.

    It also ends at the first restart once `soft_limit` steps have been taken. What a method does
    not use is None, and then its kernels are not compiled: `errors` without Gibbs moves, `rows` and
    `neighbours` without Metropolis steps, `penalties` without the simplified cost.
    """
    while control[BEST] > 0 and control[STEPS] < limit:
        stage = control[STAGE]
        if control[LEFT] == 0:
            if kinds[stage, 0] == RESTART and control[STEPS] >= soft_limit:
                break
            # The schedule: leave for another stage (at the very start it is the restart's
            # turn), and draw how long to stay there.
            if control[TOURS] > 0:
                random[0] += GAMMA
                share = unit(mix(random[0]))
                stage = 0
                while stage < len(exits) - 1 and jumps[control[STAGE], stage] <= share:
                    stage += 1
                control[STAGE] = stage
            random[0] += GAMMA
            control[LEFT] = sojourn(mix(random[0]), exits[stage])
            for q in range(len(codes)):
                control[CONTROL_SIZE + q] = 0
        count = min(control[LEFT], limit - control[STEPS])
        simplified = kinds[stage, 1] == SIMPLIFIED
        taken = 0
        if kinds[stage, 0] == RESTART:
            for _ in range(count):
                for q in range(len(codes)):
                    random[0] += GAMMA
                    codes[q] = drawn(mix(random[0]), cumulative)
            control[TOURS] += count
            taken = count
            for q in range(len(codes)):
                load(rows, columns, codes[q], q, atoms)
            for i in range(len(disjuncts)):
                conjoin(atoms, i, m, disjuncts)
        elif kinds[stage, 0] == METROPOLIS:
            if neighbours is not None:
                for i in range(len(disjuncts)):
                    set_others(atoms, i, NOBODY, m, others, width)
                if not simplified:
                    set_rest(disjuncts, NOBODY, rest, width)
                    taken = metropolis_full(
                        rows, neighbours, labels, shifts, width, m, pairs, chances[stage, 0],
                        accept[stage, : accept_size[stage]],
                        codes, atoms, others, disjuncts, rest, numbers, random, control,
                        best_codes, trace, count,
                    )  # fmt: skip
                elif penalties is not None:
                    taken = metropolis_simplified(
                        rows, neighbours, labels, shifts, width, m, chances[stage, 0],
                        accept[stage, : accept_size[stage]], penalties, stage,
                        codes, atoms, others, disjuncts, numbers, random, count,
                    )  # fmt: skip
        elif errors is not None:
            taken = gibbs(
                rows, columns, errors, prior, labels, shifts, m, pairs, simplified,
                kinds[stage, 2] > 0, chances[stage, 1], heat[stage, : heat_size[stage]],
                penalties, stage, codes, atoms, others, disjuncts, rest, words, numbers,
                random, control, best_codes, trace, count,
            )  # fmt: skip
        control[STEPS] += taken
        control[LEFT] -= taken
        if control[LEFT] == 0 and (simplified or kinds[stage, 0] == RESTART):
            control[COST] = full_cost(disjuncts, labels, shifts, pairs)
            if control[COST] < control[BEST]:
                note(control, codes, best_codes, trace, control[COST], control[STEPS])
