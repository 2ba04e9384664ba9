"""Do the tests see faults? Small changes to the code (mutants), and ten faults that experts make.

`python -m tests.mutants` changes one thing in a copy of the source, runs the tests of the package
that was changed, and notes whether they fail. A mutant that lives is a test that is missing, or a
change that changes nothing. `make mutants` runs it; it takes hours and is no part of `make test`.
"""
