"""The expected content of lists, searches and exports: ids, totals and counts.

`actual` reads a reply; `expected` is what it must contain, from the lists for administrators and
the meaning of the rules.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from backend.spec import routes
from backend.spec.routes import Route
from tests.unit.domains.access.matrix.states import ASSETS, DATABASES
from tests.unit.domains.access.matrix.world import Question
from tests.unit.large.generated.drawing import Json
from tests.unit.large.generated.ground import items, seen
from tests.unit.large.generated.oracle import Request, sees_sign_in, visible


class Showing(NamedTuple):
    actual: Callable[[Any], Any]
    expected: Callable[[Request], Any]


SENT: dict[Route, Json] = {
    routes.SEARCH: {"size": 100, "aggregations": True},
    routes.SEARCH_SIMPLE: {"size": 100},
    routes.EXPORT_ASSETS: {"fetchEntireChildrenSubtrees": True, "includeParentRelationships": True},
}


def sent(route: Route, question: Question) -> Question:
    """The request of the matrix, with everything that a reply can contain."""
    if route not in SENT:
        return question
    return Question(question.parameters, question.query, {**question.body, **SENT[route]})


def _rows_where(
    key: Callable[[Json], Any], kind: str, fields: Callable[[Json], Any]
) -> Callable[[Request], list[Any]]:
    def wanted(request: Request) -> list[Any]:
        return sorted(key(row) for row in _rows(request) if request.can("GET", kind, fields(row)))

    return wanted


def _rows(request: Request, route: Route | None = None) -> list[Json]:
    facts, of = request.facts, route or request.route
    return facts.archived[of] if request.state == "archived" else facts.everything[of]


def _listing(kind: str, key: str, fields: Callable[[Json], Any]) -> Showing:
    """A list of rows with an id each, left out where their fields are not for the caller."""
    return Showing(
        _ids(key),
        _rows_where(lambda row: row[key], kind, fields),
    )


def _ids(key: str) -> Callable[[Any], list[str]]:
    def ids_in(body: Any) -> list[str]:
        return sorted(row[key] for row in items(body))

    return ids_in


def _pages(body: Any) -> list[str]:
    return [page["route__path"] for page in body["allowedRoutes"]]


def _of(*names: str, **others: str) -> Callable[[Json], Json]:
    return lambda row: {name: row[others.get(name, name)] for name in (*names, *others)}


def _in_database(request: Request) -> list[str]:
    database_id = DATABASES[request.state]
    return sorted(
        row["assetId"]
        for row in _rows(request, routes.LIST_ALL_ASSETS)
        if row["databaseId"] == database_id and request.can("GET", "asset", seen(row))
    )


def _in_databases(request: Request) -> list[str]:
    """This list goes through the databases: it needs sight of both."""
    return sorted(
        row["assetId"]
        for row in _rows(request)
        if request.can("GET", "database", {"databaseId": row["databaseId"]})
        and request.can("GET", "asset", seen(row))
    )


def _defined(route: Route, kind: str, *names: str) -> Showing:
    """Pipelines or workflows of one database; `names` are the fields that rules may name."""
    key = names[1]

    def wanted(request: Request) -> list[str]:
        return sorted(
            row[key]
            for row in _rows(request, route)
            if row["databaseId"] == DATABASES[request.state]
            and request.can("GET", kind, {name: row[name] for name in names})
        )

    return Showing(_ids(key), wanted)


def _tag_types(body: Any) -> dict[str, list[str]]:
    return {row["tagTypeName"]: row["tags"] for row in items(body)}


def _wanted_tag_types(request: Request) -> dict[str, list[str]]:
    """Types, each with those of its tags that are visible."""
    tags = [
        row
        for row in request.facts.everything[routes.LIST_TAGS]
        if request.can("GET", "tag", _of("tagName", "tagTypeName")(row))
    ]
    return {
        name: sorted(row["tagName"] for row in tags if row["tagTypeName"] == name)
        for name in (row["tagTypeName"] for row in _rows(request))
        if request.can("GET", "tagType", {"tagTypeName": name})
    }


def _user_roles(body: Any) -> dict[str, list[str]]:
    return {row["userId"]: sorted(row["roleName"]) for row in items(body)}


def _wanted_user_roles(request: Request) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row in request.facts.everything[routes.LIST_USER_ROLES]:
        for name in row["roleName"]:
            if request.can("GET", "userRole", {"userId": row["userId"], "roleName": name}):
                found.setdefault(row["userId"], []).append(name)
    return {user_id: sorted(names) for user_id, names in found.items()}


def _wanted_sign_ins(request: Request) -> list[str]:
    roles = _user_roles({"Items": request.facts.everything[routes.LIST_USER_ROLES]})
    names = (row["userId"] for row in _rows(request))
    return sorted(name for name in names if sees_sign_in(request.facts, name, *roles.get(name, ())))


def _wanted_subscriptions(request: Request) -> list[str]:
    return sorted(visible(request.facts, (row["entityId"] for row in _rows_now(request))))


def _wanted_keys(request: Request) -> list[str]:
    mine = request.facts.who.user_id
    return sorted(row["apiKeyId"] for row in _rows_now(request) if row["userId"] == mine)


def _rows_now(request: Request) -> list[Json]:
    return request.facts.everything[request.route]


def _wanted_buckets(request: Request) -> list[str]:
    names = [row["bucketId"] for row in _rows_now(request)]
    facts = request.facts
    return [each for each in names if not facts.is_denied("GET", "bucket", {"bucketId": each})]


def _wanted_pages(request: Request) -> list[str]:
    paths = [page["route__path"] for page in request.question.body["routes"]]
    return [path for path in paths if request.can("GET", "web", {"route__path": path})]


class _Family(NamedTuple):
    """Assets visible from an asset: their ids, and the number of linked hidden ones."""

    shown: list[str]
    hidden: int


def _ends(request: Request, asset_id: str, place: int) -> set[str]:
    """The active assets at the other end of links from (0) or to (1) an asset."""
    found = {edge[1 - place] for edge in request.facts.edges if edge[place] == asset_id}
    return {name for name in found if not request.facts.assets[name].is_archived}


def _parted(request: Request, names: set[str]) -> _Family:
    shown = visible(request.facts, names)
    return _Family(sorted(shown), len(names) - len(shown))


def _links(body: Any) -> dict[str, _Family]:
    counts = body["unauthorizedCounts"]
    return {
        kind: _Family(sorted(each["assetId"] for each in body[kind]), counts[kind])
        for kind in ("children", "parents", "related")
    }


def _wanted_links(request: Request) -> dict[str, _Family]:
    _, asset_id = ASSETS[request.state]
    children, parents = (_parted(request, _ends(request, asset_id, place)) for place in (0, 1))
    return {"children": children, "parents": parents, "related": _Family([], 0)}


def _export(body: Any) -> tuple[_Family, int, list[tuple[str, str]]]:
    found = sorted(each["assetid"] for each in body["assets"])
    links = sorted((one["parentAssetId"], one["childAssetId"]) for one in body["relationships"])
    family = _Family(found, body["unauthorizedAssetCount"])
    return family, body["totalAssetsInTree"], links


def _wanted_export(request: Request) -> tuple[_Family, int, list[tuple[str, str]]]:
    """The tree as far as it is visible: what is below a hidden asset is not even counted."""
    _, root = ASSETS[request.state]
    shown, hidden, level = {root}, set[str](), {root}
    while level:
        below = {child for name in level for child in _ends(request, name, 0)}
        found = set(visible(request.facts, below))
        hidden |= below - found
        level = found - shown
        shown |= found
    parents = set(visible(request.facts, _ends(request, root, 1)))
    links = {edge for edge in request.facts.edges if set(edge) <= shown}
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
    found = {
        name: {one["key"]: one["doc_count"] for one in body["aggregations"][name][inner]["buckets"]}
        for name, inner in _FACETS.items()
        if "aggregations" in body
    }
    return _Found(sorted(hit["_id"] for hit in hits["hits"]), hits["total"]["value"], found)


def _wanted_search(request: Request) -> _Found:
    """Each asset is a document, and so is its one file, which has the rights of its asset."""
    facts = request.facts
    there = [
        name
        for name, one in facts.assets.items()
        if request.state == "archived" or not one.is_archived
    ]
    found = visible(facts, there)
    both = [one.fields for one in found.values()] * 2
    facets = {
        "str_assettype": _counted(str(one.fields["assetType"]) for one in found.values()),
        "str_fileext": _counted(".txt" for _ in found),
        "str_assetid": _counted(found),
        "str_databaseid": _counted(str(one["databaseId"]) for one in both),
        "list_tags": _counted(tag for one in both for tag in one["tags"]),
    }
    ids = sorted([*found, *(f"{name}/a.txt" for name in found)])
    return _Found(ids, len(ids), facets if request.route is routes.SEARCH else {})


def _counted(values: Iterable[str]) -> dict[str, int]:
    return dict(Counter([*values]))


_OF_PIPELINES = ("databaseId", "pipelineId", "pipelineType", "pipelineExecutionType")
_OF_WORKFLOWS = ("databaseId", "workflowId")

SHOWINGS: dict[Route, Showing] = {
    routes.LIST_ALL_ASSETS: Showing(_ids("assetId"), _in_databases),
    routes.LIST_ASSETS: Showing(_ids("assetId"), _in_database),
    routes.LIST_DATABASES: _listing("database", "databaseId", _of("databaseId")),
    routes.LIST_TAGS: _listing("tag", "tagName", _of("tagName", "tagTypeName")),
    routes.LIST_TAG_TYPES: Showing(_tag_types, _wanted_tag_types),
    routes.LIST_ROLES: _listing("role", "roleName", _of("roleName")),
    routes.LIST_USER_ROLES: Showing(_user_roles, _wanted_user_roles),
    routes.LIST_COGNITO_USERS: Showing(_ids("userId"), _wanted_sign_ins),
    routes.LIST_METADATA_SCHEMAS: _listing(
        "metadataSchema",
        "metadataSchemaId",
        _of("databaseId", "metadataSchemaEntityType", metadataSchemaName="schemaName"),
    ),
    routes.LIST_ALL_PIPELINES: _listing("pipeline", "pipelineId", _of(*_OF_PIPELINES)),
    routes.LIST_PIPELINES: _defined(routes.LIST_ALL_PIPELINES, "pipeline", *_OF_PIPELINES),
    routes.LIST_ALL_WORKFLOWS: _listing("workflow", "workflowId", _of(*_OF_WORKFLOWS)),
    routes.LIST_WORKFLOWS: _defined(routes.LIST_ALL_WORKFLOWS, "workflow", *_OF_WORKFLOWS),
    routes.LIST_SUBSCRIPTIONS: Showing(_ids("entityId"), _wanted_subscriptions),
    routes.LIST_API_KEYS: Showing(_ids("apiKeyId"), _wanted_keys),
    routes.LIST_BUCKETS: Showing(_ids("bucketId"), _wanted_buckets),
    routes.LIST_ALLOWED_ROUTES: Showing(_pages, _wanted_pages),
    routes.LIST_LINKS: Showing(_links, _wanted_links),
    routes.EXPORT_ASSETS: Showing(_export, _wanted_export),
    routes.SEARCH: Showing(_search, _wanted_search),
    routes.SEARCH_SIMPLE: Showing(_search, _wanted_search),
}
