"""Queries and replies of the audit routes, loaded by their function only."""

from datetime import UTC, date, datetime, time
from typing import Annotated, Any

from pydantic import AfterValidator, Field, field_validator, model_validator

from backend.core.models import PageQuery, WireModel, WrongFieldError
from backend.core.names import AnyText, Form, Line
from backend.domains.audit.models import ENTITY_KINDS, MAX_ENTITY_BYTES, Denied, ReadFacts


def _known_kind(value: str) -> str:
    kind, _, name = value.partition(":")
    if kind not in ENTITY_KINDS or not name:
        kinds = ", ".join(ENTITY_KINDS)
        raise ValueError(
            f"must be one of {kinds}, followed by ':' and an id, such as database:museum"
        )
    return value


def _moment(value: str, end_of_day: time) -> datetime:
    try:
        if len(value) == len("2026-01-01"):
            moment = datetime.combine(date.fromisoformat(value), end_of_day, UTC)
        else:
            moment = datetime.fromisoformat(value)
        moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        moment = moment.astimezone(UTC)
    except (ValueError, OverflowError):
        moment = None
    if moment is None or moment.year < _FIRST_YEAR:
        raise ValueError("must be an ISO 8601 date, or date and time, from 1970 on")
    return moment


# Earlier than any entry; Python cannot convert times near the year 1 between time zones.
_FIRST_YEAR = 1970
EntityName = Annotated[AnyText, Field(max_length=MAX_ENTITY_BYTES), AfterValidator(_known_kind)]


class EntriesQuery(PageQuery):
    """The object or user, and the period: `to` is included, as a whole day if it is a date."""

    most_items = 100  # an entry has up to some ten kilobytes, and a reply a few megabytes

    entity: EntityName | None = None
    user_id: Annotated[Line, Field(min_length=1, max_length=256)] | None = None
    since: Annotated[datetime | None, Field(alias="from")] = None
    until: Annotated[datetime | None, Field(alias="to")] = None

    @field_validator("since", mode="before")
    @classmethod
    def begins(cls, value: str) -> datetime:
        return _moment(value, time.min)

    @field_validator("until", mode="before")
    @classmethod
    def ends(cls, value: str) -> datetime:
        return _moment(value, time.max)

    @model_validator(mode="after")
    def check_selection(self) -> "EntriesQuery":
        if (self.entity is None) == (self.user_id is None):
            raise WrongFieldError("entity", "exactly one of entity and userId is required")
        if self.since is not None and self.until is not None and self.since > self.until:
            raise WrongFieldError("from", "must not be later than to")
        return self


class ValuePath(WireModel):
    value_hash: Annotated[str, Form("[0-9a-f]{64}", "must be 64 digits from 0 to 9 and a to f")]


class ValueQuery(WireModel):
    """The entry that refers to the value, as listed."""

    entity: EntityName
    at: datetime

    @field_validator("at", mode="before")
    @classmethod
    def happened(cls, value: str) -> datetime:
        return _moment(value, time.min)


class ValueReference(WireModel):
    """A large value: its size as JSON, and the hash to request it by."""

    sha256: str
    bytes: int


class ChangeReply(WireModel):
    before: Any = None
    after: Any = None
    before_stored: ValueReference | None = None
    after_stored: ValueReference | None = None


class EntryReply(WireModel):
    entity: str
    at: str
    user_id: str
    operation: str
    changes: dict[str, ChangeReply]
    changes_stored: ValueReference | None = None
    denied: Denied | None = None
    read: ReadFacts | None = None


class EntriesReply(WireModel):
    items: Annotated[list[EntryReply], Field(alias="Items")]
    next_token: Annotated[str | None, Field(alias="NextToken")] = None


class ValueReply(ValueReference):
    """A large value. For `changesStored` it is a complete `changes` object."""

    value: Any
