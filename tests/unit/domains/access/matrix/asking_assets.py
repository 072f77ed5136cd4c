"""How each route about assets asks for one in a state."""

from collections.abc import Callable, Mapping
from typing import Any

from backend.spec import routes
from backend.spec.routes import Route
from tests.unit.domains.access.matrix.roles import Role
from tests.unit.domains.access.matrix.seeding import (
    ANN,
    EVENT,
    RECORD,
    Seeded,
    job_of,
    job_of_user,
    upload_of,
)
from tests.unit.domains.access.matrix.states import ASSETS, DATABASES, State
from tests.unit.domains.access.matrix.world import Question

Json = dict[str, Any]

FILE = {"filePath": "/a.txt"}
ON_FILE = {**FILE, "type": "metadata"}
CHANGED = {**RECORD, "metadataValue": "1890"}
OTHER = {**RECORD, "metadataKey": "place"}
SAME_ASSET = {"sourcePath": "/a.txt", "destinationPath": "/parts/c.txt"}

BODIES: dict[Route, Any] = {
    routes.UPDATE_ASSET: {"description": "Bronze"},
    routes.ARCHIVE_ASSET: {"confirmArchive": True},
    routes.UNARCHIVE_ASSET: {"confirmUnarchive": True},
    routes.DELETE_ASSET: {"confirmPermanentDelete": True},
    routes.CREATE_ASSET_VERSION: {"comment": "as it is", "useLatestFiles": True},
    routes.UPDATE_ASSET_VERSION: {"versionAlias": "opening"},
    routes.REVERT_ASSET_VERSION: {"comment": "back again"},
    routes.EXPORT_ASSETS: {},
    routes.CREATE_FOLDER: {"relativeKey": "/parts/"},
    routes.MOVE_FILE: SAME_ASSET,
    routes.COPY_FILE: SAME_ASSET,
    routes.ARCHIVE_FILE: FILE,
    routes.UNARCHIVE_FILE: {"filePath": "/old.txt"},
    routes.DELETE_FILE: {**FILE, "confirmPermanentDelete": True},
    routes.REVERT_FILE_VERSION: FILE,
    routes.SET_PRIMARY_FILE: {**FILE, "primaryType": "primary"},
    routes.DELETE_AUXILIARY_FILES: FILE,
    routes.DOWNLOAD: {"downloadType": "assetFile", "key": "/a.txt"},
    routes.CREATE_ASSET_METADATA: {"metadata": [OTHER]},
    routes.UPDATE_ASSET_METADATA: {"metadata": [CHANGED]},
    routes.DELETE_ASSET_METADATA: {"metadataKeys": ["year"]},
    routes.CREATE_FILE_METADATA: {**ON_FILE, "metadata": [OTHER]},
    routes.UPDATE_FILE_METADATA: {**ON_FILE, "metadata": [CHANGED]},
    routes.DELETE_FILE_METADATA: {**ON_FILE, "metadataKeys": ["year"]},
}
QUERIES: dict[Route, Mapping[str, str]] = {
    routes.LIST_FILES: {"includeArchived": "true"},
    routes.GET_FILE: FILE,
    routes.GET_FILE_METADATA: ON_FILE,
    routes.LIST_DEPENDENTS: FILE,
    routes.LIST_SIMILAR_FILES: FILE,
    routes.GET_GLB: {"key": "/a.txt"},
    routes.COMPARE_ASSET_VERSIONS: {"from": "1", "to": "2"},
}
SHOWN_ARCHIVED = {routes.GET_ASSET, routes.LIST_ASSET_VERSIONS}
OF_LINKS: dict[Route, Any] = {
    routes.GET_LINK: None,
    routes.UPDATE_LINK: {"tags": ["old"]},
    routes.DELETE_LINK: None,
    routes.GET_LINK_METADATA: None,
    routes.CREATE_LINK_METADATA: {"metadata": [OTHER]},
    routes.UPDATE_LINK_METADATA: {"metadata": [CHANGED]},
    routes.DELETE_LINK_METADATA: {"metadataKeys": ["year"]},
}


def about_an_asset(world: Seeded, route: Route, role: Role, state: State) -> Question:
    """By its path."""
    database_id, asset_id = ASSETS[state]
    query = dict(QUERIES.get(route, {}))
    if route in SHOWN_ARCHIVED and state == "archived":
        query = {"showArchived": "true"}
    path = {"databaseId": database_id, "assetId": asset_id, **_further(world, route, state)}
    body = BODIES.get(route)
    if route is routes.LIST_WORKFLOW_EXECUTIONS:
        query = {"workflowDatabaseId": database_id}
    elif route is routes.START_EXECUTION:
        body = {"workflowDatabaseId": database_id, "fileKey": "/b.txt"}
    return Question(path, query, body)


def _further(world: Seeded, route: Route, state: State) -> dict[str, str]:
    """What stands in the path beside the asset."""
    if "{workflowId}" in route.path:
        return {"workflowId": f"publish-{ASSETS[state][0]}"}
    if "{executionId}" in route.path:
        return {"executionId": world.executions.get(state, "none-such")}
    if "{assetVersionId}" in route.path:
        return {"assetVersionId": "0" if route is routes.UNARCHIVE_ASSET_VERSION else "1"}
    if "{versionId}" in route.path:
        versions = world.objects.list_versions("assetbucket", f"{ASSETS[state][1]}/a.txt").versions
        return {"versionId": versions[0].version_id if versions else "v000000001"}
    if "{proxy+}" in route.path:
        return {
            "proxy": "a.txt" if route.path.endswith("download/stream/{proxy+}") else "a.txt/1.bin"
        }
    return {}


def about_a_link(world: Seeded, route: Route, role: Role, state: State) -> Question:
    name = "relationId" if "{relationId}" in route.path else "assetLinkId"
    link = world.links.get(state, "00000000-0000-4000-8000-000000000000")
    return Question({name: link}, body=OF_LINKS[route])


def to_link(world: Seeded, route: Route, role: Role, state: State) -> Question:
    """From one of one's own to the asset."""
    database_id, asset_id = ASSETS[state]
    same = asset_id == "statue"
    body = {
        "fromAssetDatabaseId": "museum",
        "fromAssetId": "statue-base",
        "toAssetDatabaseId": database_id,
        "toAssetId": asset_id,
        "relationshipType": "related" if same else "parentChild",
    }
    return Question({}, body=body)


def about_a_comment(world: Seeded, route: Route, role: Role, state: State) -> Question:
    path = {"assetId": ASSETS[state][1]}
    if route is routes.LIST_VERSION_COMMENTS:
        path["assetVersionId"] = "1"
    if "commentId" in route.path:
        by = "1:a-new-one" if route is routes.CREATE_COMMENT else f"1:by-{role.user_id}"
        path["assetVersionId:commentId"] = by
    wrote = {routes.CREATE_COMMENT, routes.UPDATE_COMMENT}
    return Question(path, body={"commentBody": "Nicer"} if route in wrote else None)


def about_a_subscription(world: Seeded, route: Route, role: Role, state: State) -> Question:
    asset_id = ASSETS[state][1]
    if route is routes.LIST_SUBSCRIPTIONS:
        return Question({}, shows=f"'{asset_id}'")
    if route is routes.CHECK_SUBSCRIPTION:
        return Question({}, body={"userId": ANN, "assetId": asset_id})
    others = ["bob@example.org"] if route is routes.CREATE_SUBSCRIPTION else [ANN]
    return Question({}, body={**EVENT, "entityId": asset_id, "subscribers": others})


def about_an_upload(world: Seeded, route: Route, role: Role, state: State) -> Question:
    database_id, asset_id = ASSETS[state]
    if route is routes.LIST_UPLOADS:
        return Question({}, shows=f"'{upload_of(role.user_id, state)}'")
    path = {"uploadId": upload_of(role.user_id, state)}
    if route is routes.COMPLETE_UPLOAD:
        ended: Json = {"relativeKey": "/new.txt", "uploadIdS3": "zero-byte", "parts": []}
        of = {"databaseId": database_id, "assetId": asset_id, "uploadType": "assetFile"}
        return Question(path, body={**of, "files": [ended]})
    if route is routes.RENEW_UPLOAD:
        return Question(path, body={"files": [{"relativeKey": "/new.txt"}]})
    return Question(path)


def to_upload(world: Seeded, route: Route, role: Role, state: State) -> Question:
    database_id, asset_id = ASSETS[state]
    files = [{"relativeKey": "/new.txt", "file_size": 0}]
    of = {"databaseId": database_id, "assetId": asset_id, "uploadType": "assetFile"}
    return Question({}, body={**of, "files": files})


def to_ingest(world: Seeded, route: Route, role: Role, state: State) -> Question:
    """The asset with a file in it; the one that is absent would be in an absent database."""
    database_id, asset_id = ASSETS[state]
    body = {
        **_described(database_id if state != "absent" else DATABASES["absent"], state),
        "assetId": asset_id,
        "files": [{"relativeKey": f"{asset_id}/new.txt", "file_size": 0}],
    }
    return Question({}, body=body)


def to_make(world: Seeded, route: Route, role: Role, state: State) -> Question:
    """A new asset: in the museum, in another database, with the tag, in none."""
    return Question({}, body=_described(DATABASES.get(state, "museum"), state))


def _described(database_id: str, state: State) -> Json:
    return {
        "databaseId": database_id,
        "assetName": "A new one",
        "description": "Marble",
        "isDistributable": True,
        "tags": ["secret"] if state == "tagged" else [],
    }


def about_a_job(world: Seeded, route: Route, role: Role, state: State) -> Question:
    if route is routes.LIST_JOBS:
        return Question({}, shows=f"'{job_of_user(role.user_id, state)}'")
    return Question({"jobId": job_of(state, "failed" if route is routes.RESUME_JOB else "queued")})


def all_assets(world: Seeded, route: Route, role: Role, state: State) -> Question:
    archived = {"showArchived": "true"} if state == "archived" else {}
    return Question({}, archived, shows=f"'{ASSETS[state][1]}'")


def in_search(world: Seeded, route: Route, role: Role, state: State) -> Question:
    return Question(
        {}, body={"includeArchived": state == "archived"}, shows=f"'{ASSETS[state][1]}'"
    )


def for_previews(world: Seeded, route: Route, role: Role, state: State) -> Question:
    database_id, asset_id = ASSETS[state]
    names = [{"databaseId": database_id, "assetId": asset_id}]
    return Question({}, body={"items": names}, shows=f"'{asset_id}'")


def for_suggestions(world: Seeded, route: Route, role: Role, state: State) -> Question:
    return Question({}, {"q": "pump"})


Asker = Callable[[Seeded, Route, Role, State], Question]
BY_ROUTE: dict[Route, Asker] = {
    routes.CREATE_ASSET: to_make,
    routes.INGEST_ASSET: to_ingest,
    routes.INITIALISE_UPLOAD: to_upload,
    routes.CREATE_LINK: to_link,
    routes.LIST_ALL_ASSETS: all_assets,
    routes.SEARCH: in_search,
    routes.SEARCH_SIMPLE: in_search,
    routes.SUGGEST: for_suggestions,
    routes.LIST_PREVIEWS: for_previews,
    **dict.fromkeys(OF_LINKS, about_a_link),
}
BY_DOMAIN: dict[str, Asker] = {
    "comments": about_a_comment,
    "subscriptions": about_a_subscription,
    "uploads": about_an_upload,
    "jobs": about_a_job,
}
