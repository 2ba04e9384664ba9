"""The OpenAPI description is true: generated requests, answers held against it."""

from __future__ import annotations

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import CHECKS

# What JSON Schema cannot say (rows that sum to one, time that does not run backwards, C) is refused
# although it fits the schema.
_SEMANTIC = CHECKS.get_one("positive_data_acceptance")


@pytest.fixture(scope="session")
def description(server):
    return schemathesis.openapi.from_url(f"{server.address}/openapi.json")


schema = schemathesis.pytest.from_fixture("description")


@schema.parametrize()
@settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_answers_are_as_described(case):
    case.call_and_validate(excluded_checks=[_SEMANTIC])
