"""The product in memory with a deleted database, its jobs, and workers that may die."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, cast

from backend.core.transactions import Item
from backend.domains.jobs.models import Job, Step
from backend.entrypoints.wiring.jobs import runner
from backend.entrypoints.wiring.lifecycle_steps import lifecycle_steps, purge_steps
from backend.spec import routes
from backend.spec.jobs import PURGE_DATABASE
from backend.spec.routes import Route
from backend.spec.tables import TABLES
from backend.spec.tables.operations import JOBS
from tests.factories.buckets import BUCKET_ID
from tests.factories.http import Response
from tests.factories.lifecycle import KilledError
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import MemoryTables
from tests.unit.domains.audit.product import Product

Json = dict[str, Any]
PURGE = {"purge": "true"}
CONFIRMED = {"confirmPermanentDelete": True}
RECORD = {"metadataKey": "year", "metadataValue": "1889", "metadataValueType": "string"}
FIELDS = {"fields": [{"metadataFieldKeyName": "year", "metadataFieldValueType": "string"}]}
LINK = "parentChild"
WAIT = timedelta(minutes=16)
"""Longer than any lease and any wait."""


@dataclass
class World:
    """Databases as users fill and delete them; a purge's worker dies before its write `dies_at`."""

    product: Product = field(default_factory=Product)
    writes: int = 0
    dies_at: int | None = None
    is_watched: bool = False

    def __post_init__(self) -> None:
        self.objects.versioned = lambda bucket: bucket != "assetauxiliarybucket"

    @property
    def tables(self) -> MemoryTables:
        return self.product.tables

    @property
    def objects(self) -> MemoryObjects:
        return self.product.objects

    def done(self, route: Route, path: Mapping[str, str] | None = None, body: Any = None) -> Any:
        answer = self.product.send(route, parameters=dict(path or {}), body=body)
        assert answer.status == 200, (route.key, answer.body)
        return answer.body

    def purge(self, database_id: str = "museum", **more: Any) -> Response:
        query: dict[str, Any] = {"query": PURGE, "body": CONFIRMED, **more}
        path = {"databaseId": database_id}
        return self.product.send(routes.DELETE_DATABASE, parameters=path, **query)

    def create(self, database_id: str = "museum") -> Response:
        body = {"databaseId": database_id, "description": "Things", "defaultBucketId": BUCKET_ID}
        return self.product.send(routes.CREATE_DATABASE, body=body)

    def delete(self, database_id: str = "museum") -> None:
        self.done(routes.DELETE_DATABASE, {"databaseId": database_id})

    def fill(self, database_id: str, *asset_ids: str) -> None:
        """Create a database with metadata and a schema, and assets with all that they can have."""
        assert self.create(database_id).status == 200
        of = {"databaseId": database_id}
        for kind in ("databaseMetadata", "assetMetadata"):
            body = {**of, "metadataSchemaEntityType": kind, "schemaName": kind, "fields": FIELDS}
            self.done(routes.CREATE_METADATA_SCHEMA, body=body)
        self.done(routes.CREATE_DATABASE_METADATA, of, {"metadata": [RECORD]})
        for asset_id in asset_ids:
            self._put_asset(database_id, asset_id)

    def _put_asset(self, database_id: str, asset_id: str) -> None:
        path = {"databaseId": database_id, "assetId": asset_id}
        made = {**path, "assetName": asset_id, "description": "Marble", "isDistributable": True}
        self.done(routes.CREATE_ASSET, body={**made, "tags": []})
        for bucket, key in (
            ("assetbucket", f"{asset_id}/a.txt"),
            ("assetbucket", f"{asset_id}/a.txt"),
            ("assetbucket", f"previews/{asset_id}/front.png"),
            ("assetauxiliarybucket", f"{asset_id}/octree/1.bin"),
        ):
            self.objects.put(bucket, key, b"x", content_type="text/plain", metadata={})
        self.done(routes.CREATE_ASSET_METADATA, path, {"metadata": [RECORD]})
        of_file = {"filePath": "/a.txt", "type": "attribute", "metadata": [RECORD]}
        self.done(routes.CREATE_FILE_METADATA, path, of_file)
        version = {"comment": "as it is", "useLatestFiles": True}
        self.done(routes.CREATE_ASSET_VERSION, path, version)
        comment = {"assetId": asset_id, "assetVersionId:commentId": "1:first"}
        self.done(routes.CREATE_COMMENT, comment, {"commentBody": "Nice"})
        sent = {"relativeKey": "/new.txt", "file_size": 0}
        upload = {**path, "uploadType": "assetFile", "files": [sent]}
        self.done(routes.INITIALISE_UPLOAD, body=upload)

    def link(self, source: tuple[str, str], target: tuple[str, str]) -> None:
        ends = {
            "fromAssetDatabaseId": source[0],
            "fromAssetId": source[1],
            "toAssetDatabaseId": target[0],
            "toAssetId": target[1],
            "relationshipType": LINK,
        }
        link = self.done(routes.CREATE_LINK, body=ends)["assetLinkId"]
        self.done(routes.CREATE_LINK_METADATA, {"assetLinkId": link}, {"metadata": [RECORD]})

    def archive(self, database_id: str, *asset_ids: str) -> None:
        for asset_id in asset_ids:
            path = {"databaseId": database_id, "assetId": asset_id}
            self.done(routes.ARCHIVE_ASSET, path, {"confirmArchive": True})

    def jobs(self) -> dict[str, Job]:
        return {row["jobId"]: Job.model_validate(row) for row in self.tables.rows(JOBS)}

    def work(self) -> bool:
        """Give each job that has not ended one message; False if there is none."""
        left = [job for job in self.jobs().values() if not job.is_finished]
        for job in left:
            steps, worker = self._steps(), runner(self.product.context)
            self.is_watched = job.kind == PURGE_DATABASE.name
            try:
                worker.run(job.job_id, steps[job.kind], until=self.product.now)
            except KilledError:
                self.dies_at = None
            self.is_watched = False
        self.product.now += WAIT
        return bool(left)

    def work_off(self) -> None:
        """Do all jobs to their ends; a worker that dies is followed by another one."""
        for _ in range(300):
            if not self.work():
                return
        raise AssertionError(f"jobs go on for ever: {self.jobs()}")

    def _steps(self) -> dict[str, Step]:
        context = self.product.context
        return {**lifecycle_steps(context), **purge_steps(context)}

    def count_writes(self, *, dies_at: int | None = None) -> None:
        """Count the writes of the purge's worker from now on."""
        self.writes, self.dies_at = 0, dies_at
        self.tables.before = self.objects.before = self._before

    def _before(self, operation: str) -> None:
        if operation not in {"write", "delete"} or not self.is_watched:
            return
        self.writes += 1
        if self.writes == self.dies_at:
            raise KilledError

    def at_the_first(self, wanted: str, then: Callable[[], object]) -> None:
        """Let something happen once, right before the next operation of a kind on tables."""

        def before(operation: str) -> None:
            if operation == wanted:
                self.tables.before = lambda _: None
                then()

        self.tables.before = before

    def saved(self) -> Callable[[], None]:
        """Return a function that restores the present state."""
        tables, objects, product = self.tables, self.objects, self.product
        items, buckets = _copied(tables.items), _copied(objects.buckets)
        uploads, now = dict(objects.uploads), product.now

        def restore() -> None:
            tables.items, objects.buckets = _copied(items), _copied(buckets)
            objects.uploads, product.now = dict(uploads), now

        return restore

    def left(self, *words: str) -> dict[str, list[Item]]:
        """By table the rows that hold one of the words, in a key or a value."""
        rest: dict[str, list[Item]] = {}
        for table in TABLES:
            for row in self.tables.rows(table):
                if any(word in str(row) for word in words):
                    rest.setdefault(table.name, []).append(row)
        return rest

    def stored(self, *words: str) -> list[str]:
        """Keys of all versions and markers below all buckets that hold one of the words."""
        return [
            f"{bucket}/{key}"
            for bucket, keys in self.objects.buckets.items()
            for key, versions in keys.items()
            if versions and any(word in key for word in words)
        ]


def _copied(of: Mapping[str, Mapping[Any, Any]]) -> dict[str, dict[Any, Any]]:
    """Copies of both levels, and of the lists of versions of an object."""
    return {
        name: {
            key: [*cast("list[Any]", item)] if isinstance(item, list) else item
            for key, item in inner.items()
        }
        for name, inner in of.items()
    }
