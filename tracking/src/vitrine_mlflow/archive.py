"""The Lambda function that archives expired runs and traces to S3.

DynamoDB's time to live deletes only the item of the run or trace itself, and with it the run or
trace becomes invisible. The function writes this item and all others that belong to it to one
object, then deletes the others. If it fails, Lambda invokes it again with the same record: an
object that exists is left as it is, since some items may have been deleted already.

The object is compressed lines of DynamoDB JSON, the format of DynamoDB's exports and imports.
(Source: DynamoDB Developer Guide, "DynamoDB table export output format".)

The function has no package but boto3, which Lambda provides: MLflow must not be imported here.
"""

import base64
import gzip
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import quote

import boto3
from boto3.dynamodb import conditions
from boto3.dynamodb.types import TypeSerializer
from botocore.exceptions import ClientError

from vitrine_mlflow.encoding import clip
from vitrine_mlflow.expressions import Item, key_of
from vitrine_mlflow.keys import Key
from vitrine_mlflow.ownership import Owner, derived_keys, owner_at
from vitrine_mlflow.table import PARTITION_KEY, SORT_KEY

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table
    from mypy_boto3_s3 import S3Client

TABLE, BUCKET, PREFIX = "ARCHIVE_TABLE", "ARCHIVE_BUCKET", "ARCHIVE_PREFIX"  # in the environment
# The identity that deletes expired items. (Source: DynamoDB Developer Guide, "DynamoDB Streams and
# Time to Live".)
TIME_TO_LIVE = {"type": "Service", "principalId": "dynamodb.amazonaws.com"}
_ID_BYTES = 500  # a key in S3 has at most 1,024

Record = Mapping[str, Any]


def handler(event: Mapping[str, Any], context: object) -> None:  # noqa: ARG001 - Lambda's signature
    """Archive the runs and traces of a batch. After an error, Lambda repeats the batch."""
    for record in event["Records"]:
        _archive().store(record)


@cache
def _archive() -> "Archive":
    table = boto3.resource("dynamodb").Table(os.environ[TABLE])
    return Archive(table, boto3.client("s3"), os.environ[BUCKET], os.environ[PREFIX])


@dataclass(frozen=True)
class Archive:
    """Moves expired runs and traces from a table to a bucket."""

    table: "Table"
    s3: "S3Client"
    bucket: str
    prefix: str

    def store(self, record: Record) -> None:
        """Archive the run or trace of a record; records of other deletions have no effect.

        Raises:
            ValueError: the expired item is no run and no trace.
        """
        if record["eventName"] != "REMOVE" or record.get("userIdentity") != TIME_TO_LIVE:
            return
        change = record["dynamodb"]
        image: dict[str, Any] = change["OldImage"]
        owner = owner_at(Key(image[PARTITION_KEY]["S"], image[SORT_KEY]["S"]))
        with tempfile.TemporaryFile() as file:
            # as DynamoDB exports items, the image of the deleted one first
            typed = (
                {name: TypeSerializer().serialize(value) for name, value in item.items()}
                for item in self._items(owner)
            )
            with gzip.open(file, "wt", encoding="utf-8") as lines:
                for entry in chain([image], typed):
                    text = json.dumps({"Item": entry}, ensure_ascii=False, default=_base64)
                    lines.write(f"{text}\n")
            file.seek(0)
            self._put(self.object_key(owner, change["SequenceNumber"]), file)
        self._delete(owner)

    def object_key(self, owner: Owner, sequence_number: str) -> str:
        """The key of an object."""
        # An id may be used again later, a sequence number never is.
        name = clip(quote(owner.id, safe=""), _ID_BYTES)
        return f"{self.prefix}{owner.experiment_id}/{owner.kind}s/{name}/{sequence_number}.json.gz"

    def _items(self, owner: Owner) -> Iterator[Item]:
        """All items of a run or trace besides its own."""
        # unlike other clients, that of a resource takes conditions and plain values
        pages: Any = self.table.meta.client.get_paginator("query")
        for prefix in owner.prefixes:
            own = conditions.Key(PARTITION_KEY).eq(owner.key.pk)
            for page in pages.paginate(
                TableName=self.table.name,
                KeyConditionExpression=own & conditions.Key(SORT_KEY).begins_with(prefix),
                ConsistentRead=True,
            ):
                yield from page["Items"]

    def _put(self, key: str, file: IO[bytes]) -> None:
        try:
            self.s3.put_object(Bucket=self.bucket, Key=key, Body=file, IfNoneMatch="*")
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") != "PreconditionFailed":
                raise

    def _delete(self, owner: Owner) -> None:
        with self.table.batch_writer() as batch:
            for item in self._items(owner):
                # the rows that repeat an item are deleted before it, or nothing would name them
                for key in (*derived_keys(item), key_of(item)):
                    batch.delete_item(_attributes(key))
        # While there is a look-up, nothing with the same id can be created.
        self.table.delete_item(Key=_attributes(owner.lookup))


def _attributes(key: Key) -> dict[str, str]:
    return {PARTITION_KEY: key.pk, SORT_KEY: key.sk}


def _base64(binary: bytes) -> str:
    return base64.b64encode(binary).decode()
