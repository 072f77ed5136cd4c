"""The IAM statements of functions, derived from their declarations.

These are the only grants: CDK's own grants are not used.
"""

from collections.abc import Iterable, Iterator

from aws_cdk import Aws
from aws_cdk import aws_iam as iam

from backend.spec.buckets import ASSET_BUCKET, AUXILIARY_BUCKET, Bucket
from backend.spec.functions import Function
from backend.spec.functions.apis import EXPORTS_API
from backend.spec.functions.model import RunRequest, SearchAccess
from backend.spec.functions.searches import SEARCH_API
from backend.spec.key_layouts import EXPORTS_PREFIX, PREVIEW_KEYS, RUNS_PREFIX
from backend.spec.requests import BUCKET_WRITES, OF_BUCKETS, TABLE_WRITES
from backend.spec.search_indexes import SEARCH_INDEXES
from backend.spec.tables.model import Table
from infra.resources import Resources

STREAM_READ = ("dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator")
# Granted on `<table>/stream/*`, because the request is for all streams of a table.
STREAM_LIST = ("dynamodb:ListStreams",)

QUEUE_SEND = ("sqs:SendMessage",)
QUEUE_RECEIVE = (
    "sqs:ChangeMessageVisibility",
    "sqs:DeleteMessage",
    "sqs:GetQueueAttributes",
    "sqs:ReceiveMessage",
)
QUEUE_LOOK = ("sqs:GetQueueAttributes",)
# The actions that SQS performs in the caller's role to move dead letters.
QUEUE_MOVE = (
    "sqs:DeleteMessage",
    "sqs:ListMessageMoveTasks",
    "sqs:ReceiveMessage",
    "sqs:StartMessageMoveTask",
)
TOPIC_PUBLISH = ("sns:Publish",)
EVENTS_PUBLISH = ("events:PutEvents",)
TOPIC_SUBSCRIBE = ("sns:Subscribe",)
POOL_ADMINISTER = (
    "cognito-idp:AdminCreateUser",
    "cognito-idp:AdminDeleteUser",
    "cognito-idp:AdminGetUser",
    "cognito-idp:AdminResetUserPassword",
    "cognito-idp:AdminUpdateUserAttributes",
    "cognito-idp:ListUsers",
)
POOL_READ = ("cognito-idp:AdminGetUser",)
# The actions that Lambda performs in a function's role to place the function in a network.
NETWORK_JOIN = (
    "ec2:AssignPrivateIpAddresses",
    "ec2:CreateNetworkInterface",
    "ec2:DeleteNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:UnassignPrivateIpAddresses",
)
RUNS: dict[RunRequest, str] = {
    "start": "states:StartExecution",
    "stop": "states:StopExecution",
    "describe": "states:DescribeExecution",
    "steps": "states:GetExecutionHistory",
}
CALL = ("lambda:InvokeFunction",)
QUOTAS_READ = ("lambda:GetAccountSettings",)
SECRET_READ = ("secretsmanager:GetSecretValue",)
SECRET_WRITE = ("secretsmanager:PutSecretValue",)
OPEN = ("kms:Decrypt",)
SEAL = ("kms:GenerateDataKey",)
TABLE_KEY_READ = (*OPEN, "kms:DescribeKey")
TABLE_KEY_WRITE = ("kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*")
_INDEXES = tuple(f"{index.alias}-*" for index in SEARCH_INDEXES)
# Methods and paths by kind of access. A PUT of an index's name creates the index.
SEARCH: dict[SearchAccess, tuple[tuple[str, str], ...]] = {
    "none": (),
    "inspect": (("es:ESHttpGet", "*/_mapping"), ("es:ESHttpGet", "*/_settings")),
    "query": (("es:ESHttpPost", "*/_search"),),
    "read": (
        ("es:ESHttpPost", "*/_search"),
        ("es:ESHttpPost", "*/_search/point_in_time"),
        ("es:ESHttpPost", "_search"),  # of a point in time, which names its indexes
        ("es:ESHttpGet", "_search/point_in_time/_all"),
        ("es:ESHttpDelete", "_search/point_in_time"),
        ("es:ESHttpGet", "*/_mapping"),
    ),
    "write": (("es:ESHttpPost", "_bulk"),),
    "sweep": (("es:ESHttpPost", "_bulk"), ("es:ESHttpPost", "*/_search")),
    "manage": (
        *(("es:ESHttpPut", indexes) for indexes in _INDEXES),
        ("es:ESHttpPut", "_cluster/settings"),
        ("es:ESHttpPost", "_aliases"),
        ("es:ESHttpGet", "*/_mapping"),
        ("es:ESHttpGet", "*/_settings"),
    ),
    "renew": (
        *(("es:ESHttpPut", indexes) for indexes in _INDEXES),
        *(("es:ESHttpDelete", indexes) for indexes in _INDEXES),
        ("es:ESHttpPost", "_aliases"),
        ("es:ESHttpPost", "_bulk"),
        ("es:ESHttpPost", "*/_search"),
    ),
}


def statements(
    spec: Function, resources: Resources, *, streams: Iterable[Table] = ()
) -> list[iam.PolicyStatement]:
    """Return the statements of a function, which also consumes `streams`."""
    # A deployment has readers only if its setting for them is on.
    called = [resources.readers[r.name] for r in spec.calls if r.name in resources.readers]
    reads_quotas = spec.reads_quotas and resources.network is None
    pool = resources.user_pool
    uses_of_pool = {"read": POOL_READ, "administered": POOL_ADMINISTER}.get(spec.user_pool)
    tables = [resources.tables[table.name] for table in streams]
    stream_arns = [table.table_stream_arn for table in tables if table.table_stream_arn]
    lists = [f"{table.table_arn}/stream/*" for table in tables]
    return [
        *_tables(spec, resources),
        *_buckets(spec, resources),
        *([_allow(STREAM_READ, stream_arns), _allow(STREAM_LIST, lists)] if tables else []),
        *_messages(spec, resources),
        *_runs(spec, resources),
        *(_allow(CALL, [function.function_arn]) for function in called),
        *([_allow(QUOTAS_READ, ["*"])] if reads_quotas else []),  # quotas have no ARN
        *_key(spec, resources, streams),
        *_imported_keys(spec, resources),
        *_search(spec, resources),
        *([_allow(uses_of_pool, [pool.user_pool_arn])] if pool and uses_of_pool else []),
    ]


def receive(queue_arn: str) -> iam.PolicyStatement:
    """Return the statements that the mapping of a queue needs in the function's role."""
    return _allow(QUEUE_RECEIVE, [queue_arn])


def join_network() -> iam.PolicyStatement:
    """Let Lambda place the function in a network.

    The function's own code gets no permission for it.
    """
    return iam.PolicyStatement(
        actions=list(NETWORK_JOIN),
        resources=["*"],  # interfaces have no names before they exist
        # This key exists in requests of the function's code, not in those of Lambda itself.
        conditions={"Null": {"lambda:SourceFunctionArn": "true"}},
    )


def write_logs(group_arn: str) -> iam.PolicyStatement:
    """Return the permission to write to the function's own log group."""
    return _allow(("logs:CreateLogStream", "logs:PutLogEvents"), [group_arn])


def _allow(actions: Iterable[str], arns: list[str]) -> iam.PolicyStatement:
    return iam.PolicyStatement(actions=list(actions), resources=arns)


def _tables(spec: Function, resources: Resources) -> list[iam.PolicyStatement]:
    granted = _Granted()
    for table in spec.tables:
        arn = resources.tables[table.name].table_arn
        requests = set(spec.uses[table])
        of_indexes = requests & {"QueryIndexes"}
        granted.add(arn, (f"dynamodb:{request}" for request in requests - of_indexes))
        if of_indexes:
            granted.add(f"{arn}/index/*", ("dynamodb:Query",))
    return granted.statements()


def _buckets(spec: Function, resources: Resources) -> list[iam.PolicyStatement]:
    granted = _Granted()
    for declared in spec.buckets:
        bucket = resources.buckets[declared.name]
        requests = set(spec.uses[declared])
        of_bucket = requests & set(OF_BUCKETS)
        arns = [bucket.bucket_arn]
        if declared is ASSET_BUCKET:
            arns += [f"arn:{Aws.PARTITION}:s3:::{name}" for name in resources.imported_buckets]
        for arn in arns:
            granted.add(arn, (f"s3:{request}" for request in of_bucket))
            of_objects = [f"s3:{request}" for request in requests - of_bucket]
            for below in objects_of(spec, declared):
                granted.add(f"{arn}{below}", of_objects)
    return granted.statements()


def objects_of(spec: Function, bucket: Bucket) -> tuple[str, ...]:
    """Return the keys of a bucket that a function may use.

    A pipeline may use those of executions only, search those of previews, and exports their own.
    """
    if spec.kind == "pipeline" and bucket is AUXILIARY_BUCKET:
        return (f"/{RUNS_PREFIX}*",)
    if spec.name == EXPORTS_API.name and bucket is AUXILIARY_BUCKET:
        return (f"/{EXPORTS_PREFIX}*",)
    if spec.name == SEARCH_API.name:
        return PREVIEW_KEYS
    return ("/*",)


class _Granted:
    """Actions by resource; resources with the same actions share one statement."""

    def __init__(self) -> None:
        self._actions: dict[str, set[str]] = {}

    def add(self, arn: str, actions: Iterable[str]) -> None:
        self._actions.setdefault(arn, set()).update(actions)

    def statements(self) -> list[iam.PolicyStatement]:
        grouped: dict[tuple[str, ...], list[str]] = {}
        for arn, actions in self._actions.items():
            grouped.setdefault(tuple(sorted(actions)), []).append(arn)
        return [_allow(actions, arns) for actions, arns in sorted(grouped.items()) if actions]


def _messages(spec: Function, resources: Resources) -> list[iam.PolicyStatement]:
    filled = dict.fromkeys((*spec.sends, *spec.redrives))
    queues = [resources.queues[queue.name].queue_arn for queue in filled]
    watched = [resources.queues[queue.name].queue_arn for queue in spec.redrives]
    dead_letters = [resources.dead_letters[queue.name].queue_arn for queue in spec.redrives]
    secrets = [resources.secrets[secret.name].secret_arn for secret in spec.secrets]
    rewritten = [resources.secrets[secret.name].secret_arn for secret in spec.rewrites]
    published = [resources.topics[topic.name].topic_arn for topic in spec.publishes]
    bus = resources.event_bus if spec.publishes_events else None
    subscribed = [resources.topics[topic.name].topic_arn for topic in spec.subscribes]
    granted = (
        (QUEUE_SEND, queues),
        (TOPIC_PUBLISH, published),
        (TOPIC_SUBSCRIBE, subscribed),
        (EVENTS_PUBLISH, [bus.attr_arn] if bus is not None else []),
        (QUEUE_LOOK, watched),
        ((*QUEUE_LOOK, *QUEUE_MOVE), dead_letters),
        (SECRET_READ, secrets),
        (SECRET_WRITE, rewritten),
    )
    return [_allow(actions, arns) for actions, arns in granted if arns]


def _runs(spec: Function, resources: Resources) -> list[iam.PolicyStatement]:
    machine = resources.state_machine
    executions = f"{machine.replace(':stateMachine:', ':execution:')}:*"
    return [
        _allow([RUNS[request]], [machine if request == "start" else executions])
        for request in spec.runs
    ]


def _key(
    spec: Function, resources: Resources, streams: Iterable[Table]
) -> list[iam.PolicyStatement]:
    """Return the permission to use the key, through the services that use it for the function."""
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


def _imported_keys(spec: Function, resources: Resources) -> list[iam.PolicyStatement]:
    """Return the permission to use imported buckets' keys, through S3, for access to files."""
    requests = set(spec.uses.get(ASSET_BUCKET, ()))
    reads, writes = requests - {"PutObject"}, requests & set(BUCKET_WRITES)
    if not resources.imported_keys or not (reads or writes):
        return []
    via = f"s3.{Aws.REGION}.{Aws.URL_SUFFIX}"
    return [
        iam.PolicyStatement(
            actions=[*(OPEN if reads else ()), *(SEAL if writes else ())],
            resources=list(resources.imported_keys),
            conditions={"StringEquals": {"kms:ViaService": via}},
        )
    ]


def _uses_of_key(spec: Function, streams: Iterable[Table]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Return by service the operations with the key for the function, as documented by AWS."""
    of_tables = {request for table in spec.tables for request in spec.uses[table]}
    of_buckets = {request for bucket in spec.buckets for request in spec.uses[bucket]}
    for used, service, actions in (
        (spec.tables, "dynamodb", TABLE_KEY_READ),
        (tuple(streams), "dynamodb", OPEN),
        (of_tables & set(TABLE_WRITES), "dynamodb", TABLE_KEY_WRITE),
        # S3 does not decrypt anything to put a whole object
        (of_buckets - {"PutObject"}, "s3", OPEN),
        (of_buckets & set(BUCKET_WRITES), "s3", SEAL),
        ((*spec.sends, *spec.redrives), "sqs", (*SEAL, *OPEN)),
        (spec.receives, "sqs", OPEN),
        (spec.publishes, "sns", (*SEAL, *OPEN)),
        (spec.secrets, "secretsmanager", OPEN),
        (spec.rewrites, "secretsmanager", SEAL),
    ):
        if used:
            yield service, actions


def _search(spec: Function, resources: Resources) -> list[iam.PolicyStatement]:
    if resources.domain is None:
        return []
    granted = _Granted()
    for action, path in SEARCH[spec.search]:
        granted.add(f"{resources.domain.domain_arn}/{path}", (action,))
    return granted.statements()
