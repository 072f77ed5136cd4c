"""Events about executions as EventBridge delivers them; only their consumers load this."""

from typing import Annotated, NamedTuple

from pydantic import Field

from backend.core.models import WireModel


class StatusDetail(WireModel):
    """What Step Functions reports of an execution; times are milliseconds since 1970."""

    name: Annotated[str, Field(min_length=1)]
    status: Annotated[str, Field(min_length=1)]
    start_date: int | None = None
    stop_date: int | None = None
    error: str | None = None
    cause: str | None = None


class StatusEvent(WireModel):
    """The event `Step Functions Execution Status Change`, as far as it is used."""

    detail: StatusDetail


class UploadedObject(NamedTuple):
    """An object of which there is a new version."""

    bucket: str
    key: str


class NamedBucket(WireModel):
    name: Annotated[str, Field(min_length=1)]


class NamedKey(WireModel):
    key: Annotated[str, Field(min_length=1)]


class UploadDetail(WireModel):
    bucket: NamedBucket
    object: NamedKey


class UploadEvent(WireModel):
    """The event `Object Created`, as far as it is used."""

    detail: UploadDetail
