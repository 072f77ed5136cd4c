"""Reads the answers of DynamoDB and S3 with less work than botocore's general parsers.

They walk every value of every item by its service model, and take times to be in any format:
measured, two thirds of the time that indexing spends in Python. Items come as JSON that already
has the wire form which `items` reads, and S3 tells times in one format.
"""

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

import boto3
import botocore.session
from botocore.utils import parse_timestamp

if TYPE_CHECKING:
    from botocore.client import BaseClient

_READS = ("BatchGetItem", "GetItem", "Query", "Scan")
_OK = 200


def take_items_as_sent(client: "BaseClient") -> None:
    """Let the reads of a DynamoDB client answer with the JSON as it came.

    Binary values are then base64 text; `items.from_wire` takes both.
    """
    for operation in _READS:
        client.meta.events.register(f"before-parse.dynamodb.{operation}", _replace_body)


def session_with_iso_times() -> "boto3.Session":
    """A session whose clients read ISO times directly; all other formats as before."""
    below = botocore.session.get_session()
    factory: Any = below.get_component("response_parser_factory")
    factory.set_parser_defaults(timestamp_parser=_time)
    return boto3.Session(botocore_session=below)


def _replace_body(
    response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_: object
) -> None:
    if response_dict["status_code"] == _OK:
        customized_response_dict.update(json.loads(response_dict["body"]))
        response_dict["body"] = b"{}"


def _time(value: Any) -> datetime:
    # fractions of any length and `Z` are ISO for Python since 3.11
    if isinstance(value, str) and value.endswith("Z"):
        try:
            return datetime.fromisoformat(value)
        except ValueError:
            pass
    return parse_timestamp(value)
