"""The caller of a request. The authorizer determines it; it contains no permissions."""

from typing import NamedTuple


class Identity(NamedTuple):
    """An authenticated caller.

    `mfa` is true if a second factor was used; `email` is the address in the credentials.
    `api_key_id` is the API key that authenticated the request; None for a token. `subject` is the
    `sub` of a token, if it differs from the user id; clients identify their user by it.
    `auth_time` is when the user of a token signed in, in seconds since 1970. `in_pool` is true for
    a token of the deployment's own user pool.
    """

    user_id: str
    mfa: bool = False
    email: str | None = None
    api_key_id: str | None = None
    subject: str | None = None
    auth_time: int | None = None
    in_pool: bool = False

    def named(self, user_id: str) -> str:
        """Return the user whom a request of this caller names; its own subject is the caller."""
        return self.user_id if user_id == self.subject else user_id


OUTAGE_MARK = "outage"
"""In the authorizer's context instead of an identity if an outage prevented authentication."""

SYSTEM = Identity("SYSTEM")
"""The product itself, for work that no user requested, such as bootstrap and bucket
synchronization."""

SYSTEM_PARTITIONS = (SYSTEM.user_id, *(f"{SYSTEM.user_id}#{number}" for number in range(16)))
"""User ids of its audit entries as stored, by which the index spreads them: a partition takes 1,000
write units a second. Earlier releases stored the first one only."""


def user_of(stored: str) -> str:
    """Return the user of an audit entry as stored; ids of users contain no `#`."""
    return stored.partition("#")[0]


ANONYMOUS = Identity("anonymous")
"""The caller of a public route, with or without credentials."""
