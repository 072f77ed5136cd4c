"""Policies and traits of objects at random, in the words of the objects that the world holds."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from tests.factories.buckets import BUCKET_ID
from tests.routes.meaning import ACTIONS, OPERATORS

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
    return constraint(object_type, [every], [], *((PLAIN_ROLE, each, "allow") for each in actions))


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
ASSETS = 8


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Most types are open, all or in part, and some further rules allow and deny in between."""
    bases = [everything(name, given) for name, given in draw(_BASES).items() if given]
    rules = draw(st.lists(single_rules(), max_size=8))
    both = (PLAIN_ROLE, ROLE_WITH_MFA)
    roles = draw(st.sampled_from(((PLAIN_ROLE,), both, both, both, (ROLE_WITH_MFA,))))
    return Case(
        constraints=(*bases, *rules),
        roles=roles,
        has_mfa=draw(st.booleans()),
        traits=tuple(draw(st.lists(_TRAITS, min_size=ASSETS, max_size=ASSETS))),
        turn=draw(st.integers(0, 5)),
    )
