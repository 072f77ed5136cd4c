"""Roles gathered from a template's resources, and what they are asked."""

import json
from pathlib import Path

import pytest
from pydantic import JsonValue
from typer.testing import CliRunner

from local.cli import app
from local.iam.actions import Need
from local.iam.policy import Grant, PolicyError
from local.iam.report import read_record
from local.iam.roles import Enforcement, Role, Roles, Statement, statements_of

ARN = "arn:aws:iam::000000000000:role/stack-Role"
GROUP = "arn:aws:logs:us-east-1:000000000000:log-group:g:*"
NEED = Need("logs:PutLogEvents", "arn:aws:logs:us-east-1:000000000000:log-group:g:log-stream:a")
STATEMENT: Statement = {
    "Effect": "Allow",
    "Action": ["logs:PutLogEvents", "logs:Get*"],
    "Resource": GROUP,
}


def _roles(folder: Path, *, enforced: bool = True, record: Path | None = None) -> Roles:
    roles = Roles(folder / "iam", Enforcement(enforced, record))
    roles.by_arn[ARN] = Role("stack-Role", [STATEMENT])
    return roles


def test_lambda_receives_what_a_role_lacks(tmp_path: Path) -> None:
    roles = _roles(tmp_path)
    assert roles.lacks(ARN, [NEED]) is None
    assert roles.lacks(ARN, [NEED, Need("sqs:ReceiveMessage", "arn:aws:sqs:::q")]) == (
        "sqs:ReceiveMessage",
        "arn:aws:sqs:::q",
    )
    assert roles.lacks("arn:aws:iam::1:role/elsewhere", [NEED]) == NEED[:2]


def test_nothing_is_checked_where_nothing_is_enforced(tmp_path: Path) -> None:
    roles = _roles(tmp_path, enforced=False)
    assert roles.lacks("arn:aws:iam::1:role/elsewhere", [NEED]) is None
    assert roles.document("function", ARN) is None


def test_a_function_of_an_unknown_role_may_do_nothing(tmp_path: Path) -> None:
    path = _roles(tmp_path).document("function", "arn:aws:iam::1:role/elsewhere")
    assert path is not None
    document = json.loads(path.read_text())
    assert document["statements"] == []
    assert document["principal"].endswith(":assumed-role/elsewhere/function")


def test_only_keys_of_the_customer_are_remembered(tmp_path: Path) -> None:
    roles = _roles(tmp_path)
    for number, key in enumerate(["alias/aws/sqs", None, "by-id", "arn:aws:kms:::key/1"]):
        roles.record_encryption_key(f"arn:{number}", key)
    assert roles.keys == {
        "arn:2": "arn:aws:kms:us-east-1:000000000000:key/by-id",
        "arn:3": "arn:aws:kms:::key/1",
    }


@pytest.mark.parametrize(
    "document",
    [
        [],
        {"Version": "2008-10-17", "Statement": []},
        {"Version": "2012-10-17", "Statement": ["text"]},
        {"Version": "2012-10-17", "Statement": [{"Effect": "Allow"}]},
    ],
)
def test_a_document_that_is_no_policy_is_refused(document: JsonValue) -> None:
    with pytest.raises(PolicyError):
        statements_of(document)


def test_the_report_shows_what_nothing_used(tmp_path: Path) -> None:
    record = tmp_path / "build" / "grants"  # a folder that is not there yet
    roles = _roles(tmp_path, record=record)
    roles.lacks(ARN, [NEED])
    roles.record_granted_permissions()
    usage = read_record(record)["stack-Role"]
    assert usage.unused() == [Grant("logs:Get*", GROUP)]
    assert usage.used == {Grant("logs:PutLogEvents", GROUP): {"logs:PutLogEvents"}}
    found = CliRunner().invoke(app, ["grants", str(record)])
    assert found.exit_code == 1
    assert "1 of 2 grants of 1 roles were never used" in found.output


def test_a_record_that_is_none_is_refused_in_one_line(tmp_path: Path) -> None:
    record = tmp_path / "grants"
    record.write_text("[]\n")
    for path in (record, tmp_path / "absent"):
        found = CliRunner().invoke(app, ["grants", str(path)])
        assert found.exit_code == 1
        assert str(path) in found.output
