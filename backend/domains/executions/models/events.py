"""Events about executions as EventBridge delivers them; only their consumers load this."""

from typing import Annotated, NamedTuple

from pydantic import AwareDatetime, Field

from backend.core.models import WireModel
from backend.domains.facts.models import FailedInspection


class StatusDetail(WireModel):
    """A status event of Step Functions; times are milliseconds since 1970."""

    name: Annotated[str, Field(min_length=1)]
    status: Annotated[str, Field(min_length=1)]
    start_date: int | None = None
    stop_date: int | None = None
    error: str | None = None
    cause: str | None = None


class StatusEvent(WireModel):
    """The event `Step Functions Execution Status Change`, as far as it is used."""

    detail: StatusDetail


class Renewal(WireModel):
    """The job that requests another inspection of a file, and when it was started."""

    job_id: Annotated[str, Field(min_length=1)]
    created_at: AwareDatetime


class UploadedObject(NamedTuple):
    """An object of which there is a new version, or whose facts are renewed."""

    bucket: str
    key: str
    renewal: Renewal | None = None


class NamedBucket(WireModel):
    name: Annotated[str, Field(min_length=1)]


class NamedKey(WireModel):
    key: Annotated[str, Field(min_length=1)]


class UploadDetail(WireModel):
    bucket: NamedBucket
    object: NamedKey
    renewal: Renewal | None = None


class FailureEvent(WireModel):
    """An inspection that failed, if a message is about one and not about an object."""

    failed_inspection: FailedInspection | None = None


class UploadEvent(WireModel):
    """The event `Object Created`, as far as it is used.

    `renewal` is set by the job that renews facts, and never by S3.
    """

    detail: UploadDetail
