"""Assets of many files, and documents as large as they can be."""

import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any, cast

import boto3
import httpx
from botocore.config import Config

from local.engines import Options
from tests.journeys.runtime import Api, Runtime, kill_with_children, noise, wait_until
from tests.journeys.test_lifecycle import change, states

ON_DISK_SECONDS = 0.5
"""The engine of tables replies a moment before a transaction is on its disk."""
WRITERS = 8
INDEXED_SECONDS = 600
"""Tests require that hundreds of files are indexed, not in which time."""
_SHOWN = 5  # names that a failure shows


@dataclass(frozen=True)
class ManyFiles:
    """The asset, on a runtime that is killed and started again."""

    runtime: Runtime
    database: str
    asset: str
    names: tuple[str, ...]

    @property
    def path(self) -> str:
        return f"/database/{self.database}/assets/{self.asset}"

    @property
    def documents(self) -> set[str]:
        return {self.asset, *(self.asset + name for name in self.names)}

    def versions(self) -> dict[str, str]:
        """The S3 version ids of the files; folders have none."""
        return {path: item["versionId"] for path, item in self._listed().items()}

    def put(self, *, drained: bool = True) -> None:
        """Put the files; they are indexed when this returns, unless the caller waits later."""
        bucket = self.runtime.client().own_bucket()["bucketName"]
        s3 = self._s3()
        with ThreadPoolExecutor(WRITERS) as writers:
            for put in [
                writers.submit(
                    s3.put_object, Bucket=bucket, Key=self.asset + name, Body=noise(20, name)
                )
                for name in self.names
            ]:
                put.result()
        if drained:
            self.runtime.drain(INDEXED_SECONDS)

    def kill_during(self, operation: str, *, archived: bool) -> None:
        """Kill all processes while a request changes the files, and start again."""
        api, watching = self.runtime.client(), self.runtime.client()

        def request() -> None:
            with suppress(httpx.TransportError, AssertionError):
                change(api, operation, self.path)

        wanted = 404 if archived else 200
        with ThreadPoolExecutor(1) as pool:
            pool.submit(request)
            wait_until(lambda: watching.send("GET", self.path).status_code == wanted)
            time.sleep(ON_DISK_SECONDS)
            kill_with_children(self.runtime.endpoint["pid"])
        self.runtime.up()

    def check(self, *, archived: bool) -> None:
        """Assert that all documents exist, and are archived or not.

        Raises:
            AssertionError: they differ; the message has the content of bucket and index for
                some of them.
        """
        api = self.runtime.client()
        self.runtime.drain(INDEXED_SECONDS)
        shown = api.ok("GET", f"{self.path}?showArchived=true")
        assert shown["status"] == ("archived" if archived else "active")
        result = states(api, self.database)
        wanted = dict.fromkeys(self.documents, archived)
        wrong = sorted(key for key, state in wanted.items() if result.get(key) is not state)
        assert not wrong, f"{len(wrong)} are wrong: {self.evidence(api, wrong[:_SHOWN])}"
        assert result.keys() == wanted.keys()

    def evidence(self, api: Api, documents: Iterable[str]) -> list[dict[str, Any]]:
        """The content of API, bucket and index for some documents."""
        listed = self._listed(includeArchived=True)
        bucket = api.own_bucket()["bucketName"]
        s3 = self._s3()
        lines: list[dict[str, Any]] = []
        for key in documents:
            page = s3.list_object_versions(Bucket=bucket, Prefix=key)
            entries = [*page.get("Versions", []), *page.get("DeleteMarkers", [])]
            lines.append(
                {
                    "document": key,
                    "listFiles": listed.get(key.removeprefix(self.asset)),
                    "bucket": [
                        (entry["VersionId"], "ETag" in entry, entry["IsLatest"])
                        for entry in entries
                    ],
                    "index": self._indexed(key),
                }
            )
        return lines

    def _listed(self, **more: Any) -> dict[str, dict[str, Any]]:
        """The entries of all files by path, from all pages."""
        api, result, params = self.runtime.client(), dict[str, dict[str, Any]](), {"pageSize": 1000}
        while True:
            page = api.ok("GET", f"{self.path}/listFiles", params={**params, **more})
            result |= {item["relativePath"]: item for item in page["items"] if not item["isFolder"]}
            if page.get("NextToken") is None:
                return result
            more["startingToken"] = page["NextToken"]

    def _indexed(self, key: str) -> list[tuple[int, dict[str, Any]]]:
        """Versions and bodies of the documents of a file, tombstones too."""
        query = {"query": {"term": {"str_key.keyword": key}}, "version": True}
        url = f"{self.runtime.endpoint['opensearch']}/files-*/_search"
        hits = httpx.post(url, json=query, timeout=30).json()["hits"]["hits"]
        return [(hit["_version"], hit["_source"]) for hit in hits]

    def _s3(self) -> Any:
        """Another program's client, directly at the store."""
        options = Options()
        return cast(
            "Any",
            boto3.client(
                "s3",
                endpoint_url=self.runtime.endpoint["s3"],
                region_name=options.region,
                **self.runtime.keys,
                config=Config(signature_version="s3v4", max_pool_connections=WRITERS),
            ),
        )


RECORDS = 64
"""The maximum number of records with the longest indexed values."""
VALUE_BYTES = 32_000
_AT_ONCE = 2
_REPEATS = 3


def new_large_assets(api: Api, database: str, count: int) -> list[str]:
    """Create assets with metadata of two megabytes each; return their ids."""
    with ThreadPoolExecutor(_AT_ONCE) as writers:
        return list(writers.map(partial(_new_one, api, database), range(count)))


def _new_one(api: Api, database: str, number: int) -> str:
    asset = api.new_asset(database, f"bomb {number}")
    records = [
        {
            "metadataKey": f"key{key}",
            "metadataValue": f"{key} " + "x" * VALUE_BYTES,
            "metadataValueType": "string",
        }
        for key in range(RECORDS)
    ]
    path = f"/database/{database}/assets/{asset}/metadata"
    # A busy machine may take longer than a request allows; clients repeat a 503.
    answer = api.send("POST", path, {"metadata": records})
    for _ in range(_REPEATS):
        if answer.status_code == HTTPStatus.SERVICE_UNAVAILABLE:
            answer = api.send("POST", path, {"metadata": records})
    assert answer.is_success, answer.text
    return asset
