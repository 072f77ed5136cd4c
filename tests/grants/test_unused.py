"""The use of grants in tests, by the record that `make test` and `make prove` append to."""

import os
from pathlib import Path

import pytest

from backend.spec.functions import FUNCTIONS
from local.iam.policy import Grant
from local.iam.report import Usage, read_record
from tests.grants.rare import RARE, unexplained

_TABLE = "arn:aws:dynamodb:us-east-1:000000000000:table/vitrine-local-storage-"


@pytest.fixture(scope="module")
def roles() -> dict[str, Usage]:
    return read_record(Path(os.environ["VITRINE_RECORD_GRANTS"]))


def test_the_record_is_of_all_functions(roles: dict[str, Usage]) -> None:
    recorded = {role.rpartition("-")[2] for role, usage in roles.items() if usage.used}
    # The runtime of the journeys publishes no events, which is its default.
    deployed = {f"{function.name}Role" for function in FUNCTIONS if not function.with_events}
    assert deployed - recorded == set()


def test_every_grant_is_used_or_has_a_reason(roles: dict[str, Usage]) -> None:
    assert unexplained(roles) == []


def test_a_grant_that_nothing_uses_and_no_reason_explains_is_found() -> None:
    used, unused = Grant("dynamodb:GetItem", f"{_TABLE}Jobs"), Grant("dynamodb:Scan", f"{_TABLE}X")
    usage = Usage({used, unused}, {used: {"dynamodb:GetItem"}})
    assert unexplained({"vitrine-local-api-JobsApiRole": usage}) == [
        f"JobsApi dynamodb:Scan {_TABLE}X"
    ]


def test_reasons_are_given_for_functions_that_there_are() -> None:
    names = {function.name for function in FUNCTIONS}
    result = {name for rare in RARE for name in rare.functions.split() if "*" not in name}
    assert result <= names
