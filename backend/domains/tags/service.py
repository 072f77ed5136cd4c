"""Operations on tags and tag types."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
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
from backend.core.identity import Identity
from backend.core.ids import NewId, new_uuid
from backend.core.invisible import require_new_names
from backend.core.names import GLOBAL
from backend.core.paging import Page, PageRequest, all_items, fill, json_bytes
from backend.domains.access.service.deleted_names import DeletedNames
from backend.domains.audit.models import audit_entity
from backend.domains.audit.service.commands import AuditService
from backend.domains.jobs.models import Job
from backend.domains.jobs.service.commands import JobService
from backend.domains.tags.errors import (
    TagNotFoundError,
    TagTypeInUseError,
    TagTypeNotFoundError,
    TagTypeRevisionError,
)
from backend.domains.tags.models import Tag, TagBody, TagType, TagTypeBody
from backend.domains.tags.repository import TagRepository, TagTypeRepository
from backend.domains.tags.rules import check_known, check_required
from backend.spec.jobs import WITHDRAW_TAG

_SCAN_PAGE = 1000  # rows of a request at most; DynamoDB ends a page after 1 MB
_NAME_BYTES = 262  # the longest name of a tag in a list, with quotes and a comma
_ATTEMPTS = 8  # of a deletion that conflicts with edits of the type


@dataclass(eq=False, repr=False)
class TagService:
    tags: TagRepository
    types: TagTypeRepository
    rules: NamedTags
    names: DeletedNames
    authorization: Authorization
    audit: AuditService
    jobs: JobService
    clock: Clock
    new_id: NewId = new_uuid

    def check_tags(
        self, caller: Identity, tags: Sequence[str], *, carried: Collection[str] = ()
    ) -> None:
        """Check the tags that an asset is to have before they are stored. `carried` are its tags.

        Raises:
            InvalidInputError: a tag does not exist, or the caller may not see it, or a tag of a
                required type is missing.
            PermissionDeniedError: rules use a tag that is added or removed, and the caller may not
                change this tag.
        """
        stored = self.tags.get_many(tags)
        known = [tag for tag in stored if tag.tag_name in carried or self._may_see(caller, tag)]
        check_known(tags, known)
        covered = {tag.tag_type_name for tag in known}
        check_required(
            covered,
            list(all_items(self.types.list_registry, _SCAN_PAGE)),
            named=partial(self._may_see_type, caller),
        )
        self._require_changeable(caller, set(tags) ^ set(carried))

    def exists(self, tag_name: str) -> bool:
        """Return whether the tag exists, for other slices: no permission is checked."""
        return self.tags.get(tag_name) is not None

    def create_tag(self, caller: Identity, body: TagBody) -> None:
        """Create a tag of a type.

        Raises:
            TagExistsError: the name is in use.
            InvalidInputError: the type does not exist.
            TagTypeFullError: the type has the maximum number of tags.
        """
        tag = Tag(
            tag_name=body.tag_name,
            description=body.description,
            tag_type_name=body.tag_type_name,
        )
        require(self.authorization, caller, "POST", _secured_tag(tag))
        require_new_names({"tagName": tag.tag_name})
        entry = self.audit.entry(
            caller,
            "create_tag",
            audit_entity("tag", tag.tag_name),
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
        stored = self._visible_tag(caller, body.tag_name)
        changed = stored.model_copy(update={"tag_type_name": body.tag_type_name})
        for tag in (stored, changed):
            require(self.authorization, caller, "PUT", _secured_tag(tag))
        changes = {"description": body.description, "tagTypeName": body.tag_type_name}
        before = stored.model_dump(by_alias=True)
        entry = self.audit.entry(
            caller,
            "update_tag",
            audit_entity("tag", stored.tag_name),
            before=before,
            after=before | changes,
        )
        self.tags.change(stored, changes, entry)

    def delete_tag(self, caller: Identity, tag_name: str) -> Job:
        """Delete the tag, and start the job that removes it from the assets that have it.

        Raises:
            PermissionDeniedError: rules use the tag, and the caller is not an administrator.
            TagNotFoundError: it does not exist, or the caller may not see it.
            TagRevisionError: it was changed at the same time.
        """
        tag = self._visible_tag(caller, tag_name)
        require(self.authorization, caller, "DELETE", _secured_tag(tag))
        if self.rules.named_tags([tag_name]):
            why = f"Constraints use the tag {tag_name}: only administrators can delete it"
            require_administrator(self.authorization, caller, why)
        entry = self.audit.entry(
            caller,
            "delete_tag",
            audit_entity("tag", tag_name),
            before=tag.model_dump(by_alias=True),
        )
        job = self.jobs.new(
            WITHDRAW_TAG,
            WITHDRAW_TAG.job_id(self.new_id()),
            caller=caller,
            database_id=None,
            parameters={"tagName": tag_name, "tagTypeName": tag.tag_type_name},
        )
        self.tags.delete(tag, entry, self.jobs.put(job))
        return job

    def list_tags(self, caller: Identity, page: PageRequest) -> Page[Tag]:
        """List the tags that the caller may see, in no order."""
        return fill(
            self.tags.list_registry,
            page,
            visible=lambda tag: self._may_see(caller, tag),
            position_of=lambda tag: {"tagName": tag.tag_name},
        )

    def types_of(self, tags: Sequence[Tag]) -> dict[str, TagType]:
        """Return the types of some tags, by name."""
        return self.types.get_many({tag.tag_type_name for tag in tags})

    def create_tag_type(self, caller: Identity, body: TagTypeBody) -> None:
        """Create a tag type.

        Raises:
            PermissionDeniedError: the caller may not create it, or rules use a deleted type of the
                name and the caller is not an administrator.
            TagTypeExistsError: the name is in use.
        """
        require(self.authorization, caller, "POST", _secured_type(body.tag_type_name))
        require_new_names({"tagTypeName": body.tag_type_name})
        self.names.require_unruled(caller, "tagTypeName", body.tag_type_name)
        tag_type = TagType.model_validate(body.model_dump(exclude_none=True))
        entry = self.audit.entry(
            caller,
            "create_tag_type",
            audit_entity("tagType", tag_type.tag_type_name),
            after=_attributes(tag_type),
        )
        self.types.put_new(tag_type, entry)

    def update_tag_type(self, caller: Identity, body: TagTypeBody) -> None:
        """Change the description of the type of that name, and whether it is required.

        Raises:
            TagTypeNotFoundError: it does not exist, or the caller may not see it.
            TagTypeRevisionError: it was changed at the same time.
        """
        tag_type = self._visible_type(caller, body.tag_type_name)
        require(self.authorization, caller, "PUT", _secured_type(body.tag_type_name))
        changes = body.model_dump(by_alias=True, exclude_none=True, exclude={"tag_type_name"})
        before = _attributes(tag_type)
        entry = self.audit.entry(
            caller,
            "update_tag_type",
            audit_entity("tagType", tag_type.tag_type_name),
            before=before,
            after=before | changes,
        )
        self.types.change(tag_type, changes, entry)

    @attempts(_ATTEMPTS, TagTypeRevisionError)
    def delete_tag_type(self, caller: Identity, tag_type_name: str) -> None:
        """Delete a type that no tag has.

        Raises:
            TagTypeNotFoundError: it does not exist, or the caller may not see it.
            TagTypeInUseError: a tag has it.
            TagTypeRevisionError: it is changed concurrently at every attempt.
        """
        tag_type = self._visible_type(caller, tag_type_name)
        require(self.authorization, caller, "DELETE", _secured_type(tag_type_name))
        if tag_type.tag_count > 0:
            raise TagTypeInUseError(tag_type_name)
        entry = self.audit.entry(
            caller,
            "delete_tag_type",
            audit_entity("tagType", tag_type_name),
            before=_attributes(tag_type),
        )
        name = self.names.deleted("tagTypeName", tag_type_name)
        return self.types.delete_unused(tag_type, entry, name)

    def list_tag_types(self, caller: Identity, page: PageRequest) -> Page[TagType]:
        """List the tag types that the caller may see, in no order."""
        return fill(
            self.types.list_registry,
            page,
            visible=lambda tag_type: self._may_see_type(caller, tag_type.tag_type_name),
            position_of=lambda tag_type: {"tagTypeName": tag_type.tag_type_name},
            # The reply names the type's tags too.
            size_of=lambda tag_type: json_bytes(tag_type) + tag_type.tag_count * _NAME_BYTES,
        )

    def tags_by_type(self, caller: Identity) -> dict[str, list[str]]:
        """Return the names of all tags that the caller may see, by type, sorted."""
        names: defaultdict[str, list[str]] = defaultdict(list)
        for tag in all_items(self.tags.list_registry, _SCAN_PAGE):
            if self._may_see(caller, tag):
                names[tag.tag_type_name].append(tag.tag_name)
        return {name: sorted(tags) for name, tags in names.items()}

    def _may_see(self, caller: Identity, tag: Tag) -> bool:
        return self.authorization.may(caller, "GET", _secured_tag(tag))

    def _may_see_type(self, caller: Identity, tag_type_name: str) -> bool:
        return self.authorization.may(caller, "GET", _secured_type(tag_type_name))

    def _require_changeable(self, caller: Identity, tag_names: Collection[str]) -> None:
        # A tag that rules use affects who may use an asset, so the permission on the asset is not
        # enough to add or remove it.
        named = self.rules.named_tags(tag_names) if tag_names else set[str]()
        if not named:
            return
        known = {tag.tag_name: tag for tag in self.tags.get_many(sorted(named))}
        for name in sorted(named):
            # A deleted tag has no type; its job has not processed the asset yet.
            tag = known.get(name) or Tag(tag_name=name, description="", tag_type_name="")
            require(self.authorization, caller, "PUT", _secured_tag(tag))

    def _visible_tag(self, caller: Identity, tag_name: str) -> Tag:
        tag = self.tags.get(tag_name)
        if tag is None or not self._may_see(caller, tag):
            raise TagNotFoundError(tag_name)
        return tag

    def _visible_type(self, caller: Identity, tag_type_name: str) -> TagType:
        may_see = self._may_see_type(caller, tag_type_name)
        tag_type = self.types.get(tag_type_name) if may_see else None
        if tag_type is None:
            raise TagTypeNotFoundError(tag_type_name)
        return tag_type


def _attributes(tag_type: TagType) -> dict[str, Any]:
    """Return a tag type as its audit entries contain it, without the count of its tags."""
    return tag_type.model_dump(by_alias=True, exclude={"tag_count"})


def _secured_tag(tag: Tag) -> Secured:
    named = {"tagName": tag.tag_name, "tagTypeName": tag.tag_type_name}
    return Secured("tag", {**named, "databaseId": GLOBAL})


def _secured_type(tag_type_name: str) -> Secured:
    return Secured("tagType", {"tagTypeName": tag_type_name, "databaseId": GLOBAL})
