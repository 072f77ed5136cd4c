"""What a function may do: IAM statements made from what its declaration says it reads and writes.

Nothing else grants anything: CDK's own grants are not used.
"""

from collections.abc import Iterable, Iterator

from aws_cdk import Aws
from aws_cdk import aws_iam as iam

from backend.spec.buckets import Bucket
from backend.spec.functions import Function
from backend.spec.tables.model import Table
from infra.resources import Resources

TABLE_READ = (
    "dynamodb:BatchGetItem",
    "dynamodb:ConditionCheckItem",
    "dynamodb:GetItem",
    "dynamodb:Query",
    "dynamodb:Scan",
)
TABLE_WRITE = (
    "dynamodb:BatchWriteItem",
    "dynamodb:DeleteItem",
    "dynamodb:PutItem",
    "dynamodb:UpdateItem",
)
TABLE_APPEND = ("dynamodb:PutItem",)
STREAM_READ = ("dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator")
STREAM_LIST = ("dynamodb:ListStreams",)
"""Is asked about all streams of a table, so it is granted on `<table>/stream/*`."""

OBJECT_READ = (
    "s3:GetObject",
    "s3:GetObjectAttributes",
    "s3:GetObjectTagging",
    "s3:GetObjectVersion",
    "s3:GetObjectVersionAttributes",
    "s3:GetObjectVersionTagging",
)
BUCKET_READ = ("s3:GetBucketLocation", "s3:ListBucket", "s3:ListBucketVersions")
OBJECT_WRITE = (
    "s3:AbortMultipartUpload",
    "s3:DeleteObject",
    "s3:DeleteObjectVersion",
    "s3:ListMultipartUploadParts",
    "s3:PutObject",
    "s3:PutObjectTagging",
)
OBJECT_APPEND = ("s3:PutObject",)
BUCKET_WRITE = ("s3:ListBucketMultipartUploads",)
QUEUE_SEND = ("sqs:GetQueueAttributes", "sqs:SendMessage")
QUEUE_RECEIVE = (
    "sqs:ChangeMessageVisibility",
    "sqs:DeleteMessage",
    "sqs:GetQueueAttributes",
    "sqs:ReceiveMessage",
)
QUEUE_LOOK = ("sqs:GetQueueAttributes", "sqs:ListMessageMoveTasks")
QUEUE_MOVE = ("sqs:DeleteMessage", "sqs:ReceiveMessage", "sqs:StartMessageMoveTask")
"""What SQS moves dead letters with: in the name of whoever asks it to."""
SECRET_READ = ("secretsmanager:GetSecretValue",)
SECRET_WRITE = ("secretsmanager:PutSecretValue",)
OPEN = ("kms:Decrypt",)
SEAL = ("kms:GenerateDataKey",)
TABLE_KEY_READ = (*OPEN, "kms:DescribeKey")
TABLE_KEY_WRITE = ("kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*")
SEARCH_POST_PATHS = ("_search", "_search/*", "_msearch", "_count", "_mget")
"""What a reader may POST: queries. A bulk, which is a POST too, is not among them."""


def statements(
    spec: Function, resources: Resources, *, streams: Iterable[Table] = ()
) -> list[iam.PolicyStatement]:
    """The statements of a function, which also consumes `streams`."""
    return [
        *_tables(spec, resources),
        *_buckets(spec, resources),
        *_streams(resources, streams),
        *_messages(spec, resources),
        *_key(spec, resources, streams),
        *_search(spec, resources),
    ]


def receive(queue_arn: str) -> iam.PolicyStatement:
    """What the mapping of a queue to a function needs of the function's role."""
    return _allow(QUEUE_RECEIVE, [queue_arn])


def write_logs(group_arn: str) -> iam.PolicyStatement:
    """Logging to the function's own group."""
    return _allow(("logs:CreateLogStream", "logs:PutLogEvents"), [group_arn])


def _allow(actions: Iterable[str], arns: list[str]) -> iam.PolicyStatement:
    return iam.PolicyStatement(actions=list(actions), resources=arns)


def _tables(spec: Function, resources: Resources) -> list[iam.PolicyStatement]:
    tables = [r for r in (*spec.reads, *spec.writes) if isinstance(r, Table)]
    read = [arn for table in tables for arn in _table_arns(table, resources)]
    written = [resources.tables[w.name].table_arn for w in spec.writes if isinstance(w, Table)]
    added = [resources.tables[a.name].table_arn for a in spec.appends if isinstance(a, Table)]
    found: list[iam.PolicyStatement] = []
    if read:
        found.append(_allow(TABLE_READ, read))
    if written:
        found.append(_allow(TABLE_WRITE, written))
    if added:
        found.append(_allow(TABLE_APPEND, added))
    return found


def _table_arns(table: Table, resources: Resources) -> list[str]:
    arn = resources.tables[table.name].table_arn
    return [arn, f"{arn}/index/*"] if table.indexes else [arn]


def _buckets(spec: Function, resources: Resources) -> list[iam.PolicyStatement]:
    used = (*spec.reads, *spec.writes)
    read = [resources.buckets[b.name] for b in used if not isinstance(b, Table)]
    written = [resources.buckets[b.name] for b in spec.writes if not isinstance(b, Table)]
    added = [resources.buckets[b.name] for b in spec.appends if not isinstance(b, Table)]
    found: list[iam.PolicyStatement] = []
    for buckets, on_bucket, on_objects in (
        (read, BUCKET_READ, OBJECT_READ),
        (written, BUCKET_WRITE, OBJECT_WRITE),
    ):
        if buckets:
            found.append(_allow(on_bucket, [bucket.bucket_arn for bucket in buckets]))
            found.append(_allow(on_objects, [bucket.arn_for_objects("*") for bucket in buckets]))
    if added:
        found.append(_allow(OBJECT_APPEND, [bucket.arn_for_objects("*") for bucket in added]))
    return found


def _streams(resources: Resources, streams: Iterable[Table]) -> list[iam.PolicyStatement]:
    tables = [resources.tables[table.name] for table in streams]
    if not tables:
        return []
    arns = [table.table_stream_arn for table in tables]
    return [
        _allow(STREAM_READ, [arn for arn in arns if arn is not None]),
        _allow(STREAM_LIST, [f"{table.table_arn}/stream/*" for table in tables]),
    ]


def _messages(spec: Function, resources: Resources) -> list[iam.PolicyStatement]:
    filled = dict.fromkeys((*spec.sends, *spec.redrives))
    queues = [resources.queues[queue.name].queue_arn for queue in filled]
    dead_letters = [resources.dead_letters[queue.name].queue_arn for queue in spec.redrives]
    secrets = [resources.secrets[secret.name].secret_arn for secret in spec.secrets]
    rewritten = [resources.secrets[secret.name].secret_arn for secret in spec.rewrites]
    granted = (
        (QUEUE_SEND, queues),
        ((*QUEUE_LOOK, *QUEUE_MOVE), dead_letters),
        (SECRET_READ, secrets),
        (SECRET_WRITE, rewritten),
    )
    return [_allow(actions, arns) for actions, arns in granted if arns]


def _key(
    spec: Function, resources: Resources, streams: Iterable[Table]
) -> list[iam.PolicyStatement]:
    """The key, by way of just the services that use it for this function."""
    if resources.key is None:
        return []
    services: dict[str, list[str]] = {}
    for service, actions in _uses_of_key(spec, streams):
        for action in actions:
            services.setdefault(action, []).append(service)
    grouped: dict[tuple[str, ...], list[str]] = {}
    for action, by in services.items():
        grouped.setdefault(tuple(sorted(set(by))), []).append(action)
    return [
        iam.PolicyStatement(
            actions=sorted(actions),
            resources=[resources.key.key_arn],
            conditions={
                "StringEquals": {
                    "kms:ViaService": [f"{name}.{Aws.REGION}.{Aws.URL_SUFFIX}" for name in by]
                }
            },
        )
        for by, actions in sorted(grouped.items())
    ]


def _uses_of_key(spec: Function, streams: Iterable[Table]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """By service, what it does with the key in the name of the function, as AWS documents it."""
    writes_tables = any(isinstance(each, Table) for each in (*spec.writes, *spec.appends))
    writes_objects = any(isinstance(each, Bucket) for each in (*spec.writes, *spec.appends))
    for used, service, actions in (
        (spec.tables, "dynamodb", TABLE_KEY_READ),
        (tuple(streams), "dynamodb", OPEN),
        (writes_tables, "dynamodb", TABLE_KEY_WRITE),
        (any(each not in spec.appends for each in spec.buckets), "s3", OPEN),
        (writes_objects, "s3", SEAL),
        (any(isinstance(each, Bucket) for each in spec.writes), "s3", OPEN),
        ((*spec.sends, *spec.redrives), "sqs", (*SEAL, *OPEN)),
        (spec.receives, "sqs", OPEN),
        (spec.secrets, "secretsmanager", OPEN),
        (spec.rewrites, "secretsmanager", SEAL),
    ):
        if used:
            yield service, actions


def _search(spec: Function, resources: Resources) -> list[iam.PolicyStatement]:
    if resources.domain is None or spec.search == "none":
        return []
    arn = resources.domain.domain_arn
    if spec.search == "write":
        return [_allow(("es:ESHttp*",), [f"{arn}/*"])]
    posts = [f"{arn}/{start}{path}" for path in SEARCH_POST_PATHS for start in ("", "*/")]
    return [
        _allow(("es:ESHttpGet", "es:ESHttpHead"), [f"{arn}/*"]),
        _allow(("es:ESHttpPost",), posts),
        _allow(("es:ESHttpDelete",), [f"{arn}/_search/point_in_time"]),
    ]
