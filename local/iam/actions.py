"""The IAM actions that each AWS call requires, and the resources on which they must be allowed.

They follow from the operation and its parameters, as in AWS's Service Authorization Reference. An
unlisted call is an error, so no call passes unchecked. A resource with a customer-managed key also
requires the key's actions, as its service documents them. This module uses only the standard
library, because it runs in the functions' processes too.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, cast
from urllib.parse import parse_qs, unquote

Parameters = Mapping[str, object]


class UnknownCallError(Exception):
    """The needs of this call are not declared."""


class Need(NamedTuple):
    """One action on one resource; actions on keys are requested by a service (`kms:ViaService`)."""

    action: str
    resource: str
    via: str | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """The account and its region, and the keys that encrypt resources, by ARN."""

    region: str
    account: str
    keys: Mapping[str, str] = field(default_factory=dict[str, str])

    def arn(self, service: str, name: str) -> str:
        """Return the ARN of a resource in this account."""
        return f"arn:aws:{service}:{self.region}:{self.account}:{name}"

    def with_key(self, resource: str, service: str, actions: tuple[str, ...]) -> Iterator[Need]:
        """Return the needs of the key that encrypts `resource`, if there is one."""
        key = self.keys.get(resource)
        if key is not None:
            via = f"{service}.{self.region}.amazonaws.com"
            for action in actions:
                yield Need(f"kms:{action}", key, via)


_KEY_OF_READS = ("Decrypt", "DescribeKey")
# KMS actions that DynamoDB requires for a table with a customer-managed key. Source: DynamoDB
# Developer Guide, "Encryption at rest".
_KEY_OF_WRITES = (
    *_KEY_OF_READS,
    *("Encrypt", "GenerateDataKey", "GenerateDataKeyWithoutPlaintext"),
    *("ReEncryptFrom", "ReEncryptTo"),
)

_READS = frozenset({"BatchGetItem", "ConditionCheckItem", "GetItem", "Query", "Scan"})
_WRITES = frozenset({"BatchWriteItem", "DeleteItem", "PutItem", "UpdateItem"})
_ABOUT_TABLES = frozenset({"DescribeTable", "DescribeTimeToLive"})
_MEMBERS = {
    "ConditionCheck": "ConditionCheckItem",
    "Delete": "DeleteItem",
    "Get": "GetItem",
    "Put": "PutItem",
    "Update": "UpdateItem",
}

_SEALING = ("GenerateDataKey", "Decrypt")
_OF_OBJECTS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "AbortMultipartUpload": (("AbortMultipartUpload",), ()),
    "CompleteMultipartUpload": (("PutObject",), _SEALING),
    "CreateMultipartUpload": (("PutObject",), _SEALING),
    "DeleteObject": (("DeleteObject",), ()),
    "GetObject": (("GetObject",), ("Decrypt",)),
    "GetObjectAttributes": (("GetObject", "GetObjectAttributes"), ("Decrypt",)),
    "GetObjectTagging": (("GetObjectTagging",), ()),
    "HeadObject": (("GetObject",), ("Decrypt",)),
    "ListParts": (("ListMultipartUploadParts",), ()),
    "PutObject": (("PutObject",), ("GenerateDataKey",)),
    "PutObjectTagging": (("PutObjectTagging",), ()),
    "UploadPart": (("PutObject",), _SEALING),
}
"""The actions of each operation: on the object, and on the key of its bucket."""
_OF_VERSIONS = {
    "DeleteObject": "DeleteObjectVersion",
    "GetObject": "GetObjectVersion",
    "GetObjectAttributes": "GetObjectVersionAttributes",
    "GetObjectTagging": "GetObjectVersionTagging",
    "PutObjectTagging": "PutObjectVersionTagging",
}
"""The actions if an operation names a version id."""
_OF_BUCKETS = {
    "GetBucketLocation": "GetBucketLocation",
    "GetBucketVersioning": "GetBucketVersioning",
    "HeadBucket": "ListBucket",
    "ListMultipartUploads": "ListBucketMultipartUploads",
    "ListObjects": "ListBucket",
    "ListObjectsV2": "ListBucket",
    "ListObjectVersions": "ListBucketVersions",
}
_MORE_RIGHTS = ("ACL", "GrantFullControl", "GrantRead", "GrantReadACP", "GrantWriteACP")
"""Parameters for which an operation requires further actions. No function uses them."""

_OF_QUEUES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "ChangeMessageVisibility": ("ChangeMessageVisibility", ()),
    "ChangeMessageVisibilityBatch": ("ChangeMessageVisibility", ()),
    "DeleteMessage": ("DeleteMessage", ()),
    "DeleteMessageBatch": ("DeleteMessage", ()),
    "GetQueueAttributes": ("GetQueueAttributes", ()),
    "ReceiveMessage": ("ReceiveMessage", ("Decrypt",)),
    "SendMessage": ("SendMessage", _SEALING),
    "SendMessageBatch": ("SendMessage", _SEALING),
}
_OF_POOLS = frozenset(
    {
        "AdminCreateUser",
        "AdminDeleteUser",
        "AdminGetUser",
        "AdminResetUserPassword",
        "AdminUpdateUserAttributes",
        "ListUsers",
    }
)
_OF_TASKS = {
    "events": "events:PutEvents",
    "lambda": "lambda:InvokeFunction",
    "s3": "s3:ListBucket",
    "sqs": "sqs:SendMessage",
}
_OF_RUNS = {
    "DescribeExecution": "executionArn",
    "GetExecutionHistory": "executionArn",
    "StartExecution": "stateMachineArn",
    "StopExecution": "executionArn",
}
"""The parameter of each operation that names the resource."""
_OF_CALLBACKS = frozenset({"SendTaskFailure", "SendTaskHeartbeat", "SendTaskSuccess"})
_OF_SECRETS = {
    "DescribeSecret": (),
    "GetSecretValue": ("Decrypt",),
    "PutSecretValue": _SEALING,
}


def needs(service: str, operation: str, parameters: Parameters, place: Place) -> list[Need]:
    """Return the needs of a call.

    Raises:
        UnknownCallError: they are not declared.
    """
    by_service = _SERVICES.get(service)
    required = list(by_service(operation, parameters, place)) if by_service else []
    if not required:
        raise UnknownCallError(
            f"what {service}:{operation} needs is not known to the local runtime; "
            "add it to local/iam/actions.py"
        )
    return required


def search_need(method: str, path: str, domain: str) -> Need:
    """Return the need of a request to the search domain of this ARN."""
    plain = unquote(path.partition("?")[0]).lstrip("/")
    return Need(f"es:ESHttp{method.title()}", f"{domain}/{plain}")


def queue_mapping(queue: str, place: Place) -> Iterator[Need]:
    """Return what Lambda needs of a function's role to deliver a queue to the function."""
    for action in ("ReceiveMessage", "DeleteMessage", "GetQueueAttributes"):
        yield Need(f"sqs:{action}", queue)
    yield from place.with_key(queue, "sqs", ("Decrypt",))


def stream_mapping(stream: str, place: Place) -> Iterator[Need]:
    """Return what Lambda needs of a function's role to deliver a table's stream to the function."""
    for action in ("DescribeStream", "GetRecords", "GetShardIterator"):
        yield Need(f"dynamodb:{action}", stream)
    table = place.arn("dynamodb", stream.split(":", 5)[-1].partition("/stream/")[0])
    yield Need("dynamodb:ListStreams", f"{table}/stream/{stream.rpartition('/')[2]}")
    yield from place.with_key(table, "dynamodb", ("Decrypt",))


def failure_destination(target: str, place: Place) -> Iterator[Need]:
    """Return what Lambda needs of a function's role to write failures to a bucket or a queue."""
    if target.startswith("arn:aws:s3:"):
        yield Need("s3:PutObject", f"{target}/aws/lambda/")
        yield Need("s3:ListBucket", target)
        yield from place.with_key(target, "s3", ("GenerateDataKey",))
    else:
        yield Need("sqs:SendMessage", target)
        yield from place.with_key(target, "sqs", _SEALING)


def log_writing(group: str, place: Place) -> Iterator[Need]:
    """Return what Lambda needs of a function's role to write its log."""
    for action in ("CreateLogStream", "PutLogEvents"):
        yield Need(f"logs:{action}", place.arn("logs", f"log-group:{group}:log-stream:any"))


def log_delivery() -> Iterator[Need]:
    """Return what Step Functions needs of a state machine's role to log.

    AWS supports only `*` for it.
    """
    for action in (
        *("CreateLogDelivery", "DeleteLogDelivery", "DescribeLogGroups"),
        *("DescribeResourcePolicies", "GetLogDelivery", "ListLogDeliveries"),
        *("PutResourcePolicy", "UpdateLogDelivery"),
    ):
        yield Need(f"logs:{action}", "*")


def task(service: str, resource: str, place: Place) -> Iterator[Need]:
    """Return what a state machine's role needs to call a function, queue, event bus or bucket."""
    yield Need(_OF_TASKS[service], resource)
    if service == "sqs":
        yield from place.with_key(resource, "sqs", _SEALING)


def listing(parameters: Parameters) -> Need:
    """Return what a caller needs to learn that an object is absent; otherwise S3 returns 403."""
    return Need("s3:ListBucket", _bucket(parameters))


def _dynamodb(operation: str, parameters: Parameters, place: Place) -> Iterator[Need]:
    if operation in {"TransactWriteItems", "TransactGetItems"}:
        for member in cast("list[Mapping[str, Parameters]]", parameters["TransactItems"]):
            for kind, body in member.items():
                yield from _on_table(_MEMBERS[kind], _table(body["TableName"], place), place)
    elif operation in {"BatchGetItem", "BatchWriteItem"}:
        for name in cast("Mapping[str, object]", parameters["RequestItems"]):
            yield from _on_table(operation, _table(name, place), place)
    elif operation in _READS | _WRITES | _ABOUT_TABLES:
        table = _table(parameters["TableName"], place)
        index = parameters.get("IndexName")
        yield from _on_table(operation, table, place, index=index)


def _lambda(operation: str, parameters: Parameters, place: Place) -> Iterator[Need]:
    if operation == "Invoke":
        name = str(parameters["FunctionName"])
        arn = name if name.startswith("arn:") else place.arn("lambda", f"function:{name}")
        yield Need("lambda:InvokeFunction", arn)
    elif operation == "GetAccountSettings":
        yield Need("lambda:GetAccountSettings", "*")


def _table(name: object, place: Place) -> str:
    text = str(name)
    return text if text.startswith("arn:") else place.arn("dynamodb", f"table/{text}")


def _on_table(
    action: str, table: str, place: Place, *, index: object | None = None
) -> Iterator[Need]:
    yield Need(f"dynamodb:{action}", f"{table}/index/{index}" if index else table)
    if action in _READS | _WRITES:
        of_key = _KEY_OF_WRITES if action in _WRITES else _KEY_OF_READS
        yield from place.with_key(table, "dynamodb", of_key)


def _s3(operation: str, parameters: Parameters, place: Place) -> Iterator[Need]:
    special = next((name for name in _MORE_RIGHTS if parameters.get(name)), None)
    if special is not None:
        raise UnknownCallError(f"s3:{operation} with {special} is not known to the local runtime")
    if operation in _OF_BUCKETS:
        yield Need(f"s3:{_OF_BUCKETS[operation]}", _bucket(parameters))
    elif operation == "DeleteObjects":
        listed = cast("Mapping[str, list[Parameters]]", parameters["Delete"])["Objects"]
        for entry in listed:
            yield from _on_object("DeleteObject", {**entry, "Bucket": parameters["Bucket"]}, place)
    elif operation in {"CopyObject", "UploadPartCopy"}:
        source = _copied(parameters["CopySource"])
        yield from _on_object("GetObject", source, place)
        target = "PutObject" if operation == "CopyObject" else "UploadPart"
        yield from _on_object(target, parameters, place)
        if operation == "CopyObject" and parameters.get("TaggingDirective") != "REPLACE":
            # S3 copies the tags of the source, too: every copy is checked as if it had tags.
            yield from _on_object("GetObjectTagging", source, place)
            yield from _on_object("PutObjectTagging", parameters, place)
    elif operation in _OF_OBJECTS:
        yield from _on_object(operation, parameters, place)
    if parameters.get("Tagging") and operation != "PutObjectTagging":
        # Writing an object with tags needs the right to write tags as well.
        yield from _on_object("PutObjectTagging", parameters, place)


def _bucket(parameters: Parameters) -> str:
    return f"arn:aws:s3:::{parameters['Bucket']}"


def _on_object(operation: str, parameters: Parameters, place: Place) -> Iterator[Need]:
    bucket = _bucket(parameters)
    actions, of_key = _OF_OBJECTS[operation]
    for action in actions:
        named = _OF_VERSIONS.get(action, action) if parameters.get("VersionId") else action
        yield Need(f"s3:{named}", f"{bucket}/{parameters['Key']}")
    yield from place.with_key(bucket, "s3", of_key)


def _copied(source: object) -> Parameters:
    """Return the parameters of the copied object, which may be an object or a quoted path."""
    if isinstance(source, Mapping):
        return cast("Parameters", source)
    path, _, query = str(source).partition("?")
    bucket, _, key = unquote(path).lstrip("/").partition("/")
    return {
        "Bucket": bucket,
        "Key": key,
        "VersionId": next(iter(parse_qs(query).get("versionId", [])), None),
    }


def _sqs(operation: str, parameters: Parameters, place: Place) -> Iterator[Need]:
    if operation in _OF_QUEUES:
        action, of_key = _OF_QUEUES[operation]
        queue = place.arn("sqs", str(parameters["QueueUrl"]).rpartition("/")[2])
        yield Need(f"sqs:{action}", queue)
        yield from place.with_key(queue, "sqs", of_key)
    elif operation == "StartMessageMoveTask":
        source = _queue_of(parameters["SourceArn"], place)
        for action in ("StartMessageMoveTask", "ReceiveMessage", "DeleteMessage"):
            yield Need(f"sqs:{action}", source)
        yield Need("sqs:GetQueueAttributes", source)
        yield from place.with_key(source, "sqs", ("Decrypt",))
        if parameters.get("DestinationArn"):
            target = _queue_of(parameters["DestinationArn"], place)
            yield Need("sqs:SendMessage", target)
            yield from place.with_key(target, "sqs", _SEALING)
    elif operation == "ListMessageMoveTasks":
        yield Need("sqs:ListMessageMoveTasks", _queue_of(parameters["SourceArn"], place))


def _queue_of(arn: object, place: Place) -> str:
    """Return the ARN of a queue in the templates; the engine uses another account."""
    return place.arn("sqs", str(arn).rpartition(":")[2])


def _secretsmanager(operation: str, parameters: Parameters, place: Place) -> Iterator[Need]:
    if operation not in _OF_SECRETS:
        return
    secret = str(parameters["SecretId"])
    if not secret.startswith("arn:"):
        raise UnknownCallError(f"the secret {secret} is not named by its ARN")
    yield Need(f"secretsmanager:{operation}", secret)
    yield from place.with_key(secret, "secretsmanager", _OF_SECRETS[operation])


def _sns(operation: str, parameters: Parameters, place: Place) -> Iterator[Need]:
    topic = str(parameters.get("TopicArn", ""))
    if operation == "Publish" and topic:
        yield Need("sns:Publish", topic)
        yield from place.with_key(topic, "sns", _SEALING)
    elif operation == "Subscribe":
        yield Need("sns:Subscribe", topic)


def _cognito(operation: str, parameters: Parameters, place: Place) -> Iterator[Need]:
    if operation in _OF_POOLS:
        pool = place.arn("cognito-idp", f"userpool/{parameters['UserPoolId']}")
        yield Need(f"cognito-idp:{operation}", pool)


def _stepfunctions(operation: str, parameters: Parameters, place: Place) -> Iterator[Need]:
    if operation in _OF_RUNS:
        yield Need(f"states:{operation}", str(parameters[_OF_RUNS[operation]]))
    elif operation in _OF_CALLBACKS:
        # A token does not name its state machine: all of the account are granted, or none.
        yield Need(f"states:{operation}", place.arn("states", "stateMachine:of-the-token"))


def _sts(operation: str, _parameters: Parameters, _place: Place) -> Iterator[Need]:
    """Return the needs of STS: AWS checks no policy for GetCallerIdentity."""
    if operation == "GetCallerIdentity":
        yield NOTHING


NOTHING = Need("", "")
"""An operation that every identity may call."""

_SERVICES: Mapping[str, Callable[[str, Parameters, Place], Iterator[Need]]] = {
    "cognito-idp": _cognito,
    "dynamodb": _dynamodb,
    "lambda": _lambda,
    "s3": _s3,
    "secretsmanager": _secretsmanager,
    "sns": _sns,
    "sqs": _sqs,
    "stepfunctions": _stepfunctions,
    "sts": _sts,
}
