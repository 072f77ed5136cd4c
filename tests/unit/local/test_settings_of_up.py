"""Settings on the command line of `up`, and how they reach the CDK app."""

import json
from pathlib import Path

import pytest

from local import synthesis
from local.cli import parsed_settings
from local.errors import LocalError


def test_values_are_json_where_they_can_be() -> None:
    given = ["userPool=true", "auditDays=7", 'allowedIpRanges=["127.0.0.0/8"]', "webUrl=http://a=b"]
    assert parsed_settings(given, None) == {
        "userPool": True,
        "auditDays": 7,
        "allowedIpRanges": ["127.0.0.0/8"],
        "webUrl": "http://a=b",
    }


@pytest.mark.parametrize("given", ["userPool", "=true", ""])
def test_what_is_no_setting_is_refused(given: str) -> None:
    with pytest.raises(LocalError, match="NAME=VALUE"):
        parsed_settings([given], None)


def test_an_assembly_that_is_there_already_takes_none() -> None:
    assert parsed_settings([], Path("cdk.out")) == {}
    with pytest.raises(LocalError, match="--assembly"):
        parsed_settings(["userPool=true"], Path("cdk.out"))


def test_settings_of_up_come_before_those_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CDK_CONTEXT_JSON", '{"stage": "local", "auditDays": 1}')
    assert synthesis.context_variables({}) == {}
    found = synthesis.context_variables({"auditDays": 2})
    assert json.loads(found["CDK_CONTEXT_JSON"]) == {"stage": "local", "auditDays": 2}
