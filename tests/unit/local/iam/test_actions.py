"""The permissions that each call requires, by AWS's Service Authorization Reference."""

import pytest

from local.iam.actions import (
    Need,
    Place,
    UnknownCallError,
    failure_destination,
    needs,
    queue_mapping,
    search_need,
    stream_mapping,
)

PLACE = Place("us-east-1", "000000000000")
TABLE = "arn:aws:dynamodb:us-east-1:000000000000:table/T"
OTHER = "arn:aws:dynamodb:us-east-1:000000000000:table/U"
QUEUE = "arn:aws:sqs:us-east-1:000000000000:q"
SECRET = "arn:aws:secretsmanager:us-east-1:000000000000:secret:s-abcdef"
KEY = "arn:aws:kms:us-east-1:000000000000:key/1"
OBJECT = {"Bucket": "b", "Key": "a/k"}
THERE = "arn:aws:s3:::b/a/k"


def _needs(service: str, operation: str, **parameters: object) -> set[tuple[str, str]]:
    return {(n.action, n.resource) for n in needs(service, operation, parameters, PLACE)}


@pytest.mark.parametrize(
    "operation", ["GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "Scan"]
)
def test_a_request_to_a_table_needs_its_own_action(operation: str) -> None:
    assert _needs("dynamodb", operation, TableName="T") == {(f"dynamodb:{operation}", TABLE)}


def test_a_query_of_an_index_needs_the_index_and_not_the_table() -> None:
    found = _needs("dynamodb", "Query", TableName="T", IndexName="byName")
    assert found == {("dynamodb:Query", f"{TABLE}/index/byName")}


def test_a_transaction_needs_the_action_of_each_of_its_members() -> None:
    items = [
        {"Put": {"TableName": "T"}},
        {"Update": {"TableName": "U"}},
        {"Delete": {"TableName": "T"}},
        {"ConditionCheck": {"TableName": "U"}},
    ]
    assert _needs("dynamodb", "TransactWriteItems", TransactItems=items) == {
        ("dynamodb:PutItem", TABLE),
        ("dynamodb:UpdateItem", OTHER),
        ("dynamodb:DeleteItem", TABLE),
        ("dynamodb:ConditionCheckItem", OTHER),
    }
    read = [{"Get": {"TableName": "T"}}]
    found = _needs("dynamodb", "TransactGetItems", TransactItems=read)
    assert found == {("dynamodb:GetItem", TABLE)}


@pytest.mark.parametrize("operation", ["BatchGetItem", "BatchWriteItem"])
def test_a_batch_needs_its_action_on_every_table_in_it(operation: str) -> None:
    found = _needs("dynamodb", operation, RequestItems={"T": {}, "U": {}})
    assert found == {(f"dynamodb:{operation}", TABLE), (f"dynamodb:{operation}", OTHER)}


@pytest.mark.parametrize(
    ("operation", "action"),
    [
        ("GetObject", "GetObject"),
        ("HeadObject", "GetObject"),
        ("PutObject", "PutObject"),
        ("CreateMultipartUpload", "PutObject"),
        ("UploadPart", "PutObject"),
        ("CompleteMultipartUpload", "PutObject"),
        ("AbortMultipartUpload", "AbortMultipartUpload"),
        ("ListParts", "ListMultipartUploadParts"),
        ("DeleteObject", "DeleteObject"),
    ],
)
def test_a_request_for_an_object_needs_the_action_that_s3_requires(
    operation: str, action: str
) -> None:
    assert _needs("s3", operation, **OBJECT) == {(f"s3:{action}", THERE)}


@pytest.mark.parametrize(
    ("operation", "action"),
    [
        ("ListObjectsV2", "ListBucket"),
        ("HeadBucket", "ListBucket"),
        ("ListObjectVersions", "ListBucketVersions"),
        ("ListMultipartUploads", "ListBucketMultipartUploads"),
    ],
)
def test_a_listing_needs_the_bucket(operation: str, action: str) -> None:
    assert _needs("s3", operation, Bucket="b") == {(f"s3:{action}", "arn:aws:s3:::b")}


@pytest.mark.parametrize(
    ("operation", "more"),
    [("CopyObject", {"TaggingDirective": "REPLACE"}), ("UploadPartCopy", {})],
)
@pytest.mark.parametrize(
    ("source", "action"),
    [
        ({"Bucket": "c", "Key": "ä b"}, "GetObject"),
        ({"Bucket": "c", "Key": "ä b", "VersionId": "v"}, "GetObjectVersion"),
        ("c/%C3%A4%20b", "GetObject"),
        ("/c/%C3%A4%20b?versionId=v", "GetObjectVersion"),
    ],
)
def test_a_copy_needs_to_read_its_source_and_to_write_its_target(
    operation: str, more: dict[str, str], source: object, action: str
) -> None:
    assert _needs("s3", operation, **OBJECT, **more, CopySource=source) == {
        (f"s3:{action}", "arn:aws:s3:::c/ä b"),
        ("s3:PutObject", THERE),
    }


@pytest.mark.parametrize(
    ("operation", "more"),
    [
        ("CopyObject", {"TaggingDirective": "REPLACE", "CopySource": "b/y"}),
        ("CreateMultipartUpload", {}),
        ("PutObject", {}),
    ],
)
def test_writing_an_object_with_tags_needs_to_write_tags(
    operation: str, more: dict[str, str]
) -> None:
    need = ("s3:PutObjectTagging", THERE)
    assert need in _needs("s3", operation, **OBJECT, **more, Tagging="a=b")
    assert need not in _needs("s3", operation, **OBJECT, **more)


def test_deleting_many_objects_needs_each_of_them_with_or_without_its_version() -> None:
    listed = {"Objects": [{"Key": "x"}, {"Key": "y", "VersionId": "v"}]}
    assert _needs("s3", "DeleteObjects", Bucket="b", Delete=listed) == {
        ("s3:DeleteObject", "arn:aws:s3:::b/x"),
        ("s3:DeleteObjectVersion", "arn:aws:s3:::b/y"),
    }


def test_a_batch_of_messages_needs_the_action_for_one() -> None:
    url = "http://127.0.0.1:1/000000000000/q"
    assert _needs("sqs", "SendMessageBatch", QueueUrl=url) == {("sqs:SendMessage", QUEUE)}
    found = _needs("sqs", "ChangeMessageVisibilityBatch", QueueUrl=url)
    assert found == {("sqs:ChangeMessageVisibility", QUEUE)}


def test_a_request_about_a_user_needs_the_pool() -> None:
    pool = "arn:aws:cognito-idp:us-east-1:000000000000:userpool/us-east-1_abc"
    for operation in ("AdminGetUser", "ListUsers"):
        found = _needs("cognito-idp", operation, UserPoolId="us-east-1_abc")
        assert found == {(f"cognito-idp:{operation}", pool)}
    with pytest.raises(UnknownCallError):
        _needs("cognito-idp", "DeleteUserPool", UserPoolId="us-east-1_abc")


def test_redriving_dead_letters_needs_to_take_them_and_to_send_them() -> None:
    target = QUEUE.replace(":q", ":r")
    found = _needs("sqs", "StartMessageMoveTask", SourceArn=QUEUE, DestinationArn=target)
    assert {action for action, resource in found if resource == QUEUE} == {
        "sqs:StartMessageMoveTask",
        "sqs:ReceiveMessage",
        "sqs:DeleteMessage",
        "sqs:GetQueueAttributes",
    }
    assert ("sqs:SendMessage", target) in found


def test_a_resource_with_a_key_needs_the_key_through_its_service() -> None:
    place = Place("us-east-1", "000000000000", {TABLE: KEY, "arn:aws:s3:::b": KEY, SECRET: KEY})
    via = "dynamodb.us-east-1.amazonaws.com"
    read = needs("dynamodb", "GetItem", {"TableName": "T"}, place)
    assert Need("kms:Decrypt", KEY, via) in read
    assert not [need for need in read if "Generate" in need.action]
    query = needs("dynamodb", "Query", {"TableName": "T", "IndexName": "i"}, place)
    assert Need("kms:Decrypt", KEY, via) in query
    written = needs("dynamodb", "PutItem", {"TableName": "T"}, place)
    assert Need("kms:GenerateDataKey", KEY, via) in written
    put = needs("s3", "PutObject", OBJECT, place)
    assert Need("kms:GenerateDataKey", KEY, "s3.us-east-1.amazonaws.com") in put
    secret = needs("secretsmanager", "GetSecretValue", {"SecretId": SECRET}, place)
    assert Need("kms:Decrypt", KEY, "secretsmanager.us-east-1.amazonaws.com") in secret


@pytest.mark.parametrize(
    ("service", "operation", "parameters"),
    [
        ("s3", "PutBucketPolicy", {"Bucket": "b"}),
        ("s3", "PutObject", {**OBJECT, "ACL": "public-read"}),
        ("dynamodb", "ExecuteStatement", {"Statement": "SELECT"}),
        ("sqs", "PurgeQueue", {"QueueUrl": "http://x/q"}),
        ("secretsmanager", "GetSecretValue", {"SecretId": "by-its-name"}),
        ("secretsmanager", "DeleteSecret", {"SecretId": SECRET}),
        ("iam", "CreateUser", {}),
    ],
)
def test_a_call_that_is_not_described_is_an_error(
    service: str, operation: str, parameters: dict[str, object]
) -> None:
    with pytest.raises(UnknownCallError):
        needs(service, operation, parameters, PLACE)


def test_search_needs_the_method_on_the_path_without_its_query() -> None:
    domain = "arn:aws:es:us-east-1:000000000000:domain/d"
    found = search_need("POST", "/assets,files/_search?a=b", domain)
    assert found == Need("es:ESHttpPost", f"{domain}/assets,files/_search")
    assert search_need("HEAD", "/assets", domain).action == "es:ESHttpHead"


def test_lambda_itself_needs_to_read_what_it_delivers_and_to_keep_what_fails() -> None:
    stream = "arn:aws:dynamodb:ddblocal:000000000000:table/T/stream/2026"
    place = Place("us-east-1", "000000000000", {QUEUE: KEY, TABLE: KEY})
    assert [n.action for n in queue_mapping(QUEUE, place)] == [
        *("sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "kms:Decrypt")
    ]
    found = list(stream_mapping(stream, place))
    assert Need("dynamodb:GetRecords", stream) in found
    assert Need("dynamodb:ListStreams", f"{TABLE}/stream/2026") in found
    assert Need("kms:Decrypt", KEY, "dynamodb.us-east-1.amazonaws.com") in found
    kept = [n.action for n in failure_destination("arn:aws:s3:::b", place)]
    assert kept == ["s3:PutObject", "s3:ListBucket"]
    assert [n.action for n in failure_destination(QUEUE, PLACE)] == ["sqs:SendMessage"]


def test_a_message_needs_its_topic_and_the_key_of_that() -> None:
    topic = "arn:aws:sns:us-east-1:000000000000:t"
    sealed = Place(PLACE.region, PLACE.account, {topic: KEY})
    found = needs("sns", "Publish", {"TopicArn": topic}, sealed)
    assert {(n.action, n.resource, n.via) for n in found} == {
        ("sns:Publish", topic, None),
        ("kms:GenerateDataKey", KEY, "sns.us-east-1.amazonaws.com"),
        ("kms:Decrypt", KEY, "sns.us-east-1.amazonaws.com"),
    }
    assert _needs("sns", "Subscribe", TopicArn=topic) == {("sns:Subscribe", topic)}
    with pytest.raises(UnknownCallError):
        needs("sns", "Publish", {"PhoneNumber": "+12345678900"}, PLACE)
