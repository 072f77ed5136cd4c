"""The routes of databases."""

from collections.abc import Callable

from backend.core.clock import iso
from backend.core.errors import InvalidInputError
from backend.domains.databases.models import (
    CountedDatabase,
    CreateDatabaseBody,
    Database,
    UpdateDatabaseBody,
)
from backend.domains.databases.models.replies import (
    CreateDatabaseReply,
    DatabasePath,
    DatabaseQuery,
    DatabaseReply,
    DatabasesQuery,
    DatabasesReply,
    DeleteDatabaseBody,
    DeleteDatabaseQuery,
    DeleteDatabaseReply,
    UpdateDatabaseReply,
)
from backend.domains.databases.service import DatabaseService, Purges
from backend.http.call import Call
from backend.http.router import Reply, Router
from backend.spec import routes


def build_router(service: DatabaseService, purges: Callable[[], Purges]) -> Router:
    """Bind the routes of databases.

    `purges` returns the service that starts purges, which few requests need.
    """
    router = Router()
    _bind_reads(router, service)
    _bind_writes(router, service)
    _bind_deletion(router, service, purges)
    return router


def _bind_writes(router: Router, service: DatabaseService) -> None:
    @router.bind(routes.CREATE_DATABASE)
    def create_database(call: Call, body: CreateDatabaseBody) -> Reply[CreateDatabaseReply]:
        database = service.create_database(call.caller, body)
        message = f"Database {database.database_id} was created"
        return Reply(
            CreateDatabaseReply(database_id=database.database_id, message=message),
            headers=_etag(database),
        )

    @router.bind(routes.UPDATE_DATABASE)
    def update_database(
        call: Call, path: DatabasePath, body: UpdateDatabaseBody
    ) -> Reply[UpdateDatabaseReply]:
        database = service.update_database(
            call.caller, path.database_id, body, expected_revision=call.expected_revision
        )
        reply = UpdateDatabaseReply(
            message=f"Database {database.database_id} was changed",
            database_id=database.database_id,
            timestamp=iso(service.clock()),
        )
        return Reply(reply, headers=_etag(database))


def _bind_deletion(router: Router, service: DatabaseService, purges: Callable[[], Purges]) -> None:
    @router.bind(routes.DELETE_DATABASE)
    def delete_database(
        call: Call, path: DatabasePath, query: DeleteDatabaseQuery, body: DeleteDatabaseBody
    ) -> DeleteDatabaseReply:
        database_id, revision = path.database_id, call.expected_revision
        if not query.purge:
            service.delete_database(call.caller, database_id, expected_revision=revision)
            return DeleteDatabaseReply(message=f"Database {database_id} was deleted")
        if not body.confirm_permanent_delete:
            fact = "must be true to confirm the operation"
            raise InvalidInputError.of("confirmPermanentDelete", fact)
        started = purges().purge_database(
            call.caller, database_id, reason=body.reason, expected_revision=revision
        )
        return DeleteDatabaseReply(
            message=f"Database {database_id} is being purged by job {started.job_id}",
            job_id=started.job_id,
            job_state=started.job_state,
        )


def _bind_reads(router: Router, service: DatabaseService) -> None:
    @router.bind(routes.LIST_DATABASES)
    def list_databases(call: Call, query: DatabasesQuery) -> DatabasesReply:
        page = service.list_databases(
            call.caller, call.page(query), show_deleted=query.show_deleted
        )
        return DatabasesReply(
            items=[_reply(service, database) for database in service.counted(page.items)],
            next_token=call.next_token(page.after),
        )

    @router.bind(routes.GET_DATABASE)
    def get_database(call: Call, path: DatabasePath, query: DatabaseQuery) -> Reply[DatabaseReply]:
        database = service.describe_database(
            call.caller, path.database_id, show_deleted=query.show_deleted
        )
        return Reply(_reply(service, database), headers=_etag(database))


def _etag(database: Database) -> dict[str, str]:
    return {"ETag": f'"{database.revision}"'}


def _reply(service: DatabaseService, database: CountedDatabase) -> DatabaseReply:
    bucket = service.bucket_of(database)
    return DatabaseReply.model_validate(
        {
            **database.model_dump(),
            "bucket_name": bucket.bucket_name,
            "base_assets_prefix": bucket.base_assets_prefix,
        }
    )
