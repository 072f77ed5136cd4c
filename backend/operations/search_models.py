"""The bodies and replies of the routes that keep the search indexes right."""

from typing import Annotated

from pydantic import ConfigDict, Field, model_validator

from backend.core.models import Confirmation, WireModel, WrongFieldError
from backend.core.names import AssetId, Id
from backend.domains.jobs.models import JobState
from backend.search.work import Report

MAX_DOCUMENTS = 1000


class WorkReply(WireModel):
    """The job that does it. `started` is false where one was at work already: it is that."""

    job_id: str
    started: bool
    message: str


class RunningWork(WireModel):
    """A job about the search indexes that has not ended, or failed; `phase` is a reindex's."""

    job_id: str
    kind: str
    state: JobState
    items_done: int
    phase: str | None = None


class IndexReply(WireModel):
    """One of the two search indexes.

    `differences` are those of its mapping from the declared one; a reindex mends them.
    """

    alias: str
    reads: str
    writes: list[str]
    differences: list[str]


class ConsistencyReply(WireModel):
    """The report of the last check, and how the indexes stand now.

    Without `report` no check has come to its end yet. `mend` names what would put right what the
    reply tells, if anything has to be.
    """

    report: Report | None = None
    work: list[RunningWork]
    indexes: list[IndexReply]
    mend: list[str]


class DocumentName(WireModel):
    """A document: of an asset, or of a file by its path in the asset, or by its key in S3."""

    database_id: Id
    asset_id: AssetId
    path: Annotated[str | None, Field(min_length=1, max_length=1024)] = None
    key: Annotated[str | None, Field(min_length=1, max_length=1024)] = None

    @model_validator(mode="after")
    def names_one_file(self) -> "DocumentName":
        if self.path is not None and self.key is not None:
            raise WrongFieldError("key", "give either path or key")
        return self


class RepairBody(WireModel):
    """What is repaired: all, a database, an asset, or documents that are named.

    Of the first three, what differs is built again; what is named is built again in any case.
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
        if [self.all, self.database_id, self.documents].count(None) != 2:
            raise ValueError("give either all, databaseId (with assetId or without) or documents")
        if self.asset_id is not None and self.database_id is None:
            raise WrongFieldError("assetId", "goes with databaseId")
        return self
