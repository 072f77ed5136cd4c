"""The declaration of the table: its keys and indexes. `create_request` and the stack read it."""

from dataclasses import dataclass
from typing import Any

PARTITION_KEY, SORT_KEY = "PK", "SK"
EXPIRES_AT = "expiresAt"  # time to live, in seconds; only set if a setting requires it
INFO = "info"  # the packed attributes of an entity, as lists return them
TAGS = "tags"


@dataclass(frozen=True)
class Index:
    """A secondary index. Only writes of its keys and of `projected` change it."""

    name: str
    pk: str
    sk: str
    purpose: str
    projected: tuple[str, ...] = ()

    @property
    def attribute_names(self) -> tuple[str, str]:
        return self.pk, self.sk


def _global(number: int, purpose: str, *projected: str) -> Index:
    return Index(f"GSI{number}", f"gsi{number}pk", f"gsi{number}sk", purpose, projected)


def _local(number: int, purpose: str) -> Index:
    return Index(f"LSI{number}", PARTITION_KEY, f"lsi{number}sk", purpose, (INFO,))


GSI1 = _global(1, "Find the experiment of a run or trace")
GSI2 = _global(2, "List experiments of a workspace; full-text search over experiments")
GSI3 = _global(3, "Find an experiment or model by name")
GSI4 = _global(4, "List the permissions for an experiment or model", INFO)
GSI5 = _global(5, "List experiments and models ordered by name", INFO, TAGS)
GLOBAL_INDEXES = (GSI1, GSI2, GSI3, GSI4, GSI5)

LSI1 = _local(1, "Runs by lifecycle stage, then start time")
LSI2 = _local(2, "Runs and traces by time")
LSI3 = _local(3, "Runs and traces by status")
LSI4 = _local(4, "Runs and traces by name")
LSI5 = _local(5, "Runs by the experiment's primary metric")
LOCAL_INDEXES = (LSI1, LSI2, LSI3, LSI4, LSI5)


def create_request(table_name: str) -> dict[str, Any]:
    """The parameters of DynamoDB's CreateTable for this table."""
    indexes = (*GLOBAL_INDEXES, *LOCAL_INDEXES)
    names = {name for index in indexes for name in index.attribute_names}
    return {
        "TableName": table_name,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": _schema(PARTITION_KEY, SORT_KEY),
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": "S"}
            for name in sorted(names | {PARTITION_KEY, SORT_KEY})
        ],
        "GlobalSecondaryIndexes": [_describe_index(index) for index in GLOBAL_INDEXES],
        "LocalSecondaryIndexes": [_describe_index(index) for index in LOCAL_INDEXES],
    }


def _schema(pk: str, sk: str) -> list[dict[str, str]]:
    return [
        {"AttributeName": pk, "KeyType": "HASH"},
        {"AttributeName": sk, "KeyType": "RANGE"},
    ]


def _describe_index(index: Index) -> dict[str, Any]:
    projection: dict[str, Any] = {"ProjectionType": "KEYS_ONLY"}
    if index.projected:
        projection = {"ProjectionType": "INCLUDE", "NonKeyAttributes": list(index.projected)}
    return {
        "IndexName": index.name,
        "KeySchema": _schema(*index.attribute_names),
        "Projection": projection,
    }
