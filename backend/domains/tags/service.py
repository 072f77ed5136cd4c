"""Operations on tags and tag types."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from backend.core.attempts import attempts
from backend.core.authorization import (
    Authorization,
    NamedTags,
    Secured,
    require,
    require_administrator,
)
from backend.core.clock import Clock
from backend.core.errors import InvalidInputError
from backend.core.identity import Identity
from backend.core.ids import NewId, new_uuid
from backend.core.invisible import require_new_names
from backend.core.names import GLOBAL
from backend.core.paging import Page, PageRequest, all_items, fill, json_bytes, text_bytes
from backend.domains.access.service.deleted_names import DeletedNames
from backend.domains.audit.models import audit_entity
from backend.domains.audit.service.commands import AuditService
from backend.domains.databases.service import DatabaseNotFoundError, DatabaseService, Definition
from backend.domains.jobs.models import Job
from backend.domains.jobs.service.commands import JobService
from backend.domains.tags.errors import (
    TagNotFoundError,
    TagTypeInUseError,
    TagTypeNotFoundError,
    TagTypeRevisionError,
)
from backend.domains.tags.models import (
    Scoped,
    ScopedPageQuery,
    Tag,
    TagBody,
    TagType,
    TagTypeBody,
)
from backend.domains.tags.repository import SCAN_PAGE, TagRepository, TagTypeRepository
from backend.domains.tags.rules import check_known, check_required, resolve, scopes_of
from backend.spec.jobs import WITHDRAW_TAG

_KIND: Definition = "tagTypes"
_EVERY_SCOPE = ScopedPageQuery()
_ATTEMPTS = 8  # of a deletion that conflicts with edits of the type


@dataclass(eq=False, repr=False)
class TagService:
    tags: TagRepository
    types: TagTypeRepository
    databases: DatabaseService
    rules: NamedTags
    names: DeletedNames
    authorization: Authorization
    audit: AuditService
    jobs: JobService
    clock: Clock
    new_id: NewId = new_uuid

    def check_tags(
        self,
        caller: Identity,
        database_id: str,
        tags: Sequence[str],
        *,
        carried: Collection[str] = (),
    ) -> None:
        """Check the tags that an asset is to have before they are stored. `carried` are its tags.

        A name is the tag of the asset's database, or else that of GLOBAL.

        Raises:
            InvalidInputError: a tag that is added does not exist, or the caller may not see it, or
                a tag of a required type is missing.
            PermissionDeniedError: rules use a tag that is added or removed, and the caller may not
                change this tag.
        """
        stored = self.tags.get_many(scopes_of(database_id, tags))
        visible = (tag for tag in stored if tag.tag_name in carried or self._may_see(caller, tag))
        known = resolve(visible)
        check_known(set(tags) - set(carried), known)
        check_required(
            {tag.scoped_type for tag in known.values()},
            self.types.in_force(database_id),
            named=partial(self._may_see_type, caller),
        )
        self._require_changeable(caller, database_id, set(tags) ^ set(carried))

    def exists(self, tag_name: str, database_id: str = GLOBAL) -> bool:
        """Return whether assets of a database may have the tag.

        For other slices: no permission is checked.
        """
        return bool(self.tags.get_many(set(scopes_of(database_id, [tag_name]))))

    def create_tag(self, caller: Identity, body: TagBody) -> None:
        """Create a tag of a type.

        Raises:
            TagExistsError: the name is in use.
            InvalidInputError: the type does not exist in the scope, or GLOBAL has a tag of the
                name, or the caller may not see the database.
            PermissionDeniedError: the caller may not create it, or constraints use the name of a
                tag of a database and the caller is not an administrator.
            TagTypeFullError: the type has the maximum number of tags.
        """
        tag = Tag.model_validate(body.model_dump())
        require(self.authorization, caller, "POST", _secured_tag(tag))
        require_new_names({"tagName": tag.tag_name})
        self._require_scope(caller, tag.database_id)
        if tag.database_id != GLOBAL and self.rules.named_tags([tag.tag_name]):
            # Rules use names: who manages the tags of one database must not satisfy them by a tag.
            why = f"Constraints use the tag {tag.tag_name}: only administrators can create it"
            require_administrator(self.authorization, caller, why)
        entry = self.audit.entry(
            caller,
            "create_tag",
            audit_entity("tag", tag.scoped.key),
            after=tag.model_dump(by_alias=True),
        )
        self.tags.put_new(tag, entry)

    def update_tag(self, caller: Identity, body: TagBody) -> None:
        """Change the description and type of the tag of that name.

        Raises:
            TagNotFoundError: it does not exist, or the caller may not see it.
            TagRevisionError: it was changed at the same time.
            InvalidInputError: the type does not exist.
            TagTypeFullError: the type has the maximum number of tags.
            PermissionDeniedError: the caller may not change it, or not to this type.
        """
        stored = self._visible_tag(caller, body.scoped)
        changed = stored.model_copy(update={"tag_type_name": body.tag_type_name})
        for tag in (stored, changed):
            require(self.authorization, caller, "PUT", _secured_tag(tag))
        changes = {"description": body.description, "tagTypeName": body.tag_type_name}
        before = stored.model_dump(by_alias=True)
        entry = self.audit.entry(
            caller,
            "update_tag",
            audit_entity("tag", stored.scoped.key),
            before=before,
            after=before | changes,
        )
        self.tags.change(stored, changes, entry)

    def delete_tag(self, caller: Identity, tag_name: str, database_id: str = GLOBAL) -> Job:
        """Delete the tag, and start the job that removes it from the assets that have it.

        Raises:
            PermissionDeniedError: rules use the tag, and the caller is not an administrator.
            TagNotFoundError: it does not exist, or the caller may not see it.
            TagRevisionError: it was changed at the same time.
        """
        tag = self._visible_tag(caller, Scoped(database_id, tag_name))
        require(self.authorization, caller, "DELETE", _secured_tag(tag))
        if self.rules.named_tags([tag_name]):
            why = f"Constraints use the tag {tag_name}: only administrators can delete it"
            require_administrator(self.authorization, caller, why)
        entry = self.audit.entry(
            caller,
            "delete_tag",
            audit_entity("tag", tag.scoped.key),
            before=tag.model_dump(by_alias=True),
        )
        job = self.jobs.new(
            WITHDRAW_TAG,
            WITHDRAW_TAG.job_id(self.new_id()),
            caller=caller,
            database_id=None if database_id == GLOBAL else database_id,
            parameters={"tagName": tag_name, "tagTypeName": tag.tag_type_name},
        )
        self.tags.delete(tag, entry, self.jobs.put(job))
        return job

    def list_tags(
        self, caller: Identity, page: PageRequest, query: ScopedPageQuery = _EVERY_SCOPE
    ) -> Page[Tag]:
        """List the tags that the caller may see, in no order."""
        return fill(
            self.tags.list_registry,
            page,
            visible=lambda tag: query.includes(tag) and self._may_see(caller, tag),
            position_of=lambda tag: {"tagName": tag.scoped.key},
        )

    def types_of(self, tags: Sequence[Tag]) -> dict[Scoped, TagType]:
        """Return the types of some tags."""
        return self.types.get_many({tag.scoped_type for tag in tags})

    def tag_warnings(self, caller: Identity, created: Iterable[TagBody]) -> list[str]:
        """Return which visible tags of databases have the name of a new one of GLOBAL."""
        names = {body.tag_name for body in created if body.database_id == GLOBAL}
        tags = all_items(self.tags.list_registry, SCAN_PAGE) if names else ()
        return _warnings(
            "tag",
            (tag.scoped for tag in tags if tag.tag_name in names and self._may_see(caller, tag)),
        )

    def create_tag_type(self, caller: Identity, body: TagTypeBody) -> None:
        """Create a tag type.

        Raises:
            PermissionDeniedError: the caller may not create it, or rules use a deleted type of the
                name and the caller is not an administrator.
            TagTypeExistsError: the name is in use.
            InvalidInputError: GLOBAL has a type of the name, or the database does not exist, or
                the caller may not see it.
        """
        require(self.authorization, caller, "POST", _secured_type(body.scoped))
        require_new_names({"tagTypeName": body.tag_type_name})
        self._require_scope(caller, body.database_id)
        self.names.require_unruled(caller, "tagTypeName", body.tag_type_name)
        tag_type = TagType.model_validate(body.model_dump(exclude_none=True))
        entry = self.audit.entry(
            caller,
            "create_tag_type",
            audit_entity("tagType", tag_type.scoped.key),
            after=_attributes(tag_type),
        )
        counted = self.databases.count_definition(tag_type.database_id, _KIND, 1)
        try:
            self.types.put_new(tag_type, entry, *counted)
        except DatabaseNotFoundError as error:
            raise InvalidInputError.of("databaseId", error.message) from error

    def update_tag_type(self, caller: Identity, body: TagTypeBody) -> None:
        """Change the description of the type of that name, and whether it is required.

        Raises:
            TagTypeNotFoundError: it does not exist, or the caller may not see it.
            TagTypeRevisionError: it was changed at the same time.
        """
        tag_type = self._visible_type(caller, body.scoped)
        require(self.authorization, caller, "PUT", _secured_type(body.scoped))
        fixed = {"tag_type_name", "database_id"}
        changes = body.model_dump(by_alias=True, exclude_none=True, exclude=fixed)
        before = _attributes(tag_type)
        entry = self.audit.entry(
            caller,
            "update_tag_type",
            audit_entity("tagType", tag_type.scoped.key),
            before=before,
            after=before | changes,
        )
        self.types.change(tag_type, changes, entry)

    @attempts(_ATTEMPTS, TagTypeRevisionError)
    def delete_tag_type(
        self, caller: Identity, tag_type_name: str, database_id: str = GLOBAL
    ) -> None:
        """Delete a type that no tag has.

        Raises:
            TagTypeNotFoundError: it does not exist, or the caller may not see it.
            TagTypeInUseError: a tag has it.
            TagTypeRevisionError: it is changed concurrently at every attempt.
        """
        scoped = Scoped(database_id, tag_type_name)
        tag_type = self._visible_type(caller, scoped)
        require(self.authorization, caller, "DELETE", _secured_type(scoped))
        if tag_type.tag_count > 0:
            raise TagTypeInUseError(scoped)
        entry = self.audit.entry(
            caller,
            "delete_tag_type",
            audit_entity("tagType", scoped.key),
            before=_attributes(tag_type),
        )
        name = self.names.deleted("tagTypeName", tag_type_name)
        counted = self.databases.count_definition(database_id, _KIND, -1)
        return self.types.delete_unused(tag_type, entry, name, *counted)

    def list_tag_types(
        self, caller: Identity, page: PageRequest, query: ScopedPageQuery = _EVERY_SCOPE
    ) -> Page[tuple[TagType, list[str]]]:
        """List the tag types that the caller may see, in no order, with the names of their tags.

        Tags that the caller may not see are not listed, so they do not shorten a page either.
        """

        @cache  # read when a type is visible
        def names() -> dict[Scoped, list[str]]:
            by_type: defaultdict[Scoped, list[str]] = defaultdict(list)
            for tag in all_items(self.tags.list_registry, SCAN_PAGE):
                if self._may_see(caller, tag):
                    by_type[tag.scoped_type].append(tag.tag_name)
            return {scoped: sorted(tags) for scoped, tags in by_type.items()}

        def tags_of(tag_type: TagType) -> list[str]:
            return names().get(tag_type.scoped, [])

        return fill(
            self.types.list_registry,
            page,
            visible=lambda item: query.includes(item) and self._may_see_type(caller, item.scoped),
            position_of=self.types.position_of,
            size_of=lambda item: json_bytes(item) + sum(map(text_bytes, tags_of(item))),
        ).map(lambda item: (item, tags_of(item)))

    def type_warnings(self, caller: Identity, created: Iterable[TagTypeBody]) -> list[str]:
        """Return which visible types of databases have the name of a new one of GLOBAL."""
        names = {body.tag_type_name for body in created if body.database_id == GLOBAL}
        stored = all_items(self.types.list_registry, SCAN_PAGE) if names else ()
        types = (item.scoped for item in stored if item.tag_type_name in names)
        return _warnings("tag type", (item for item in types if self._may_see_type(caller, item)))

    def _may_see(self, caller: Identity, tag: Tag) -> bool:
        return self._may_see_scope(caller, tag.database_id) and self.authorization.may(
            caller, "GET", _secured_tag(tag)
        )

    def _may_see_type(self, caller: Identity, tag_type: Scoped) -> bool:
        return self._may_see_scope(caller, tag_type.database_id) and self.authorization.may(
            caller, "GET", _secured_type(tag_type)
        )

    def _may_see_scope(self, caller: Identity, database_id: str) -> bool:
        return database_id == GLOBAL or self.databases.may_see(caller, database_id)

    def _require_scope(self, caller: Identity, database_id: str) -> None:
        if not self._may_see_scope(caller, database_id):
            fact = DatabaseNotFoundError(database_id).message
            raise InvalidInputError.of("databaseId", fact)

    def _require_changeable(
        self, caller: Identity, database_id: str, tag_names: Collection[str]
    ) -> None:
        # A tag that rules use affects who may use an asset, so the permission on the asset is not
        # enough to add or remove it.
        named = self.rules.named_tags(tag_names) if tag_names else set[str]()
        if not named:
            return
        # The tag of GLOBAL too: rules use names.
        stored = self.tags.get_many(scopes_of(database_id, sorted(named)))
        # A deleted tag has no type; its job has not processed the asset yet.
        missing = sorted(named - {tag.tag_name for tag in stored})
        deleted = [Tag(tag_name=name, description="", tag_type_name="") for name in missing]
        for tag in (*stored, *deleted):
            require(self.authorization, caller, "PUT", _secured_tag(tag))

    def _visible_tag(self, caller: Identity, scoped: Scoped) -> Tag:
        tag = self.tags.get(scoped)
        if tag is None or not self._may_see(caller, tag):
            raise TagNotFoundError(scoped)
        return tag

    def _visible_type(self, caller: Identity, scoped: Scoped) -> TagType:
        may_see = self._may_see_type(caller, scoped)
        tag_type = self.types.get(scoped) if may_see else None
        if tag_type is None:
            raise TagTypeNotFoundError(scoped)
        return tag_type


def _attributes(tag_type: TagType) -> dict[str, Any]:
    """Return a tag type as its audit entries contain it, without the count of its tags."""
    return tag_type.model_dump(by_alias=True, exclude={"tag_count"})


def _secured_tag(tag: Tag) -> Secured:
    named = {"tagName": tag.tag_name, "tagTypeName": tag.tag_type_name}
    return Secured("tag", {**named, "databaseId": tag.database_id})


def _secured_type(tag_type: Scoped) -> Secured:
    fields = {"tagTypeName": tag_type.name, "databaseId": tag_type.database_id}
    return Secured("tagType", fields)


def _warnings(kind: str, tags: Iterable[Scoped]) -> list[str]:
    """Return a warning for each tag or type of a database."""
    named = sorted(tag for tag in tags if tag.database_id != GLOBAL)
    return [
        f"Database {database_id} has its own {kind} {name}, which its assets use"
        for database_id, name in named
    ]
