"""The OpenAPI description is true: generated requests, answers held against it."""

from __future__ import annotations

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.checks import positive_data_acceptance

_OPERATIONS = {
    "/api/decode": {"post"},
    "/api/adapt": {"post"},
    "/api/tours": {"post"},
    "/api/keyboard": {"get"},
    "/api/verify": {"post"},
    "/api/verify/{id}": {"get", "delete"},
    "/api/verify/{id}/events": {"get"},
    "/api/examples": {"get"},
    "/api/chain": {"post"},
    "/api/certify": {"post"},
    "/api/health": {"get"},
    "/api/ready": {"get"},
    "/api/limits": {"get"},
}


@pytest.fixture(scope="module")
def schema(server):
    # 413, too large, is a refusal as well.
    refusals = [400, 404, 405, 413, 415, 422, 429]
    checks = {"negative_data_rejection": {"expected-statuses": refusals}}
    config = SchemathesisConfig.from_dict({"checks": checks})
    return schemathesis.openapi.from_url(f"{server.address}/openapi.json", config=config)


def test_every_operation_is_described(schema):
    assert {path: set(schema[path]) for path in schema} == _OPERATIONS


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
@pytest.mark.parametrize("path", _OPERATIONS)
def test_answers_are_as_described(schema, path, mode):
    for method in sorted(_OPERATIONS[path]):
        operation = schema[path][method]
        if mode is GenerationMode.NEGATIVE and not (operation.body or operation.path_parameters):
            continue  # takes nothing that could be wrong

        @given(case=operation.as_strategy(generation_mode=mode))
        @settings(
            max_examples=10,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        def check(case):
            # What JSON Schema cannot say (rows that sum to one, time that does not run backwards,
            # C) is refused although it fits the schema.
            case.call_and_validate(excluded_checks=[positive_data_acceptance])

        check()
