"""The permissions that each call requires, by AWS's Service Authorization Reference."""

from typing import Any

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
TARGET = "arn:aws:sqs:us-east-1:000000000000:r"
TOPIC = "arn:aws:sns:us-east-1:000000000000:t"
POOL = "arn:aws:cognito-idp:us-east-1:000000000000:userpool/us-east-1_abc"
SECRET = "arn:aws:secretsmanager:us-east-1:000000000000:secret:s-abcdef"
KEY = "arn:aws:kms:us-east-1:000000000000:key/1"
OBJECT = {"Bucket": "b", "Key": "a/k"}
THERE = "arn:aws:s3:::b/a/k"
BUCKET = "arn:aws:s3:::b"
QUEUE_URL = {"QueueUrl": "http://127.0.0.1:1/000000000000/q"}
TABLES: dict[str, Any] = {"RequestItems": {"T": {}, "U": {}}}
ONE = {"TableName": "T"}
MEMBERS = [
    {"Put": {"TableName": "T"}},
    {"Update": {"TableName": "U"}},
    {"Delete": {"TableName": "T"}},
    {"ConditionCheck": {"TableName": "U"}},
]
MANY = {"Objects": [{"Key": "x"}, {"Key": "y", "VersionId": "v"}]}
OF_A_TABLE = ("GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "Scan")
OF_AN_OBJECT = {
    "GetObject": "GetObject",
    "HeadObject": "GetObject",
    "PutObject": "PutObject",
    "CreateMultipartUpload": "PutObject",
    "UploadPart": "PutObject",
    "CompleteMultipartUpload": "PutObject",
    "AbortMultipartUpload": "AbortMultipartUpload",
    "ListParts": "ListMultipartUploadParts",
    "DeleteObject": "DeleteObject",
}
OF_A_BUCKET = {
    "ListObjectsV2": "ListBucket",
    "HeadBucket": "ListBucket",
    "ListObjectVersions": "ListBucketVersions",
    "ListMultipartUploads": "ListBucketMultipartUploads",
}
SOURCES: list[tuple[object, str]] = [
    ({"Bucket": "c", "Key": "ä b"}, "GetObject"),
    ({"Bucket": "c", "Key": "ä b", "VersionId": "v"}, "GetObjectVersion"),
    ("c/%C3%A4%20b", "GetObject"),
    ("/c/%C3%A4%20b?versionId=v", "GetObjectVersion"),
]
COPIES: tuple[tuple[str, dict[str, str]], ...] = (
    ("CopyObject", {"TaggingDirective": "REPLACE"}),
    ("UploadPartCopy", {}),
)
CALLS: list[tuple[str, str, dict[str, Any], set[tuple[str, str]]]] = [
    *(("dynamodb", name, ONE, {(f"dynamodb:{name}", TABLE)}) for name in OF_A_TABLE),
    # an index, and not its table
    ("dynamodb", "Query", {**ONE, "IndexName": "i"}, {("dynamodb:Query", f"{TABLE}/index/i")}),
    (
        *("dynamodb", "TransactWriteItems", {"TransactItems": MEMBERS}),
        {
            ("dynamodb:PutItem", TABLE),
            ("dynamodb:UpdateItem", OTHER),
            ("dynamodb:DeleteItem", TABLE),
            ("dynamodb:ConditionCheckItem", OTHER),
        },
    ),
    (
        *("dynamodb", "TransactGetItems", {"TransactItems": [{"Get": ONE}]}),
        {("dynamodb:GetItem", TABLE)},
    ),
    *(
        ("dynamodb", name, TABLES, {(f"dynamodb:{name}", TABLE), (f"dynamodb:{name}", OTHER)})
        for name in ("BatchGetItem", "BatchWriteItem")
    ),
    *(("s3", name, OBJECT, {(f"s3:{action}", THERE)}) for name, action in OF_AN_OBJECT.items()),
    *(
        ("s3", name, {"Bucket": "b"}, {(f"s3:{action}", BUCKET)})
        for name, action in OF_A_BUCKET.items()
    ),
    *(
        (
            *("s3", name, {**OBJECT, **more, "CopySource": source}),
            {(f"s3:{action}", "arn:aws:s3:::c/ä b"), ("s3:PutObject", THERE)},
        )
        for name, more in COPIES
        for source, action in SOURCES
    ),
    (
        *("s3", "DeleteObjects", {"Bucket": "b", "Delete": MANY}),
        {("s3:DeleteObject", f"{BUCKET}/x"), ("s3:DeleteObjectVersion", f"{BUCKET}/y")},
    ),
    ("sqs", "SendMessageBatch", QUEUE_URL, {("sqs:SendMessage", QUEUE)}),
    ("sqs", "ChangeMessageVisibilityBatch", QUEUE_URL, {("sqs:ChangeMessageVisibility", QUEUE)}),
    (
        *("sqs", "StartMessageMoveTask", {"SourceArn": QUEUE, "DestinationArn": TARGET}),
        {
            ("sqs:StartMessageMoveTask", QUEUE),
            ("sqs:ReceiveMessage", QUEUE),
            ("sqs:DeleteMessage", QUEUE),
            ("sqs:GetQueueAttributes", QUEUE),
            ("sqs:SendMessage", TARGET),
        },
    ),
    ("sns", "Subscribe", {"TopicArn": TOPIC}, {("sns:Subscribe", TOPIC)}),
    *(
        ("cognito-idp", name, {"UserPoolId": "us-east-1_abc"}, {(f"cognito-idp:{name}", POOL)})
        for name in ("AdminGetUser", "ListUsers")
    ),
]


def _needs(service: str, operation: str, parameters: dict[str, Any]) -> set[tuple[str, str]]:
    return {(n.action, n.resource) for n in needs(service, operation, parameters, PLACE)}


@pytest.mark.parametrize(("service", "operation", "parameters", "expected"), CALLS)
def test_a_call_needs_the_actions_that_aws_requires(
    service: str, operation: str, parameters: dict[str, Any], expected: set[tuple[str, str]]
) -> None:
    assert _needs(service, operation, parameters) == expected


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
    assert need in _needs("s3", operation, {**OBJECT, **more, "Tagging": "a=b"})
    assert need not in _needs("s3", operation, {**OBJECT, **more})


def test_a_resource_with_a_key_needs_the_key_through_its_service() -> None:
    keys = dict.fromkeys([TABLE, BUCKET, SECRET, TOPIC], KEY)
    place = Place("us-east-1", "000000000000", keys)
    query = {**ONE, "IndexName": "i"}
    for service, operation, parameters, action in [
        ("dynamodb", "GetItem", ONE, "Decrypt"),
        ("dynamodb", "Query", query, "Decrypt"),
        ("dynamodb", "PutItem", ONE, "GenerateDataKey"),
        ("s3", "PutObject", OBJECT, "GenerateDataKey"),
        ("secretsmanager", "GetSecretValue", {"SecretId": SECRET}, "Decrypt"),
        ("sns", "Publish", {"TopicArn": TOPIC}, "GenerateDataKey"),
        ("sns", "Publish", {"TopicArn": TOPIC}, "Decrypt"),
    ]:
        need = Need(f"kms:{action}", KEY, f"{service}.us-east-1.amazonaws.com")
        assert need in needs(service, operation, parameters, place)
    read = needs("dynamodb", "GetItem", ONE, place)
    assert not [need for need in read if "Generate" in need.action]
    published = needs("sns", "Publish", {"TopicArn": TOPIC}, place)
    assert Need("sns:Publish", TOPIC) in published
    assert len(published) == 3


@pytest.mark.parametrize(
    ("service", "operation", "parameters"),
    [
        ("s3", "PutBucketPolicy", {"Bucket": "b"}),
        ("s3", "PutObject", {**OBJECT, "ACL": "public-read"}),
        ("dynamodb", "ExecuteStatement", {"Statement": "SELECT"}),
        ("sqs", "PurgeQueue", {"QueueUrl": "http://x/q"}),
        ("secretsmanager", "GetSecretValue", {"SecretId": "by-its-name"}),
        ("secretsmanager", "DeleteSecret", {"SecretId": SECRET}),
        ("cognito-idp", "DeleteUserPool", {"UserPoolId": "us-east-1_abc"}),
        ("sns", "Publish", {"PhoneNumber": "+12345678900"}),
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
    need = search_need("POST", "/assets,files/_search?a=b", domain)
    assert need == Need("es:ESHttpPost", f"{domain}/assets,files/_search")
    assert search_need("HEAD", "/assets", domain).action == "es:ESHttpHead"


def test_lambda_itself_needs_to_read_what_it_delivers_and_to_keep_what_fails() -> None:
    stream = "arn:aws:dynamodb:ddblocal:000000000000:table/T/stream/2026"
    place = Place("us-east-1", "000000000000", {QUEUE: KEY, TABLE: KEY})
    assert [n.action for n in queue_mapping(QUEUE, place)] == [
        *("sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "kms:Decrypt")
    ]
    reads = list(stream_mapping(stream, place))
    assert Need("dynamodb:GetRecords", stream) in reads
    assert Need("dynamodb:ListStreams", f"{TABLE}/stream/2026") in reads
    assert Need("kms:Decrypt", KEY, "dynamodb.us-east-1.amazonaws.com") in reads
    kept = [n.action for n in failure_destination(BUCKET, place)]
    assert kept == ["s3:PutObject", "s3:ListBucket"]
    assert [n.action for n in failure_destination(QUEUE, PLACE)] == ["sqs:SendMessage"]
