"""The cost of each API operation by AWS's rules: requests and units, measured on moto in seconds.

`python -m benchmarks.costs FILE` writes the figures as JSON. They are the same in every run: the
clock is controlled, and random values have a constant length. Each operation is measured in a
running function that must read the caller's roles again, as happens every two seconds, and in a
function that has just started and has cached nothing.
"""

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import boto3

from backend.domains.outgoing_events.models import OutgoingEvent
from backend.spec.functions.operations import AUTHORIZER
from backend.spec.functions.workers import EVENT_PUBLISHER
from backend.spec.queues import EVENT_FEED, OUTGOING_EVENTS
from backend.spec.settings import EVENTS
from backend.spec.tables.operations import RESERVATIONS
from benchmarks.governed import operations_under_schemas
from benchmarks.in_process import Product, deployed, function_of, put_object, put_part, restart
from benchmarks.linked import operations_on_links
from benchmarks.metering import Usage
from benchmarks.ruled import operations_on_constraints
from benchmarks.versioned import operations_on_versions

LISTED = 100
FEW, MANY, VERY_MANY = 1, 50, 250
TOGETHER = 10
_COLD, _WARM = range(2)
_SERVICES = ("dynamodb", "s3", "opensearch", "sqs")
_DESCRIPTION = "Made of marble, found in the east wing in 1903"
_COUNTED = 250_000
"""Assets in each part of the count of the large database."""

Body = Mapping[str, Any]
Request = tuple[str, Body | None]
"""A request and its body."""


@dataclass(frozen=True)
class Operation:
    """An operation. `prepare` creates its precondition and returns a request, a new one each time.

    With `once` there is no second request, which would show what a cold function adds.
    """

    name: str
    method: str
    prepare: Callable[[int], Request]
    once: bool = False


def measure() -> dict[str, Any]:
    """All figures by operation: of the request, of one to a cold function, and of what follows."""
    with deployed() as product:
        costs = {"authenticate a key": _authentication(product)}
        gallery = Gallery(product)
        gallery.fill()
        costs |= {
            operation.name: _measured(product, operation) for operation in gallery.operations()
        }
        return costs | {"publish an event": _publication(product)}


def _authentication(product: Product) -> dict[str, Any]:
    product.authorize()
    restart(AUTHORIZER)
    cold = product.measured(product.authorize)
    product.drop_callers()
    warm = product.measured(product.authorize)
    return {"request": figures(warm), "cold": figures(cold), "after": {}}


def _publication(product: Product) -> dict[str, Any]:
    """Return what the publisher requests for one change; the last, because it turns events on."""
    queue = os.environ[f"QUEUE_{OUTGOING_EVENTS.name}"]
    os.environ.update({EVENTS.variable: "queue", f"QUEUE_{EVENT_FEED.name}": queue})
    event = OutgoingEvent(
        type="asset.changed",
        id="0" * 32,
        at="2026-03-01T12:00:00.000000Z",
        actor="admin",
        operation="update_asset",
        database_id="museum",
        asset_id="made-0",
        fields={},
    )
    records = [product.message(event.model_dump_json(by_alias=True))]
    usage = product.measured(lambda: product.deliver(EVENT_PUBLISHER.name, records))
    return {"request": figures(usage), "after": {}}


def _measured(product: Product, operation: Operation) -> dict[str, Any]:
    usages: dict[int, Usage] = {}
    after: dict[str, Usage] = {}
    for number in (_WARM,) if operation.once else (_COLD, _WARM):
        target, body = operation.prepare(number)
        product.drain()
        if number == _WARM:
            product.drop_callers()
        if number == _COLD:
            restart(function_of(operation.method, target))
        act = partial(product.call, operation.method, target, body)
        usages[number] = product.measured(act)
        after = product.drain()
    measured = {"request": figures(usages[_WARM])}
    if _COLD in usages:
        measured["cold"] = figures(usages[_COLD])
    return {**measured, "after": {name: figures(usage) for name, usage in sorted(after.items())}}


def figures(usage: Usage) -> dict[str, Any]:
    """A usage as JSON."""
    return {
        "requests": {service: usage.of(service) for service in _SERVICES if usage.of(service)},
        "readUnits": usage.read_units,
        "writeUnits": usage.write_units,
    }


@dataclass(frozen=True)
class Gallery:
    """A deployment with a small, a large and a listed database, and the operations on them."""

    product: Product

    def fill(self) -> None:
        """Create the databases, and the assets that are listed."""
        for name in ("museum", "large", "listed"):
            self._new_database(name)
        # What other databases require costs a creation nothing.
        types = [{"tagTypeName": f"type-{n}", "description": _DESCRIPTION} for n in range(LISTED)]
        self.product.call("POST", "/tag-types", {"databaseId": "listed", "tagTypes": types})
        for number in range(LISTED):
            self._new_asset(f"listed-{number:03}", "listed")
        for shard in range(4):
            boto3.client("dynamodb").update_item(
                TableName=RESERVATIONS.name,
                Key={"reservationKey": {"S": f"AssetCount#large#{shard}"}},
                UpdateExpression="SET #c = :n",
                ExpressionAttributeNames={"#c": "count"},
                ExpressionAttributeValues={":n": {"N": str(_COUNTED)}},
            )
        self.product.drain()

    def operations(self) -> Sequence[Operation]:
        return (
            *self._of_databases(),
            *self._of_assets(),
            *self._of_metadata(),
            *(Operation(*row) for row in operations_under_schemas(self.product.call)),
            *self._of_uploads(),
            *self._of_files(),
            *self._of_comments(),
            *(
                Operation(*row)
                for row in operations_on_versions(self.product.call, self._new_asset)
            ),
            *(Operation(*row) for row in operations_on_links(self.product.call, self._new_asset)),
            *self._of_lifecycle(),
            *self._of_search(),
            *(Operation(*row) for row in operations_on_constraints(self.product.call)),
        )

    def _of_databases(self) -> Sequence[Operation]:
        def gone(number: int) -> Request:
            self._new_database(f"gone-{number}")
            return f"/database/gone-{number}", None

        return (
            Operation(
                "create a database",
                "POST",
                lambda n: ("/database", self._database(f"new-{n}")),
            ),
            Operation("get a database", "GET", lambda _: ("/database/listed", None)),
            Operation("list 3 databases", "GET", lambda _: ("/database?maxItems=3", None)),
            Operation("delete a database", "DELETE", gone),
        )

    def _of_assets(self) -> Sequence[Operation]:
        listed = f"/database/listed/assets?maxItems={LISTED}"
        return (
            Operation(
                "create an asset", "POST", lambda n: ("/assets", _asset_body(f"made-{n}", "museum"))
            ),
            Operation(
                "create an asset in a database of a million",
                "POST",
                lambda n: ("/assets", _asset_body(f"more-{n}", "large")),
            ),
            Operation(
                "get an asset", "GET", lambda _: ("/database/listed/assets/listed-001", None)
            ),
            Operation(f"list {LISTED} assets", "GET", lambda _: (listed, None)),
            self._on_asset("change an asset's description", "PUT", "", {"description": "changed"}),
            self._on_asset("rename an asset", "PUT", "", {"assetName": "renamed"}),
        )

    def _of_metadata(self) -> Sequence[Operation]:
        def described(number: int) -> str:
            target = f"{self._new_asset(f'described-{number}-{self.product.next_id()}')}/metadata"
            self.product.call("POST", target, _records(1))
            return target

        def edited(number: int) -> Request:
            (record,) = _records(1, "changed")["metadata"]
            change = {"databaseId": "museum", "metadata": [{**record, "expectedValue": "value"}]}
            ids = (described(number).split("/")[4] for _ in range(TOGETHER))
            return "/metadata/batch", {"entities": [{**change, "assetId": id_} for id_ in ids]}

        gone = {"metadataKeys": ["key-0"]}
        return (
            self._on_asset("add 1 metadata record", "POST", "/metadata", _records(1)),
            self._on_asset("add 10 metadata records", "POST", "/metadata", _records(10)),
            Operation(
                "edit 1 metadata record", "PUT", lambda n: (described(n), _records(1, "changed"))
            ),
            Operation(f"edit 1 metadata record of {TOGETHER} assets at once", "PUT", edited),
            Operation("remove 1 metadata record", "DELETE", lambda n: (described(n), gone)),
            Operation("list 1 metadata record", "GET", lambda n: (described(n), None)),
        )

    def _of_uploads(self) -> Sequence[Operation]:
        def initialise(files: int, number: int) -> Request:
            return "/uploads", self._upload(files, number)

        def complete(files: int, number: int) -> Request:
            body = self._upload(files, number)
            begun = self.product.call("POST", "/uploads", body)
            done = [_put(file) for file in begun["files"]]
            return f"/uploads/{begun['uploadId']}/complete", {**body, "files": done}

        return tuple(
            Operation(f"{verb} an upload of {_files(files)}", "POST", partial(prepare, files))
            for files in (FEW, MANY)
            for verb, prepare in (("start", initialise), ("complete", complete))
        )

    def _of_files(self) -> Sequence[Operation]:
        asset = self._new_asset("filled")
        for number in range(MANY):
            put_object(f"filled/part-{number:02}.glb", b"glTF")
        self.product.call("GET", f"{asset}/listFiles")
        wanted = {"downloadType": "assetFile", "key": "/part-07.glb"}
        file = {"filePath": "/part-07.glb", "type": "metadata"}
        return (
            Operation(f"list {MANY} files", "GET", lambda _: (f"{asset}/listFiles", None)),
            Operation(
                f"list {MANY} files, basic",
                "GET",
                lambda _: (f"{asset}/listFiles?basic=true", None),
            ),
            Operation(
                "describe a file",
                "GET",
                lambda _: (f"{asset}/fileInfo?filePath=/part-07.glb", None),
            ),
            Operation("get a download URL", "POST", lambda _: (f"{asset}/download", wanted)),
            Operation(
                "stream a file",
                "GET",
                lambda _: (f"{asset}/download/stream/part-07.glb", None),
            ),
            Operation(
                "edit 1 metadata record of a file",
                "PUT",
                lambda n: (f"{asset}/metadata/file", {**file, **_records(1, f"value {n}")}),
            ),
        )

    def _of_comments(self) -> Sequence[Operation]:
        asset = "/comments/assets/listed-001"

        def place(number: int) -> str:
            return f"{asset}/assetVersionId:commentId/0:{number}-{self.product.next_id()}"

        def written(number: int) -> str:
            target = place(number)
            self.product.call("POST", target, {"commentBody": "Nice"})
            return target

        text = {"commentBody": "Nicer"}
        return (
            Operation("comment on an asset", "POST", lambda n: (place(n), text)),
            Operation("edit a comment", "PUT", lambda n: (written(n), text)),
            Operation("delete a comment", "DELETE", lambda n: (written(n), None)),
            Operation("list comments", "GET", lambda _: (asset, None)),
        )

    def _of_lifecycle(self) -> Sequence[Operation]:
        def asset_of(files: int) -> str:
            return f"/database/museum/assets/keeps-{files}"

        def first(files: int, _: int) -> Request:
            asset = self._new_asset(f"keeps-{files}")
            for number in range(files):
                put_object(f"keeps-{files}/part-{number:04}.glb", b"glTF")
            return f"{asset}/archiveAsset", {"confirmArchive": True}

        def then(verb: str, body: Body, files: int, _: int) -> Request:
            return f"{asset_of(files)}/{verb}", body

        back = partial(then, "unarchiveAsset", {"confirmUnarchive": True})
        gone = partial(then, "deleteAsset", {"confirmPermanentDelete": True})
        return tuple(
            Operation(
                f"{verb} an asset of {_files(files)}", method, partial(make, files), once=True
            )
            for files in (FEW, VERY_MANY)
            for verb, method, make in (
                ("archive", "DELETE", first),
                ("restore", "PUT", back),
                ("delete", "DELETE", gone),
            )
        )

    def _of_search(self) -> Sequence[Operation]:
        return (
            Operation("search", "POST", lambda _: ("/search", {"query": "statue"})),
            Operation("search simply", "POST", lambda _: ("/search/simple", {"query": "statue"})),
        )

    def _on_asset(self, name: str, method: str, below: str, body: Body) -> Operation:
        """An operation on an asset of its own."""

        def prepare(number: int) -> Request:
            asset = self._new_asset(f"own-{number}-{self.product.next_id()}")
            return asset + below, body

        return Operation(name, method, prepare)

    def _upload(self, files: int, number: int) -> Body:
        name = f"filled-{files}-{number}-{self.product.next_id()}"
        self._new_asset(name)
        wanted = [
            {"relativeKey": f"/part-{number:02}.glb", "file_size": 4, "num_parts": 1}
            for number in range(files)
        ]
        scope = {"databaseId": "museum", "assetId": name, "uploadType": "assetFile"}
        return {**scope, "files": wanted}

    def _new_asset(self, asset_id: str, database_id: str = "museum") -> str:
        """Create an asset; return its path."""
        self.product.call("POST", "/assets", _asset_body(asset_id, database_id))
        return f"/database/{database_id}/assets/{asset_id}"

    def _new_database(self, name: str) -> None:
        self.product.call("POST", "/database", self._database(name))

    def _database(self, name: str) -> Body:
        (bucket,) = self.product.call("GET", "/buckets")["Items"]
        return {
            "databaseId": name,
            "description": _DESCRIPTION,
            "defaultBucketId": bucket["bucketId"],
        }


def _asset_body(asset_id: str, database_id: str) -> Body:
    return {
        "databaseId": database_id,
        "assetId": asset_id,
        "assetName": "A statue of a horse",
        "description": _DESCRIPTION,
        "isDistributable": True,
    }


def _records(number: int, value: str = "value") -> dict[str, Any]:
    return {
        "metadata": [
            {"metadataKey": f"key-{index}", "metadataValue": value, "metadataValueType": "string"}
            for index in range(number)
        ]
    }


def _put(file: Mapping[str, Any]) -> Body:
    """Put the part of a file; return the file's entry for the completion."""
    (url,) = file["partUploadUrls"]
    parts = [{"PartNumber": 1, "ETag": put_part(url["UploadUrl"], b"glTF")}]
    names = ("relativeKey", "uploadIdS3")
    return {**{name: file[name] for name in names}, "parts": parts}


def _files(number: int) -> str:
    return f"{number:,} file{'s' * (number > 1)}"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(measure(), indent=1), encoding="utf-8")
