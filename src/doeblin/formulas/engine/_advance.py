"""The compiled staged chain: follows the schedule and runs each stage's kernel."""

from __future__ import annotations

from ..._numba import kept, smaller
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
def advance(limits, task, stages, state, room, errors, neighbours, penalties):
    """Runs the staged chain until it is solved or has taken `limits[0]` steps in all.

    It also ends at the first restart once `limits[1]` steps have been taken. What a method does not
    use is None, and then its kernels are not compiled: `errors` without Gibbs moves, `neighbours`
    without Metropolis steps, `penalties` without the simplified cost.
    """
    limit, soft_limit = limits
    codes, atoms, disjuncts = state.codes, state.atoms, state.disjuncts
    random, control = state.random, state.control
    kinds, exits = stages.kinds, stages.exits
    m = len(codes) // len(disjuncts)
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
                while stage < len(exits) - 1 and stages.jumps[control[STAGE], stage] <= share:
                    stage += 1
                control[STAGE] = stage
            random[0] += GAMMA
            control[LEFT] = sojourn(mix(random[0]), exits[stage])
            for q in range(len(codes)):
                control[CONTROL_SIZE + q] = 0
        count = smaller(control[LEFT], limit - control[STEPS])
        simplified = kinds[stage, 1] == SIMPLIFIED
        taken = 0
        if kinds[stage, 0] == RESTART:
            for _ in range(count):
                for q in range(len(codes)):
                    random[0] += GAMMA
                    codes[q] = drawn(mix(random[0]), task.cumulative)
            control[TOURS] += count
            taken = count
            for q in range(len(codes)):
                load(task.rows, task.columns, codes[q], q, atoms)
            for i in range(len(disjuncts)):
                conjoin(atoms, i, m, disjuncts)
        elif kinds[stage, 0] == METROPOLIS:
            if neighbours is not None:
                for i in range(len(disjuncts)):
                    set_others(atoms, i, NOBODY, m, room.others, task.width)
                if not simplified:
                    set_rest(disjuncts, NOBODY, room.rest, task.width)
                    taken = metropolis_full(task, stages, stage, state, room, neighbours, count)
                elif penalties is not None:
                    taken = metropolis_simplified(
                        task, stages, stage, state, room, neighbours, penalties, count
                    )
        elif errors is not None:
            taken = gibbs(task, stages, stage, state, room, errors, penalties, count)
        control[STEPS] += taken
        control[LEFT] -= taken
        if control[LEFT] == 0 and (simplified or kinds[stage, 0] == RESTART):
            control[COST] = full_cost(disjuncts, task.labels, task.shifts, task.pairs)
            if control[COST] < control[BEST]:
                note(state, control[COST], control[STEPS])
