"""Constraints and templates seen from the client."""

import json
from pathlib import Path

import pytest
from pydantic import JsonValue
from vitrine import Vitrine

from tests.unit.client.fake_server import FakeServer
from tests.unit.client.shell import Shell
from tests.unit.client.test_administration import DONE, Answers

SEE: dict[str, JsonValue] = {
    "constraintId": "see",
    "name": "Viewers see",
    "description": "Assets",
    "objectType": "asset",
    "criteriaAnd": [{"field": "tags", "operator": "is_one_of", "value": ["a", "b"]}],
    "criteriaOr": [],
    "groupPermissions": [{"groupId": "viewer", "permission": "GET", "permissionType": "allow"}],
    "userPermissions": [{"userId": "ann", "permission": "PUT", "permissionType": "deny"}],
}
WRITTEN: dict[str, JsonValue] = {**DONE, "constraintId": "see", "warnings": ["denied twice"]}
TEMPLATE: JsonValue = {
    "template": {"name": "database-user", "description": "Works", "version": "1"},
    "variables": [{"name": "DATABASE_ID"}, {"name": "ROLE_NAME"}],
    "constraints": [{"name": "{{ROLE_NAME}}", "objectType": "asset"}],
}
IMPORTED: JsonValue = {**DONE, "constraintsCreated": 1, "constraintIds": ["made"]}


@pytest.fixture
def answers(server: FakeServer) -> Answers:
    return Answers(server)


def test_constraints_are_listed_read_written_and_deleted(client: Vitrine, answers: Answers) -> None:
    bodies = answers.plan(
        {"Items": [SEE], "NextToken": "t"}, {"Items": []}, SEE, WRITTEN, {**DONE, **SEE}
    )
    (found,) = client.constraints.list()
    assert found.criteria_and[0].value == ["a", "b"]
    assert client.constraints.get("see") == found
    assert client.constraints.put("see", SEE).warnings == ["denied twice"]
    client.constraints.delete("a b")
    assert answers.requests[2:] == [
        "GET /auth/constraints/see",
        "PUT /auth/constraints/see",
        "DELETE /auth/constraints/a%20b",
    ]
    assert bodies()[3] == SEE


def test_a_template_is_sent_back_as_it_came_with_its_values(
    client: Vitrine, answers: Answers
) -> None:
    bodies = answers.plan({"Items": [TEMPLATE]}, IMPORTED)
    (found,) = client.templates.standard()
    assert client.templates.apply(found, {"ROLE_NAME": "lab"}).constraint_ids == ["made"]
    assert isinstance(TEMPLATE, dict)
    assert bodies()[1] == {**TEMPLATE, "variableValues": {"ROLE_NAME": "lab"}}


@pytest.mark.parametrize(
    ("arguments", "answer", "shown"),
    [
        (["constraints", "list"], {"Items": [SEE]}, "viewer, ann"),
        (["constraints", "show", "see"], SEE, '["a", "b"]'),
        (["constraints", "delete", "see", "--yes"], WRITTEN, "see"),
        (["template", "list"], {"Items": [TEMPLATE]}, "DATABASE_ID, ROLE_NAME"),
    ],
)
def test_each_command_prints_lines_or_json(
    shell: Shell, answers: Answers, arguments: list[str], answer: JsonValue, shown: str
) -> None:
    answers.plan(answer, answer)
    assert shown in shell.run("access", *arguments)
    assert shell.code == 0
    assert isinstance(shell.json("access", *arguments), dict)


def test_the_output_of_show_can_be_stored_again(
    shell: Shell, answers: Answers, tmp_path: Path
) -> None:
    bodies = answers.plan(SEE, WRITTEN)
    file = tmp_path / "see.json"
    file.write_text(json.dumps(shell.json("access", "constraints", "show", "see")))
    assert "denied twice" in shell.run("access", "constraints", "put", "see", str(file))
    assert bodies()[1] == SEE


def test_a_template_is_applied_by_name_or_from_a_file(
    shell: Shell, answers: Answers, tmp_path: Path
) -> None:
    listed: JsonValue = {"Items": [TEMPLATE]}
    bodies = answers.plan(listed, IMPORTED, listed, IMPORTED)
    options = ["--role", "lab", "--database", "museum", "--tag", "old", "--set", "A=b=c"]
    assert "made" in shell.run("access", "template", "apply", "database-user", *options)
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(TEMPLATE))
    shell.run("access", "template", "apply", str(file), "--role", "lab")
    assert shell.code == 0
    values = [body["variableValues"] for body in bodies() if isinstance(body, dict)]
    everything = {"ROLE_NAME": "lab", "DATABASE_ID": "museum", "TAG_VALUE": "old", "A": "b=c"}
    assert values == [everything, {"ROLE_NAME": "lab"}]


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (["constraints", "delete", "see"], "--yes"),
        (["constraints", "put", "see", "nowhere.json"], "cannot be read"),
        (["template", "apply", "ghost", "--role", "lab"], "the templates are database-user"),
        (["template", "apply", "database-user", "--role", "lab", "--set", "x"], "NAME=VALUE"),
    ],
)
def test_wrong_usage_is_reported(
    shell: Shell, answers: Answers, arguments: list[str], output: str
) -> None:
    answers.plan({"Items": [TEMPLATE]})
    shell.run("access", *arguments)
    assert shell.code == 2
    assert output in shell.err


def test_the_check_lists_constraints_whose_meaning_changed_and_fails(
    shell: Shell, answers: Answers
) -> None:
    both: JsonValue = {**SEE, "constraintId": "both", "changedMeaning": ["it allows less"]}
    answers.plan({"Items": [SEE, both]})
    shown = shell.run("access", "constraints", "check")
    assert shell.code == 1
    assert "both" in shown
    assert "it allows less" in shown
    assert "see" not in shown
    answers.plan({"Items": [SEE]})
    shell.run("access", "constraints", "check")
    assert shell.code == 0
