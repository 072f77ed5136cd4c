"""Wires roles, the roles of users, and rules."""

from functools import partial

from backend.core.identity import Identity
from backend.core.ids import new_uuid
from backend.core.transactions import Write
from backend.domains.access.policy.model import Fields
from backend.domains.access.repository.constraints import ConstraintRepository
from backend.domains.access.repository.policies import PolicyRepository
from backend.domains.access.repository.roles import GrantRepository, RoleRepository
from backend.domains.access.service.constraints import ConstraintService
from backend.domains.access.service.explanations import ExplainService
from backend.domains.access.service.roles import RoleService
from backend.domains.access.service.templates import TemplateService
from backend.domains.access.service.user_roles import UserAdministration, UserRoleService
from backend.entrypoints.wiring.context import Context
from backend.entrypoints.wiring.deleted_names import deleted_names
from backend.entrypoints.wiring.jobs import jobs
from backend.spec.jobs import WITHDRAW_ROLE


def roles(context: Context) -> RoleService:
    return RoleService(
        roles=RoleRepository(context.tables),
        grants=GrantRepository(context.tables),
        constraints=ConstraintRepository(context.tables),
        names=deleted_names(context),
        authorization=context.authorization,
        audit=context.audit,
        withdrawals=partial(_withdrawal, context),
        clock=context.clock,
        new_id=new_uuid,
    )


def constraints(context: Context) -> ConstraintService:
    return ConstraintService(
        constraints=ConstraintRepository(context.tables),
        roles=RoleRepository(context.tables),
        authorization=context.authorization,
        audit=context.audit,
        clock=context.clock,
        new_id=new_uuid,
    )


def templates(context: Context) -> TemplateService:
    return TemplateService(constraints(context), context.authorization)


def explanations(context: Context) -> ExplainService:
    return ExplainService(context.policies, context.authorization, partial(_asset, context))


def user_roles(context: Context) -> UserRoleService:
    return UserRoleService(
        grants=GrantRepository(context.tables),
        administration=user_administration(context),
        authorization=context.authorization,
        audit=context.audit,
        clock=context.clock,
    )


def user_administration(context: Context) -> UserAdministration:
    return UserAdministration(PolicyRepository(context.tables), context.authorization)


def _asset(context: Context, database_id: str, asset_id: str) -> Fields | None:
    from backend.domains.assets.repository import AssetRepository  # noqa: PLC0415 - few ask
    from backend.domains.assets.service.queries import secured  # noqa: PLC0415

    asset = AssetRepository(context.tables).get(database_id, asset_id, in_archive=True)
    return None if asset is None else secured(asset).fields


def _withdrawal(context: Context, caller: Identity, role_name: str) -> tuple[str, Write]:
    job = jobs(context).new(
        WITHDRAW_ROLE,
        WITHDRAW_ROLE.job_id(new_uuid()),
        caller=caller,
        database_id=None,
        parameters={"roleName": role_name},
    )
    return job.job_id, jobs(context).put(job)
