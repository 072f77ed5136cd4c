"""An asset with files that tests archive, restore and delete, and the steps of these jobs."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest

from backend.core.objects import Objects
from backend.core.references import AssetRef
from backend.core.tables import Tables
from backend.domains.asset_lifecycle.repository import LifecycleRepository
from backend.domains.asset_lifecycle.routes import build_router
from backend.domains.asset_lifecycle.service.commands import LifecycleService
from backend.domains.asset_lifecycle.service.jobs import ArchiveSteps, DeleteSteps
from backend.domains.asset_lifecycle.service.versions import VersionLifecycle
from backend.domains.asset_links.models import CreateLinkBody, RelationshipType
from backend.domains.asset_links.repository import AssetLinkRepository
from backend.domains.asset_links.service.commands import AssetLinkService
from backend.domains.asset_versions.repository import VersionRepository
from backend.domains.asset_versions.service.updates import VersionUpdates
from backend.domains.assets.models import Asset
from backend.domains.files.repository import FileChangeRepository, FileRepository
from backend.domains.files.service.origin_records import OriginRecords
from backend.domains.jobs.models import Job, Step
from backend.domains.jobs.repository import JobRepository
from backend.domains.jobs.service.commands import JobService
from backend.domains.jobs.service.runner import JobRunner
from backend.http.router import Router
from backend.spec.jobs import ARCHIVE_ASSET, DELETE_ASSET, UNARCHIVE_ASSET
from tests.factories.access import OnlyUser
from tests.factories.assets import ADMIN, NOON
from tests.factories.audit import audit_service
from tests.factories.files import BUCKET, PARAMETERS, PATH, Gallery, gallery
from tests.factories.http import Client, Response

AUXILIARY = "assetauxiliarybucket"
WAIT_SECONDS = 900
_VERBS = {"archive": "DELETE", "unarchive": "PUT", "delete": "DELETE"}
_CONFIRMED: dict[str, dict[str, Any]] = {
    "archive": {"confirmArchive": True},
    "unarchive": {"confirmUnarchive": True},
    "delete": {"confirmPermanentDelete": True},
}


class KilledError(BaseException):
    """The process of a worker ended; none of its code runs any more."""


def interrupt(
    monkeypatch: pytest.MonkeyPatch,
    owner: object,
    name: str,
    then: Callable[[], object],
    *,
    after: bool = False,
) -> None:
    """Let something happen right before the first call of a method, or after it."""
    real: Any = getattr(owner, name)
    moments = iter([True])

    def interrupted(*args: Any, **more: Any) -> Any:
        is_first = next(moments, False)
        if is_first and not after:
            then()
        reply = real(*args, **more)
        if is_first and after:
            then()
        return reply

    monkeypatch.setattr(owner, name, interrupted)


def kill(
    monkeypatch: pytest.MonkeyPatch, owner: object, name: str, *, times: int, after: bool
) -> None:
    """Let the process die at the first calls of a method, before or after their effect."""
    real: Any = getattr(owner, name)
    deaths = iter(range(times))

    def dying(*args: Any, **more: Any) -> Any:
        reply = real(*args, **more) if after else None
        if next(deaths, None) is not None:
            raise KilledError
        return reply if after else real(*args, **more)

    monkeypatch.setattr(owner, name, dying)


@dataclass
class ManualClock:
    """A clock that tests set; it may advance each time it is read."""

    now: datetime = NOON
    tick: timedelta = timedelta(0)

    def __call__(self) -> datetime:
        self.now += self.tick
        return self.now


@dataclass
class RecordedRebuildRequests:
    """The port `RebuildRequests`: records the requested documents."""

    built: set[tuple[str, ...]] = field(default_factory=set[tuple[str, ...]])

    def assets(self, assets: Iterable[AssetRef]) -> None:
        self.built |= {asset.ids for asset in assets}

    def files(self, database_id: str, asset_id: str, paths: Iterable[str]) -> None:
        self.built |= {(database_id, asset_id, path) for path in paths}

    def keys(self, database_id: str, asset_id: str, keys: Iterable[str]) -> None:
        self.built |= {(database_id, asset_id, key) for key in keys}


@dataclass(frozen=True)
class Lifecycle:
    """The asset `statue` of the database `museum`, and the requests that change its state."""

    gallery: Gallery
    tables: Tables
    objects: Objects
    service: LifecycleService
    versions: VersionLifecycle
    deletes: DeleteSteps
    jobs: JobService
    hands: ManualClock
    reindexing: RecordedRebuildRequests

    def send(
        self, operation: str, *, user_id: str = "admin", revision: int | None = None, **body: Any
    ) -> Response:
        """A request as sent, without a confirmation; `revision` is that of its If-Match."""
        client = Client(self.router, user_id=user_id)
        method, path = _VERBS[operation], f"{PATH}/{operation}Asset"
        headers = {} if revision is None else {"if-match": f'"{revision}"'}
        return client.send(method, path, parameters=PARAMETERS, body=body, headers=headers)

    @property
    def router(self) -> Router:
        return build_router(self.service, self.versions)

    def change(self, operation: str, **body: Any) -> str:
        """Send a request that must succeed; return its job's id."""
        answer = self.send(operation, **_CONFIRMED[operation], **body)
        assert answer.status == 200, answer.body
        return answer.body["jobId"]

    def archive(self, **body: Any) -> str:
        return self.change("archive", **body)

    def unarchive(self) -> str:
        return self.change("unarchive")

    def delete(self, **body: Any) -> str:
        return self.change("delete", **body)

    def refused(self, operation: str, **body: Any) -> tuple[int, str]:
        """Return status and code of a request that is confirmed and must fail."""
        answer = self.send(operation, **(_CONFIRMED[operation] | body))
        assert answer.status >= 400, answer.body
        return answer.status, answer.body["code"]

    @property
    def stored(self) -> Asset:
        """The asset, active or archived, as it is stored now."""
        return self.gallery.stored_asset()

    def asset(self) -> Asset | None:
        return self.gallery.assets.find_asset("museum", "statue")

    def work_off(self, job_id: str) -> Job:
        """Run all steps of a job, as its worker does; waits advance the clock."""
        while True:
            job = self.work(job_id)
            if job is not None and job.is_finished:
                return job
            self.hands.now += timedelta(seconds=WAIT_SECONDS)

    def work_off_deaths(self, job_id: str, pause: timedelta = timedelta(minutes=16)) -> Job:
        """Run all steps of a job, whose workers may die."""
        job = None
        while job is None or not job.is_finished:
            self.hands.now += pause
            with suppress(KilledError):
                job = self.work(job_id)
        return job

    def work(self, job_id: str) -> Job | None:
        """Process one message of a job; return None if another worker has its lease."""
        runner = self.service.runner
        result = self.jobs.find(job_id)
        assert result is not None
        until = self.hands.now + timedelta(seconds=20)
        return runner.run(job_id, self.steps()[result.kind], until=until)

    def steps(self) -> dict[str, Step]:
        return {
            ARCHIVE_ASSET.name: self.service.steps.archive,
            UNARCHIVE_ASSET.name: self.service.steps.unarchive,
            DELETE_ASSET.name: self.deletes.delete,
        }

    def files(self) -> dict[str, bool]:
        """By path whether a file is archived, according to its bucket."""
        prefix = self.gallery.asset.asset_location.key
        result: dict[str, bool] = {}
        after: tuple[str | None, str | None] = (None, None)
        while True:
            page = self.objects.list_versions(
                BUCKET, prefix, after_key=after[0], after_version_id=after[1]
            )
            for version in page.versions:
                if version.is_latest:
                    result["/" + version.key.removeprefix(prefix)] = version.is_delete_marker
            after = (page.next_key, page.next_version_id)
            if page.next_key is None:
                return result

    def link(self, source: str, target: str, kind: RelationshipType = "parentChild") -> str:
        """Create a link between assets of the museum; return its id."""
        body = CreateLinkBody(
            from_asset_database_id="museum",
            from_asset_id=source,
            to_asset_database_id="museum",
            to_asset_id=target,
            relationship_type=kind,
        )
        return self.deletes.links.create_link(ADMIN, body).asset_link_id

    def hide(self, path: str) -> None:
        """Archive one file, as its user does."""
        self.objects.delete(BUCKET, self.gallery.asset.asset_location.key + path.removeprefix("/"))


def lifecycle(
    tables: Tables, objects: Objects, *, files: int = 3, versions: int = 3, base_prefix: str = "/"
) -> Lifecycle:
    """An asset without files; `files` and `versions` are the numbers that a step processes."""
    hands = ManualClock()
    shown = gallery(tables, objects, clock=hands, base_prefix=base_prefix)
    repository, reindexing = LifecycleRepository(tables), RecordedRebuildRequests()
    jobs = JobService(JobRepository(tables), OnlyUser(), audit_service(objects, hands), hands)
    steps = ArchiveSteps(
        repository,
        shown.assets,
        objects,
        reindexing,
        OriginRecords(FileRepository(tables)),
        files=files,
    )
    deletes = DeleteSteps(
        repository=repository,
        assets=shown.assets,
        links=AssetLinkService(
            AssetLinkRepository(tables), shown.assets, shown.assets.audit, hands
        ),
        objects=objects,
        reindexing=reindexing,
        auxiliary=AUXILIARY,
        wait_seconds=WAIT_SECONDS,
        versions=versions,
    )
    service = LifecycleService(
        repository=repository,
        assets=shown.assets,
        jobs=jobs,
        runner=JobRunner(JobRepository(tables), hands),
        audit=shown.assets.audit,
        steps=steps,
        at_rest=FileChangeRepository(tables).at_rest,
        clock=hands,
    )
    updates = VersionUpdates(VersionRepository(tables), shown.assets, shown.assets.audit, hands)
    archiving = VersionLifecycle(service, updates)
    return Lifecycle(shown, tables, objects, service, archiving, deletes, jobs, hands, reindexing)
