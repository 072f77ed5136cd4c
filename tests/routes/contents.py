"""The expected content of lists, searches and exports: ids, totals and counts.

`read` finds it in a reply; `expected` calculates it from the lists for administrators and the
meaning of the rules.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from backend.spec import routes
from backend.spec.routes import Route
from tests.routes.facts import items, seen, visible
from tests.routes.meaning import Json
from tests.routes.model import FORBIDDEN, Attempt, Content
from tests.routes.needs import may_use, sees_sign_in
from tests.unit.domains.access.matrix.states import ASSETS, DATABASES


def _rows(attempt: Attempt, route: Route | None = None) -> list[Json]:
    facts, of = attempt.facts, route or attempt.route
    return facts.archived[of] if attempt.state == "archived" else facts.everything[of]


def _listing(kind: str, key: str, fields: Callable[[Json], Any]) -> Content:
    """A list of rows with an id each, left out where their fields are not for the caller."""

    def wanted(attempt: Attempt) -> list[Any]:
        rows = (row for row in _rows(attempt) if attempt.can("GET", kind, fields(row)))
        return sorted(row[key] for row in rows)

    return Content(_ids(key), wanted)


def _ids(key: str) -> Callable[[Any], list[str]]:
    def ids_in(body: Any) -> list[str]:
        return sorted(row[key] for row in items(body))

    return ids_in


def _pages(body: Any) -> list[str]:
    return [page["route__path"] for page in body["allowedRoutes"]]


def _of(*names: str, **others: str) -> Callable[[Json], Json]:
    return lambda row: {name: row[others.get(name, name)] for name in (*names, *others)}


def _in_database(attempt: Attempt) -> list[str]:
    database_id = DATABASES[attempt.state]
    return sorted(
        row["assetId"]
        for row in _rows(attempt, routes.LIST_ALL_ASSETS)
        if row["databaseId"] == database_id and attempt.can("GET", "asset", seen(row))
    )


def _in_databases(attempt: Attempt) -> list[str]:
    """This list goes through the databases: it needs sight of both."""
    return sorted(
        row["assetId"]
        for row in _rows(attempt)
        if attempt.can("GET", "database", {"databaseId": row["databaseId"]})
        and attempt.can("GET", "asset", seen(row))
    )


def _defined(route: Route, kind: str, *names: str) -> Content:
    """Pipelines or workflows of one database; `names` are the fields that rules may name."""
    key = names[1]

    def wanted(attempt: Attempt) -> list[str]:
        return sorted(
            row[key]
            for row in _rows(attempt, route)
            if row["databaseId"] == DATABASES[attempt.state]
            and attempt.can("GET", kind, {name: row[name] for name in names})
        )

    return Content(_ids(key), wanted)


def _tag(row: Json) -> Json:
    return {**_of("tagName", "tagTypeName")(row), "databaseId": "GLOBAL"}


def _tag_types(body: Any) -> dict[str, list[str]]:
    return {row["tagTypeName"]: row["tags"] for row in items(body)}


def _wanted_tag_types(attempt: Attempt) -> dict[str, list[str]]:
    """Types, each with those of its tags that are visible."""
    tags = [
        row
        for row in attempt.facts.everything[routes.LIST_TAGS]
        if attempt.can("GET", "tag", _tag(row))
    ]
    return {
        name: sorted(row["tagName"] for row in tags if row["tagTypeName"] == name)
        for name in (row["tagTypeName"] for row in _rows(attempt))
        if attempt.can("GET", "tagType", {"tagTypeName": name, "databaseId": "GLOBAL"})
    }


def _user_roles(body: Any) -> dict[str, list[str]]:
    return {row["userId"]: sorted(row["roleName"]) for row in items(body)}


def _wanted_user_roles(attempt: Attempt) -> dict[str, list[str]]:
    result: dict[str, list[str]] = {}
    for row in attempt.facts.everything[routes.LIST_USER_ROLES]:
        for name in row["roleName"]:
            if attempt.can("GET", "userRole", {"userId": row["userId"], "roleName": name}):
                result.setdefault(row["userId"], []).append(name)
    return {user_id: sorted(names) for user_id, names in result.items()}


def _wanted_sign_ins(attempt: Attempt) -> list[str]:
    roles = _user_roles({"Items": attempt.facts.everything[routes.LIST_USER_ROLES]})
    names = (row["userId"] for row in _rows(attempt))
    return sorted(name for name in names if sees_sign_in(attempt.facts, name, *roles.get(name, ())))


def _wanted_subscriptions(attempt: Attempt) -> list[str]:
    return sorted(visible(attempt.facts, (row["entityId"] for row in _rows_now(attempt))))


def _wanted_keys(attempt: Attempt) -> list[str]:
    facts = attempt.facts
    return sorted(
        row["apiKeyId"]
        for row in _rows_now(attempt)
        if row["userId"] == facts.who.user_id or facts.is_administrator
    )


def _wanted_own_keys(attempt: Attempt) -> list[str]:
    rows = attempt.facts.everything[routes.LIST_API_KEYS]
    return sorted(row["apiKeyId"] for row in rows if row["userId"] == attempt.facts.who.user_id)


def _api_routes(body: Any) -> dict[str, set[str]]:
    return {item["path"]: set(item["methods"]) for item in body["routes"]}


def _wanted_api_routes(attempt: Attempt) -> dict[str, set[str]]:
    """Those that tier 1 allows in their declared form; administrators keep those of constraints."""

    def allows(route: Route) -> bool:
        names = re.findall(r"\{([\w:]+)\+?\}", route.path)
        keeps = route.object_type == "constraint" and attempt.facts.is_administrator
        return keeps or may_use(attempt.facts, route, {name: f"{{{name}}}" for name in names})

    methods: dict[str, set[str]] = {}
    for route in routes.ROUTES:
        others = route.also_one_of
        is_open = route.public or route.open_to_users
        if (is_open or allows(route)) and (not others or any(map(allows, others))):
            methods.setdefault(route.path, set()).add(route.method)
    return methods


def _rows_now(attempt: Attempt) -> list[Json]:
    return attempt.facts.everything[attempt.route]


def _wanted_buckets(attempt: Attempt) -> list[str]:
    names = [row["bucketId"] for row in _rows_now(attempt)]
    facts = attempt.facts
    return [name for name in names if not facts.is_denied("GET", "bucket", {"bucketId": name})]


def _wanted_pages(attempt: Attempt) -> list[str]:
    paths = [page["route__path"] for page in attempt.question.body["routes"]]
    return [path for path in paths if attempt.can("GET", "web", {"route__path": path})]


class _Family(NamedTuple):
    """Assets visible from an asset: their ids, and the number of linked hidden ones."""

    shown: list[str]
    hidden: int


def _ends(attempt: Attempt, asset_id: str, place: int) -> set[str]:
    """The active assets at the other end of links from (0) or to (1) an asset."""
    edges = {edge[1 - place] for edge in attempt.facts.edges if edge[place] == asset_id}
    return {name for name in edges if not attempt.facts.assets[name].is_archived}


def _parted(attempt: Attempt, names: set[str]) -> _Family:
    shown = visible(attempt.facts, names)
    return _Family(sorted(shown), len(names) - len(shown))


def _links(body: Any) -> dict[str, _Family]:
    counts = body["unauthorizedCounts"]
    return {
        kind: _Family(sorted(item["assetId"] for item in body[kind]), counts[kind])
        for kind in ("children", "parents", "related")
    }


def _wanted_links(attempt: Attempt) -> dict[str, _Family]:
    _, asset_id = ASSETS[attempt.state]
    children, parents = (_parted(attempt, _ends(attempt, asset_id, place)) for place in (0, 1))
    return {"children": children, "parents": parents, "related": _Family([], 0)}


def _export(body: Any) -> tuple[_Family, int, list[tuple[str, str]]]:
    assetids = sorted(asset["assetid"] for asset in body["assets"])
    links = sorted(
        (relationship["parentAssetId"], relationship["childAssetId"])
        for relationship in body["relationships"]
    )
    family = _Family(assetids, body["unauthorizedAssetCount"])
    return family, body["totalAssetsInTree"], links


def _wanted_export(attempt: Attempt) -> tuple[_Family, int, list[tuple[str, str]]]:
    """The tree as far as it is visible: what is below a hidden asset is not even counted."""
    _, root = ASSETS[attempt.state]
    shown, hidden, level = {root}, set[str](), {root}
    while level:
        below = {child for name in level for child in _ends(attempt, name, 0)}
        result = set(visible(attempt.facts, below))
        hidden |= below - result
        level = result - shown
        shown |= result
    parents = set(visible(attempt.facts, _ends(attempt, root, 1)))
    links = {edge for edge in attempt.facts.edges if set(edge) <= shown}
    links |= {(parent, root) for parent in parents}
    return _Family(sorted(shown), len(hidden)), len(shown), sorted(links)


class _Found(NamedTuple):
    ids: list[str]
    total: int
    facets: dict[str, dict[str, int]]


_FACETS = {
    "str_assettype": "filtered_assettype",
    "str_fileext": "filtered_fileext",
    "str_assetid": "filtered_assetid",
    "str_databaseid": "filtered_databaseid",
    "list_tags": "filtered_tags",
}


def _search(body: Any) -> _Found:
    hits = body["hits"]
    result = {
        name: {
            bucket["key"]: bucket["doc_count"]
            for bucket in body["aggregations"][name][inner]["buckets"]
        }
        for name, inner in _FACETS.items()
        if "aggregations" in body
    }
    ids = sorted(hit["_id"].partition(":")[2] for hit in hits["hits"])  # without the database
    return _Found(ids, hits["total"]["value"], result)


def _wanted_search(attempt: Attempt) -> _Found:
    """Each asset is a document, and so is its one file, which has the rights of its asset."""
    facts = attempt.facts
    there = [
        name
        for name, asset in facts.assets.items()
        if attempt.state == "archived" or not asset.is_archived
    ]
    result = visible(facts, there)
    both = [item.fields for item in result.values()] * 2
    facets = {
        "str_assettype": _counted(str(item.fields["assetType"]) for item in result.values()),
        "str_fileext": _counted(".txt" for _ in result),
        "str_assetid": _counted(result),
        "str_databaseid": _counted(str(item["databaseId"]) for item in both),
        "list_tags": _counted(tag for item in both for tag in item["tags"]),
    }
    ids = sorted([*result, *(f"{name}:a.txt" for name in result)])
    return _Found(ids, len(ids), facets if attempt.route is routes.SEARCH else {})


def _counted(values: Iterable[str]) -> dict[str, int]:
    return dict(Counter([*values]))


def _wanted_asset(attempt: Attempt) -> str:
    """The text of the object if its asset is visible."""
    asset = attempt.asset()
    is_seen = asset is not None and attempt.can("GET", "asset", asset)
    return str(attempt.question.shows) if is_seen else ""


def _previews(body: Any) -> dict[str, bool]:
    """Assets, and whether their previews are refused."""
    return {
        item["assetId"]: item.get("previewMissing", {}).get("reason") == "notPermitted"
        for item in body["items"]
    }


def _wanted_previews(attempt: Attempt) -> dict[str, bool]:
    """Previews are downloads, so that they need that route too."""
    database_id, asset_id = ASSETS[attempt.state]
    path = {"databaseId": database_id, "assetId": asset_id}
    is_refused = not may_use(attempt.facts, routes.DOWNLOAD, path)
    return {asset_id: is_refused} if _wanted_asset(attempt) else {}


_OF_PIPELINES = ("databaseId", "pipelineId", "pipelineType", "pipelineExecutionType")
_OF_WORKFLOWS = ("databaseId", "workflowId")
ALL_ASSETS = Content(_ids("assetId"), _in_databases)
ASSETS_OF_DATABASE = Content(_ids("assetId"), _in_database)
ALL_DATABASES = _listing("database", "databaseId", _of("databaseId"))
TAGS = _listing("tag", "tagName", _tag)
TAG_TYPES = Content(_tag_types, _wanted_tag_types)
ROLES = _listing("role", "roleName", _of("roleName"))
USER_ROLES = Content(_user_roles, _wanted_user_roles)
SIGN_INS = Content(_ids("userId"), _wanted_sign_ins)
METADATA_SCHEMAS = _listing(
    "metadataSchema",
    "metadataSchemaId",
    _of("databaseId", "metadataSchemaEntityType", metadataSchemaName="schemaName"),
)
ALL_PIPELINES = _listing("pipeline", "pipelineId", _of(*_OF_PIPELINES))
PIPELINES_OF_DATABASE = _defined(routes.LIST_ALL_PIPELINES, "pipeline", *_OF_PIPELINES)
ALL_WORKFLOWS = _listing("workflow", "workflowId", _of(*_OF_WORKFLOWS))
WORKFLOWS_OF_DATABASE = _defined(routes.LIST_ALL_WORKFLOWS, "workflow", *_OF_WORKFLOWS)
SUBSCRIPTIONS = Content(_ids("entityId"), _wanted_subscriptions)
API_KEYS = Content(_ids("apiKeyId"), _wanted_keys)
BUCKETS = Content(_ids("bucketId"), _wanted_buckets)
PAGES = Content(_pages, _wanted_pages)
OWN_API_KEYS = Content(_ids("apiKeyId"), _wanted_own_keys)
API_ROUTES = Content(_api_routes, _wanted_api_routes)
LINKS = Content(_links, _wanted_links)
EXPORT = Content(_export, _wanted_export)


def _statuses(body: Any) -> list[Json]:
    return [{"status": result["status"]} for result in body["results"]]


def _wanted_statuses(attempt: Attempt) -> list[Json]:
    """Of one asset: as the routes for it alone; a conflict names what stands there."""
    (entity,) = attempt.question.body["entities"]
    ids = {name: entity[name] for name in ("databaseId", "assetId")}
    used = (routes.GET_ASSET_METADATA, routes.UPDATE_ASSET_METADATA)
    if not all(may_use(attempt.facts, route, ids) for route in used):
        return [{"status": FORBIDDEN}]
    return [{"status": attempt.reach("asset", attempt.asset())}]


METADATA_BATCH = Content(_statuses, _wanted_statuses)
SEARCH = Content(_search, _wanted_search)
ASSET = Content(None, _wanted_asset)
"""Of lists of what belongs to assets."""
PREVIEWS = Content(_previews, _wanted_previews)
