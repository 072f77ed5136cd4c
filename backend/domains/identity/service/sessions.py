"""Sessions of browsers: rows of the table of API keys, which a cookie of the page names.

They need no permission but the credential, and hold what that proved. See decision 85.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from backend.core.attempts import attempts
from backend.core.clock import Clock, iso
from backend.core.identity import Identity
from backend.core.ids import NewId
from backend.core.user_pool import UserPool
from backend.domains.audit.models import audit_entity
from backend.domains.audit.service.commands import AuditService
from backend.domains.identity.errors import (
    ApiKeyRevisionError,
    SessionNotFoundError,
    SessionsChangedError,
    SignInRefusedError,
)
from backend.domains.identity.models.keys import ApiKey
from backend.domains.identity.repository.keys import ApiKeyRepository
from backend.domains.identity.repository.profiles import ProfileRepository
from backend.domains.identity.rules.keys import (
    PREFIX,
    Pepper,
    end_of,
    expires_later,
    hash_key,
    is_expired,
)
from backend.domains.identity.rules.users import ended_in_pool
from backend.domains.identity.service.edge import ViewerAddresses
from backend.domains.identity.service.keys import audit_values

MAX_SESSIONS = 20
"""Sessions of one user at the same time; a further one ends the oldest."""
_ATTEMPTS = 8  # at writes that conflict with those of other sign-ins


@dataclass(eq=False, repr=False)
class SessionService:
    keys: ApiKeyRepository
    profiles: ProfileRepository
    pool: UserPool | None
    audit: AuditService
    viewers: ViewerAddresses
    hours: Callable[[], int]
    pepper: Pepper
    clock: Clock
    new_id: NewId
    new_secret: Callable[[], str]

    @attempts(_ATTEMPTS, SessionsChangedError)
    def create_session(
        self, caller: Identity, headers: Mapping[str, str]
    ) -> tuple[ApiKey, str, int]:
        """Begin a session of the caller; return it, its text, and the seconds until its end.

        Raises:
            SignInRefusedError: the request did not come through the page's address; it was sent
                with a session; the sign-in is too old; or the user or the key has ended.
            SessionsChangedError: the same user signs in concurrently at every attempt.
            UnavailableError: the secret of the page's address, or the user pool, does not respond.
        """
        if not self.viewers.is_proven(headers):
            raise SignInRefusedError("A session begins only at the address of the page")
        now = self.clock()
        session = self._new_session(caller, now)
        seconds = int(end_of(session.expires_at) - now.timestamp())
        if seconds <= 0:
            raise SignInRefusedError("This sign-in has ended; sign in again")
        text = f"{PREFIX}{session.api_key_id}{self.new_secret()}"
        session = session.model_copy(update={"api_key_hash": hash_key(self.pepper(), text)})
        # A session of a key ends with the key, whose creation recorded the user of the pool.
        pool = None if session.made_by else self.pool
        pool_user = None if pool is None else pool.get_user(caller.user_id)
        # The gateway may still accept the token of a user whom the pool no longer has.
        if ended_in_pool(pool_user, in_pool=caller.in_pool):
            raise SignInRefusedError(
                f"User {caller.user_id} is disabled in the user pool, or not in it"
            )
        user = self.profiles.get(caller.user_id)
        known = (user.sessions if user is not None else None) or []
        rows = self.keys.get_many(known)
        valid = [i for i in known if i in rows and not is_expired(rows[i].expires_at, now)]
        ended, kept = valid[: 1 - MAX_SESSIONS], valid[1 - MAX_SESSIONS :]
        self.keys.put_new(
            session,
            self.profiles.sessions_write(
                caller.user_id,
                before=known,
                after=[*kept, session.api_key_id],
                pool_id=None if pool is None or pool_user is None else pool.pool_id,
            ),
            *(self.keys.removal(i) for i in ended),
            self.audit.entry(
                caller,
                "create_session",
                audit_entity("apiKey", session.api_key_id),
                after={**audit_values(session), **({"ended": ended} if ended else {})},
                at=now,
            ),
        )
        return session, text, seconds

    @attempts(_ATTEMPTS, ApiKeyRevisionError)
    def delete_session(self, caller: Identity) -> None:
        """End the session of the request.

        Raises:
            SessionNotFoundError: the request was not sent with a session, or it has ended.
        """
        session = None if caller.api_key_id is None else self.keys.get(caller.api_key_id)
        if session is None or session.kind != "session":
            raise SessionNotFoundError
        entity = audit_entity("apiKey", session.api_key_id)
        entry = self.audit.entry(caller, "delete_session", entity, before=audit_values(session))
        self.keys.delete(session, entry)

    def _new_session(self, caller: Identity, now: datetime) -> ApiKey:
        used = None if caller.api_key_id is None else self.keys.get(caller.api_key_id)
        if used is None and caller.api_key_id is not None:
            raise SignInRefusedError("The API key of this request no longer exists")
        if used is not None and used.kind == "session":
            raise SignInRefusedError("A session cannot renew itself; sign in again")
        began = now.timestamp() if caller.auth_time is None else caller.auth_time
        end = datetime.fromtimestamp(began, now.tzinfo) + timedelta(hours=self.hours())
        expires_at = iso(end)
        if used is not None and expires_later(expires_at, used.expires_at):
            expires_at = used.expires_at
        return ApiKey(
            api_key_id=self.new_id(),
            api_key_name="session",
            api_key_hash="",
            description="A browser that signed in to the page",
            user_id=caller.user_id,
            created_by=caller.user_id,
            created_at=iso(now),
            updated_at=iso(now),
            expires_at=expires_at,
            # No one looks for the reason why a session ended.
            remove_at=int(end_of(expires_at)) + 1,
            ended_by=caller.user_id,
            # Its validity ends with that of the key: `require_lineage`.
            made_by=None if used is None else list(used.lineage),
            kind="session",
            mfa=caller.mfa,
            email=caller.email,
            subject=caller.subject,
            revision=1,
        )
