"""The routes of API keys."""

from backend.core.models import PageQuery
from backend.domains.identity.models.keys import (
    ApiKey,
    ApiKeyPath,
    ApiKeyReply,
    ApiKeysQuery,
    ApiKeysReply,
    CreateApiKeyBody,
    CreatedApiKeyReply,
    CreateOwnApiKeyBody,
    DeletedApiKeyReply,
    UpdateApiKeyBody,
    UpdateOwnApiKeyBody,
)
from backend.domains.identity.service.keys import ApiKeyService
from backend.domains.identity.service.own_keys import OwnKeyService
from backend.http.call import Call
from backend.http.router import Router
from backend.spec import routes


def bind_keys(router: Router, service: ApiKeyService) -> None:
    """Bind the routes of API keys to the service."""

    @router.bind(routes.LIST_API_KEYS)
    def list_api_keys(call: Call, query: ApiKeysQuery) -> ApiKeysReply:
        page = service.list_api_keys(
            call.caller, call.page(query), show_sessions=query.show_sessions
        )
        return ApiKeysReply(
            items=[_reply(key) for key in page.items], next_token=call.next_token(page.after)
        )

    @router.bind(routes.CREATE_API_KEY)
    def create_api_key(call: Call, body: CreateApiKeyBody) -> CreatedApiKeyReply:
        key, text = service.create_api_key(call.caller, body)
        return CreatedApiKeyReply(**_reply(key).model_dump(), api_key=text)

    @router.bind(routes.GET_API_KEY)
    def get_api_key(call: Call, path: ApiKeyPath) -> ApiKeyReply:
        return _reply(service.get_api_key(call.caller, path.api_key_id))

    @router.bind(routes.UPDATE_API_KEY)
    def update_api_key(call: Call, path: ApiKeyPath, body: UpdateApiKeyBody) -> ApiKeyReply:
        return _reply(service.update_api_key(call.caller, path.api_key_id, body))

    @router.bind(routes.DELETE_API_KEY)
    def delete_api_key(call: Call, path: ApiKeyPath) -> DeletedApiKeyReply:
        service.delete_api_key(call.caller, path.api_key_id)
        return DeletedApiKeyReply(message=f"API key {path.api_key_id} was deleted")


def bind_own_keys(router: Router, service: OwnKeyService) -> None:
    """Bind the routes of the caller's own API keys to the service."""

    @router.bind(routes.LIST_OWN_API_KEYS)
    def list_own_api_keys(call: Call, query: PageQuery) -> ApiKeysReply:
        page = service.list_api_keys(call.caller, call.page(query))
        return ApiKeysReply(
            items=[_reply(key) for key in page.items], next_token=call.next_token(page.after)
        )

    @router.bind(routes.CREATE_OWN_API_KEY)
    def create_own_api_key(call: Call, body: CreateOwnApiKeyBody) -> CreatedApiKeyReply:
        key, text = service.create_api_key(call.caller, body)
        return CreatedApiKeyReply(**_reply(key).model_dump(), api_key=text)

    @router.bind(routes.GET_OWN_API_KEY)
    def get_own_api_key(call: Call, path: ApiKeyPath) -> ApiKeyReply:
        return _reply(service.get_api_key(call.caller, path.api_key_id))

    @router.bind(routes.UPDATE_OWN_API_KEY)
    def update_own_api_key(call: Call, path: ApiKeyPath, body: UpdateOwnApiKeyBody) -> ApiKeyReply:
        return _reply(service.update_api_key(call.caller, path.api_key_id, body))

    @router.bind(routes.DELETE_OWN_API_KEY)
    def delete_own_api_key(call: Call, path: ApiKeyPath) -> DeletedApiKeyReply:
        service.delete_api_key(call.caller, path.api_key_id)
        return DeletedApiKeyReply(message=f"API key {path.api_key_id} was deleted")


def _reply(key: ApiKey) -> ApiKeyReply:
    return ApiKeyReply.model_validate(key.model_dump())
