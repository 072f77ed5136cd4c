"""Reports which object versions cannot be read."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from backend.core.objects import VersionRef
from backend.domains.quarantine.errors import FileQuarantinedError
from backend.domains.quarantine.models import ScannedVersion
from backend.domains.quarantine.repository import QuarantineRepository


@dataclass(eq=False, repr=False)
class Quarantine:
    """Reads quarantines. `scans` returns whether uploads are scanned; if not, nothing is read."""

    repository: QuarantineRepository
    scans: Callable[[], bool]

    def among(self, bucket: str, versions: Iterable[VersionRef]) -> set[VersionRef] | None:
        """Return those of some versions that are quarantined.

        None where uploads are not scanned. One request to the table for 100 versions.
        """
        if not self.scans():
            return None
        wanted = [ScannedVersion(bucket, *version) for version in dict.fromkeys(versions)]
        results = self.repository.results(wanted)
        threats = (version for version, stored in results.items() if stored.is_threat)
        return {VersionRef(threat.key, threat.version_id) for threat in threats}

    def check_clean(self, bucket: str, key: str, version_id: str) -> None:
        """Require that the version may be read or copied.

        Raises:
            FileQuarantinedError: a scan found a threat in it.
        """
        if self.among(bucket, [VersionRef(key, version_id)]):
            raise FileQuarantinedError(key)
