"""The world of the matrix with a drawn policy in it, and its objects as rules see them.

What there is, administrators' lists name; who sees what of it, the meaning of the rules decides.
"""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from backend.core.transactions import Put, Update
from backend.spec import routes
from backend.spec.routes import Route
from backend.spec.tables.assets import ASSET_UPLOADS, ASSETS
from backend.spec.tables.registry import COMMENTS
from tests.factories.policies import indexed
from tests.routes.model import rows_of
from tests.unit.domains.access.matrix.roles import Role
from tests.unit.domains.access.matrix.seeding import THERE, Seeded, upload_of
from tests.unit.domains.access.matrix.states import ASSETS as PLACES
from tests.unit.domains.access.matrix.world import Question
from tests.unit.large.generated.drawing import (
    ANN,
    OTHER_ROLE,
    PLAIN_ROLE,
    ROLE_WITH_MFA,
    TAGS,
    USER,
    Case,
    Json,
)
from tests.unit.large.generated.meaning import Fields, Grantee, allowed, effects, names_tag

EDGES = (("statue", "painting"), ("painting", "idol"), ("statue", "idol"))
"""From parent to child, beside those from each asset to its base; the tree crosses databases."""


class AssetFacts(NamedTuple):
    fields: Fields
    is_archived: bool


class Facts(NamedTuple):
    """The rules and objects that exist during a case, and its caller."""

    rules: tuple[Json, ...]
    """Of the case; no others are given to the user."""
    standing_rules: tuple[Json, ...]
    """Of others."""
    who: Grantee
    role: Role
    assets: Mapping[str, AssetFacts]
    everything: Mapping[Route, list[Json]]
    """The items that an administrator's lists contain, by route."""
    archived: Mapping[Route, list[Json]]
    edges: tuple[tuple[str, str], ...]
    new_bucket: str

    def can(self, action: str, kind: str, fields: Fields) -> bool:
        return allowed(self.rules, self.who, action, kind, fields)

    def names_tag(self, tag: str) -> bool:
        return names_tag((*self.rules, *self.standing_rules), tag)

    def is_denied(self, action: str, kind: str, fields: Fields) -> bool:
        return "deny" in effects(self.rules, self.who, action, kind, fields)


LISTS = (
    *(routes.LIST_ALL_ASSETS, routes.LIST_DATABASES, routes.LIST_TAGS, routes.LIST_TAG_TYPES),
    *(routes.LIST_ROLES, routes.LIST_USER_ROLES, routes.LIST_COGNITO_USERS),
    *(routes.LIST_METADATA_SCHEMAS, routes.LIST_SUBSCRIPTIONS, routes.LIST_API_KEYS),
    *(routes.LIST_BUCKETS, routes.LIST_ALL_PIPELINES, routes.LIST_ALL_WORKFLOWS),
)


class GeneratedWorld(Seeded):
    """One for all cases: each is undone."""

    def __init__(self) -> None:
        super().__init__()
        self._case = 0
        for name in TAGS[2:]:
            body = {"tagName": name, "description": "A tag", "tagTypeName": "colour"}
            self.done(routes.CREATE_TAG, body=body)
        for parent, child in EDGES:
            source, target = (self._places()[name] for name in (parent, child))
            ends = {"fromAssetDatabaseId": source, "fromAssetId": parent}
            ends |= {"toAssetDatabaseId": target, "toAssetId": child}
            self.done(routes.CREATE_LINK, body={**ends, "relationshipType": "parentChild"})
        with self.rolled_back():
            made = self.done(routes.REGISTER_BUCKET, body={"bucketName": "scans"})
            self.new_bucket = str(made["bucketId"])
        self.standing_rules = tuple(self.listed(routes.LIST_CONSTRAINTS))

    def _places(self) -> dict[str, str]:
        """Databases by asset."""
        found = {asset_id: PLACES[state][0] for state in THERE for asset_id in [PLACES[state][1]]}
        return found | {f"{name}-base": database for name, database in found.items()}

    def listed(self, route: Route, **query: str) -> list[Json]:
        """All that administrators are listed, page by page."""
        return items(self.done(route, query=query))

    @contextmanager
    def under(self, case: Case) -> Generator[Facts]:
        """Put the policy and the traits of a case, for as long as it is tried."""
        self._case += 1
        user_id = f"user-drawn-{self._case}"
        documents = self.engine.documents
        with self.rolled_back():
            self._put_traits(case)
            self._put_policy(case, user_id)
            self._put_own_things(user_id)
            yield self._facts(case, user_id)
        self.engine.documents = documents
        self._forget()

    def _forget(self) -> None:
        """Drop what the fakes remember of all requests: there are hundreds of thousands."""
        self.product.changes.clear()
        self.tables.together.clear()
        self.engine.requested.clear()
        self.denials.recorded.clear()

    def _put_traits(self, case: Case) -> None:
        places = self._places()
        for (asset_id, database_id), traits in zip(places.items(), case.traits, strict=True):
            archived = "#deleted" if asset_id == PLACES["archived"][1] else ""
            key = {"databaseId": f"{database_id}{archived}", "assetId": asset_id}
            fields = {"assetName": traits.name, "assetType": traits.asset_type}
            self.tables.write(Update(table=ASSETS, key=key, set={**fields, "tags": [*traits.tags]}))

    def _put_policy(self, case: Case, user_id: str) -> None:
        for name in (PLAIN_ROLE, ROLE_WITH_MFA, OTHER_ROLE):
            fields = {
                "roleName": name,
                "description": "Drawn",
                "mfaRequired": name == ROLE_WITH_MFA,
            }
            self.done(routes.CREATE_ROLE, body=fields)
        for number, body in enumerate(rules_of(case, user_id)):
            self.done(routes.CREATE_CONSTRAINT, {"constraintId": f"drawn-{number}"}, body)
        given = {"userId": user_id, "roleName": [*case.roles]}
        self.done(routes.SET_USER_ROLES, body=given)

    def _put_own_things(self, user_id: str) -> None:
        """An upload to each asset, a comment on each, a key and a profile."""
        for state in THERE:
            key = {"uploadId": upload_of("admin", state), "assetId": PLACES[state][1]}
            upload = self.tables.get(ASSET_UPLOADS, key)
            assert upload is not None
            mine = {"uploadId": upload_of(user_id, state), "userId": user_id, "UserId": user_id}
            mine = {name: value for name, value in mine.items() if name in upload}
            self.tables.write(Put(table=ASSET_UPLOADS, item={**upload, **mine}))
            key = {"assetId": PLACES[state][1], "assetVersionId:commentId": "1:by-admin"}
            comment = self.tables.get(COMMENTS, key)
            assert comment is not None
            mine = {"assetVersionId:commentId": f"1:by-{user_id}"}
            mine |= {"commentOwnerID": user_id, "commentOwnerUsername": user_id}
            self.tables.write(Put(table=COMMENTS, item={**comment, **mine}))
        robot = {"apiKeyName": "Robot", "userId": user_id, "description": "For the lab"}
        self.keys[user_id] = self.done(routes.CREATE_API_KEY, body=robot)["apiKeyId"]
        profile = Question({"userId": user_id}, body={"email": ANN})
        assert self.send(routes.UPDATE_LOGIN_PROFILE, profile, user_id=user_id).status == 200

    def _facts(self, case: Case, user_id: str) -> Facts:
        archived = {
            routes.LIST_ALL_ASSETS: self.listed(routes.LIST_ALL_ASSETS, showArchived="true"),
            routes.LIST_DATABASES: self.listed(routes.LIST_DATABASES, showDeleted="true"),
        }
        everything = {route: self.listed(route) for route in LISTS}
        rows = [(row, False) for row in everything[routes.LIST_ALL_ASSETS]]
        both = archived[routes.LIST_ALL_ASSETS]
        rows += [(row, True) for row in both if row["status"] == "archived"]
        self.engine.documents = [each for row, there in rows for each in _documents(row, there)]
        counting = (name for name in case.roles if case.has_mfa or name != ROLE_WITH_MFA)
        bases = ((name, f"{name}-base") for name in self._places() if not name.endswith("-base"))
        return Facts(
            rules=rules_of(case, user_id),
            standing_rules=self.standing_rules,
            who=Grantee(user_id, frozenset(counting)),
            role=_role_of(user_id, has_mfa=case.has_mfa),
            assets={row["assetId"]: AssetFacts(seen(row), there) for row, there in rows},
            everything=everything,
            archived=archived,
            edges=(*EDGES, *bases),
            new_bucket=self.new_bucket,
        )


class _DrawnRole(Role):
    """Whose id no table of roles holds."""

    @property
    def user_id(self) -> str:
        return self.name


def _role_of(user_id: str, *, has_mfa: bool) -> Role:
    def unused(*query: object) -> bool:
        raise AssertionError(f"the words of the matrix do not speak of drawn rules: {query}")

    return _DrawnRole(user_id, unused, unused, has_mfa=has_mfa)


def rules_of(case: Case, user_id: str) -> tuple[Json, ...]:
    """The constraints with the id of the user in them."""

    def named(grant: Json) -> Json:
        return {**grant, "userId": user_id} if grant["userId"] == USER else grant

    return tuple(
        {**body, "userPermissions": [named(each) for each in body["userPermissions"]]}
        for body in case.constraints
    )


def items(body: Any) -> list[Json]:
    """The rows of a list. It is the whole list: the test would compare less with a page of it."""
    assert token_of(body) is None
    return rows_of(body)


def token_of(body: Any) -> str | None:
    """Where the list goes on; clients of VAMS find lists in several places."""
    if isinstance(body.get("message"), dict):
        body = {**body["message"], **body}
    return body.get("NextToken")


def seen(row: Json) -> Fields:
    """An asset as rules see it."""
    found = {name: str(row[name]) for name in ("databaseId", "assetName", "assetType")}
    return {**found, "tags": tuple(row["tags"])}


def _documents(row: Json, is_archived: bool) -> tuple[Json, Json]:
    """The asset and a file of it, as the indexes hold them."""
    asset_id = row["assetId"]
    both = {"str_assetid.keyword": asset_id, **indexed(seen(row)), "bool_archived": is_archived}
    asset = {"_id": asset_id, "_rectype": "asset", "str_assettype.keyword": row["assetType"]}
    file = {"_id": f"{asset_id}/a.txt", "_rectype": "file", "str_fileext.keyword": ".txt"}
    return {**both, **asset}, {**both, **file}
