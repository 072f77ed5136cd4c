"""Administers the users of the deployment's Cognito user pool, if it has one."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from backend.core.authorization import Action, Authorization
from backend.core.clock import Clock, iso
from backend.core.errors import InvalidInputError
from backend.core.identity import Identity
from backend.core.paging import MAX_TIME_PER_PAGE, Page, PageRequest, Position
from backend.core.user_pool import PoolUser, PoolUserExistsError, PoolUserNotFoundError, UserPool
from backend.domains.access.service.assigned_roles import AssignedRoles
from backend.domains.access.service.user_roles import UserAdministration, secured_user
from backend.domains.audit.models import audit_entity
from backend.domains.audit.service.commands import AuditService
from backend.domains.identity.errors import NoUserPoolError
from backend.domains.identity.models.sign_ins import CreateSignInBody, UpdateSignInBody
from backend.domains.identity.repository.profiles import ProfileRepository
from backend.domains.identity.repository.users import SignInEntries
from backend.domains.identity.rules.users import has_prefix
from backend.domains.identity.service.keys import UserKeys

_END: Position = {"end": True}
"""Follows a full page whose last user is the last one of the pool."""


@dataclass(eq=False, repr=False)
class UserService:
    """The audit entry is written before Cognito is called, because both cannot be one transaction.

    So every change has an entry, but Cognito may have refused a change that has one.

    A caller who creates or changes a sign-in could sign in with it, so `UserAdministration` decides
    as for a change of the user's roles.
    """

    pool: UserPool | None
    entries: SignInEntries
    roles: AssignedRoles
    administration: UserAdministration
    profiles: ProfileRepository
    keys: UserKeys
    authorization: Authorization
    audit: AuditService
    clock: Clock
    provider_prefix: Callable[[], str]
    """Returns the prefix of the user ids of the identity provider; empty without a provider."""

    def list_users(self, caller: Identity, page: PageRequest) -> Page[PoolUser]:
        """List the users whom the caller may see, in no order.

        A page with few visible users ends after two seconds.

        Raises:
            NoUserPoolError: the deployment has no user pool.
        """
        pool = self._pool()
        users: list[PoolUser] = []
        after, until = page.after, self.clock() + MAX_TIME_PER_PAGE
        if after == _END:
            return Page(())
        while True:
            part = pool.list_users(PageRequest(page.limit - len(users), after))
            users += [user for user in part.items if self._may(caller, user.user_id)]
            after = part.after
            if len(users) == page.limit:
                return Page(tuple(users), after or _END)
            if after is None or self.clock() >= until:
                return Page(tuple(users), after)

    def create_user(self, caller: Identity, body: CreateSignInBody) -> None:
        """Create a user, whom Cognito sends a temporary password.

        Raises:
            NoUserPoolError: the deployment has no user pool.
            PermissionDeniedError: the caller may not create it.
            PoolUserExistsError: the pool has a user of that name.
            InvalidInputError: the id is reserved for users of the identity provider.
        """
        pool = self._pool()
        prefix = self.provider_prefix()
        if has_prefix(body.user_id, prefix):
            raise InvalidInputError.of(
                "userId",
                (
                    f"must not begin with {prefix}, which is reserved for users of the "
                    "identity provider"
                ),
            )
        self._require(caller, "POST", body.user_id)
        if pool.get_user(body.user_id) is not None:
            raise PoolUserExistsError(body.user_id)
        self._record(caller, "create_cognito_user", body.user_id, after=_contact(body))
        pool.create_user(body.user_id, email=body.email, phone=body.phone)
        self.profiles.record_pool(body.user_id, pool.pool_id)
        self.profiles.record_email(body.user_id, body.email)

    def update_user(self, caller: Identity, user_id: str, body: UpdateSignInBody) -> None:
        """Change address or number, or both, marked as verified; or remove the number.

        Raises:
            NoUserPoolError: the deployment has no user pool.
            PoolUserNotFoundError: the user does not exist, or the caller may not see it.
        """
        user = self._user(caller, "PUT", user_id)
        before = {"email": user.email, "phone": user.phone}
        phone = "" if body.clear_phone else body.phone
        after = before | _contact(body) | ({"phone": None} if body.clear_phone else {})
        self._record(caller, "update_cognito_user", user_id, before=before, after=after)
        self._pool().change_user(user_id, email=body.email, phone=phone)
        if body.email is not None:
            self.profiles.record_email(user_id, body.email)

    def delete_user(self, caller: Identity, user_id: str) -> None:
        """Remove a user from the pool and disable the user's API keys; roles and profile remain.

        Raises:
            NoUserPoolError: the deployment has no user pool.
            PoolUserNotFoundError: the user does not exist, or the caller may not see it.
        """
        user = self._user(caller, "DELETE", user_id)
        before = {"email": user.email, "phone": user.phone}
        self._record(caller, "delete_cognito_user", user_id, before=before)
        # Before the user is removed from the pool, so that a failed deletion can be repeated.
        self.roles.withhold_default(user_id)
        self.keys.disable_all(caller, user_id)
        self.profiles.record_deletion(user_id, iso(self.clock()))
        self._pool().delete_user(user_id)

    def reset_password(self, caller: Identity, user_id: str) -> None:
        """Let the user choose a new password, by a code or a new temporary password.

        Raises:
            NoUserPoolError: the deployment has no user pool.
            PoolUserNotFoundError: the user does not exist, or the caller may not see it.
            StateForbidsError: the password is not managed by Cognito, or the user is disabled.
        """
        user = self._user(caller, "POST", user_id)
        change = {"passwordReset": True}
        self._record(caller, "reset_cognito_password", user_id, after=change)
        self._pool().reset_password(user)

    def _user(self, caller: Identity, action: Action, user_id: str) -> PoolUser:
        pool = self._pool()
        user = pool.get_user(user_id)
        if user is None or not self._may(caller, user_id):
            raise PoolUserNotFoundError(user_id)
        self._require(caller, action, user_id)
        self.profiles.record_pool(user_id, pool.pool_id)
        return user

    def _require(self, caller: Identity, action: Action, user_id: str) -> None:
        self.administration.require(caller, action, user_id, self.roles.of_user(user_id))

    def _pool(self) -> UserPool:
        if self.pool is None:
            raise NoUserPoolError
        return self.pool

    def _may(self, caller: Identity, user_id: str) -> bool:
        """Return whether the caller may see the user itself, or one of its roles."""

        def sees(roles: Iterable[str]) -> bool:
            targets = secured_user(user_id, roles)
            return any(self.authorization.may(caller, "GET", target) for target in targets)

        # Roles are read only where they decide.
        return sees(()) or sees(self.roles.of_user(user_id))

    def _record(
        self,
        caller: Identity,
        operation: str,
        user_id: str,
        *,
        before: dict[str, Any] | None = None,
        after: dict[str, Any] | None = None,
    ) -> None:
        entry = self.audit.entry(
            caller, operation, audit_entity("user", user_id), before=before, after=after
        )
        self.entries.add(entry)


def _contact(body: CreateSignInBody | UpdateSignInBody) -> dict[str, Any]:
    return body.model_dump(exclude_none=True, include={"email", "phone"})
