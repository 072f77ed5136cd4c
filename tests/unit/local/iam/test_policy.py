"""The guard in a function's process, the decisions of policies, and the roles of a template."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import boto3
import botocore.session
import pytest
from botocore.client import BaseClient
from botocore.exceptions import ClientError
from hypothesis import given
from hypothesis import strategies as st
from moto import mock_aws
from opensearchpy import AuthorizationException
from opensearchpy.connection import Urllib3HttpConnection
from pydantic import JsonValue
from typer.testing import CliRunner

from backend.aws.presigning import UrlSigner
from local.cli import app
from local.iam.actions import Need
from local.iam.inside import Guard, watch_botocore, watch_opensearch
from local.iam.policy import Grant, Policies, PolicyError
from local.iam.report import read_record
from local.iam.roles import Enforcement, Role, Roles, Statement, statements_of

ACCOUNT = "us-east-1:000000000000"
TABLE = f"arn:aws:dynamodb:{ACCOUNT}:table/Assets"


def _allow(action: object, resource: object, **more: object) -> dict[str, object]:
    return {"Effect": "Allow", "Action": action, "Resource": resource, **more}


# A naive evaluation: wildcards by trying every split, statements by reading them one by one.


def _plain_glob(pattern: str, text: str) -> bool:
    if not pattern:
        return not text
    if pattern[0] == "*":
        return any(_plain_glob(pattern[1:], text[start:]) for start in range(len(text) + 1))
    return bool(text) and pattern[0] in ("?", text[0]) and _plain_glob(pattern[1:], text[1:])


def _plain_arn(pattern: str, arn: str) -> bool:
    if pattern == "*":
        return True
    wanted, result = pattern.split(":", 5), arn.split(":", 5)
    return len(result) == 6 and all(map(_plain_glob, wanted, result))


@dataclass(frozen=True)
class _Statement:
    effect: str
    actions: tuple[str, ...]
    but_actions: bool
    resources: tuple[str, ...]
    but_resources: bool
    via: tuple[str, ...] | None

    def written(self) -> dict[str, object]:
        result: dict[str, object] = {
            "Effect": self.effect,
            "NotAction" if self.but_actions else "Action": list(self.actions),
            "NotResource" if self.but_resources else "Resource": list(self.resources),
        }
        if self.via is not None:
            result["Condition"] = {"StringLike": {"kms:ViaService": list(self.via)}}
        return result

    def applies(self, action: str, resource: str, via: str | None) -> bool:
        on_action = any(_plain_glob(a.lower(), action.lower()) for a in self.actions)
        on_resource = any(_plain_arn(r, resource) for r in self.resources)
        if on_action == self.but_actions or on_resource == self.but_resources:
            return False
        if self.via is None:
            return True
        return via is not None and any(_plain_glob(pattern, via) for pattern in self.via)


_words = st.sampled_from(["Get", "Put", "GetItem", "getitem", "G*", "*Item", "?et", "*", "Ge?Item"])
_services = st.sampled_from(["s3", "dynamodb", "kms"])
_patterns = st.builds("{}:{}".format, _services, _words) | st.just("*")
_paths = st.sampled_from(
    ["table/A", "table/A/index/b", "table/*", "*", "?able/A", "a:b", "a:*", ""]
)
_arns = st.builds("arn:aws:{}:us:{}:{}".format, _services, st.sampled_from(["1", "2", "*"]), _paths)
_vias = st.sampled_from(["s3.us.amazonaws.com", "sqs.us.amazonaws.com", "s3.*", "x"])
_statements = st.builds(
    _Statement,
    st.sampled_from(["Allow", "Allow", "Deny"]),
    st.lists(_patterns, min_size=1, max_size=3).map(tuple),
    st.booleans(),
    st.lists(_arns | st.just("*"), min_size=1, max_size=3).map(tuple),
    st.booleans(),
    st.none() | st.lists(_vias, min_size=1, max_size=2).map(tuple),
)


@given(
    statements=st.lists(_statements, max_size=4),
    action=st.builds("{}:{}".format, _services, st.sampled_from(["GetItem", "Put", "Get"])),
    resource=_arns,
    via=st.none() | _vias,
)
def test_a_decision_is_that_of_a_plain_evaluation(
    statements: list[_Statement], action: str, resource: str, via: str | None
) -> None:
    applying = [statement for statement in statements if statement.applies(action, resource, via)]
    denied = any(item.effect == "Deny" for item in applying)
    context = {"kms:ViaService": via} if via else None
    decision = Policies(statement.written() for statement in statements).decide(
        action, resource, context
    )
    assert decision.denied == denied
    assert decision.allowed == (bool(applying) and not denied)
    assert bool(decision.grants) == decision.allowed


def test_without_a_statement_nothing_is_allowed_and_a_deny_wins_over_every_allow() -> None:
    decision = Policies([]).decide("dynamodb:GetItem", TABLE)
    assert (decision.allowed, decision.denied) == (False, False)
    deny = {"Effect": "Deny", "Action": "dynamodb:DeleteItem", "Resource": "*"}
    policies = Policies([_allow("*", "*"), deny])
    assert policies.decide("dynamodb:GetItem", TABLE).allowed
    assert policies.decide("dynamodb:DeleteItem", TABLE).denied


def test_a_wildcard_stays_in_its_segment_of_the_arn() -> None:
    policies = Policies([_allow("dynamodb:GetItem", "arn:aws:dynamodb:*:*:table/A*")])
    assert policies.decide("dynamodb:GetItem", TABLE).allowed
    policies = Policies([_allow("dynamodb:GetItem", "arn:aws:dynamodb:*::table/A*")])
    assert not policies.decide("dynamodb:GetItem", TABLE).allowed
    policies = Policies([_allow("s3:GetObject", "arn:aws:s3:::b/*")])
    assert policies.decide("s3:GetObject", "arn:aws:s3:::b/a:b/c").allowed
    assert not policies.decide("s3:GetObject", "arn:aws:s3:::b").allowed


def test_a_decision_names_the_grants_that_it_needed() -> None:
    policies = Policies([_allow(["dynamodb:Get*", "dynamodb:Query"], [TABLE, f"{TABLE}/index/*"])])
    used = policies.decide("dynamodb:GetItem", TABLE).grants
    assert used == (Grant("dynamodb:Get*", TABLE),)
    assert len(policies.grants()) == 4
    assert set(used) < policies.grants()


def test_a_condition_whose_key_the_call_does_not_have_is_not_met() -> None:
    condition = {"StringEquals": {"kms:ViaService": "s3.us-east-1.amazonaws.com"}}
    policies = Policies([_allow("kms:Decrypt", "*", Condition=condition)])
    key = f"arn:aws:kms:{ACCOUNT}:key/1"
    assert not policies.decide("kms:Decrypt", key).allowed
    assert policies.decide(
        "kms:Decrypt", key, {"kms:ViaService": "s3.us-east-1.amazonaws.com"}
    ).allowed


@pytest.mark.parametrize(
    ("statement", "fact"),
    [
        (_allow("*", "*", Condition={"IpAddress": {"aws:SourceIp": "1.2.3.4"}}), "IpAddress"),
        (_allow("*", "*", Condition={"ForAllValues:StringLike": {"a": "b"}}), "ForAllValues"),
        (_allow("*", "*", Condition={"StringEqualsIfExists": {"a": "b"}}), "IfExists"),
        (_allow("*", "arn:aws:s3:::b/${aws:username}/*"), "policy variable"),
        (_allow("*", "bucket"), "no ARN"),
        (_allow("*", "*", Principal="*"), "Principal"),
        (_allow("*", "*", NotAction="s3:*"), "Action or NotAction"),
        ({"Effect": "Allow", "Action": "*"}, "Resource or NotResource"),
        ({"Effect": "Maybe", "Action": "*", "Resource": "*"}, "Maybe"),
        (_allow([], "*"), "Action is empty"),
        (_allow(3, "*"), "3 is no text"),
    ],
)
def test_what_is_not_known_is_an_error_and_never_ignored(
    statement: dict[str, object], fact: str
) -> None:
    with pytest.raises(PolicyError, match=fact.replace("$", r"\$")):
        Policies([statement])


GUARDED = "arn:aws:dynamodb:us-east-1:123456789012:table/T"
DOMAIN = "arn:aws:es:us-east-1:123456789012:domain/d"
WHY = "because no identity-based policy allows the dynamodb:PutItem action"
WHO = "arn:aws:sts::123456789012:assumed-role/role/function"


def _guard(*statements: Mapping[str, object], record: Path | None = None) -> Guard:
    return Guard(
        {
            "principal": WHO,
            "role": "role",
            "statements": list(statements),
            "keys": {},
            "domain": DOMAIN,
            "region": "us-east-1",
            "account": "123456789012",
            "record": str(record) if record else None,
        }
    )


def _grant(action: str, resource: str) -> dict[str, object]:
    return {"Effect": "Allow", "Action": action, "Resource": resource}


def _client(service: str, guard: Guard) -> BaseClient:
    """A client of a session that the guard checks, as in a function's process."""
    handlers = SimpleNamespace(BUILTIN_HANDLERS=list[Any]())
    watch_botocore(guard, handlers)
    session = botocore.session.get_session()
    for event, handler in handlers.BUILTIN_HANDLERS:
        session.register(event, handler)
    return session.create_client(
        service, "us-east-1", aws_access_key_id="key", aws_secret_access_key="secret"
    )


def _error(client: BaseClient, operation: str, **parameters: object) -> tuple[str, str, int]:
    with pytest.raises(ClientError) as caught:
        getattr(client, operation)(**parameters)
    answer: Any = caught.value.response
    error = answer["Error"]
    return error["Code"], error["Message"], answer["ResponseMetadata"]["HTTPStatusCode"]


@mock_aws
def test_a_call_without_a_grant_is_refused_as_dynamodb_refuses_it() -> None:
    client: Any = _client("dynamodb", _guard(_grant("dynamodb:GetItem", GUARDED)))
    error = _error(client, "put_item", TableName="T", Item={"id": {"S": "1"}})
    assert error == (
        "AccessDeniedException",
        f"User: {WHO} is not authorized to perform: dynamodb:PutItem on resource: {GUARDED} {WHY}",
        400,
    )
    with pytest.raises(client.exceptions.ResourceNotFoundException):  # it reaches the engine
        client.get_item(TableName="T", Key={"id": {"S": "1"}})


@mock_aws
def test_a_deny_is_reported_as_one() -> None:
    deny = {"Effect": "Deny", "Action": "dynamodb:*", "Resource": "*"}
    client = _client("dynamodb", _guard(_grant("*", "*"), deny))
    _, message, _ = _error(client, "get_item", TableName="T", Key={"id": {"S": "1"}})
    assert message.endswith("with an explicit deny in an identity-based policy")


@mock_aws
def test_a_head_is_refused_without_a_reason_as_s3_does() -> None:
    client = _client("s3", _guard())
    assert _error(client, "head_object", Bucket="b", Key="k") == ("403", "Forbidden", 403)
    code, message, status = _error(client, "get_object", Bucket="b", Key="k")
    assert (code, status) == ("AccessDenied", 403)
    assert "s3:GetObject on resource: arn:aws:s3:::b/k" in message


@mock_aws
def test_an_absent_object_is_forbidden_to_who_may_not_list_the_bucket() -> None:
    may_read = _grant("s3:GetObject", "arn:aws:s3:::bucket/*")
    boto3.client("s3", "us-east-1").create_bucket(Bucket="bucket")
    reader = _client("s3", _guard(may_read))
    assert _error(reader, "head_object", Bucket="bucket", Key="absent")[2] == 403
    lister = _client("s3", _guard(may_read, _grant("s3:ListBucket", "arn:aws:s3:::bucket")))
    assert _error(lister, "head_object", Bucket="bucket", Key="absent")[2] == 404


@mock_aws
def test_a_presigned_url_is_refused_when_it_is_made() -> None:
    client: Any = _client("s3", _guard(_grant("s3:GetObject", "arn:aws:s3:::b/open/*")))
    parameters = {"Bucket": "b", "Key": "open/k"}
    assert "Signature=" in client.generate_presigned_url("get_object", Params=parameters)
    for method, more in (("get_object", {"VersionId": "v"}), ("put_object", {})):
        with pytest.raises(ClientError, match="is not authorized to perform"):
            client.generate_presigned_url(method, Params={**parameters, **more})


@mock_aws
def test_a_url_that_is_signed_without_a_call_is_refused_like_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9000")  # buckets in paths
    client: Any = _client("s3", _guard(_grant("s3:GetObject", "arn:aws:s3:::b/open ü/*")))
    signer = UrlSigner(client)
    for key in ("open ü/a", "open ü/b"):
        assert "Signature=" in signer.sign("GetObject", "b", key, {}, 60)
    for operation, key, query in (
        ("GetObject", "closed/a", {}),
        ("GetObject", "open ü/a", {"versionId": "v"}),
        ("PutObject", "open ü/a", {}),
        ("UploadPart", "open ü/a", {"uploadId": "u", "partNumber": "1"}),
    ):
        with pytest.raises(ClientError, match="is not authorized to perform"):
            signer.sign(operation, "b", key, query, 60)


@mock_aws
def test_what_is_used_is_noted_once(tmp_path: Path) -> None:
    record = tmp_path / "grants"
    client: Any = _client("s3", _guard(_grant("s3:*", "arn:aws:s3:::b"), record=record))
    for _ in range(2):
        with pytest.raises(client.exceptions.NoSuchBucket):
            client.list_objects_v2(Bucket="b")
    (line,) = record.read_text().splitlines()
    used = ["s3:*", "arn:aws:s3:::b"]
    assert json.loads(line) == {"role": "role", "asked": "s3:ListBucket", "used": used}


class _Connection(Urllib3HttpConnection):
    """A connection that reaches no server."""

    def perform_request(self, *_: Any, **__: Any) -> Any:
        return 200, {}, "{}"


def test_a_search_request_without_a_grant_is_forbidden() -> None:
    guard = _guard(_grant("es:ESHttpPost", f"{DOMAIN}/*/_search"))
    watched: Any = type("Watched", (_Connection,), {})
    watch_opensearch(guard, SimpleNamespace(Urllib3HttpConnection=watched))
    connection = watched(host="localhost", port=9200)
    assert connection.perform_request("POST", "/assets/_search")[0] == 200
    with pytest.raises(AuthorizationException) as caught:
        connection.perform_request("POST", "/assets/_bulk")
    assert caught.value.status_code == 403
    assert "es:ESHttpPost" in str(caught.value.info)


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


def test_a_function_of_an_unknown_role_may_do_nothing_where_roles_are_enforced(
    tmp_path: Path,
) -> None:
    roles = _roles(tmp_path, enforced=False)
    assert roles.lacks("arn:aws:iam::1:role/elsewhere", [NEED]) is None
    assert roles.document("function", ARN) is None
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
    invoke = CliRunner().invoke(app, ["grants", str(record)])
    assert invoke.exit_code == 1
    assert "1 of 2 grants of 1 roles were never used" in invoke.output


def test_a_record_that_is_none_is_refused_in_one_line(tmp_path: Path) -> None:
    record = tmp_path / "grants"
    record.write_text("[]\n")
    for path in (record, tmp_path / "absent"):
        invoke = CliRunner().invoke(app, ["grants", str(path)])
        assert invoke.exit_code == 1
        assert str(path) in invoke.output
