"""Roles and their assignments, as stored."""

from backend.core.models import WireModel

ADMIN_ROLE = "admin"
"""The role that may do everything."""


class UserRole(WireModel):
    user_id: str
    role_name: str
    created_on: str = ""


class Role(WireModel):
    """A role as stored.

    `grants` counts its assignments. `deleted_by` is the job that removes a deleted role from its
    users: the role is not visible then and cannot be assigned. Rows written by bootstrap or another
    product have no `revision`.
    """

    role_name: str
    description: str = ""
    created_on: str = ""
    source: str | None = None
    source_identifier: str | None = None
    mfa_required: bool = False
    revision: int | None = None
    grants: int | None = None
    deleted_by: str | None = None
