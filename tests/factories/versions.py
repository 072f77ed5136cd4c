"""An asset with files and metadata, and clients that create versions of it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from backend.core.objects import Objects
from backend.core.paging import PageRequest
from backend.core.part_copies import PartCopies
from backend.core.tables import Tables
from backend.domains.asset_versions.repository import VersionRepository
from backend.domains.asset_versions.routes import build_router
from backend.domains.asset_versions.service.commands import VersionCreation
from backend.domains.asset_versions.service.jobs import VersionSteps
from backend.domains.asset_versions.service.queries import VersionQueries
from backend.domains.asset_versions.service.restoration import FileRestoration, RecordRestoration
from backend.domains.asset_versions.service.updates import VersionUpdates
from backend.domains.assets.models import Asset
from backend.domains.files.repository import FileChangeRepository, FileRepository
from backend.domains.files.service.copies import Copies
from backend.domains.files.service.origin_records import OriginRecords
from backend.domains.files.service.states import FileStates
from backend.domains.jobs.models import Job
from backend.spec.tables.operations import JOBS
from tests.factories.files import PARAMETERS, PATH
from tests.factories.http import Client, Response
from tests.factories.lifecycle import Lifecycle, lifecycle
from tests.factories.metadata import record_service
from tests.factories.quarantine import quarantine


@dataclass(frozen=True)
class Versions:
    """The asset `statue` of the database `museum` and its versions."""

    lifecycle: Lifecycle
    tables: Tables
    creation: VersionCreation
    queries: VersionQueries
    updates: VersionUpdates
    user_id: str = "admin"

    def send(self, method: str, below: str, *, body: Any = None, **query: str) -> Response:
        """Send a request to a route of versions, or to one that archives them."""
        router = build_router(lambda: self.creation, self.queries, self.updates)
        names: dict[str, str] = {}
        route, parts = below, below.split("/")
        if parts[0] in {"getVersion", "revertAssetVersion", "assetversions"}:
            names = {"assetVersionId": parts[1]}
            route = "/".join([parts[0], "{assetVersionId}", *parts[2:]])
        if route.endswith("archive"):
            router = self.lifecycle.router
        return Client(router, user_id=self.user_id).send(
            method,
            f"{PATH}/{below}",
            route=f"{method} /database/{{databaseId}}/assets/{{assetId}}/{route}",
            parameters=PARAMETERS | names,
            query=query,
            body=body,
        )

    def create(self, comment: str = "as it is", **body: Any) -> Response:
        wanted = {"comment": comment, **({} if "files" in body else {"useLatestFiles": True})}
        return self.send("POST", "createVersion", body={**wanted, **body})

    def made(self, comment: str = "as it is", **body: Any) -> str:
        """Create a version that must be complete within the request; return its id."""
        answer = self.create(comment, **body)
        assert answer.status == 200, answer.body
        return answer.body["assetVersionId"]

    def whole(self, number: str, **query: str) -> Any:
        answer = self.send("GET", f"getVersion/{number}", **query)
        assert answer.status == 200, answer.body
        return answer.body

    def files(self, number: str) -> dict[str, str]:
        """The S3 version of each path in a version."""
        return {file["relativeKey"]: file["versionId"] for file in self.whole(number)["files"]}

    def listed(self, **query: str) -> list[dict[str, Any]]:
        answer = self.send("GET", "getVersions", **query)
        assert answer.status == 200, answer.body
        return answer.body["versions"]

    def revert(self, number: str, **body: Any) -> Response:
        wanted = {"comment": "back again", **body}
        return self.send("POST", f"revertAssetVersion/{number}", body=wanted)

    def stored_jobs(self) -> list[Job]:
        rows = self.tables.scan(JOBS, PageRequest(100)).items
        return [Job.model_validate(row) for row in rows]

    @property
    def asset(self) -> Asset:
        """The asset as it is stored now."""
        return self.lifecycle.gallery.stored_asset()

    def work_off(self, job_id: str) -> Job:
        """Run the remaining steps of a job, as its worker does."""
        hands = self.lifecycle.hands
        for _ in range(1000):
            job = self.run_once(job_id)
            if job is not None and job.is_finished:
                return job
            hands.now += timedelta(seconds=60)
        raise AssertionError(f"{job_id} does not end")

    def run_once(self, job_id: str) -> Job | None:
        """Run steps of a job until it has to wait; None if another worker has it."""
        until = self.lifecycle.hands.now + timedelta(seconds=20)
        return self.creation.runner.run(job_id, self.creation.steps.make, until=until)

    def work_off_all(self, job_ids: Iterable[str]) -> None:
        """Work off jobs that wait for each other."""
        left = set(job_ids)
        for _ in range(len(left)):
            self.lifecycle.hands.now += timedelta(minutes=5)
            ran = [self.run_once(job_id) for job_id in sorted(left)]
            left -= {job.job_id for job in ran if job is not None and job.state == "done"}
        assert left == set()


def versions(tables: Tables, objects: Objects, *, listed: int = 1000, **more: Any) -> Versions:
    """An asset without files, of version 0."""
    kept = lifecycle(tables, objects, **more)
    hands, assets = kept.hands, kept.gallery.assets
    repository, states = VersionRepository(tables), FileStates(objects, listed)
    file_restoration = FileRestoration(
        repository=repository,
        assets=assets,
        states=states,
        copies=Copies(
            objects,
            PartCopies(objects, 1024**3, hands),
            quarantine(tables),
            OriginRecords(FileRepository(tables)),
        ),
        reindexing=kept.reindexing,
        clock=hands,
    )
    records = record_service(assets, tables, clock=hands)

    def pause(seconds: float) -> None:
        hands.now += timedelta(seconds=seconds)

    steps = VersionSteps(
        repository=repository,
        assets=assets,
        jobs=kept.jobs,
        audit=assets.audit,
        states=states,
        file_restoration=file_restoration,
        record_restoration=RecordRestoration(
            repository, records, assets.audit, FileChangeRepository(tables).require_unchanged
        ),
        records=records,
        clock=hands,
        pause=pause,
    )
    creation = VersionCreation(
        repository=repository,
        assets=assets,
        jobs=kept.jobs,
        runner=kept.service.runner,
        steps=steps,
        clock=hands,
    )
    queries = VersionQueries(repository, assets, states, hands)
    return Versions(kept, tables, creation, queries, kept.versions.versions)


def named(files: Mapping[str, str]) -> list[dict[str, str]]:
    """Files of a request by path and S3 version."""
    return [{"relativeKey": path, "versionId": version} for path, version in files.items()]
