"""Wires listing and describing files."""

from backend.domains.files.repository import FileRepository
from backend.domains.files.service import FileQueries
from backend.domains.quarantine.repository import QuarantineRepository
from backend.domains.quarantine.service import Quarantine
from backend.entrypoints.wiring import Wiring
from backend.spec.settings import MALWARE_SCAN


def file_service(wiring: Wiring) -> FileQueries:
    """Return the service of files.

    Functions that read files, or copy them, declare `MALWARE_SCAN`; others never use it.
    """
    repository = QuarantineRepository(wiring.tables)
    quarantine = Quarantine(repository, lambda: wiring.settings.number(MALWARE_SCAN) == 1)
    return FileQueries(FileRepository(wiring.tables), wiring.assets, wiring.objects, quarantine)
