"""API keys as stored, and the bodies and replies of their routes."""

import re
from datetime import UTC, date, datetime
from typing import Annotated, Literal, cast

from pydantic import AfterValidator, Field, model_validator

from backend.core.models import PageQuery, WireModel, WrongFieldError
from backend.core.names import Line, NewObjectName, NewUserId, Words

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_DATE_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[T ].+")


def parse_expiry(value: str) -> date | datetime:
    """Parse an `expiresAt`: the last day (UTC), or a time; a time without an offset is UTC.

    Raises:
        ValueError: the text is neither an ISO 8601 date nor a date and time.
    """
    try:
        if _DATE.fullmatch(value):
            return date.fromisoformat(value)
        if _DATE_TIME.fullmatch(value):
            moment = datetime.fromisoformat(value)
            return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    except ValueError:
        pass
    raise ValueError("must be an ISO 8601 date, or date and time, such as 2030-12-31T23:59:59Z")


def _check_expiry(value: str) -> str:
    if value:
        parse_expiry(value)
    return value


ExpiresAt = Annotated[str, Field(max_length=40), AfterValidator(_check_expiry)]
"""A date, a date with a time, or an empty text for no expiry."""

KeyDescription = Annotated[Words, Field(min_length=1, max_length=256)]


class ApiKey(WireModel):
    """An API key as stored. The key itself is not stored."""

    api_key_id: str
    api_key_name: str
    api_key_hash: str = Field(repr=False)
    description: str
    user_id: str
    created_by: str = ""
    created_at: str = ""
    updated_at: str = ""
    expires_at: str = ""
    is_active: str = "true"
    last_used_at: str | None = None
    # Later than the expiry, so that users see why a key is rejected.
    remove_at: int | None = None
    """The time, in seconds, at which DynamoDB removes the row."""
    ended_by: str | None = None
    """The user who disabled the key or set its expiry; None while it is active without expiry.

    Rows written before this attribute existed have none either.
    """
    made_by: list[str] | None = None
    """The ids of the keys from which it was created; its direct parent comes last."""
    kind: Literal["session"] | None = None
    """A `session` of a browser that signed in with a token or with its direct parent."""
    mfa: bool = False
    email: str | None = None
    subject: str | None = None
    """Of sessions: what the credential of the sign-in proved, as in `Identity`."""
    revision: int = 0
    """0 in rows that VAMS wrote."""

    @property
    def lineage(self) -> tuple[str, ...]:
        """Return the ids of the keys that it descends from, and its own."""
        return (*(self.made_by or ()), self.api_key_id)


class ApiKeysQuery(PageQuery):
    show_sessions: bool = False
    """Whether the list also contains the sessions of browsers."""


class ApiKeyPath(WireModel):
    api_key_id: Annotated[Line, Field(min_length=1, max_length=64)]


class CreateApiKeyBody(WireModel):
    api_key_name: NewObjectName
    user_id: NewUserId
    description: KeyDescription
    expires_at: ExpiresAt | None = None


class UpdateApiKeyBody(WireModel):
    """The fields to change; at least one. An empty `expiresAt` removes the expiry."""

    description: KeyDescription | None = None
    expires_at: ExpiresAt | None = None
    is_active: Literal["true", "false"] | None = None

    @model_validator(mode="after")
    def require_change(self) -> "UpdateApiKeyBody":
        if all(value is None for _, value in self):
            raise ValueError("at least one field is required")
        return self


class _OwnKeyBody(WireModel):
    @model_validator(mode="before")
    @classmethod
    def refuse_user(cls, sent: object) -> object:
        # Ignored, it would look as if the key were another user's.
        if isinstance(sent, dict) and "userId" in sent:
            raise WrongFieldError("userId", "cannot be set: these API keys are the caller's own")
        return cast("object", sent)


class CreateOwnApiKeyBody(_OwnKeyBody):
    api_key_name: NewObjectName
    description: KeyDescription
    expires_at: Annotated[ExpiresAt, Field(min_length=1)]


class UpdateOwnApiKeyBody(_OwnKeyBody):
    """The fields to change; at least one."""

    description: KeyDescription | None = None
    expires_at: Annotated[ExpiresAt, Field(min_length=1)] | None = None
    is_active: Literal["true", "false"] | None = None

    @model_validator(mode="after")
    def require_change(self) -> "UpdateOwnApiKeyBody":
        if all(value is None for _, value in self):
            raise ValueError("at least one field is required")
        return self


class ApiKeyReply(WireModel):
    """An API key as the API returns it, without the key itself and its hash."""

    api_key_id: str
    api_key_name: str
    description: str
    user_id: str
    created_by: str
    created_at: str
    updated_at: str
    expires_at: str
    is_active: str
    last_used_at: str | None = None
    kind: Literal["session"] | None = None


class CreatedApiKeyReply(ApiKeyReply):
    """The only reply that contains the key itself."""

    api_key: str


class ApiKeysReply(WireModel):
    items: Annotated[list[ApiKeyReply], Field(alias="Items")]
    next_token: Annotated[str | None, Field(alias="NextToken")] = None


class DeletedApiKeyReply(WireModel):
    message: str


class SessionReply(WireModel):
    """The session that a browser began, without the text that its cookie has."""

    session_id: str
    user_id: str
    expires_at: str


class EndedSessionReply(WireModel):
    message: str
