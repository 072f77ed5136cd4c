"""The bodies and replies of the operations routes."""

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from backend.core.models import Confirmation, PageQuery, WireModel, WrongFieldError
from backend.search.maintenance.failure_entries import Kind, kind_of
from backend.search.maintenance.replay import Outcome
from backend.spec.functions import FUNCTIONS

MAX_KEYS = 50
# At most 3.5 MB of a reply of 6 MB: a control character takes seven bytes in it (`core.paging`).
MAX_DOCUMENT_CHARS = 500_000
_CONSUMERS = frozenset(spec.name for spec in FUNCTIONS if spec.kind == "consumer")


def _is_key(value: str) -> str:
    if kind_of(value) is None:
        raise ValueError("is not the key of a failure; use a key from the list of failures")
    return value


def _is_consumer(value: str) -> str:
    if value not in _CONSUMERS:
        raise ValueError(f"is not a consumer; consumers are {', '.join(sorted(_CONSUMERS))}")
    return value


FailureKey = Annotated[str, Field(max_length=1024), AfterValidator(_is_key)]
Consumer = Annotated[str, Field(max_length=64), AfterValidator(_is_consumer)]


class FailuresQuery(PageQuery):
    """All failures, or those of one consumer."""

    most_items = 100

    consumer: Consumer | None = None


class FailureQuery(WireModel):
    key: FailureKey


class FailureReply(WireModel):
    """A failed change. `attempts` counts failed replays; `next_attempt_at` is the next scheduled
    one.
    """

    key: str
    kind: Kind
    size: int
    attempts: int
    consumer: str | None = None
    name: str | None = None
    reason: str | None = None
    failed_at: str | None = None
    last_attempt_at: str | None = None
    next_attempt_at: str | None = None


class FailuresReply(WireModel):
    items: Annotated[list[FailureReply], Field(alias="Items")]
    next_token: Annotated[str | None, Field(alias="NextToken")] = None


class FailureDocumentReply(FailureReply):
    """A failure with its stored message, cut to what fits a reply."""

    document: str
    is_truncated: bool


class ReplayBody(WireModel):
    """Failures to replay: named keys, all of one consumer, or all, starting after `after`."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"all": True}]})

    keys: Annotated[list[FailureKey] | None, Field(min_length=1, max_length=MAX_KEYS)] = None
    consumer: Consumer | None = None
    all: Confirmation | None = None
    after: FailureKey | None = None

    @model_validator(mode="after")
    def names_one_of_three(self) -> "ReplayBody":
        if [self.keys, self.consumer, self.all].count(None) != 2:
            raise ValueError("exactly one of keys, consumer and all is required")
        if self.after is not None and self.keys is not None:
            raise WrongFieldError("after", "is allowed only with consumer or all")
        return self


class ReplayedReply(WireModel):
    key: str
    outcome: Outcome
    reason: str | None = None


class ReplayReply(WireModel):
    """The result for each failure. `next_key` is present if time ran out: continue after it."""

    items: list[ReplayedReply]
    next_key: str | None = None


class QueuePath(WireModel):
    queue_name: str


class RedriveState(WireModel):
    """The last redrive of the queue, as reported by SQS."""

    state: str
    moved: int
    started_at: str


class QueueReply(WireModel):
    """A queue; the counts are approximate, as in SQS."""

    queue_name: str
    description: str
    waiting: int
    in_flight: int
    delayed: int
    dead_letters: int
    redrive: RedriveState | None = None


class QueuesReply(WireModel):
    items: Annotated[list[QueueReply], Field(alias="Items")]


class RedriveReply(WireModel):
    """`started` is false if there were no dead letters to move."""

    queue_name: str
    dead_letters: int
    started: bool
    message: str
