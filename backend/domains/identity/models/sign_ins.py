"""Bodies and replies of the routes of sign-ins: users of the deployment's Cognito user pool."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from backend.core.models import (
    Confirmation,
    OptionalBody,
    PageQuery,
    SentModel,
    WireModel,
    WrongFieldError,
)
from backend.core.names import Email, Form, NewUserId, UserId

Phone = Annotated[
    str, Form(r"\+[1-9][0-9]{6,14}", "must be '+', the country code and the number: +15551234567")
]
"""E.164: `+12345678900`."""
SignInName = Annotated[NewUserId, Field(max_length=128)]
"""A user id that Cognito accepts."""


class SignInsQuery(PageQuery):
    most_items = 60  # Cognito's limit


class SignInPath(WireModel):
    user_id: UserId


class CreateSignInBody(WireModel):
    user_id: SignInName
    email: Email
    phone: Phone | None = None


class UpdateSignInBody(SentModel):
    """Omitted fields remain unchanged; at least one is required."""

    email: Email | None = None
    phone: Phone | None = None
    clear_phone: bool = False

    @model_validator(mode="after")
    def require_change(self) -> "UpdateSignInBody":
        if self.clear_phone and self.phone is not None:
            raise WrongFieldError("clearPhone", "cannot be true beside phone")
        if self.email is None and self.phone is None and not self.clear_phone:
            raise ValueError("at least one of email, phone and clearPhone is required")
        return self


class ResetPasswordBody(OptionalBody, SentModel):
    """The request itself confirms the reset; `false` is rejected."""

    confirm_reset: Confirmation = True


class SignInReply(WireModel):
    user_id: str
    email: str
    phone: str | None = None
    user_status: str
    enabled: bool
    user_create_date: str
    user_last_modified_date: str
    mfa_enabled: bool


class SignInsReply(WireModel):
    """The users are in `users` and, for the command line of VAMS, in `Items`. Its web application
    reads the token of the next page from `nextToken`.
    """

    users: list[SignInReply]
    items: Annotated[list[SignInReply], Field(alias="Items")]
    next_token: Annotated[str | None, Field(alias="NextToken")] = None
    web_next_token: Annotated[str | None, Field(alias="nextToken")] = None


class SignInOperationReply(WireModel):
    success: bool = True
    message: str
    user_id: str
    operation: Literal["create", "update", "delete", "resetPassword"]
    timestamp: str
