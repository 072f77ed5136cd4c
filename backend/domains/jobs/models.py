"""Jobs as stored, what a step returns, and the replies of the routes."""

from collections.abc import Callable
from dataclasses import field
from typing import Annotated, Any, Literal

from pydantic import Field

from backend.core.models import WireModel
from backend.values import frozen

JobState = Literal["queued", "running", "done", "failed", "cancelled"]

MAX_PROBLEMS = 20
"""The most problems that a job reports; further ones are omitted."""


class Job(WireModel):
    """A job as its row holds it.

    `step` counts the steps that are done. `lease_until` (ms since 1970) is when the worker that
    holds the job loses it, or when a job that waits may go on; no two leases of a job end at the
    same time, so it also identifies one. `tries` counts the leases since the last step was done.
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
    created_at: str
    updated_at: str
    expires_at: int
    step: int = 0
    lease_until: int = 0
    tries: int = 0
    undo: bool = False
    """The job was cancelled, and its steps undo what they did (`JobKind.undoes`)."""
    result: dict[str, Any] | None = None
    """The result of a job that creates something, written once, in the same transaction."""

    @property
    def is_finished(self) -> bool:
        """Whether no worker goes on with it (a failed or cancelled one may be resumed)."""
        return self.state not in {"queued", "running"}


@frozen
class Progress:
    """What one step of a job came to.

    `cursor` is where the next step begins; `items` are those that this step dealt with;
    `wait_seconds` is how long the next step has to wait; `problems` are facts for people.
    """

    cursor: dict[str, Any] = field(default_factory=dict[str, Any])
    items: int = 0
    finished: bool = False
    wait_seconds: int = 0
    problems: tuple[str, ...] = ()
    undone: bool = False
    """Where it is finished: what it did is taken back, so it is cancelled and not done."""


Step = Callable[[Job], Progress]
"""Does the part of a job that its cursor names. It may be done again, wholly or in part, before
its advance is noted: whatever it does must come to the same when it is repeated."""


class JobPath(WireModel):
    job_id: Annotated[str, Field(min_length=1, max_length=400, pattern=r"^[^#/?]+$")]


class JobReply(WireModel):
    """A job."""

    job_id: str
    kind: str
    state: JobState
    database_id: str | None = None
    asset_id: str | None = None
    items_done: int
    items_total: int | None = None
    problems: list[str]
    cancellable: bool
    result: dict[str, Any] | None = None
    created_by: str
    created_at: str
    updated_at: str
