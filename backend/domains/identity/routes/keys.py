"""The routes of API keys."""

from backend.core.models import PageQuery
from backend.core.paging import Page
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
        page = call.page(query)
        return _page_reply(
            call, service.list_api_keys(call.caller, page, show_sessions=query.show_sessions)
        )

    @router.bind(routes.CREATE_API_KEY)
    def create_api_key(call: Call, body: CreateApiKeyBody) -> CreatedApiKeyReply:
        return _created_reply(*service.create_api_key(call.caller, body))

    @router.bind(routes.GET_API_KEY)
    def get_api_key(call: Call, path: ApiKeyPath) -> ApiKeyReply:
        return _reply(service.get_api_key(call.caller, path.api_key_id))

    @router.bind(routes.UPDATE_API_KEY)
    def update_api_key(call: Call, path: ApiKeyPath, body: UpdateApiKeyBody) -> ApiKeyReply:
        return _reply(service.update_api_key(call.caller, path.api_key_id, body))

    @router.bind(routes.DELETE_API_KEY)
    def delete_api_key(call: Call, path: ApiKeyPath) -> DeletedApiKeyReply:
        service.delete_api_key(call.caller, path.api_key_id)
        return _deleted_reply(path)


def bind_own_keys(router: Router, service: OwnKeyService) -> None:
    """Bind the routes of the caller's own API keys to the service."""

    @router.bind(routes.LIST_OWN_API_KEYS)
    def list_own_api_keys(call: Call, query: PageQuery) -> ApiKeysReply:
        return _page_reply(call, service.list_api_keys(call.caller, call.page(query)))

    @router.bind(routes.CREATE_OWN_API_KEY)
    def create_own_api_key(call: Call, body: CreateOwnApiKeyBody) -> CreatedApiKeyReply:
        return _created_reply(*service.create_api_key(call.caller, body))

    @router.bind(routes.GET_OWN_API_KEY)
    def get_own_api_key(call: Call, path: ApiKeyPath) -> ApiKeyReply:
        return _reply(service.get_api_key(call.caller, path.api_key_id))

    @router.bind(routes.UPDATE_OWN_API_KEY)
    def update_own_api_key(call: Call, path: ApiKeyPath, body: UpdateOwnApiKeyBody) -> ApiKeyReply:
        return _reply(service.update_api_key(call.caller, path.api_key_id, body))

    @router.bind(routes.DELETE_OWN_API_KEY)
    def delete_own_api_key(call: Call, path: ApiKeyPath) -> DeletedApiKeyReply:
        service.delete_api_key(call.caller, path.api_key_id)
        return _deleted_reply(path)


def _page_reply(call: Call, page: Page[ApiKey]) -> ApiKeysReply:
    return ApiKeysReply(
        items=[_reply(key) for key in page.items], next_token=call.next_token(page.after)
    )


def _created_reply(key: ApiKey, text: str) -> CreatedApiKeyReply:
    return CreatedApiKeyReply(**_reply(key).model_dump(), api_key=text)


def _deleted_reply(path: ApiKeyPath) -> DeletedApiKeyReply:
    return DeletedApiKeyReply(message=f"API key {path.api_key_id} was deleted")


def _reply(key: ApiKey) -> ApiKeyReply:
    return ApiKeyReply.model_validate(key.model_dump())
