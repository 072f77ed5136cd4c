"""Jobs as stored, results of steps, and the replies of the routes."""

from collections.abc import Callable
from dataclasses import field
from typing import Annotated, Any, Literal

from pydantic import Field

from backend.core.models import PageQuery, WireModel
from backend.core.names import Form
from backend.values import frozen

JobState = Literal["queued", "running", "done", "failed", "cancelled"]

# Problems that a job reports; they are in its row. Further ones are omitted (decision 11).
MAX_PROBLEMS = 20


class Job(WireModel):
    """A job as stored.

    `step` counts the steps that are done. `lease_until` (ms since 1970) is when the worker's lease
    ends, or when a waiting job may continue; no two leases of a job end at the same time, so it
    also identifies them. `tries` counts the leases since the last completed step.
    """

    job_id: str
    kind: str
    state: JobState = "queued"
    database_id: str | None = None
    asset_id: str | None = None
    parameters: dict[str, Any] = Field(default_factory=dict)
    cursor: dict[str, Any] = Field(default_factory=dict)
    items_done: int = 0
    items_total: int | None = None
    problems: list[str] = Field(default_factory=list)
    created_by: str
    user_id: str | None = None
    """`created_by` for users only: the key of their list of jobs. Jobs of the product have none."""
    created_at: str
    updated_at: str
    expires_at: int
    step: int = 0
    lease_until: int = 0
    tries: int = 0
    undo: bool = False
    """Whether the job was cancelled and its steps undo their changes (`JobKind.undoes`)."""
    result: dict[str, Any] | None = None
    """The result of a job that creates something. The transaction that creates it also writes the
    result."""

    @property
    def is_finished(self) -> bool:
        """Return whether no worker continues it (a failed or cancelled job may be resumed)."""
        return self.state not in {"queued", "running"}


@frozen
class Progress:
    """The result of one step of a job.

    `cursor` is where the next step begins; `items` were processed by this step; `wait_seconds` is
    the delay of the next step; `problems` are messages for people.
    """

    cursor: dict[str, Any] = field(default_factory=dict[str, Any])
    items: int = 0
    finished: bool = False
    wait_seconds: int = 0
    problems: tuple[str, ...] = ()
    undone: bool = False
    """Whether a finished job has undone its changes: it is cancelled, not done."""


# A step may run again, in whole or in part, before its advance is stored, so it must be idempotent.
Step = Callable[[Job], Progress]
"""Runs the part of a job at its cursor."""


class JobPath(WireModel):
    job_id: Annotated[
        str,
        Field(min_length=1, max_length=400),
        Form("[^#/?]+", "must not contain '#', '/' or '?'"),
    ]


class JobsQuery(PageQuery):
    """A page of the caller's jobs."""

    most_items = 100


class JobReply(WireModel):
    """A job. A cancelled one that has undone its last step is not `resumable`; start it again."""

    job_id: str
    kind: str
    state: JobState
    database_id: str | None = None
    asset_id: str | None = None
    items_done: int
    items_total: int | None = None
    problems: list[str]
    cancellable: bool
    resumable: bool
    result: dict[str, Any] | None = None
    created_by: str
    created_at: str
    updated_at: str


class JobsReply(WireModel):
    """Jobs that the caller started, newest first. Jobs of objects that the caller may not see any
    more are left out. A job may be missing for a moment after it was started.
    """

    items: list[JobReply]
    next_token: Annotated[str | None, Field(alias="NextToken")] = None
