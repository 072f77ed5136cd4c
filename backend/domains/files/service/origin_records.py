"""Records the origins of versions: the user who wrote each, the kind of change, and its source."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from backend.core.delete_markers import Newest
from backend.core.objects import ObjectVersion, VersionRef
from backend.core.references import AssetRef
from backend.core.transactions import Write
from backend.domains.files.models import VersionOrigin
from backend.domains.files.repository import FileRepository
from backend.domains.files.rules import marker_of, relative_path

# A write in a transaction costs twice as much as one in a batch, which is a request of its own.
MAX_IN_TRANSACTION = 10


@dataclass(eq=False, repr=False)
class OriginRecords:
    rows: FileRepository

    def record_versions(self, ref: AssetRef, origins: Mapping[VersionRef, VersionOrigin]) -> None:
        """Store the origins of versions that exist; their keys are paths in the asset."""
        self.rows.put_origins(ref, origins)

    def version_writes(
        self, ref: AssetRef, origins: Mapping[VersionRef, VersionOrigin]
    ) -> Sequence[Write]:
        """As `record_versions`, for a transaction; no writes if they would not fit one."""
        if len(origins) <= MAX_IN_TRANSACTION:
            return self.rows.origin_writes(ref, origins)
        self.record_versions(ref, origins)
        return ()

    def record_markers(
        self, ref: AssetRef, prefix: str, hidden: Iterable[ObjectVersion], origin: VersionOrigin
    ) -> None:
        """Store the origin of delete markers before they hide these versions.

        Later, a worker that dies between the two would leave markers of an unknown origin.
        """
        markers = [
            marker_of(relative_path(prefix, version.key), version.version_id) for version in hidden
        ]
        self.rows.put_origins(ref, dict.fromkeys(markers, origin))

    def delete_markers(self, ref: AssetRef, prefix: str, removed: Iterable[Newest]) -> None:
        """Delete the origins of removed markers: another program may hide the same versions."""
        markers = [
            marker_of(relative_path(prefix, below.key), below.version_id)
            for _, below in removed
            if below is not None
        ]
        self.rows.delete_origins(ref, markers)
