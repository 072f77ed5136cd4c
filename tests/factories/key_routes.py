"""The routes of keys, sessions and users, with the authorizer's check of keys, in tests."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count

from backend.aws.tables import DynamoTables
from backend.core.authorization import Secured
from backend.core.identity import Identity
from backend.domains.audit.service.commands import AuditService
from backend.domains.identity.repository.keys import ApiKeyRepository
from backend.domains.identity.rules.refusals import Reason, RefusedError
from backend.domains.identity.service.authentication import (
    CallerAuthentication,
    KeyAuthentication,
)
from backend.domains.identity.service.tokens import PoolUsers
from backend.spec.page import PROOF_HEADER
from backend.spec.routes import Action, Route
from tests.factories.access import stored_user_role
from tests.factories.administration import EDGE_KEY, Parts
from tests.factories.http import Client, Response
from tests.fakes.user_pool import MemoryUserPool

PEPPER = b"pepper"
FROM_PAGE = {PROOF_HEADER: EDGE_KEY}


class OwnKeys:
    """The permission port: administrators may do everything, others all to their own keys."""

    def may_use(self, caller: Identity, route: Route, path: Mapping[str, str]) -> bool:
        return True

    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        own = {"userId": caller.user_id}
        return caller.user_id == "admin" or target == Secured("apiKey", own)


@dataclass
class KeyRoutes:
    """The routes of keys and users, and the authorizer's check of a key."""

    tables: DynamoTables
    audit: AuditService
    now: datetime
    pool: MemoryUserPool = field(default_factory=MemoryUserPool)
    warnings: list[str] = field(default_factory=list[str])
    texts: dict[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        for user in ("admin", "ann", "bob"):
            stored_user_role(self.tables, user_id=user, role_name="viewer")
        ids, secrets = count(), count()
        services = Parts(
            self.tables,
            self.audit,
            self.now,
            authorization=OwnKeys(),
            pool=self.pool,
            new_id=lambda: f"key-{next(ids)}",
            new_secret=lambda: f"{next(secrets):064}",
        ).services()
        self.router = services.router()

    def client(self, user: str = "admin", key: str | None = None, **proved: str) -> Client:
        return Client(
            self.router,
            user_id=user,
            authorization=OwnKeys(),
            api_key_id=key,
            proved=proved,
        )

    def sign_in(self, by: Client) -> str:
        """Begin a session; return its id."""
        answer = by.send("POST", "/auth/session", headers=FROM_PAGE)
        assert answer.status == 200, answer.body
        session_id = answer.body["sessionId"]
        (cookie,) = answer.cookies
        self.texts[session_id] = cookie.split(";")[0].removeprefix("__Host-vitrine=")
        return session_id

    def create(self, user: str = "ann", *, by: Client | None = None, **more: str) -> str:
        answer = self.reply_to_creation(user, by=by, **more)
        assert answer.status == 200, answer.body
        self.texts[answer.body["apiKeyId"]] = answer.body["apiKey"]
        return answer.body["apiKeyId"]

    def reply_to_creation(
        self, user: str = "ann", *, by: Client | None = None, **more: str
    ) -> Response:
        body = {"apiKeyName": "lab", "description": "For the lab", "userId": user, **more}
        return (by or self.client()).send("POST", "/auth/api-keys", body=body)

    def change(self, key: str, changes: dict[str, str], *, by: Client | None = None) -> Response:
        return self.one("PUT", key, by=by, body=changes)

    def one(
        self, method: str, key: str, *, by: Client | None = None, body: object = None
    ) -> Response:
        path, parameters = f"/auth/api-keys/{key}", {"apiKeyId": key}
        return (by or self.client()).send(method, path, parameters=parameters, body=body)

    def refusal(self, key: str, *, absence_counts: bool = True) -> Reason | None:
        """Return why the authorizer refuses a key; None if it is accepted."""
        try:
            self.identify(key, absence_counts=absence_counts)
        except RefusedError as refused:
            return refused.reason
        return None

    def identify(self, key: str, *, absence_counts: bool = True) -> Identity:
        """Return the caller whom the authorizer finds by a key, or by the text of a session."""
        users = PoolUsers(self.pool, lambda: self.now, self.warnings.append, absence_counts)
        keys = ApiKeyRepository(self.tables)
        authentication = KeyAuthentication(keys, lambda: PEPPER, lambda: self.now, lambda: users)
        callers = CallerAuthentication(
            keys=authentication,
            tokens=lambda: None,
            addresses=None,
            unrecorded=lambda key: self.warnings.append(key.api_key_id),
        )
        return callers.identify(self.texts[key], "127.0.0.1")
