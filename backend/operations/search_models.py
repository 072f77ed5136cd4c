"""The bodies and replies of the routes for search indexes."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from backend.core.models import Confirmation, WireModel, WrongFieldError
from backend.core.names import AssetId, Id
from backend.domains.jobs.models import JobState
from backend.search.maintenance.work import Report
from backend.spec.formats import reason_not_inspected

# They are stored in the job's item, of at most 400 KB.
MAX_DOCUMENTS = 1000
MAX_FORMATS = 100


class WorkReply(WireModel):
    """The job that does the work. `started` is false if such a job was running already; its id is
    returned.
    """

    job_id: str
    started: bool
    message: str


class RunningWork(WireModel):
    """A running or failed job on the search indexes; `phase` is set for a reindex."""

    job_id: str
    kind: str
    state: JobState
    items_done: int
    phase: str | None = None


class IndexReply(WireModel):
    """One of the two search indexes.

    `differences` lists how its mapping differs from the declared one; a reindex removes them.
    """

    alias: str
    reads: str
    writes: list[str]
    differences: list[str]


class ConsistencyReply(WireModel):
    """The report of the last consistency check, and the current state of the indexes.

    `report` is absent until a check has ended. `corrections` lists the operation that corrects the
    reported differences, if there are any.
    """

    report: Report | None = None
    work: list[RunningWork]
    indexes: list[IndexReply]
    corrections: list[str]


class DocumentName(WireModel):
    """A search document: of an asset, or of a file, named by its path in the asset or its key in
    S3.
    """

    database_id: Id
    asset_id: AssetId
    path: Annotated[str | None, Field(min_length=1, max_length=1024)] = None
    key: Annotated[str | None, Field(min_length=1, max_length=1024)] = None

    @model_validator(mode="after")
    def check_file(self) -> "DocumentName":
        if self.path is not None and self.key is not None:
            raise WrongFieldError("key", "exactly one of path and key is required")
        return self


def _format(value: str) -> str:
    extension = value.removeprefix(".").lower()
    reason = reason_not_inspected(extension)
    if reason is not None:
        raise ValueError(reason)
    return extension


def _check_all_or_parts(everything: bool | None, parts: Mapping[str, object]) -> None:
    """Require either everything or at least one part of it.

    Raises:
        WrongFieldError: both or neither are requested.
    """
    sent = [name for name, value in parts.items() if value is not None]
    if everything is not None and sent:
        raise WrongFieldError(
            "all", f"cannot be combined with {' and '.join(sent)}, which request a part: omit one"
        )
    if everything is None and not sent:
        raise WrongFieldError("all", f"is required, or one of {', '.join(parts)}")


class RenewFactsBody(WireModel):
    """Files whose facts are renewed: all, those of a database, of formats, or of both.

    A format is an extension, such as `dae`. Files of named formats are also inspected if they have
    no facts.
    """

    model_config = ConfigDict(json_schema_extra={"examples": [{"all": True}]})

    all: Confirmation | None = None
    database_id: Id | None = None
    formats: Annotated[
        list[Annotated[str, AfterValidator(_format)]] | None,
        Field(min_length=1, max_length=MAX_FORMATS),
    ] = None

    @model_validator(mode="after")
    def check_selection(self) -> "RenewFactsBody":
        parts = {"databaseId": self.database_id, "formats": self.formats}
        _check_all_or_parts(self.all, parts)
        return self


class RepairBody(WireModel):
    """Documents to repair: all, those of a database or an asset, or named ones.

    Named documents are always rebuilt; otherwise, only documents that differ are.
    """

    model_config = ConfigDict(json_schema_extra={"examples": [{"all": True}]})

    all: Confirmation | None = None
    database_id: Id | None = None
    asset_id: AssetId | None = None
    documents: Annotated[
        list[DocumentName] | None, Field(min_length=1, max_length=MAX_DOCUMENTS)
    ] = None

    @model_validator(mode="after")
    def names_one_of_three(self) -> "RepairBody":
        if self.asset_id is not None and self.database_id is None:
            raise WrongFieldError("assetId", "is allowed only with databaseId")
        parts = {"databaseId": self.database_id, "documents": self.documents}
        _check_all_or_parts(self.all, parts)
        if None not in parts.values():
            raise WrongFieldError(
                "documents", "cannot be combined with databaseId: send one of them"
            )
        return self
