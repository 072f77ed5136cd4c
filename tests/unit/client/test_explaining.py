"""Decisions explained by the client."""

import httpx
import pytest
from pydantic import JsonValue
from vitrine import Vitrine

from tests.unit.client.fake_server import FakeServer
from tests.unit.client.shell import Shell
from tests.unit.client.test_administration import Answers

EXPLAINED: dict[str, JsonValue] = {
    "userId": "ann",
    "roles": ["viewer"],
    "tier2": {"decision": "deny", "by": [{"constraintId": "hide", "givenTo": "user#ann"}]},
    "tier1": {"decision": "deny", "by": []},
}


@pytest.fixture
def answers(server: FakeServer) -> Answers:
    return Answers(server)


def parameters_of(answers: Answers) -> dict[str, str]:
    method, _, path = answers.requests[-1].partition(" ")
    assert method == "GET"
    return dict(httpx.URL(path).params)


def test_a_decision_is_requested_by_fields(client: Vitrine, answers: Answers) -> None:
    answers.plan(EXPLAINED)
    found = client.explanations.explain("ann", "GET", "asset", databaseId="db1", tags="a,b")
    assert found.tier2 is not None
    assert found.tier2.by[0].constraint_id == "hide"
    assert parameters_of(answers) == {
        "userId": "ann",
        "action": "GET",
        "objectType": "asset",
        "databaseId": "db1",
        "tags": "a,b",
    }


def test_the_command_prints_the_holder_of_the_deciding_constraint(
    shell: Shell, answers: Answers
) -> None:
    answers.plan(EXPLAINED, EXPLAINED)
    question = ["access", "explain", "ann", "GET", "asset", "-f", "databaseId=db1"]
    shown = shell.run(*question, "--route", "/database", "--mfa")
    assert shell.code == 0
    assert "no constraint allows it" in shown
    assert "user#ann" in shown
    sent = parameters_of(answers)
    assert (sent["route"], sent["mfa"]) == ("/database", "true")
    assert shell.json(*question) == EXPLAINED


def test_the_command_shows_where_no_rule_is_evaluated(shell: Shell, answers: Answers) -> None:
    answers.plan({"userId": "ann", "roles": [], "tier1": {"decision": "allow", "by": []}})
    shown = shell.run("access", "explain", "ann", "GET", "--route", "/api/version")
    assert "constraints do not apply" in shown
    assert "no constraint allows it" not in shown


def test_a_field_without_a_value_is_wrong_usage(shell: Shell) -> None:
    shell.run("access", "explain", "ann", "GET", "asset", "-f", "databaseId")
    assert shell.code == 2
    assert "NAME=VALUE" in shell.err


def test_a_request_is_named_by_its_path_and_an_asset_by_its_id(
    shell: Shell, answers: Answers
) -> None:
    answers.plan(EXPLAINED, EXPLAINED)
    shell.run("access", "explain", "ann", "GET", "--route", "/database/db1/assets/lamp")
    assert parameters_of(answers) == {
        "userId": "ann",
        "method": "GET",
        "route": "/database/db1/assets/lamp",
    }
    shell.run("access", "explain", "ann", "PUT", "asset", "--asset", "db1/lamp")
    assert parameters_of(answers) == {
        "userId": "ann",
        "action": "PUT",
        "objectType": "asset",
        "databaseId": "db1",
        "assetId": "lamp",
    }


@pytest.mark.parametrize("more", [(), ("asset", "--asset", "lamp")])
def test_a_question_about_nothing_is_wrong_usage(shell: Shell, more: tuple[str, ...]) -> None:
    shell.run("access", "explain", "ann", "GET", *more)
    assert shell.code == 2
