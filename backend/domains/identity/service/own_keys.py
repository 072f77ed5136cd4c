"""Operations of callers on their own API keys. Sessions and keys of others look absent."""

from dataclasses import dataclass

from backend.core.clock import iso
from backend.core.identity import Identity
from backend.core.paging import Page, PageRequest, fill
from backend.domains.identity.errors import ApiKeyNotFoundError
from backend.domains.identity.models.keys import (
    ApiKey,
    CreateApiKeyBody,
    CreateOwnApiKeyBody,
    UpdateApiKeyBody,
    UpdateOwnApiKeyBody,
)
from backend.domains.identity.rules.key_changes import require_own_expiry
from backend.domains.identity.service.keys import ApiKeyService


@dataclass(eq=False, repr=False)
class OwnKeyService:
    """The rules of all keys apply: an administrator's end, the key of the request, audit."""

    api_keys: ApiKeyService

    def list_api_keys(self, caller: Identity, page: PageRequest) -> Page[ApiKey]:
        """List the caller's keys by id; one that was just created may be missing for a moment."""
        return fill(
            lambda request: self.api_keys.keys.list_of_user(caller.user_id, request),
            page,
            visible=lambda key: _is_own(key, caller),
            position_of=lambda key: {"apiKeyId": key.api_key_id, "userId": key.user_id},
        )

    def create_api_key(self, caller: Identity, body: CreateOwnApiKeyBody) -> tuple[ApiKey, str]:
        """Create a key for the caller (see `ApiKeyService.create_api_key`).

        Raises:
            InvalidInputError: also if it would end later than in a year.
        """
        require_own_expiry(body.expires_at, iso(self.api_keys.clock()))
        values = body.model_dump()
        return self.api_keys.create_api_key(
            caller, CreateApiKeyBody(**values, user_id=caller.user_id)
        )

    def get_api_key(self, caller: Identity, api_key_id: str) -> ApiKey:
        """Return one of the caller's keys.

        Raises:
            ApiKeyNotFoundError: it does not exist, is a session or another user's.
        """
        key = self.api_keys.get_api_key(caller, api_key_id)
        if not _is_own(key, caller):
            raise ApiKeyNotFoundError(api_key_id)
        return key

    def update_api_key(
        self, caller: Identity, api_key_id: str, body: UpdateOwnApiKeyBody
    ) -> ApiKey:
        """Change the fields of the body (see `ApiKeyService.update_api_key`).

        Raises:
            InvalidInputError: also if it would end later than a year after its creation.
        """
        key = self.get_api_key(caller, api_key_id)
        if body.expires_at is not None:
            require_own_expiry(body.expires_at, key.created_at)
        changes = UpdateApiKeyBody(**body.model_dump())
        return self.api_keys.update_api_key(caller, api_key_id, changes)

    def delete_api_key(self, caller: Identity, api_key_id: str) -> None:
        """Delete one of the caller's keys.

        Raises:
            ApiKeyNotFoundError: it does not exist, is a session or another user's.
        """
        self.get_api_key(caller, api_key_id)
        self.api_keys.delete_api_key(caller, api_key_id)


def _is_own(key: ApiKey, caller: Identity) -> bool:
    return key.user_id == caller.user_id and key.kind is None
