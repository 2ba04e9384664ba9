"""The experts' faults still fit the code that they are put into."""

from __future__ import annotations

import pytest

from .faults import FAULTS
from .trial import ROOT


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_fault_can_be_made(fault):
    text = (ROOT / fault.file).read_text()
    changed = fault.apply(text)
    assert changed != text
    compile(changed, fault.file, "exec")
