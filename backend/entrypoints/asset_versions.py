"""Wires asset versions."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from backend.core.part_copies import PartCopies
from backend.domains.asset_versions.repository import VersionRepository
from backend.domains.asset_versions.service import (
    FileRestoration,
    RecordRestoration,
    VersionCreation,
    VersionQueries,
    VersionSteps,
    VersionUpdates,
)
from backend.domains.files.service import Copies, FileStates
from backend.domains.jobs.models import Step
from backend.entrypoints.job_workers import WorkerWiring
from backend.spec.jobs import MAKE_VERSION
from backend.spec.settings import LARGE_FILE_BYTES


@dataclass(eq=False, repr=False)
class VersionWiring(WorkerWiring):
    """Creates the services of asset versions, for the API and for workers."""

    @cached_property
    def version_creation(self) -> VersionCreation:
        return VersionCreation(
            repository=self._version_repository,
            assets=self.assets,
            jobs=self.jobs,
            runner=self.runner,
            steps=self._version_steps,
            clock=self.clock,
        )

    @cached_property
    def version_queries(self) -> VersionQueries:
        states = FileStates(self.objects)
        return VersionQueries(self._version_repository, self.assets, states, self.clock)

    @cached_property
    def version_updates(self) -> VersionUpdates:
        return VersionUpdates(self._version_repository, self.assets, self.audit, self.clock)

    @property
    def version_steps(self) -> Mapping[str, Step]:
        """Return the steps of the jobs that create versions, by kind."""
        return {MAKE_VERSION.name: self._version_steps.make}

    @cached_property
    def _version_repository(self) -> VersionRepository:
        return VersionRepository(self.tables)

    @cached_property
    def _version_steps(self) -> VersionSteps:
        return VersionSteps(
            repository=self._version_repository,
            assets=self.assets,
            jobs=self.jobs,
            audit=self.audit,
            states=FileStates(self.objects),
            file_restoration=self._file_restoration,
            record_restoration=RecordRestoration(
                self._version_repository, self.records, self.audit, self.clock
            ),
            clock=self.clock,
        )

    @cached_property
    def _file_restoration(self) -> FileRestoration:
        large_bytes = self.settings.number(LARGE_FILE_BYTES)
        return FileRestoration(
            repository=self._version_repository,
            assets=self.assets,
            states=FileStates(self.objects),
            copies=Copies(
                self.objects,
                PartCopies(self.objects, large_bytes, self.clock),
                self.files.quarantine,
            ),
            reindexing=self.reindexing,
            clock=self.clock,
        )
