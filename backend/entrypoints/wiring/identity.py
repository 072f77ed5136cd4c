"""Wires users, their profiles and their API keys."""

from backend.aws import clients
from backend.core.ids import new_secret, new_uuid
from backend.core.user_pool import UserPool
from backend.domains.access.repository.roles import GrantRepository
from backend.domains.access.service.assigned_roles import AssignedRoles
from backend.domains.identity.repository.keys import ApiKeyRepository
from backend.domains.identity.repository.profiles import ProfileRepository
from backend.domains.identity.repository.users import SignInEntries
from backend.domains.identity.service.keys import ApiKeyService, UserKeys
from backend.domains.identity.service.profiles import ProfileService
from backend.domains.identity.service.sessions import SessionService
from backend.domains.identity.service.users import UserService
from backend.entrypoints.wiring.access import user_administration
from backend.entrypoints.wiring.authentication import viewers
from backend.entrypoints.wiring.context import Context, once
from backend.spec.settings import SESSION_HOURS


def api_keys(context: Context) -> ApiKeyService:
    return ApiKeyService(
        keys=ApiKeyRepository(context.tables),
        roles=_assigned_roles(context),
        profiles=ProfileRepository(context.tables),
        pool=user_pool(context),
        authorization=context.authorization,
        audit=context.audit,
        pepper=context.pepper,
        clock=context.clock,
        new_id=new_uuid,
        new_secret=new_secret,
    )


def sessions(context: Context) -> SessionService:
    return SessionService(
        keys=ApiKeyRepository(context.tables),
        profiles=ProfileRepository(context.tables),
        pool=user_pool(context),
        audit=context.audit,
        viewers=viewers(context),
        hours=lambda: context.settings.number(SESSION_HOURS),
        pepper=context.pepper,
        clock=context.clock,
        new_id=new_uuid,
        new_secret=new_secret,
    )


def profiles(context: Context) -> ProfileService:
    repository = ProfileRepository(context.tables)
    return ProfileService(repository, context.authorization, context.audit, context.clock)


def users(context: Context) -> UserService:
    return UserService(
        pool=user_pool(context),
        entries=SignInEntries(context.tables),
        roles=_assigned_roles(context),
        administration=user_administration(context),
        profiles=ProfileRepository(context.tables),
        keys=UserKeys(ApiKeyRepository(context.tables), context.audit, context.clock),
        authorization=context.authorization,
        audit=context.audit,
        clock=context.clock,
        provider_prefix=lambda: context.settings.provider_prefix,
    )


@once
def user_pool(context: Context) -> UserPool | None:
    """Return the users who can sign in; None if no pool is deployed."""
    pool_id = context.settings.user_pool_id
    if pool_id is None:
        return None
    from backend.aws.user_pool import CognitoUserPool  # noqa: PLC0415 - most have no pool

    return CognitoUserPool(clients.at_first_use(clients.cognito_idp), pool_id)


def _assigned_roles(context: Context) -> AssignedRoles:
    return AssignedRoles(GrantRepository(context.tables))
