"""Checks, repairs and reindexes over ports in memory, with a clock that tests set."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from backend.core.references import AssetRef, FileRef
from backend.core.search_engine import DocumentWrite, JsonObject
from backend.core.transactions import Update
from backend.domains.assets.repository import AssetRepository
from backend.domains.assets.service.commands import AssetService
from backend.domains.buckets.service import BucketRegistry
from backend.domains.jobs.models import Job, Progress
from backend.search.indexing.geo_keys import GeoKeys
from backend.search.indexing.indexes import ensure_indexes
from backend.search.indexing.rebuild import Rebuilder
from backend.search.indexing.references import Reference
from backend.search.indexing.sources import Sources
from backend.search.indexing.state import SearchState
from backend.search.maintenance.checks import Checker
from backend.search.maintenance.comparison import Comparer
from backend.search.maintenance.reindex import ReindexStep
from backend.search.maintenance.typed_files import TypedFiles
from backend.search.maintenance.walk import SourceWalk
from backend.search.maintenance.work import Report, Reports, SearchWork
from backend.search.maintenance.work_steps import WorkSteps
from backend.spec.jobs import CHECK_SEARCH, REINDEX_SEARCH, REPAIR_SEARCH, JobKind
from backend.spec.tables.assets import DATABASES
from backend.spec.tables.operations import SEARCH_STATE
from tests.factories.assets import asset_service
from tests.factories.audit import audit_service
from tests.factories.buckets import stored_bucket
from tests.factories.jobs import ADMIN, JobWorld
from tests.factories.search import rebuilder, remove_asset, store_asset
from tests.fakes.objects import MemoryObjects
from tests.fakes.queues import MemoryQueues
from tests.fakes.search_engine import OF_A_WRITE, MemorySearchEngine
from tests.fakes.tables import MemoryTables

GRACE_SECONDS = 10
KEEP_SECONDS = 100
BUCKET = "assetbucket"


@dataclass
class Renewal:
    """A deployment with all services that maintain its indexes."""

    tables: MemoryTables = field(default_factory=MemoryTables)
    objects: MemoryObjects = field(default_factory=MemoryObjects)
    engine: MemorySearchEngine = field(default_factory=MemorySearchEngine)
    queues: MemoryQueues = field(default_factory=MemoryQueues)
    reports: list[Report] = field(default_factory=list[Report])
    before_step: Callable[[Job], None] = lambda job: None
    after_step: Callable[[Job], None] = lambda job: None

    def __post_init__(self) -> None:
        self.world = JobWorld(step=self.step, kind=REINDEX_SEARCH, tables=self.tables)
        ensure_indexes(self.engine, self.state)
        stored_bucket(self.tables)

    @property
    def state(self) -> SearchState:
        return SearchState(self.tables, lambda: self.world.now)

    @property
    def rebuilder(self) -> Rebuilder:
        return rebuilder(
            self.tables, self.objects, self.queues, self.engine, clock=lambda: self.world.now
        )

    @property
    def walk(self) -> SourceWalk:
        return SourceWalk(self.tables, self.objects, BucketRegistry(self.tables))

    @cached_property
    def assets(self) -> AssetService:
        return asset_service(self.tables, self.objects)

    @property
    def checker(self) -> Checker:
        owners = AssetRepository(self.tables).owners
        sources = Sources(self.tables, self.objects, owners, workers=1)
        return Checker(
            walk=self.walk,
            comparer=Comparer(self.engine, sources, GeoKeys(self.tables), self.state),
            rebuilder=self.rebuilder,
            types=TypedFiles(self.assets, self.objects),
            grace_seconds=GRACE_SECONDS,
            clock=lambda: self.world.now,
        )

    @property
    def steps(self) -> WorkSteps:
        return WorkSteps(
            tables=self.tables,
            state=self.state,
            checker=self.checker,
            rebuilder=self.rebuilder,
            jobs=self.world.jobs,
            measure=self.reports.append,
            clock=lambda: self.world.now,
        )

    @property
    def reindex(self) -> ReindexStep:
        return ReindexStep(
            engine=self.engine,
            state=self.state,
            walk=self.walk,
            checker=self.checker,
            comparer=self.checker.comparer,
            rebuilder=self.rebuilder,
            keep_seconds=KEEP_SECONDS,
            grace_seconds=GRACE_SECONDS,
            clock=lambda: self.world.now,
        )

    @property
    def work(self) -> SearchWork:
        audit = audit_service(MemoryObjects(), lambda: self.world.now)
        return SearchWork(self.tables, self.world.jobs, audit, lambda: self.world.now)

    def step(self, job: Job) -> Progress:
        """The step of any kind; tests may act around it, or crash it."""
        self.before_step(job)
        steps = {
            CHECK_SEARCH.name: self.steps.check,
            REPAIR_SEARCH.name: self.steps.repair,
            REINDEX_SEARCH.name: self.reindex,
        }
        progress = steps[job.kind](job)
        self.after_step(job)
        return progress

    def start(self, kind: JobKind, **parameters: object) -> str:
        """Start a job; return its id. Its worker has the step of this kind only."""
        self.world.kind = kind
        job, _ = self.work.start(ADMIN, kind, parameters)
        return job.job_id

    def run(self, kind: JobKind, **parameters: object) -> Job:
        """Run a job to its end."""
        job_id = self.start(kind, **parameters)
        self.world.drain()
        return self.world.job(job_id)

    def check(self) -> Report:
        """The result of a check."""
        assert self.run(CHECK_SEARCH).state == "done"
        report = Reports(self.tables).last()
        assert report is not None
        return report

    def add_database(self, database_id: str = "museum") -> None:
        self.tables.put_many(DATABASES, [{"databaseId": database_id}])

    def add_asset(self, asset_id: str, *, files: int = 0, **fields: object) -> None:
        """Create an asset with files, which is indexed."""
        database_id = str(fields.get("database_id", "museum"))
        store_asset(self.tables, asset_id, **fields)
        names = [f"{number:04}.glb" for number in range(files)]
        for name in names:
            self.add_file(asset_id, name)
        self.rebuild(
            AssetRef(database_id, asset_id),
            *(FileRef(database_id, asset_id, f"/{name}") for name in names),
        )

    def add_file(self, asset_id: str, name: str, body: bytes = b"x") -> None:
        key = f"{asset_id}/{name}"
        self.objects.put(BUCKET, key, body, content_type="text/plain", metadata={})

    def remove_asset(self, asset_id: str) -> None:
        """Remove an asset's row and files without any event."""
        remove_asset(self.tables, asset_id)
        listed = self.objects.list_versions(BUCKET, f"{asset_id}/", limit=1000)
        for version in listed.versions:
            self.objects.delete_version(BUCKET, version.key, version_id=version.version_id)

    def rebuild(self, *references: Reference) -> None:
        self.rebuilder.rebuild(references)

    def live(self, *, number: int) -> dict[str, JsonObject]:
        """The documents of a pair of indexes, by id, without their versions."""
        return {
            document_id: {n: value for n, value in body.items() if n not in OF_A_WRITE}
            for alias in ("assets", "files")
            for document_id, (_, body) in self.engine.indexes[f"{alias}-{number}"].items()
            if not body.get("deleted")
        }

    def age(self) -> None:
        """Replace the indexes by those of the first mapping version, which have no later fields."""
        for name in self.state.pointer().names:
            del self.engine.mappings[name]["_meta"]
        key = {"stateKey": "search"}
        self.tables.write(Update(table=SEARCH_STATE, key=key, remove=("mappingVersions",)))

        def refuse(write: DocumentWrite) -> str | None:
            has_size = "source_bytes" in write.body
            return "strict_dynamic_mapping" if has_size and write.index.endswith("-1") else None

        self.engine.refuses = refuse

    def lose(self, document_id: str) -> None:
        """Remove a document from the indexes, as no code of the product does."""
        for index in self.engine.indexes.values():
            index.pop(document_id, None)

    def spoil(self, index: str, document_id: str) -> None:
        """Replace the content of a document."""
        version, body = self.engine.indexes[index][document_id]
        self.engine.indexes[index][document_id] = (version, {**body, "hash": "spoilt"})

    def write(self, write: DocumentWrite) -> None:
        self.engine.bulk([write])
