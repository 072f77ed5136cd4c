"""Bodies and replies of the routes of roles and their assignments."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from backend.core.models import LegacyEnvelope, WireModel, WrongFieldError
from backend.core.names import Line, ObjectName, UserId, Words

# Roles of one user. One transaction can remove all of them and add others.
MAX_ROLES = 30

Operation = Literal["create", "update", "delete"]
RoleDescription = Annotated[Words, Field(min_length=1, max_length=256)]
RoleSource = Annotated[Line, Field(max_length=256)]


def _each_once(names: list[str]) -> list[str]:
    if len(set(names)) < len(names):
        raise ValueError("contains a role twice")
    return names


class RolePath(WireModel):
    role_id: ObjectName


class RoleBody(WireModel):
    """A new role, which does not require MFA unless `mfaRequired` is true."""

    role_name: ObjectName
    description: RoleDescription
    source: RoleSource | None = None
    source_identifier: RoleSource | None = None
    mfa_required: bool | None = None


class UpdateRoleBody(WireModel):
    """The fields to change; at least one. Null removes `source` and `sourceIdentifier`."""

    role_name: ObjectName
    description: RoleDescription | None = None
    source: RoleSource | None = None
    source_identifier: RoleSource | None = None
    mfa_required: bool | None = None

    @model_validator(mode="after")
    def check_changes(self) -> "UpdateRoleBody":
        if "description" in self.model_fields_set and self.description is None:
            raise WrongFieldError("description", "cannot be null")
        if self.model_fields_set <= {"role_name"}:
            raise ValueError("at least one field besides roleName is required")
        return self


class RoleReply(WireModel):
    role_name: str
    description: str
    created_on: str
    source: str | None = None
    source_identifier: str | None = None
    mfa_required: bool


class RolesReply(LegacyEnvelope):
    items: Annotated[list[RoleReply], Field(alias="Items")]
    next_token: Annotated[str | None, Field(alias="NextToken")] = None


class RoleOperationReply(WireModel):
    """`job_id` is the job that removes a deleted role from its users."""

    success: bool = True
    message: str
    role_name: str
    operation: Operation
    timestamp: str
    job_id: str | None = None


class UserRolesBody(WireModel):
    user_id: UserId
    role_name: Annotated[
        list[ObjectName], Field(min_length=1, max_length=MAX_ROLES), AfterValidator(_each_once)
    ]


class UserBody(WireModel):
    user_id: UserId


class UserRolesReply(WireModel):
    """The roles of one user; `createdOn` is when the first role was assigned."""

    user_id: str
    role_name: list[str]
    created_on: str


class UsersRolesReply(LegacyEnvelope):
    items: Annotated[list[UserRolesReply], Field(alias="Items")]
    next_token: Annotated[str | None, Field(alias="NextToken")] = None


class UserRoleOperationReply(WireModel):
    success: bool = True
    message: str
    user_id: str
    operation: Operation
    timestamp: str
