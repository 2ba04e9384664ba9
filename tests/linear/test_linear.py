"""Linear atoms: what they mean, and how they read."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from doeblin import InputError
from doeblin.linear import Atom, dnf_holds, dnf_people, dnf_size, dnf_smtlib, symbol

BOX = np.array(list(itertools.product(range(-4, 5), repeat=2)))
NAMES = ("x", "y")
small = st.integers(-3, 3)


@given(st.tuples(small, small), st.sampled_from(["<=", "==", "!="]), small, st.integers(0, 4))
def test_lowest_terms_do_not_change_an_atom(coefficients, relation, constant, modulus):
    modulus = 0 if relation == "<=" else modulus
    value = BOX @ np.array(coefficients)
    if modulus:
        value, bound = value % modulus, constant % modulus
    else:
        bound = constant
    expected = {"<=": value <= bound, "==": value == bound, "!=": value != bound}[relation]
    atom = Atom(coefficients, relation, constant, modulus).lowest_terms()
    everywhere = np.full(len(BOX), True)
    assert np.array_equal(atom.holds(BOX.T) & everywhere, expected)
    (negation,) = atom.negated()
    assert np.array_equal(negation.holds(BOX.T) & everywhere, ~expected)
    assert atom.lowest_terms() == atom and negation.lowest_terms() == negation


@pytest.mark.parametrize(
    "dnf",
    [
        (),
        ((),),
        ((Atom((1, -2), "<=", 1), Atom((0, 1), "!=", 0)), (Atom((-1, 0), "<=", -3),)),
        ((Atom((1, 1), "==", 1, 3), Atom((-2, 0), "<=", 5)),),
        ((Atom((1, -1), "<=", -1),), (Atom((-3, 2), "!=", -2),)),
    ],
)
def test_texts_say_what_holds(dnf):
    """Python and Z3 read them; at every point of a box they agree with the formula."""
    holds = [dnf_holds(dnf, point) for point in BOX.tolist()]
    code = compile(dnf_people(dnf, NAMES), "<formula>", "eval")
    assert [eval(code, {"x": x, "y": y}) for x, y in BOX.tolist()] == holds
    declared = {name: z3.Int(name) for name in NAMES}
    (term,) = z3.parse_smt2_string(f"(assert {dnf_smtlib(dnf, NAMES)})", decls=declared)
    for point, expected in zip(BOX.tolist(), holds, strict=True):
        values = [(declared[n], z3.IntVal(v)) for n, v in zip(NAMES, point, strict=True)]
        assert z3.is_true(z3.simplify(z3.substitute(term, *values))) == expected


@pytest.mark.parametrize("name", ["x", "mod", "two words", "a*b", "9lives", "Array"])
def test_symbols_are_read_back_as_the_same_name(name):
    text = symbol(name)
    (term,) = z3.parse_smt2_string(f"(declare-const {text} Int)(assert (< {text} 1))")
    assert term.arg(0).decl().name() == name


def test_a_name_that_no_symbol_can_have_is_refused():
    with pytest.raises(InputError, match="SMT-LIB"):
        symbol("a|b")


def test_shorter_formulas_are_simpler():
    short, long = ((Atom((1, 0), "<=", 2),),), ((Atom((1, 0), "<=", 2), Atom((0, 1), "<=", 2)),)
    assert dnf_size(short) < dnf_size(long)
    assert dnf_size(short) < dnf_size(((Atom((1, 1), "<=", 2),),))
    assert dnf_size(short) < dnf_size(((Atom((1, 0), "<=", 3),),))
