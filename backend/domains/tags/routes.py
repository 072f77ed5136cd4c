"""The routes of tags and tag types."""

from collections.abc import Sequence

from backend.core.clock import iso
from backend.domains.tags.models import (
    Operation,
    ScopedPageQuery,
    ScopeQuery,
    TagOperationReply,
    TagPath,
    TagReply,
    TagsBody,
    TagsReply,
    TagTypeOperationReply,
    TagTypePath,
    TagTypeReply,
    TagTypesBody,
    TagTypesReply,
)
from backend.domains.tags.rules import shown_type
from backend.domains.tags.service import TagService
from backend.http.call import Call
from backend.http.router import Router
from backend.spec import routes

_DONE = {"create": "created", "update": "changed", "delete": "deleted"}


def build_router(service: TagService) -> Router:
    """Bind the routes of tags and tag types to the service."""
    router = Router()
    _bind_tags(router, service)
    _bind_tag_types(router, service)
    return router


def _bind_tags(router: Router, service: TagService) -> None:
    def done(
        operation: Operation,
        *names: str,
        job_id: str | None = None,
        warnings: list[str] | None = None,
    ) -> TagOperationReply:
        return TagOperationReply(
            message=_message("Tag", names, operation),
            tag_name=names[0],
            operation=operation,
            timestamp=iso(service.clock()),
            job_id=job_id,
            warnings=warnings or None,
        )

    @router.bind(routes.LIST_TAGS)
    def list_tags(call: Call, query: ScopedPageQuery) -> TagsReply:
        page = service.list_tags(call.caller, call.page(query), query)
        types = service.types_of(page.items)
        return TagsReply(
            items=[
                TagReply(
                    tag_name=tag.tag_name,
                    description=tag.description,
                    tag_type_name=shown_type(tag, tag_type),
                    required=tag_type.required if tag_type is not None else "False",
                    database_id=tag.database_id,
                )
                for tag in page.items
                for tag_type in (types.get(tag.scoped_type),)
            ],
            next_token=call.next_token(page.after),
        )

    @router.bind(routes.CREATE_TAG)
    def create_tag(call: Call, body: TagsBody) -> TagOperationReply:
        for tag in body.listed:
            service.create_tag(call.caller, tag)
        warnings = service.tag_warnings(call.caller, body.listed)
        return done("create", *(tag.tag_name for tag in body.listed), warnings=warnings)

    @router.bind(routes.UPDATE_TAG)
    def update_tag(call: Call, body: TagsBody) -> TagOperationReply:
        for tag in body.listed:
            service.update_tag(call.caller, tag)
        return done("update", *(tag.tag_name for tag in body.listed))

    @router.bind(routes.DELETE_TAG)
    def delete_tag(call: Call, path: TagPath, query: ScopeQuery) -> TagOperationReply:
        job = service.delete_tag(call.caller, path.tag_id, query.database_id)
        return done("delete", path.tag_id, job_id=job.job_id)


def _bind_tag_types(router: Router, service: TagService) -> None:
    def done(
        operation: Operation, *names: str, warnings: list[str] | None = None
    ) -> TagTypeOperationReply:
        return TagTypeOperationReply(
            message=_message("Tag type", names, operation),
            tag_type_name=names[0],
            operation=operation,
            timestamp=iso(service.clock()),
            warnings=warnings or None,
        )

    @router.bind(routes.LIST_TAG_TYPES)
    def list_tag_types(call: Call, query: ScopedPageQuery) -> TagTypesReply:
        page = service.list_tag_types(call.caller, call.page(query), query)
        return TagTypesReply(
            items=[
                TagTypeReply(
                    tag_type_name=item.tag_type_name,
                    description=item.description,
                    required=item.required,
                    tags=tags,
                    database_id=item.database_id,
                )
                for item, tags in page.items
            ],
            next_token=call.next_token(page.after),
        )

    @router.bind(routes.CREATE_TAG_TYPE)
    def create_tag_type(call: Call, body: TagTypesBody) -> TagTypeOperationReply:
        for tag_type in body.listed:
            service.create_tag_type(call.caller, tag_type)
        warnings = service.type_warnings(call.caller, body.listed)
        return done("create", *(item.tag_type_name for item in body.listed), warnings=warnings)

    @router.bind(routes.UPDATE_TAG_TYPE)
    def update_tag_type(call: Call, body: TagTypesBody) -> TagTypeOperationReply:
        for tag_type in body.listed:
            service.update_tag_type(call.caller, tag_type)
        return done("update", *(tag_type.tag_type_name for tag_type in body.listed))

    @router.bind(routes.DELETE_TAG_TYPE)
    def delete_tag_type(call: Call, path: TagTypePath, query: ScopeQuery) -> TagTypeOperationReply:
        service.delete_tag_type(call.caller, path.tag_type_id, query.database_id)
        return done("delete", path.tag_type_id)


def _message(kind: str, names: Sequence[str], operation: Operation) -> str:
    if len(names) == 1:
        return f"{kind} {names[0]} was {_DONE[operation]}"
    return f"{len(names)} {kind.lower()}s were {_DONE[operation]}"
