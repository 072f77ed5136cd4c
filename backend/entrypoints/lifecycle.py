"""Wires archiving, restoring and deleting assets.

What only the worker needs is imported where it is wired, as in `wiring`.
"""

# ruff: noqa: PLC0415

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from backend.domains.asset_lifecycle.repository import LifecycleRepository
from backend.domains.asset_lifecycle.service import (
    ArchiveSteps,
    LifecycleService,
    VersionLifecycle,
)
from backend.domains.files.repository import FileChangeRepository
from backend.domains.jobs.models import Step
from backend.entrypoints.asset_versions import VersionWiring
from backend.spec.buckets import AUXILIARY_BUCKET
from backend.spec.jobs import ARCHIVE_ASSET, DELETE_ASSET, PURGE_DATABASE, UNARCHIVE_ASSET
from backend.spec.settings import SETTLE_DELAY_SECONDS


@dataclass(eq=False, repr=False)
class LifecycleWiring(VersionWiring):
    """Creates the services of the lifecycle functions: of the API, and of the worker."""

    @property
    def version_lifecycle(self) -> VersionLifecycle:
        return VersionLifecycle(self.lifecycle, self.version_updates)

    @property
    def lifecycle(self) -> LifecycleService:
        return LifecycleService(
            repository=LifecycleRepository(self.tables),
            assets=self.assets,
            jobs=self.jobs,
            runner=self.runner,
            audit=self.audit,
            steps=self._archive_steps,
            at_rest=FileChangeRepository(self.tables).at_rest,
            clock=self.clock,
        )

    @property
    def lifecycle_steps(self) -> Mapping[str, Step]:
        """Return the steps of the jobs, by kind."""
        from backend.domains.asset_lifecycle.service.jobs.deletion import DeleteSteps
        from backend.domains.asset_links.repository import AssetLinkRepository
        from backend.domains.asset_links.service import AssetLinkService

        delete_steps = DeleteSteps(
            repository=LifecycleRepository(self.tables),
            assets=self.assets,
            links=AssetLinkService(AssetLinkRepository(self.tables), self.assets, self.clock),
            objects=self.objects,
            reindexing=self.reindexing,
            auxiliary=self.settings.bucket(AUXILIARY_BUCKET),
            wait_seconds=self._wait_seconds,
        )
        return {
            ARCHIVE_ASSET.name: self._archive_steps.archive,
            UNARCHIVE_ASSET.name: self._archive_steps.unarchive,
            DELETE_ASSET.name: delete_steps.delete,
        }

    @property
    def purge_steps(self) -> Mapping[str, Step]:
        """Return the step of the jobs that purge databases, by kind."""
        from backend.domains.database_purges.repository import PurgeRepository
        from backend.domains.database_purges.service.jobs import PurgeSteps

        steps = PurgeSteps(
            repository=PurgeRepository(self.tables),
            databases=self.databases,
            lifecycle=self.lifecycle,
            jobs=self.jobs,
            wait_seconds=self._wait_seconds,
        )
        return {PURGE_DATABASE.name: steps.purge}

    @property
    def _wait_seconds(self) -> int:
        """Return how long requests and table indexes may lag, and so how long a job waits."""
        return max(1, self.settings.number(SETTLE_DELAY_SECONDS))

    @cached_property
    def _archive_steps(self) -> ArchiveSteps:
        return ArchiveSteps(
            repository=LifecycleRepository(self.tables),
            assets=self.assets,
            objects=self.objects,
            reindexing=self.reindexing,
        )
