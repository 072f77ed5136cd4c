"""The services of access over tables in memory, for tests of its routes."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from backend.core.authorization import Authorization
from backend.core.clock import Clock
from backend.core.identity import Identity
from backend.core.ids import new_uuid
from backend.core.tables import Tables
from backend.core.transactions import Put, Write
from backend.core.user_pool import UserPool
from backend.domains.access.repository.constraints import ConstraintRepository
from backend.domains.access.repository.deleted_names import DeletedNameRepository
from backend.domains.access.repository.policies import PolicyRepository
from backend.domains.access.repository.roles import GrantRepository, RoleRepository
from backend.domains.access.routes import build_router
from backend.domains.access.service.assigned_roles import AssignedRoles
from backend.domains.access.service.constraints import ConstraintService
from backend.domains.access.service.deleted_names import DeletedNames
from backend.domains.access.service.explanations import ExplainService, FindAsset
from backend.domains.access.service.role_withdrawal import RoleWithdrawal
from backend.domains.access.service.roles import RoleService
from backend.domains.access.service.templates import TemplateService
from backend.domains.access.service.user_roles import UserAdministration, UserRoleService
from backend.domains.audit.service.commands import AuditService
from backend.domains.identity.repository.keys import ApiKeyRepository
from backend.domains.identity.repository.profiles import ProfileRepository
from backend.domains.identity.repository.users import SignInEntries
from backend.domains.identity.routes import build_router as build_identity_router
from backend.domains.identity.service.edge import ViewerAddresses
from backend.domains.identity.service.keys import ApiKeyService, UserKeys
from backend.domains.identity.service.profiles import EmailAddresses, ProfileService
from backend.domains.identity.service.sessions import SessionService
from backend.domains.identity.service.users import UserService
from backend.http.router import Router
from backend.spec.tables.access import ROLES
from backend.spec.tables.operations import JOBS
from tests.factories.access import OnlyUser

JOB = "withdrawRole.1"
EDGE_KEY = "edge" * 16
"""The secret of the page's distribution."""


class AccessServices(NamedTuple):
    """The services to which the routes are bound."""

    api_keys: ApiKeyService
    sessions: SessionService
    roles: RoleService
    user_roles: UserRoleService
    profiles: ProfileService
    users: UserService
    constraints: ConstraintService
    templates: TemplateService
    explanations: ExplainService

    def router(self) -> Router:
        """The routes of access and identity."""
        identity = build_identity_router(self.api_keys, self.sessions, self.profiles, self.users)
        access = build_router(
            self.roles, self.user_roles, self.constraints, self.templates, self.explanations
        )
        return access | identity


@dataclass(frozen=True)
class Parts:
    """The parts of the services; tests replace some of them."""

    tables: Tables
    audit: AuditService
    now: datetime
    authorization: Authorization = field(default_factory=OnlyUser)
    pool: UserPool | None = None
    provider_prefix: str = ""
    pepper: Callable[[], bytes] = lambda: b"pepper"
    new_id: Callable[[], str] = lambda: "key-0"
    new_secret: Callable[[], str] = lambda: "s" * 64
    find_asset: FindAsset = lambda _database_id, _asset_id: None

    @property
    def clock(self) -> Clock:
        return lambda: self.now

    def services(self) -> AccessServices:
        tables, authorization, audit = self.tables, self.authorization, self.audit
        grants, constraints = GrantRepository(tables), self._constraints()
        administration = UserAdministration(PolicyRepository(tables), authorization)
        return AccessServices(
            api_keys=self._api_keys(),
            sessions=self._sessions(),
            roles=RoleService(
                roles=RoleRepository(tables),
                grants=grants,
                constraints=ConstraintRepository(tables),
                names=DeletedNames(DeletedNameRepository(tables), authorization),
                authorization=authorization,
                audit=audit,
                withdrawals=_withdrawal,
                clock=self.clock,
                new_id=new_uuid,
            ),
            user_roles=UserRoleService(grants, administration, authorization, audit, self.clock),
            profiles=ProfileService(ProfileRepository(tables), authorization, audit, self.clock),
            users=self._users(administration),
            constraints=constraints,
            templates=TemplateService(constraints, authorization),
            explanations=ExplainService(PolicyRepository(tables), authorization, self.find_asset),
        )

    def _constraints(self) -> ConstraintService:
        return ConstraintService(
            constraints=ConstraintRepository(self.tables),
            roles=RoleRepository(self.tables),
            authorization=self.authorization,
            audit=self.audit,
            clock=self.clock,
            new_id=new_uuid,
        )

    def _api_keys(self) -> ApiKeyService:
        return ApiKeyService(
            keys=ApiKeyRepository(self.tables),
            roles=AssignedRoles(GrantRepository(self.tables)),
            profiles=ProfileRepository(self.tables),
            pool=self.pool,
            authorization=self.authorization,
            audit=self.audit,
            pepper=self.pepper,
            clock=self.clock,
            new_id=self.new_id,
            new_secret=self.new_secret,
        )

    def _sessions(self) -> SessionService:
        return SessionService(
            keys=ApiKeyRepository(self.tables),
            profiles=ProfileRepository(self.tables),
            pool=self.pool,
            audit=self.audit,
            viewers=ViewerAddresses(lambda: frozenset({EDGE_KEY}), self.clock),
            hours=lambda: 12,
            pepper=self.pepper,
            clock=self.clock,
            new_id=self.new_id,
            new_secret=self.new_secret,
        )

    def _users(self, administration: UserAdministration) -> UserService:
        return UserService(
            pool=self.pool,
            entries=SignInEntries(self.tables),
            roles=AssignedRoles(GrantRepository(self.tables)),
            administration=administration,
            profiles=ProfileRepository(self.tables),
            keys=UserKeys(ApiKeyRepository(self.tables), self.audit, self.clock),
            authorization=self.authorization,
            audit=self.audit,
            clock=self.clock,
            provider_prefix=lambda: self.provider_prefix,
        )


def _withdrawal(_caller: Identity, role_name: str) -> tuple[str, Write]:
    item = {"jobId": JOB, "kind": "withdrawRole", "parameters": {"roleName": role_name}}
    return JOB, Put(table=JOBS, item=item)


def withdrawal_of(tables: Tables, audit: AuditService) -> RoleWithdrawal:
    """Run the steps of a job that removes a role from all users."""
    return RoleWithdrawal(
        roles=RoleRepository(tables),
        grants=GrantRepository(tables),
        constraints=ConstraintRepository(tables),
        audit=audit,
        new_id=new_uuid,
    )


def email_addresses(tables: Tables) -> EmailAddresses:
    """The addresses of users, over tables."""
    return EmailAddresses(ProfileRepository(tables), AssignedRoles(GrantRepository(tables)))


def stored_role(tables: Tables, role_name: str, **more: Any) -> None:
    """The row of a role, as written by bootstrap or another product."""
    item = {"roleName": role_name, "description": "A role", "createdOn": "2026-01-01", **more}
    tables.write(Put(table=ROLES, item=item))
