"""Settings on the command line of `up`, and how they reach the CDK app."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import JsonValue

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


def test_models_have_turntables_where_the_page_shows_them(monkeypatch: pytest.MonkeyPatch) -> None:
    own = {"webUrl": "http://127.0.0.1:1"}
    monkeypatch.delenv("CDK_CONTEXT_JSON", raising=False)

    def settings(given: Mapping[str, JsonValue], *, page: bool = True) -> Mapping[str, JsonValue]:
        return synthesis.with_defaults(given, url=own["webUrl"], page=page)

    assert settings({}, page=False) == own
    assert settings({}) == {**own, "turntables": True}
    assert settings({"turntables": False}) == {**own, "turntables": False}
    assert settings({"webUrl": "http://a"}) == {"webUrl": "http://a", "turntables": True}
    off: dict[str, JsonValue] = {"processing": False}
    assert settings(off) == {**own, **off}, "turntables would have no effect"
    for chosen in (off, {"turntables": False}, {"webUrl": "http://a", "turntables": False}):
        monkeypatch.setenv("CDK_CONTEXT_JSON", json.dumps(chosen))
        assert settings({}) == {**own, **chosen}, "as the environment has it"
