"""Results of malware scans as they are stored."""

from typing import NamedTuple

from backend.core.models import WireModel
from backend.spec.buckets import THREATS_FOUND


class ScannedVersion(NamedTuple):
    """One version of an object; `version_id` is `null` in a bucket without versioning."""

    bucket: str
    key: str
    version_id: str


class StoredResult(WireModel):
    """The last scan result of a version in which a scan has found a threat."""

    scan_status: str
    scanned_at: str

    @property
    def is_threat(self) -> bool:
        return self.scan_status == THREATS_FOUND
