"""Parses responses of DynamoDB and S3 with less work than botocore's general parsers.

botocore walks every value of every item by its service model, and accepts times in any format:
measured, two thirds of the time that indexing spends in Python. Items are JSON that already has the
wire format which `items` reads, and S3's listings of versions are flat.
"""

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import boto3
import botocore.session
from botocore.utils import parse_timestamp

if TYPE_CHECKING:
    from botocore.client import BaseClient

READS = ("BatchGetItem", "GetItem", "Query", "Scan")
_OK = 200
_LISTS = {"Version": "Versions", "DeleteMarker": "DeleteMarkers"}
_PLACES = frozenset(
    {
        "EncodingType",
        "KeyMarker",
        "NextKeyMarker",
        "NextVersionIdMarker",
        "Prefix",
        "VersionIdMarker",
    }
)
_TEXTS = frozenset({"ETag", "Key", "StorageClass", "VersionId"})


def return_items_unparsed(client: "BaseClient") -> None:
    """Let the reads of a DynamoDB client return the JSON as received.

    Binary values are then base64 text; `items.from_wire` accepts both.
    """
    for operation in READS:
        client.meta.events.register(f"before-parse.dynamodb.{operation}", _replace_body)


def session_with_iso_times() -> "boto3.Session":
    """Return a session whose clients parse ISO times directly, and other formats as before."""
    below = botocore.session.get_session()
    factory: Any = below.get_component("response_parser_factory")
    factory.set_parser_defaults(timestamp_parser=_time)
    return boto3.Session(botocore_session=below)


def parse_versions_minimally(client: "BaseClient") -> None:
    """Let an S3 client parse listings of versions without owners and checksums."""
    client.meta.events.register("before-parse.s3.ListObjectVersions", _read_versions)


def _replace_body(
    response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_: object
) -> None:
    if response_dict["status_code"] == _OK:
        customized_response_dict.update(json.loads(response_dict["body"]))
        response_dict["body"] = b"{}"


def _read_versions(
    response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_: object
) -> None:
    if response_dict["status_code"] != _OK:
        return
    # From S3 over the signed connection that any parser would trust.
    root = ElementTree.fromstring(response_dict["body"])  # noqa: S314
    listed: dict[str, list[dict[str, Any]]] = {}
    answer: dict[str, Any] = {"IsTruncated": False}
    for position, element in enumerate(root):
        name = _plain_name(element)
        if name in _LISTS:
            # S3 sends versions and markers in one order, which separate lists would lose.
            entry = {**_version(element), "Position": position}
            listed.setdefault(_LISTS[name], []).append(entry)
        elif name in _PLACES:
            answer[name] = element.text or ""
        elif name == "IsTruncated":
            answer[name] = element.text == "true"
    customized_response_dict.update(answer | listed)
    response_dict["body"] = b"<ListVersionsResult/>"


def _version(element: ElementTree.Element) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for part in element:
        name, text = _plain_name(part), part.text or ""
        if name in _TEXTS:
            values[name] = text
        elif name == "Size":
            values[name] = int(text)
        elif name == "IsLatest":
            values[name] = text == "true"
        elif name == "LastModified":
            values[name] = _time(text)
    return values


def _plain_name(element: ElementTree.Element) -> str:
    """Return the name of an element without its namespace, which not every store sends."""
    return element.tag.rpartition("}")[2]


def _time(value: Any) -> datetime:
    # fractions of any length and `Z` are ISO for Python since 3.11
    if isinstance(value, str) and value.endswith("Z"):
        try:
            return datetime.fromisoformat(value)
        except ValueError:
            pass
    return parse_timestamp(value)
