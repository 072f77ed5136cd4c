"""The policies of the templates decide the permissions of functions, on real engines."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Small

_TABLE = "arn:aws:dynamodb:us-east-1:000000000000:table/small-Seen"
_KEY = {"id": {"S": "1"}}
_WHO = "arn:aws:sts::000000000000:assumed-role/small-LimitedRole/small-Limited"


def _calls(small: Small, *calls: tuple[str, str, dict[str, object]]) -> list[tuple[str, str]]:
    with small.http() as http:
        answer = http.post("/limited", json=calls)
    assert answer.status_code == 200, answer.text
    return [(code, message) for code, message in answer.json()]


def test_a_call_is_made_when_the_role_grants_it_and_refused_in_the_words_of_aws(
    small: Small,
) -> None:
    found = _calls(
        small,
        ("dynamodb", "get_item", {"TableName": "small-Seen", "Key": _KEY}),
        ("dynamodb", "put_item", {"TableName": "small-Seen", "Item": _KEY}),
        ("dynamodb", "get_item", {"TableName": "small-Source", "Key": _KEY}),
    )
    where = f"on resource: {_TABLE}"
    why = "because no identity-based policy allows the dynamodb:PutItem action"
    assert found[:2] == [
        ("ok", ""),
        (
            "AccessDeniedException",
            f"User: {_WHO} is not authorized to perform: dynamodb:PutItem {where} {why}",
        ),
    ]
    assert found[2][0] == "AccessDeniedException"
    assert small.seen_item("1") == {}


def test_a_transaction_is_refused_for_a_single_member_that_is_not_granted(small: Small) -> None:
    check = {"TableName": "small-Seen", "Key": _KEY, "ConditionExpression": "attribute_exists(id)"}
    (refused,) = _calls(
        small,
        ("dynamodb", "transact_write_items", {"TransactItems": [{"ConditionCheck": check}]}),
    )
    assert "dynamodb:ConditionCheckItem" in refused[1]


def test_a_presigned_url_requires_the_permission_of_its_operation(small: Small) -> None:
    there: dict[str, object] = {"Bucket": "small-objects", "Key": "open/a"}
    other: dict[str, object] = {"Bucket": "small-objects", "Key": "a"}
    found = _calls(
        small,
        ("s3", "presign get_object", there),
        ("s3", "presign put_object", there),
        ("s3", "presign get_object", other),
        ("s3", "head_object", other),
    )
    codes = [code for code, _ in found]
    assert codes == ["ok", "AccessDenied", "AccessDenied", "403"]


def test_a_deny_of_another_policy_of_the_role_wins(small: Small) -> None:
    message: dict[str, object] = {"QueueUrl": small.queue("Work"), "MessageBody": "{}"}
    (refused,) = _calls(small, ("sqs", "send_message", message))
    assert refused[0] == "AccessDenied"
    assert refused[1].endswith("with an explicit deny in an identity-based policy")


def _refused(fresh: Small, name: str, **properties: object) -> str:
    """The error of a start after these changes of a resource's properties."""
    fresh.change(name, **properties)
    done = fresh.up("--in-memory", check=False)
    assert done.returncode == 1
    assert "Traceback" not in done.stdout
    return done.stdout


def test_a_mapping_requires_a_function_that_may_read_the_stream(fresh: Small) -> None:
    fresh.keep_only("StreamMapping")
    statement = {"Effect": "Allow", "Action": "logs:*", "Resource": "*"}
    document = {"Version": "2012-10-17", "Statement": [statement]}
    policies = [{"PolicyName": "all", "PolicyDocument": document}]
    error = _refused(fresh, "Role", Policies=policies)
    assert "small/StreamMapping (AWS::Lambda::EventSourceMapping)" in error
    assert "does not have permissions to call dynamodb:DescribeStream" in error


def test_a_condition_that_is_not_known_stops_the_start(fresh: Small) -> None:
    condition = {"Bool": {"aws:SecureTransport": "true"}}
    statement = {"Effect": "Allow", "Action": "*", "Resource": "*", "Condition": condition}
    document = {"Version": "2012-10-17", "Statement": [statement]}
    fresh.change("LimitedPolicy", Roles=[{"Ref": "Role"}])
    fresh.keep_only("LimitedPolicy")
    error = _refused(fresh, "LimitedPolicy", PolicyDocument=document)
    assert "small/LimitedPolicy (AWS::IAM::Policy): the condition operator Bool" in error
