"""Operations on versions of assets with many files, for the page on costs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import boto3

from backend.spec import keys
from backend.spec.tables.metadata import ASSET_FILE_METADATA
from benchmarks.in_process import put_object

Request = tuple[str, Mapping[str, Any] | None]
Named = tuple[str, str, Callable[[int], Request], bool]
"""A name, a method, a function that returns the nth request, and whether there is only one."""

MANY, VERY_MANY = 50, 500
_RECORDS = 510
MANY_RECORDS = f"create a version of {MANY} files and {_RECORDS} records"


def operations_on_versions(
    call: Callable[..., Any], new_asset: Callable[[str], str]
) -> Iterator[Named]:
    """Creates, reads, reverts to and exports versions.

    `new_asset` creates assets from their ids.
    """

    def create(asset: str, number: int) -> Request:
        body = {"comment": f"version {number}", "useLatestFiles": True}
        return f"{asset}/createVersion", body

    def filled(name: str, files: int) -> str:
        asset = new_asset(name)
        _put_files(name, files)
        return asset

    def changed(_: int) -> Request:
        asset = filled("reverted", MANY)
        call("POST", *create(asset, 1))
        _put_files("reverted", MANY)
        return f"{asset}/revertAssetVersion/1", {"comment": "as it was"}

    asset = filled("versioned", MANY)
    _put_records("versioned", [("/", 10), *((_path(number), 10) for number in range(MANY))])
    yield MANY_RECORDS, "POST", lambda n: create(asset, n), True
    yield "list 2 versions", "GET", lambda _: (f"{asset}/getVersions", None), False
    whole = f"get a version of {MANY} files and {_RECORDS} records"
    yield whole, "GET", lambda _: (f"{asset}/getVersion/1", None), False
    exported = filled("exported", MANY)
    yield f"export {MANY} files", "POST", lambda _: (f"{exported}/export", {}), False
    for files in (MANY, VERY_MANY):
        yield (
            f"create a version of {files} files",
            "POST",
            lambda n, files=files: create(filled(f"current-{files}", files), n),
            True,
        )
    yield f"revert {MANY} files to a version", "POST", changed, True


def _path(number: int) -> str:
    return f"/part-{number:03}.glb"


def _put_files(asset_id: str, files: int) -> None:
    for number in range(files):
        put_object(f"{asset_id}{_path(number)}", b"glTF")


def _put_records(asset_id: str, wanted: Sequence[tuple[str, int]]) -> None:
    """Put metadata directly into its table: the number of records by file."""
    with boto3.resource("dynamodb").Table(ASSET_FILE_METADATA.name).batch_writer() as batch:
        for path, count in wanted:
            for number in range(count):
                batch.put_item(
                    Item={
                        "metadataKey": f"key-{number}",
                        keys.FILE.name: keys.FILE.build("museum", asset_id, path),
                        keys.ASSET.name: keys.ASSET.build("museum", asset_id),
                        "metadataValue": "value",
                        "metadataValueType": "string",
                    }
                )
