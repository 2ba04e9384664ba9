"""The loop over bytecode, which is compiled where runs are long (`_compiled.py`)."""

from __future__ import annotations

import numpy as np

LARGEST = 1 << 61  # beyond it a run is given up, so that no sum of two registers can wrap

(
    MOVE, ADD, MUL, DIV, MOD, TDIV, TREM, LE, LT, EQ, AND, OR, NOT, ITE,
    HAVOC, ASSUME, MARK, JUMP, IF, IF_LE, IF_LT, IF_EQ, STOP, FAIL, LEAVE,
) = range(25)  # fmt: skip

ONE = np.uint64(1)
CUT, ENDED, ASSUMED, FAILED, HUNGRY, LEFT = range(6)  # how a call ends


def execute(code, registers, low, high, menu, tape, state, limit):
    """Follow the code for at most `limit` blocks.

    `state` is the row, the inputs used, the inputs on the tape, the arrivals, the blocks, and how
    many of the tape's inputs are values; the others choose from the menu of the site that takes
    them. Values and their sites are written to the tape.
    """
    row = np.uint64(state[0])
    used, filled, arrivals, blocks = state[1], state[2], state[3], state[4]
    given = state[5]
    status = CUT
    while blocks < limit:
        op, a, b = code[row, 0], code[row, 1], code[row, 2]
        c, d = code[row, 3], code[row, 4]
        row += ONE
        if op == MOVE:
            registers[a] = registers[b]
        elif op == ADD:
            total = registers[b] + registers[c]
            if total > LARGEST or total < -LARGEST:
                status = LEFT
                break
            registers[a] = total
        elif op == IF_LT:
            row = c if registers[a] < registers[b] else d
            blocks += 1
        elif op == IF_LE:
            row = c if registers[a] <= registers[b] else d
            blocks += 1
        elif op == IF_EQ:
            row = c if registers[a] == registers[b] else d
            blocks += 1
        elif op == JUMP:
            row = a
            blocks += 1
        elif op == MARK:
            arrivals += 1
        elif op == IF:
            row = b if registers[a] else c
            blocks += 1
        elif op == LE:
            registers[a] = registers[b] <= registers[c]
        elif op == LT:
            registers[a] = registers[b] < registers[c]
        elif op == EQ:
            registers[a] = registers[b] == registers[c]
        elif op == AND:
            registers[a] = registers[b] & registers[c]
        elif op == OR:
            registers[a] = registers[b] | registers[c]
        elif op == NOT:
            registers[a] = 1 - registers[b]
        elif op == ITE:
            registers[a] = registers[c] if registers[b] else registers[d]
        elif op == MUL:
            x, y = registers[b], registers[c]
            if abs(float(x) * float(y)) > 2.0e18:
                status = LEFT
                break
            registers[a] = x * y
        elif op in (DIV, MOD, TDIV, TREM):
            x, y = registers[b], registers[c]
            if y == 0:
                status = LEFT
                break
            if 0 <= x < y:
                quotient, rest = 0, x  # most often so: wrap-around that does not happen
            else:
                quotient, rest = x // y, x % y  # towards minus infinity, as in Python
            if op in (MOD, DIV):
                if rest < 0:
                    rest -= y
                    quotient += 1
            elif rest != 0 and (x < 0) != (y < 0):
                quotient += 1
                rest -= y
            registers[a] = quotient if op in (DIV, TDIV) else rest
        elif op == HAVOC:
            if used == filled:
                row -= ONE
                status = HUNGRY
                break
            value = tape[used, 0] if used < given else menu[b, tape[used, 0]]
            value = min(max(value, low[b]), high[b])
            tape[used, 0], tape[used, 1] = value, b
            used += 1
            registers[a] = value
        elif op == ASSUME:
            if not registers[a]:
                status = ASSUMED
                break
        else:
            row -= ONE
            status = FAILED if op == FAIL else (LEFT if op == LEAVE else ENDED)
            break
    state[0], state[1], state[3], state[4] = np.int64(row), used, arrivals, blocks
    return status
