"""Databases, tags, tag types, API keys and the version."""

from collections.abc import Iterator
from typing import Literal

from vitrine import api_models as api
from vitrine.api_models import Purge as Purge
from vitrine.models import (
    GLOBAL,
    ApiKey,
    Created,
    Database,
    DatabaseCreated,
    Message,
    Operation,
    Tag,
    TagDeleted,
    TagType,
    Version,
)
from vitrine.resources.resource import Resource
from vitrine.resources.resource import given as given
from vitrine.resources.resource import if_match as if_match
from vitrine.transport import parse, path_of


class Databases(Resource):
    def create(
        self,
        database_id: str,
        *,
        description: str,
        default_bucket_id: str,
        restrict_metadata_outside_schemas: bool | None = None,
        restrict_file_uploads_to_extensions: str | None = None,
        processing: bool | None = None,
    ) -> DatabaseCreated:
        """Create a database. Raises ConflictError if the id is in use."""
        body = api.CreateDatabaseBody(
            database_id=database_id,
            description=description,
            default_bucket_id=default_bucket_id,
            restrict_metadata_outside_schemas=restrict_metadata_outside_schemas,
            restrict_file_uploads_to_extensions=restrict_file_uploads_to_extensions,
            processing=processing,
        )
        return self._transport.write(DatabaseCreated, "POST", path_of("database"), body=body)

    def get(self, database_id: str, *, show_deleted: bool | None = None) -> Database:
        """Return the database with its revision, or else the last deleted one with that id.

        Raises NotFoundError if it is absent or hidden.
        """
        response = self._transport.send(
            "GET", path_of("database", database_id), query={"showDeleted": show_deleted}
        )
        database = parse(Database, response)
        return database.model_copy(update={"revision": response.headers.get("ETag")})

    def list(
        self, *, page_size: int | None = None, show_deleted: bool | None = None
    ) -> Iterator[Database]:
        return self._transport.pages(
            Database,
            path_of("database"),
            query={"showDeleted": show_deleted},
            page_size=page_size,
        )

    def update(
        self,
        database_id: str,
        *,
        description: str | None = None,
        default_bucket_id: str | None = None,
        restrict_metadata_outside_schemas: bool | None = None,
        restrict_file_uploads_to_extensions: str | None = None,
        processing: bool | None = None,
        revision: str | None = None,
    ) -> Operation:
        """Change the passed fields. Raises RevisionConflictError if `revision` is outdated."""
        body = api.UpdateDatabaseBody(
            description=description,
            default_bucket_id=default_bucket_id,
            restrict_metadata_outside_schemas=restrict_metadata_outside_schemas,
            restrict_file_uploads_to_extensions=restrict_file_uploads_to_extensions,
            processing=processing,
        )
        return self._transport.write(
            Operation,
            "PUT",
            path_of("database", database_id),
            body=body,
            headers=if_match(revision),
        )

    def delete(self, database_id: str) -> Message:
        """Delete a database. Raises ConflictError if it contains active assets."""
        return self._transport.write(Message, "DELETE", path_of("database", database_id))

    def purge(
        self, database_id: str, *, reason: str | None = None, revision: str | None = None
    ) -> Purge:
        """Start the job that permanently removes the remains of a deleted database.

        Raises:
            ConflictError: a database with the id is active, or it is already being purged.
            RevisionConflictError: `revision` is outdated.
        """
        response = self._transport.send(
            "DELETE",
            path_of("database", database_id),
            query={"purge": True},
            body=api.DeleteDatabaseBody(confirm_permanent_delete=True, reason=reason),
            headers=if_match(revision),
            repeatable=False,  # a second request would be refused because of the first
        )
        return parse(Purge, response)


class Tags(Resource):
    """Tags. `database_id` is the scope: the database, or `GLOBAL` for all of them."""

    def list(
        self,
        *,
        database_id: str | None = None,
        scope: Literal["global", "all"] | None = None,
        page_size: int | None = None,
    ) -> Iterator[Tag]:
        """List the tags of all scopes, or of one: `scope` can be `global`."""
        query = {"databaseId": database_id, "scope": scope}
        return self._transport.pages(Tag, path_of("tags"), query=query, page_size=page_size)

    def create(
        self, tag_name: str, *, description: str, tag_type_name: str, database_id: str = GLOBAL
    ) -> Created:
        """Create a tag. Its type must be of the same scope."""
        body = _tag(tag_name, description, tag_type_name, database_id)
        return self._transport.write(Created, "POST", path_of("tags"), body=body)

    def update(
        self, tag_name: str, *, description: str, tag_type_name: str, database_id: str = GLOBAL
    ) -> Operation:
        body = _tag(tag_name, description, tag_type_name, database_id)
        return self._transport.write(Operation, "PUT", path_of("tags"), body=body)

    def delete(self, tag_name: str, *, database_id: str = GLOBAL) -> TagDeleted:
        path, query = path_of("tags", tag_name), {"databaseId": database_id}
        return parse(TagDeleted, self._transport.send("DELETE", path, query=query))


def _tag(tag_name: str, description: str, tag_type_name: str, database_id: str) -> api.TagsBody:
    return api.TagsBody(
        tag_name=tag_name,
        description=description,
        tag_type_name=tag_type_name,
        database_id=database_id,
    )


class TagTypes(Resource):
    """Tag types. `database_id` is the scope: the database, or `GLOBAL` for all of them."""

    def list(
        self,
        *,
        database_id: str | None = None,
        scope: Literal["global", "all"] | None = None,
        page_size: int | None = None,
    ) -> Iterator[TagType]:
        """List the tag types of all scopes, or of one: `scope` can be `global`."""
        query = {"databaseId": database_id, "scope": scope}
        return self._transport.pages(
            TagType, path_of("tag-types"), query=query, page_size=page_size
        )

    def create(
        self,
        tag_type_name: str,
        *,
        description: str,
        required: bool = False,
        database_id: str = GLOBAL,
    ) -> Created:
        body = _tag_type(tag_type_name, description, required, database_id)
        return self._transport.write(Created, "POST", path_of("tag-types"), body=body)

    def update(
        self, tag_type_name: str, *, description: str, required: bool, database_id: str = GLOBAL
    ) -> Operation:
        body = _tag_type(tag_type_name, description, required, database_id)
        return self._transport.write(Operation, "PUT", path_of("tag-types"), body=body)

    def delete(self, tag_type_name: str, *, database_id: str = GLOBAL) -> Operation:
        """Delete a tag type. Raises ConflictError while a tag has this type."""
        path, query = path_of("tag-types", tag_type_name), {"databaseId": database_id}
        return parse(Operation, self._transport.send("DELETE", path, query=query))


def _tag_type(name: str, description: str, required: bool, database_id: str) -> api.TagTypesBody:
    return api.TagTypesBody(
        tag_type_name=name,
        description=description,
        required="True" if required else "False",
        database_id=database_id,
    )


class _Keys(Resource):
    """The operations that all keys and the caller's own have in common."""

    _path: tuple[str, ...]

    def get(self, api_key_id: str) -> ApiKey:
        """Return a key. Raises NotFoundError if it is absent or hidden."""
        return self._transport.read(ApiKey, path_of(*self._path, api_key_id))

    def update(
        self,
        api_key_id: str,
        *,
        description: str | None = None,
        expires_at: str | None = None,
        is_active: Literal["true", "false"] | None = None,
    ) -> ApiKey:
        """Change a key. Raises PermissionDeniedError if an administrator ended an own key."""
        body = api.UpdateApiKeyBody(
            description=description, expires_at=expires_at, is_active=is_active
        )
        path = path_of(*self._path, api_key_id)
        return self._transport.write(ApiKey, "PUT", path, body=body)

    def delete(self, api_key_id: str) -> Message:
        return self._transport.write(Message, "DELETE", path_of(*self._path, api_key_id))


class ApiKeys(_Keys):
    _path = ("auth", "api-keys")

    def list(
        self, *, show_sessions: bool | None = None, page_size: int | None = None
    ) -> Iterator[ApiKey]:
        """List keys; with `show_sessions` also the sessions of browsers, whose `kind` is set."""
        query = {"showSessions": show_sessions}
        return self._transport.pages(ApiKey, path_of(*self._path), query=query, page_size=page_size)

    def create(
        self, api_key_name: str, *, user_id: str, description: str, expires_at: str | None = None
    ) -> ApiKey:
        """Create a key, which only this reply contains."""
        body = api.CreateApiKeyBody(
            api_key_name=api_key_name,
            user_id=user_id,
            description=description,
            expires_at=expires_at,
        )
        return self._transport.write(ApiKey, "POST", path_of(*self._path), body=body)


class OwnApiKeys(_Keys):
    """The caller's own keys; sessions and keys of others are absent."""

    _path = ("auth", "user", "api-keys")

    def list(self, *, page_size: int | None = None) -> Iterator[ApiKey]:
        return self._transport.pages(ApiKey, path_of(*self._path), page_size=page_size)

    def create(self, api_key_name: str, *, description: str, expires_at: str) -> ApiKey:
        """Create a key for at most 365 days, which only this reply contains."""
        body = api.CreateOwnApiKeyBody(
            api_key_name=api_key_name, description=description, expires_at=expires_at
        )
        return self._transport.write(ApiKey, "POST", path_of(*self._path), body=body)


class Versions(Resource):
    def get(self) -> Version:
        """Return the server's version; needs no credentials."""
        return self._transport.read(Version, path_of("api", "version"))
