"""Policies and traits of objects at random, and the world of the matrix with one of them in it.

What there is, administrators' lists name; who sees what of it, the meaning of the rules decides.
"""

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from backend.core.transactions import Put, Update
from backend.search.indexing.projections import document_id
from backend.spec import routes
from backend.spec.routes import Route
from backend.spec.tables.assets import ASSET_UPLOADS, ASSETS
from backend.spec.tables.registry import COMMENTS
from tests.factories.buckets import BUCKET_ID
from tests.factories.http import Response
from tests.factories.policies import indexed
from tests.routes.facts import Facts, facts_of, listed, seen
from tests.routes.meaning import ACTIONS, OPERATORS, Grantee
from tests.unit.domains.access.matrix.seeding import THERE, Seeded, job_of_user, upload_of
from tests.unit.domains.access.matrix.states import ASSETS as PLACES
from tests.unit.domains.access.matrix.world import Question

Json = dict[str, Any]

ANN, BOB = "ann@example.org", "bob@example.org"
PLAIN_ROLE, ROLE_WITH_MFA, OTHER_ROLE = "drawn-plain", "drawn-mfa", "drawn-other"
USER = "the user"
"""Who sends the requests; its id is another one for each policy."""
GRANTEES = (PLAIN_ROLE, PLAIN_ROLE, ROLE_WITH_MFA, OTHER_ROLE, USER, ANN, BOB)

NAMES = ("statue", "statue-base", "proj.a", "projXa", "A new one", "*", "s?", "é", "e\u0301")
TAGS = ("secret", "red", "green", "re.d")
FIELDS_OF: dict[str, tuple[str, ...]] = {
    "database": ("databaseId",),
    "databasePurge": ("databaseId",),
    "asset": ("databaseId", "assetName", "assetType", "tags"),
    "api": ("route__path",),
    "web": ("route__path",),
    "tag": ("tagName", "tagTypeName"),
    "tagType": ("tagTypeName",),
    "bucket": ("bucketId",),
    "role": ("roleName",),
    "userRole": ("roleName", "userId"),
    "metadataSchema": ("databaseId", "metadataSchemaName", "metadataSchemaEntityType"),
    "pipeline": ("databaseId", "pipelineId", "pipelineType", "pipelineExecutionType"),
    "workflow": ("databaseId", "workflowId"),
}
VALUES: dict[str, tuple[str, ...]] = {
    "databaseId": ("museum", "gallery", "attic", "cellar", "GLOBAL", "library", "mus", "l"),
    "assetName": (*NAMES, "stat", "base", "proj", "[s]tatue"),
    "assetType": ("none", "folder", ".glb", ".", "o"),
    "tags": (*TAGS, "sec", "re", "?ed"),
    "tagName": (*TAGS, "blue", "none-such", "e"),
    "tagTypeName": ("colour", "empty", "size", "o"),
    "bucketId": (BUCKET_ID, BUCKET_ID[:18], "-"),
    "roleName": ("editor", "viewer", "admin", PLAIN_ROLE, "drawn", "e"),
    "userId": (ANN, BOB, "admin", "@example.org", "user-"),
    "metadataSchemaName": ("Of museum", "Kept", "New", "Of"),
    "metadataSchemaEntityType": ("databaseMetadata", "assetMetadata", "Metadata"),
    "pipelineId": ("convert-museum", "used-gallery", "convert", "used"),
    "pipelineType": ("standardFile", "previewFile", "File"),
    "pipelineExecutionType": ("Lambda", "SQS", "a"),
    "workflowId": ("publish-museum", "publish-GLOBAL", "publish", "museum"),
    "route__path": (
        *("/database", "/database/{databaseId}", "/assets", "/museum/", "{assetId}", "/idol"),
        *("/auth", "/search", "/roles", "/user", "stream", "/tags", "/uploads", "/jobs"),
        *("Metadata", "metadata", "/asset-links", "/comments", "a%2Fb", "a.txt", "/"),
    ),
    "object__type": (*FIELDS_OF,),
}


@dataclass(frozen=True)
class AssetTraits:
    """The fields of an asset that rules may name, beside its database."""

    name: str
    asset_type: str
    tags: tuple[str, ...]


@dataclass(frozen=True)
class Case:
    """A policy, who has it, and a world: traits for its assets, one after the other."""

    constraints: tuple[Json, ...]
    roles: tuple[str, ...]
    has_mfa: bool
    traits: tuple[AssetTraits, ...]
    turn: int
    """Which routes are asked, and for which objects: route n for the one in state `turn + n`."""


def criteria(fields: Sequence[str]) -> st.SearchStrategy[Json]:
    def of(field: str, operator: str, values: list[str], *, is_wild: bool) -> Json:
        takes_list = operator in ("is_one_of", "is_not_one_of")
        value: Any = values if takes_list and len(values) > 1 else values[0]
        if is_wild and operator in ("contains", "does_not_contain"):
            value = ".*"
        return {"field": field, "operator": operator, "value": value}

    def on(field: str) -> st.SearchStrategy[Json]:
        values = st.lists(st.sampled_from(VALUES[field]), min_size=1, max_size=3, unique=True)
        is_wild = st.sampled_from((False, False, False, True))
        return st.builds(of, st.just(field), st.sampled_from(OPERATORS), values, is_wild=is_wild)

    return st.sampled_from(fields).flatmap(on)


def constraint(
    object_type: str, every: Iterable[Json], some: Iterable[Json], *grants: tuple[str, str, str]
) -> Json:
    """A constraint; `grants` are grantee, action and effect."""

    def given(kind: str, names: tuple[str, ...]) -> list[Json]:
        return [
            {kind: grantee, "permission": action, "permissionType": effect}
            for grantee, action, effect in grants
            if grantee in names
        ]

    return {
        "name": "Drawn",
        "description": "Of a drawn policy",
        "objectType": object_type,
        "criteriaAnd": list(every),
        "criteriaOr": list(some),
        "groupPermissions": given("groupId", (PLAIN_ROLE, ROLE_WITH_MFA, OTHER_ROLE)),
        "userPermissions": given("userId", (USER, ANN, BOB)),
    }


def everything(object_type: str, actions: Iterable[str] = ACTIONS) -> Json:
    """All objects of a type, for the role that counts without a second factor."""
    every = {"field": "object__type", "operator": "equals", "value": object_type}
    return constraint(
        object_type, [every], [], *((PLAIN_ROLE, action, "allow") for action in actions)
    )


@st.composite
def single_rules(draw: st.DrawFn) -> Json:
    """A rule of few criteria; those on fields of other types are refused when they are written."""
    object_type = draw(st.sampled_from((*FIELDS_OF, "asset", "asset", "api", "database")))
    own = FIELDS_OF[object_type]
    fields = (*own, *own, *own, "object__type")
    every = draw(st.lists(criteria(fields), max_size=2))
    some = draw(st.lists(criteria(fields), min_size=not every, max_size=2))
    grants = st.tuples(
        st.sampled_from(GRANTEES), st.sampled_from(ACTIONS), st.sampled_from(("deny", "allow"))
    )
    return constraint(object_type, every, some, *draw(st.lists(grants, min_size=1, max_size=4)))


_OPEN = (ACTIONS, ACTIONS, ACTIONS, ACTIONS, ("GET",), ("GET", "POST"), ("GET", "PUT"))
_BASES = st.fixed_dictionaries(
    {name: st.sampled_from(_OPEN if name == "api" else (*_OPEN, ())) for name in FIELDS_OF}
)
_TRAITS = st.builds(
    AssetTraits,
    st.sampled_from(NAMES),
    st.sampled_from(("none", "folder", ".glb")),
    st.lists(st.sampled_from(TAGS), max_size=2, unique=True).map(tuple),
)
ASSET_COUNT = 8


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Most types are open, all or in part, and some further rules allow and deny in between."""
    bases = [everything(name, item) for name, item in draw(_BASES).items() if item]
    rules = draw(st.lists(single_rules(), max_size=8))
    both = (PLAIN_ROLE, ROLE_WITH_MFA)
    roles = draw(st.sampled_from(((PLAIN_ROLE,), both, both, both, (ROLE_WITH_MFA,))))
    return Case(
        constraints=(*bases, *rules),
        roles=roles,
        has_mfa=draw(st.booleans()),
        traits=tuple(draw(st.lists(_TRAITS, min_size=ASSET_COUNT, max_size=ASSET_COUNT))),
        turn=draw(st.integers(0, 5)),
    )


EDGES = (("statue", "painting"), ("painting", "idol"), ("statue", "idol"))
"""From parent to child, beside those from each asset to its base; the tree crosses databases."""


class GeneratedWorld(Seeded):
    """One for all cases: each is undone."""

    def __init__(self) -> None:
        super().__init__()
        self._case = 0
        self._has_mfa = False
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
        self.standing_rules = tuple(listed(self, routes.LIST_CONSTRAINTS))

    def send_for(self, facts: Facts, route: Route, question: Question) -> Response:
        """Send a request of the case's user, and roll back its changes."""
        with self.rolled_back():
            return self.send(route, question, user_id=facts.who.user_id, mfa=self._has_mfa)

    def _places(self) -> dict[str, str]:
        """Databases by asset."""
        named = {
            asset_id: database_id for database_id, asset_id in (PLACES[state] for state in THERE)
        }
        return named | {f"{name}-base": database_id for name, database_id in named.items()}

    @contextmanager
    def under(self, case: Case) -> Generator[Facts]:
        """Put the policy and the traits of a case, for as long as it is tried."""
        self._case += 1
        self._has_mfa = case.has_mfa
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
        value = {"userId": user_id, "roleName": [*case.roles]}
        self.done(routes.SET_USER_ROLES, body=value)

    def _put_own_things(self, user_id: str) -> None:
        """An upload to each asset, a comment and a job on each, a key and a profile."""
        for state in THERE:
            database_id, asset_id = PLACES[state]
            path = {"databaseId": database_id, "assetId": asset_id}
            self._put_job(user_id, job_of_user(user_id, state), "failed", path)
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
        self.put_session(user_id)
        profile = Question({"userId": user_id}, body={"email": ANN})
        assert self.send(routes.UPDATE_LOGIN_PROFILE, profile, user_id=user_id).status == 200

    def _facts(self, case: Case, user_id: str) -> Facts:
        facts = facts_of(self, EDGES, self.new_bucket)
        self.engine.documents = [
            document
            for rows in (facts.everything, facts.archived)
            for row in rows[routes.LIST_ALL_ASSETS]
            if rows is facts.everything or row["status"] == "archived"
            for document in _documents(row, rows is facts.archived)
        ]
        counting = (name for name in case.roles if case.has_mfa or name != ROLE_WITH_MFA)
        who = Grantee(user_id, frozenset(counting))
        return facts.of(who, (*rules_of(case, user_id), *self.standing_rules))


def rules_of(case: Case, user_id: str) -> tuple[Json, ...]:
    """The constraints with the id of the user in them."""

    def named(grant: Json) -> Json:
        return {**grant, "userId": user_id} if grant["userId"] == USER else grant

    return tuple(
        {**body, "userPermissions": [named(permission) for permission in body["userPermissions"]]}
        for body in case.constraints
    )


def _documents(row: Mapping[str, Any], is_archived: bool) -> tuple[Json, Json]:
    """The asset and a file of it, as the indexes hold them."""
    ids = row["databaseId"], row["assetId"]
    both = {
        "str_databaseid": ids[0],
        "str_assetid": ids[1],
        "str_assetid.keyword": ids[1],
        **indexed(seen(row)),
        "bool_archived": is_archived,
        "str_bucketprefix": "/",
    }
    asset = {"_id": document_id(*ids), "_rectype": "asset"}
    file = {"_id": document_id(*ids, "a.txt"), "_rectype": "file", "str_key": "a.txt"}
    return (
        {**both, **asset, "str_assettype.keyword": row["assetType"]},
        {**both, **file, "str_fileext.keyword": ".txt"},
    )
