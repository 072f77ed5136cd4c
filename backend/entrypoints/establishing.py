"""Puts the ports of AWS behind what a new deployment needs before its first request."""

from functools import cached_property

from backend.core.ids import new_uuid
from backend.core.wired import wired
from backend.domains.access.repository.constraints import ConstraintRepository
from backend.domains.access.repository.keys import ApiKeyRepository
from backend.domains.access.repository.people import UserRoleRepository
from backend.domains.access.service.administrator_rules import AdministratorRules
from backend.domains.access.service.establishing import Administrators
from backend.domains.configuration.repository import FeatureRepository
from backend.domains.configuration.service import Features
from backend.entrypoints.wiring import Wiring


@wired
class DeploymentWiring(Wiring):
    """What the bootstrap is made of."""

    @cached_property
    def administrators(self) -> Administrators:
        keys, roles = ApiKeyRepository(self.tables), UserRoleRepository(self.tables)
        return Administrators(keys, roles, self._pepper, self.clock)

    @cached_property
    def administrator_rules(self) -> AdministratorRules:
        return AdministratorRules(self.constraints, self.clock, new_uuid)

    @cached_property
    def constraints(self) -> ConstraintRepository:
        return ConstraintRepository(self.tables)

    @cached_property
    def features(self) -> Features:
        return Features(FeatureRepository(self.tables))
