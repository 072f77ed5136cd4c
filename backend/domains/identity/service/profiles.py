"""Operations of callers on themselves: their profile, and the pages they may open."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from backend.core.attempts import attempts
from backend.core.authorization import Authorization, Secured
from backend.core.clock import Clock, iso
from backend.core.errors import InvalidInputError, PermissionDeniedError
from backend.core.identity import Identity
from backend.core.names import is_email
from backend.core.parallel import in_parallel
from backend.domains.access.service.assigned_roles import AssignedRoles
from backend.domains.audit.models import audit_entity
from backend.domains.audit.service.commands import AuditService
from backend.domains.identity.errors import BookmarksChangedError
from backend.domains.identity.models.profiles import MAX_BOOKMARKS, ProfileBody, WebRoute
from backend.domains.identity.models.users import Bookmark, User
from backend.domains.identity.repository.profiles import ProfileRepository
from backend.spec.routes import ROUTES, Route

_PARAMETER = re.compile(r"\{([\w:]+)\+?\}")

_ATTEMPTS = 8  # of a change that conflicts with others of the same user


@dataclass(eq=False, repr=False)
class ProfileService:
    """Profiles and pages of callers.

    The routes need credentials, but no role: a user who signs in for the first time has none.
    """

    profiles: ProfileRepository
    authorization: Authorization
    audit: AuditService
    clock: Clock

    def get_profile(self, caller: Identity, user_id: str) -> User:
        """Return the caller's own profile; one that was never written has only the user id.

        Raises:
            PermissionDeniedError: the profile is another user's.
        """
        _require_own(caller, user_id)
        # Stock command lines read the profile right after a sign-in, before anything writes it.
        return self.profiles.get(caller.user_id) or User(
            user_id=caller.user_id, email=_claimed_email(caller)
        )

    @attempts(_ATTEMPTS, BookmarksChangedError)
    def store_profile(self, caller: Identity, user_id: str, body: ProfileBody) -> User:
        """Create or update the caller's own profile.

        The address in the credentials takes precedence, then that of the body, then the stored one.
        Only the first is confirmed; the state of a stored one is unchanged.

        Raises:
            BookmarksChangedError: other requests keep changing the bookmarks.
            InvalidInputError: there would be too many bookmarks.
            PermissionDeniedError: the profile is another user's.
        """
        _require_own(caller, user_id)
        user_id = caller.user_id
        profile = self.profiles.get(user_id)
        now = self.clock()
        stored = None if profile is None else profile.email
        claimed = _claimed_email(caller)
        wanted = claimed or body.email or stored
        saved = None if profile is None else profile.bookmarks
        bookmarks = changed_bookmarks(saved, body)
        confirmed = claimed is not None
        if claimed is None and profile is not None and wanted == stored:
            confirmed = profile.email_confirmed
        kept = (profile or User(user_id=user_id)).model_copy(
            update={
                "created_on": (profile.created_on if profile is not None else "") or iso(now),
                "email": wanted,
                "email_confirmed": confirmed,
                "bookmarks": bookmarks,
            }
        )
        if kept != profile:
            entry = self.audit.entry(
                caller,
                "update_login_profile",
                audit_entity("user", user_id),
                before={"email": stored, "bookmarks": len(saved or ())},
                after={"email": kept.email, "bookmarks": len(bookmarks or ())},
                at=now,
            )
            self.profiles.store(kept, entry, bookmarks_before=saved)
        return kept

    def allowed_routes(self, caller: Identity, routes: Sequence[WebRoute]) -> list[WebRoute]:
        """Return those of the pages that the caller may see."""
        return [
            route
            for route in routes
            if self.authorization.may(
                caller, route.method, Secured("web", {"route__path": route.route_path})
            )
        ]

    def allowed_api_routes(self, caller: Identity) -> list[Route]:
        """Return the routes that the caller may use with any object, public ones included."""

        def may_use(route: Route) -> bool:
            # As declared: a rule for the path of one object does not allow the route itself.
            path = {name: f"{{{name}}}" for name in _PARAMETER.findall(route.path)}
            return self.authorization.may_use(caller, route, path)

        return [
            route
            for route in ROUTES
            if (route.open_to_users or may_use(route))
            and (not route.also_one_of or any(map(may_use, route.also_one_of)))
        ]


def changed_bookmarks(saved: list[Bookmark] | None, body: ProfileBody) -> list[Bookmark] | None:
    """Return the bookmarks after a request; None if there never was one.

    Raises:
        InvalidInputError: there would be too many.
    """
    if not (body.add_bookmarks or body.remove_bookmarks):
        return saved
    kept = {bookmark.address: bookmark for bookmark in saved or ()}
    for address in body.remove_bookmarks or ():
        kept.pop(address, None)
    for new in body.add_bookmarks or ():
        kept[new.address] = Bookmark(name=new.name, address=new.address)
    if len(kept) > MAX_BOOKMARKS:
        raise InvalidInputError.of(
            "addBookmarks", f"a user can have at most {MAX_BOOKMARKS} bookmarks, not {len(kept)}"
        )
    return list(kept.values())


@dataclass(eq=False, repr=False)
class EmailAddresses:
    """Addresses of users for notifications, for other slices. Permissions are not checked."""

    profiles: ProfileRepository
    roles: AssignedRoles

    def of_users(self, user_ids: Iterable[str]) -> dict[str, str]:
        """Return addresses by user: the profile's confirmed one, or a user id that is one."""
        wanted = list(dict.fromkeys(user_ids))
        own = {user_id: user_id for user_id in wanted if is_email(user_id)}
        return own | self._confirmed_addresses(wanted)

    def of_known_users(self, user_ids: Iterable[str]) -> dict[str, str]:
        """As `of_users`, without users of whom only the id is known.

        A user id that is an address counts if the user has a role: then an administrator has
        entered the address.
        """
        wanted = list(dict.fromkeys(user_ids))
        confirmed = self._confirmed_addresses(wanted)
        own = [user_id for user_id in wanted if user_id not in confirmed and is_email(user_id)]
        roles = in_parallel(self.roles.of_user, own)
        return {user: user for user, names in zip(own, roles, strict=True) if names} | (confirmed)

    def _confirmed_addresses(self, user_ids: Iterable[str]) -> dict[str, str]:
        profiles = self.profiles.get_many(user_ids)
        return {
            user_id: profile.email
            for user_id, profile in profiles.items()
            if profile.email_confirmed and profile.email is not None and is_email(profile.email)
        }


@dataclass(eq=False, repr=False)
class DeletedUsers:
    """Deletions of users, for other slices that act for a user who left something behind."""

    profiles: ProfileRepository

    def deletions(self, user_ids: Iterable[str]) -> dict[str, str]:
        """Return when users were last deleted, by id; users that never were are left out."""
        profiles = self.profiles.get_many(dict.fromkeys(user_ids))
        return {
            user_id: user.deleted_at
            for user_id, user in profiles.items()
            if user.deleted_at is not None
        }


def _require_own(caller: Identity, user_id: str) -> None:
    """Require the caller's own id: the user id, or the subject of its token."""
    if user_id not in (caller.user_id, caller.subject):
        raise PermissionDeniedError("You can only use your own profile")


def _claimed_email(caller: Identity) -> str | None:
    return caller.email if caller.email and is_email(caller.email) else None
