"""Wires changes of files. Loaded by the first request that changes a file."""

from functools import cached_property
from typing import TYPE_CHECKING

from backend.core.part_copies import PartCopies
from backend.core.wired import wired
from backend.domains.files.repository import FileChangeRepository, FileRepository
from backend.domains.files.service.carrying_out import ChangesOfFiles
from backend.domains.files.service.commands import FileChanges
from backend.domains.files.service.companions import Companions
from backend.domains.files.service.copying import Copies
from backend.domains.files.service.erasing import Erasing
from backend.domains.files.service.hiding import Hiding
from backend.domains.files.service.placing import FilePlaces
from backend.domains.files.service.rewriting import FileRewrites
from backend.domains.files.service.steps import ChangeSteps
from backend.domains.files.service.transferring import Transfers
from backend.domains.files.service.work import Endings
from backend.spec.buckets import AUXILIARY_BUCKET
from backend.spec.settings import LARGE_FILE_BYTES

if TYPE_CHECKING:
    from backend.entrypoints.wiring import Wiring


@wired
class FileChanging:
    """What changes files: the requests, and the steps of their jobs."""

    wiring: "Wiring"

    @cached_property
    def changes(self) -> FileChanges:
        return FileChanges(self._places, self._repository, self._carrying)

    @cached_property
    def rewrites(self) -> FileRewrites:
        wiring = self.wiring
        return FileRewrites(self._places, self._carrying, self._auxiliary, wiring.clock)

    @cached_property
    def steps(self) -> ChangeSteps:
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
        hiding = Hiding(wiring.objects, endings)
        return ChangeSteps(
            changes=self._repository,
            assets=wiring.assets,
            objects=wiring.objects,
            copies=copies,
            companions=companions,
            hiding=hiding,
            transfers=Transfers(
                wiring.files, wiring.assets, copies, companions, wiring.objects, hiding, endings
            ),
            erasing=Erasing(FileRepository(wiring.tables), companions, wiring.objects, endings),
            endings=endings,
        )

    @cached_property
    def _carrying(self) -> ChangesOfFiles:
        wiring = self.wiring
        return ChangesOfFiles(
            changes=self._repository,
            jobs=wiring.jobs,
            runner=wiring.runner,
            audit=wiring.audit,
            step=self.steps.step,
            clock=wiring.clock,
        )

    @cached_property
    def _places(self) -> FilePlaces:
        wiring = self.wiring
        return FilePlaces(wiring.files, wiring.assets, wiring.databases, wiring.objects)

    @cached_property
    def _repository(self) -> FileChangeRepository:
        return FileChangeRepository(self.wiring.tables)

    def _auxiliary(self) -> str:
        return self.wiring.settings.bucket(AUXILIARY_BUCKET)
