"""The file routes of the server in memory: uploads, stored files, storage behind URLs."""

import base64
import hashlib
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import NoReturn
from urllib.parse import unquote

import httpx
from pydantic import JsonValue

STORAGE = "https://storage.test"
PART = 150 * 1024 * 1024
BLOCKED = (".exe", ".bat", ".dll")
FORBIDDEN = frozenset('<>:"\\|?*')

Document = dict[str, JsonValue]


class Refused(Exception):  # noqa: N818 - an answer, not a fault
    def __init__(self, response: httpx.Response) -> None:
        self.response = response


def refuse(
    status: int, message: str, *, code: str = "Code", errors: list[Document] | None = None
) -> NoReturn:
    body: Document = {"message": message, "code": code, "requestId": "req-1"}
    if errors:
        body["errors"] = list[JsonValue](errors)
    raise Refused(httpx.Response(status, json=body))


@dataclass
class StoredFile:
    content: bytes
    etag: str
    checksum: str | None


@dataclass
class OpenUpload:
    asset_id: str
    files: dict[str, Document]
    parts: dict[str, dict[int, bytes]] = field(default_factory=dict[str, dict[int, bytes]])
    settled: dict[str, str] = field(default_factory=dict[str, str])
    """By key: an error, or nothing."""
    working: set[str] = field(default_factory=set[str])


def sha256(content: bytes) -> str:
    return base64.b64encode(hashlib.sha256(content).digest()).decode()


def md5_of_parts(parts: list[bytes]) -> str:
    digests = b"".join(hashlib.md5(part).digest() for part in parts)
    return f"{hashlib.md5(digests).hexdigest()}-{len(parts)}"


def reply(body: Document, *, headers: dict[str, str] | None = None) -> httpx.Response:
    return httpx.Response(200, json=body, headers=headers)


class StreamedBody(httpx.SyncByteStream):
    """A body that comes in pieces, and may break off after them."""

    def __init__(self, content: bytes, *, breaks: bool = False) -> None:
        self._content = content
        self._breaks = breaks

    def __iter__(self) -> Iterator[bytes]:
        half = len(self._content) // 2
        yield self._content[:half]
        yield self._content[half:]
        if self._breaks:
            raise httpx.ReadError("reset")


class FakeFiles:
    """Files of assets, by asset id and path."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.files: dict[tuple[str, str], StoredFile] = {}
        self.archived: set[tuple[str, str]] = set()
        self.uploads: dict[str, OpenUpload] = {}
        self.numbers = count()
        self.keeps_checksums = True
        self.not_inspected: dict[str, str] = {}
        self.names_wrong_files = True
        self.page_limit = 1000
        self.part_size = PART
        self.file_results: dict[str, str] = {}
        self.error_kind = "failure"
        self.generation = 0
        """URLs with an earlier number have expired."""
        self.large_from = 10**9
        self.polls_until_finished = 2

    def page(self, rows: list[Document], query: httpx.QueryParams, items: str) -> httpx.Response:
        start = int(query.get("startingToken", "0"))
        size = min(int(query.get("pageSize", "1000")), self.page_limit)
        body: Document = {items: list[JsonValue](rows[start : start + size])}
        if start + size < len(rows):
            body["NextToken"] = str(start + size)
        return reply(body)

    def paths_of(self, asset_id: str) -> Iterator[str]:
        return iter(sorted(path for owner, path in self.files if owner == asset_id))

    def file_item(self, asset_id: str, path: str) -> Document:
        stored = self.files[asset_id, path]
        return {
            "fileName": path.rpartition("/")[2],
            "key": f"base/{asset_id}{path}",
            "relativePath": path,
            "isFolder": False,
            "size": len(stored.content),
            "isArchived": (asset_id, path) in self.archived,
        }

    def list_files(self, asset_id: str, query: httpx.QueryParams) -> httpx.Response:
        """List the files; with archived ones, the list has their versions."""
        rows: list[Document] = []
        prefix = f"/{sent}" if (sent := query.get("prefix", "").removeprefix("/")) else ""
        with_archived = query.get("includeArchived") == "true"
        for path in self.paths_of(asset_id):
            if path.startswith(prefix) and (with_archived or (asset_id, path) not in self.archived):
                version: Document = {"versionId": f"v-{self.files[asset_id, path].etag}"}
                rows.append(self.file_item(asset_id, path) | (version if with_archived else {}))
        return self.page(rows, query, "items")

    def file_info(self, asset_id: str, path: str) -> httpx.Response:
        stored = self.files.get((asset_id, path)) or refuse(404, "no such file")
        info = {
            **self.file_item(asset_id, path),
            "etag": stored.etag,
            "versionId": f"v-{stored.etag}",
        }
        if path in self.not_inspected:
            info["notInspected"] = self.not_inspected[path]
        if self.keeps_checksums:
            info["checksumSha256"] = stored.checksum
        return reply(info)

    def upload_route(self, method: str, rest: list[str], body: Document) -> httpx.Response:
        match [method, *rest]:
            case ["POST"]:
                return self.open_upload(body)
            case ["POST", upload_id, "complete"]:
                return self.complete_upload(upload_id, body)
            case ["POST", upload_id, "renew"]:
                return self.renew_upload(upload_id, body)
            case ["GET"]:
                return self.list_uploads()
            case ["GET", upload_id]:
                return self.get_upload(upload_id)
            case ["DELETE", upload_id]:
                return self.abort_upload(upload_id)
            case _:
                refuse(404, "Not Found")

    def list_uploads(self) -> httpx.Response:
        items: list[JsonValue] = [
            {
                "uploadId": upload_id,
                "databaseId": "garage",
                "assetId": upload.asset_id,
                "state": "completed" if upload.settled.keys() >= upload.files.keys() else "open",
                "files": len(upload.files),
                "filesDone": len(upload.settled),
                "filesFailed": 0,
                "size": sum(int(str(row["file_size"])) for row in upload.files.values()),
            }
            for upload_id, upload in self.uploads.items()
        ]
        return reply({"items": items})

    def open_upload(self, body: Document) -> httpx.Response:
        wanted = body["files"]
        assert isinstance(wanted, list)
        rows = [row for row in wanted if isinstance(row, dict)]
        assert len(rows) <= 50, "more files a call than agreed"
        wrong = [(index, reason) for index, row in enumerate(rows) if (reason := self._wrong(row))]
        if wrong:
            errors: list[Document] = [
                {"field": f"files.{index}.relativeKey", "message": reason}
                for index, reason in wrong
            ]
            refuse(400, wrong[0][1], errors=errors if self.names_wrong_files else None)
        upload_id = f"y{next(self.numbers)}"
        self.uploads[upload_id] = OpenUpload(
            asset_id=str(body["assetId"]), files={str(row["relativeKey"]): row for row in rows}
        )
        files = [self._pending_file(upload_id, row) for row in rows]
        return reply({"uploadId": upload_id, "files": list[JsonValue](files), "message": "ok"})

    def _wrong(self, row: Document) -> str | None:
        key = str(row["relativeKey"])
        if not key.startswith("/") or FORBIDDEN & set(key):
            return f"{key} is no path"
        if key.lower().endswith(BLOCKED):
            return f"files of the type {key[-4:]} are not allowed"
        return None

    def _pending_file(self, upload_id: str, row: Document) -> Document:
        key, size = str(row["relativeKey"]), int(str(row["file_size"]))
        parts = int(str(row.get("num_parts") or -(-size // self.part_size)))
        return {
            "relativeKey": key,
            "uploadIdS3": f"s3-{key}" if size else "zero-byte",
            "numParts": parts,
            "partUploadUrls": self._urls(upload_id, key, range(1, parts + 1)),
        }

    def _urls(self, upload_id: str, key: str, numbers: Iterable[int]) -> list[JsonValue]:
        where = base64.urlsafe_b64encode(key.encode()).decode()
        place = f"{STORAGE}/put/{upload_id}/{where}"
        query = f"X-Amz-Signature=s&g={self.generation}"
        return [{"PartNumber": n, "UploadUrl": f"{place}/{n}?{query}"} for n in numbers]

    def renew_upload(self, upload_id: str, body: Document) -> httpx.Response:
        upload = self.uploads.get(upload_id) or refuse(404, "no such upload")
        wanted = body["files"]
        assert isinstance(wanted, list)
        files: list[JsonValue] = []
        for row in wanted:
            assert isinstance(row, dict)
            key = str(row["relativeKey"])
            if key in upload.settled or key in upload.working:
                refuse(409, f"{key} is not open", code="FileNotOpen")
            ranges = row["partRanges"]
            assert isinstance(ranges, list)
            numbers = [
                n
                for range_ in ranges
                if isinstance(range_, dict)
                for n in range(int(str(range_["first"])), int(str(range_["last"])) + 1)
            ]
            stored = upload.parts.get(key, {}) if body["storedParts"] else {}
            pending = self._pending_file(upload_id, upload.files[key])
            files.append(
                {
                    **pending,
                    "partUploadUrls": self._urls(upload_id, key, numbers),
                    "storedParts": [
                        {"PartNumber": n, "ETag": hashlib.md5(part).hexdigest(), "Size": len(part)}
                        for n, part in sorted(stored.items())
                    ],
                }
            )
        return reply({"uploadId": upload_id, "expiresIn": 900, "files": files, "message": "ok"})

    def get_upload(self, upload_id: str) -> httpx.Response:
        upload = self.uploads.get(upload_id) or refuse(404, "no such upload")
        if upload.working:
            self.polls_until_finished -= 1
            if self.polls_until_finished <= 0:
                for key in upload.working:
                    upload.settled[key] = self.file_results.get(key, "")
                upload.working.clear()
        files: list[JsonValue] = []
        for key in upload.files:
            error = upload.settled.get(key)
            state = "working" if key in upload.working else "open"
            if error is not None:
                state = "failed" if error else "done"
            row: Document = {"relativeKey": key, "state": state, "error": error or None}
            files.append({**row, "errorKind": self.error_kind if error else None})
        states = [str(file["state"]) for file in files if isinstance(file, dict)]
        state = next(
            (state_name for state_name in ("open", "working") if state_name in states), "completed"
        )
        place: Document = {"databaseId": "garage", "assetId": upload.asset_id}
        return reply({"uploadId": upload_id, "state": state, "files": files, **place})

    def abort_upload(self, upload_id: str) -> httpx.Response:
        if self.uploads.pop(upload_id, None) is None:
            refuse(404, "no such upload")
        return reply({"message": "given up"})

    def serve_url(self, request: httpx.Request) -> httpx.Response:
        assert "Authorization" not in request.headers, "the key went to the storage"
        verb, _, rest = request.url.path.strip("/").partition("/")
        if verb == "get":
            return self._fetch(request, rest)
        if request.url.params["g"] != str(self.generation):
            return httpx.Response(403, text="<Error><Code>AccessDenied</Code>expired</Error>")
        upload_id, where, number = rest.split("/")
        content = request.content
        assert request.headers["Content-Length"] == str(len(content))
        key = base64.urlsafe_b64decode(where).decode()
        self.uploads[upload_id].parts.setdefault(key, {})[int(number)] = content
        return httpx.Response(200, headers={"ETag": f'"{hashlib.md5(content).hexdigest()}"'})

    def download(self, asset_id: str, body: Document) -> httpx.Response:
        keys = body.get("keys")
        rows = keys if isinstance(keys, list) else [{"key": str(body["key"])}]
        files: list[JsonValue] = []
        for row in rows:
            assert isinstance(row, dict)
            is_there = (asset_id, str(row["key"])) in self.files
            address = {"downloadUrl": f"{STORAGE}/get/{asset_id}{row['key']}"}
            result = address if is_there else {"error": "no such file"}
            files.append({**row, "success": is_there, **result})
        good = [row for row in files if isinstance(row, dict) and row["success"]]
        if not good:
            refuse(404, "no such file")
        first: Document = {"downloadUrl": good[0]["downloadUrl"], "expiresIn": 3600}
        return reply({**first, "versionId": "v1", **({"files": files} if keys else {})})

    def _fetch(self, request: httpx.Request, rest: str) -> httpx.Response:
        asset_id, _, path = unquote(rest).partition("/")
        content = self.files[asset_id, f"/{path}"].content
        wanted = request.headers.get("Range")
        if wanted is None:
            return httpx.Response(200, stream=StreamedBody(content))
        start = int(wanted.removeprefix("bytes=").rstrip("-"))
        if start >= len(content):
            return httpx.Response(416, text="<Error>InvalidRange</Error>")
        span = f"bytes {start}-{len(content) - 1}/{len(content)}"
        headers = {"Content-Range": span}
        return httpx.Response(206, stream=StreamedBody(content[start:]), headers=headers)

    def complete_upload(self, upload_id: str, body: Document) -> httpx.Response:
        upload = self.uploads.get(upload_id) or refuse(409, "no such upload is open")
        rows = body["files"]
        assert isinstance(rows, list)
        results = [self._finish(upload, row) for row in rows if isinstance(row, dict)]
        good = [result for result in results if result["success"]]
        answer: Document = {
            "message": "done",
            "uploadId": upload_id,
            "assetId": upload.asset_id,
            "assetType": "folder",
            "fileResults": list[JsonValue](results),
            "overallSuccess": len(good) == len(results),
            "largeFileAsynchronousHandling": False,
        }
        return httpx.Response(200 if good else 409, json=answer)

    def _finish(self, upload: OpenUpload, row: Document) -> Document:
        key, parts = str(row["relativeKey"]), row["parts"]
        assert isinstance(parts, list)
        result: Document = {"relativeKey": key, "uploadIdS3": row["uploadIdS3"], "success": False}
        if key in upload.settled:
            error = upload.settled[key]
            return {**result, "success": not error, "error": error or None}
        stored = [content for _, content in sorted(upload.parts.get(key, {}).items())]
        etags = [part["ETag"] for part in parts if isinstance(part, dict)]
        content = b"".join(stored)
        checksum = upload.files[key].get("checksumSha256")
        if not parts and row["uploadIdS3"] != "zero-byte":
            return {**result, "error": "abandoned"}
        if etags != [hashlib.md5(part).hexdigest() for part in stored]:
            return {**result, "error": "the parts do not match"}
        if checksum != sha256(content):
            return {**result, "error": "the checksum does not match"}
        is_large = len(content) >= self.large_from
        if key in self.file_results and not is_large:
            return {**result, "error": self.file_results[key], "errorKind": self.error_kind}
        self.files[upload.asset_id, key] = StoredFile(
            content, md5_of_parts(stored or [b""]), str(checksum)
        )
        self.archived.discard((upload.asset_id, key))
        if is_large:
            upload.working.add(key)
        else:
            upload.settled[key] = ""
        large: Document = {"largeFileAsynchronousHandling": is_large}
        return {**result, "success": True, "error": None, **large}
