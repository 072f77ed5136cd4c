"""Users' requests that archive, restore and delete; their process may crash at any request.

A committed transaction has happened, whatever crashes afterwards; jobs do the rest.
"""

from collections.abc import Callable

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from backend.core.errors import (
    NotEmptyError,
    NotFoundError,
    StateForbidsError,
    VitrineError,
)
from backend.domains.jobs.models import Job
from backend.domains.tags.models import TagBody
from backend.entrypoints.wiring.asset_lifecycle import lifecycle
from backend.entrypoints.wiring.assets import assets
from backend.entrypoints.wiring.databases import databases
from backend.entrypoints.wiring.jobs import jobs
from backend.entrypoints.wiring.tags import tags
from backend.spec.tables.operations import JOBS, RESERVATIONS
from tests.model.expected import rows
from tests.model.linking import Linking
from tests.model.machine import ADMIN, DATABASES, TAGS, numbers, pick
from tests.model.state import ModelAsset
from tests.model.turns import KilledError, Worker

dying = st.none() | st.integers(0, 14)
"""Number of requests after which a caller's process crashes; None for no crash."""


class Lifecycle(Linking):
    """Archived and deleted assets, deleted databases and tags, stopped and resumed jobs."""

    @precondition(lambda self: self.model.assets)
    @rule(number=numbers, dies=dying)
    def archive(self, number: int, dies: int | None) -> None:
        asset = pick(sorted(self.model.assets.values(), key=lambda a: a.asset_id), number)
        verb = lifecycle(self.world.on.lifecycle_api).archive_asset
        if asset.is_archived or self.unfinished(asset) is not None:
            self.expect(StateForbidsError, lambda: verb(ADMIN, asset.database_id, asset.asset_id))
        elif self.carried_out(
            lambda: verb(ADMIN, asset.database_id, asset.asset_id),
            dies,
            lambda: self.stored(asset, is_archived=True),
        ):
            asset.archive()

    @precondition(lambda self: any(asset.is_archived for asset in self.model.assets.values()))
    @rule(number=numbers, dies=dying)
    def unarchive(self, number: int, dies: int | None) -> None:
        archived = [asset for asset in self.model.assets.values() if asset.is_archived]
        asset = pick(archived, number)
        verb = lifecycle(self.world.on.lifecycle_api).unarchive_asset
        is_deleted = asset.database_id not in self.model.databases
        if is_deleted or self.unfinished(asset) is not None:
            self.expect(StateForbidsError, lambda: verb(ADMIN, asset.database_id, asset.asset_id))
        elif self.carried_out(
            lambda: verb(ADMIN, asset.database_id, asset.asset_id),
            dies,
            lambda: self.stored(asset, is_archived=False),
        ):
            asset.unarchive()

    @precondition(lambda self: self.model.assets)
    @rule(number=numbers, dies=dying)
    def delete(self, number: int, dies: int | None) -> None:
        asset = pick(sorted(self.model.assets.values(), key=lambda a: a.asset_id), number)
        verb = lifecycle(self.world.on.lifecycle_api).delete_asset
        if self.carried_out(
            lambda: verb(ADMIN, asset.database_id, asset.asset_id),
            dies,
            lambda: not self.stored(asset, is_archived=asset.is_archived),
        ):
            del self.model.assets[asset.asset_id]
            self.model.unlink(asset.asset_id)
            self.model.leaving.add(asset.asset_id)

    @rule(name=st.sampled_from(DATABASES))
    def delete_database(self, name: str) -> None:
        error: type[VitrineError] | None = None
        if name not in self.model.databases:
            error = NotFoundError
        elif any(asset.database_id == name for asset in self.model.active()):
            error = NotEmptyError
        self.expect(error, lambda: databases(self.on).delete_database(ADMIN, name))
        if error is None:
            self.model.deleted[name] = self.model.databases.pop(name)

    @rule(name=st.sampled_from(DATABASES))
    def create_database_again(self, name: str) -> None:
        self.create_database(name)

    @rule(name=st.sampled_from(TAGS))
    def delete_tag(self, name: str) -> None:
        error = None if name in self.model.tags else NotFoundError
        self.expect(error, lambda: tags(self.on).delete_tag(ADMIN, name))
        self.model.withdraw(name)

    @rule(name=st.sampled_from(TAGS))
    def edit_tag(self, name: str) -> None:
        body = TagBody(tag_name=name, description="changed", tag_type_name="look")
        error = None if name in self.model.tags else NotFoundError
        self.expect(error, lambda: tags(self.on).update_tag(ADMIN, body))

    @precondition(lambda self: self.running_jobs())
    @rule(number=numbers, for_good=st.booleans())
    def cancel_job(self, number: int, for_good: bool) -> None:
        """Jobs that people stopped are resumed before the end, overtaken by others, or left."""
        job = pick(self.running_jobs(), number)
        if job.kind in {"archiveAsset", "unarchiveAsset"}:
            jobs(self.on).cancel_job(ADMIN, job.job_id)
            asset = self.model.assets.get(job.asset_id or "")
            if asset is not None and self.last_job(asset) == job.job_id:
                asset.is_half_done = for_good
        else:
            self.expect(StateForbidsError, lambda: jobs(self.on).cancel_job(ADMIN, job.job_id))

    def before_a_tag(self, name: str) -> None:
        """A tag that is created again while it is removed remains on assets that still have it."""
        if any(job.parameters.get("tagName") == name for job in self.running_jobs()):
            self.world.drain()

    def before_the_end(self) -> None:
        for job in self.jobs_in({"cancelled"}):
            asset = self.model.assets.get(job.asset_id or "")
            if asset is None or asset.is_half_done:
                continue
            if self.last_job(asset) == job.job_id:
                jobs(self.on).resume_job(ADMIN, job.job_id)

    def refusal_to_create(
        self, database: str, asset_id: str, tags: list[str]
    ) -> type[VitrineError] | None:
        """An id is free again when the job that deletes the remains of its asset has ended."""
        if asset_id in self.model.leaving:
            taken = {row["reservationKey"] for row in rows(self.world.ports.tables, RESERVATIONS)}
            if f"AssetId#{asset_id}" not in taken:
                self.model.leaving.discard(asset_id)
        return super().refusal_to_create(database, asset_id, tags)

    def carried_out(
        self, call: Callable[[], object], dies: int | None, happened: Callable[[], bool]
    ) -> bool:
        """Return whether a call took effect; the call of a crashed process may have."""
        if dies is None:
            call()
            return True

        def work() -> None:
            call()

        worker = Worker(self.world.turns, work, self.world.time.now())
        for _ in range(dies):
            if not worker.has_ended:
                worker.step()
        worker.kill()
        error = worker.error
        if error is None:
            return True
        if not isinstance(error, KilledError):
            raise error
        return happened()

    def stored(self, asset: ModelAsset, *, is_archived: bool) -> bool:
        """Return whether the asset's row has the state; False if there is none."""
        result = assets(self.on).find_asset(asset.database_id, asset.asset_id)
        return result is not None and result.is_archived == is_archived

    def last_job(self, asset: ModelAsset) -> str | None:
        result = assets(self.on).find_asset(asset.database_id, asset.asset_id)
        assert result is not None
        return result.lifecycle_job_id

    def unfinished(self, asset: ModelAsset) -> Job | None:
        """The job that still changes the asset's files."""
        job_id = self.last_job(asset)
        job = None if job_id is None else jobs(self.on).find(job_id)
        return None if job is None or job.is_finished else job

    def jobs_in(self, states: set[str]) -> list[Job]:
        result = rows(self.world.ports.tables, JOBS)
        return [Job.model_validate(row) for row in result if row["state"] in states]

    def running_jobs(self) -> list[Job]:
        return self.jobs_in({"queued", "running"})
