"""Wires changes of files. Loaded by the first request that changes a file."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from backend.core.part_copies import PartCopies
from backend.domains.files.repository import FileChangeRepository, FileRepository
from backend.domains.files.service.archival import FileArchival
from backend.domains.files.service.change_runner import ChangeRunner
from backend.domains.files.service.commands import FileCommands
from backend.domains.files.service.companions import Companions
from backend.domains.files.service.copies import Copies
from backend.domains.files.service.deletion import FileDeletion
from backend.domains.files.service.jobs import FileChangeSteps
from backend.domains.files.service.lookup import FileLookup
from backend.domains.files.service.rewrites import FileRewrites
from backend.domains.files.service.transfers import Transfers
from backend.domains.files.service.work import Endings
from backend.spec.buckets import AUXILIARY_BUCKET
from backend.spec.settings import LARGE_FILE_BYTES

if TYPE_CHECKING:
    from backend.entrypoints.wiring import Wiring


@dataclass(eq=False, repr=False)
class FileChangeWiring:
    """Creates the services that change files: requests, and steps of their jobs."""

    wiring: "Wiring"

    @cached_property
    def changes(self) -> FileCommands:
        return FileCommands(self._lookup, self._repository, self._runner)

    @cached_property
    def rewrites(self) -> FileRewrites:
        wiring = self.wiring
        return FileRewrites(self._lookup, self._runner, self._auxiliary, wiring.clock)

    @cached_property
    def steps(self) -> FileChangeSteps:
        wiring = self.wiring
        copies = Copies(
            wiring.objects,
            PartCopies(wiring.objects, wiring.settings.number(LARGE_FILE_BYTES), wiring.clock),
            wiring.files.quarantine,
        )
        companions = Companions(
            wiring.objects, wiring.records, wiring.files.quarantine, self._auxiliary()
        )
        endings = Endings(self._repository, wiring.files, wiring.assets, wiring.reindexing)
        archival = FileArchival(wiring.objects, endings)
        return FileChangeSteps(
            changes=self._repository,
            assets=wiring.assets,
            objects=wiring.objects,
            copies=copies,
            companions=companions,
            archival=archival,
            transfers=Transfers(
                wiring.files, wiring.assets, copies, companions, wiring.objects, archival, endings
            ),
            deletion=FileDeletion(
                FileRepository(wiring.tables), companions, wiring.objects, endings
            ),
            endings=endings,
        )

    @cached_property
    def _runner(self) -> ChangeRunner:
        wiring = self.wiring
        return ChangeRunner(
            changes=self._repository,
            jobs=wiring.jobs,
            job_runner=wiring.runner,
            audit=wiring.audit,
            step=self.steps.step,
            clock=wiring.clock,
        )

    @cached_property
    def _lookup(self) -> FileLookup:
        wiring = self.wiring
        return FileLookup(wiring.files, wiring.assets, wiring.databases, wiring.objects)

    @cached_property
    def _repository(self) -> FileChangeRepository:
        return FileChangeRepository(self.wiring.tables)

    def _auxiliary(self) -> str:
        return self.wiring.settings.bucket(AUXILIARY_BUCKET)
