"""Results of malware scans as GuardDuty sends them; only their consumer loads this."""

from typing import Annotated, NamedTuple

from pydantic import AwareDatetime, Field

from backend.core.models import WireModel
from backend.domains.quarantine.models import ScannedVersion, StoredResult


class ScanResult(NamedTuple):
    """The result of a scan of a version, and its time; `threats` are the scanner's names."""

    version: ScannedVersion
    stored: StoredResult
    threats: tuple[str, ...] = ()


class ScannedObject(WireModel):
    """The object of an event; an object of a bucket without versioning has no version id."""

    bucket_name: Annotated[str, Field(min_length=1)]
    object_key: Annotated[str, Field(min_length=1)]
    version_id: str | None = None


class FoundResult(WireModel):
    scan_result_status: str
    threats: object = None


class ScanDetail(WireModel):
    s3_object_details: ScannedObject
    scan_result_details: FoundResult


class ScanEvent(WireModel):
    """The event `GuardDuty Malware Protection Object Scan Result`, as far as it is used."""

    time: AwareDatetime
    detail: ScanDetail
