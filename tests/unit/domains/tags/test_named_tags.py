"""A tag that rules name is put on assets, taken off and deleted only with a right to the tag."""

from dataclasses import replace
from typing import Any

import pytest

from backend.core.errors import PermissionDeniedError
from backend.core.identity import Identity
from backend.core.paging import PageRequest
from backend.core.transactions import Delete
from backend.domains.access.policy.model import OPERATORS
from backend.domains.access.repository.constraints import ConstraintRepository
from backend.domains.access.repository.policies import NAMED_TAGS, PolicyRepository
from backend.domains.access.service.decisions import PolicyAuthorization
from backend.domains.assets.models import Asset, CreateAssetBody, UpdateAssetBody
from backend.domains.assets.service.commands import AssetService
from backend.spec.tables.access import POLICIES
from tests.factories.access import stored_user_role
from tests.factories.administration import Parts, stored_role
from tests.factories.assets import ADMIN, NOON, asset_service, created_asset, created_database
from tests.factories.audit import audit_service
from tests.factories.constraints import constraint, criterion, groups
from tests.factories.policies import everything, put_policy, stored
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import MemoryTables
from tests.unit.domains.access.constraints.conftest import Constraints

ANN = Identity("ann")
RULES = {
    "equals": "red",
    "contains": "ed",
    "does_not_contain": "ed",
    "starts_with": "re",
    "ends_with": "ed",
    "is_one_of": ["green", "red"],
    "is_not_one_of": ["green", "red"],
}
"""Values that depend on `red` and not on `blue`, by operator."""


class TaggedAssets:
    """Assets with tags, a user who may change all of them, and the routes of constraints."""

    def __init__(self) -> None:
        self.tables = MemoryTables()
        self.assets: AssetService = asset_service(self.tables, MemoryObjects())
        created_database(self.assets)
        for name in ("editor", "viewer"):
            stored_role(self.tables, name)
        stored_user_role(self.tables, user_id="ann", role_name="editor")
        services = Parts(self.tables, audit_service(MemoryObjects()), NOON).services()
        self.api = Constraints(services.router(), memory=self.tables)

    def allow(self, *more: dict[str, Any]) -> None:
        """Allow Ann everything with assets and tags that she sees, and `more`."""
        seen = everything("tag", actions=["GET", "DELETE"])
        put_policy(self.tables, "role#editor", everything("asset"), seen, *more, epoch=1)

    def rule(self, **other: Any) -> None:
        answer = self.api.put("rule", constraint(**other))
        assert answer.status == 200, answer.body

    def named(self, *tags: str) -> set[str]:
        return PolicyRepository(self.tables).named_tags(tags or ("red", "blue", "large"))

    def of_ann(self) -> AssetService:
        rules = PolicyAuthorization(PolicyRepository(self.tables), lambda: NOON)
        tags = replace(self.assets.tags, authorization=rules)
        return replace(self.assets, authorization=rules, tags=tags)

    def tagged(self, *tags: str) -> Asset:
        asset = created_asset(self.assets)
        body = UpdateAssetBody(tags=list(tags))
        return self.assets.update_asset(ADMIN, "museum", asset.asset_id, body)

    def retag(self, asset: Asset, *tags: str) -> list[str]:
        body = UpdateAssetBody(tags=list(tags))
        return self.of_ann().update_asset(ANN, "museum", asset.asset_id, body).tags


@pytest.fixture
def gallery() -> TaggedAssets:
    assets = TaggedAssets()
    assets.allow()
    return assets


@pytest.mark.parametrize(
    ("demand", "visible"),
    [
        (("databaseId", "equals", "GLOBAL"), True),
        (("databaseId", "equals", "museum"), False),
        (("databaseId", "is_not_one_of", "museum"), True),
        (("databaseId", "is_not_one_of", "GLOBAL"), False),
    ],
)
def test_rules_on_the_database_of_a_tag_know_that_it_is_global(
    gallery: TaggedAssets, demand: tuple[str, str, str], visible: bool
) -> None:
    rules = [stored(kind, demand, actions=["GET"]) for kind in ("tag", "tagType")]
    put_policy(gallery.tables, "role#editor", *rules, epoch=2)
    tags, page = gallery.of_ann().tags, PageRequest(10)
    assert bool(tags.list_tags(ANN, page).items) == visible
    assert bool(tags.list_tag_types(ANN, page).items) == visible


def test_every_operator_is_tried() -> None:
    assert set(RULES) == set(OPERATORS)


@pytest.mark.parametrize("effect", ["allow", "deny"])
@pytest.mark.parametrize("operator", OPERATORS)
def test_a_tag_on_which_a_rule_depends_takes_a_right_to_the_tag(
    gallery: TaggedAssets, operator: str, effect: str
) -> None:
    both = gallery.tagged("red", "blue")
    demand = criterion("tags", operator, RULES[operator])
    gallery.rule(criteriaAnd=[demand], groupPermissions=groups("viewer", type_=effect))
    gallery.allow()
    with pytest.raises(PermissionDeniedError):
        gallery.retag(both, "blue")
    with pytest.raises(PermissionDeniedError):
        gallery.of_ann().tags.delete_tag(ANN, "red")
    with pytest.raises(PermissionDeniedError):
        gallery.of_ann().create_asset(ANN, _asset("red"))
    assert gallery.retag(both, "red", "large") == ["red", "large"], "other tags stay free"
    gallery.of_ann().create_asset(ANN, _asset("blue"))
    gallery.of_ann().tags.delete_tag(ANN, "blue")
    gallery.allow(stored("tag", ("tagName", "equals", "red"), actions=["PUT"]))
    assert gallery.retag(both, "large") == ["large"]
    assert gallery.retag(both, "red") == ["red"]
    with pytest.raises(PermissionDeniedError, match="only administrators"):
        gallery.of_ann().tags.delete_tag(ANN, "red")
    gallery.assets.tags.delete_tag(ADMIN, "red")


@pytest.mark.parametrize(
    "other",
    [
        {"criteriaAnd": [criterion("tags", "contains", ".*")]},
        {"criteriaAnd": [criterion("tagName", "equals", "red")], "objectType": "tag"},
        {"criteriaAnd": [criterion("assetName", "equals", "red")]},
        {"criteriaAnd": [criterion("tags", "equals", "red")], "groupPermissions": []},
    ],
    ids=["any tag", "of the tag itself", "another field", "given to nobody"],
)
def test_a_rule_whose_truth_no_tag_changes_names_none(
    gallery: TaggedAssets, other: dict[str, Any]
) -> None:
    gallery.rule(**other)
    assert gallery.named() == set()


def test_named_tags_are_those_in_current_constraints(gallery: TaggedAssets) -> None:
    gallery.rule(criteriaOr=[criterion("tags", "equals", "red")])
    gallery.tables.write(Delete(table=POLICIES, key=NAMED_TAGS))
    constraints = ConstraintRepository(gallery.tables)
    assert gallery.named() == set()
    constraints.record_used_tags()
    assert gallery.named() == {"red"}
    noted = gallery.tables.get(POLICIES, NAMED_TAGS)
    constraints.record_used_tags()
    assert gallery.tables.get(POLICIES, NAMED_TAGS) == noted
    assert gallery.named() == {"red"}
    gallery.rule(criteriaOr=[criterion("tags", "equals", "blue"), criterion()])
    assert gallery.named() == {"blue"}
    gallery.rule()
    assert gallery.named() == set()
    gallery.rule(criteriaOr=[criterion("tags", "equals", "red")])
    gallery.api.delete("rule")
    assert gallery.named() == set()
    gallery.rule(criteriaOr=[criterion("tags", "equals", "red")])
    gallery.api.delete_role("viewer")
    assert gallery.named() == set()


def _asset(tag: str) -> CreateAssetBody:
    return CreateAssetBody(
        database_id="museum",
        asset_name=f"In {tag}",
        description="Marble",
        is_distributable=True,
        tags=[tag],
    )
