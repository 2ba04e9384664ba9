"""Formulas from examples: a DNF of linear inequalities found by staged chains."""
