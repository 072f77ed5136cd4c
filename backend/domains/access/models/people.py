"""Users, roles and their assignments, as stored."""

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


class User(WireModel):
    """The profile of a user; `email` is where notifications go once it is confirmed.

    `email_confirmed` is true if the identity provider has verified the address, or an administrator
    has set it.

    `pool_id` is the user pool that had this user when the product last created, changed or deleted
    the user there, or created an API key for the user.

    `deleted_at` is when a user of this id was last deleted from the pool. It is kept if the id is
    used again: what the former user had left must not act with the rights of the new one.
    """

    user_id: str
    created_on: str = ""
    email: str | None = None
    email_confirmed: bool | None = None
    pool_id: str | None = None
    deleted_at: str | None = None
