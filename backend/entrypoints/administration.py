"""Wires the administration of roles and users.

Slices are imported where they are wired, as in `wiring`.
"""

from dataclasses import dataclass
from functools import cached_property

from backend.aws import clients
from backend.core.identity import Identity
from backend.core.ids import new_secret, new_uuid
from backend.core.transactions import Write
from backend.core.user_pool import UserPool
from backend.domains.access.policy.model import Fields
from backend.domains.access.repository.constraints import ConstraintRepository
from backend.domains.access.repository.policies import PolicyRepository
from backend.domains.access.repository.roles import GrantRepository, RoleRepository
from backend.domains.access.service.assigned_roles import AssignedRoles
from backend.domains.access.service.constraints import ConstraintService
from backend.domains.access.service.explanations import ExplainService
from backend.domains.access.service.roles import RoleService
from backend.domains.access.service.templates import TemplateService
from backend.domains.access.service.user_roles import UserAdministration, UserRoleService
from backend.domains.identity.repository.keys import ApiKeyRepository
from backend.domains.identity.repository.profiles import ProfileRepository
from backend.domains.identity.repository.users import SignInEntries
from backend.domains.identity.service.keys import ApiKeyService, UserKeys
from backend.domains.identity.service.profiles import ProfileService
from backend.domains.identity.service.users import UserService
from backend.entrypoints.wiring import Wiring
from backend.spec.jobs import WITHDRAW_ROLE


@dataclass(eq=False, repr=False)
class AccessWiring(Wiring):
    """Creates the services of the domain access."""

    @cached_property
    def api_keys(self) -> ApiKeyService:
        return ApiKeyService(
            keys=ApiKeyRepository(self.tables),
            roles=AssignedRoles(GrantRepository(self.tables)),
            profiles=ProfileRepository(self.tables),
            pool=self.user_pool,
            authorization=self.authorization,
            audit=self.audit,
            pepper=self._pepper,
            clock=self.clock,
            new_id=new_uuid,
            new_secret=new_secret,
        )

    @cached_property
    def roles(self) -> RoleService:
        return RoleService(
            roles=RoleRepository(self.tables),
            grants=GrantRepository(self.tables),
            constraints=ConstraintRepository(self.tables),
            names=self.deleted_names,
            authorization=self.authorization,
            audit=self.audit,
            withdrawals=self._withdrawal,
            clock=self.clock,
            new_id=new_uuid,
        )

    @cached_property
    def constraints(self) -> ConstraintService:
        return ConstraintService(
            constraints=ConstraintRepository(self.tables),
            roles=RoleRepository(self.tables),
            authorization=self.authorization,
            audit=self.audit,
            clock=self.clock,
            new_id=new_uuid,
        )

    @cached_property
    def templates(self) -> TemplateService:
        return TemplateService(self.constraints, self.authorization)

    @cached_property
    def explanations(self) -> ExplainService:
        return ExplainService(PolicyRepository(self.tables), self.authorization, self._asset)

    @cached_property
    def user_roles(self) -> UserRoleService:
        return UserRoleService(
            grants=GrantRepository(self.tables),
            administration=self.user_administration,
            authorization=self.authorization,
            audit=self.audit,
            clock=self.clock,
        )

    @cached_property
    def user_administration(self) -> UserAdministration:
        return UserAdministration(PolicyRepository(self.tables), self.authorization)

    @cached_property
    def profiles(self) -> ProfileService:
        profiles = ProfileRepository(self.tables)
        return ProfileService(profiles, self.authorization, self.audit, self.clock)

    @cached_property
    def users(self) -> UserService:
        return UserService(
            pool=self.user_pool,
            entries=SignInEntries(self.tables),
            roles=AssignedRoles(GrantRepository(self.tables)),
            administration=self.user_administration,
            profiles=ProfileRepository(self.tables),
            keys=UserKeys(ApiKeyRepository(self.tables), self.audit, self.clock),
            authorization=self.authorization,
            audit=self.audit,
            clock=self.clock,
            provider_prefix=lambda: self.settings.provider_prefix,
        )

    @cached_property
    def user_pool(self) -> UserPool | None:
        """Return the users who can sign in; None if no pool is deployed."""
        pool_id = self.settings.user_pool_id
        if pool_id is None:
            return None
        from backend.aws.user_pool import CognitoUserPool  # noqa: PLC0415 - most have no pool

        return CognitoUserPool(clients.at_first_use(clients.cognito_idp), pool_id)

    def _asset(self, database_id: str, asset_id: str) -> Fields | None:
        from backend.domains.assets.repository import AssetRepository  # noqa: PLC0415 - few ask
        from backend.domains.assets.service.permissions import secured  # noqa: PLC0415

        found = AssetRepository(self.tables).get(database_id, asset_id, in_archive=True)
        return None if found is None else secured(found).fields

    def _withdrawal(self, caller: Identity, role_name: str) -> tuple[str, Write]:
        job = self.jobs.new(
            WITHDRAW_ROLE,
            WITHDRAW_ROLE.job_id(new_uuid()),
            caller=caller,
            database_id=None,
            parameters={"roleName": role_name},
        )
        return job.job_id, self.jobs.put(job)
