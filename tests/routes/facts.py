"""The rules and objects that exist while requests are sent, read from administrators' lists."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from backend.spec import routes
from backend.spec.routes import Route
from tests.routes.meaning import Fields, Grantee, Json, allowed, effects, granted, has_own_rules
from tests.routes.meaning import names_tag as rules_name_tag
from tests.routes.model import rows_of
from tests.unit.domains.access.matrix.seeding import THERE, Seeded
from tests.unit.domains.access.matrix.states import ASSETS

LISTS = (
    *(routes.LIST_ALL_ASSETS, routes.LIST_DATABASES, routes.LIST_TAGS, routes.LIST_TAG_TYPES),
    *(routes.LIST_ROLES, routes.LIST_USER_ROLES, routes.LIST_COGNITO_USERS),
    *(routes.LIST_METADATA_SCHEMAS, routes.LIST_SUBSCRIPTIONS, routes.LIST_API_KEYS),
    *(routes.LIST_BUCKETS, routes.LIST_ALL_PIPELINES, routes.LIST_ALL_WORKFLOWS),
)
_EVERY_ACTION = ("GET", "PUT", "POST", "DELETE")


class AssetFacts(NamedTuple):
    fields: Fields
    is_archived: bool


class Facts(NamedTuple):
    """The rules of a caller, and the objects of a world."""

    rules: tuple[Json, ...]
    """That give the caller something."""
    all_rules: tuple[Json, ...]
    who: Grantee
    assets: Mapping[str, AssetFacts]
    everything: Mapping[Route, list[Json]]
    """The items that an administrator's lists contain, by route."""
    archived: Mapping[Route, list[Json]]
    edges: tuple[tuple[str, str], ...]
    """Of links, from parent to child."""
    new_bucket: str

    @property
    def is_administrator(self) -> bool:
        return "admin" in self.who.roles

    def of(self, who: Grantee, all_rules: Iterable[Json]) -> "Facts":
        """Return the facts for another caller and other rules."""
        rules = tuple(all_rules)
        own = (rule for rule in rules if any(granted(rule, who, item) for item in _EVERY_ACTION))
        return self._replace(rules=tuple(own), all_rules=rules, who=who)

    def can(self, action: str, kind: str, fields: Fields) -> bool:
        return allowed(self.rules, self.who, action, kind, fields)

    def is_denied(self, action: str, kind: str, fields: Fields) -> bool:
        return "deny" in effects(self.rules, self.who, action, kind, fields)

    def names_tag(self, tag: str) -> bool:
        return rules_name_tag(self.all_rules, tag)

    def has_own_rules(self, user_id: str) -> bool:
        return has_own_rules(self.all_rules, user_id)


def facts_of(world: Seeded, edges: Iterable[tuple[str, str]] = (), new_bucket: str = "") -> Facts:
    """Return the objects of a world, for a caller without rules; `edges` are added to its links."""
    archived = {
        routes.LIST_ALL_ASSETS: listed(world, routes.LIST_ALL_ASSETS, showArchived="true"),
        routes.LIST_DATABASES: listed(world, routes.LIST_DATABASES, showDeleted="true"),
    }
    everything = {route: listed(world, route) for route in LISTS}
    rows = [(row, False) for row in everything[routes.LIST_ALL_ASSETS]]
    both = archived[routes.LIST_ALL_ASSETS]
    rows += [(row, True) for row in both if row["status"] == "archived"]
    bases = ((ASSETS[state][1], f"{ASSETS[state][1]}-base") for state in THERE)
    return Facts(
        rules=(),
        all_rules=(),
        who=Grantee("", frozenset()),
        assets={row["assetId"]: AssetFacts(seen(row), there) for row, there in rows},
        everything=everything,
        archived=archived,
        edges=(*edges, *bases),
        new_bucket=new_bucket,
    )


def listed(world: Seeded, route: Route, **query: str) -> list[Json]:
    """Return the whole list of an administrator."""
    return items(world.done(route, query=query))


def items(body: Any) -> list[Json]:
    """Return the rows of a list, which must be complete: a page of it would compare less."""
    assert token_of(body) is None
    return [*rows_of(body)]


def token_of(body: Any) -> str | None:
    """Return where the list goes on; clients of VAMS find lists in several places."""
    if isinstance(body.get("message"), dict):
        body = {**body["message"], **body}
    return body.get("NextToken")


def seen(row: Json) -> Fields:
    """Return an asset as rules see it."""
    fields = {name: str(row[name]) for name in ("databaseId", "assetName", "assetType")}
    return {**fields, "tags": tuple(row["tags"])}


def visible(facts: Facts, names: Iterable[str]) -> dict[str, AssetFacts]:
    """Return those of the assets that the caller may see."""
    assets = {name: facts.assets[name] for name in names}
    return {
        name: asset for name, asset in assets.items() if facts.can("GET", "asset", asset.fields)
    }
