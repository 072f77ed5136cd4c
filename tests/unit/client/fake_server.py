"""A server in memory with the API's routes that the client uses, and its storage.

It has no permissions and no versions. `fail` adds faults before it. Routes of which it has no state
reply with the example of the OpenAPI document.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import unquote

import httpx
from pydantic import JsonValue

from tests.unit.client.documented import example_reply
from tests.unit.client.fake_files import Document, FakeFiles, Refused, refuse, reply

API = "https://api.test"
KEY = "vams_test-key"
BUCKET = "5b0b7a53-6a46-4a39-9d5c-0a3f0a6c0001"

Response = httpx.Response | Exception


@dataclass
class Fault:
    method: str
    path: re.Pattern[str]
    answers: list[Response]
    after: bool = False
    """The request is carried out first: only the reply is lost."""


class FakeServer(FakeFiles):
    """The state, and two transports that serve it."""

    def __init__(self) -> None:
        super().__init__()
        self.databases: dict[str, Document] = {}
        self.assets: dict[tuple[str, str], Document] = {}
        self.metadata: dict[str, dict[str, Document]] = {}
        self.tags: set[str] = set()
        self.requests: list[tuple[str, str]] = []
        self.bodies: list[tuple[str, Document]] = []
        self.sent: list[httpx.Request] = []
        self.storage_requests: list[httpx.Request] = []
        self.faults: list[Fault] = []
        self.plain_names_only = False
        self.hidden_from_search: set[str] = set()
        self.facts: dict[str, dict[str, str]] = {}
        self.glbs: set[str] = set()
        self.drained_after = 0
        self.api = httpx.MockTransport(self.serve_api)
        self.storage = httpx.MockTransport(self.serve_storage)
        self.admin = httpx.MockTransport(self.serve_admin)

    def store_pump(self) -> None:
        """Store the database `garage` with the asset `pump`, which has no files."""
        self.databases["garage"] = {"databaseId": "garage", "description": "All cars"}
        self.assets["garage", "pump"] = {
            "databaseId": "garage",
            "assetId": "pump",
            "assetName": "Pump",
            "status": "active",
            "rev": 1,
            "assetLocation": {"Key": "base/pump/"},
        }

    def fail(self, method: str, path: str, *answers: Response, after: bool = False) -> None:
        """The next matching requests receive these replies, one each."""
        self.faults.append(Fault(method, re.compile(path), list(answers), after))

    def calls(self, method: str, path: str) -> int:
        pattern = re.compile(path)
        return sum(verb == method and bool(pattern.search(to)) for verb, to in self.requests)

    def content(self) -> dict[str, bytes]:
        """Every stored file by asset name and path."""
        names = {asset_id: str(asset["assetName"]) for (_, asset_id), asset in self.assets.items()}
        return {f"{names[asset]}{path}": file.content for (asset, path), file in self.files.items()}

    # -- serving -----------------------------------------------------------------------------

    def serve_api(self, request: httpx.Request) -> httpx.Response:
        with self.lock:
            path = request.url.raw_path.decode().partition("?")[0]
            self.requests.append((request.method, path))
            self.sent.append(request)
            return self._with_faults(request, path, self._answer)

    def serve_storage(self, request: httpx.Request) -> httpx.Response:
        request.read()
        with self.lock:
            self.storage_requests.append(request)
            return self._with_faults(request, f"storage{request.url.path}", self.serve_url)

    def serve_admin(self, request: httpx.Request) -> httpx.Response:
        self.drained_after -= 1
        drained = self.drained_after < 0
        return httpx.Response(200, json={"drained": drained, "queues": {"files": 3}})

    def _with_faults(
        self, request: httpx.Request, path: str, answer: Callable[[httpx.Request], httpx.Response]
    ) -> httpx.Response:
        for fault in self.faults:
            if fault.answers and fault.method == request.method and fault.path.search(path):
                if fault.after:
                    answer(request)
                planned = fault.answers.pop(0)
                if isinstance(planned, Exception):
                    raise planned
                return planned
        return answer(request)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        path = request.url.raw_path.decode().partition("?")[0]
        public = path == "/api/version"
        if not public and request.headers.get("Authorization") != KEY:
            return httpx.Response(401, json={"message": "Unauthorized"})
        parts = [unquote(part) for part in path.strip("/").split("/")]
        body: Document = json.loads(request.content) if request.content else {}
        self.bodies.append((f"{request.method} {path}", body))
        try:
            return self._route(request, parts, body)
        except Refused as refused:
            return refused.response

    def _route(self, request: httpx.Request, parts: list[str], body: Document) -> httpx.Response:
        query = request.url.params
        match [request.method, *parts]:
            case ["GET", "api", "version"]:
                answer = reply({"version": "2.5.1", "productVersion": "0.1.0"})
            case ["GET", "buckets"]:
                answer = reply({"Items": [{"bucketId": BUCKET, "bucketName": "assets"}]})
            case ["POST", "assets"]:
                answer = self._create_asset(body)
            case [method, "uploads", *rest]:
                answer = self.upload_route(method, rest, body)
            case ["POST", "search", *_]:
                answer = self._search(body, full=len(parts) == 1)
            case [_, "tags" | "tag-types", *_]:
                answer = self._tag_route(request.method, parts[0], body, query)
            case [method, "database", database_id, "assets", asset_id, *rest]:
                archived = "showArchived" in query or request.url.path.endswith("archiveAsset")
                asset = self._visible_asset(database_id, asset_id, archived=archived)
                answer = self._asset_route(request, method, asset, rest, body)
            case [_, "database", *rest]:
                answer = self._database_route(request, rest, body)
            case _:
                answer = example_reply(request)
        return answer

    def _visible_asset(self, database_id: str, asset_id: str, *, archived: bool) -> Document:
        asset = self.assets.get((database_id, asset_id)) or refuse(404, "no such asset")
        if asset["status"] != "active" and not archived:
            refuse(404, "no such asset")
        return asset

    def _database_route(
        self, request: httpx.Request, rest: list[str], body: Document
    ) -> httpx.Response:
        query = request.url.params
        match [request.method, *rest]:
            case ["POST"]:
                answer = self._create_database(body)
            case ["GET"]:
                answer = self.page(list(self.databases.values()), query, "Items")
            case ["GET", database_id]:
                database = self.databases.get(database_id) or refuse(404, "no such database")
                answer = reply(database, headers={"ETag": '"1"'})
            case ["GET", database_id, "assets"]:
                rows = [asset for (owner, _), asset in self.assets.items() if owner == database_id]
                is_all = "showArchived" in query
                shown = [row for row in rows if is_all or row["status"] == "active"]
                answer = self.page(shown, query, "Items")
            case _:
                answer = example_reply(request)
        return answer

    def _tag_route(
        self, method: str, kind: str, body: Document, query: httpx.QueryParams
    ) -> httpx.Response:
        if method == "GET":
            return self.page([{"tagName": tag} for tag in sorted(self.tags)], query, "Items")
        if kind == "tag-types":
            refuse(409, "the tag type exists")
        self.tags.add(str(body["tagName"]))
        return reply({"success": True, "operation": "create"})

    def _asset_route(
        self, request: httpx.Request, method: str, asset: Document, rest: list[str], body: Document
    ) -> httpx.Response:
        asset_id, query = str(asset["assetId"]), request.url.params
        etag = f'"{asset["rev"]}"'
        match [method, *rest]:
            case ["GET"]:
                answer = reply(asset, headers={"ETag": etag})
            case ["PUT"]:
                if request.headers.get("If-Match", etag) != etag:
                    refuse(412, "the asset was changed meanwhile", code="RevisionConflict")
                asset.update(body)
                asset["rev"] = int(str(asset["rev"])) + 1
                answer = reply({"success": True, "operation": "update"})
            case ["GET", "listFiles"]:
                answer = self.list_files(asset_id, query)
            case ["DELETE", "archiveFile"]:
                self.archived.add((asset_id, str(body["filePath"])))
                answer = example_reply(request)
            case ["GET", "fileInfo"]:
                answer = self.file_info(asset_id, query["filePath"])
            case ["POST", "download"]:
                answer = self.download(asset_id, body)
            case [verb, "metadata", *which]:
                path = str(body.get("filePath") or query.get("filePath") or "")
                owner = "/".join([asset_id, *which, path])
                answer = self._metadata(verb, owner, body)
            case _:
                is_viewer_file = "/".join(rest[2:]) in self.glbs
                answer = reply({}) if is_viewer_file else example_reply(request)
        return answer

    # -- the registry ------------------------------------------------------------------------

    def _create_database(self, body: Document) -> httpx.Response:
        database_id = str(body["databaseId"])
        if not re.fullmatch(r"[-_a-zA-Z0-9]{3,63}", database_id):
            wrong: Document = {"field": "databaseId", "message": "must be 3 to 63 letters"}
            refuse(400, "invalid", errors=[wrong])
        if database_id in self.databases:
            refuse(409, "the database exists")
        if body["defaultBucketId"] != BUCKET:
            refuse(400, "no such bucket")
        self.databases[database_id] = {**body, "assetCount": 0}
        return reply({"databaseId": database_id, "message": "created"})

    def _create_asset(self, body: Document) -> httpx.Response:
        database_id, asset_id = str(body["databaseId"]), str(body["assetId"])
        name = str(body["assetName"])
        if self.plain_names_only and not re.fullmatch(r"[a-zA-Z0-9\-._ ]{1,256}", name):
            refuse(400, "invalid", errors=[{"field": "assetName", "message": "has odd letters"}])
        if not 4 <= len(str(body["description"])) <= 256:
            refuse(400, "description: must have 4 to 256 characters")
        tags = body["tags"]
        if isinstance(tags, list) and (unknown := [tag for tag in tags if tag not in self.tags]):
            refuse(400, f"no such tag: {unknown[0]}")
        if any(taken == asset_id for _, taken in self.assets):
            refuse(409, "the asset id is taken")
        location: Document = {"Key": f"base/{asset_id}/"}
        asset: Document = {**body, "status": "active", "rev": 1, "assetLocation": location}
        self.assets[database_id, asset_id] = asset
        return reply({"assetId": asset_id, "message": "created"})

    def _metadata(self, method: str, owner: str, body: Document) -> httpx.Response:
        records = self.metadata.setdefault(owner, {})
        if method == "GET":
            return reply({"metadata": list(records.values()), "message": "ok"})
        failed: list[JsonValue] = []
        rows = body["metadata"]
        assert isinstance(rows, list)
        for row in rows:
            assert isinstance(row, dict)
            if row["metadataValueType"] == "number" and not str(row["metadataValue"]).isdigit():
                failed.append({"key": row["metadataKey"], "error": "must be a number"})
            else:
                records[str(row["metadataKey"])] = row
        return reply({"success": not failed, "failedItems": failed})

    # -- search ------------------------------------------------------------------------------

    def _search(self, body: Document, *, full: bool) -> httpx.Response:
        cursor = body.get("after")
        start = int(str(cursor or 0)) if cursor is not None else int(str(body["from"]))
        size = int(str(body["size"]))
        assert start + size <= 10_000
        assert size <= 2_000
        owners = {asset_id: asset for (_, asset_id), asset in self.assets.items()}
        hits: list[JsonValue] = [
            {
                "_id": f"{asset_id}:{path}",
                "_source": {
                    "_rectype": "file",
                    "str_key": f"base/{asset_id}{path}",
                    "str_assetid": asset_id,
                    "str_assetname": owners[asset_id]["assetName"],
                    "str_databaseid": owners[asset_id]["databaseId"],
                    "num_filesize": len(stored.content),
                    "str_s3_version_id": "v1",
                    "AB_": {**self.facts.get(path, {})},
                },
            }
            for (asset_id, path), stored in sorted(self.files.items())
            if path not in self.hidden_from_search
            and body.get("assetId", asset_id) == asset_id
            and path.endswith(f".{body['fileExtension']}" if "fileExtension" in body else "")
            and str(body.get("query") or "").strip("*") in path
        ]
        total: Document = {"value": len(hits), "relation": "eq"}
        answer: Document = {"took": 1, "hits": {"total": total, "hits": hits[start : start + size]}}
        if cursor is not None and start + size < len(hits):
            answer["after"] = str(start + size)
        if full and body["aggregations"]:
            rows: list[JsonValue] = [{"key": "glb", "doc_count": len(hits)}]
            answer["aggregations"] = {"str_fileext": {"filtered": {"buckets": rows}}}
        return reply(answer)
